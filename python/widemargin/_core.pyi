"""The extension module: conversions between NumPy and the Rust library, nothing else.

Samples are passed in one of these forms; arrays are not copied where the form says "as is":

- a C-contiguous 2-D array of float32 or float64, as is;
- ``("csr", data, indices, indptr, n_columns)`` with data of float32 or float64, indices of uint32 and indptr of uintp,
  as is;
- ``("images", pixels)`` with uint8 of shape (n, height, width, channels);
- ``("grids", cells)`` with float32 of shape (n, rows, columns, depth);
- ``("series", values, lengths)`` with float32 of shape (steps of all series, channels) and int64 lengths;
- ``("strings", list_of_str)``;
- ``("bits", words, n_bits)`` with uint64 of shape (n, words per set);
- ``("objects", samples, sequence, n, pick, fingerprints)`` for calls, with the same samples in another form for
  built-in similarities, or None. ``pick(sequence, rows)`` returns the rows (an int64 array) of the sequence, and equal
  samples have equal fingerprints (none if they are not known);
- a `Store`, for fits that read vectors block by block.

A *call* is a Python similarity: ``(function, name)`` where ``function(samples, bases)`` returns an array (samples,
bases).

Models are opaque: their content is read from their header and arrays, which are those of a model file.

A *monitor* is called on the calling thread with ``(stage, done, total, gap)``; an exception from it stops the work.
"""

import os
from collections.abc import Callable, Sequence
from typing import Any, TypedDict, final

import numpy as np
import numpy.typing as npt

_Samples = Any
_Call = tuple[Callable[[Any, Any], Any], str]
# The specs of built-in similarities, and calls.
_Similarities = tuple[Sequence[str], Sequence[_Call]]
_Monitor = Callable[[str, int, int, float | None], object]
_ClassWeight = str | list[float] | None
_Features = npt.NDArray[np.float32]
_Floats = npt.NDArray[np.float64]
_Codes = npt.NDArray[np.uint32]
_Rows = npt.NDArray[np.int64]
# Ordered classes, the class index of each sample, and the samples' weights; or the names of multilabel targets, and
# their indicator matrix (samples, labels) in place of the class indices.
_Target = tuple[Sequence[int | str], _Codes | _Floats, _Floats | None]
_Stages = Sequence[tuple[str, float]]
# A spec, or a function of two arrays and its name.
_Kernel = str | tuple[Callable[[_Floats, _Floats], _Floats], str]
# The kernel of a power mean SVM, its nodes, and for a custom kernel the grid and the values of its table.
_Map = tuple[str, Sequence[float], tuple[_Floats, _Floats] | None]

# A candidate that a fit compared, as a row of `cv_results_`.
_Compared = dict[str, Any]

class _Common(TypedDict):
    """The arguments that the fits of all methods share."""

    class_weight: _ClassWeight
    tol: float
    max_iter: int
    seed: int
    threads: int
    time_limit: float | None
    monitor: _Monitor | None
    # The names of the features, or as JSON the columns of a table that become the features.
    features: Sequence[str] | str | None

# The name of a column of a data frame and its cells: numbers, or texts and whether they are categories.
_Column = tuple[str, _Floats | tuple[list[str | None], bool]]

__all__ = [
    "BasisPlan",
    "Model",
    "Part",
    "State",
    "Store",
    "WeightedLabels",
    "WeightedTargets",
    "accepted_kinds",
    "basis_candidates",
    "canonical",
    "check_regression_loss",
    "choose_bases",
    "choose_thin_plate_bases",
    "command",
    "descriptor_rows",
    "encode_columns",
    "explain",
    "feature_importances",
    "fit",
    "fit_expansion",
    "fit_expansion_remote",
    "fit_power_mean_remote",
    "fit_thin_plate_remote",
    "header_of",
    "hog",
    "learn_columns",
    "median",
    "merge",
    "normalized",
    "pairwise",
    "payload",
    "report",
    "scale_and_reduce",
    "similarity_rows",
    "spectrum",
    "unnormalized",
    "version",
    "with_payload",
    "write_file",
]

def version() -> str: ...
def command(arguments: Sequence[str]) -> int: ...

