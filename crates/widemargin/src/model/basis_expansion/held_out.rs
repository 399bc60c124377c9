//! Decision values of samples that refits at the same C do not see: they estimate the error and calibrate probabilities
//! where leave-one-out on all samples has not.

use super::choose_c::LabeledSamples;
use super::solver::Solver;
use crate::data::Vectors;
use crate::error::Result;
use crate::monitor::Monitor;
use crate::problem::{self, Block, HeldOutRows, HeldOutScores, OneVsRest, Penalty, count, n_independent};
use crate::tuning::{
    COMPARISON_TOL, HELD_OUT_VALUES, MAX_HELD_OUT, MAX_REFITS, SLOW_COMPARISON_TOL, SLOW_HELD_OUT_VALUES,
};

/// How many of `n` samples of `k` classes are held out of a fit: each of few classes has one at least.
pub(super) fn n_held_out(n: usize, k: usize) -> usize {
    MAX_HELD_OUT.min(n / 10).max((2 * k).min(n / 2))
}

/// The fit on all samples.
pub(super) struct FitOnAll<'a> {
    pub phi: &'a Vectors,
    pub samples: LabeledSamples<'a>,
    /// C times their weights.
    pub costs: &'a [f64],
    /// For each row of φ the features that compare with it, if it is a basis: a sample's similarity to itself is not
    /// that of a new sample, so that these are excluded with it.
    pub own_features: &'a dyn Fn(usize) -> Vec<usize>,
    /// Rows that are held out first, and how often each counts.
    pub judged: &'a problem::Judged,
}

/// Whether a solver takes few passes.
fn is_quick(solver: &Solver) -> bool {
    solver.loss.is_smooth() && solver.penalty == Penalty::L2
}

/// Decision values of samples held out of refits: of one for many samples, of up to ten for few, each without a tenth.
/// Where bases must be held out, the features that compare with them are too. Fewer, or none, if time is up. A refit
/// starts at 0: at a small C the gap is small at the solution on all already, whose weights know the samples.
///
/// # Errors
/// As for the fit on all samples.
pub(super) fn held_out_scores(
    all: &FitOnAll<'_>,
    solver: &Solver,
    seed: u64,
    monitor: &Monitor<'_>,
) -> Result<HeldOutScores> {
    let FitOnAll { phi, samples, costs, own_features, judged } = all;
    let mut scores = HeldOutScores::default();
    let (tol, wanted) =
        if is_quick(solver) { (COMPARISON_TOL, HELD_OUT_VALUES) } else { (SLOW_COMPARISON_TOL, SLOW_HELD_OUT_VALUES) };
    let LabeledSamples { labels, weights, units } = *samples;
    let n = n_independent(weights, units);
    let n_refits = (wanted / n.max(1)).clamp(1, MAX_REFITS);
    let (size, quiet) = (n_held_out(n, labels.classes().len()), monitor.without_progress());
    let is_spared = |row: usize| judged.units[row] <= 0.0;
    for held_out in HeldOutRows::sets(labels, (weights, units), is_spared, (size, n_refits), seed) {
        if monitor.ask().is_err() {
            break;
        }
        let features: Vec<usize> = held_out.whole_rows().flat_map(own_features).collect();
        let without = (!features.is_empty()).then(|| without_features(phi, &features));
        let phi = without.as_ref().unwrap_or(phi);
        let rest = held_out.rest(costs.to_vec());
        let solver = Solver { start: None, tol, ..solver.clone() };
        let solution = solver.solve(phi, labels, &rest, &quiet)?;
        if monitor.ask().is_err() {
            break;
        }
        let rows = Block::of(phi)?;
        let mut found = judge(rows, *samples, &held_out, (&solution.weights, &solution.intercepts)).scores;
        found.weights.iter_mut().zip(held_out.rows()).for_each(|(weight, row)| *weight *= judged.factors[row]);
        scores.extend(found);
    }
    Ok(scores)
}

/// A copy of the rows in which some features are 0.
fn without_features(phi: &Vectors, features: &[usize]) -> Vectors {
    let mut is_excluded = vec![false; phi.n_cols()];
    features.iter().for_each(|&feature| is_excluded[feature] = true);
    let mut phi = phi.clone();
    match &mut phi {
        Vectors::Dense(matrix) => {
            for row in matrix.values.chunks_mut(is_excluded.len().max(1)) {
                row.iter_mut().zip(&is_excluded).filter(|(_, out)| **out).for_each(|(x, _)| *x = 0.0);
            }
        }
        Vectors::Sparse(matrix) => {
            let entries = matrix.values.iter_mut().zip(&matrix.indices);
            entries.filter(|(_, column)| is_excluded[**column as usize]).for_each(|(x, _)| *x = 0.0);
        }
    }
    phi
}

/// How good a fit is on samples that it did not see.
pub(super) struct Judged {
    /// Their mean squared hinge, over samples and problems.
    pub squared_hinge: f64,
    /// Their decision values.
    pub scores: HeldOutScores,
}

/// Judges weights and intercepts by samples that were held out.
pub(super) fn judge(
    rows: Block<'_>,
    samples: LabeledSamples<'_>,
    held_out: &HeldOutRows,
    (all_weights, intercepts): (&[f32], &[f64]),
) -> Judged {
    let LabeledSamples { labels, weights, units } = samples;
    let (targets, d) = (OneVsRest::of(labels), rows.n_features());
    let (mut hinge, mut total) = (0.0, 0.0);
    let mut found = HeldOutScores::default();
    for (row, share) in held_out.shares() {
        let of = |(problem, intercept): (usize, &f64)| rows.dot(row, &all_weights[problem * d..][..d]) + intercept;
        let scores: Vec<f64> = intercepts.iter().enumerate().map(of).collect();
        let slack = |(problem, score): (usize, &f64)| {
            targets.weight(row, problem) * (1.0 - targets.sign(row, problem) * score).max(0.0).powi(2)
        };
        let weight = share * weights[row];
        total += weight * targets.mean_weight(row);
        hinge += weight * scores.iter().enumerate().map(slack).sum::<f64>() / scores.len() as f64;
        found.push(scores, labels.codes()[row], weight, (share * count(weights[row], units[row])).max(1.0));
    }
    Judged { squared_hinge: hinge / total, scores: found }
}
