"""Accuracies and spectra of the twelve similarities on CIFAR-10, compared with those of an independent implementation.

    python cifar.py --data cifar-10-batches-bin [--widemargin target/release/widemargin] [--only accuracies,spectra,m2]

`--data` is the folder of CIFAR-10's binary files. Bases: 100 a class of the first batch, C = 1.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from be_svm_similarities import M2, SIMILARITIES
from program import DEFAULT, Program, markdown, write

VARIANTS = {
    "no intercept": ["--intercept=none"],
    "intercept": ["--intercept=free"],
    "clip": ["--intercept=none", "--normalization=nystroem"],
    "flip": ["--intercept=none", "--normalization=nystroem:negative-eigenvalues=flip"],
    "shift": ["--intercept=none", "--normalization=nystroem:negative-eigenvalues=shift"],
    "square": ["--intercept=none", "--normalization=nystroem:negative-eigenvalues=square"],
}
# An independent reference implementation, in the order of SIMILARITIES.
EXPECTED = {
    "no intercept": [54.8, 55.3, 57.5, 59.8, 59.7, 60.0, 58.0, 59.4, 59.4, 59.9, 55.5, 53.6],
    "intercept": [55.6, 56.2, 58.8, 60.9, 61.9, 61.7, 59.6, 60.8, 60.7, 61.8, 56.0, 54.3],
    "clip": [53.6, 55.9, 58.8, 62.7, 58.9, 58.3, 55.2, 57.2, 57.5, 58.0, 52.8, 51.5],
    "flip": [53.6, 55.9, 58.8, 62.7, 58.2, 58.3, 54.6, 56.4, 56.3, 57.8, 52.6, 50.5],
    "shift": [53.6, 55.9, 58.8, 62.7, 60.2, 60.5, 57.8, 59.2, 59.1, 60.7, 55.9, 54.4],
    "square": [52.8, 55.0, 59.0, 63.1, 58.2, 58.3, 56.2, 57.6, 57.4, 57.9, 53.3, 51.2],
}
# Share of negative eigenvalues and of their energy: symmetric part, raw.
EXPECTED_SPECTRA = {
    "H4(0,1)": [0.306, 0.065, 0.252, 0.037],
    "H4(1,0)": [0.180, 0.046, 0.180, 0.046],
    "H4(1,1)": [0.297, 0.074, 0.240, 0.045],
    "H4(2,0)": [0.155, 0.035, 0.155, 0.035],
    "H4(2,1)": [0.293, 0.071, 0.242, 0.043],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--widemargin", type=Path, default=DEFAULT)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--only", default="accuracies,spectra,m2")
    arguments = parser.parse_args()
    program = Program(arguments.widemargin, arguments.threads)
    sections = {"accuracies": accuracies, "spectra": spectra, "m2": joined}
    with tempfile.TemporaryDirectory() as folder:
        archive(Path(folder) / "first.npz", arguments.data, "data_batch_1")
        archive(Path(folder) / "test.npz", arguments.data, "test_batch")
        for name in arguments.only.split(","):
            result, table = sections[name](program, arguments.data, Path(folder))
            write(f"cifar_{name}", result, table)


def archive(file: Path, data: Path, *batches: str) -> Path:
    """Batches of CIFAR-10's binary version as an archive that the command reads."""
    records = np.concatenate([np.fromfile(data / f"{batch}.bin", np.uint8) for batch in batches]).reshape(-1, 3073)
    np.savez(file, X=records[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), y=records[:, 0])
    return file


def accuracies(program: Program, _data: Path, folder: Path) -> tuple[dict[str, Any], str]:
    rows: dict[str, list[float]] = {}
    for variant, flags in VARIANTS.items():
        rows[variant] = []
        for spec in SIMILARITIES.values():
            model = folder / "model"
            program(
                "train",
                "--method=basis-expansion",
                folder / "first.npz",
                "-o",
                model,
                "--basis=index",
                "--similarity",
                spec,
                *flags,
            )
            rows[variant].append(program.accuracy(model, folder / "test.npz"))
            print(variant, spec, rows[variant][-1], flush=True)
    cells = []
    for variant, found in rows.items():
        cells.append([variant, *(f"{value:.2f}" for value in found)])
        differences = [a - b for a, b in zip(found, EXPECTED[variant], strict=True)]
        cells.append(["difference", *(f"{value:+.2f}" for value in differences)])
    worst = max(abs(a - b) for v, found in rows.items() for a, b in zip(found, EXPECTED[v], strict=True))
    text = f"Accuracy in percent; the largest difference from the reference is {worst:.2f}.\n\n"
    return {"accuracies": rows, "largest_difference": worst}, text + markdown(["", *SIMILARITIES], cells)


def spectra(program: Program, _data: Path, folder: Path) -> tuple[dict[str, Any], str]:
    batch, model = folder / "first.npz", folder / "spectra"
    joined = "+".join(SIMILARITIES[name] for name in EXPECTED_SPECTRA)
    program("train", "--method=basis-expansion", batch, "-o", model, "--n-basis=10", "-C=1", "--similarity", joined)
    found = program.json("inspect", model, "--spectrum", batch)["similarities"]
    rows, cells = {}, []
    for (name, expected), part in zip(EXPECTED_SPECTRA.items(), found, strict=True):
        symmetric, raw = part["negative"]["symmetric_part"], part["negative"]["raw"]
        rows[name] = [symmetric["ratio"], symmetric["energy"], raw["ratio"], raw["energy"]]
        cells.append([name, *(f"{value:.4f}" for value in rows[name]), str(part["n_complex"])])
        cells.append(["reference", *(f"{value:.3f}" for value in expected), ""])
    heads = ["", "negative ratio", "energy", "raw: ratio", "energy", "complex eigenvalues"]
    return {"spectra": rows}, markdown(heads, cells)


def joined(program: Program, data: Path, folder: Path) -> tuple[dict[str, Any], str]:
    """M2 = {H8R, H4(2,0), H4(0,1), H8(1,0)} with 250 bases a class, on all five batches."""
    model = folder / "m2"
    train = archive(folder / "train.npz", data, *(f"data_batch_{batch}" for batch in range(1, 6)))
    flags = ["--n-basis=2500", "--basis=index", "--similarity", "+".join(SIMILARITIES[name] for name in M2)]
    report = program.json("train", "--method=basis-expansion", train, "-o", model, *flags)
    accuracy = program.accuracy(model, folder / "test.npz")
    text = f"M2, 2,500 bases, 50,000 samples, an intercept: {accuracy:.2f} % on the test batch (reference 73.4).\n\n"
    stages = report["report"]["seconds"] if "report" in report else report.get("seconds", {})
    return {"accuracy": accuracy, "train": report}, text + markdown(
        ["stage", "seconds"], [[stage, f"{seconds:.1f}"] for stage, seconds in stages.items()]
    )


if __name__ == "__main__":
    main()
