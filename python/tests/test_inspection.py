"""Spectra against NumPy's, and pictures that can be read without the text around them."""

import re
import sys

import numpy as np
import pytest
from compared import candidates, on_bases, path
from scipy import sparse
from sklearn.datasets import load_digits, make_moons
from sklearn.metrics import pairwise as truth

import widemargin as wm
from widemargin._report import path_of, results
from widemargin.inspection import BasisDisplay, PathDisplay, Spectrum, SpectrumDisplay, spectrum
from widemargin.similarity import RBF, Deformable, MeanNorm

X, Y = (A[:150] for A in load_digits(return_X_y=True))
WORDS = ["".join(np.random.default_rng(i).choice(list("abcdef" if i % 2 else "defghi"), 6)) for i in range(60)]
HALF = np.arange(60) % 2


@pytest.fixture
def plt():
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")


def drawn(display):
    """Everything that is drawn once, so that a picture that cannot be drawn fails; and all its texts."""
    import matplotlib.text

    display.figure_.canvas.draw()
    return " | ".join(text.get_text() for text in display.figure_.findobj(matplotlib.text.Text) if text.get_text())


# Spectra


def test_spectrum_of_a_kernel():
    found = spectrum(RBF(1e-3), X)
    expected = np.linalg.eigvalsh(truth.rbf_kernel(X, gamma=1e-3))[::-1]
    np.testing.assert_allclose(found.eigenvalues, expected, atol=1e-4)
    assert (found.negative_ratio, found.negative_energy, found.similarity) == (0.0, 0.0, "rbf:gamma=0.001")
    assert found.asymmetry < 1e-6
    assert "0.0 % of 150 eigenvalues are negative" in str(found)


def test_rounding_is_not_negative():
    # Of rank 3: all other eigenvalues are zero but for rounding.
    points = np.random.default_rng(0).normal(100, 1, (300, 3))
    found = spectrum("linear", points)
    assert (found.eigenvalues < 0).sum() > 50
    assert (found.negative_ratio, found.negative_energy) == (0.0, 0.0)
    assert found.rounding == pytest.approx(300 * 2**-23 * (points**2).sum(axis=1).max(), rel=1e-5)
    assert "0.0 % of 300 eigenvalues are negative" in str(found)
    # What is negative beyond it counts.
    assert spectrum(negative_distance, points).negative_ratio == pytest.approx(1 / 300)


def test_spectrum_of_an_indefinite_similarity():
    found = spectrum("sigmoid:gamma=0.0005,coef0=-1", X)
    expected = np.linalg.eigvalsh(truth.sigmoid_kernel(X, gamma=5e-4, coef0=-1))[::-1]
    np.testing.assert_allclose(found.eigenvalues, expected, atol=1e-3)
    assert found.negative_ratio == pytest.approx((expected < -1e-4).mean(), abs=0.2)
    assert found.negative_ratio > 0.3
    assert found.negative_energy == pytest.approx(
        -expected[expected < 0].sum() / expected[expected > 0].sum(), rel=1e-3
    )


def test_spectrum_of_what_is_not_symmetric():
    cells = np.random.default_rng(0).normal(size=(12, 3, 3, 4))
    found = spectrum(Deformable(), cells)
    S = Deformable()(cells).astype(float)
    assert found.asymmetry == pytest.approx(np.abs(S - S.T).max() / np.abs(S).max(), rel=1e-4)
    np.testing.assert_allclose(found.eigenvalues, np.linalg.eigvalsh((S + S.T) / 2)[::-1], rtol=1e-3, atol=1e-3)
    raw = np.linalg.eigvals(S)
    np.testing.assert_allclose(np.sort(found.raw_eigenvalues.real), np.sort(raw.real), rtol=1e-3, atol=1e-3)


def negative_distance(A, B):
    return -truth.euclidean_distances(A, B)


def test_spectra_of_several_in_their_order():
    found = spectrum([negative_distance, "linear", RBF(1e-3)], X, n_jobs=2)
    assert [one.similarity for one in found] == ["negative_distance", "linear", "rbf:gamma=0.001"]
    np.testing.assert_allclose(found[1].eigenvalues, spectrum("linear", X).eigenvalues)
    assert found[0].negative_ratio == pytest.approx(1 / 150)
    S = truth.linear_kernel(X)
    np.testing.assert_allclose(spectrum("precomputed", S).eigenvalues, spectrum("linear", X).eigenvalues, atol=1)


