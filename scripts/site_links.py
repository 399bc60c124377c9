"""What the site needs in addition to its extensions: links to folders, titles of tables, folders of pictures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes

ROOT = Path(__file__).resolve().parents[1]
# A link of Markdown to something in the repository: its text and its target without an anchor.
_LINK = re.compile(r"\]\((?!https?://|#|mailto:)([^()\s#]+)\)")

# The pages that list what is in folders.
_PAGES = {"benchmarks": "docs/benchmarks.md", "docs/dev/decisions": "docs/project.md", "reproduce": "docs/papers.md"}

# The short examples, in the order of the start page.
_SHORT = ("vectors", "histograms", "images", "series", "strings", "own", "choice", "spectra", "outliers", "explanation")


class PlaceOfExample:
    """The order of the examples of a section of the gallery."""

    def __init__(self, src_dir: str) -> None:
        self.src_dir = src_dir

    def __call__(self, name: str) -> tuple[int, str]:
        stem = Path(name).stem
        return (_SHORT.index(stem) if stem in _SHORT else len(_SHORT), stem)


def arguments_of_examples(gallery_conf: dict[str, Any], script_vars: dict[str, Any]) -> list[str]:
    """The examples draw their pictures if they are given a folder for them."""
    if "--out" not in Path(script_vars["src_file"]).read_text(encoding="utf-8"):
        return []
    return ["--out", str(ROOT / "target" / "docs" / "pictures")]


def prepare(app: Any, docname: str, source: list[str]) -> None:
    """Markdown as Sphinx wants it: a title on every page, and links to pages instead of folders."""
    path = Path(app.env.doc2path(docname))
    if path.suffix != ".md":
        source[0] = _picture_first(path, source[0])
        return
    text = _LINK.sub(lambda link: f"]({_page(path.parent, link[1])})", source[0])
    heading = re.search(r"^# (.*)$", text, re.MULTILINE)
    if heading is None:
        text = f"# {_title(path)}\n\n{text}"
    elif path.parent.name == "results" and not re.search(r"\d{4}-\d\d-\d\d", heading[1]):
        # Which of several tables with one title it is.
        text = text.replace(heading[0], f"{heading[0]} ({path.stem.replace('_', ' ')})", 1)
    source[0] = text


def _picture_first(path: Path, text: str) -> str:
    """Of a whole example, what it draws above its code, so that no one must scroll to see it."""
    picture = path.parent / "images" / f"sphx_glr_{path.stem}_001.png"
    if path.parent != ROOT / "docs/gallery" or not picture.is_file():
        return text
    shown = f".. image:: images/{picture.name}\n   :alt: What this example draws\n   :width: 100%\n\n"
    before, code, after = text.partition(".. code-block:: Python\n")
    # The comment in front of the code belongs to it.
    before, comment, line = before.rpartition(".. GENERATED FROM PYTHON SOURCE LINES")
    return before + shown + comment + line + code + after


def _page(folder: Path, target: str) -> str:
    """The page that stands for a folder: its README, its only page, or the one that lists its pages."""
    path = folder / target
    # The example of images has the name of the folder of all pictures.
    if not path.is_dir() or path.with_suffix(".rst").is_file():
        return target
    name = target.rstrip("/")
    if (path / "README.md").is_file():
        return f"{name}/README.md"
    pages = sorted(page.name for page in path.glob("*.md"))
    if len(pages) == 1:
        return f"{name}/{pages[0]}"
    top = path.resolve().relative_to(ROOT).as_posix()
    page = next((page for start, page in _PAGES.items() if top.startswith(start)), None)
    if page is None:
        raise ValueError(f"{folder}: no page stands for the folder {top}, which a link goes to")
    return "../" * len(folder.relative_to(ROOT).parts) + page


def _title(path: Path) -> str:
    """Of a table that has none: its machine and its day."""
    day, _, name = path.stem.partition("_")
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", day):
        day, name = "", path.stem
    name = name.rpartition("cores_")[2].replace("_", " ")
    place = path.parent.parent.name.replace("_", " ") if path.parent.name == "results" else ""
    words = ": ".join(filter(None, (place.capitalize(), name)))
    return ", ".join(filter(None, (words, day)))


def skip(app: Any, what: str, name: str, member: Any, is_skipped: bool, options: Any) -> bool | None:
    """Members that are scikit-learn's are described there."""
    home = getattr(member, "fget", member)
    module = getattr(home, "__module__", None)
    if module is not None and not str(module).startswith("widemargin"):
        return True
    return None


def escape(app: Any, what: str, name: str, member: Any, options: Any, lines: list[str]) -> None:
    """In docstrings a bar is a norm and an underscore at the end a fitted attribute, not markup."""
    for place, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            parts = re.split(r"(``.*?``|`.*?`)", line)
            lines[place] = "".join(part if part.startswith("`") else _escaped(part) for part in parts)


def _escaped(text: str) -> str:
    # At the start of a line is the name of a parameter or attribute.
    name = re.match(r"[\w, ]+_(?= : |$)", text)
    start, rest = (name[0], text[name.end() :]) if name else ("", text)
    return start + re.sub(r"(\w)_(?!\w)", r"\1\\_", rest).replace("|", r"\|")


def trim(app: Any, doctree: Any) -> None:
    """Code without the blank lines that end a part of a file."""
    for block in doctree.findall(nodes.literal_block):
        text = block.astext()
        # What Sphinx highlights has no markup.
        if block.rawsource == text != text.rstrip():
            block.rawsource = text.rstrip()
            block[:] = [nodes.Text(block.rawsource)]


def setup(app: Any) -> dict[str, Any]:
    app.connect("source-read", prepare)
    app.connect("doctree-read", trim)
    app.connect("autodoc-skip-member", skip)
    app.connect("autodoc-process-docstring", escape, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
