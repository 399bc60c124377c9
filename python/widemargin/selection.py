"""Selection of similarities to combine."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from . import _core
from ._warn import warn
from .similarity import Resolved, resolve

__all__ = ["Selection", "select_similarities"]


@dataclass
class Selection:
    """The selected similarities, and the rounds of the selection.

    Attributes
    ----------
    similarities_ : list
        The selected candidates as given, in order of selection: a list for ``similarity=``.
    indices : list of int
        Their indices among the candidates.
    accuracies : list of float
        The cross-validated accuracy with the first of them, the first two, and so on.
    rounds : list of dict
        For each round the accuracy of each candidate combined with those selected before, by name. The last round
        selected none if nothing gained enough.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from widemargin.selection import select_similarities
    >>> X, y = load_iris(return_X_y=True)
    >>> selection = select_similarities(["linear", "rbf"], X, y, n_basis=50, random_state=0)
    >>> len(selection.accuracies) == len(selection.indices) == len(selection.similarities_)
    True
    """

    similarities_: list[Any]
    indices: list[int]
    accuracies: list[float]
    rounds: list[dict[str, float]]

    def __str__(self) -> str:
        n_chosen = len(self.indices)
        lines = [f"{n_chosen} {'similarity' if n_chosen == 1 else 'similarities'} chosen in {len(self.rounds)} rounds"]
        for number, accuracies in enumerate(self.rounds):
            # In a tie, the first candidate was selected.
            best = max(accuracies, key=lambda name: accuracies[name])
            taken = "+" if number < n_chosen else " "
            gain = ""
            if number:
                gain = f"  {100 * (accuracies[best] - self.accuracies[number - 1]):+.2f}"
            note = "" if number < n_chosen else "  not enough, stopped"
            lines.append(f"  {taken} {100 * accuracies[best]:6.2f} %{gain}  {best}{note}")
            others = sorted((name for name in accuracies if name != best), key=lambda name: -accuracies[name])
            lines += [f"      {100 * accuracies[name]:6.2f} %  {name}" for name in others]
        return "\n".join(lines)


def select_similarities(
    candidates: Any,
    X: Any,
    y: Any,
    *,
    n_basis: int = 1000,
    basis: Any = "stratified",
    normalization: str = "mean_norm",
    C: float = 1.0,
    fit_intercept: bool = True,
    cv: int = 5,
    max_similarities: int | None = None,
    min_gain: float = 0.002,
    n_jobs: int | None = None,
    random_state: Any = None,
    verbose: int = 0,
    layout: str = "auto",
) -> Selection:
    """Selects similarities one after another, each time the one with the highest cross-validated accuracy.

    All are computed once, on the same bases (Aghazadeh & Carlsson, *Large Scale, Large Margin Classification using
    Indefinite Similarity Measures*, section 3.5). The normalization is learned from all samples, including held-out
    ones; it does not see labels.

    Parameters
    ----------
    candidates : list of str, similarity or callable
    X : samples, as in `BasisExpansionSVC.fit`
    y : array of shape (n_samples,)
    n_basis : int, default=1000
    basis : {"index", "every", "random", "stratified", "kmedoids"}, default="stratified"
    normalization : str, default="mean_norm"
    C : float, default=1.0
    fit_intercept : bool, default=True
        As in `BasisExpansionSVC`.
    cv : int, default=5
        Number of folds, stratified by class; at least 2.
    max_similarities : int or None, default=None
        The maximum number to select; None means as many as gain.
    min_gain : float, default=0.002
        The minimum gain in accuracy (from 0 to 1) for another similarity.
    n_jobs : int or None, default=None
        Number of threads; -1 means one per core. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the folds, and of randomly selected bases.
    verbose : int, default=0
    layout : {"auto", "channels_first", "channels_last"}, default="auto"
        The order of the axes of time series, as in `BasisExpansionSVC`.

    Returns
    -------
    Selection

    Raises
    ------
    ValueError, TypeError
        For invalid parameters, naming them, and for samples that the candidates cannot compare.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from widemargin import BasisExpansionSVC
    >>> from widemargin.selection import select_similarities
    >>> X, y = load_iris(return_X_y=True)
    >>> selection = select_similarities(["linear", "rbf", "laplacian"], X, y, n_basis=50, random_state=0)
    >>> svc = BasisExpansionSVC(selection.similarities_, n_basis=50).fit(X, y)
    """
    from sklearn.utils import check_random_state
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import column_or_1d

    from ._base import watched
    from ._bases import BASES, NORMALIZATIONS, same_length
    from ._classes import labels_of
    from ._names import one_of
    from ._progress import Progress
    from ._threads import threads_of

    if not isinstance(candidates, (list, tuple)):
        raise TypeError(
            f"candidates is {candidates!r}: it must be a list of similarities, such as ['rbf', 'laplacian']"
        )
    resolved = resolve(candidates, layout)
    _check_at_least("n_basis", n_basis, 1)
    _check_at_least("cv", cv, 2)
    if max_similarities is not None:
        _check_at_least("max_similarities", max_similarities, 1)
    if not isinstance(min_gain, Real) or not 0 <= min_gain < 1:
        raise ValueError(f"min_gain is {min_gain!r}: it must be a number from 0 to 1, such as 0.002")
    if not isinstance(C, Real) or not 0 < C < np.inf:
        raise ValueError(f"C is {C!r}: it must be a finite number above 0")
    basis = one_of("basis", basis, BASES)
    normalization = one_of("normalization", normalization, NORMALIZATIONS)
    y = column_or_1d(y, warn=True)
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    given, n_samples = resolved.given(X)
    same_length(n_samples, len(codes))
    with Progress("select_similarities", verbose) as progress:
        found = _core.select_similarities(
            resolved.similarities,
            given,
            (labels_of(classes), codes.astype(np.uint32).reshape(-1), None),
            n_basis=min(int(n_basis), n_samples),
            basis=basis,
            normalization=normalization,
            n_folds=int(cv),
            most=None if max_similarities is None else int(max_similarities),
            least_gain=float(min_gain),
            C=float(C),
            fit_intercept=bool(fit_intercept),
            seed=int(check_random_state(random_state).randint(np.iinfo(np.int32).max)),
            threads=threads_of(n_jobs),
            monitor=watched(progress),
        )
    for text in found["warnings"]:
        warn(text)
    return _selection(candidates, resolved, found)


def _selection(candidates: Any, resolved: Resolved, found: dict[str, Any]) -> Selection:
    """Translates the extension module's result for parts to one for the candidates."""
    names = _distinct([*resolved.specs, *(name for _, name in resolved.calls)])
    indices = [resolved.order[part] for part in found["chosen"]]
    in_given_order = sorted(range(len(names)), key=lambda part: resolved.order[part])
    rounds = [
        {names[part]: each["accuracies"][part] for part in in_given_order if part in each["accuracies"]}
        for each in found["rounds"]
    ]
    return Selection(
        similarities_=[candidates[place] for place in indices],
        indices=indices,
        accuracies=[each["accuracy"] for each in found["rounds"] if each["chosen"] is not None],
        rounds=rounds,
    )


def _distinct(names: list[str]) -> list[str]:
    """The names, with numbers appended to repeated ones."""
    seen: dict[str, int] = {}
    distinct = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        distinct.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return distinct


def _check_at_least(name: str, value: object, least: int) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} is {value!r}: it must be an integer of at least {least}")
