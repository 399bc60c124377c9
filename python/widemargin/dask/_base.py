"""Common parts of the estimators for Dask collections."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from numbers import Real
from typing import Any, ClassVar, TypeAlias

import dask.array as da
import numpy as np
import numpy.typing as npt
from dask.base import compute, is_dask_collection
from dask.delayed import delayed
from distributed import get_client
from sklearn.metrics import r2_score

from .. import _core
from .._base import ExactSeed
from .._columns import set_features
from .._kinds import names_of
from .._predictors import FittedRegressor, MarginClassifier, is_multilabel, label_names, labels_of
from .._report import Row
from .._samples import count
from ..one_class import BasisExpansionOneClass
from . import _data
from ._data import FitData, Piece, Summary, check_columns, check_versions, partitions, pieces, summaries
from ._rows import Rows

Floats = npt.NDArray[np.float64]
# An array, or a Dask array, series or data frame: the estimators that are extended return arrays, and no union of these
# types may replace that.
LazyResult: TypeAlias = Any


class DaskEstimator:
    """Must precede the ordinary estimator in the bases of a class."""

    # The ordinary estimator.
    plain: ClassVar[type[Any]]
    # Summarizes a partition, on its worker.
    _summary: ClassVar[Callable[..., Summary]]
    _reads_files = False

    def _fit(self: Any, X: Any, y: Any, sample_weight: Any) -> Any:
        self._require(y)
        # Those of a fit on some samples, if it selects parameters.
        self._candidates: list[Row] = []
        data = self._fit_data(X, y, sample_weight)
        data.end("labels")
        with self._watched(X=X, y=y) as data.progress:
            model, rows = self._train(data)
        self._set_fitted(model, self._candidates)
        self.dask_report_ = {"partitions": len(data.pieces), **rows.report()}
        return self

    def _train(self, data: FitData) -> tuple[_core.Model, Rows]:
        """The model, and the rows of its solver."""
        raise NotImplementedError

    def _finish(self: Any, data: FitData) -> dict[str, Any]:
        """The last arguments of the solvers."""
        return {"stages": data.stages, "common": self._common(data.progress)}

    def _fit_data(self: Any, X: Any, y: Any, sample_weight: Any) -> FitData:
        """Validates the arguments of ``fit``, as far as possible before any work is done."""
        parameters = self._parameters()
        started, client = time.perf_counter(), get_client()
        check_versions(client)
        parts = partitions(X, y, sample_weight, self.plain.__name__)
        found = summaries(client, parts, self._summary)
        numbers = [number for number, one in enumerate(found) if one.n > 0]
        if not numbers:
            raise ValueError("X has no samples: at least one is needed")
        check_columns(found, numbers)
        present = [found[number] for number in numbers]
        copies = None if sample_weight is None else np.concatenate([one.weights for one in present])
        weighted = self._targets_of(y, present, copies)
        ends = np.cumsum([one.n for one in present])[:-1]
        samples = [parts[number][0] for number in numbers]
        weights, units = (np.split(all_of, ends) for all_of in (weighted.weights, weighted.units))
        targets = self._split(weighted, ends)
        fields = zip(numbers, samples, targets, weights, units, [0, *ends.tolist()], strict=True)
        found_pieces = [Piece(*of_piece) for of_piece in fields]
        return FitData(client, parameters, X, found_pieces, weighted, present[0].width, started)

    def _fit_on_some(
        self: Any, data: FitData, n: int, prepare: Callable[[Any], Any] = lambda samples: samples, **parameters: Any
    ) -> Any:
        """An ordinary fit on `n` samples, on the client, as `prepare` returns them; None if that returns None."""
        seed = self._seed()
        rows = data.weighted.some_rows(n, seed)
        samples = prepare(data.picked_samples(rows))
        if samples is None:
            return None
        weights, of_classes = self._weights_of_some(data.weighted, rows)
        some = self.plain(**self.get_params(deep=False))
        some.set_params(verbose=0, random_state=ExactSeed(seed), **of_classes, **parameters)
        some.fit(samples, self._answers(data.weighted, rows), sample_weight=weights)
        self._candidates = some._candidates
        return some

    def _targets_of(self, y: Any, present: list[Summary], copies: Floats | None) -> Any:
        """The targets of all samples with their weights."""
        raise NotImplementedError

    def _split(self, weighted: Any, ends: Any) -> Sequence[Any]:
        """The `targets` of each piece, from the rows at which all samples are split."""
        return np.split(weighted.standard, ends)

    def _answers(self, weighted: Any, rows: npt.NDArray[np.int64]) -> Any:
        """The y of some samples."""
        raise NotImplementedError

    def _weights_of_some(self, weighted: Any, rows: npt.NDArray[np.int64]) -> tuple[Any, dict[str, Any]]:
        """The weights of some samples, and the parameters that belong to them."""
        return weighted.weights[rows], {}

    def _name_columns(self: Any, data: FitData) -> None:
        """Sets scikit-learn's attributes of the columns of vectors."""
        if data.width is None:
            raise TypeError(
                f"partition {data.pieces[0].number} of X has no columns: {type(self).__name__} takes a Dask array or "
                "frame of numbers"
            )
        set_features(self, data.width, names_of(data.X))

    @property
    def estimator_(self: Any) -> MarginClassifier | FittedRegressor | BasisExpansionOneClass:
        """The fitted model, without Dask."""
        plain = self.plain(**self.get_params(deep=False))
        state = {key: value for key, value in self.__dict__.items() if key not in plain.__dict__}
        plain.__dict__.update({key: value for key, value in state.items() if key != "dask_report_"})
        return plain

    def score(self: Any, X: object, y: object, sample_weight: object = None) -> float:
        """Computes the score of the ordinary estimator.

        The score is the accuracy (for multilabel targets, the fraction of samples whose labels are all correct), or R².
        For a Dask collection, predictions are computed on its workers.

        Parameters
        ----------
        X : samples, or a Dask collection of them
        y : targets, for a collection split at the same rows, as in ``fit``
        sample_weight : array of shape (n_samples,), split in the same way, or None

        Returns
        -------
        float
        """
        if not is_dask_collection(X):
            return float(super().score(X, y, sample_weight))  # type: ignore[misc]
        targets, predicted, weights = compute(y, self.predict(X), sample_weight)
        targets, predicted = np.asarray(targets), np.asarray(predicted)
        if len(targets) != len(predicted):
            raise ValueError(f"X has {len(predicted)} rows, y has {len(targets)}")
        weights = np.ones(len(targets)) if weights is None else np.asarray(weights)
        if not (weights > 0).any():
            raise ValueError("X has no samples of weight above 0: at least one is needed")
        return float(self._score_of(targets, predicted, weights))

    def _output(self, method: str) -> tuple[npt.DTypeLike, Sequence[Any] | None]:
        """The type of the results of a method and their columns; None for one number per sample."""
        return np.float64, None

    def _here_or_lazily(self: Any, method: str, X: Any) -> Any:
        """The results of a method of the ordinary estimator, lazily for a collection."""
        if not is_dask_collection(X):
            return getattr(super(), method)(X)
        dtype, columns = self._output(method)
        empty: npt.NDArray[Any] = np.empty((0,) if columns is None else (0, len(columns)), dtype)
        is_frame = hasattr(X, "map_partitions") and hasattr(X, "divisions")
        estimator, apply = delayed(self.estimator_), partial(_apply, method, empty, columns, is_frame)
        if is_frame:
            return X.map_partitions(apply, estimator, meta=apply(X._meta, None))
        parts = pieces(X, "X")
        sizes = X.chunks[0] if hasattr(X, "chunks") else [np.nan] * len(parts)
        found = [
            da.from_delayed(delayed(apply)(part, estimator), (rows, *empty.shape[1:]), dtype=dtype)
            for part, rows in zip(parts, sizes, strict=True)
        ]
        return da.concatenate(found, allow_unknown_chunksizes=True)

    def predict(self, X: object) -> LazyResult:
        """Predicts the targets of samples, lazily for a Dask collection.

        The result for a data frame is a series with the same index (for multilabel targets or several outputs, a data
        frame with a column for each); the result for an array or a bag is an array. Other samples are passed to the
        ordinary estimator.
        """
        return self._here_or_lazily("predict", X)


