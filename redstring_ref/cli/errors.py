"""The ways in which a command ends badly for a reason that the user can see to."""


class UsageError(Exception):
    """The command was put wrongly: exit code 2. `usage` is how it is put."""

    def __init__(self, message: str, usage: str = "") -> None:
        super().__init__(message)
        self.usage = usage


class CommandError(Exception):
    """The command was right and could not be done: exit code 1."""


class ReaderGoneError(CommandError):
    """Whoever read stdout has gone, as `head` does: exit code 1, without a word."""