def test_spectra_of_any_samples():
    assert len(spectrum("edit", WORDS).eigenvalues) == 60
    assert len(spectrum("rbf", sparse.csr_array(X)).eigenvalues) == 150


def test_display_of_one_spectrum(plt):
    display = SpectrumDisplay.from_similarity("sigmoid:gamma=0.0005,coef0=-1", X)
    texts = drawn(display)
    for text in (
        "sigmoid:gamma=0.0005,coef0=-1",
        "% negative",
        "energy",
        "rank of the eigenvalue",
        "eigenvalue / largest",
    ):
        assert text in texts
    assert display.ax_.get_legend() is None
    (line,) = display.lines_
    values = spectrum("sigmoid:gamma=0.0005,coef0=-1", X).eigenvalues
    np.testing.assert_allclose(line.get_ydata(), values / np.abs(values).max())
    np.testing.assert_array_equal(line.get_xdata(), np.arange(1, 151))


def test_display_of_several_spectra(plt):
    figure, ax = plt.subplots()
    display = SpectrumDisplay.from_similarity(["rbf", negative_distance], X, ax=ax, linewidth=3)
    assert (display.ax_, display.figure_) == (ax, figure)
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels[0].startswith("rbf:gamma=0.0")
    assert len(labels[0].split(":")[1]) < 20  # a learned number is not shown to its last digit
    assert labels[1].startswith("negative_distance: 0.667 % negative")
    assert [line.get_linewidth() for line in display.lines_] == [3, 3]
    drawn(display)


def test_display_of_an_estimators_spectrum(plt):
    svc = on_bases(["rbf", "linear"], n_basis=40).fit(X, Y)
    display = SpectrumDisplay.from_estimator(svc)
    # What was learned at fit, not what the bases would teach.
    assert [one.similarity for one in display.spectra] == list(np.atleast_1d(svc.similarity_))
    assert len(display.spectra[0].eigenvalues) == 40
    assert len(SpectrumDisplay.from_estimator(svc, X).spectra[0].eigenvalues) == 150
    expansion = wm.BasisExpansion("edit", n_basis=20).fit(WORDS)
    assert len(SpectrumDisplay.from_estimator(expansion).spectra[0].eigenvalues) == 20
    own = on_bases(shared_letters, n_basis=20).fit(WORDS, HALF)
    assert SpectrumDisplay.from_estimator(own).spectra[0].similarity == "shared_letters"
    S = truth.rbf_kernel(X)
    with pytest.raises(ValueError, match=r"X is None.*square matrix"):
        SpectrumDisplay.from_estimator(on_bases("precomputed").fit(S, Y))
    assert isinstance(SpectrumDisplay(Spectrum("s", np.ones(2), np.ones(2), 0, 0, 0)).plot().ax_, plt.Axes)


def shared_letters(A, B):
    return np.array([[len(set(a) & set(b)) for b in B] for a in A], dtype=float)


# The path


def test_display_of_a_path(plt):
    A, b = make_moons(100, noise=0.3, random_state=0)
    svc = wm.ThinPlateSVC(kernel="distance", standardize=False).fit(A, b)
    display = PathDisplay.from_estimator(svc)
    texts = drawn(display)
    for text in (
        "leave-one-out error, to first order (%)",
        "leave-one-out squared hinge loss",
        "selected C = ",
        "distance",
    ):
        assert text in texts
    assert display.ax_.get_xscale() == "log"
    assert display.ax_.get_xlabel() == "C"
    order = np.argsort(path(svc)["C"])
    error, loss = display.ax_.lines[0], display.ax_right_.lines[0]
    np.testing.assert_allclose(error.get_xdata(), path(svc)["C"][order])
    np.testing.assert_allclose(error.get_ydata(), 100 * path(svc)["error"][order])
    np.testing.assert_allclose(loss.get_ydata(), path(svc)["hinge"][order])
    assert display.ax_.lines[1].get_xdata()[0] == pytest.approx(svc.C_)


def rows_of(display):
    """The rows of the candidates that were drawn: name, loss, half the error bar, estimated error."""
    ax = display.ax_candidates_
    names = [label.get_text().replace("\n", " ") for label in ax.get_yticklabels()]
    dots = {int(line.get_ydata()[0]): line.get_xdata()[0] for line in ax.lines if line.get_marker() in "oD"}
    bars = {}
    for collection in ax.collections:
        ((left, row), (right, _)) = collection.get_segments()[0]
        bars[int(row)] = (right - left) / 2
    errors = {int(text.xy[1]): text.get_text() for text in ax.texts}
    return [(name, dots.get(row), bars.get(row), errors.get(row)) for row, name in enumerate(names)]