@final
class Model:
    """A trained classifier, regression model or outlier detector, of any method, or an expansion."""

    @staticmethod
    def from_bytes(data: bytes, parts: tuple[_Similarities, _Samples] | None = None) -> Model:
        """Without parts the bytes are the file of a model or of an expansion; with calls, the similarities and the
        bases are needed."""
    def to_bytes(self) -> bytes:
        """The model file's bytes; with calls, everything except the bases and the calls."""
    def header(self) -> str:
        """The JSON header of the model file."""
    def stages(self) -> list[tuple[str, float]]:
        """The stages of the fit and their seconds; empty for a model that was read from a file."""
    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """The arrays of the model file except those of the bases: read-only views of the model."""
    def bases_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """The arrays of the bases; empty with calls."""
    def predict(self, samples: _Samples, threads: int) -> _Floats:
        """Decision values (samples, problems) of a classifier, targets (samples, outputs) of a regression model, or
        scores (samples, 1) of an outlier detector."""
    def probabilities(self, values: _Floats, *, logarithm: bool) -> _Floats:
        """Probabilities (samples, classes) from the decision values of a classifier."""
    def squared_norms(self, threads: int) -> list[float]: ...
    def dual_variables(self, samples: _Samples, target: _Target, threads: int) -> _Floats: ...
    def transform(self, samples: _Samples, threads: int) -> _Features:
        """Features (samples, features) of an expansion."""

def explain(model: Model, samples: _Samples, place: int | None, n_terms: int) -> tuple[str, str]:
    """The explanation of the prediction for the first sample, as JSON and as HTML."""

def report(
    model: Model,
    title: str,
    data: tuple[_Samples, _Target | tuple[_Floats, _Floats | None] | None, str] | None,
    threads: int,
) -> str:
    """A report on a model, with samples, their labels or targets, and their name, as HTML."""

def fit(
    method: str,
    task: str,
    samples: _Samples,
    target: _Target | tuple[_Floats, _Floats | None] | _Floats | None,
    parameters: dict[str, Any],
    common: _Common,
) -> tuple[Model, list[_Compared]]:
    """The model, and the candidates that were compared. The target has labels, or targets and weights, or for outlier
    detection weights. Parameters that are None or missing are automatic; they are numbers and the texts of the command
    line, and `similarity` (specs and calls), `basis_rows`, and a kernel that is a function with its name."""

def fit_expansion(
    samples: _Samples,
    codes: _Codes | None,
    n_classes: int,
    *,
    similarity: _Similarities,
    n_basis: int,
    basis: str,
    basis_rows: _Rows | None,
    normalization: str,
    cut: str,
    seed: int,
    threads: int,
    monitor: _Monitor | None,
) -> tuple[Model, _Features, list[int]]:
    """An expansion, the features of the training samples, and the rows of the bases."""

def unnormalized(expansion: Model) -> Model:
    """The same expansion without normalization and weights of the similarities."""

def normalized(expansion: Model, normalization: str, rows: object, total: float) -> Model:
    """The same expansion with a normalization learned from the features that `rows` represents, whose weights sum to
    `total`. Its method ``ask(name, query, changes_state, has_answer)`` sends a query to every part, and returns the
    merged answer."""

def fit_expansion_remote(
    expansion: Model,
    rows: object,
    problem: tuple[WeightedLabels, float, tuple[_Rows, _Features] | None]
    | tuple[WeightedTargets, float | None, str]
    | tuple[WeightedTargets, float, float],
    *,
    basis: str,
    basis_rows: Sequence[int],
    stages: _Stages,
    common: _Common,
) -> Model:
    """A model on an expansion, over the features that `rows` represents as for `normalized`: a classifier by Newton's
    method, for labels, C, and some rows and their features, for the starting point and the Hessian; a regression, for
    targets, C and the loss; or an outlier detector, for targets that are all 1, the quantile and the shrinkage."""

def check_regression_loss(loss: str) -> None:
    """ValueError for a parameter that does not belong to the loss, such as "huber:epsilon=1", or is out of range."""

@final
class State:
    """The state of a part of the rows between queries."""

    @staticmethod
    def from_bytes(data: bytes) -> State: ...
    def __reduce__(self) -> tuple[Any, tuple[bytes]]: ...
    def __sizeof__(self) -> int: ...

# The number of penalized features; S, T and the coefficients of T, column-major; the last is None for T alone.
_Lift = tuple[int, list[float], list[float], list[float] | None]

