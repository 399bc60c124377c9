//! Ridge regression on features in memory: on whichever side is smaller, features or samples.

use std::ops::Range;

use super::{
    ChunkedRows, Chunks, FeatureSolution, Fitted, KernelSolution, LeaveOneOut, PartedRidge, Ridge, RidgeFeatures,
    RowTargets, Spectrum, TakesFeatures,
};
use crate::data::{CsrMatrix, DenseMatrix, Rows, Vectors};
use crate::error::{Error, Result};
use crate::linalg::factor::{self, Matrix, product};
use crate::monitor::Monitor;
use crate::par::Pool;

/// Ridge regression on features, on whichever side is smaller.
pub(crate) struct FeatureRidge<'a> {
    phi: &'a Vectors,
    fitted: Fitted,
    /// The targets, row-major.
    by_row: Vec<f64>,
    has_intercept: bool,
    pool: &'a Pool,
    side: Side<'a>,
}

enum Side<'a> {
    Samples(Ridge),
    Features(PartedRidge, &'a DenseMatrix<f32>),
}

/// Features in memory.
fn in_memory<'a>(
    phi: &'a DenseMatrix<f32>,
    has_intercept: bool,
    targets: RowTargets<'a>,
    pool: &'a Pool,
) -> ChunkedRows<'a, impl Chunks> {
    let d = phi.n_cols;
    let with = move |rows: Range<usize>, work: &mut TakesFeatures<'_>| {
        let (first, values) = (rows.start, &phi.values[rows.start * d..rows.end * d]);
        work(RidgeFeatures::Plain { values: values.into(), has_intercept, first }, d)
    };
    ChunkedRows { targets, pool, with }
}

impl<'a> FeatureRidge<'a> {
    /// Decomposes a problem on features, with an intercept or without.
    ///
    /// # Errors
    /// [`Error::NotFinite`]; [`Error::Memory`] for sparse features with two large sides; [`Error::Cancelled`].
    pub fn new(
        phi: &'a Vectors,
        has_intercept: bool,
        fitted: Fitted,
        pool: &'a Pool,
        monitor: &Monitor<'_>,
    ) -> Result<Self> {
        let (n, by_row) = (fitted.weights.len(), fitted.targets.transposed().into_values());
        let side = match phi {
            Vectors::Dense(dense) if n > dense.n_cols => {
                let targets = RowTargets::of(&fitted, &by_row);
                let (k, total) = (targets.n_outputs, targets.total());
                let rows = &mut in_memory(dense, has_intercept, targets, pool);
                Side::Features(PartedRidge::new(rows, (k, total), usize::MAX, monitor)?, dense)
            }
            _ => {
                let bytes = crate::memory::product(&[n, n, 8 * 4]);
                let what = || format!("the products of {n} samples of {} features with each other", phi.n_cols());
                crate::memory::check(bytes, what, crate::memory::FEWER_COLUMNS)?;
                let free =
                    Matrix::from_columns(vec![1.0; n * usize::from(has_intercept)], n, usize::from(has_intercept));
                let not_finite = || Error::NotFinite { what: "a product of features".into(), value: f64::NAN };
                Side::Samples(Ridge::of_kernel(products(phi)?, free, fitted.clone()).ok_or_else(not_finite)?)
            }
        };
        Ok(FeatureRidge { phi, fitted, by_row, has_intercept, pool, side })
    }

    fn rows<'s>(&'s self, phi: &'s DenseMatrix<f32>) -> ChunkedRows<'s, impl Chunks> {
        in_memory(phi, self.has_intercept, RowTargets::of(&self.fitted, &self.by_row), self.pool)
    }

    /// The eigenvalues, which determine the range of λ.
    pub fn spectrum(&self) -> &Spectrum {
        match &self.side {
            Side::Samples(ridge) => ridge.spectrum(),
            Side::Features(ridge, _) => ridge.spectrum(),
        }
    }

