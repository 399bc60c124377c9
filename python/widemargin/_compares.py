"""Estimators that compare samples of any kind with bases."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import field
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import BaseEstimator, is_regressor
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from . import _core, similarity
from ._base import FittedModel, WatchedMixin, specs_of, with_parameters
from ._calls import Checked
from ._columns import ordered, set_features, validated
from ._files import Stored
from ._kinds import by_name, kind_and_layout, kind_for, kind_of, plain, refuse_one
from ._parameters import (
    BASES,
    ROWS,
    Basis,
    Samples,
    SimilarityLike,
    basis_of,
    normalization_parameters,
    warn,
    weights_of,
)
from ._predictors import codes_of
from ._report import Row
from ._samples import channels_first, count, from_objects, from_other, from_vectors, pick
from ._spec_texts import READERS, SIMILARITIES, parsed, steps_of, with_hyphens
from ._specs import Similarity, any_kind, is_auto
from .similarity import Resolved, pairwise, resolve


class ImportancesMixin:
    """An estimator whose similarity may have weights of the columns of a table."""

    @property
    def feature_importances_(self: Any) -> npt.NDArray[np.float64]:
        """The importance of each column: its share of the column weights in the similarity."""
        check_is_fitted(self)
        if is_regressor(self):
            raise AttributeError(
                "the column weights of a regression are inverse length scales, which are small for a column with a "
                "linear effect; use sklearn.inspection.permutation_importance"
            )
        is_table = self.kind_ == "table"
        found = _core.feature_importances(specs_of(self), self._table_columns) if is_table else None
        if found is None:
            raise AttributeError(
                "feature_importances_ is only available if the similarity has weights of the columns, which "
                f"{self.similarity_!r} does not have"
            )
        return np.array(found)


class NestedSpecMixin:
    """Must precede scikit-learn's `BaseEstimator` in the bases of an estimator."""

    # The parameters that may be a spec or an object.
    _spec_parameters: ClassVar[tuple[str, ...]] = ("similarity",)

    def set_params(self, **params: object) -> Self:
        """Sets parameters, including the parameters of a similarity, such as ``similarity__gamma=0.1``.

        In this case, a name such as ``"rbf"`` is replaced by the corresponding object of `widemargin.similarity`.

        Parameters
        ----------
        **params : dict

        Returns
        -------
        estimator
            This estimator.
        """
        for name in self._spec_parameters:
            nested = {key[len(name) + 2 :]: value for key, value in params.items() if key.startswith(f"{name}__")}
            value = params.get(name, getattr(self, name))
            if nested and isinstance(value, str):
                params[name] = object_of(value, name, nested)
            elif nested and not hasattr(value, "set_params"):
                raise ValueError(
                    f"'{name}__{next(iter(nested))}' cannot be set: {name} is {value!r}, which has no such parameters; "
                    "pass an object of widemargin.similarity, such as RBF()"
                )
        return super().set_params(**params)  # type: ignore[misc]


def object_of(spec: str, name: str, requested: dict[str, Any]) -> Similarity:
    """The object for a spec of one step, whose parameters can be set.

    Parameters
    ----------
    spec : str
    name : str
        The corresponding parameter of the estimator.
    requested : dict
        The parameters to set, used here if the constructor requires them.

    Raises
    ------
    ValueError
        For a spec of several steps, and one without a corresponding object.
    """
    *before, last = steps_of(with_hyphens(spec))
    step, texts = parsed(last)
    key = f"{name}__{next(iter(requested))}"
    hint = f"{key!r} cannot be set: {name} is the spec {spec!r}; pass an object of widemargin.similarity, such as "
    if before:
        raise ValueError(f"{hint}HOG() >> RBF(), whose parameters are those of its two parts, {name}__then__gamma")
    if step not in SIMILARITIES:
        raise ValueError(f"{hint}RBF()")
    row = SIMILARITIES[step]
    kinds = {one["name"]: one["kind"] for one in row["parameters"]}
    required = [one["name"] for one in row["parameters"] if one["is_required"] and one["name"] in requested]
    values = {key: requested[key] for key in required}
    for key, text in ((key.replace("-", "_"), text) for key, text in texts.items()):
        values[key] = text if text == "auto" else READERS[kinds.get(key, "str")](text)
    try:
        return getattr(similarity, row["class"])(**values)
    except TypeError:  # an unknown parameter, or a missing one
        raise ValueError(f"{hint}{row['class']}()") from None


