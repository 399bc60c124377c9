"""What keeps the site buildable, without building it: pins, headers of the gallery, the reference, the start page."""

import ast
import importlib
import importlib.util
import inspect
import re
import runpy
import subprocess
import sys
import types
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
EXAMPLES = [path for path in (ROOT / "examples/python").rglob("*.py") if path.stem != "bags_of_words"]
SHORT = sorted((ROOT / "examples/python/short").glob("*.py"))
PUBLIC = ["", ".dask", ".graphs", ".inspection", ".similarity", ".testing"]


def test_every_requirement_is_pinned():
    from packaging.requirements import Requirement

    lines = (DOCS / "requirements.txt").read_text(encoding="utf-8").splitlines()
    requirements = [Requirement(line) for line in lines if line and not line.startswith("#")]
    assert {"Sphinx", "pydata-sphinx-theme", "numpydoc", "sphinx-gallery"} <= {one.name for one in requirements}
    for one in requirements:
        assert [part.operator for part in one.specifier] == ["=="], f"{one} is not pinned"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows")
@pytest.mark.parametrize(
    ("environment", "folder"), [({}, "target"), ({"CARGO_TARGET_DIR": "/elsewhere"}, "/elsewhere")]
)
def test_the_site_takes_what_cargo_built_from_where_it_is(environment, folder):
    lines = [line.strip() for line in (ROOT / "scripts/docs").read_text(encoding="utf-8").splitlines()]
    copies = [line for line in lines if line.startswith("cp ") and line.split()[-1].startswith('"$site/')]
    built = [line for line in copies if "/doc/." in line or ".wasm" in line]
    assert len(built) == 2
    assert all('"$built/' in line for line in built)
    [assignment] = [line for line in lines if line.startswith("built=")]
    found = subprocess.run(
        ["bash", "-c", f'{assignment}; echo "$built"'], env=environment, capture_output=True, text=True
    )
    assert found.stdout.strip() == folder


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_has_the_header_of_the_gallery(path):
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    title, line, blank, text = docstring.split("\n", 3)
    assert title
    assert line == "=" * len(title)
    assert not blank
    assert text.strip()


def test_each_section_of_the_gallery_has_its_header():
    for folder in {path.parent for path in EXAMPLES}:
        assert (folder / "GALLERY_HEADER.txt").is_file(), folder


@pytest.mark.parametrize("path", SHORT, ids=lambda path: path.stem)
def test_the_short_example_runs(path, monkeypatch):
    from matplotlib import pyplot

    pyplot.switch_backend("Agg")
    drawn = []
    monkeypatch.setattr(pyplot, "show", lambda: drawn.extend(pyplot.get_fignums()))
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        runpy.run_path(str(path), run_name="__main__")
    assert drawn
    pyplot.close("all")


def test_the_reference_lists_every_public_name():
    page = (DOCS / "reference" / "index.md").read_text(encoding="utf-8")
    listed: set[str] = set()
    module = ""
    for line in page.splitlines():
        if line.startswith(".. currentmodule::"):
            module = line.split("::")[1].strip()
        elif re.fullmatch(r"   \w+", line):
            listed.add(f"{module}.{line.strip()}")
    public = set()
    for name in PUBLIC:
        if name == ".dask" and importlib.util.find_spec("distributed") is None:
            continue
        found = importlib.import_module("widemargin" + name)
        public |= {f"{found.__name__}.{one}" for one in found.__all__ if not inspect.ismodule(getattr(found, one))}
    assert not public - listed, f"docs/reference/index.md lacks {sorted(public - listed)}"
    unknown = {name for name in listed - public if not name.startswith("widemargin.dask.")}
    assert not unknown, f"docs/reference/index.md lists what is not public: {sorted(unknown)}"


def test_every_page_is_in_a_list_of_pages():
    pages = [*DOCS.glob("*.md"), *(DOCS / "guide").glob("*.md"), *(DOCS / "similarities").glob("*.md")]
    listed = {DOCS / "index.md"}
    for page in pages:
        for entries in re.findall(r"```{toctree}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            lines = [line for line in entries.splitlines() if line and not line.startswith(":")]
            names = [re.sub(r".*<(.*)>", r"\1", line) for line in lines]
            listed |= {(page.parent / f"{name}.md").resolve() for name in names}
    missing = {page.resolve() for page in pages} - {page.resolve() for page in listed}
    assert not missing, f"no toctree of docs/ lists {sorted(page.name for page in missing)}"


def test_the_start_page_shows_lines_that_are_there():
    page = (DOCS / "index.md").read_text(encoding="utf-8")
    shown = re.findall(r"```{literalinclude} (\S+)\n:(start-a\w+): \"(.*)\"\n:end-before: \"(.*)\"\n", page)
    assert len(shown) == 6
    for name, _, start, end in shown:
        text = (DOCS / name).read_text(encoding="utf-8")
        assert start in text, f"{name} has no {start!r}"
        assert end in text.split(start, 1)[1]


@pytest.mark.parametrize(
    "page", sorted([*DOCS.glob("guide/*.md"), *DOCS.glob("similarities/*.md")]), ids=lambda page: page.stem
)
def test_the_code_of_the_guide_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    # Functions of a page are pickled by name, as those of a script.
    script = types.ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", script)
    exec("\n".join(blocks), script.__dict__)


def checker():
    spec = importlib.util.spec_from_file_location("check_site", ROOT / "scripts" / "check_site.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GOOD = '<html><body id="top"><a href="b.html#here">b</a><img src="p.png"><a href="https://example.org">out</a></body>'


@pytest.mark.parametrize(
    ("page", "said"),
    [
        (GOOD, "0 problems"),
        ('<a href="gone.html">x</a>', "gone.html leads nowhere"),
        ('<a href="b.html#gone">x</a>', "has no such anchor"),
        ('<img src="gone.png">', "gone.png leads nowhere"),
        ('<script src="https://example.org/x.js"></script>', "asks another server for https://example.org/x.js"),
        ('<link rel="stylesheet" href="//example.org/x.css">', "asks another server for //example.org/x.css"),
        ("<style>@import 'https://example.org/x.css';</style>", "asks another server for https://example.org/x.css"),
        ('<p style="background: url(https://example.org/x.png)">x</p>', "asks another server"),
    ],
)
def test_the_check_of_the_site_finds(page, said, tmp_path, capsys):
    (tmp_path / "a.html").write_text(page)
    (tmp_path / "b.html").write_text('<p id="here">')
    (tmp_path / "p.png").write_bytes(b"")
    assert checker().main(tmp_path) == (0 if page == GOOD else 1)
    assert said in capsys.readouterr().out


def test_the_check_of_the_site_reads_style_sheets(tmp_path, capsys):
    (tmp_path / "a.html").write_text(GOOD.replace("b.html#here", "#top"))
    (tmp_path / "p.png").write_bytes(b"")
    (tmp_path / "x.css").write_text("@font-face { src: url('https://example.org/font.woff2'); }")
    assert checker().main(tmp_path) == 1
    assert "x.css: asks another server for https://example.org/font.woff2" in capsys.readouterr().out
