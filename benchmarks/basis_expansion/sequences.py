"""Series by dynamic time warping and strings by edit distance, alignment and n-grams, compared with simple baselines.

    python sequences.py --data DATA [--only series,strings] [--widemargin target/release/widemargin]

`DATA` has the folders `ucr` (one NAME.npz a set: X_train, y_train, X_test, y_test) and `strings` (surnames, sms_spam,
splice_junctions as .tsv.gz with a header, mol_bbbp as .csv.gz). Series: half of the training series are bases, C and
the similarity chosen by cross-validation on the training series (3 folds); the rival is
the nearest neighbor among all training series by the same warping distance. Strings: a random fifth is for testing.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from program import DEFAULT, Program, markdown, write

# The sets with 100 to 2,000 training series and no missing value: with fewer there is nothing to be spared.
SETS = [
    *("ACSF1", "Adiac", "Computers", "ECG200", "ECG5000", "Earthquakes", "Ham"),
    *("PhalangesOutlinesCorrect", "PLAID", "PowerCons", "SmoothSubspace", "TwoPatterns", "Wafer"),
]
WINDOW = 0.1
SIMILARITIES = [f"dtw:window={WINDOW}", f"dtw:window={WINDOW},gamma=auto"]
C_GRID = (1, 10, 100)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--widemargin", type=Path, default=DEFAULT)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--only", default="series,strings")
    arguments = parser.parse_args()
    program = Program(arguments.widemargin, arguments.threads)
    sections = {"series": series, "strings": strings}
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.only.split(","):
            result, table = sections[name](program, arguments.data, Path(folder))
            write(name, result, table)


def series(program: Program, data: Path, folder: Path) -> tuple[dict[str, Any], str]:
    rows, cells = [], []
    for name in SETS:
        with np.load(data / "ucr" / f"{name}.npz") as file:
            parts = {key: file[key] for key in file.files}
        train, test = folder / f"{name}_train.ts", folder / f"{name}_test.ts"
        write_ts(train, parts["X_train"], parts["y_train"], parts.get("len_train"))
        write_ts(test, parts["X_test"], parts["y_test"], parts.get("len_test"))
        n_train = len(parts["y_train"])
        rows.append(
            {"set": name, "train": n_train, "test": len(parts["y_test"]), **one_set(program, train, test, parts)}
        )
        row = rows[-1]
        cells.append(
            [name, str(n_train), str(row["n_basis"]), f"{row['accuracy']:.2f}", f"{row['nearest']:.2f}", row["chosen"]]
        )
        print(cells[-1], flush=True)
    ours, rival = (float(np.mean([row[key] for row in rows])) for key in ("accuracy", "nearest"))
    cells.append(["mean", "", "", f"{ours:.2f}", f"{rival:.2f}", ""])
    heads = ["set", "training series", "bases", "basis expansion %", "1-NN %", "chosen"]
    text = f"Warping within {100 * WINDOW:.0f} % of the length; mean {ours:.2f} % against {rival:.2f} %.\n\n"
    return {"rows": rows, "mean": ours, "mean_nearest": rival}, text + markdown(heads, cells)


def one_set(program: Program, train: Path, test: Path, parts: dict[str, np.ndarray]) -> dict[str, Any]:
    labels = parts["y_train"]
    model = train.with_suffix(".model")
    n_basis = max(len(labels) // 2, len(np.unique(labels)))
    folds = int(min(3, np.bincount(labels.astype(int))[np.unique(labels).astype(int)].min()))
    flags = ["--n-basis", min(n_basis, 500)]
    chosen = {"similarity": [SIMILARITIES[0]], "C": 1.0}
    if folds > 1:
        grid = [flag for spec in SIMILARITIES for flag in ("--similarity", spec)]
        grid += [flag for c in C_GRID for flag in ("-C", c)]
        tried = program.json("cv", "--method=basis-expansion", train, *grid, "--folds", folds, *flags)
        chosen = tried["points"][tried["best"]]["parameters"]
    program(
        "train",
        "--method=basis-expansion",
        train,
        "-o",
        model,
        "-C",
        chosen["C"],
        "--similarity",
        chosen["similarity"][0],
        *flags,
    )
    accuracy = program.accuracy(model, test)
    # Every training series as a base, and the similarities as they are: the largest is the nearest neighbor's.
    raw, block = train.with_suffix(".raw"), train.with_suffix(".npz")
    all_bases = ["--n-basis", len(labels), "--normalization=none"]
    program(
        "train", "--method=basis-expansion:max-iter=1", train, "-o", raw, "--similarity", SIMILARITIES[0], *all_bases
    )
    program("transform", raw, test, "-o", block)
    rows = [entry["row"] for entry in program.json("inspect", raw)["bases"]]
    nearest = labels[np.array(rows)[np.load(block)["X"].argmax(axis=1)]]
    return {
        "n_basis": int(flags[1]),
        "accuracy": accuracy,
        "nearest": 100.0 * float((nearest == parts["y_test"]).mean()),
        "chosen": f"{chosen['similarity'][0]}, C = {chosen['C']:g}",
    }


def write_ts(path: Path, values: np.ndarray, labels: np.ndarray, lengths: np.ndarray | None) -> None:
    """Series in the text format of sktime and aeon: dimensions between colons, the label last."""
    each = [row[:, None] for row in values] if lengths is None else np.split(values, np.cumsum(lengths)[:-1])
    channels = each[0].shape[1]
    classes = " ".join(str(label) for label in np.unique(labels))
    with path.open("w") as out:
        univariate = "true" if channels == 1 else "false"
        out.write(f"@problemName {path.stem}\n@timeStamps false\n@univariate {univariate}\n")
        if channels > 1:
            out.write(f"@dimensions {channels}\n")
        out.write(f"@classLabel true {classes}\n@data\n")
        for one, label in zip(each, labels, strict=True):
            columns = [",".join(repr(float(value)) for value in column) for column in one.T]
            out.write(":".join([*columns, str(label)]) + "\n")


STRINGS = {
    # name: what is compared how, the rest as flags; the baseline is a linear SVM on hashed trigram counts.
    "surnames": [["edit", "-C10"], ["edit:metric=jaro-winkler", "-C10"], ["ngram:n=2", "-C10"]],
    "sms_spam": [["edit:metric=lcs", "-C10"], ["ngram:n=3", "-C10"]],
    "splice_junctions": [["align:mode=global,match=2,mismatch=-1,open=-4,extend=-2", "-C10"], ["ngram:n=4", "-C10"]],
    "mol_bbbp": [["edit", "-C10"], ["ngrams:n=4/tanimoto", "-C10"]],
}


def strings(program: Program, data: Path, folder: Path) -> tuple[dict[str, Any], str]:
    rows, cells = [], []
    for name, specs in STRINGS.items():
        pairs = read_strings(data / "strings", name)
        train, test, majority = split(pairs, folder, name)
        model = folder / "strings.model"
        found = []
        baseline = ["--format=strings", "--similarity=ngram-counts:n=3,bits=4096/linear", "--n-basis=1000", "-C1"]
        for label, flags in [("linear on trigram counts", baseline)] + [
            (spec, ["--format=strings", "--similarity", spec, *flags]) for spec, *flags in specs
        ]:
            results = program.json("train", "--method=basis-expansion", train, "-o", model, *flags)
            accuracy = program.accuracy(model, test, "--format=strings")
            found.append({"similarity": label, "accuracy": accuracy, "seconds": results["report"]["seconds_total"]})
            cells.append([name, label, f"{accuracy:.2f}", f"{found[-1]['seconds']:.1f}", f"{majority:.2f}"])
            print(cells[-1], flush=True)
        rows.append({"set": name, "n": len(pairs), "majority": majority, "rows": found})
    heads = ["set", "similarity", "accuracy %", "seconds to train", "largest class %"]
    return {"rows": rows}, markdown(heads, cells)


def read_strings(folder: Path, name: str) -> list[tuple[str, str]]:
    """(label, string) pairs."""
    if name == "mol_bbbp":
        with gzip.open(folder / f"{name}.csv.gz", "rt", encoding="utf-8") as file:
            return [(row["p_np"], row["smiles"]) for row in csv.DictReader(file)]
    with gzip.open(folder / f"{name}.tsv.gz", "rt", encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file][1:]
    return [(line[0], line[-1].replace("\t", " ")) for line in lines]


def split(pairs: list[tuple[str, str]], folder: Path, name: str) -> tuple[Path, Path, float]:
    order = np.random.default_rng(0).permutation(len(pairs))
    n_test = len(pairs) // 5
    files = []
    for part, rows in (("test", order[:n_test]), ("train", order[n_test:])):
        path = folder / f"{name}_{part}.tsv"
        path.write_text(
            "label\ttext\n" + "".join(f"{pairs[row][0]}\t{pairs[row][1]}\n" for row in rows), encoding="utf-8"
        )
        files.append(path)
    test_labels = [pairs[row][0] for row in order[:n_test]]
    majority = 100.0 * max(test_labels.count(label) for label in set(test_labels)) / n_test
    return files[1], files[0], majority


if __name__ == "__main__":
    main()