# The class of each sample as a number, and indices of samples.
Codes: TypeAlias = npt.NDArray[np.uint32]
Indices: TypeAlias = npt.NDArray[np.int64]


class NoEstimator(BaseEstimator):
    """A placeholder for an estimator whose attributes are discarded."""


def collect(
    estimator: Any, X: Any, resolved: Resolved, *, reset: bool, weights: Any = None
) -> tuple[_core._Samples, int]:
    """The samples of X in the form of the extension module, and their number; validates and stores the features if
    X has columns.

    Raises
    ------
    ValueError, TypeError
        If the similarities cannot compare X, naming the sample.
    """
    if not reset:
        X = ordered(estimator, X)
    accepted = _accepted_kinds(estimator, resolved, reset)
    samples: Any = None
    if isinstance(X, Stored) and (resolved.calls or "table" not in accepted):
        raise TypeError("samples in files are vectors, and the similarity is not one of vectors")
    if resolved.calls and not resolved.specs:
        kind, n = "objects", _remember(estimator, X, "objects", reset)
    elif (kind := "table" if isinstance(X, Stored) else _kind(X, accepted)) == "table":
        # Frames and arrays are validated as they are, for their names and types.
        rows = table if not hasattr(X, "columns") and isinstance(table := plain(X), list) else X
        rows = validated(estimator, rows, reset=reset, weights=weights)
        samples, n = from_vectors(rows), rows.shape[0]
    else:
        n = _remember(estimator, X, kind, reset)
        # The number of channels must be that of the training samples.
        n_channels = estimator.__dict__.get("_n_channels")
        # The current value: users may set the kind of a loaded model before prediction.
        layout = kind_and_layout(estimator.kind)[1] if hasattr(estimator, "kind") else resolved.layout
        samples, _ = from_other(X, accepted, layout=layout, n_channels=n_channels)
        if reset and isinstance(samples, tuple) and samples[0] == "series":
            estimator._n_channels = samples[1].shape[1]
    if reset:
        set_kind(estimator, kind, n)
    return from_objects(X, n, samples, hashed=reset) if resolved.calls else samples, n


def _accepted_kinds(estimator: Any, resolved: Resolved, reset: bool) -> Sequence[str]:
    """The kinds that the similarities accept and the fit allows."""
    if reset or (estimator.kind_ == "objects" and not resolved.specs):
        return resolved.takes
    return ["strings" if estimator.kind_ == "graphs" else estimator.kind_]


def _kind(X: Any, accepted: Sequence[str]) -> str:
    """The kind as which X is read.

    A collection of no accepted kind is passed to the conversion to vectors, or to that of the only accepted kind, whose
    errors describe it.
    """
    refuse_one(X)
    X = plain(X)
    if (kind := kind_for(X, accepted)) is not None:
        return kind
    if "table" not in accepted or ("grids" in accepted and getattr(X, "ndim", 0) == 4):
        return accepted[0]
    # Raises for objects of no kind; scikit-learn's validation reports other collections that are not a numeric table.
    kind_of(X)
    return "table"


def set_kind(estimator: Any, kind: str, n: int) -> None:
    """Sets the kind of samples on the estimator, and prints it if the estimator is verbose."""
    estimator.kind_ = kind
    if getattr(estimator, "verbose", 0):
        print(f"{type(estimator).__name__}: X has {n} samples, read as {kind}", file=sys.stderr)


