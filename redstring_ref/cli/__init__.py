"""The command line: `python -m redstring_ref`. It reads files and prints; every rule is elsewhere."""

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0, 1 for a failure, 2 for a wrong usage."""
    try:
        # The imports take the longest part of a short command, and Ctrl-C may come among them.
        from redstring_ref.cli.command import run  # noqa: PLC0415
    except KeyboardInterrupt:
        if sys.stderr is not None:
            print("redstring-ref: interrupted", file=sys.stderr)
        return 130
    return run(arguments)
