"""Common parts of all estimators: the fit, the fitted attributes, and predictions."""

from __future__ import annotations

import functools
import inspect
import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, ClassVar, Self, TypeVar, dataclass_transform

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._columns import names_of_features, validated
from ._files import opened
from ._parameters import RandomState, normalization_parameters, threads_of, warn
from ._report import Progress, Row, candidate_of, path_of, report_table, results, rows_of
from ._samples import from_vectors
from ._sklearn import CallbackSupportMixin, Interval, StrOptions, with_callbacks

_Class = TypeVar("_Class")
_Fit = TypeVar("_Fit", bound=Callable[..., object])


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(field,))
def with_parameters(cls: type[_Class]) -> type[_Class]:
    """Decorates an estimator: its annotations, and those of decorated bases, are the parameters of ``__init__``."""
    made = dataclass(eq=False, repr=False, kw_only=True)(cls)
    init: Any = made.__init__
    signature = inspect.signature(init)
    # In documentation the parameters of the class come first, then those of its bases.
    place = {name: -at for at, base in enumerate(reversed(cls.__mro__)) for name in inspect.get_annotations(base)}
    ordered = sorted(signature.parameters.values(), key=lambda one: (one.kind, place.get(one.name, -len(cls.__mro__))))
    init.__signature__ = signature.replace(parameters=ordered)
    return made


class ExactSeed(int):
    """The seed of a loaded model, passed to the library unchanged.

    A fit draws its seed from any other `random_state`. This one is the seed itself, so that fitting a clone of a loaded
    model repeats its fit.
    """

    def __repr__(self) -> str:
        return str(int(self))


POSITIVE = Interval(Real, 0, None, closed="neither")
AT_LEAST_0, AT_LEAST_1 = Interval(Real, 0, None, closed="left"), Interval(Integral, 1, None, closed="left")
AUTO = StrOptions({"auto"})
_BETWEEN_0_AND_1 = Interval(Real, 0, 1, closed="neither")

# The constraints of the parameters of all estimators; some estimators override one.
CONSTRAINTS: dict[str, list[Any]] = {
    "C": [POSITIVE, AUTO],
    "cv": ["cv_object"],
    "epsilon": [AT_LEAST_0, AUTO],
    "fit_intercept": ["boolean"],
    "kind": [str],
    "max_basis": [None, AT_LEAST_1],
    "max_iter": [AT_LEAST_1],
    "n_basis": [AT_LEAST_1, AUTO],
    "n_jobs": [None, Integral],
    "quantile": [_BETWEEN_0_AND_1],
    "random_state": ["random_state", ExactSeed],
    "scale": ["boolean"],
    "scoring": [str, callable, None],
    "shrinkage": [POSITIVE],
    "standardize": ["boolean", AUTO],
    "time_limit": [None, AT_LEAST_0],
    "tol": [_BETWEEN_0_AND_1],
    "verbose": ["verbose"],
}


@with_parameters
class WatchedMixin(CallbackSupportMixin):
    """Parameters of all estimators, and progress reporting on the screen and to scikit-learn's callbacks."""

    n_jobs: int | None = None
    random_state: RandomState = None
    verbose: int = 0
    _parameter_constraints = CONSTRAINTS
    # Whether samples may be in files, larger than memory.
    _reads_files: ClassVar[bool] = False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @contextmanager
    def _watched(self, **tasks: Any) -> Iterator[Progress]:
        context = None
        if getattr(self, "_skl_callbacks", None):
            context = self._init_callback_context(max_subtasks=None)
            context.call_on_fit_task_begin(estimator=self, **tasks)
        with Progress(self, context) as progress:
            yield progress
        if context is not None:
            context.call_on_fit_task_end(estimator=self, **tasks)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def _threads(self) -> int:
        return threads_of(self.n_jobs)

    def _seed(self) -> int:
        if isinstance(self.random_state, ExactSeed):
            return int(self.random_state)
        if self.random_state is None:
            # The same samples give the same model.
            return 0
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))


# Parts of the warnings of a report that are warned of.
_WARNED = re.compile(
    "no better than| lies so far from 0 | is not symmetric: |spreads of columns differ|more similar to others than"
    "|z-score omits|tfidf omits|may not be detected"
)


