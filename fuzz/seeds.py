"""Writes small inputs of every kind for the fuzz targets: python seeds.py [FOLDER], by default the corpus.

Needs the package widemargin, polars and pillow. An input of `readers` is five bytes of choices and the file, one of
`fits` bytes of any kind.
"""

from __future__ import annotations

import gzip
import io
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
import scipy.sparse as sp
from PIL import Image

import widemargin as wm

FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / "corpus")
# The formats, in the order of `KINDS` in src/readers.rs.
SVM, CSV, TSV, NPY, NPZ, PARQUET, TS, STRINGS, STRINGS_CSV, UCR, PNG, JPG, BMP, GIF = range(14)
CELLS = "a,b,y\n1,2.5,cat\n-3,,dog\n4e2,x,cat\n"


def main() -> None:
    rng = np.random.default_rng(0)
    for name, kind, content in readers(rng):
        write("readers", name, bytes([kind, 0, 0, 0, 20]) + content)
        if name in ("csv", "tsv"):
            write("readers", f"{name}-categories", bytes([kind, 0, 16, 0, 20]) + content)
        if name in ("svm", "csv", "npyf4", "npz", "ts", "ucr", "strings"):
            write("readers", f"{name}-gz", bytes([kind, 1, 0, 0, 20]) + gzip.compress(content, mtime=0))
    for name, content in models(rng):
        write("models", name, content)
    for at, spec in enumerate(specs()):
        write("specs", f"{at:03}", spec.encode())
    for task in range(3):
        for method in range(4):
            for kind in (0, 4, 5, 6, 7):
                rest = rng.integers(0, 256, 120, dtype=np.uint8).tobytes()
                write("fits", f"{task}-{method}-{kind}", bytes([task, method, kind]) + rest)


def write(target: str, name: str, content: bytes) -> None:
    path = FOLDER / target / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def readers(rng: np.random.Generator):
    yield "svm", SVM, b"1 1:0.5 3:2 # note\n-1 2:1e-3\n2,3 1:1\n"
    yield "csv", CSV, CELLS.encode()
    yield "csv-quotes", CSV, b'"a b";"y"\r\n"1,5";"x ""y"""\r\n"2,5";"z"\r\n'
    yield "csv-utf16", CSV, CELLS.encode("utf-16")
    yield "tsv", TSV, CELLS.replace(",", "\t").encode()
    for dtype in ("<f4", ">f8", "<i2", "|u1", "<f2", "|b1", "<i8"):
        yield f"npy{dtype[1:]}", NPY, array(np.arange(6).reshape(3, 2).astype(dtype))
    yield "npy-columns", NPY, array(np.asfortranarray(np.arange(6.0).reshape(3, 2)))
    y = np.array(["a", "b", "a"])
    yield "npz", NPZ, archive(X=np.arange(6.0).reshape(3, 2), y=y)
    yield "npz-series", NPZ, archive(X=rng.random((3, 4, 1)).astype(np.float32), y=np.arange(3))
    yield "npz-images", NPZ, archive(X=np.zeros((3, 4, 4), np.uint8), y=np.arange(3))
    out = io.BytesIO()
    sp.save_npz(out, sp.csr_matrix(np.eye(3)))
    yield "npz-sparse", NPZ, out.getvalue()
    frame = pl.DataFrame({"a": [1.0, None, 2.0], "b": [1, 2, 3], "y": ["u", "v", "u"], "c": [True, False, True]})
    for compression in ("uncompressed", "snappy", "zstd", "gzip"):
        out = io.BytesIO()
        frame.write_parquet(out, compression=compression)
        yield f"parquet-{compression}", PARQUET, out.getvalue()
    yield "ts", TS, b"@univariate false\n@classLabel true a b\n@data\n1,2,3:4,5,6:a\n1,?:2,3:b\n"
    yield "strings", STRINGS, b"a\tACGT\nb\tTT\n"
    yield "strings-csv", STRINGS_CSV, b'text,label\nhello,a\n"x,y",b\n'
    yield "ucr", UCR, b"1 0.5 0.25 1\n2 1 2 NaN\n"
    for kind, name in ((PNG, "png"), (JPG, "jpeg"), (BMP, "bmp"), (GIF, "gif")):
        out = io.BytesIO()
        Image.fromarray(rng.integers(0, 255, (8, 8), dtype=np.uint8)).save(out, name)
        yield name, kind, out.getvalue()


def array(values: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.save(out, values)
    return out.getvalue()


def archive(**arrays: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    return out.getvalue()


def models(rng: np.random.Generator):
    y, two = np.arange(30) % 3, np.arange(30) % 2
    X = rng.normal(size=(30, 2)) + 2.0 * (y[:, None] == np.arange(2))
    letters = ["".join(rng.choice(list("abcd"), rng.integers(2, 6))) for _ in range(30)]
    series = [rng.normal(size=rng.integers(5, 9)).astype(np.float32) for _ in range(30)]
    images = rng.integers(0, 255, (30, 8, 8), dtype=np.uint8)
    many = np.stack([two, y > 0], axis=1).astype(int)
    fitted = {
        "power-mean": wm.PowerMeanSVC(kernel="chi2", C=1.0, nodes=3).fit(np.abs(X), y),
        "power-mean-polynomial": wm.PowerMeanSVC(-8.0, approximation="polynomial", C=1.0).fit(np.abs(X), two),
        "vectors": wm.BasisExpansionSVC("rbf", n_basis=4).fit(X, y),
        "weights": wm.BasisExpansionSVC("z_score/laplacian", n_basis=4, C=1.0).fit(X, two),
        "two": wm.BasisExpansionSVC(["mean_norm/rbf", "linear"], n_basis=3, normalization="nystroem").fit(X, y),
        "multilabel": wm.BasisExpansionSVC("rbf", n_basis=3).fit(X, many),
        "strings": wm.BasisExpansionSVC("edit", n_basis=4).fit(letters, two),
        "tfidf": wm.BasisExpansionSVC("tfidf:n=2/features", C=1.0).fit(letters, two),
        "series": wm.BasisExpansionSVC("dtw", n_basis=3).fit(series, two),
        "images": wm.BasisExpansionSVC("hog:cell=4/rigid:radius=1", n_basis=3).fit(images, two),
        "thin-plate": wm.ThinPlateSVC(C=1.0).fit(X, y),
        "thin-plate-bases": wm.ThinPlateSVC("cubic", n_basis=4, C=1.0).fit(X, two),
        "regression": wm.BasisExpansionRegressor("rbf", n_basis=4).fit(X, X[:, 0]),
        "quantile": wm.BasisExpansionRegressor("rbf", n_basis=4, loss="quantile").fit(X, X[:, 0]),
        "spline": wm.ThinPlateRegressor().fit(X, X[:, 0]),
        "one-class": wm.BasisExpansionOneClass("rbf", n_basis=4).fit(X),
    }
    for name, model in fitted.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "m.model"
            wm.save(model, path)
            yield name, path.read_bytes()


def specs():
    yield from ("rbf", "rbf:gamma=0.5", "z-score/rbf:gamma=auto", "hog:cell=4/rigid:radius=2", "dtw:window=0.1")
    yield from (
        "tfidf:n=3/features",
        "mismatch:k=3,m=1",
        "mean-norm/polynomial:degree=2",
        "minirocket/linear",
        "colors/chi2",
    )
    for name in wm.similarity.__all__:
        found = getattr(wm.similarity, name)
        if isinstance(found, type):
            try:
                yield str(found())
            except (TypeError, ValueError):
                continue


if __name__ == "__main__":
    main()