def test_display_of_what_the_basis_expansion_tried(plt):
    svc = wm.BasisExpansionSVC(random_state=0).fit(X, Y)
    display = PathDisplay.from_estimator(svc)
    drawn(display)
    rows = rows_of(display)
    tried = sorted(candidates(svc), key=lambda one: one["hinge"])
    assert len(rows) == len(tried) > 5
    for (name, loss, bar, error), one in zip(rows, tried, strict=True):
        assert np.atleast_1d(one["similarity"])[0].split(":")[0] in name
        assert loss == pytest.approx(one["hinge"])
        assert bar == pytest.approx(one["std_test_score"])
        assert error == f"{100 * one['error']:.1f} %"
    (chosen,) = (one for (name, *_), one in zip(rows, tried, strict=True) if name.endswith("(selected)"))
    assert chosen["similarity"] == svc.similarity_
    assert chosen["normalization"] == svc.normalization_
    # The path below has all values of C.
    np.testing.assert_allclose(display.ax_.lines[0].get_xdata(), np.sort(path(svc)["C"]))
    assert display.ax_ is not display.ax_candidates_


def test_display_of_what_the_power_mean_tried(plt):
    svc = wm.PowerMeanSVC().fit(X, Y)
    display = PathDisplay.from_estimator(svc)
    texts, rows = drawn(display), rows_of(display)
    assert len(rows) == len(candidates(svc))
    (chosen,) = (name for name, *_ in rows if name.endswith("(selected)"))
    assert chosen == f"{svc.similarity_}, {len(svc.nodes_)} nodes (selected)"
    # Least squares are left out exactly.
    assert "leave-one-out error (%)" in texts
    order = np.argsort(path(svc)["C"])
    np.testing.assert_allclose(display.ax_right_.lines[0].get_ydata(), path(svc)["hinge"][order])
    # With C and p given there is neither.
    given = wm.PowerMeanSVC(C=1.0, kernel=-1, nodes=3).fit(X, Y)
    with pytest.raises(ValueError, match="path of the estimator is empty"):
        PathDisplay.from_estimator(given)


def test_display_of_what_auto_tried(plt):
    svc = wm.AutoSVC(random_state=0).fit(X, Y)
    display = PathDisplay.from_estimator(svc)
    drawn(display)
    rows = rows_of(display)
    assert len(rows) > 1
    assert {name.split(",")[0].removesuffix(" (selected)") for name, *_ in rows} == {
        one["method"] for one in candidates(svc)
    }
    (chosen,) = (name for name, *_ in rows if name.endswith("(selected)"))
    assert chosen.startswith(svc.method_)
    np.testing.assert_allclose(display.ax_.lines[0].get_xdata(), np.sort(path(svc.best_estimator_)["C"]))


def test_display_of_kernels_in_axes_of_the_user(plt):
    A, b = make_moons(100, noise=0.3, random_state=0)
    svc = wm.ThinPlateSVC().fit(A, b)
    assert len(candidates(svc)) > 1
    for layout in ("constrained", None):
        figure, axes = plt.subplots(1, 2, layout=layout)
        display = PathDisplay.from_estimator(svc, ax=axes[1])
        drawn(display)
        assert display.figure_ is figure
        assert axes[1] not in figure.axes
        (chosen,) = (name for name, *_ in rows_of(display) if name.endswith("(selected)"))
        assert chosen == f"{svc.similarity_} (selected)"
        # Both stand where the axes were.
        for ax in (display.ax_, display.ax_candidates_):
            assert ax.get_position().x0 > 0.5


def test_display_of_candidates_alone(plt):
    rows = [{"params": {"kernel": f"candidate {at}"}, "score": -float(at)} for at in range(30)]
    failed = {"params": {"kernel": "a failure"}, "problem": "it cannot be compared with a string"}
    alone = PathDisplay(cv_results=results(rows, [], {"kernel": "candidate 29"}))
    texts, drawn_rows = drawn(alone.plot()), rows_of(alone)
    # The best, and the selected one.
    assert [row[1] for row in drawn_rows] == [*range(20), 29]
    assert "the best 20 of 30" in texts
    assert "candidate 29 (selected)" in texts
    assert (alone.ax_, alone.ax_right_) == (alone.ax_candidates_, None)
    two = PathDisplay(cv_results=results([failed, rows[3]], [], {}))
    assert "failed: it cannot be compared" in drawn(two.plot())
    assert [row[1] for row in rows_of(two)] == [3.0, None]


