//! Ridge regression on features in memory: on whichever side is smaller, features or samples.

use std::ops::Range;

use super::{ChunkedRows, Chunks, FeatureSolution, Fitted, KernelSolution, PartedRidge, Ridge, TakesFeatures};
use crate::data::{DenseMatrix, Vectors};
use crate::error::{Error, Result};
use crate::linalg::factor::Matrix;
use crate::memory;
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::problem::{Block, RowFeatures};

/// Ridge regression on features, on whichever side is smaller.
pub(crate) struct FeatureRidge<'a> {
    phi: &'a Vectors,
    fitted: Fitted,
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
        let n = fitted.weights.len();
        let side = match phi {
            Vectors::Dense(dense) if n > dense.n_cols => {
                let sizes = (fitted.targets.n_rows(), fitted.total());
                let with = |rows, work: &mut TakesFeatures<'_>| work(plain(dense, has_intercept, rows));
                let rows = &mut ChunkedRows { fitted: &fitted, pool, with };
                Side::Features(PartedRidge::new(rows, sizes, usize::MAX, monitor)?, dense)
            }
            _ => {
                let n_free = usize::from(has_intercept);
                let free = Matrix::from_columns(vec![1.0; n * n_free], n, n_free);
                let not_finite = || Error::NotFinite { what: "a product of features".into(), value: f64::NAN };
                let ridge = Ridge::of_kernel(products(phi, pool)?, free, fitted.clone()).ok_or_else(not_finite)?;
                Side::Samples(Box::new(ridge))
            }
        };
        Ok(FeatureRidge { phi, fitted, has_intercept, pool, side })
    }

    /// The decomposed problem.
    pub fn parted(&self) -> &PartedRidge {
        match &self.side {
            Side::Samples(ridge) => &ridge.parted,
            Side::Features(parted, _) => parted,
        }
    }

    /// Of centered features without an intercept, as [`PartedRidge::recenter`].
    pub fn recenter(&mut self, means: Vec<f64>) {
        match &mut self.side {
            Side::Samples(ridge) => ridge.parted.recenter(means),
            Side::Features(parted, _) => parted.recenter(means),
        }
    }

    /// Its rows.
    pub fn rows(&self) -> ChunkedRows<'_, impl Chunks> {
        let with = |rows: Range<usize>, work: &mut TakesFeatures<'_>| match &self.side {
            Side::Samples(ridge) => work(ridge.features(rows)),
            Side::Features(_, phi) => work(plain(phi, self.has_intercept, rows)),
        };
        ChunkedRows { fitted: &self.fitted, pool: self.pool, with }
    }

    /// The leave-one-out decision values: of each sample by the fit without one copy of it, samples × outputs.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub fn loo_values(&self, lambda: f64, monitor: &Monitor<'_>) -> Result<Matrix> {
        let values = self.parted().loo_values(&mut self.rows(), lambda, monitor)?;
        let (k, n) = (self.fitted.targets.n_rows(), self.fitted.targets.n_cols());
        Ok(Matrix::from_columns(values, k, n).transposed())
    }

    /// Weights and intercepts at λ.
    ///
    /// # Errors
    /// [`Error::Shape`] for inconsistent sparse features.
    pub fn solution(&self, lambda: f64) -> Result<FeatureSolution> {
        let ridge = match &self.side {
            Side::Samples(ridge) => ridge,
            Side::Features(parted, _) => return Ok(parted.solution(lambda)),
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

/// Some rows of features in memory.
fn plain(phi: &DenseMatrix<f32>, has_intercept: bool, rows: Range<usize>) -> RowFeatures<'_> {
    let width = phi.n_cols;
    RowFeatures::Plain { values: &phi.values[rows.start * width..rows.end * width], width, has_intercept }
}