@with_parameters
class FittedModel(WatchedMixin):
    """An estimator with a model of the library: its fit, its attributes, its report."""

    time_limit: float | None = None
    # The encoder of the columns of a frame, as JSON, if they are not all numeric. Not annotated: not a parameter.
    _table_columns = None  # type: str | None
    # What trains the model, and what it predicts, in the library's notation.
    _method: ClassVar[str]
    _task: ClassVar[str]
    # Whether there is one number per sample: in outlier detection, and for targets of one dimension.
    _is_flat = False

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        self._require(y)
        parameters = self._parameters()
        samples, n_samples = self._training(X, y, sample_weight, parameters)
        target = self._target(y, sample_weight, n_samples)
        with self._watched(X=X, y=y) as progress:
            common = self._common(progress)
            model, candidates = _core.fit(self._method, self._task, samples, target, parameters, common)
        self._set_fitted(model, candidates)
        return self

    def _require(self, y: Any) -> None:
        """Raises ValueError if targets are required and missing."""
        if y is None and self.__sklearn_tags__().target_tags.required:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")

    def _parameters(self) -> dict[str, Any]:
        """The checked parameters in the library's notation; None for automatic ones."""
        raise NotImplementedError

    def _training(self, X: Any, y: Any, sample_weight: Any, parameters: dict[str, Any]) -> tuple[Any, int]:
        """The samples in the form of the extension module, and their number; completes the parameters."""
        raise NotImplementedError

    def _target(self, y: Any, sample_weight: Any, n_samples: int) -> Any:
        """The targets and weights in the form of the extension module."""
        raise NotImplementedError

    def _class_factors(self) -> str | list[float] | None:
        return None

    def _common(self, progress: Progress) -> _core._Common:
        """The arguments that all training functions share."""
        return {
            "class_weight": self._class_factors(),
            "tol": float(getattr(self, "tol", 0.0)),
            "max_iter": self._max_iter(),
            "seed": self._seed(),
            "threads": self._threads(),
            "time_limit": self.time_limit,
            "monitor": progress.monitor,
            # The columns of a table that become the features of the model, or the names of these.
            "features": self._table_columns or self._stored_names(),
        }

    def _max_iter(self) -> int:
        """The largest number of steps of a solver."""
        return int(getattr(self, "max_iter", 100))

    def _fixed_C(self) -> float | None:
        """C; None if it is selected."""
        return None if isinstance(self.C, str) else float(self.C)

    def _stored_names(self) -> list[str] | None:
        """The column names stored in the model."""
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]

    def _set_fitted(self, model: _core.Model, candidates: list[Row]) -> None:
        """Sets the attributes of every fitted model, and warns if the fit ended before it was complete.

        Other remarks of the report (such as a constant column) are only in `report_`, unless `verbose` is set.
        """
        self._model = model
        header = json.loads(model.header())
        header["report"]["stages"] = [{"name": name, "seconds": seconds} for name, seconds in model.stages()]
        self._describe(header, candidates)
        for text in self.report_["warnings"]:
            if text.startswith(("not converged", "the time limit passed", "interrupted")):
                has_steps = "max_iter" in self._get_param_names()
                warn(text if has_steps else re.sub("max_iter( or tol)?", "tol", text), ConvergenceWarning)
            elif _WARNED.search(text):
                warn(text)
            elif self.verbose:
                print(f"{type(self).__name__}: {text}", file=sys.stderr)

    def _describe(self, header: dict[str, Any], candidates: list[Row] | None = None) -> None:
        """Sets the fitted attributes from a model file's header and the candidates that were compared."""

        self.report_ = {"notes": [], **header["report"]}
        for of, name in ((self.report_, "status"), (self.report_.get("estimate"), "method")):
            if of:
                of[name] = of[name].replace("-", "_")
        self.__dict__.setdefault("kind_", "table")
        specs = header.get("similarity", [header.get("kernel")])
        self.similarity_ = specs[0] if len(specs) == 1 else specs
        if "C" in header:
            self.C_: Any = header["C"]
        for name in ("loss", "polynomials"):
            if name in header:
                setattr(self, f"{name}_", header[name].replace("-", "_"))
        if "normalization" in header:
            for name, value in normalization_parameters(header["normalization"]).items():
                setattr(self, f"{name}_", value)
        rows = header.get("basis_rows")
        if rows is not None:
            self.basis_indices_ = np.array(rows, dtype=np.int64)
        self._n_basis = header.get("bases", {}).get("n", header.get("n_bases", len(rows or ())))
        path = self._path(header)
        steps = [row.get("steps", 0) for row in path]
        # A fit that starts at the solution of the selection needs no further step.
        self.n_iter_ = max([1, *self.report_["iterations"], *steps])
        self._estimate(path)
        choice = header.get("choice") or {}
        fitted = {name: getattr(self, f"{name}_", None) for name in ("similarity", "normalization", "loss", "C")}
        fitted |= {
            "kernel": self.similarity_,
            "n_basis": self._n_basis,
            "nodes": header.get("n_nodes"),
            "standardize": header.get("standardized"),
            "method": header["method"].removesuffix("-regression").replace("-", "_"),
        }
        self._candidates = candidates or [candidate_of(row) for row in choice.get("tried", [])]
        self.cv_results_ = results(self._candidates, path, fitted)

    def _path(self, header: dict[str, Any]) -> list[Row]:
        """The values of C that were compared, as rows of `cv_results_`."""
        points = header.get("path") or header.get("loss_path") or (header.get("choice") or {}).get("path", [])
        return path_of(points, header.get("C", np.nan))

    def _estimate(self, path: list[Row]) -> None:
        """Sets the estimated score of the model."""

    @classmethod
    def _stored_parameters(cls, header: dict[str, Any]) -> dict[str, Any]:
        """The parameters of a model that was read, from its header."""
        training = header.get("training") or {}
        names = set(cls._get_param_names()) - {"basis", "n_basis"}
        stored = {name: of[name] for of in (training, header) for name in names & of.keys()}
        stored = {name: value.replace("-", "_") if isinstance(value, str) else value for name, value in stored.items()}
        if "seed" in training:
            stored["random_state"] = ExactSeed(training["seed"])
        return stored

    @classmethod
    def _restored(cls, model: _core.Model, header: dict[str, Any]) -> Self:
        """The fitted estimator of a model that was read."""
        fitted = cls(**cls._stored_parameters(header))
        fitted._restore(model, header)
        return fitted

    def _restore(self, model: Any, header: dict[str, Any]) -> None:
        """Sets the attributes of a model that was read, from its header."""
        names = header.get("feature_names")
        if (columns := header.get("columns")) is not None:
            self._table_columns = json.dumps(columns)
            names = None if names is None else [column["name"] for column in columns]
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        n_features = header.get("n_features", header.get("bases", {}).get("n_features"))
        if n_features is not None:
            self.n_features_in_ = n_features if columns is None else len(columns)
        for name, value in header["python"].items():
            is_array = isinstance(value, list)
            setattr(self, name, np.array(value, object if isinstance(value[0], str) else None) if is_array else value)
        self._model = model
        self._describe(header)

    def _python_state(self) -> dict[str, Any]:
        """The attributes that are only for Python, as a model file stores them: "python" in the header that is read."""
        values = ((name, self.__dict__.get(name)) for name in self._only_python())
        return {name: np.asarray(value).tolist() for name, value in values if value is not None}

    def _only_python(self) -> tuple[str, ...]:
        """The names of these attributes: numbers, texts or lists of them."""
        return ("_is_flat", "_number_columns", "_output_names", "_type_of_classes")

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        check_is_fitted(self)
        return self._model.arrays()

    def _of_problems(self, values: npt.NDArray[Any]) -> Any:
        """Values of shape (problems, …), without the first axis if there is one number per sample."""
        if not self._is_flat:
            return values
        return values[0] if values.ndim > 1 else float(values[0])

    @property
    def coef_(self) -> npt.NDArray[np.floating]:
        """The weights."""
        arrays = self._arrays()
        return self._of_problems(np.atleast_2d(arrays["weights"] if "weights" in arrays else arrays["coefficients"]))

    @property
    def intercept_(self) -> npt.NDArray[np.floating] | float:
        """The intercepts; 0 for a model without an intercept."""
        arrays = self._arrays()
        if "intercepts" in arrays:
            return self._of_problems(arrays["intercepts"])
        constants = arrays.get("polynomial", np.empty((0, 0)))
        n_problems = len(np.atleast_2d(self.coef_))
        return self._of_problems(constants[:, 0] if constants.size else np.zeros(n_problems))

    def _report_rows(self) -> dict[str, str]:
        """The rows of the table below scikit-learn's diagram."""
        rows = {"similarity": ", ".join(specs_of(self))}
        if self._n_basis:
            rows["bases"] = str(self._n_basis)
        if hasattr(self, "C_"):
            rows["C"] = ", ".join(f"{C:.4g}" for C in np.ravel(self.C_))
        if np.isfinite(getattr(self, "estimated_score_", np.nan)):
            rows["estimated score"] = f"{self.estimated_score_:.4f}"
        return rows | rows_of(self.report_)

    def _with_report(self, page: str) -> str:
        return page + report_table(self._report_rows(), self.report_["warnings"]) if hasattr(self, "report_") else page

    def _repr_html_inner(self) -> str:
        return self._with_report(super()._repr_html_inner())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = self._with_report(bundle["text/html"])
        return bundle


