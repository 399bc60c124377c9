"""The compiled half: conversions between NumPy and the Rust library, nothing else.

Samples are handed over as one of these, without a copy where it says an array is used as it is:

- a C-contiguous 2-D array of float32 or float64, used as it is;
- ``("csr", data, indices, indptr, n_columns)`` with data of float32 or float64, indices of int32 and indptr of int64,
  used as they are;
- ``("images", pixels)`` with uint8 of shape (n, height, width, channels);
- ``("grids", cells)`` with float32 of shape (n, rows, columns, depth);
- ``("series", values, lengths)`` with float32 of shape (steps of all series, channels) and int64 lengths;
- ``("strings", list_of_str)``;
- ``("bits", words, n_bits)`` with uint64 of shape (n, words a set).

A *call* is a Python similarity: ``(function, name)`` where ``function(samples, bases)`` returns an array
(samples, bases). What calls compare is handed over beside the samples as ``objects=(sequence, n, pick)`` where
``pick(sequence, rows)`` gives the rows (an int64 array) of the sequence.

Machines are opaque: what is in one is read from its bytes, which are those of a model file (``_model_file.parse``).

A *monitor* is called on the calling thread with ``(stage, done, total, gap)``; what it raises ends the work.
"""

import os
from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np
import numpy.typing as npt

_Samples = Any
_Objects = tuple[Any, int, Callable[[Any, npt.NDArray[np.int64]], Any]]
_Call = tuple[Callable[[Any, Any], Any], str]
_State = list[tuple[str, list[float]]]
_Monitor = Callable[[str, int, int, float | None], object]
_ClassWeight = str | list[float] | None
# tol, max_iter, seed and class_weight of a fit on several machines.
_Asked = dict[str, Any]

__all__ = [
    "BasisExpansionModel",
    "ExpansionModel",
    "LandmarkPlan",
    "LandmarkRows",
    "PowerMeanModel",
    "RowSums",
    "SettledPolynomials",
    "Solution",
    "ThinPlateModel",
    "canonical",
    "check_costs",
    "choose_bases",
    "choose_landmarks",
    "choose_nodes",
    "column_sums",
    "descriptor_rows",
    "draw_rows",
    "explicit",
    "factors_of",
    "header_of",
    "hog",
    "largest",
    "merged_columns",
    "merged_counts",
    "merged_first",
    "minimise",
    "pairwise",
    "payload",
    "remark_on",
    "rows_separate",
    "select_similarities",
    "similarity_rows",
    "spectrum",
    "takes",
    "value_counts",
    "version",
    "with_payload",
    "write_file",
]

def version() -> str: ...

@final
class PowerMeanModel:
    @staticmethod
    def fit(
        samples: _Samples,
        classes: Sequence[int | str],
        codes: npt.NDArray[np.uint32],
        sample_weight: npt.NDArray[np.float64] | None,
        *,
        kernel: str,
        loss: str,
        C: float,
        approximation: str,
        n_nodes: int,
        nodes: Sequence[float] | None,
        scale: bool,
        class_weight: _ClassWeight,
        tol: float,
        max_iter: int,
        seed: int,
        threads: int,
        time_limit: float | None,
        monitor: _Monitor | None,
        shrinking: bool = True,
        feature_names: Sequence[str] | None = None,
    ) -> PowerMeanModel: ...
    @staticmethod
    def assemble(
        solution: Solution,
        classes: Sequence[int | str],
        *,
        kernel: str,
        nodes: Sequence[float],
        factors: Sequence[float] | None,
        n_features: int,
        C: float,
        stages: Sequence[tuple[str, float]],
        training: _Asked,
        feature_names: Sequence[str] | None = None,
    ) -> PowerMeanModel:
        """The machine of squared hinge weights that were found apart, on features as `explicit` makes them."""

    @staticmethod
    def from_bytes(data: bytes) -> PowerMeanModel: ...
    def to_bytes(self) -> bytes: ...
    def decision_function(self, samples: _Samples, threads: int) -> npt.NDArray[np.float32]: ...

@final
class ThinPlateModel:
    @staticmethod
    def fit(
        samples: _Samples,
        classes: Sequence[int | str],
        codes: npt.NDArray[np.uint32],
        sample_weight: npt.NDArray[np.float64] | None,
        *,
        kernel: str,
        C: float | None,
        null_space: str,
        standardize: str,
        n_basis: int | None,
        exact_up_to: int | None,
        basis: str,
        class_weight: _ClassWeight,
        tol: float,
        max_iter: int,
        seed: int,
        threads: int,
        time_limit: float | None,
        monitor: _Monitor | None,
        feature_names: Sequence[str] | None = None,
    ) -> ThinPlateModel: ...
    @staticmethod
    def from_bytes(data: bytes) -> ThinPlateModel: ...
    def to_bytes(self) -> bytes: ...
    def decision_function(self, samples: _Samples, threads: int) -> npt.NDArray[np.float64]: ...