def test_long_names_of_candidates_stay_on_the_page(plt):
    long = "z-score/laplacian:gamma=0.0123 + mean-norm/polynomial:degree=2,gamma=0.0789,coef0=0.125 + edit, nystroem"
    rows = [{"params": {"similarity": name}, "score": -0.1, "accuracy": 0.95} for name in (long, "linear")]
    display = PathDisplay(cv_results=results(rows, [], {}))
    drawn(display.plot())
    for label in display.ax_candidates_.get_yticklabels():
        assert label.get_window_extent().x0 >= display.figure_.bbox.x0


def test_display_of_a_path_with_gaps(plt):
    points = [{"C": C, "loo_squared_hinge": np.nan, "loo_error": np.nan} for C in (1.0, 2.0)]
    drawn(PathDisplay(cv_results=results([], path_of(points, 1.0), {})).plot())
    A, b = make_moons(60, noise=0.3, random_state=0)
    _, ax = plt.subplots()
    assert (
        PathDisplay.from_estimator(wm.ThinPlateSVC(C=1.0, kernel="distance", standardize=False).fit(A, b), ax=ax).ax_
        is ax
    )


# Bases


def importance(svc, part=slice(None)):
    weights = svc.coef_.reshape(len(svc.coef_), len(np.atleast_1d(svc.similarity_)), -1)[:, part]
    return np.sqrt((weights.astype(float) ** 2).sum(axis=(0, 1)))


def test_the_weightiest_bases_are_shown(plt):
    svc = on_bases(n_basis=50).fit(X, Y)
    display = BasisDisplay.from_estimator(svc, 7)
    ((_, order, weights),) = display.groups
    expected = importance(svc)
    np.testing.assert_allclose(weights, np.sort(expected)[::-1][:7])
    np.testing.assert_allclose(expected[order], weights)
    texts = drawn(display)
    for row in svc.basis_indices_[order]:
        assert f"#{row}" in texts
    assert "Bases of largest weight: rbf:gamma=0.0" in texts
    assert "feature" in texts


def test_the_bases_with_the_largest_weights_of_each_class(plt):
    svc = on_bases(n_basis=50).fit(X, Y)
    display = BasisDisplay.from_estimator(svc, 3, per_class=True)
    assert [name for name, _, _ in display.groups] == [f"class {label}" for label in range(10)]
    for (_, order, weights), row in zip(display.groups, svc.coef_, strict=True):
        np.testing.assert_allclose(weights, row[order])
        assert set(order) == set(np.argsort(-np.abs(row))[:3])
    assert len(display.axes_) == 10
    two = on_bases("edit", n_basis=20).fit(WORDS, np.array(["even", "odd"])[HALF])
    (name, order, against), (other, same, weights) = BasisDisplay.from_estimator(two, 4, per_class=True).groups
    assert (name, other) == ("class even", "class odd")
    np.testing.assert_array_equal(order, same)
    np.testing.assert_allclose(weights, two.coef_[0][order])
    np.testing.assert_allclose(against, -weights)
    labels = on_bases("edit", n_basis=20).fit(WORDS, np.column_stack([HALF, 1 - HALF]))
    groups = BasisDisplay.from_estimator(labels, 4, per_class=True).groups
    assert [name for name, _, _ in groups] == [f"label {name}" for name in labels.label_names_]


def test_parts_are_shown_together_or_alone(plt):
    svc = on_bases(["rbf", MeanNorm() >> RBF(1)], n_basis=30).fit(X, Y)
    together, second = BasisDisplay.from_estimator(svc, 5), BasisDisplay.from_estimator(svc, 5, part=1)
    np.testing.assert_allclose(together.groups[0][2], np.sort(importance(svc))[::-1][:5])
    np.testing.assert_allclose(second.groups[0][2], np.sort(importance(svc, slice(1, 2)))[::-1][:5])
    assert "rbf:gamma=0" in drawn(together)
    assert drawn(second).count("mean-norm/rbf:gamma=1") == 1
    assert "rbf:gamma=0" not in drawn(second)
    BasisDisplay.from_estimator(svc, 5, per_class=True)
    with pytest.raises(ValueError, match="part is 2: it must be a number from 0 to 1"):
        BasisDisplay.from_estimator(svc, part=2)


