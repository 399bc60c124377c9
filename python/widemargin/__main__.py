"""The command ``widemargin``, also ``python -m widemargin``."""

import sys

from . import _core


def main() -> int:
    """Runs the command with the arguments of the process, and returns its exit code."""
    return _core.command(["widemargin", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