class DaskClassifier(DaskEstimator):
    """Must precede the ordinary classifier in the bases of a class."""

    _summary = staticmethod(_data.label_summary)

    def _targets_of(self: Any, y: Any, present: list[Summary], copies: Floats | None) -> _core.WeightedLabels:
        """Sets `classes_`."""
        C = float(self.C) if isinstance(self.C, Real) else 1.0
        self._is_multilabel = is_multilabel(y)
        target: _core._Target
        if self._is_multilabel:
            Y = np.concatenate([one.classes[one.codes] for one in present])
            self.classes_ = np.arange(Y.shape[1])
            target = label_names(y, Y.shape[1]), np.ascontiguousarray(Y), copies
        else:
            self.classes_ = np.unique(np.concatenate([one.classes for one in present]))
            codes = [np.searchsorted(self.classes_, one.classes).astype(np.uint32)[one.codes] for one in present]
            of_all = np.concatenate(codes)
            if copies is not None:
                # A class without weight is absent; its samples, of weight 0, get any other class.
                is_present = np.bincount(of_all, weights=copies, minlength=len(self.classes_)) > 0
                of_all = np.maximum(np.cumsum(is_present)[of_all] - 1, 0).astype(np.uint32)
                self.classes_ = self.classes_[is_present]
            target = labels_of(self.classes_), of_all, copies
        return _core.WeightedLabels(target, self._class_factors(), C)

    def _split(self: Any, labels: _core.WeightedLabels, ends: Any) -> Sequence[Any]:
        sets = labels.sets
        return [(codes, len(self.classes_), sets) for codes in np.split(labels.codes, ends)]

    def _answers(self: Any, labels: _core.WeightedLabels, rows: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        """The y of some samples."""
        codes, sets = labels.codes[rows], labels.sets
        if sets is None:
            return self.classes_[codes]
        signed = sets[codes]
        return np.where(signed == 0, np.nan, (signed > 0).astype(np.float64))

    def _weights_of_some(self: Any, weighted: Any, rows: npt.NDArray[np.int64]) -> tuple[Any, dict[str, Any]]:
        # The weights of samples include class weights, but not the weights of labels.
        return weighted.weights[rows], {"class_weight": self.class_weight if self._is_multilabel else None}

    def _score_of(self, targets: Any, predicted: Any, weights: Any) -> Any:
        correct = targets == predicted
        return np.average(correct if correct.ndim == 1 else correct.all(axis=1), weights=weights)

    def _output(self: Any, method: str) -> tuple[npt.DTypeLike, Sequence[Any] | None]:
        dtype = self.classes_.dtype if method == "predict" else np.float64
        if self._is_multilabel:
            return dtype, list(self.label_names_)
        has_columns = method.startswith("predict_") or (method == "decision_function" and len(self.classes_) > 2)
        return dtype, self.classes_ if has_columns else None

    def decision_function(self, X: object) -> LazyResult:
        """Computes decision values, lazily for a Dask collection.

        The result for a data frame is a series with the same index (for more than two classes or multilabel targets, a
        data frame with a column for each); the result for an array or a bag is an array. Other samples are passed to
        the ordinary estimator.
        """
        return self._here_or_lazily("decision_function", X)

    def predict_proba(self, X: object) -> LazyResult:
        """Predicts probabilities, lazily for a Dask collection.

        The result for a data frame is a data frame with the same index and a column for each class; the result for an
        array or a bag is an array. Other samples are passed to the ordinary estimator.
        """
        return self._here_or_lazily("predict_proba", X)

    def predict_log_proba(self, X: object) -> LazyResult:
        """Computes the logarithms of the probabilities, in the same form as ``predict_proba``."""
        return self._here_or_lazily("predict_log_proba", X)


class DaskRegressor(DaskEstimator):
    """Must precede the ordinary regression model in the bases of a class."""

    _summary = staticmethod(_data.target_summary)

    def _targets_of(self: Any, y: Any, present: list[Summary], copies: Floats | None) -> _core.WeightedTargets:
        targets = np.ascontiguousarray(np.concatenate([one.classes for one in present]))
        self._is_flat = getattr(y, "ndim", 1) == 1
        # Without an intercept the targets are not centered.
        return _core.WeightedTargets(targets, copies, bool(getattr(self, "fit_intercept", True)))

    def _answers(self, targets: _core.WeightedTargets, rows: npt.NDArray[np.int64]) -> Floats:
        return targets.standard[rows]

    def _output(self: Any, method: str) -> tuple[npt.DTypeLike, Sequence[Any] | None]:
        return np.float64, None if self._is_flat else range(len(self.coef_))

    def _score_of(self, targets: Any, predicted: Any, weights: Any) -> Any:
        return r2_score(targets, predicted.reshape(targets.shape), sample_weight=weights)


def _apply(method: str, empty: Any, columns: Sequence[Any] | None, is_frame: bool, samples: Any, estimator: Any) -> Any:
    """The result of a method for a partition, `empty` for an empty one; of a frame with its index."""
    values = getattr(estimator, method)(samples) if count(samples) else empty
    if not is_frame:
        return values
    import pandas

    if columns is None:
        return pandas.Series(values, index=samples.index)
    return pandas.DataFrame(values, index=samples.index, columns=list(columns))