def test_images_are_shown_as_images(plt):
    images = np.random.default_rng(0).integers(0, 256, (30, 16, 16, 3), dtype=np.uint8)
    svc = on_bases("hog:cell=8/rbf:gamma=1", n_basis=12).fit(images, np.arange(30) % 3)
    display = BasisDisplay.from_estimator(svc, 11)
    assert (display.kind, len(display.axes_)) == ("images", 11)
    ((_, order, _),) = display.groups
    for panel, at in zip(display.axes_, order, strict=True):
        np.testing.assert_array_equal(panel.images[0].get_array(), images[svc.basis_indices_[at]])
    assert "above each its weight" in drawn(display)
    gray = on_bases("hog:cell=8/rigid", n_basis=6).fit(images[..., 0], np.arange(30) % 3)
    assert BasisDisplay.from_estimator(gray, 2).axes_[0].images[0].get_array().shape == (16, 16)
    cells = on_bases("rigid", n_basis=6).fit(wm.similarity.HOG(8, flatten=False).transform(images), np.arange(30) % 3)
    assert BasisDisplay.from_estimator(cells, 2).axes_[0].images[0].get_array().shape == (2, 2)


def test_vectors_are_shown_as_images_of_a_shape(plt):
    svc = on_bases(n_basis=30).fit(sparse.csr_array(X), Y)
    display = BasisDisplay.from_estimator(svc, 3, image_shape=(8, 8), per_class=True)
    assert (display.kind, len(display.axes_)) == ("images", 30)
    assert display.axes_[0].images[0].get_array().shape == (8, 8)
    assert BasisDisplay.from_estimator(svc, 3).kind == "vectors"
    drawn(display)
    with pytest.raises(ValueError, match=r"image_shape is \(7, 8\): the bases have 64 features"):
        BasisDisplay.from_estimator(svc, image_shape=(7, 8))


def test_columns_are_labeled_by_name_or_by_whole_numbers(plt):
    import pandas

    ticks = lambda display: [label.get_text() for label in display.axes_[-1].get_xticklabels()]  # noqa: E731
    names = ["a", "a rather long name of a column", "c"]
    svc = on_bases(n_basis=20).fit(pandas.DataFrame(X[:, 20:23], columns=names), Y)
    display = BasisDisplay.from_estimator(svc, 3, per_class=True)
    drawn(display)
    assert ticks(display) == ["a", "a rather long name …", "c"]
    for n in (1, 2, 5, 64):
        svc = on_bases(n_basis=20).fit(X[:, -n:], Y)
        display = BasisDisplay.from_estimator(svc, 3)
        drawn(display)
        assert all(text.isdigit() and int(text) < n for text in ticks(display))
        assert ticks(display)[0] == "0"


def test_titles_are_not_cut(plt):
    several = ["rbf:gamma=0.0123", "laplacian:gamma=0.0456", "polynomial:degree=2,gamma=0.0789,coef0=0.125", "linear"]
    svc = on_bases(several, n_basis=20).fit(X, Y)
    _, axes = plt.subplots(2, 2)
    for display in (
        BasisDisplay.from_estimator(svc, 3),
        BasisDisplay.from_estimator(svc, 1, image_shape=(8, 8)),
        BasisDisplay.from_estimator(svc, 3, ax=axes[1, 1]),
        SpectrumDisplay.from_similarity("mean-norm/z-score/mean-norm/polynomial:degree=2,gamma=0.01,coef0=0.125", X),
    ):
        texts = drawn(display)
        page = display.figure_.bbox
        (title,) = (
            text for text in display.figure_.findobj(plt.Text) if re.search("Bases of largest|coef0", text.get_text())
        )
        box = title.get_window_extent()
        assert page.x0 <= box.x0
        assert box.x1 <= page.x1
        assert box.y1 <= page.y1
        for spec in several if "Bases" in texts else ["coef0=0.125"]:
            assert spec in texts.replace("\n", "")