@final
class WeightedLabels:
    """The classes and weights of samples on a cluster; ValueError if they are not valid for training with C."""

    def __new__(cls, target: _Target, class_weight: _ClassWeight, C: float) -> WeightedLabels: ...
    @property
    def codes(self) -> _Codes:
        """The class index of each sample, or the index of its set of labels."""

    @property
    def strata(self) -> _Codes:
        """The class of each sample, or the rarest of its labels: the strata for drawing samples."""

    @property
    def sets(self) -> _Floats | None:
        """The signed weights of the labels of each set (sets, labels): positive for labels that are set, negative for
        labels that are not, 0 for unknown ones; None for classes."""

    @property
    def weights(self) -> _Floats:
        """Sample weights times class weights."""

    @property
    def units(self) -> _Floats:
        """The part of each weight that leave-one-out removes."""

    @property
    def sample_weights(self) -> _Floats:
        """Sample weights alone."""

    def some_rows(self, n_wanted: int, seed: int) -> npt.NDArray[np.int64]: ...
    def brought_rows(self, n_features: int, fewest: int) -> _Rows | None:
        """Rows for the Hessian of `fit_expansion_remote`; None if there are fewer than `fewest` rows, or the copy
        is not worth its cost."""

@final
class WeightedTargets:
    """The targets (samples, outputs) and weights of samples on a cluster; ValueError if they are not valid for
    training."""

    def __new__(cls, targets: _Floats, weights: _Floats | None, has_intercept: bool) -> WeightedTargets: ...
    @property
    def standard(self) -> _Floats:
        """The targets with mean 0, if there is an intercept, and a largest magnitude of 1; 0 where the weight is 0."""

    @property
    def weights(self) -> _Floats: ...
    @property
    def units(self) -> _Floats:
        """The part of each weight that leave-one-out removes."""

    def some_rows(self, n_wanted: int, seed: int) -> npt.NDArray[np.int64]: ...

def basis_candidates(weights: _Floats, basis: str, n_basis: int, seed: int) -> _Rows:
    """Rows from which bases are selected, of weight above 0, ascending."""

# The class of each sample or the index of its set, the number of classes or labels, and the sets.
_RowTargets = tuple[_Codes, int, _Floats | None]

@final
class Part:
    """Rows of one partition, with its number and the data of each row: samples, or features of them."""

    @staticmethod
    def samples(number: int, samples: _Samples, weights: _Floats) -> Part:
        """Vectors."""

    @staticmethod
    def features(number: int, values: _Features, weights: _Floats) -> Part:
        """Similarities to bases, not normalized."""

    @staticmethod
    def restored(number: int, rows: Any, data: bytes) -> Part:
        """A part from its pickled contents."""

    @property
    def number(self) -> int: ...
    def answer(self, query: bytes, state: State | None, changes_state: bool) -> tuple[bytes, State | None]:
        """The answer to a query and, if the query changes it, the new state."""

    def pick(self, rows: _Rows) -> _Features:
        """Some rows of dense features."""

    def linear(self, expansion: Model, targets: _RowTargets, C: float, loss: str, intercept: str) -> Part:
        """The same with their classes or labels and costs."""

    def ridge(self, expansion: Model, targets: _Floats, units: _Floats, has_intercept: bool) -> Part:
        """The same with standardized targets (samples, outputs) and the weights that leave-one-out removes."""

    def power_mean(self, targets: _RowTargets, C: float, loss: str, map: _Map, factors: Sequence[float] | None) -> Part:
        """v(x) of the samples of weight above 0, with their classes or labels and costs."""

    def on_bases(self, targets: _RowTargets | _Floats, units: _Floats, plan: BasisPlan, lift: _Lift) -> Part:
        """Features on bases of the samples of weight above 0, with their classes or labels, or standardized targets."""

    def __reduce__(self) -> tuple[Any, tuple[int, Any, bytes]]: ...
    def __sizeof__(self) -> int: ...

def merge(query: bytes, answers: Sequence[bytes]) -> bytes:
    """The merged answers of several parts to a query, in the order of the parts."""

def fit_power_mean_remote(
    rows: object,
    labels: WeightedLabels,
    *,
    map: _Map,
    nodes: Sequence[float] | None,
    factors: Sequence[float] | None,
    C: float,
    selected: Model | None,
    stages: _Stages,
    common: _Common,
) -> Model:
    """A squared-hinge classifier, by Newton's method over the v(x) that `rows` represents as for `normalized`;
    `selected` is the model that selected the parameters on some of the samples."""

def scale_and_reduce(
    rows: object, kernel: _Kernel, n_nodes: int, nodes: Sequence[float] | None, is_scaled: bool
) -> tuple[list[float] | None, _Map]:
    """The factors of the features, if they are scaled, and the reduced kernel, for the samples that `rows` represents;
    ValueError for values that are negative or not finite."""