@final
class BasisExpansionModel:
    @staticmethod
    def fit(
        samples: _Samples | None,
        objects: _Objects | None,
        classes: Sequence[int | str],
        codes: npt.NDArray[np.uint32],
        sample_weight: npt.NDArray[np.float64] | None,
        *,
        similarity: Sequence[str],
        calls: Sequence[_Call],
        n_basis: int,
        basis: str,
        basis_rows: npt.NDArray[np.int64] | None,
        normalization: str,
        C: float,
        intercept: str,
        loss: str,
        class_weight: _ClassWeight,
        tol: float,
        max_iter: int | None,
        seed: int,
        threads: int,
        time_limit: float | None,
        monitor: _Monitor | None,
        start: BasisExpansionModel | None = None,
        feature_names: Sequence[str] | None = None,
    ) -> BasisExpansionModel: ...
    @staticmethod
    def from_bytes(
        data: bytes,
        similarity: Sequence[str] | None = None,
        calls: Sequence[_Call] | None = None,
        objects: _Objects | None = None,
        samples: _Samples | None = None,
        state: _State | None = None,
    ) -> BasisExpansionModel:
        """Without calls the bytes are a model file; with calls the bases are handed over too."""
    def to_bytes(self) -> bytes:
        """The model file's bytes; with calls, everything but the bases and the calls."""
    def state(self) -> _State:
        """With calls, what the descriptors of the library's similarities learned."""
    def decision_function(
        self, samples: _Samples | None, objects: _Objects | None, threads: int, monitor: _Monitor | None
    ) -> npt.NDArray[np.float32]: ...

@final
class ExpansionModel:
    @staticmethod
    def fit(
        samples: _Samples | None,
        objects: _Objects | None,
        codes: npt.NDArray[np.uint32] | None,
        n_classes: int,
        *,
        similarity: Sequence[str],
        calls: Sequence[_Call],
        n_basis: int,
        basis: str,
        basis_rows: npt.NDArray[np.int64] | None,
        normalization: str,
        seed: int,
        threads: int,
        monitor: _Monitor | None,
    ) -> tuple[ExpansionModel, npt.NDArray[np.float32]]: ...
    @staticmethod
    def from_bytes(
        data: bytes,
        similarity: Sequence[str] | None = None,
        calls: Sequence[_Call] | None = None,
        objects: _Objects | None = None,
        samples: _Samples | None = None,
        state: _State | None = None,
    ) -> ExpansionModel: ...
    def to_bytes(self) -> bytes: ...
    def state(self) -> _State: ...
    def transform(
        self, samples: _Samples | None, objects: _Objects | None, threads: int, monitor: _Monitor | None
    ) -> npt.NDArray[np.float32]: ...
    def assemble(
        self,
        solution: Solution,
        classes: Sequence[int | str],
        *,
        normalization: str,
        centre: npt.NDArray[np.float32] | None,
        factors: Sequence[Sequence[float]],
        C: float,
        basis: str,
        basis_rows: Sequence[int],
        loss: str,
        intercept: str,
        stages: Sequence[tuple[str, float]],
        warnings: Sequence[str],
        training: _Asked,
        feature_names: Sequence[str] | None = None,
    ) -> BasisExpansionModel:
        """The machine of this expansion under a normalization learned apart, and of weights found apart."""

    @property
    def similarity(self) -> list[str]:
        """The spec of each part, with what was learned; the names of the calls after them."""

    @property
    def basis_rows(self) -> list[int]: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def n_features(self) -> int: ...
    @property
    def part_columns(self) -> list[tuple[int, int]]:
        """The first column of each part and the one after its last."""

_Memory = tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]
_Floats = npt.NDArray[np.float64]

@final
class RowSums:
    """One block of rows with its classes and costs.

    `memory` is what `place`, `aim` or `advance` handed back before; `live` names problems, and arrays have a row or a
    number for each of them.
    """

    def __new__(
        cls,
        features: npt.NDArray[np.float32]
        | tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32], npt.NDArray[np.float32], int],
        codes: npt.NDArray[np.uint32],
        n_classes: int,
        costs: _Floats,
        loss: str,
        intercept: str,
        threads: int,
    ) -> RowSums: ...
    def set_point(self, memory: _Memory | None, live: list[int], points: _Floats) -> _Memory: ...
    def set_direction(self, memory: _Memory, live: list[int], directions: _Floats) -> _Memory: ...
    def take_step(self, memory: _Memory, live: list[int], steps: _Floats) -> _Memory: ...
    def line_search_eval(self, memory: _Memory, live: list[int], lines: _Floats) -> _Floats: ...
    def gradient(self, memory: _Memory, live: list[int], intercepts: _Floats) -> tuple[_Floats, _Floats]: ...
    def hessian_product(
        self, memory: _Memory, live: list[int], intercepts: _Floats, directions: _Floats
    ) -> _Floats: ...
    def gram(
        self, memory: _Memory, live: list[int], intercepts: _Floats
    ) -> tuple[npt.NDArray[np.float32], _Floats, float]: ...
    def diagonal(self, memory: _Memory, live: list[int], intercepts: _Floats) -> _Floats: ...
    def active_rows(
        self, memory: _Memory, live: list[int], intercepts: _Floats, most: _Floats
    ) -> tuple[_Floats, _Floats] | None: ...
    def cost(self) -> tuple[float, float, float]: ...

