"""No modules of the package import each other in a circle, whatever its length; imports within functions count."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import widemargin

FOLDER = Path(widemargin.__file__).parent


def imports(folder: Path) -> dict[str, set[str]]:
    """For each module by its name, the modules of the package that it imports."""
    files = {".".join(file.relative_to(folder.parent).with_suffix("").parts): file for file in folder.rglob("*.py")}
    files = {name.removesuffix(".__init__"): file for name, file in files.items()}
    found: dict[str, set[str]] = {}
    for name, file in files.items():
        package = name if file.name == "__init__.py" else name.rpartition(".")[0]
        found[name] = set()
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                found[name].update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
                source = ".".join([*above, *([node.module] if node.module else [])])
                for alias in node.names:
                    inner = f"{source}.{alias.name}"
                    compiled = any(folder.glob(f"{alias.name}.*so")) or any(folder.glob(f"{alias.name}.pyd"))
                    found[name].add(inner if inner in files or compiled else source)
        found[name] &= files.keys() - {name}
    return found


def test_no_modules_import_each_other_in_a_circle():
    found = imports(FOLDER)
    assert sum(map(len, found.values())) > 80
    # Raises CycleError, which names the circle.
    list(TopologicalSorter(found).static_order())


def test_a_circle_within_functions_is_found(tmp_path):
    folder = tmp_path / "package"
    (folder / "inner").mkdir(parents=True)
    (folder / "__init__.py").write_text("from .a import one\n")
    (folder / "a.py").write_text("from . import b\none = 1\n")
    (folder / "b.py").write_text("from .inner.c import two\n")
    (folder / "inner" / "__init__.py").write_text("")
    (folder / "inner" / "c.py").write_text("two = 2\n")
    list(TopologicalSorter(imports(folder)).static_order())
    (folder / "inner" / "c.py").write_text("two = 2\ndef later():\n    from ..a import one\n")
    with pytest.raises(CycleError, match="in a cycle"):
        list(TopologicalSorter(imports(folder)).static_order())
