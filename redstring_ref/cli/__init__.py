"""The command line: `python -m redstring_ref`. It reads files and prints; every rule is elsewhere."""

from redstring_ref.cli.command import main

__all__ = ["main"]
