//! Ridge regression on features in memory: on whichever side is smaller, features or samples.

use std::ops::Range;

use super::{
    ChunkedRows, Chunks, FeatureSolution, Fitted, KernelSolution, LeaveOneOut, PartedRidge, Ridge, RidgeFeatures,
    RowTargets, Spectrum, TakesFeatures,
};
use crate::data::{DenseMatrix, Vectors};
use crate::error::{Error, Result};
use crate::linalg::factor::Matrix;
use crate::memory;
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::problem::Block;

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
    Samples(Box<Ridge>),
    Features(PartedRidge, &'a DenseMatrix<f32>),
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
                let free =
                    Matrix::from_columns(vec![1.0; n * usize::from(has_intercept)], n, usize::from(has_intercept));
                let not_finite = || Error::NotFinite { what: "a product of features".into(), value: f64::NAN };
                let ridge = Ridge::of_kernel(products(phi, pool)?, free, fitted.clone()).ok_or_else(not_finite)?;
                Side::Samples(Box::new(ridge))
            }
        };
        Ok(FeatureRidge { phi, fitted, by_row, has_intercept, pool, side })
    }

    fn rows<'s>(&'s self, phi: &'s DenseMatrix<f32>) -> ChunkedRows<'s, impl Chunks> {
        let targets = RowTargets::of(&self.fitted, &self.by_row);
        in_memory(phi, self.has_intercept, targets, self.pool)
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
        let KernelSolution { alphas, betas } = ridge.solution(lambda);
        let (block, k) = (Block::of(self.phi)?, alphas.n_cols());
        let weights = (0..k).flat_map(|output| block.combination(alphas.col(output))).collect();
        let intercept = |output| if self.has_intercept { betas.at(0, output) } else { 0.0 };
        Ok(FeatureSolution { weights, intercepts: (0..k).map(intercept).collect() })
    }
}

/// The products of samples with each other.
///
/// # Errors
/// [`Error::Memory`]; [`Error::Shape`] for inconsistent sparse features.
pub(in crate::solve) fn products(phi: &Vectors, pool: &Pool) -> Result<Matrix> {
    let block = Block::of(phi)?;
    let n = block.n_rows();
    let what = || format!("the products of {n} samples of {} features with each other", phi.n_cols());
    memory::check(memory::product(&[n, n, 8 * 4]), what, memory::FEWER_COLUMNS)?;
    Ok(block.inner_products(&vec![1.0; n], pool))
}

/// Features in memory.
fn in_memory<'a>(
    phi: &'a DenseMatrix<f32>,
    has_intercept: bool,
    targets: RowTargets<'a>,
    pool: &'a Pool,
) -> ChunkedRows<'a, impl Chunks> {
    let with = move |rows: Range<usize>, work: &mut TakesFeatures<'_>| {
        let values = &phi.values[rows.start * phi.n_cols..rows.end * phi.n_cols];
        work(RidgeFeatures::Plain { values, has_intercept }, phi.n_cols)
    };
    ChunkedRows { targets, pool, with }
}
