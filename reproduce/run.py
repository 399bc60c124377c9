"""Lists the scripts that reproduce the papers, or runs them all.

python reproduce/run.py                           # the list: what each claims, takes and needs
python reproduce/run.py --quick                   # a small version of all, on synthetic data where a script needs files
python reproduce/run.py --quick --data DATA       # the same on the real data, in a few minutes
python reproduce/run.py --all --data DATA         # all of them
python reproduce/run.py --all --only thin_plate   # those with this in their path
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from declared import HERE, MISSING, OUTSIDE, TOP, Script, as_text, checks, missing, newest_results, scripts

DATA = TOP / "data"

RESULTS = {0: "within what is expected", OUTSIDE: "outside what is expected", MISSING: "not run: something is missing"}


def main() -> int:
    parsed = _arguments()
    chosen = [script for folder in _folders() for script in scripts(folder) if parsed.only in str(script)]
    if not (parsed.quick or parsed.all or parsed.check):
        print("\n\n".join(_told(script) for script in chosen))
        print(f"\n{_summary(chosen)}\n`make reproduce-quick ARGS='--data DATA'` runs a small version of all of them.")
        return 0
    if parsed.check:
        rows = [[str(script), *_check(script)] for script in chosen]
    elif parsed.all or parsed.data or DATA.is_dir():
        rows = [[str(script), *_run(script, parsed.data or DATA, parsed.quick)] for script in chosen]
    else:
        rows = _on_synthetic_data(chosen)
    print("\n" + as_text(["script", "exit", "what"], rows))
    codes = {int(row[1]) for row in rows}
    # A figure that is wrong, or a script that broke, says more than one that had no data.
    return max(codes - {MISSING}, default=0) or max(codes, default=0)


def _folders() -> list[Path]:
    return sorted(path.parent for path in HERE.glob("*/expected.toml"))


def _told(script: Script) -> str:
    text = [
        f"python {script} --data DATA",
        *textwrap.wrap(script.claim, 110),
        f"takes {_time(script.seconds)}, quick {_time(script.quick_seconds)}; checks {len(script.figures)} figures",
        f"reads {_files(script.needs)}",
    ]
    return "\n    ".join(text)


def _files(needs: Sequence[str]) -> str:
    """Single files by name, several of a folder by their number."""
    folders: dict[str, list[str]] = {}
    for name in needs:
        folders.setdefault(name.rpartition("/")[0], []).append(name)
    record = [names[0] if len(names) == 1 else f"{len(names)} files of {folder}/" for folder, names in folders.items()]
    return ", ".join(record) or "no files"


def _summary(chosen: list[Script]) -> str:
    full, quick = sum(script.seconds for script in chosen), sum(script.quick_seconds for script in chosen)
    return f"{len(chosen)} scripts, {_time(full)} on one thread, {_time(quick)} quick."


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def _run(script: Script, data: Path, quick: bool) -> tuple[str, str]:
    """The exit code and a word on it."""
    print(f"\n== {script}", flush=True)
    needs = script.quick_needs if quick else script.needs
    if lines := missing(data, needs):
        print(f"not run, {len(lines)} files are missing:\n  " + "\n  ".join(lines))
        return str(MISSING), f"not run: {len(lines)} of {len(needs)} files are missing"
    code = _code(_call(script, "--data", str(data), *(["--quick"] if quick else [])))
    return str(code), RESULTS.get(code, "failed")


def _on_synthetic_data(chosen: list[Script]) -> list[list[str]]:
    """Quick runs without a data folder, two at a time: a row for each script."""
    # Needs NumPy, which the list of scripts does not.
    import synthetic

    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        synthetic.write(Path(folder))

        def row(script: Script) -> list[str]:
            options = ["--synthetic"] if script.quick_needs else []
            done = _call(script, "--data", folder, "--quick", *options, captures=True)
            print(f"\n== {script}\n{done.stdout}{done.stderr}", flush=True)
            results = RESULTS | ({0: "runs; on synthetic data, figures not compared"} if script.quick_needs else {})
            return [str(script), str(_code(done)), results.get(_code(done), "failed")]

        return list(pool.map(row, chosen))


def _call(script: Script, *options: str, captures: bool = False) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(script.path), *options], check=False, capture_output=captures, text=True)


def _code(done: subprocess.CompletedProcess[str]) -> int:
    """The exit code; of a script that was ended by a signal, one like any other failure's."""
    return done.returncode if done.returncode >= 0 else 128 - done.returncode


def _check(script: Script) -> tuple[str, str]:
    """Of the newest results; the names of what is outside."""
    record = newest_results(script.path)
    if record is None:
        return str(MISSING), "no results yet"
    bad = [row[0] for row in checks(script, record["figures"], quick=False) if row[-1] != "yes"]
    return (str(OUTSIDE), "outside: " + "; ".join(bad)) if bad else ("0", f"within, {record['date']}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="run a small version of every script")
    parser.add_argument("--all", action="store_true", help="run every script")
    parser.add_argument("--check", action="store_true", help="hold the newest results against expected.toml")
    parser.add_argument("--only", default="", metavar="TEXT", help="scripts with TEXT in their path")
    parser.add_argument("--data", type=Path, help="folder of the data sets (data/, if there is one)")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
