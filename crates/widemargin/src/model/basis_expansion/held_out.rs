//! The error on samples that a second fit, at the same C, does not see: where C was selected on some of many samples, their
//! leave-one-out error says little about a fit on all.

use std::collections::HashSet;

use super::hessian_rows::choose_hessian_rows;
use super::solver::Solver;
use super::start::Start;
use crate::data::{DenseMatrix, DenseView, Labels};
use crate::error::Result;
use crate::monitor::Monitor;
use crate::problem::OneVsRest;

/// At most this many samples are held out, and at most a tenth: the standard error of an accuracy of 95 % is .5 points.
const MOST: usize = 2000;

/// The relative duality gap of the second fit.
const TOL: f64 = 1e-2;

/// What the fit on all samples knows.
pub(super) struct FitOnAll<'a> {
    pub phi: &'a DenseMatrix<f32>,
    pub labels: &'a Labels,
    /// Effective weights.
    pub weights: &'a [f64],
    /// C times these.
    pub costs: &'a [f64],
    /// The rows of φ whose samples are bases, which must not be held out: their similarity to themselves is not that of a
    /// new sample.
    pub bases: &'a HashSet<usize>,
    /// The solution, where the second fit starts.
    pub start: Start,
}

/// The fraction of the samples held out that is misclassified by a fit on the others; none if nothing can be held out.
/// The second fit starts at the solution on all, and takes about as long as a few of its steps.
///
/// # Errors
/// As for the fit on all samples.
pub(super) fn held_out_error(
    all: FitOnAll<'_>,
    solver: &Solver,
    seed: u64,
    monitor: &Monitor<'_>,
) -> Result<Option<f64>> {
    let FitOnAll { phi, labels, weights, costs, bases, start } = all;
    let eligible: Vec<f64> = (0..weights.len()).map(|i| if bases.contains(&i) { 0.0 } else { weights[i] }).collect();
    let n_wanted = MOST.min(weights.len() / 10);
    let held = choose_hessian_rows(labels, &eligible, n_wanted, seed.wrapping_add(1));
    if held.is_empty() {
        return Ok(None);
    }
    let mut rest = costs.to_vec();
    held.iter().for_each(|&row| rest[row] = 0.0);
    let solution = solver.starting_at(start, TOL).solve(phi, labels, &rest, &monitor.without_progress())?;
    let rows: DenseView<'_, f32> = phi.view()?;
    let dot = |row: usize, weights: &[f32]| -> f64 {
        rows.row(row).iter().zip(weights).map(|(x, w)| f64::from(*x) * f64::from(*w)).sum()
    };
    let (mut wrong, mut total) = (0.0, 0.0);
    for &row in &held {
        let of = |(weights, intercept): (&[f32], &f64)| dot(row, weights) + intercept;
        let scores: Vec<f64> = solution.weights.chunks(phi.n_cols.max(1)).zip(&solution.intercepts).map(of).collect();
        total += weights[row];
        if OneVsRest::decide(&scores) != labels.codes()[row] as usize {
            wrong += weights[row];
        }
    }
    Ok(Some(wrong / total))
}
