"""The examples, run small: they work, they are as good as they say, and their pictures are drawn."""

import importlib
import json
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

EXAMPLES = Path(__file__).parents[2] / "examples" / "python"

# What main returns at the least, and the printed line that it is to beat, by how much.
CLAIMS = {
    "images_invariant": (0.7, "RBF", 0.3),
    "series_dtw": (0.88, "Gaussian on values", 0.1),
    "surnames_edit_distance": (0.88, "n-grams, linear", 0.0),
    "molecules_tanimoto": (0.7, "linear", 0.0),
    "molecules_regression": (0.9, "", 0.0),
    "robust_regression": (0.84, "", 0.0),
    "text_intersection": (0.85, "linear", 0.1),
    "scattered_2d": (0.93, "Gaussian, gamma=1", 0.2),
    "own_similarity": (0.75, "linear SVM on the kinds", 0.4),
    "grid_search_pipeline": (0.95, "linear SVM", 0.01),
    "probabilities": (0.8, "Gaussian, five folds", -0.01),
    "several_labels": (0.95, "a fit for each", -0.015),
}


@pytest.mark.parametrize("name", CLAIMS)
def test_example(name, tmp_path, monkeypatch, capsys):
    # Where a similarity is a function of the example, a model file names its module: it must be one that is found.
    monkeypatch.syspath_prepend(EXAMPLES)
    example = importlib.import_module(name)
    try:
        import matplotlib

        matplotlib.use("Agg")
        picture = ["--out", str(tmp_path)]
    except ImportError:
        picture = []
    least, baseline, gain = CLAIMS[name]
    accuracy = example.main(["--small", *picture])
    assert least < accuracy <= 1.0
    if baseline:
        [beaten] = re.findall(rf"^{re.escape(baseline)} .*?accuracy ([0-9.]+)", capsys.readouterr().out, re.MULTILINE)
        assert accuracy > float(beaten) + gain
    if picture:
        drawn = (tmp_path / f"{name}.png").read_bytes()
        assert drawn.startswith(b"\x89PNG")
        assert len(drawn) > 5000


@pytest.mark.parametrize("name", CLAIMS)
def test_data_that_are_not_there_are_named(name, tmp_path, monkeypatch, capsys):
    monkeypatch.syspath_prepend(EXAMPLES)
    with pytest.raises(SystemExit) as raised:
        importlib.import_module(name).main(["--data", str(tmp_path / "nothing")])
    said = f"{raised.value}{capsys.readouterr().err}"
    assert "nothing" in said
    assert "--data needs" in said


def test_every_kind_is_explained(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    example = importlib.import_module("explained_prediction")
    predicted = example.main(["--small", "--out", str(tmp_path)])
    assert len(predicted) == len(example.KINDS)
    assert predicted[-1] == "Polish"
    for kind in example.KINDS:
        assert "<svg" in (tmp_path / f"explained_{kind}.html").read_text(encoding="utf-8")


def test_the_examples_are_listed():
    listed = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    for path in EXAMPLES.glob("*.py"):
        assert f"`{path.name}`" in listed or f"[{path.name}]" in listed


def written(folder):
    """For each example the arguments that make it read a small file of the form that it documents."""
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = rng.normal(size=(80, 2)) + 2 * y[:, None]
    bits = rng.random((80, 64)) < 0.2 + 0.4 * y[:, None]
    series = np.column_stack([y, np.sin(np.linspace(0, 6, 30) * (1 + y[:, None])) + rng.normal(0, 0.1, (80, 30))])
    names = [("ab" if label else "xy") * 2 + "".join(rng.choice(list("cdefg"), 4)) for label in y]
    keypoints = [{"points": rng.uniform(0, 9, (6, 2)).tolist(), "kinds": [0, 1, 2] * 2, "label": int(c)} for c in y]
    images = rng.integers(0, 256, (80, 3073), dtype=np.uint8)
    images[:, 0] = y

    np.savez(folder / "points.npz", X=X, y=y)
    np.savez(folder / "labels.npz", X=X, Y=np.column_stack([y, 1 - y]))
    np.savetxt(folder / "points.csv", np.column_stack([X, y]), delimiter=",", header="x,y,label", comments="")
    np.savez(folder / "split.npz", X_train=X, y_train=y, X_test=X, y_test=y)
    np.savetxt(
        folder / "bits.csv", np.column_stack([bits, y]), "%d", ",", header=",".join(map(str, range(65))), comments=""
    )
    hexadecimal = [f"{np.packbits(row).tobytes().hex()},{label}" for row, label in zip(bits, y, strict=True)]
    curves = [f"{x},{np.sin(x) + 0.1 * np.cos(50 * x)}" for x in np.linspace(0, 6, 400)]
    (folder / "curves.csv").write_text("\n".join(["x,y", *curves]))
    (folder / "hex.csv").write_text("\n".join(["fingerprint,active", *hexadecimal]))
    smiles = [f"{'CCO' if label else 'c1ccccc1'}{'C' * (k % 7)},{label},0" for k, label in enumerate(y)]
    (folder / "smiles.csv").write_text("\n".join(["smiles,active,other", *smiles]))
    (folder / "names.tsv").write_text("\n".join(["a\tb", *(f"{c}\t{name}" for c, name in zip(y, names, strict=True))]))
    (folder / "points.jsonl").write_text("\n".join(map(json.dumps, keypoints)))
    for part in ("train", "test"):
        counts = sparse.csr_array(rng.poisson(1 + 2 * (y[:, None] == np.arange(20) % 2)))
        arrays = {"indptr": counts.indptr, "indices": counts.indices, "data": counts.data.astype(np.float32)}
        np.savez(folder / f"words.{part}.npz", shape=counts.shape, labels=y, **arrays)
    (folder / "Waves").mkdir()
    for part in ("TRAIN", "TEST"):
        np.savetxt(folder / "Waves" / f"Waves_{part}.tsv", series, delimiter="\t")
    for part in ("data_batch_1", "test_batch"):
        images.tofile(folder / f"{part}.bin")
    return {
        "images_invariant": [[folder]],
        "series_dtw": [[folder / "Waves"]],
        "surnames_edit_distance": [[folder / "names.tsv"]],
        "molecules_tanimoto": [
            [folder / "bits.csv"],
            [folder / "hex.csv"],
            [folder / "smiles.csv", "--label", "active"],
        ],
        "molecules_regression": [[folder / "smiles.csv"], [folder / "smiles.csv", "--target", "active"]],
        "robust_regression": [[folder / "curves.csv"]],
        "text_intersection": [[folder / "words.train.npz"], [folder / "words.test.npz"]],
        "scattered_2d": [[folder / "points.npz"], [folder / "points.csv"]],
        "own_similarity": [[folder / "points.jsonl"]],
        "grid_search_pipeline": [[folder / "split.npz"]],
        "probabilities": [[folder / "points.npz"]],
        "several_labels": [[folder / "labels.npz"]],
    }


@pytest.mark.parametrize("name", CLAIMS)
def test_files_of_the_forms_that_are_documented(name, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    example = importlib.import_module(name)
    for arguments in written(tmp_path)[name]:
        accuracy = example.main(["--small", "--data", *map(str, arguments)])
        # Images and keypoints are of no meaning here.
        assert accuracy > (0.2 if name in ("images_invariant", "own_similarity") else 0.8), arguments