def _remember(estimator: Any, X: Any, kind: str, reset: bool) -> int:
    n = count(X)
    is_array = getattr(X, "ndim", 0) == 2 and getattr(getattr(X, "dtype", None), "kind", "O") != "O"
    is_array &= kind != "series"  # of any length
    if is_array or hasattr(X, "columns"):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    return n


# The default number of bases, as in the library.
DEFAULT_BASES = 1000


def bases_of(model: _core.Model, layout: str = "auto") -> Any:
    """Arrays for vectors, images and grids, CSR for sparse rows, lists of arrays or strings, boolean rows for sets.
    Series are (length, channels), or (channels, length) for the layout "channels_first"."""
    shape, arrays = json.loads(model.header())["bases"], model.bases_arrays()
    match shape["kind"]:
        case "sparse":
            parts = (arrays["bases.values"], arrays["bases.columns"], arrays["bases.starts"].astype(np.int64))
            return sparse.csr_array(parts, shape=(shape["n"], shape["n_features"]))
        case "series":
            series = np.split(arrays["bases.values"], np.cumsum(arrays["bases.lengths"])[:-1].astype(np.int64))
            series = [one[:, 0] if one.shape[1] == 1 else one for one in series]
            return channels_first(series) if layout == "channels_first" else series
        case "strings":
            ends = np.cumsum(arrays["bases.lengths"]).astype(np.int64).tolist()
            text = arrays["bases.bytes"].tobytes()
            return [text[first:last].decode() for first, last in zip([0, *ends], ends, strict=False)]
        case "bit-sets":
            bits = np.unpackbits(arrays["bases"].view(np.uint8).reshape(shape["n"], -1), axis=1, bitorder="little")
            return bits[:, : shape["n_bits"]].astype(bool)
        case "far":
            return arrays["bases"] + arrays["bases.offsets"]
        case _:
            return arrays["bases"]


# The kinds of samples with another name in the header's description of the bases.
_KINDS_OF_BASES = {"dense": "table", "sparse": "table", "far": "table", "bit-sets": "sets"}


