"""Models in format 1 with inputs and decision values, as version 0.1 made them (commit 29c52fe).

`python make.py PROGRAM FOLDER --standardize yes`, with that version's package and its command. A later version would
write another format: the files are kept, not made again.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from scipy import sparse

import widemargin as wm

PROGRAM, FOLDER = sys.argv[1], Path(sys.argv[2])
rng = np.random.default_rng(0)
FOLDER.mkdir(parents=True, exist_ok=True)
cases = []


def keep(name, X, fitted, inputs):
    path = FOLDER / f"{name}.model"
    if fitted is not None:
        wm.save(fitted, path)
    loaded = wm.load(path, trusted=True)
    values = loaded.decision_function(X)
    if fitted is not None:
        np.testing.assert_array_equal(values, fitted.decision_function(X))
    rows = np.asarray(values).reshape(len(values), -1).tolist()
    cases.append({"model": name, **inputs, "decision_values": rows})


def eighths(n, d):
    """Numbers that single precision holds, and their differences and squares too."""
    return rng.integers(-16, 17, (n, d)) / 8.0


def rows(X):
    return {"kind": "dense", "inputs": X.tolist()}


# Vectors, three classes and two.
X = eighths(24, 4)
y = np.arange(24) % 3
X[np.arange(24), y] += 2.0
counts = np.abs(X).astype(np.float64)
two = np.array(["no", "yes"])[(y == 0).astype(int)]
test = eighths(6, 4)

keep("power-mean-nystrom", np.abs(test), wm.PowerMeanSVC(kernel="chi2", C=0.5).fit(counts, y), rows(np.abs(test)))
keep(
    "power-mean-polynomial",
    np.abs(test),
    wm.PowerMeanSVC(p=-8.0, approximation="polynomial", feature_range=None, loss="hinge", C=0.5).fit(counts, two),
    rows(np.abs(test)),
)
keep("thin-plate-exact", test, wm.ThinPlateSVC(C=1.0).fit(X, y), rows(test))
keep("thin-plate-landmarks", test, wm.ThinPlateSVC("cubic", n_basis=6, C=2.0).fit(X, two), rows(test))
keep("thin-plate-rbf", test, wm.ThinPlateSVC("rbf:gamma=0.5", C=1.0).fit(X, y), rows(test))
keep(
    "basis-expansion-vectors",
    test,
    wm.BasisExpansionSVC("rbf:gamma=0.25", n_basis=6, normalization="z_score").fit(X, y),
    rows(test),
)
keep(
    "basis-expansion-mixed",
    test,
    wm.BasisExpansionSVC(
        ["mean-norm>rbf", "z-score>laplacian", "linear"], n_basis=5, normalization="nystrom_clip", loss="logistic"
    ).fit(X, two),
    rows(test),
)

thin = X * (rng.random(X.shape) < 0.5)
thin_test = test * (rng.random(test.shape) < 0.5)
as_csr = sparse.csr_array(thin_test)
keep(
    "basis-expansion-sparse",
    as_csr,
    wm.BasisExpansionSVC("polynomial:degree=2,gamma=0.25", n_basis=6, loss="hinge").fit(sparse.csr_array(thin), y),
    {
        "kind": "sparse",
        "indptr": as_csr.indptr.tolist(),
        "indices": as_csr.indices.tolist(),
        "inputs": as_csr.data.tolist(),
        "n_features": 4,
    },
)

letters = ["".join("abcdç"[letter] for letter in rng.integers(0, 5, rng.integers(2, 7))) for _ in range(18)]
kinds = np.array([0, 1])[[("a" in one) * 1 for one in letters]]
keep(
    "basis-expansion-strings",
    letters[:6] + ["", "aç"],
    wm.BasisExpansionSVC("edit", n_basis=6).fit(letters, kinds),
    {"kind": "strings", "inputs": letters[:6] + ["", "aç"]},
)

series = [eighths(rng.integers(3, 7), 1)[:, 0].astype(np.float32) for _ in range(12)]
keep(
    "basis-expansion-series",
    series[:4],
    wm.BasisExpansionSVC("dtw", n_basis=4).fit(series, np.arange(12) % 2),
    {"kind": "series", "inputs": [one.tolist() for one in series[:4]]},
)

sets = rng.random((14, 70)) < 0.4
keep(
    "basis-expansion-bit-sets",
    sets[:4],
    wm.BasisExpansionSVC("tanimoto", n_basis=5).fit(sets, np.arange(14) % 2),
    {"kind": "bit-sets", "inputs": sets[:4].astype(int).tolist()},
)

images = rng.integers(0, 255, (8, 16, 16, 1), dtype=np.uint8)
keep(
    "basis-expansion-images",
    images[:2],
    wm.BasisExpansionSVC("hog:cell=8>rbf", n_basis=4).fit(images, np.arange(8) % 2),
    {"kind": "images", "inputs": images[:2].tolist()},
)

# Only the command line standardises.
csv = FOLDER / "train.csv"
csv.write_text("a,b,c,d,label\n" + "".join(",".join(map(str, row)) + f",{k}\n" for row, k in zip(X, y, strict=True)))
name = "thin-plate-standardised"
flags = sys.argv[3:]
command = [PROGRAM, "train", "thin-plate", csv, "-o", FOLDER / f"{name}.model", "--label", "label", "-C", "1", "--quiet"]
subprocess.run([*command, *flags], check=True)
csv.unlink()
keep(name, test, None, rows(test))

# A similarity that is Python code: loaded by Python alone.
from sklearn.metrics.pairwise import rbf_kernel  # noqa: E402

keep(
    "basis-expansion-python",
    test,
    wm.BasisExpansionSVC(rbf_kernel, n_basis=5).fit(X.tolist(), y),
    {"kind": "python", "inputs": test.tolist()},
)

(FOLDER / "cases.json").write_text("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")
