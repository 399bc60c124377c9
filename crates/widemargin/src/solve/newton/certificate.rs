//! Lower bounds of the minimum.
//!
//! For any α ≥ 0 (and Σ α_i y_i = 0 where the intercept is free) the dual objective
//! Σ_i −c_i loss*(−α_i/c_i) − ½‖Σ α_i y_i φ_i‖² is at most the minimum. The gradient's own sums are those of
//! α_i = −c_i loss′(margin_i), whatever the scores behind the margins: rounding in the scores costs tightness, not
//! validity. Before each gradient the free intercept is put where Σ α y = 0, so these α are allowed.
//!
//! For squared hinge θα is as good an α for any θ ≥ 0, and with A = Σ α, L = Σ α²/4c the best θ gives
//! A² / (2‖v‖² + 4L). At the solved problem the gap between objective and bound is ½‖∇‖².

use crate::problem::{Intercept, PointSums, Shape, SmoothLoss};

/// What Σ α y may be, relative to Σ α, to count as 0: the bound moves by less than rounding.
const BALANCED: f64 = 1e-9;

/// A lower bound of the minimum from the sums at a point; `slope` is the point's share of the gradient of the
/// losses, features and then intercept.
pub(super) fn dual_bound(shape: &Shape, sums: &PointSums, slope: &[f64]) -> f64 {
    let mut quadratic: f64 = slope[..shape.n_features].iter().map(|v| v * v).sum();
    match shape.intercept {
        Intercept::Penalised => quadratic += sums.balance * sums.balance,
        // α = 0 is always allowed, and its dual objective is 0.
        Intercept::Free if sums.balance.abs() > BALANCED * sums.pull => return 0.0,
        _ => (),
    }
    let bound = match shape.loss {
        SmoothLoss::SquaredHinge if sums.pull > 0.0 => sums.pull * sums.pull / (2.0 * quadratic + 4.0 * sums.value),
        _ => sums.conjugate - 0.5 * quadratic,
    };
    bound.max(0.0)
}

/// (primal − dual) / primal; both zero (nothing to learn, nothing lost) is a gap of 0.
pub(super) fn relative_gap(primal: f64, dual: f64) -> f64 {
    // Not with `max`, which passes over NaN.
    let gap = if primal <= 0.0 { 0.0 } else { (primal - dual) / primal };
    if gap < 0.0 { 0.0 } else { gap }
}
