#!/usr/bin/env python3
"""Writes the tables of claims in README.md from claims.toml and the newest results of the scripts.

python reproduce/claims.py            # writes README.md
python reproduce/claims.py --check    # writes nothing, and fails if README.md differs
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

from declared import HERE, newest_results

README, CLAIMS = HERE / "README.md", HERE / "claims.toml"
HEAD = "| claim | holds? | measured | script |\n|---|---|---|---|\n"


def main() -> int:
    with CLAIMS.open("rb") as file:
        claims = tomllib.load(file)
    old = README.read_text()
    new = re.sub(
        r"(?s)(<!-- claims: (\w+) -->\n).*?(<!-- end -->)",
        lambda m: m[1] + _table(m[2], claims[m[2]]) + m[3],
        old,
    )
    if new == old:
        print("nothing to write")
    elif "--check" in sys.argv:
        print("reproduce/README.md: not what claims.toml and the results give; run reproduce/claims.py")
        return 1
    else:
        README.write_text(new)
        print("written: reproduce/README.md")
    return 0


def _table(folder: str, claims: list[dict[str, Any]]) -> str:
    """The claims of one paper; a figure is named by its script and its name in expected.toml."""
    table = HEAD
    for one in claims:
        figures = [_figure(HERE / folder / f"{script}.py", name) for script, name in one.get("figures", ())]
        links = ", ".join(f"[{script}]({folder}/{script}.py)" for script in one["scripts"])
        table += f"| {one['claim']} | {one['holds']} | {one['measured'].format(*figures)} | {links} |\n"
    return table


def _figure(script: Path, name: str) -> float:
    results = newest_results(script)
    if results is None or name not in results["figures"]:
        raise SystemExit(f"error: claims.toml: the results of {script.relative_to(HERE)} have no figure '{name}'")
    return results["figures"][name]


if __name__ == "__main__":
    raise SystemExit(main())