@final
class Solution:
    """Solved problems and the account of how."""

def minimise(
    rows: object,
    sample: RowSums | None,
    *,
    n_rows: int,
    n_features: int,
    n_problems: int,
    cost: tuple[float, float, float],
    loss: str,
    intercept: str,
    tol: float,
    max_iter: int,
    threads: int,
    time_limit: float | None,
    monitor: _Monitor | None,
) -> Solution:
    """Newton's method over rows that `rows` stands for: it has the methods of `RowSums` without their memories.
    `sample` is some of the rows, here, at costs that stand for all: the start, and the Hessian."""

_Counts = tuple[npt.NDArray[np.float32], npt.NDArray[np.float64], bool]

def largest(samples: _Samples, weights: _Floats) -> _Floats:
    """The largest value of each feature among the samples of weight above 0; other than finite and at least 0 is a
    ValueError."""

def factors_of(largest: _Floats) -> _Floats:
    """What features with these largest values are multiplied by."""

def value_counts(samples: _Samples, weights: _Floats, factors: _Floats | None) -> _Counts:
    """Values, how often each occurs among the samples of weight above 0, and whether they were rounded for being too
    many."""

def merged_counts(a: _Counts, b: _Counts) -> _Counts: ...
def choose_nodes(kernel: str, values: npt.NDArray[np.float32], counts: _Floats, n_nodes: int) -> _Floats: ...
def explicit(
    samples: _Samples, weights: _Floats, factors: _Floats | None, kernel: str, nodes: Sequence[float]
) -> npt.NDArray[np.float32] | tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32], npt.NDArray[np.float32], int]:
    """v(x) of the samples of weight above 0, written out: what `RowSums` takes."""

_Columns = tuple[float, _Floats, _Floats]
_First = tuple[int, _Floats, _Floats]

def column_sums(samples: _Samples, weights: _Floats) -> _Columns:
    """Weight, means and squared deviations of the columns of the samples of weight above 0."""

def merged_columns(a: _Columns, b: _Columns) -> _Columns: ...
def merged_first(a: _First, b: _First) -> _First: ...
def draw_rows(weights: _Floats, n_basis: int, seed: int) -> npt.NDArray[np.int64]:
    """Rows of weight above 0 that landmarks are chosen among, ascending: 25 a landmark, or all there are."""

def choose_landmarks(
    samples: _Samples, weights: _Floats, basis: str, n_basis: int, seed: int, threads: int
) -> tuple[_Floats, npt.NDArray[np.int64]]:
    """Landmarks (landmarks, features), and which of the samples they are: none where they are means."""

@final
class SettledPolynomials:
    """What became of the polynomials of a thin plate kernel."""

    @property
    def penalised(self) -> _Floats: ...
    @property
    def n_penalised(self) -> int: ...
    @property
    def columns(self) -> _Floats: ...
    @property
    def cross(self) -> _Floats: ...
    @property
    def n_free(self) -> int: ...

@final
class LandmarkPlan:
    """A kernel on landmarks (landmarks, features), for samples of these columns."""

    def __new__(cls, kernel: str, bases: _Floats, columns: _Columns) -> LandmarkPlan: ...
    def first_sums(self, samples: _Samples, weights: _Floats) -> _First: ...
    def settle(self, sums: _First, null_space: str, n: int, total: float, separates: bool) -> SettledPolynomials: ...
    def features(
        self, samples: _Samples, weights: _Floats, penalised: _Floats, columns: _Floats, cross: _Floats | None
    ) -> _Floats:
        """(samples of weight above 0, features); with `cross` None those of the polynomials alone."""

    def fit(
        self,
        settled: SettledPolynomials,
        rows: object,
        classes: Sequence[int | str],
        *,
        n_rows: int,
        n_problems: int,
        class_weights: Sequence[float],
        support: Sequence[int],
        C: float | None,
        tol: float,
        max_iter: int,
        threads: int,
        stages: Sequence[tuple[str, float]],
        time_limit: float | None,
        monitor: _Monitor | None,
        training: _Asked,
        basis: str,
        feature_names: Sequence[str] | None = None,
    ) -> ThinPlateModel:
        """The path over rows that `rows` stands for: it has the methods of `LandmarkRows` without their memories, each
        with the problems it is about first."""