    /// The leave-one-out errors at each λ.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub fn leave_one_out(&self, lambdas: &[f64], monitor: &Monitor<'_>) -> Result<Vec<LeaveOneOut>> {
        match &self.side {
            Side::Samples(ridge) => Ok(ridge.leave_one_out(lambdas)),
            Side::Features(ridge, phi) => ridge.leave_one_out(&mut self.rows(phi), lambdas, monitor),
        }
    }

    /// The leave-one-out decision values: of each sample by the fit without one copy of it, samples × outputs.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub fn loo_values(&self, lambda: f64, monitor: &Monitor<'_>) -> Result<Matrix> {
        match &self.side {
            Side::Samples(ridge) => Ok(ridge.loo_values(lambda)),
            Side::Features(ridge, phi) => {
                let values = ridge.loo_values(&mut self.rows(phi), lambda, monitor)?;
                let (n, k) = (self.fitted.targets.n_rows(), self.fitted.targets.n_cols());
                Ok(Matrix::from_columns(values, k, n).transposed())
            }
        }
    }

    /// Weights and intercepts at λ.
    ///
    /// # Errors
    /// [`Error::NotFinite`].
    pub fn solution(&self, lambda: f64) -> Result<FeatureSolution> {
        let ridge = match &self.side {
            Side::Samples(ridge) => ridge,
            Side::Features(ridge, _) => return Ok(ridge.solution(lambda)),
        };
        let not_finite = || Error::NotFinite { what: "a weight".into(), value: f64::NAN };
        let KernelSolution { alphas, betas } = ridge.solution(lambda).ok_or_else(not_finite)?;
        let (d, k) = (self.phi.n_cols(), alphas.n_cols());
        let mut weights = vec![0.0; d * k];
        each_non_zero(self.phi, |row, feature, value| {
            (0..k).for_each(|output| weights[output * d + feature] += alphas.at(row, output) * value);
        })?;
        let intercept = |output| if self.has_intercept { betas.at(0, output) } else { 0.0 };
        Ok(FeatureSolution { weights, intercepts: (0..k).map(intercept).collect() })
    }
}

/// `take(row, column, value)` of all numbers but zeros of sparse rows.
pub(in crate::solve) fn each_non_zero(phi: &Vectors, mut take: impl FnMut(usize, usize, f64)) -> Result<()> {
    match phi {
        Vectors::Dense(dense) => {
            let numbers = dense.values.iter().enumerate();
            numbers.for_each(|(at, &value)| take(at / dense.n_cols, at % dense.n_cols, f64::from(value)));
        }
        Vectors::Sparse(sparse) => {
            let view = sparse.view()?;
            for row in 0..view.n_rows() {
                view.for_each_nonzero(row, |column, value| take(row, column, value));
            }
        }
    }
    Ok(())
}

/// The lower triangle of φφᵀ.
pub(in crate::solve) fn products(phi: &Vectors) -> Result<Matrix> {
    match phi {
        Vectors::Dense(dense) => {
            let wide =
                Matrix::from_columns(dense.values.iter().map(|x| f64::from(*x)).collect(), dense.n_cols, dense.n_rows);
            Ok(product(factor::Side::Transposed(&wide), factor::Side::Plain(&wide)))
        }
        Vectors::Sparse(sparse) => sparse_products(sparse),
    }
}

/// The same of sparse rows, a column of φ at a time: a flop pair for each pair of non-zeros of a column.
fn sparse_products(phi: &CsrMatrix<f32>) -> Result<Matrix> {
    let view = phi.view()?;
    let n = view.n_rows();
    let mut columns: Vec<Vec<(usize, f64)>> = vec![Vec::new(); view.n_cols()];
    for row in 0..n {
        view.for_each_nonzero(row, |column, value| columns[column].push((row, value)));
    }
    let mut gram = Matrix::zeros(n, n);
    for column in &columns {
        for (at, &(row, value)) in column.iter().enumerate() {
            let out = gram.col_mut(row);
            column[at..].iter().for_each(|&(other, factor)| out[other] += value * factor);
        }
    }
    Ok(gram)
}
