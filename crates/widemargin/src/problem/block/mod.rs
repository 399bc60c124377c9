//! A block of rows of Φ and the products that an objective needs. Each kind of rows has a file with its [`Products`], and
//! is a variant of [`Block`].

mod dense;
mod sparse;
mod sums;

pub(super) use sums::Sums;

use crate::data::{CsrView, DenseView, Rows, Vectors};
use crate::error::{Error, Result};
use crate::linalg::factor::Matrix;
use crate::monitor::Monitor;
use crate::par::Pool;

/// Some rows of Φ in single precision.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Block<'a> {
    /// Row-major.
    Dense(DenseView<'a, f32>),
    /// Compressed rows.
    Sparse(CsrView<'a, f32>),
}

impl<'a> From<DenseView<'a, f32>> for Block<'a> {
    fn from(view: DenseView<'a, f32>) -> Self {
        Block::Dense(view)
    }
}

impl<'a> From<CsrView<'a, f32>> for Block<'a> {
    fn from(view: CsrView<'a, f32>) -> Self {
        Block::Sparse(view)
    }
}

/// Evaluates an expression on the view of a block, whatever its form.
macro_rules! on_view {
    ($block:expr, $view:ident => $body:expr) => {
        match $block {
            Block::Dense($view) => $body,
            Block::Sparse($view) => $body,
        }
    };
}

/// The products of one kind of rows. Weights and sums have any order that suits them.
pub(super) trait Products: Sync {
    /// Multiply-adds of one product of Φ with a vector.
    fn n_values(&self) -> usize;

    /// The number of partial sums, added up afterwards, of rows that are cut into `n_shards`.
    fn n_partial_sums(&self, n_shards: usize) -> usize {
        n_shards
    }

    /// Weights `[problem][feature]` (at intervals of `stride`) in the order and precision of the products.
    fn pack(&self, points: &[f64], stride: usize) -> Vec<f32>;

    /// out\[problem\]\[i\] = φ_{rows\[i\]} · w for packed weights.
    fn scores(&self, rows: &[u32], packed: &[f32], out: &mut [f32]);

    /// Adds Σ_i factors\[problem\]\[i\] φ_{rows\[i\]} to the sums.
    fn add_combination(&self, rows: &[u32], factors: &[f32], sums: &mut Sums);

    /// Sums for this number of problems, all 0.
    fn sums(&self, n_problems: usize) -> Sums;

    /// The sums as `[problem][feature]`.
    fn unpack(&self, sums: Sums) -> Vec<f64>;

    /// Cost of [`Products::gram`], in equivalent multiply-adds.
    fn gram_cost(&self) -> f64;

    /// The lower triangle of Σ_i factors_i φ_i φ_iᵀ, row-major; `None` if the monitor says to stop.
    fn gram(&self, factors: &[f32], pool: &Pool, monitor: &Monitor<'_>) -> Result<Option<Vec<f32>>>;

    /// √W Φ Φᵀ √W.
    fn inner_products(&self, roots: &[f64], pool: &Pool) -> Matrix;
}

/// Values beyond this cannot be squared and summed in single precision.
const LARGEST: f64 = 1e17;

impl<'a> Block<'a> {
    /// All rows of some vectors.
    ///
    /// # Errors
    /// [`Error::Shape`] for inconsistent rows.
    pub fn of(rows: &'a Vectors) -> Result<Self> {
        Ok(match rows {
            Vectors::Dense(matrix) => Block::Dense(matrix.view()?),
            Vectors::Sparse(matrix) => Block::Sparse(matrix.view()?),
        })
    }

    /// The rows at these indices, copied in their order.
    ///
    /// # Errors
    /// As for [`Vectors::of`].
    pub(crate) fn select(&self, rows: &[usize]) -> Result<Vectors> {
        on_view!(self, view => Vectors::of(view, rows))
    }

    /// Calls `visit(feature, value)` for each non-zero of a row, features ascending.
    pub(crate) fn for_each_nonzero(&self, row: usize, visit: impl FnMut(usize, f64)) {
        on_view!(self, view => view.for_each_nonzero(row, visit))
    }

    /// √W Φ Φᵀ √W.
    pub(crate) fn inner_products(&self, roots: &[f64], pool: &Pool) -> Matrix {
        self.products().inner_products(roots, pool)
    }

    /// Σ α φ.
    pub(crate) fn combination(&self, alphas: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.n_features()];
        for (row, alpha) in alphas.iter().enumerate().filter(|(_, alpha)| **alpha != 0.0) {
            self.for_each_nonzero(row, |feature, x| sums[feature] += alpha * x);
        }
        sums
    }

    /// The product of a row with weights of its features.
    pub(crate) fn dot(&self, row: usize, weights: &[f32]) -> f64 {
        let mut sum = 0.0;
        self.for_each_nonzero(row, |feature, value| sum += value * f64::from(weights[feature]));
        sum
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        on_view!(self, view => view.n_rows())
    }

    /// Number of features.
    pub fn n_features(&self) -> usize {
        on_view!(self, view => view.n_cols())
    }

    /// Its products.
    pub(super) fn products(&self) -> &dyn Products {
        on_view!(self, view => view)
    }

    /// Number of rows that stay in the second-level cache between [`Products::scores`] and [`Products::add_combination`].
    pub(super) fn panel_rows(&self) -> usize {
        const BYTES: usize = 512 << 10;
        let row = 4 * self.products().n_values() / self.n_rows().max(1);
        // With fewer than 24 rows, reading and writing the sums would dominate.
        (BYTES / row.max(1)).clamp(24, 256) / 4 * 4
    }

    /// sums_j += Σ_i factors_i φ_ij² over a range of rows.
    pub(super) fn add_squares(&self, first: usize, factors: &[f32], sums: &mut Sums) {
        for (row, &factor) in factors.iter().enumerate().filter(|(_, factor)| **factor != 0.0) {
            self.for_each_nonzero(first + row, |column, x| sums.wide[column] += f64::from(factor) * x * x);
        }
    }

    /// The error for the first value that single precision cannot work with, if any.
    pub(super) fn check(&self, first_row: usize) -> Result<()> {
        for row in 0..self.n_rows() {
            let mut bad = None;
            self.for_each_nonzero(row, |column, value| {
                // Also false for NaN.
                let usable = value.abs() < LARGEST;
                if !usable && bad.is_none() {
                    bad = Some((column, value));
                }
            });
            if let Some((column, value)) = bad {
                let problem = if value.is_finite() {
                    "is too large for single precision: scale the features"
                } else {
                    "is not a finite number: remove or impute it"
                };
                return Err(Error::Value { row: first_row + row, column, value, problem });
            }
        }
        Ok(())
    }
}