@with_parameters
class ComparesSamples(NestedSpecMixin, WatchedMixin, BaseEstimator):
    """An estimator of samples of any kind, or of their similarities to bases."""

    similarity: SimilarityLike = field(default="auto", kw_only=False)
    n_basis: int | str = "auto"
    basis: Basis = "auto"
    normalization: str = "auto"
    negative_eigenvalues: str = "clip"
    kind: str = "auto"
    # The selections of bases that the estimator supports.
    _selections: ClassVar[tuple[str, ...]] = BASES
    # The selected columns of a square matrix; None if all are used.
    _columns = None

    def _prepared(self, X: Any, y: Any, sample_weight: Any) -> tuple[_core._Samples, int, dict[str, Any]]:
        """The samples of a fit, their number, and the arguments of training for the similarity and the bases."""
        basis, rows = basis_of(self)
        n_basis = None if isinstance(self.n_basis, str) else int(self.n_basis)
        self._resolved = any_kind(X, self.kind) if is_auto(self.similarity) else resolve(self.similarity, self.kind)
        self._columns = None
        if self._resolved.is_precomputed:
            samples, n = self._precomputed(X, y, sample_weight)
            n_basis = self.n_features_in_
            if self._columns is not None:
                basis, rows, n_basis = "index", self._base_rows, len(self._base_rows)
        else:
            samples, n = collect(self, X, self._resolved, reset=True, weights=sample_weight)
        parameters = {
            "similarity": self._resolved.similarities,
            "n_basis": None if n_basis is None else min(n_basis, max(n, 1)),
            "basis": basis,
            "basis_rows": rows,
        }
        return samples, n, parameters

    def _fitted_on(self, X: Any) -> None:
        """Stores the data of the training samples that predictions need."""
        if is_auto(self.similarity):
            self._resolved = resolve(self.similarity_, self.kind)
        if self._resolved.calls:
            self._python_bases = pick(X, self.basis_indices_)

    def _collected(self, X: Any) -> _core._Samples:
        if self._resolved.is_precomputed:
            return self._precomputed_rows(X)
        return collect(self, X, self._resolved, reset=False)[0]

    def _n_basis_of(self, n_samples: int) -> int:
        """The number of bases for `n_samples` samples of weight above 0."""
        return min(DEFAULT_BASES if isinstance(self.n_basis, str) else int(self.n_basis), max(n_samples, 1))

    def _precomputed(self, X: Any, y: Any, sample_weight: Any) -> tuple[_core._Samples, int]:
        """Similarities to the bases, which are selected if X has the similarities of the samples to each other.

        Columns of polynomials follow those of the bases.

        Warns
        -----
        UserWarning
            If X is not square and `n_basis` is not the number of its bases: it may be a table of features.
        """
        X = validate_data(self, X, **ROWS)
        n, n_polynomials = X.shape[0], int(parsed(self._resolved.specs[0])[1].get("polynomials", 0))
        set_kind(self, "precomputed", n)
        if n == X.shape[1] - n_polynomials:
            self._base_rows = self._rows_of_bases(X, y, sample_weight)
            self._columns = np.concatenate([self._base_rows, np.arange(n, n + n_polynomials)])
            X = X[:, self._columns]
        else:
            self._check_bases(n, X.shape[1] - n_polynomials)
        return from_vectors(X), n

    def _rows_of_bases(self, X: Any, y: Any, sample_weight: Any) -> Indices:
        """The rows of a square matrix that become bases."""
        n = X.shape[0]
        # All classes are represented among the bases.
        codes = np.zeros(n, dtype=np.uint32) if y is None or is_regressor(self) else codes_of(y)
        check_consistent_length(X, codes)
        weights = weights_of(sample_weight, n)
        values = pairwise(self.similarity, X) if isinstance(self.basis, str) and self.basis == "kmedoids" else X

        def between(samples: Any, bases: Any) -> Any:
            return values[np.ix_(samples, bases)]

        similarity: _core._Similarities = [], [(Checked(between, "precomputed"), "precomputed")]
        selected = self._selected(codes, np.ones(n) if weights is None else weights, similarity)
        # In the order of the columns: if all samples are bases, a model file takes the columns as they are.
        return np.sort(selected) if isinstance(self.basis, str) else selected

    def _check_bases(self, n_samples: int, n_bases: int) -> None:
        """Checks the number of bases of a matrix that is not square."""
        requested = None if isinstance(self.n_basis, str) else int(self.n_basis)
        if requested == n_bases:
            return
        shape = f"X has {n_samples} rows and {n_bases} columns of similarities"
        if requested is not None and requested < n_bases:
            raise ValueError(
                f"{shape}, but n_basis={requested}: bases are selected from a square matrix only; pass the columns of "
                f"{requested} bases, or n_basis={n_bases}"
            )
        warn(
            f"{shape}: with similarity='precomputed' they are read as similarities to {n_bases} bases, not as a table "
            f"of features. If they are similarities, pass n_basis={n_bases}"
        )

    def _selected(
        self, codes: Codes, weights: Any, similarity: _core._Similarities = (["linear"], []), n_basis: int | None = None
    ) -> Indices:
        """The rows that become bases, among those of weight above 0; only k-medoids evaluates similarities of rows."""
        n, is_present = len(codes), np.asarray(weights > 0, dtype=np.float64)
        basis, rows = basis_of(self)
        n_basis = self._n_basis_of(int(is_present.sum())) if n_basis is None else n_basis
        samples = from_objects(range(n), n)
        return _core.choose_bases(similarity, samples, codes, is_present, n_basis, basis, rows, self._seed())

    def _precomputed_rows(self, X: Any) -> _core._Samples:
        """Similarities of new samples to the bases."""
        estimator: Any = self
        columns, names = self._columns, getattr(self, "feature_names_in_", None)
        if columns is not None and getattr(X, "shape", ())[1:] == (len(columns),) != (self.n_features_in_,):
            # The similarities to the bases are enough.
            estimator, names = NoEstimator(), None if names is None else names[columns]
            set_features(estimator, len(columns), names)
            columns = None
        X = validate_data(estimator, by_name(X, names), reset=False, **ROWS)
        return from_vectors(X if columns is None else X[:, columns])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        spec = getattr(self.similarity, "spec", self.similarity)
        tags.input_tags.pairwise = isinstance(spec, str) and parsed(spec)[0] == "precomputed"
        return tags

    @property
    def basis_(self) -> Samples:
        """The bases, in the form of the training samples."""
        check_is_fitted(self)
        return self._python_bases if self._resolved.calls else bases_of(self._model, kind_and_layout(self.kind)[1])

    def _rebuild(self, data: bytes) -> None:
        """Restores the model from its bytes and the bases, which these do not contain."""
        stand_in = NoEstimator()
        for name in ("kind_", "feature_names_in_", "_table_columns"):
            if hasattr(self, name):
                setattr(stand_in, name, getattr(self, name))
        bases, _ = collect(stand_in, self._python_bases, self._resolved.of_bases(), reset=False)
        similarities = specs_of(self)[: len(self._resolved.specs)], self._resolved.calls
        self._model = _core.Model.from_bytes(data, (similarities, bases))

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        model, resolved = state.get("_model"), state.pop("_resolved", None)
        if model is not None and resolved is not None and resolved.calls:
            state["_model"] = model.to_bytes()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        model = self.__dict__.get("_model")
        if model is None:
            return
        selected = getattr(self, "similarity_", None) if is_auto(self.similarity) else None
        self._resolved = resolve(self.similarity if selected is None else selected, self.kind)
        if isinstance(model, bytes):
            self._rebuild(model)


