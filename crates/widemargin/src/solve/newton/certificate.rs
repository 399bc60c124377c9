//! Lower bounds on the minimum.
//!
//! For any α ≥ 0, of any sign for the squared loss (and Σ α_i y_i = 0 if the intercept is unpenalized) the dual
//! objective Σ_i −c_i loss*(−α_i/c_i) − ½‖Σ α_i y_i φ_i‖² is at most the minimum. The gradient's sums are those of α_i
//! = −c_i loss′(margin_i), whatever the scores behind the margins: rounding errors in the scores cost tightness, not
//! validity. Before each gradient the unpenalized intercept is set such that Σ α y = 0, so these α are feasible.
//!
//! For squared hinge θα is also feasible for any θ ≥ 0, and with A = Σ α, L = Σ α²/4c the best θ gives A² / (2‖v‖² +
//! 4L). The same holds of the squared loss, for any θ; there A is the conjugate without its part L. At the solution the
//! gap between objective and bound is ½‖∇‖².

use crate::problem::{Intercept, Loss, PointSums, Shape};

/// Σ α y relative to Σ α that counts as 0 in a certificate (decision 0028).
const CERTIFICATE_BALANCE_TOL: f64 = 1e-9;

/// A lower bound on the minimum from the sums at a point; `slope` is the gradient of the losses at the point, features
/// and then intercept.
pub(super) fn dual_bound(shape: &Shape, sums: &PointSums, slope: &[f64]) -> f64 {
    let mut quadratic: f64 = slope[..shape.n_features].iter().map(|v| v * v).sum();
    match shape.intercept {
        Intercept::Penalized => quadratic += sums.balance * sums.balance,
        // α = 0 is always feasible, and its dual objective is 0.
        Intercept::Free if sums.balance.abs() > CERTIFICATE_BALANCE_TOL * sums.dual_norm => return 0.0,
        _ => (),
    }
    let bound = match shape.loss {
        Loss::SquaredHinge if sums.dual_norm > 0.0 => {
            sums.dual_norm * sums.dual_norm / (2.0 * quadratic + 4.0 * sums.value)
        }
        Loss::SquaredError if sums.value > 0.0 => {
            (sums.conjugate + sums.value).powi(2) / (2.0 * quadratic + 4.0 * sums.value)
        }
        _ => sums.conjugate - 0.5 * quadratic,
    };
    bound.max(0.0)
}