class VectorModel(FittedModel):
    """An estimator of vectors."""

    _reads_files = True

    def _validated(self, X: Any, *, reset: bool, weights: Any = None) -> Any:
        """X as validated by scikit-learn."""
        return validated(self, X, reset=reset, weights=weights)

    def _training(self, X: Any, y: Any, sample_weight: Any, parameters: dict[str, Any]) -> tuple[Any, int]:
        X = self._validated(X, reset=True, weights=sample_weight)
        return from_vectors(X), X.shape[0]

    def _collected(self, X: Any) -> _core._Samples:
        return from_vectors(self._validated(X, reset=False))


# Attributes of a fit whose names do not end with an underscore.
_PRIVATE = ("_model", "_n_channels", "_number_columns", "_table_columns", "_type_of_classes")


def fitting(method: _Fit) -> _Fit:
    """Decorates ``fit``: clears the fitted state first, so that an interrupted fit leaves the estimator unfitted, and
    opens files that are passed as X."""

    @functools.wraps(method)
    def fit(self: Any, X: Any, y: Any = None, *args: Any, **kwargs: Any) -> Any:
        for name in [name for name in vars(self) if name.endswith("_") or name in _PRIVATE]:
            delattr(self, name)
        self._validate_params()
        with opened(self, X, y) as (X, y):
            return method(self, X, y, *args, **kwargs)

    return with_callbacks(fit)