def test_series_are_shown_as_curves(plt):
    random = np.random.default_rng(0)
    series = [np.sin(np.arange(n) * (0.2 if at % 2 else 0.4)) for at, n in enumerate(random.integers(20, 40, 40))]
    svc = on_bases("dtw:window=0.1", n_basis=20).fit(series, np.arange(40) % 2)
    display = BasisDisplay.from_estimator(svc, 4)
    ((_, order, _),) = display.groups
    for panel, at in zip(display.axes_, order, strict=True):
        np.testing.assert_allclose(panel.lines[0].get_ydata().ravel(), series[svc.basis_indices_[at]], rtol=1e-5)
    assert "time step" in drawn(display)
    assert len({panel.get_ylim() for panel in display.axes_}) == 1
    channels = [np.stack([one, -one], axis=1) for one in series]
    two = on_bases("dtw", n_basis=10).fit(channels, np.arange(40) % 2)
    assert len(BasisDisplay.from_estimator(two, 2).axes_[0].lines) == 2


@pytest.mark.parametrize("similarity", ["edit", shared_letters])
def test_strings_are_shown_by_their_text(plt, similarity):
    svc = on_bases(similarity, n_basis=20).fit(WORDS, HALF)
    display = BasisDisplay.from_estimator(svc, 5)
    ((_, order, weights),) = display.groups
    assert [label.get_text() for label in display.axes_[0].get_yticklabels()] == [svc.basis_[at] for at in order]
    np.testing.assert_allclose([bar.get_width() for bar in display.axes_[0].patches], weights)
    assert "weight (norm over the classes)" in drawn(display)
    assert "for or against the class" in drawn(BasisDisplay.from_estimator(svc, 5, per_class=True))


def overlap(A, B):
    return np.array([[len(a & b) for b in B] for a in A], dtype=float)


def test_other_objects_are_shown_by_their_representation(plt):
    sets = [frozenset({i % 4, i % 7, 10 + i}) for i in range(40)]
    svc = on_bases(overlap, n_basis=10).fit(sets, np.arange(40) % 2)
    assert "frozenset" in drawn(BasisDisplay.from_estimator(svc, 3))
    svc = on_bases("tanimoto", n_basis=10).fit(sets, np.arange(40) % 2)
    drawn(BasisDisplay.from_estimator(svc, 3))
    S = truth.rbf_kernel(X, gamma=1e-3)
    svc = on_bases("precomputed", n_basis=10).fit(S, Y)
    display = BasisDisplay.from_estimator(svc, 3)
    assert {label.get_text() for label in display.axes_[0].get_yticklabels()} <= {
        f"#{row}" for row in svc.basis_indices_
    }


def test_panels_within_axes_of_the_user(plt):
    figure, axes = plt.subplots(1, 2)
    svc = on_bases("edit", n_basis=20).fit(WORDS, HALF)
    display = BasisDisplay.from_estimator(svc, 3, ax=axes[1])
    assert (display.ax_, display.figure_) == (axes[1], figure)
    drawn(display)


# Mistakes


def test_estimators_that_do_not_fit(plt):
    from sklearn.exceptions import NotFittedError
    from sklearn.svm import LinearSVC

    svc = on_bases(n_basis=20)
    for display in (BasisDisplay, SpectrumDisplay):
        with pytest.raises(NotFittedError):
            display.from_estimator(svc)
    with pytest.raises(NotFittedError):
        PathDisplay.from_estimator(wm.ThinPlateSVC(kernel="distance", standardize=False))
    linear = LinearSVC().fit(X, Y)
    for display, wanted in (
        (PathDisplay, "classifier or regressor"),
        (SpectrumDisplay, "BasisExpansionSVC"),
        (BasisDisplay, "Basis"),
    ):
        with pytest.raises(TypeError, match=f"estimator is a LinearSVC: it must be a fitted {wanted}"):
            display.from_estimator(linear)
        with pytest.raises(TypeError, match="it must be a fitted"):
            display.from_estimator(3)
    with pytest.raises(ValueError, match="n_basis is 0"):
        BasisDisplay.from_estimator(svc.fit(X, Y), 0)


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"SpectrumDisplay\.from_similarity requires matplotlib"):
        SpectrumDisplay.from_similarity("rbf", X)
    for display, name in ((SpectrumDisplay, "Spectrum"), (PathDisplay, "Path"), (BasisDisplay, "Basis")):
        with pytest.raises(ImportError, match=f"{name}Display.from_estimator requires matplotlib"):
            display.from_estimator(None)
