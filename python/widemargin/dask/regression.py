"""Regression on collections of Dask."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from .. import _bases, _core
from .. import regression as _local
from .._base import c_of
from .._names import one_of
from .._precomputed import DEFAULT_BASES
from .._progress import Progress
from .._specs import is_auto
from ..thin_plate import BASIS_NAMES
from ._bases import Features as BasisFeatures
from ._bases import bases_of, check_bases, selected_kernel
from ._estimator import Clock, FitData, grouped
from ._features import Features, check_similarity
from ._regressor import DaskRegressor
from ._rows import Rows
from .basis_expansion import BASES

# The number of samples on the client for automatic selection: a tenth of all within these bounds.
MIN_SELECTION_SAMPLES, MAX_SELECTION_SAMPLES = 1000, 4000


class BasisExpansionRegressor(DaskRegressor, _local.BasisExpansionRegressor):
    """`widemargin.BasisExpansionRegressor` on samples on several machines.

    X is a Dask array, frame or bag, y a Dask array, series or frame split at the same rows (or, where the partitions of
    X have known lengths, an array in memory). The bases are selected and sent once; each partition becomes a block of
    similarities that stays on its worker, 4 bytes × bases × similarities per row. With squared_error the fit needs
    three sums over these: the mean of the features, their products with each other and with the targets, and the
    squares of leave-one-out residuals for all values of C at once. Other losses are minimized by Newton's method on the
    client: two rounds of tasks a step and four more at each C, hundreds where C and epsilon are "auto", each with a
    number for each sample from or to the workers. C and `epsilon_` are those of one machine on the same bases; with
    duplicate samples the folds of the quantile loss differ, which may select another C.

    Parameters are those of `widemargin.BasisExpansionRegressor` with "index", "every", "random" or "auto" bases
    (or row numbers), and built-in similarities (a name or an object, or several). An automatic similarity or
    normalization is selected by an ordinary fit on a tenth of the samples, 1,000 to 4,000 of them (or all), on the
    client: the candidates in `cv_results_` are those of this fit. Automatic parameters of similarities (such as the
    gamma of "rbf") are determined from the bases.

    Attributes
    ----------
    estimator_ : widemargin.BasisExpansionRegressor
        The fitted model, without Dask.
    dask_report_ : dict
        The numbers of partitions, tasks of the solver and queries by kind, and the seconds spent waiting for answers.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from sklearn.datasets import load_diabetes
    >>> from widemargin.dask import BasisExpansionRegressor
    >>> X, y = (da.from_array(part, chunks=100) for part in load_diabetes(return_X_y=True))
    >>> with Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None):
    ...     regressor = BasisExpansionRegressor("z-score/rbf", n_basis=100).fit(X, y)
    ...     r2 = regressor.score(X, y)
    >>> r2 > 0.5
    True
    """

    plain = _local.BasisExpansionRegressor

    def _checked(self) -> tuple[str, str, npt.NDArray[np.int64] | None]:
        _core.check_regression_loss(*self._loss())
        normalization = _bases.normalization_of(self, "auto")
        basis, basis_rows = _bases.basis_of(self.basis, self)
        one_of("basis", basis, BASES, estimator=self)
        c_of(self)
        check_similarity(self)
        return normalization, basis, basis_rows

    def _train(self, parameters: Any, data: FitData, clock: Clock, progress: Progress) -> tuple[_core.Model, Rows]:
        normalization, basis, basis_rows = parameters
        loss, epsilon, quantile = self._loss()
        targets = data.weighted
        similarity, normalization = self._selected_parameters(data, normalization)
        clock.end("choose")
        present = np.flatnonzero(targets.weights > 0)
        n_basis = DEFAULT_BASES if isinstance(self.n_basis, str) else int(self.n_basis)
        basis_indices = self._selected(np.zeros(data.n, np.uint32), present, basis, basis_rows, n_basis)
        features = Features(self, data, basis_indices, similarity, normalization, clock, cut="rounding")
        arguments = [(one.targets, one.units, bool(self.fit_intercept), one.first) for one in data.pieces]
        rows = Rows(data.client, grouped(data.client, features.called("ridge", arguments)))
        model = _core.fit_basis_expansion_regressor_remote(
            features.expansion,
            rows,
            targets,
            C=c_of(self),
            loss=loss,
            epsilon=epsilon,
            quantile=quantile,
            basis="explicit" if basis_rows is not None else basis,
            basis_rows=basis_indices.tolist(),
            stages=clock.stages,
            common=self._common(progress),
        )
        return model, rows

    def _selected_parameters(self, data: FitData, normalization: str) -> tuple[Any, str]:
        """The similarity and the normalization, automatic ones selected by an ordinary fit on some of the samples."""
        is_auto_similarity = is_auto(self.similarity)
        similarity = None if is_auto_similarity else clone(self.similarity, safe=False)
        if not is_auto_similarity and normalization != "auto":
            return similarity, normalization
        # Candidates are compared by squared_error, independent of the loss of the fit. A fixed C prevents that similar
        # candidates are averaged.
        squared: dict[str, Any] = {
            "loss": "squared_error",
            "epsilon": "auto",
            "quantile": 0.5,
            "C": 1.0,
            "basis": "index",
        }
        some = self._fit_on_some(data, min(max(data.n // 10, MIN_SELECTION_SAMPLES), MAX_SELECTION_SAMPLES), **squared)
        return (
            some.similarity_ if is_auto_similarity else similarity,
            _bases.normalization_text(some.normalization_, some.negative_eigenvalues_)
            if normalization == "auto"
            else normalization,
        )


class ThinPlateRegressor(DaskRegressor, _local.ThinPlateRegressor):
    """`widemargin.ThinPlateRegressor` on samples on several machines, on bases (`n_basis` must not be
    None).

    X is a Dask array (of NumPy or of sparse rows) or frame, y a Dask array, series or frame split at the same rows (or,
    where the partitions of X have known lengths, an array in memory). Bases are selected on the client, among 25
    samples per basis; each partition becomes a block of features, 8 bytes × (bases + polynomials) per row, which stays
    on its worker. C is that of one machine on the same bases.

    Parameters are those of `widemargin.ThinPlateRegressor`; ``n_basis="auto"`` is 1,000 bases, and with
    ``standardize="auto"`` columns are not scaled. The kernel "auto" is selected on at most 1,000 samples, on the
    client.

    Attributes
    ----------
    estimator_ : widemargin.ThinPlateRegressor
        The fitted model, without Dask.
    dask_report_ : dict
        The numbers of partitions, tasks of the solver and queries by kind, and the seconds spent waiting for answers.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from sklearn.datasets import load_diabetes
    >>> from widemargin.dask import ThinPlateRegressor
    >>> X, y = (da.from_array(part, chunks=100) for part in load_diabetes(return_X_y=True))
    >>> with Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None):
    ...     regressor = ThinPlateRegressor(n_basis=50).fit(X, y)
    ...     r2 = regressor.score(X, y)
    >>> r2 > 0.4
    True
    """

    plain = _local.ThinPlateRegressor

    def _checked(self) -> tuple[str, str]:
        check_bases(self)
        c_of(self)
        kernel = self._kernel()
        return kernel, one_of("basis", self.basis, BASIS_NAMES, estimator=self)

    def _train(self, parameters: Any, data: FitData, clock: Clock, progress: Progress) -> tuple[_core.Model, Rows]:
        kernel, basis = parameters
        self._name_columns(data)
        if kernel == "auto":
            kernel = "distance" if c_of(self) is not None else selected_kernel(self, data)
            clock.end("kernel")
        bases, support = bases_of(self, data, basis)
        clock.end("bases")
        features = BasisFeatures(data, "spline", [(one.targets, one.units) for one in data.present])
        model = _core.fit_thin_plate_regressor_remote(
            features.samples,
            features,
            data.weighted,
            kernel=kernel,
            bases=bases,
            support=support.tolist(),
            C=c_of(self),
            basis=basis,
            stages=clock.stages,
            common=self._common(progress),
        )
        return model, features.rows
