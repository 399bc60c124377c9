#!/usr/bin/env python3
"""Uses the playground of a built site as a visitor does, in headless Chromium; skipped where there is none.

scripts/check_playground.py target/docs/html [--screenshots FOLDER]

Points are clicked, tables loaded, methods chosen. The decision values must be those of the model's file, read by the
installed package, and those of the package's own fit of the same points, both to 1e-6 of the largest. Nothing may be
written to the console as an error, and no request may leave the site. How long fits take is printed, not judged.
"""

from __future__ import annotations

import argparse
import base64
import functools
import json
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

TOLERANCE = 1e-6
# Method, similarity and C as the page has them, and the same in Python.
FITS = [
    ("thin-plate", "auto", "", "ThinPlateSVC", {}),
    ("thin-plate", "thin-plate", "2", "ThinPlateSVC", {"kernel": "thin-plate", "C": 2}),
    ("basis-expansion", "auto", "", "BasisExpansionSVC", {}),
    ("basis-expansion", "rbf", "", "BasisExpansionSVC", {"similarity": "rbf"}),
    ("basis-expansion", "laplacian", "3", "BasisExpansionSVC", {"similarity": "laplacian", "C": 3}),
    ("power-mean", "auto", "", "PowerMeanSVC", {}),
    ("auto", "auto", "", "AutoSVC", {}),
]


