#!/usr/bin/env python3
"""Whether a source distribution has all tracked files that its crates and its Python package are built from.

    scripts/check_sdist.py target/python/dist/widemargin-0.1.0.tar.gz

The crates are those whose Cargo.toml it has; their tests, benches and generated files are not asked for.
"""

import subprocess
import sys
import tarfile
from pathlib import PurePosixPath


def main() -> int:
    with tarfile.open(sys.argv[1]) as archive:
        # Below a folder with the name and version.
        held = {str(PurePosixPath(*PurePosixPath(name).parts[1:])) for name in archive.getnames()}
    tracked = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.splitlines()
    crates = {name.removesuffix("Cargo.toml") for name in held if name.endswith("/Cargo.toml")}
    if not {"crates/widemargin/", "crates/widemargin-python/"} <= crates:
        print(f"{sys.argv[1]} lacks a crate: it has {', '.join(sorted(crates))}", file=sys.stderr)
        return 1
    needed = ["Cargo.toml", "Cargo.lock", "pyproject.toml", "README.md", "LICENSE-MIT", "LICENSE-APACHE"]
    needed += [name for name in tracked if name.startswith(tuple(f"{crate}src/" for crate in crates))]
    needed += [name for name in tracked if name.startswith("python/widemargin/")]
    missing = [name for name in needed if name in tracked and name not in held]
    for name in missing:
        print(f"{sys.argv[1]} lacks {name}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
