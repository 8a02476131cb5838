"""The two ways in which a command ends badly for a reason that the user can see to."""


class UsageError(Exception):
    """The command was put wrongly: exit code 2."""


class CommandError(Exception):
    """The command was right and could not be done: exit code 1."""
