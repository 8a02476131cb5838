"""The version of the distribution, told once."""

__version__ = "0.1.0"