class Compares(ImportancesMixin, FittedModel, ComparesSamples):
    """An estimator whose model compares samples with bases."""

    _method = "basis-expansion"
    _precomputed_normalization = "mean-norm"

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        super()._fit(X, y, sample_weight)
        self._fitted_on(X)
        return self

    def _training(self, X: Any, y: Any, sample_weight: Any, parameters: dict[str, Any]) -> tuple[Any, int]:
        samples, n_samples, found = self._prepared(X, y, sample_weight)
        if self._resolved.is_precomputed and parameters["normalization"] == "auto":
            parameters["normalization"] = self._precomputed_normalization
        parameters |= found
        return samples, n_samples

    def _stored_names(self) -> list[str] | None:
        names = super()._stored_names()
        return names if names is None or self._columns is None else [names[column] for column in self._columns]

    def _describe(self, header: dict[str, Any], candidates: list[Row] | None = None) -> None:
        super()._describe(header, candidates)
        if self._columns is not None:
            self.basis_indices_ = self._base_rows

    def _only_python(self) -> tuple[str, ...]:
        of_columns = ("_columns", "_base_rows", "n_features_in_", "feature_names_in_")
        return super()._only_python() + (of_columns if self._columns is not None else ())

    @classmethod
    def _stored_parameters(cls, header: dict[str, Any]) -> dict[str, Any]:
        specs = header["similarity"]
        stored: dict[str, Any] = {
            **super()._stored_parameters(header),
            "similarity": specs[0] if len(specs) == 1 else specs,
            "n_basis": (header.get("training") or {}).get("n_basis") or header["bases"].get("n", "auto"),
            **normalization_parameters(header["normalization"]),
            "basis": header["basis"] if header["basis"] in BASES else "auto",
        }
        if "intercept" in header:
            stored["fit_intercept"] = header["intercept"] != "none"
        return {name: value for name, value in stored.items() if name in cls._get_param_names()}

    def _restore(self, model: Any, header: dict[str, Any]) -> None:
        shape = header["bases"]
        self._resolved = resolve(self.similarity, self.kind)
        if shape["kind"] != "elsewhere":
            kind = _KINDS_OF_BASES.get(shape["kind"], shape["kind"])
            self.kind_ = "precomputed" if self._resolved.is_precomputed else kind
        if shape.get("kind") == "series":
            self._n_channels = shape["channels"]
        super()._restore(model, header)
