#!/usr/bin/env python3
"""Writes what is made from the rows of similarities and descriptors: python/widemargin/similarity.pyi, which type
checkers and editors read, and the tables of docs/similarities.md. With --check it writes nothing and fails where one of
them is not what the rows give. It needs the package: PYTHONPATH=python, with the extension module built."""

import re
import sys
import textwrap
from pathlib import Path

from widemargin import _rows
from widemargin._rows import DESCRIPTORS, SIMILARITIES

ROOT = Path(__file__).resolve().parents[1]
STUB, TABLES = ROOT / "python/widemargin/similarity.pyi", ROOT / "docs/similarities.md"
WIDTH = 120

HEAD = '''"""Similarities as objects: what compares samples, and what describes them before."""

# Written by scripts/generate.py from the library's rows.

import numpy.typing as npt

from ._calls import Pairs, pairs
from ._descriptors import HOG
from ._specs import Chain, DescriptorMixin, Named, Resolved, Similarity, pairwise, resolve

'''
WRITTEN_BY_HAND = ["HOG", "Chain", "DescriptorMixin", "Pairs", "Resolved", "Similarity", "pairs", "pairwise", "resolve"]


def stub() -> str:
    """The types and the documentation of the classes."""
    rows = [row for row in (*SIMILARITIES.values(), *DESCRIPTORS.values()) if row["class"] != "HOG"]
    names = sorted(WRITTEN_BY_HAND + [row["class"] for row in rows], key=_place)
    listed = "".join(f'    "{name}",\n' for name in names)
    return f"{HEAD}__all__ = [\n{listed}]\n\n" + "\n".join(map(_class, rows))


def _place(name: str) -> tuple[int, str]:
    """Constants, classes and functions, as ruff sorts a list of them."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)


def _class(row: dict) -> str:
    base = "Similarity" if row["name"] in SIMILARITIES else "DescriptorMixin"
    text = []
    for line in _rows.documentation(row).split("\n"):
        indent = "    " + re.match(" *", line)[0]
        text += textwrap.wrap(line, WIDTH - 4, initial_indent="    ", subsequent_indent=indent) or [""]
    body = "\n".join(text).strip()
    end = "" if "\n" not in body else "\n    "
    lines = [f"class {row['class']}(Named, {base}):", f'    """{body}{end}"""', ""]
    lines += [f"    {one['name']}: {_rows.annotation(one)}" for one in row["parameters"]]
    signature = _rows.signature(row)
    init = f"    def __init__({', '.join(['self', *signature])}) -> None: ..."
    if len(init) > WIDTH:
        parameters = "".join(f"        {one},\n" for one in ["self", *signature])
        init = f"    def __init__(\n{parameters}    ) -> None: ..."
    return "\n".join([*lines, init]) + "\n"


def tables(document: str) -> str:
    """The document with its tables written anew: each between two comments, the first of which says of what."""
    return re.sub(r"(?s)(<!-- table: ([\w ]+) -->\n).*?(<!-- end -->)", lambda m: m[1] + _table(m[2]) + m[3], document)


def without_table(document: str) -> list[str]:
    """The similarities that no table of the document would list."""
    kinds = re.findall(r"<!-- table: ([\w ]+) -->", document)
    return [name for name, row in SIMILARITIES.items() if not {*kinds} & {*row["samples"]}]


def _table(kind: str) -> str:
    if kind == "descriptors":
        heads = ["spec", "takes", "gives", "parameters"]
        lines = [[_usage(row), ", ".join(row["samples"]), _told(row), _parameters(row)] for row in DESCRIPTORS.values()]
    else:
        heads = ["spec", "s(x, y)", "definite", "parameters"]
        rows = [row for row in SIMILARITIES.values() if kind in row["samples"]]
        lines = [[_usage(row), _told(row), row["definite"], _parameters(row)] for row in rows]
    cells = [heads, ["---"] * len(heads), *lines]
    return "\n" + "".join("| " + " | ".join(line) + " |\n" for line in cells).replace("|  |", "| |") + "\n"


def _usage(row: dict) -> str:
    needed = [f"{one['name']}={one['name'][0].upper()}" for one in row["parameters"] if one["is_required"]]
    return f"`{row['name']}{':' if needed else ''}{','.join(needed)}`"


def _told(row: dict) -> str:
    return _cell(f"{row['formula']}. {row['about']}" if row["about"] else row["formula"])


def _parameters(row: dict) -> str:
    told = []
    for one in row["parameters"]:
        default = "" if one["default"] is None else f"={one['default']}"
        choices = ", ".join(f"`{word}`" for word in one["words"])
        range = ", ".join(filter(None, ("must be given" * one["is_required"], choices, one["range"])))
        about = one["about"].rstrip(".")
        about = about[:1].lower() + about[1:] if not about[:2].isupper() else about
        text = "; ".join(filter(None, (range, about)))
        told.append(f"`{one['name']}{default}`" + (f": {text}" if text else ""))
    return _cell(".<br>".join(told))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main() -> int:
    stale = []
    if missing := without_table(TABLES.read_text()):
        print(f"{TABLES.relative_to(ROOT)} has no table for the samples of {', '.join(missing)}: add its two comments")
        return 1
    for path, made in ((STUB, stub()), (TABLES, tables(TABLES.read_text()))):
        if not path.exists() or path.read_text() != made:
            stale.append(path.relative_to(ROOT))
            if "--check" not in sys.argv:
                path.write_text(made)
    if stale and "--check" in sys.argv:
        print(f"{' and '.join(map(str, stale))}: not what the rows give; run scripts/generate.py")
        return 1
    print("written: " + ", ".join(map(str, stale)) if stale else "nothing to write")
    return 0


if __name__ == "__main__":
    sys.exit(main())
