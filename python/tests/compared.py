"""Classifiers that select nothing, what other fits compared, from their `cv_results_`, and outputs of ONNX models."""

from __future__ import annotations

import numpy as np

import widemargin as wm


def on_bases(similarity="rbf", **given):
    """A basis expansion with the parameters that the tests mostly have."""
    return wm.BasisExpansionSVC(similarity, **{"normalization": "mean_norm", "C": 1.0, **given})


def onnx_outputs(model, X):
    """The outputs of an exported estimator, or of an ONNX model, by name. The first input has all columns."""
    import onnxruntime  # which the oldest environment lacks

    graph = wm.to_onnx(model) if hasattr(model, "fit") else model
    session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    kind = np.float64 if session.get_inputs()[0].type == "tensor(double)" else np.float32
    names = [one.name for one in session.get_outputs()]
    return dict(zip(names, session.run(names, {session.get_inputs()[0].name: np.asarray(X, kind)}), strict=True))


def path(model):
    """The values of C that a fit compared, ascending: the columns of `cv_results_`, by shorter names."""
    return _columns(model, [set(one) <= {"C", "label"} for one in model.cv_results_["params"]])


def candidates(model):
    """What a fit compared but C, a dictionary each."""
    found = _columns(model, [not set(one) <= {"C", "label"} for one in model.cv_results_["params"]])
    return [{name: values[at] for name, values in found.items()} | one for at, one in enumerate(found.pop("params"))]


def expected_error(model):
    """Of a regression, the root mean squared error or the mean loss on held-out samples at the selected C."""
    found = path(model)
    name = "neg_loss" if "mean_test_neg_loss" in found else "neg_root_mean_squared_error"
    return -found[f"mean_test_{name}"][found["selected"]][0]


def _columns(model, rows):
    results, rows = model.cv_results_, np.flatnonzero(rows)
    found = {name: values[rows] for name, values in results.items() if name != "params"}
    found |= {"params": [results["params"][at] for at in rows], "score": found["mean_test_score"]}
    found |= {"hinge": -found["score"], "C": np.array([one.get("C") for one in found["params"]], dtype=float)}
    if "mean_test_accuracy" in found:
        found["error"] = 1 - found["mean_test_accuracy"]
    return found
