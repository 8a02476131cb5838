"""`python -m redstring_ref`: the command line, and nothing else."""

import sys

from redstring_ref.cli import main

if __name__ == "__main__":
    sys.exit(main())
