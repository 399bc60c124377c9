"""The command line program."""

import shutil
import subprocess
from pathlib import Path

import pytest

TARGET = Path(__file__).parents[2] / "target"
BUILT = [path for profile in ("release", "debug") if (path := TARGET / profile / "widemargin").exists()]
PROGRAM = next(iter(BUILT), None) or shutil.which("widemargin")


def run(folder, *arguments, exit_code=0):
    """What the program prints to standard output, or, of another exit code than 0, to standard error."""
    if PROGRAM is None:
        pytest.skip("the command line program was not built")
    done = subprocess.run([PROGRAM, *map(str, arguments)], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == exit_code, done.stderr
    return done.stderr if exit_code else done.stdout
