"""Times and scores the power mean SVM and its peers, one thread each, all in one run.

    python run.py --data cifar-10-batches-bin --cache CACHE [--widemargin target/release/widemargin]

Writes results/DATE_MACHINE.json, the tables as .md and a plot as .png. `--only` runs some sections; others
that the same file (or the one given with --merge) holds are kept, each with its own date.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from threadpoolctl import threadpool_limits

import cifar10
import ours
import peers
import plot
import tables
import timing
import visual_words
from sparse_files import divided, load_npz, save_npz, training_maximum
from timing import Row

HERE = Path(__file__).resolve().parent
EXACT_ROWS = 10_000
GRID_C = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2)
GRID_SCALES = (1e-3, 1.0, 1e3)


@dataclass(frozen=True)
class Bench:
    """What a section needs."""

    cache: Path
    program: ours.Program
    repeats: int
    peer_budget: float

    def split(self, suffix: str = "") -> peers.Split:
        return peers.Split(*load_npz(self.cache / f"train{suffix}.npz"), *load_npz(self.cache / f"test{suffix}.npz"))

    def file(self, name: str) -> Path:
        return self.cache / name

    def head(self) -> Path:
        """The first rows alone, as counts, for what is too slow on all."""
        path = self.cache / f"train_first{EXACT_ROWS}.npz"
        if not path.is_file():
            rows, labels = load_npz(self.cache / "train.npz")
            save_npz(path, rows[:EXACT_ROWS], labels[:EXACT_ROWS])
        return path


def peers_section(bench: Bench) -> Row:
    split = bench.split()
    rows = peers.run(split, bench.repeats, bench.peer_budget)
    say(f"exact kernel, first {EXACT_ROWS} rows")
    return {"rows": rows, "exact": peers.run_exact(split.head(EXACT_ROWS))}


def ours_section(bench: Bench) -> Row:
    """Every kernel by both approximations; then what more nodes, the other loss and fewer rows do."""
    whole, test = bench.file("train.npz"), bench.file("test.npz")
    rows = [
        our_fit(bench, whole, test, kernel, approximation, [])
        for approximation in ours.APPROXIMATIONS
        for kernel in ours.KERNELS
    ]
    variants = [our_fit(bench, whole, test, kernel, "nystroem", ["nodes=6"]) for kernel in ours.KERNELS]
    variants += [our_fit(bench, whole, test, ours.CHI_SQUARE, a, ["--loss=hinge"]) for a in ours.APPROXIMATIONS]
    head = [our_fit(bench, bench.head(), test, ours.CHI_SQUARE, a, []) for a in ours.APPROXIMATIONS]
    return {"rows": rows, "variants": variants, "first_rows": head}


def our_fit(bench: Bench, train: Path, test: Path, kernel: str, approximation: str, extra: list[str]) -> Row:
    flags = [ours.KERNELS[kernel], f"-C={peers.OUR_C:g}", f"approximation={approximation}", *extra]
    row = timing.repeated(lambda: bench.program.train_and_score(train, test, flags), bench.repeats)
    name = f"Widemargin, {kernel}, {approximation}"
    say_row(" ".join([name, *extra]), row)
    setting = {"kernel": kernel, "approximation": approximation, "flags": " ".join(flags), "C": peers.OUR_C}
    return {"engine": name, **setting, **row}


def classes_section(bench: Bench) -> Row:
    """One thread against two, as classes grow."""
    rows = []
    for suffix in ("", *(str(k) for k in visual_words.MANY_CLASSES)):
        flags = [ours.KERNELS[ours.CHI_SQUARE], f"-C={peers.OUR_C:g}"]
        for threads in (1, 2):
            train, test = bench.file(f"train{suffix}.npz"), bench.file(f"test{suffix}.npz")

            def fit(train: Path = train, test: Path = test, flags: list[str] = flags, threads: int = threads) -> Row:
                return bench.program.train_and_score(train, test, flags, threads)

            row = timing.repeated(fit, bench.repeats)
            say_row(f"{suffix or 10} classes, {threads} threads", row)
            rows.append({"threads": threads, "classes": int(suffix or 10), **row})
    peer = peers.linear(bench.split("96"), 1, peers.OUR_C, peers.chi_square_map)
    say_row("96 classes, χ² feature map + LIBLINEAR", peer)
    return {"rows": rows, "peers": [{"engine": "χ² feature map + LIBLINEAR -s 1", "classes": 96, **peer}]}


def predict_section(bench: Bench) -> Row:
    flags = [ours.KERNELS[ours.CHI_SQUARE], f"-C={peers.OUR_C:g}"]
    trained = bench.program.train(bench.file("train.npz"), flags)
    if "error" in trained:
        return {"rows": [trained]}
    rows = []
    for name in ("train.npz", "train.svm"):
        row = timing.repeated(lambda name=name: bench.program.predict(bench.file(name)), bench.repeats, key="seconds")
        say(f"predict {name}: {row.get('rows_a_second', row.get('error'))}")
        rows.append({"file": name, **row})
    return {"rows": rows}


def grid_section(bench: Bench) -> Row:
    """Whether training ends, and how near the optimum, wherever C and the scale of the data are put."""
    counts, labels = load_npz(bench.head())
    scaled = divided(counts, training_maximum(counts))
    rows = []
    for scale in GRID_SCALES:
        path = bench.program.scratch / "grid.npz"
        save_npz(path, (scaled * scale).tocsr(), labels)
        for approximation in ours.APPROXIMATIONS:
            for kernel, flag in ours.KERNELS.items():
                for c in GRID_C:
                    flags = [flag, f"-C={c:g}", f"approximation={approximation}", "scale=no"]
                    row = bench.program.train(path, flags)
                    rows.append({"kernel": kernel, "approximation": approximation, "C": c, "scale": scale, **row})
                say(f"grid ×{scale:g} {approximation} {kernel}: {[r.get('gap') for r in rows[-len(GRID_C) :]]}")
    return {"rows": rows}


SECTIONS: dict[str, Callable[[Bench], Row]] = {
    "peers": peers_section,
    "ours": ours_section,
    "classes": classes_section,
    "predict": predict_section,
    "grid": grid_section,
}


@threadpool_limits.wrap(limits=1)
def main() -> int:
    arguments = parse()
    chosen = arguments.only or list(SECTIONS)
    if set(chosen) != {"peers"} and not arguments.widemargin.is_file():
        print(f"error: there is no program '{arguments.widemargin}'", file=sys.stderr)
        print("help: build it with `cargo build --release`, or use --only peers", file=sys.stderr)
        return 2
    try:
        data = visual_words.ensure(arguments.data, arguments.cache)
    except cifar10.MissingDataError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2

    stem = results_stem(arguments)
    results = earlier(stem.with_suffix(".json"), arguments.merge)
    results |= {"date": timing.today(), "machine": timing.machine(), "data": data}
    with tempfile.TemporaryDirectory() as scratch:
        program = ours.Program(arguments.widemargin, Path(scratch), arguments.timeout)
        bench = Bench(arguments.cache, program, arguments.repeats, arguments.peer_budget)
        started = timing.now()
        for name in chosen:
            say(f"== {name}")
            head = {"run": started, "load_average_before": timing.load_average(), "versions": timing.versions()}
            if name != "peers":
                head["widemargin"] = program.version()
            found = SECTIONS[name](bench)
            results["sections"][name] = {**head, "load_average_after": timing.load_average(), **found}
            # After every section, so that an interrupted run keeps what it has.
            write(stem, results)
    say(f"written: {stem}.json, .md, .png")
    return 0


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder that holds CIFAR-10; not needed once the cache is built")
    parser.add_argument("--cache", type=Path, required=True, help="folder of the bags of words, built if need be")
    default = HERE.parents[1] / "target" / "release" / "widemargin"
    parser.add_argument("--widemargin", type=Path, default=default, help="the program (default: %(default)s)")
    parser.add_argument("--only", type=section_list, metavar="SECTIONS", help=f"of {','.join(SECTIONS)}")
    parser.add_argument("--merge", type=Path, metavar="JSON", help="results whose other sections are kept")
    parser.add_argument("--results", type=Path, default=HERE / "results", help="folder (default: next to this script)")
    parser.add_argument("--machine", help="name of this machine in the file name (default: the processor)")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each fit, the median counts (default: 3)")
    parser.add_argument("--peer-budget", type=float, default=60.0, help="seconds after which a peer is not repeated")
    parser.add_argument("--timeout", type=float, default=900.0, help="seconds a command of ours may take")
    return parser.parse_args()


def section_list(text: str) -> list[str]:
    names = text.split(",")
    unknown = [name for name in names if name not in SECTIONS]
    if unknown:
        raise argparse.ArgumentTypeError(f"unknown section {', '.join(unknown)}; there are {', '.join(SECTIONS)}")
    return names


def results_stem(arguments: argparse.Namespace) -> Path:
    info = timing.machine()
    name = arguments.machine or f"{info['cpu']} {info['cores']} cores"
    slug = re.sub(r"[^a-z0-9]+", "-", re.sub(r"\((r|tm)\)", "", name.lower())).strip("-")
    return arguments.results / f"{timing.today()}_{slug}"


def earlier(own: Path, merge: Path | None) -> Row:
    """Sections measured before, which this run replaces one by one."""
    source = merge or own
    sections = json.loads(source.read_text())["sections"] if source.is_file() else {}
    return {"sections": sections}


def write(stem: Path, results: Row) -> None:
    stem.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(results, indent=1, ensure_ascii=False)
    stem.with_suffix(".json").write_text(text + "\n", encoding="utf-8")
    stem.with_suffix(".md").write_text(tables.render(results), encoding="utf-8")
    plot.draw(results, stem)


def say_row(name: str, row: Row) -> None:
    if "error" in row:
        say(f"{name}: {row['error']}")
    else:
        say(f"{name}: {row['fit_seconds']:.2f} s, accuracy {row.get('accuracy', float('nan')):.4f}")


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