def choose_thin_plate_bases(
    samples: _Samples, weights: _Floats, basis: str, n_basis: int, seed: int, threads: int
) -> tuple[_Floats, _Rows]:
    """Bases (bases, features), and the indices of these samples; empty if they are means."""

@final
class BasisPlan:
    """A kernel on bases, with which workers compute features."""

    @staticmethod
    def from_bytes(data: bytes) -> BasisPlan: ...
    def __reduce__(self) -> tuple[Any, tuple[bytes]]: ...

def fit_thin_plate_remote(
    samples: object,
    features: Callable[[BasisPlan, _Lift], object],
    weighted: WeightedLabels | WeightedTargets,
    *,
    kernel: str,
    bases: _Floats,
    basis_rows: Sequence[int],
    C: float | None,
    basis: str,
    stages: _Stages,
    common: _Common,
    polynomials: str = "auto",
    loss: str = "squared-hinge",
) -> Model:
    """A classifier or a smoothing spline on bases (bases, features), for the samples that `samples` represents as for
    `normalized`. `features` returns the object that represents their features: of a classifier, first the polynomials
    alone, then all."""

def choose_bases(
    similarity: _Similarities,
    samples: _Samples,
    codes: _Codes,
    weights: _Floats,
    n_basis: int,
    basis: str,
    basis_rows: _Rows | None,
    seed: int,
) -> _Rows:
    """Rows that become bases, of weight above 0; only k-medoids compares the samples."""

@final
class Store:
    """The samples of a file or a folder of files, on disk, and the resources for a fit."""

    def __new__(
        cls,
        path: str | os.PathLike[str],
        *,
        label: str | None,
        format: str | None,
        n_features: int | None,
        scratch: str | os.PathLike[str],
        memory_limit: int | None,
        checkpoint: str | os.PathLike[str] | None,
        threads: int,
    ) -> Store: ...
    @property
    def n_samples(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def feature_names(self) -> list[str] | None: ...
    def labels(self) -> tuple[list[int | str], npt.NDArray[Any]]:
        """The classes and the class index of each sample, or the names and indicator matrix of multilabel targets."""

def learn_columns(columns: Sequence[_Column], weights: _Floats | None = None) -> tuple[str, _Floats]:
    """The types and categories of a data frame's columns, as JSON, and the features of its rows."""

def median(numbers: _Floats, weights: _Floats | None = None) -> float:
    """The median of numbers, where a weight k counts as k numbers."""

def feature_importances(similarities: Sequence[str], encoder: str | None = ...) -> list[float] | None:
    """The importance of each column of a table for similarities with these specs; None if none has column weights."""

def encode_columns(encoder: str, columns: Sequence[_Column]) -> tuple[_Floats, list[str]]:
    """The features of the rows of a data frame under the encoder of `learn_columns`, and a warning for each unknown
    category."""

def header_of(data: bytes) -> str:
    """The JSON header of a model file's bytes: the checksum is verified, and every field is present and has the right
    type."""

def with_payload(data: bytes, name: str, payload: bytes) -> bytes:
    """The bytes of a model file with one more tensor of bytes."""

def payload(data: bytes, name: str) -> bytes | None:
    """The bytes added by `with_payload`; None if there are none of this name."""

def write_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Writes a file atomically; a device, a pipe or a folder is an OSError."""

def canonical(spec: str) -> str:
    """The spec in canonical form; an unknown name or an invalid parameter is a ValueError."""

def accepted_kinds(specs: Sequence[str]) -> list[str]:
    """The kinds of samples accepted by all the similarities, in order of preference."""

def similarity_rows() -> list[dict[str, Any]]:
    """The row of each similarity: the source of `widemargin.similarity`."""

def descriptor_rows() -> list[dict[str, Any]]:
    """The rows of the descriptors."""

def pairwise(similarity: _Similarities, samples: _Samples, bases: _Samples, threads: int) -> _Features:
    """(parts, samples, bases); descriptors learn from the bases."""

def spectrum(similarity: _Similarities, samples: _Samples, threads: int) -> list[dict[str, Any]]:
    """For each part the fields of `widemargin.inspection.Spectrum`."""

def hog(pixels: npt.NDArray[np.uint8], cell_size: int, threads: int) -> _Features:
    """One row per image of (n, height, width, channels): [row][column][31]."""
