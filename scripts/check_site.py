#!/usr/bin/env python3
"""Checks a built site: every internal link and anchor is found, and no page makes a browser ask another server.

scripts/check_site.py target/docs/html
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser fetches without a click, by tag; and what it follows when someone clicks.
FETCHED = {
    "audio": ("src",),
    "embed": ("src",),
    "iframe": ("src",),
    "image": ("href", "xlink:href"),
    "img": ("src", "srcset"),
    "input": ("src",),
    "link": ("href",),
    "object": ("data",),
    "script": ("src",),
    "source": ("src", "srcset"),
    "use": ("href", "xlink:href"),
    "video": ("src", "poster"),
}
# Of <link>: those that name a page rather than something to fetch.
NAMED = {"canonical", "next", "prev", "author", "search", "index", "top", "up", "copyright", "alternate", "help"}
OUTSIDE = re.compile(r"(?:https?:)?//", re.IGNORECASE)


class Page(HTMLParser):
    """Links, anchors and what is fetched of one page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: set[str] = set()
        self.fetched: set[str] = set()
        self.styles: list[str] = []
        self._in_style = False
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value for name, value in attributes if value}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        self.styles += [values["style"]] if "style" in values else []
        self._in_style = tag == "style"
        if tag == "a" and "href" in values:
            self.links.add(values["href"])
        if tag == "link" and set(values.get("rel", "").split()) & NAMED:
            self.links.add(values.get("href", ""))
            return
        for name in FETCHED.get(tag, ()):
            if name == "srcset":
                self.fetched |= {part.split()[0] for part in values.get(name, "").split(",") if part.strip()}
            elif name in values:
                self.fetched.add(values[name])

    def handle_data(self, data: str) -> None:
        if self._in_style:
            self.styles.append(data)

    def handle_endtag(self, tag: str) -> None:
        self._in_style = False


def fetched_by(style: str) -> list[str]:
    """The addresses that a style sheet makes a browser fetch."""
    style = re.sub(r"/\*.*?\*/", "", style, flags=re.DOTALL)
    urls = re.findall(r"url\(\s*['\"]?([^'\")]+)", style)
    return [url for url in urls + re.findall(r"@import\s+['\"]([^'\"]+)", style) if not url.startswith("data:")]


def main(folder: Path) -> int:
    # What the theme keeps there are templates.
    paths = [path for path in sorted(folder.rglob("*.html")) if "_static" not in path.parts]
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in paths}
    if not pages:
        print(f"{folder} has no pages")
        return 1
    problems: list[str] = []
    # rustdoc's pages are checked for requests, but rustdoc itself checks its links.
    of_rustdoc = folder / "rust"
    n_links = 0
    for path, page in pages.items():
        shown = path.relative_to(folder)
        for address in [*page.fetched, *(url for style in page.styles for url in fetched_by(style))]:
            if OUTSIDE.match(address):
                problems.append(f"{shown}: asks another server for {address}")
        if of_rustdoc in path.parents:
            continue
        for address in page.links | {one for one in page.fetched if not one.startswith("data:")}:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            n_links += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                problems.append(f"{shown}: {address} leads nowhere")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                problems.append(f"{shown}: {address} has no such anchor")
    for path in sorted(folder.rglob("*.css")):
        for address in fetched_by(path.read_text(encoding="utf-8")):
            if OUTSIDE.match(address):
                problems.append(f"{path.relative_to(folder)}: asks another server for {address}")
    print(*problems, sep="\n", end="\n" if problems else "")
    print(f"{len(pages)} pages, {n_links} internal links: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]).resolve()))
