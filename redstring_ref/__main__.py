"""`python -m redstring_ref`: the command line, and nothing else."""

import sys

if __name__ == "__main__":
    try:
        from redstring_ref.cli import main

        code = main()
    except KeyboardInterrupt:
        # Ctrl-C while the modules are still being loaded.
        code = 130
    sys.exit(code)
