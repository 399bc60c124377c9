//! Ridge regression with an unpenalized intercept, and leave-one-out in closed form for all outputs and all C at once.
//!
//! f = f₀ + Pβ minimizes ½‖f₀‖² + C Σ w (y − f)² for each output, where P has columns that are not penalized: the
//! constant, polynomials, or none. With R = diag(√w), λ = 1/(2C), RP = QT and the decomposition U S Uᵀ of (I − QQᵀ) RKR
//! (I − QQᵀ), the fitted values are R⁻¹ (QQᵀ + U S/(S + λ) Uᵀ) R y. The residual at i of the fit without one copy of
//! sample i, of weight u, is (y − f)ᵢ / (1 − u/wᵢ · hᵢ), where h is the diagonal of the matrix in parentheses: exact.
//!
//! One decomposition (9 m³ flops, m the smaller of the numbers of samples and features) serves all outputs and all C: of
//! a kernel between the samples (`Ridge`), or of the products of features. Of these only sums over the rows are needed,
//! and rows of U are made from the features a chunk at a time (2 n m² flops), so that no n × n matrix is: the features
//! may be in memory, computed from the samples at each of the passes (`ChunkedRows`), or elsewhere. Either way the rows
//! answer what the decomposed problem, a `PartedRidge`, requests of them.

mod features;
mod kernel;
mod part;
mod parts;
mod spectrum;

use std::ops::Range;

pub(crate) use features::FeatureRidge;
pub(super) use features::products;
pub(crate) use kernel::{KernelSolution, Ridge};
pub(crate) use part::{ChunkedRows, Chunks, Fitted, TakesFeatures};
pub use part::{RidgePart, RidgeRows};
pub use parts::RIDGE_QUERIES;
pub(crate) use parts::{FeatureSolution, PartedRidge, center_of};
pub(crate) use spectrum::{LeaveOneOut, Spectrum};
pub(super) use spectrum::{rounding_of_center, significant};

use crate::linalg::{self, Columns, add_gram};

/// Rows in a block.
pub(crate) const ROWS: usize = 1024;

/// Ranges of [`ROWS`] of n rows.
fn blocks(n: usize) -> impl Iterator<Item = Range<usize>> {
    (0..n).step_by(ROWS).map(move |first| first..(first + ROWS).min(n))
}

/// The root of each weight, by which rows of a least squares problem are multiplied.
pub(crate) fn roots(weights: &[f64]) -> Vec<f64> {
    weights.iter().map(|weight| weight.sqrt()).collect()
}

/// The products of rows of d features with each other (lower triangle) and with their k residuals.
fn products_of_block(block: &[f64], right: &[f64], d: usize, k: usize) -> (Vec<f64>, Vec<f64>) {
    let (mut gram, mut along) = (vec![0.0; d * d], vec![0.0; d * k]);
    add_gram(&mut gram, Columns::new(block, d.max(1), 0, d));
    let left = Columns::new(block, d.max(1), 0, d);
    linalg::add_cross_product(&mut along, left, Columns::new(right, k, 0, k));
    (gram, along)
}

#[cfg(test)]
mod tests;
