//! A block of rows of Φ, dense or sparse, and the products that an objective needs.

mod dense;
mod sparse;
mod sums;

pub(super) use sums::Sums;

use crate::data::{CsrView, DenseView, Rows, Vectors};
use crate::error::{Error, Result};
use crate::isa::Isa;
use crate::linalg::factor::{Matrix, add_gram};
use crate::linalg::{self, Panel};
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

/// Visits each feature of each problem, a few features at a time, so that two orders of their weights stay in the
/// first-level cache.
fn by_tiles(n_features: usize, n_problems: usize, mut visit: impl FnMut(usize, usize)) {
    const FEATURES: usize = 32;
    for first in (0..n_features).step_by(FEATURES) {
        for problem in 0..n_problems {
            (first..n_features.min(first + FEATURES)).for_each(|feature| visit(feature, problem));
        }
    }
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

    /// √W Φ Φᵀ √W. Dense: n²·D flops. Sparse: for each feature, 2 flops for each pair of rows that have it, the second
    /// not before the first.
    pub(crate) fn inner_products(&self, roots: &[f64], pool: &Pool) -> Matrix {
        let n = self.n_rows();
        let mut gram = Matrix::zeros(n, n);
        let view = match self {
            Block::Dense(view) => {
                add_gram(&mut gram, view.values(), roots, pool);
                return gram;
            }
            Block::Sparse(view) => view,
        };
        let mut by_feature: Vec<Vec<(u32, f64)>> = vec![Vec::new(); view.n_cols()];
        for (row, root) in roots.iter().enumerate() {
            view.for_each_nonzero(row, |feature, x| by_feature[feature].push((row as u32, root * x)));
        }
        let mut columns: Vec<&mut [f64]> = gram.values_mut().chunks_mut(n.max(1)).collect();
        pool.map_mut(&mut columns, |at, column| {
            view.for_each_nonzero(at, |feature, x| {
                let x = roots[at] * x;
                let from = by_feature[feature].partition_point(|&(row, _)| (row as usize) < at);
                by_feature[feature][from..].iter().for_each(|&(row, y)| column[row as usize] += x * y);
            });
        });
        gram.mirror_lower();
        gram
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

    /// Multiply-adds of one product of Φ with a vector.
    pub(super) fn n_values(&self) -> usize {
        match self {
            Block::Dense(view) => view.values().len(),
            Block::Sparse(view) => view.max_nonzeros(),
        }
    }

    /// The number of partial sums, added up afterwards, of rows that are cut into `n_shards`: a sum costs as much as
    /// the products of as many non-zeros as there are features, and sparse rows may have few non-zeros.
    pub(super) fn n_partial_sums(&self, n_shards: usize) -> usize {
        match self {
            Block::Dense(_) => n_shards,
            Block::Sparse(view) => n_shards.min((view.max_nonzeros() / (4 * view.n_cols()).max(1)).max(2)),
        }
    }

    /// Number of rows that stay in the second-level cache between [`Block::scores`] and [`Block::add_combination`].
    pub(super) fn panel_rows(&self) -> usize {
        const BYTES: usize = 512 << 10;
        let row = 4 * self.n_values() / self.n_rows().max(1);
        // With fewer than 24 rows, reading and writing the sums would dominate.
        (BYTES / row.max(1)).clamp(24, 256) / 4 * 4
    }

    /// Weights `[problem][feature]` (at intervals of `stride`) in the order and precision of the products.
    pub(super) fn pack(&self, points: &[f64], stride: usize) -> Vec<f32> {
        let d = self.n_features();
        match self {
            Block::Dense(_) => points.chunks(stride).flat_map(|point| &point[..d]).map(|&w| w as f32).collect(),
            Block::Sparse(_) => {
                let k = points.len() / stride;
                let mut packed = vec![0.0; d * k];
                by_tiles(d, k, |feature, p| packed[feature * k + p] = points[p * stride + feature] as f32);
                packed
            }
        }
    }

    /// out\[problem\]\[i\] = φ_{rows\[i\]} · w for packed weights.
    pub(super) fn scores(&self, rows: &[u32], packed: &[f32], out: &mut [f32]) {
        match self {
            Block::Dense(view) => {
                linalg::scores(Isa::best(), Panel::new(view.values(), view.n_cols(), rows), packed, out)
            }
            Block::Sparse(view) => sparse::scores(view, rows, packed, out),
        }
    }

    /// Adds Σ_i factors\[problem\]\[i\] φ_{rows\[i\]} to the sums.
    pub(super) fn add_combination(&self, rows: &[u32], factors: &[f32], sums: &mut Sums) {
        match self {
            Block::Dense(view) => dense::add_combination(view, rows, factors, sums),
            Block::Sparse(view) => sparse::add_combination(view, rows, factors, sums),
        }
    }

    /// Sums for this number of problems, all 0.
    pub(super) fn sums(&self, n_problems: usize) -> Sums {
        let n = self.n_features() * n_problems;
        let narrow = if matches!(self, Block::Dense(_)) { vec![0.0; n] } else { Vec::new() };
        Sums { n_problems, wide: vec![0.0; n], narrow, in_narrow: 0 }
    }

    /// The sums as `[problem][feature]`.
    pub(super) fn unpack(&self, mut sums: Sums) -> Vec<f64> {
        match self {
            Block::Dense(_) => {
                sums.flush();
                sums.wide
            }
            Block::Sparse(_) => {
                let (k, d) = (sums.n_problems, self.n_features());
                let mut out = vec![0.0; sums.wide.len()];
                by_tiles(d, k, |feature, p| out[p * d + feature] = sums.wide[feature * k + p]);
                out
            }
        }
    }

    /// Cost of [`Block::gram`], in equivalent multiply-adds.
    pub(super) fn gram_cost(&self) -> f64 {
        match self {
            Block::Dense(view) => 0.5 * (view.n_rows() * view.n_cols()) as f64 * view.n_cols() as f64,
            Block::Sparse(view) => sparse::gram_cost(view),
        }
    }

    /// The lower triangle of Σ_i factors_i φ_i φ_iᵀ, row-major; `None` if the monitor says to stop.
    pub(super) fn gram(&self, factors: &[f32], pool: &Pool, monitor: &Monitor<'_>) -> Result<Option<Vec<f32>>> {
        match self {
            Block::Dense(view) => dense::gram(view, factors, pool, monitor),
            Block::Sparse(view) => sparse::gram(view, factors, pool, monitor),
        }
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
