"""Figures in the documents: each is one of the committed results that its page links to."""

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "COMPARE.md", *sorted((ROOT / "docs/guide").glob("*.md"))]
# A percentage with decimals, a number of seconds, or a cell of a table with decimals.
FIGURE = re.compile(r"(?<![\w.])(?:(\d*\.\d+) %|(\d*\.?\d+) s(?=[\s,.;:)*|])|(?<=\| )[*]*(\d*\.\d+)[*]*(?= \|))")
LINK = re.compile(r"\]\((?!https?://|#|mailto:)([^()\s#]+)[^()\s]*\)")
NUMBER = re.compile(r"(?<![\w.])\d*\.?\d+(?![\w]*\.\d)")


def sources(page: Path) -> set[Path]:
    """The pages with results that a page links to: of a README and of a folder, all of its results; and COMPARE, which
    links to the others."""
    found: set[Path] = set()
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        path = (page.parent / target).resolve()
        if path == ROOT / "COMPARE.md" and page != path:
            found |= sources(path) | {path}
        elif path.is_relative_to(ROOT / "benchmarks") or path.is_relative_to(ROOT / "reproduce"):
            folder = path.parent if path.name == "README.md" else path
            found |= {path} if folder.is_file() else set(folder.rglob("*.md"))
    return {one for one in found if one.is_file() and one.suffix == ".md"}


@cache
def numbers(source: Path) -> frozenset[float]:
    return frozenset(float(number) for number in NUMBER.findall(source.read_text(encoding="utf-8").replace(",", "")))


def unsupported(text: str, known: set[float]) -> list[str]:
    """The figures of a page that no source has, at the precision in which the page states them."""
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL).replace("\n", " ")
    wrong = []
    for figure in FIGURE.finditer(prose):
        value = next(filter(None, figure.groups()))
        near = 0.5 * 10.0 ** -len(value.partition(".")[2]) + 1e-9
        if not any(abs(float(value) - number) <= near for number in known):
            wrong.append(prose[max(0, figure.start() - 40) : figure.end()])
    return wrong


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_figure_is_a_result(page):
    known = {number for source in sources(page) for number in numbers(source)}
    assert unsupported(page.read_text(encoding="utf-8"), known) == []


def test_a_wrong_figure_is_found():
    page = ROOT / "README.md"
    known = {number for source in sources(page) for number in numbers(source)}
    text = page.read_text(encoding="utf-8")
    assert "97.14 %" in text
    assert len(unsupported(text.replace("97.14 %", "97.13 %"), known)) == 1
