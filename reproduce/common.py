"""What all scripts in `reproduce/` share: their arguments, their data, their results, and the check against them.

A script makes one `Study`, tells it what it found, and ends with `finish`:

    study = Study(__file__, __doc__)
    study.found("banana", 10.03)
    raise SystemExit(study.finish())

The claim, the files it needs, what it takes and every expected figure stand in `expected.toml` next to the script.
A full run writes `results/DATE_NAME.json`, `.md` and its pictures, a quick one the same under `results/quick/`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from declared import MISSING, OUTSIDE, TOP, as_markdown, as_text, cell, checks, missing, say, scripts

# Before NumPy is loaded, which reads them once: every figure is of one thread.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

# The machine's description and the loading of data are the benchmarks'. Last in the path, so that they hide nothing.
sys.path += [str(TOP / "benchmarks" / name) for name in ("power_mean", "thin_plate", "basis_expansion")]

import timing

INK, SOFT = "#333333", "#888888"
FIRST, SECOND, THIRD, FOURTH = "#1f5fa8", "#d9822b", "#2e8b57", "#7b4fa3"
# Pictures are shown in READMEs: small files.
DPI, COLORS = 100, 64
FIRST_LIGHT, SECOND_LIGHT = "#cfe0f3", "#fae3cc"


def stop(error: str, *helps: str) -> NoReturn:
    """Ends with an `error:` line and what to do about it."""
    print(f"error: {error}", file=sys.stderr)
    for line in helps:
        print(f"help: {line}", file=sys.stderr)
    raise SystemExit(MISSING)


def _check_packages() -> None:
    for package in ("numpy", "scipy", "sklearn", "matplotlib", "widemargin"):
        try:
            __import__(package)
        except ImportError as error:
            stop(f"{error}", "pip install '.[plot]' at the top of a checkout installs all that is needed")
    import matplotlib

    matplotlib.use("Agg")


# Before the script that loads this one loads them.
_check_packages()


class Stopwatch:
    """Seconds and CPU seconds of a `with` block. Where other work runs too, CPU seconds are the truer."""

    seconds = cpu_seconds = 0.0

    def __enter__(self) -> Stopwatch:
        self._started, self._cpu_started = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds += time.perf_counter() - self._started
        self.cpu_seconds += time.process_time() - self._cpu_started


class Study:
    """One run of one script."""

    def __init__(self, file: str, description: str | None) -> None:
        path = Path(file).resolve()
        self.folder, self.name = path.parent, path.stem
        self.script = next(script for script in scripts(self.folder) if script.path == path)
        options = _arguments(description)
        self.data: Path = options.data
        self.quick: bool = options.quick
        self.synthetic: bool = options.synthetic
        self._out: Path = options.out or self.folder / "results" / ("quick" if self.quick else "")
        self._found: dict[str, float] = {}
        self._tables: list[tuple[str, str, list[str], list[list[str]]]] = []
        self._notes: dict[str, Any] = {}
        self._pictures: list[str] = []
        self._load_before = timing.load_average()
        self._check_data()
        self._watch = Stopwatch()
        self._watch.__enter__()

    def found(self, name: str, value: float) -> None:
        """A figure, under the name it has in `expected.toml`."""
        self._found[name] = float(value)

    def note(self, name: str, value: Any) -> None:
        """Anything else for the JSON file."""
        self._notes[name] = value

    def table(self, title: str, text: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        self._tables.append((title, text, list(head), [[cell(one) for one in row] for row in rows]))

    def picture(self, figure: Any, name: str = "") -> None:
        """A matplotlib figure, as a PNG next to the results, in few colors: it is shown in a README, so it is small."""
        from PIL import Image

        self._out.mkdir(parents=True, exist_ok=True)
        path = self._out / f"{self._stem()}{'_' + name if name else ''}.png"
        figure.savefig(path, dpi=DPI)
        with Image.open(path) as image:
            few = image.convert("RGB").quantize(COLORS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
        few.save(path, optimize=True)
        self._pictures.append(path.name)

    def finish(self) -> int:
        """Writes the results and holds them against what is expected: the exit code."""
        self._watch.__exit__()
        checked = checks(self.script, self._found, self.quick, self.synthetic)
        bad = [row for row in checked if row[-1] != "yes"]
        self._write(checked)
        head = ["figure", "found", "expected", "paper", "within"]
        print(as_text(head, checked))
        if bad:
            print(f"\n{len(bad)} of {len(checked)} figures are outside what is expected:\n")
            print(as_text(head, bad))
        else:
            print(f"\nall {len(checked)} figures are within what is expected")
        return OUTSIDE if bad else 0

    def _write(self, checked: list[list[str]]) -> None:
        self._out.mkdir(parents=True, exist_ok=True)
        path = self._out / f"{self._stem()}.json"
        machine, versions = timing.machine(), _versions()
        result = {
            "script": str(self.script),
            "quick": self.quick,
            "date": timing.today(),
            "machine": machine,
            "versions": versions,
            "load_average": [self._load_before, timing.load_average()],
            "seconds": self._watch.seconds,
            "cpu_seconds": self._watch.cpu_seconds,
            "figures": self._found,
            "outside": [row[0] for row in checked if row[-1] != "yes"],
            **self._notes,
        }
        path.write_text(json.dumps(result, indent=1, ensure_ascii=False, default=float) + "\n")
        path.with_suffix(".md").write_text(self._markdown(result, checked))
        say(f"wrote {path.with_suffix('.md').relative_to(TOP) if path.is_relative_to(TOP) else path}")

    def _markdown(self, result: dict[str, Any], checked: list[list[str]]) -> str:
        machine = result["machine"]
        loads = " to ".join("?" if load is None else f"{load:.1f}" for load in result["load_average"])
        parts = [
            f"# {self.script}{', quick' if self.quick else ''}, {result['date']}",
            self.script.claim,
            f"- {machine['cpu']} (AVX-512: {'yes' if machine['avx512'] else 'no'}), {machine['cores']} cores, "
            f"{machine['memory_gib']} GiB, {machine['system']}, Python {machine['python']}\n"
            f"- {', '.join(f'{name} {version}' for name, version in result['versions'].items())}\n"
            f"- one thread; {result['seconds']:.0f} s, {result['cpu_seconds']:.0f} s of them CPU; load average {loads}",
        ]
        parts += [f"![]({name})" for name in self._pictures]
        parts += [f"## {title}\n\n{text}\n\n{as_markdown(head, rows)}" for title, text, head, rows in self._tables]
        parts.append(
            "## Held against expected.toml\n\n"
            + as_markdown(["figure", "found", "expected", "paper", "within"], checked)
        )
        return "\n\n".join(parts) + "\n"

    def _stem(self) -> str:
        return f"{timing.today()}_{self.name}"

    def _check_data(self) -> None:
        if self.synthetic:
            return
        needs = self.script.quick_needs if self.quick else self.script.needs
        if lines := missing(self.data, needs):
            stop(
                f"of {len(needs)} files under '{self.data}', {len(lines)} are missing or not whole:\n  "
                + "\n  ".join(lines),
                "--data names the folder; reproduce/README.md says how the files are laid out and where they are from",
            )


def _arguments(description: str | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=TOP / "data", help="folder of the data sets (data/)")
    parser.add_argument("--quick", action="store_true", help="a small version: seconds, not minutes")
    parser.add_argument(
        "--synthetic", action="store_true", help="DATA is what synthetic.py writes: figures mean nothing"
    )
    parser.add_argument("--out", type=Path, help="folder for the results (results/ next to the script)")
    return parser.parse_args()


def _versions() -> dict[str, str]:
    from matplotlib import __version__ as matplotlib_version

    import widemargin

    found = {name: timing.versions()[name] for name in ("numpy", "scipy", "scikit-learn")}
    return {"widemargin": widemargin.__version__, **found, "matplotlib": matplotlib_version}
