//! Ridge regression on features in memory: on whichever side is smaller, features or samples.

use super::{Fitted, KernelSolution, Ridge};
use crate::data::{CsrMatrix, Rows, Vectors};
use crate::error::{Error, Result};
use crate::linalg::factor::{Matrix, Side, product};
use crate::monitor::Monitor;
use crate::par::Pool;

/// The solution of a problem on features: f = w·φ + b.
pub(crate) struct FeatureSolution {
    /// `[output][feature]`.
    pub weights: Vec<f64>,
    pub intercepts: Vec<f64>,
}

/// Ridge regression on features, on whichever side is smaller.
pub(crate) struct FeatureRidge<'a> {
    ridge: Ridge<'a>,
    phi: &'a Vectors,
    has_intercept: bool,
    /// The mean of the features, where they are fewer than the samples.
    center: Option<Vec<f64>>,
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
        let n = fitted.weights.len();
        let (ridge, center) = match phi {
            Vectors::Dense(dense) if n > dense.n_cols => {
                let (ridge, center) = Ridge::of_features(dense, has_intercept, fitted, pool, monitor)?;
                (ridge, Some(center))
            }
            _ => {
                let bytes = crate::memory::product(&[n, n, 8 * 4]);
                let what = || format!("the products of {n} samples of {} features with each other", phi.n_cols());
                crate::memory::check(bytes, what, crate::memory::FEWER_COLUMNS)?;
                let free =
                    Matrix::from_columns(vec![1.0; n * usize::from(has_intercept)], n, usize::from(has_intercept));
                let not_finite = || Error::NotFinite { what: "a product of features".into(), value: f64::NAN };
                (Ridge::of_kernel(products(phi)?, free, fitted).ok_or_else(not_finite)?, None)
            }
        };
        Ok(FeatureRidge { ridge, phi, has_intercept, center })
    }

    /// The decomposed problem.
    pub fn ridge(&self) -> &Ridge<'a> {
        &self.ridge
    }

    /// Weights and intercepts at λ.
    ///
    /// # Errors
    /// [`Error::NotFinite`].
    pub fn solution(&self, lambda: f64) -> Result<FeatureSolution> {
        let not_finite = || Error::NotFinite { what: "a weight".into(), value: f64::NAN };
        if let (Some(center), Some(weights)) = (&self.center, self.ridge.weights(lambda)) {
            let dot = |k: usize| weights.col(k).iter().zip(center).map(|(w, mean)| w * mean).sum::<f64>();
            let intercepts = (0..weights.n_cols()).map(|k| self.ridge.base.at(0, k) - dot(k)).collect();
            return Ok(FeatureSolution { weights: weights.into_values(), intercepts });
        }
        let KernelSolution { alphas, betas } = self.ridge.kernel_solution(lambda).ok_or_else(not_finite)?;
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
            Ok(product(Side::Transposed(&wide), Side::Plain(&wide)))
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