def rows_separate(rows: object, *, n_rows: int, n_free: int, n_problems: int, total: float, threads: int) -> bool:
    """Whether rows of the polynomials' features alone separate a problem."""

_RowMemory = tuple[_Floats, _Floats, npt.NDArray[np.bool_], int | None]
_PointSums = tuple[_Floats, _Floats, _Floats, _Floats]

@final
class LandmarkRows:
    """Rows of features with their classes and weights.

    What they tell is, a row a live problem: the change of the Hessian, the right-hand side, three sums, two maxima.
    """

    def __new__(
        cls,
        features: _Floats,
        n_penalised: int,
        codes: npt.NDArray[np.uint32],
        n_classes: int,
        roots: _Floats,
        units: _Floats,
    ) -> LandmarkRows: ...
    def origin(self) -> tuple[_RowMemory, _PointSums]: ...
    def look(self, memory: _RowMemory, live: list[int], points: _Floats) -> tuple[_RowMemory, _PointSums]: ...
    def accept(self, memory: _RowMemory, live: list[int]) -> _RowMemory: ...
    def without(self, memory: _RowMemory, fold: int | None) -> _RowMemory: ...
    def absent_rows(self, memory: _RowMemory) -> tuple[float, float]: ...
    def line_search_eval(self, memory: _RowMemory, live: list[int], places: _Floats) -> _Floats: ...
    def take_step(self, memory: _RowMemory, live: list[int], places: _Floats) -> tuple[_RowMemory, _PointSums]: ...
    def leave_one_out(self, memory: _RowMemory, roots: _Floats) -> tuple[float, float]: ...

def choose_bases(codes: npt.NDArray[np.uint32], n_basis: int, basis: str, seed: int) -> npt.NDArray[np.int64]:
    """Rows that become bases; not by k-medoids, which would need the similarities."""

def header_of(data: bytes) -> str:
    """The JSON header of a model file's bytes: the checksum is verified, every field is there and of its type."""

def remark_on(data: bytes) -> str | None:
    """What whoever loads these bytes should know: that their format has no checksum."""

def with_payload(data: bytes, name: str, payload: bytes) -> bytes:
    """The bytes of a model file with one more tensor of bytes."""

def payload(data: bytes, name: str) -> bytes:
    """What `with_payload` added."""

def check_costs(c: float, weights: npt.NDArray[np.float64], n_classes: int) -> None:
    """A ValueError where C times the sum of the weights is beyond double precision."""

def write_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Writes a file whole or not at all; a device, a pipe or a folder is an OSError."""

def canonical(spec: str) -> str:
    """The spec as it is written back; an unknown name or a bad parameter is a ValueError."""

def takes(specs: Sequence[str]) -> list[str]:
    """The kinds of samples that all the similarities can take, the preferred first."""

def similarity_rows() -> list[dict[str, Any]]:
    """What there is to know of each similarity: `widemargin.similarity` is made from it."""

def descriptor_rows() -> list[dict[str, Any]]:
    """The same of the descriptors."""

def pairwise(
    similarity: Sequence[str],
    calls: Sequence[_Call],
    samples: tuple[_Samples | None, _Objects | None],
    bases: tuple[_Samples | None, _Objects | None],
    threads: int,
) -> npt.NDArray[np.float32]:
    """(parts, samples, bases); descriptors learn from the bases."""

def spectrum(
    similarity: Sequence[str],
    calls: Sequence[_Call],
    samples: _Samples | None,
    objects: _Objects | None,
    threads: int,
) -> list[dict[str, Any]]:
    """For each part: similarity, symmetric (eigenvalues, falling), raw (complex), asymmetry, negative_ratio,
    negative_energy, and of the raw ones negative_ratio_raw, negative_energy_raw."""

def select_similarities(
    similarity: Sequence[str],
    calls: Sequence[_Call],
    samples: _Samples | None,
    objects: _Objects | None,
    classes: Sequence[int | str],
    codes: npt.NDArray[np.uint32],
    *,
    n_basis: int,
    basis: str,
    normalization: str,
    n_folds: int,
    most: int | None,
    least_gain: float,
    C: float,
    fit_intercept: bool,
    seed: int,
    threads: int,
    monitor: _Monitor | None,
) -> dict[str, Any]:
    """chosen (numbers of the parts), rounds (a list of {accuracies: {part: accuracy}, chosen, accuracy}), warnings."""

def hog(pixels: npt.NDArray[np.uint8], cell_size: int, threads: int) -> npt.NDArray[np.float32]:
    """One row an image of (n, height, width, channels): [row][column][31]."""
