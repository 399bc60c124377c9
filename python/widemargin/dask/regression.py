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
from ._bases import bases_of, check_bases, chosen_kernel
from ._estimator import Clock, Given, grouped
from ._features import Features, check_similarity
from ._regressor import DaskRegressor
from ._rows import Rows
from .basis_expansion import BASES

# Samples that are brought here to choose on, a tenth of all within these bounds.
FEWEST_TO_CHOOSE, MOST_TO_CHOOSE = 1000, 4000


class BasisExpansionRegressor(DaskRegressor, _local.BasisExpansionRegressor):
    """`widemargin.BasisExpansionRegressor` on samples that are on several machines.

    X is a Dask array, frame or bag, y a Dask array, series or frame cut at the same rows (or, where the partitions of X
    have known lengths, an array in memory). The bases are chosen and sent once; each partition becomes a block of
    similarities that stays on its worker, 4 bytes × bases × similarities a row. With the squared loss three sums over
    these are the fit: the mean of the features, their products with each other and with the targets, and the squares of
    left-out residuals for all values of C at once. Other losses are minimized by Newton's method on the client: two
    rounds of tasks a step and four more at each C, hundreds where C and epsilon are "auto", each with a number for each
    sample from or to the workers. C and `epsilon_` are those of one machine on the same bases; the folds
    of the quantile loss are others where samples are equal, which may choose another C.

    Parameters are those of `widemargin.BasisExpansionRegressor` with "index", "every", "random" or "auto" bases
    (or row numbers), and similarities of the library (a name or an object, or several). A similarity or normalization
    that is "auto" is chosen by an ordinary fit on a tenth of the samples, 1,000 to 4,000 of them (or all), which are
    brought here: the candidates in `cv_results_` are of this fit. What a similarity learns of its training samples (the
    gamma of "rbf" where none is given) it learns of the bases.

    Attributes
    ----------
    estimator_ : widemargin.BasisExpansionRegressor
        What was fitted, without Dask.
    dask_report_ : dict
        Partitions; tasks of the solver, how often it asked each question, and seconds spent waiting for answers.

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

    def _train(self, asked: Any, given: Given, clock: Clock, progress: Progress) -> tuple[_core.Model, Rows]:
        normalization, basis, basis_rows = asked
        loss, epsilon, quantile = self._loss()
        targets = given.weighted
        similarity, normalization = self._decided(given, normalization)
        clock.end("choose")
        present = np.flatnonzero(targets.weights > 0)
        n_basis = DEFAULT_BASES if isinstance(self.n_basis, str) else int(self.n_basis)
        chosen = self._drawn(np.zeros(given.n, np.uint32), present, basis, basis_rows, n_basis)
        features = Features(self, given, chosen, similarity, normalization, clock, cut="rounding")
        known = [(one.known, one.units, bool(self.fit_intercept), one.first) for one in given.pieces]
        rows = Rows(given.client, grouped(given.client, features.made("ridge", known)))
        model = _core.fit_basis_expansion_regressor_remote(
            features.expansion,
            rows,
            targets,
            C=c_of(self),
            loss=loss,
            epsilon=epsilon,
            quantile=quantile,
            basis="explicit" if basis_rows is not None else basis,
            basis_rows=chosen.tolist(),
            stages=clock.stages,
            common=self._common(progress),
        )
        return model, rows

    def _decided(self, given: Given, normalization: str) -> tuple[Any, str]:
        """The similarity and the normalization, given, or what an ordinary fit on some of the samples chose."""
        is_open = is_auto(self.similarity)
        similarity = None if is_open else clone(self.similarity, safe=False)
        if not is_open and normalization != "auto":
            return similarity, normalization
        # Candidates are compared by the squared loss, whatever is fitted.
        # A C that is given keeps similarities that are nearly as good from being averaged.
        squared: dict[str, Any] = {
            "loss": "squared_error",
            "epsilon": "auto",
            "quantile": 0.5,
            "C": 1.0,
            "basis": "index",
        }
        some = self._fit_on_some(given, min(max(given.n // 10, FEWEST_TO_CHOOSE), MOST_TO_CHOOSE), **squared)
        return (
            some.similarity_ if is_open else similarity,
            _bases.normalization_text(some.normalization_, some.negative_eigenvalues_)
            if normalization == "auto"
            else normalization,
        )


class ThinPlateRegressor(DaskRegressor, _local.ThinPlateRegressor):
    """`widemargin.ThinPlateRegressor` on samples that are on several machines, on bases (`n_basis` must not be
    None).

    X is a Dask array (of NumPy or of sparse rows) or frame, y a Dask array, series or frame cut at the same rows (or,
    where the partitions of X have known lengths, an array in memory). Bases are chosen here, among 25 samples a
    basis; each partition becomes its block of features, 8 bytes × (bases + polynomials) a row, which stays on
    its worker. C is that of one machine on the same bases.

    Parameters are those of `widemargin.ThinPlateRegressor`; ``n_basis="auto"`` is 1,000 bases, and with
    ``standardize="auto"`` columns stay as they are. Where the kernel is "auto", at most 1,000 samples are brought here
    to choose it.

    Attributes
    ----------
    estimator_ : widemargin.ThinPlateRegressor
        What was fitted, without Dask.
    dask_report_ : dict
        Partitions; tasks of the solver, how often it asked each question, and seconds spent waiting for answers.

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

    def _train(self, asked: Any, given: Given, clock: Clock, progress: Progress) -> tuple[_core.Model, Rows]:
        kernel, basis = asked
        self._name_columns(given)
        if kernel == "auto":
            kernel = "distance" if c_of(self) is not None else chosen_kernel(self, given)
            clock.end("kernel")
        bases, support = bases_of(self, given, basis)
        clock.end("bases")
        features = BasisFeatures(given, "spline", [(one.known, one.units) for one in given.present])
        model = _core.fit_thin_plate_regressor_remote(
            features.looked_at,
            features,
            given.weighted,
            kernel=kernel,
            bases=bases,
            support=support.tolist(),
            C=c_of(self),
            basis=basis,
            stages=clock.stages,
            common=self._common(progress),
        )
        return model, features.rows
