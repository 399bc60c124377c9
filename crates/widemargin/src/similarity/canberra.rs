//! The Canberra distance as a similarity: `canberra`, each feature by its own size.
//!
//! d(x, y) = Σ_j |x_j − y_j| / (|x_j| + |y_j|), where 0 / 0 is 0 (Lance and Williams 1967): between 0 and the number of
//! features, whatever their units. s = exp(−gamma d) is positive definite, since 1 − |x − y| / (|x| + |y|) is: it is
//! 2 min(|x|, |y|) / (|x| + |y|) for numbers of one sign, a product of the kernels min(|x|, |y|) and 1 / (|x| + |y|),
//! and 0 for others.

use super::distances::sums_of_all_terms;
use crate::data::Vectors;
use crate::error::Result;

/// |x − y| / (|x| + |y|), where 0 / 0 counts as 0.
pub(super) fn term(x: f64, y: f64) -> f64 {
    if x == y { 0.0 } else { (x - y).abs() / (x.abs() + y.abs()) }
}

/// block\[sample\]\[basis\] = d, in single precision.
pub(super) fn distances(bases: &Vectors, samples: &Vectors, block: &mut [f32]) -> Result<()> {
    // Halves, whose sum does not overflow; 0 / 0 counts as 0.
    let term = |x: f32, y: f32| (0.5 * x - 0.5 * y).abs() / (0.5 * x.abs() + 0.5 * y.abs()).max(f32::MIN_POSITIVE);
    // A feature of one vector alone counts 1.
    sums_of_all_terms(bases, samples, block, term, |x, y| 2.0 - term(x, y), |_| 1.0)
}