def check_has(estimator: Any, what: str, *attributes: str) -> None:
    """Raises TypeError unless an estimator is fitted and has the attributes."""
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        raise TypeError(f"estimator is {estimator!r}: it must be {what}")
    check_is_fitted(estimator)
    if not all(hasattr(estimator, attribute) for attribute in attributes):
        raise TypeError(f"estimator is a {type(estimator).__name__}: it must be {what}")


def unwrapped(estimator: Any, X: Any = None) -> tuple[Any, Any]:
    """The estimator at the end of a pipeline, or the best one of a search, and the samples that reach it."""
    while not isinstance(estimator, FittedModel):
        if isinstance(estimator, Pipeline):
            check_is_fitted(estimator)
            if X is not None and len(estimator) > 1:
                X = estimator[:-1].transform(X)
            estimator = estimator[-1]
        elif hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        else:
            break
    return estimator, X


def fitted_model(
    estimator: Any, X: Any = None, kind: type = FittedModel, what: str = "estimator", *attributes: str
) -> tuple[Any, Any]:
    """As `unwrapped`, for an estimator that predicts; of `AutoSVC` and `AutoRegressor` the best one.

    Raises
    ------
    TypeError
        For any other object than one of `kind`, which messages call `what`.
    """
    found, X = unwrapped(estimator, X)
    found = getattr(found, "best_estimator_", found)
    check_has(found, f"a fitted {what} of widemargin, or a pipeline that ends in one", "_model", *attributes)
    if not isinstance(found, kind):
        raise TypeError(f"estimator is a {type(found).__name__}: it must be a fitted {what} of widemargin")
    return found, X


def specs_of(estimator: Any) -> list[str]:
    """The specs of a fitted estimator's similarities."""
    return [estimator.similarity_] if isinstance(estimator.similarity_, str) else estimator.similarity_


def names_of_columns(estimator: Any) -> npt.NDArray[Any] | None:
    """The names of the columns that reach the estimator at the end of a pipeline, where the pipeline knows them."""
    if isinstance(estimator, Pipeline) and len(estimator) > 1 and hasattr(estimator, "feature_names_in_"):
        try:
            return np.asarray(estimator[:-1].get_feature_names_out(), dtype=object)
        except (AttributeError, ValueError):  # of a step that names no features
            return None
    return names_of_features(unwrapped(estimator)[0])