class Quiet(SimpleHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path != "/favicon.ico":
            super().do_GET()
            return
        # Browsers ask every server for one.
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


class Page:
    """The page in a browser."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def find(self, name: str) -> Any:
        return self.driver.find_element("id", f"playground-{name}")

    def said(self) -> str:
        return str(self.find("said").text)

    def times(self) -> str:
        """How long the last fit took until it was seen, and until what is open was chosen anew."""
        ms, chosen = (self.find("said").get_attribute(f"data-{name}") for name in ("ms", "chosen-ms"))
        return f"{ms} ms" + (f" and {chosen} to choose" if chosen else "")

    def fits(self) -> int:
        return int(self.find("plot").get_attribute("data-fits") or 0)

    def after(self, action: Callable[[], Any], seconds: float = 60) -> str:
        """What is said once the fits that an action leads to are done."""
        before = self.fits()
        action()
        end = time.monotonic() + seconds
        while self.fits() == before:
            assert time.monotonic() < end, f"no fit within {seconds} s; said: {self.said()}"
            time.sleep(0.02)
        return self.said()

    def click(self, x: float, y: float) -> None:
        """Clicks the plot at fractions of its width and height."""
        from selenium.webdriver.common.action_chains import ActionChains

        plot = self.find("plot")
        size = plot.size
        offset = (round((x - 0.5) * size["width"]), round((y - 0.5) * size["height"]))
        ActionChains(self.driver, duration=0).move_to_element_with_offset(plot, *offset).click().perform()

    def choose(self, name: str, value: str) -> None:
        from selenium.webdriver.support.select import Select

        Select(self.find(name)).select_by_value(value)

    def fill(self, name: str, value: str) -> None:
        """Types a whole value at once."""
        change = "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'))"
        self.driver.execute_script(change, self.find(name), value)

    def points(self) -> tuple[Any, Any]:
        import numpy as np

        state = self.driver.execute_script(
            "const { points, labels } = widemarginPlayground.state; return [points, labels]"
        )
        return np.array(state[0], dtype=float), np.array(state[1])

    def evaluate(self, points: Any) -> Any:
        import numpy as np

        script = (
            "const done = arguments[1]; widemarginPlayground.evaluate(arguments[0]).then((v) => done(Array.from(v)))"
        )
        return np.array(self.driver.execute_async_script(script, points.tolist()))

    def model(self) -> bytes:
        script = "const done = arguments[0]; widemarginPlayground.model().then((v) => done(Array.from(v)))"
        return bytes(self.driver.execute_async_script(script))


def browser(chromium: str, chromedriver: str) -> Any:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = chromium
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(chromedriver))
    driver.set_script_timeout(60)
    return driver


def check_clicks(page: Page) -> None:
    """Points by mouse and keyboard, and what is wrong said in words."""
    from selenium.webdriver.common.keys import Keys

    assert "no points" in page.after(page.find("clear").click), page.said()
    said = page.after(lambda: page.click(0.2, 0.3))
    assert "All points are of class A" in said, said
    page.after(lambda: page.click(0.3, 0.2))
    page.find("class-1").click()
    said = page.after(lambda: page.click(0.8, 0.8))
    page.after(lambda: page.click(0.7, 0.9))
    points, labels = page.points()
    assert list(labels) == ["A", "A", "B", "B"], labels
    # Fractions of the height count from the top, the plane's from the bottom.
    assert abs(points - [[2, 7], [3, 8], [8, 2], [7, 1]]).max() < 0.1, points
    assert "Thin plate".lower() in page.said().lower(), page.said()
    said = page.after(page.find("undo").click)
    assert len(page.points()[0]) == 3

    plot = page.find("plot")
    page.driver.execute_script("arguments[0].focus()", plot)
    page.after(lambda: plot.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_UP, "3", Keys.ENTER))
    points, labels = page.points()
    assert labels[-1] == "C", labels
    assert abs(points[-1] - [5.2, 5.2]).max() < 1e-9, points
    page.after(lambda: plot.send_keys(Keys.DELETE))
    assert len(page.points()[0]) == 3
    page.find("erase").click()
    page.after(lambda: page.click(0.81, 0.8))
    assert list(page.points()[1]) == ["A", "A"]
    page.find("class-0").click()

    page.choose("method", "thin-plate")
    page.after(lambda: page.choose("example", "chess"))
    said = page.after(lambda: page.fill("c", "-1"))
    assert "C must be a number above 0" in said, said
    page.after(lambda: page.fill("c", ""))


def check_tables(page: Page, folder: Path) -> None:
    """Files of a visitor; some are not tables."""

    def load(name: str, content: bytes) -> None:
        (folder / name).write_bytes(content)
        page.find("file").send_keys(str(folder / name))

    def refused(name: str, content: bytes, expected: str) -> None:
        load(name, content)
        end = time.monotonic() + 10
        while expected not in page.said():
            assert time.monotonic() < end, f"{name}: expected {expected!r}, said: {page.said()}"
            time.sleep(0.02)

    refused("picture.csv", b"\x89PNG\r\n\x1a\n\x00\x00", "not a table")
    refused("letter.csv", b"Dear all,\nthis is no table.\n", "three columns")
    refused("short.csv", b"1,2,a\n3,4\n", "Line 2 has 2 cells")
    rows = "".join(f"{i * 37 % 19 - 9};{i * 23 % 17};{'cat' if i % 3 else 'dog, old'}\n" for i in range(60))
    page.after(lambda: load("animals.csv", ("height;weight;kind\n" + rows).encode()))
    points, labels = page.points()
    assert points.shape == (60, 2), points
    assert set(labels) == {"cat", "dog, old"}, labels
    assert "height" in page.find("plot").get_attribute("aria-label")
    # Heights below 0 are refused by the power mean SVM, in words.
    said = page.after(lambda: page.choose("method", "power-mean"))
    assert page.find("said").get_attribute("class") == "problem", said
    assert "power-mean" in said, said
    page.after(lambda: page.choose("method", "thin-plate"))


def check_values(page: Page, folder: Path) -> None:
    """The decision values of each method compared with those of the package, and how long the page took."""
    import numpy as np

    import widemargin as wm
    from widemargin._base import ExactSeed

    grid = np.stack(np.meshgrid(np.linspace(0, 10, 15), np.linspace(0, 10, 15)), -1).reshape(-1, 2)
    for example in ("rings", "four"):
        set_method(page, "thin-plate", "auto", "")
        page.after(lambda example=example: page.choose("example", example))
        X, y = page.points()
        for method, similarity, c, name, params in FITS:
            set_method(page, method, similarity, c)
            found = page.evaluate(grid)
            ms = page.times()
            (folder / "playground.model").write_bytes(page.model())
            saved = wm.load(folder / "playground.model")
            native = getattr(wm, name)(**params, random_state=ExactSeed(0)).fit(X, y)
            case = f"{example}, {len(X)} points, {method} ({similarity}, C {c or 'auto'})"
            for what, other in (("the package's fit", native), ("the saved model", saved)):
                values = np.asarray(other.decision_function(grid)).ravel()
                off = np.abs(found[: values.size] - values).max() / np.abs(values).max()
                print(f"  {case}: {ms}, off {what} by {off:.1e}")
                assert off <= TOLERANCE, f"{case}: decision values are off those of {what} by {off}"
            shown = found[values.size :]
            off = np.abs(shown - saved.predict_proba(grid).ravel()).max()
            assert off < 1e-5, f"{case}: probabilities are off those of the saved model by {off}"
            off = np.abs(shown - native.predict_proba(grid).ravel()).max()
            print(f"  {case}: probabilities off the package's fit by {off:.1e}")


def check_following(page: Page) -> None:
    """A click is answered with the last choice first, and then with what the package chooses for the points."""
    import numpy as np

    import widemargin as wm
    from widemargin._base import ExactSeed

    grid = np.stack(np.meshgrid(np.linspace(0, 10, 15), np.linspace(0, 10, 15)), -1).reshape(-1, 2)
    watch = """window.seen = [];
        const observer = new MutationObserver(([{ target }]) => seen.push(target.className));
        observer.observe(arguments[0], { attributes: true, attributeFilter: ["class"] });"""
    # The points are those of four clouds.
    page.driver.execute_script(watch, page.find("said"))
    for method, name in (
        ("thin-plate", "ThinPlateSVC"),
        ("basis-expansion", "BasisExpansionSVC"),
        ("power-mean", "PowerMeanSVC"),
        ("auto", "AutoSVC"),
    ):
        set_method(page, method, "auto", "")
        page.driver.execute_script("window.seen.length = 0")
        page.after(lambda: page.click(0.5, 0.45))
        seen = page.driver.execute_script("return window.seen")
        assert seen == ["passing", "fitted"], f"{method}: {seen}"
        X, y = page.points()
        print(f"  a click on {len(X)} points, {method}: {page.times()}")
        native = getattr(wm, name)(random_state=ExactSeed(0)).fit(X, y)
        values = native.decision_function(grid).ravel()
        off = np.abs(page.evaluate(grid)[: values.size] - values).max() / np.abs(values).max()
        assert off <= TOLERANCE, f"a click, {method}: decision values are off those of the package's fit by {off}"


def set_method(page: Page, method: str, similarity: str, c: str) -> None:
    """Sets what differs, and waits for the fits."""
    if page.find("method").get_attribute("value") != method:
        page.after(lambda: page.choose("method", method))
    if similarity != "auto":
        page.after(lambda: page.choose("similarity", similarity))
    if method != "auto" and page.find("c").get_attribute("value") != c:
        page.after(lambda: page.fill("c", c))
    assert page.find("said").get_attribute("class") == "fitted", page.said()


def check_console(driver: Any, origin: str) -> None:
    errors = [entry["message"] for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
    # What the theme writes on a first visit.
    errors = [error for error in errors if "Got invalid theme mode" not in error]
    assert not errors, f"the console has errors: {errors}"
    parsed = set()
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            parsed.add(message["params"]["request"]["url"])
    outside = {url for url in parsed if not url.startswith((origin, "data:", "blob:", "chrome:"))}
    assert any(url.endswith("playground-worker.js") for url in parsed) or parsed, "no requests were seen"
    assert not outside, f"requests leave the site: {outside}"


def screenshots(page: Page, folder: Path) -> None:
    """The page at two widths in both schemes."""
    folder.mkdir(parents=True, exist_ok=True)
    page.after(lambda: page.choose("method", "thin-plate"))
    for width in (1280, 400):
        for theme in ("light", "dark"):
            for example in ("moons", "four"):
                page.driver.execute_cdp_cmd(
                    "Emulation.setDeviceMetricsOverride",
                    {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": width < 600},
                )
                page.driver.execute_script("document.documentElement.dataset.theme = arguments[0]", theme)
                page.after(lambda example=example: page.choose("example", example))
                time.sleep(0.3)
                shot = page.driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": width < 600})
                (folder / f"playground-{example}-{width}-{theme}.png").write_bytes(base64.b64decode(shot["data"]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site", type=Path)
    parser.add_argument("--screenshots", type=Path)
    arguments = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chromium-browser")
    chromedriver = shutil.which("chromedriver")
    if chromium is None or chromedriver is None:
        print("the playground was not tried: chromium or chromedriver is missing (Debian: chromium, chromium-driver)")
        return 0
    handler = functools.partial(Quiet, directory=str(arguments.site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, tempfile.TemporaryDirectory() as folder:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        origin = f"http://127.0.0.1:{server.server_port}/"
        driver = browser(chromium, chromedriver)
        try:
            page = Page(driver)
            driver.set_window_size(1280, 1400)
            driver.get(f"{origin}docs/playground.html")
            end = time.monotonic() + 60
            while page.fits() == 0:
                assert time.monotonic() < end, f"the first fit did not end; said: {page.said()}"
                time.sleep(0.05)
            assert page.find("said").get_attribute("class") == "fitted", page.said()
            check_clicks(page)
            check_tables(page, Path(folder))
            check_values(page, Path(folder))
            check_following(page)
            if arguments.screenshots:
                screenshots(page, arguments.screenshots)
            check_console(driver, origin)
        finally:
            driver.quit()
            server.shutdown()
    print("the playground works in Chromium")
    return 0


if __name__ == "__main__":
    sys.exit(main())
