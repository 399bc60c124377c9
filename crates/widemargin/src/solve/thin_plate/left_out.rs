//! Leave-one-out in closed form, from the factorisation at the solution.

use super::newton::Solution;
use super::system::{System, Target};
use crate::error::Result;
use crate::problem::OneVsRest;

/// Below this a left-out sample's score is not determined by the others.
const UNDETERMINED: f64 = 1e-10;

/// The decision value of every sample when it is left out (of a sample of weight w, the part `units[i]`: one
/// copy), as long as leaving it out does not change who violates the margin; `None` unless converged.
pub(crate) fn left_out<S: System>(
    system: &S,
    lambda: f64,
    target: Target<'_>,
    units: &[f64],
    solution: &Solution<S::Factor>,
) -> Result<Option<Vec<f64>>> {
    let Some(factor) = solution.factor.as_ref() else { return Ok(None) };
    let leverages = system.leverages(lambda, &solution.violators, factor)?;
    let scores = &solution.point.scores;
    let mut values: Vec<f64> = scores.iter().zip(target.roots).map(|(z, root)| z / root).collect();
    for (&i, leverage) in solution.violators.iter().zip(leverages) {
        // With A the bordered matrix of the violators this is the paper's 1 − y_i α_i / [A⁻¹]_ii, since
        // y_i α_i = ξ_i / λ and λ [A⁻¹]_ii = 1 − leverage.
        let kept = 1.0 - units[i] / (target.roots[i] * target.roots[i]) * leverage;
        let slack = target.slack(scores, i) / target.roots[i];
        let margin = if kept > UNDETERMINED { 1.0 - slack / kept } else { 0.0 };
        values[i] = target.signs[i] * margin;
    }
    Ok(Some(values))
}

/// Mean squared hinge over samples and problems, and the share of samples of the wrong class, of left-out
/// decision values (a vector a problem), samples counting by weight.
pub(crate) fn means(values: &[Vec<f64>], targets: &OneVsRest<'_>, codes: &[u32], weights: &[f64]) -> (f64, f64) {
    let total: f64 = weights.iter().sum();
    let (mut hinge, mut wrong) = (0.0, 0.0);
    let mut row = vec![0.0; values.len()];
    for (i, weight) in weights.iter().enumerate() {
        for (problem, values) in values.iter().enumerate() {
            row[problem] = values[i];
            hinge += weight * (1.0 - targets.sign(i, problem) * values[i]).max(0.0).powi(2);
        }
        if OneVsRest::decide(&row) != codes[i] as usize {
            wrong += weight;
        }
    }
    (hinge / (total * values.len() as f64), wrong / total)
}
