//! Decision values of samples that a second fit, at the same C, does not see: they tell the error where C was selected on
//! some of many samples, whose leave-one-out error says little about a fit on all, and they calibrate probabilities.

use std::collections::HashSet;

use super::choose_c::Chosen;
use super::hessian_rows::choose_of_classes;
use super::solver::{Solution, Solver};
use super::start::Start;
use crate::data::Vectors;
use crate::error::Result;
use crate::monitor::Monitor;
use crate::problem::UnseenScores;
use crate::problem::{AnyLoss, Block, OneVsRest, Penalty};

/// At most this many samples are held out, and at most a tenth: the standard error of an accuracy of 95 % is .5 points.
pub(super) const MOST: usize = 2000;

/// The relative duality gap of the second fit.
pub(super) const TOL: f64 = 1e-2;

/// The same of solvers that cannot start at the solution.
const COLD_TOL: f64 = 5e-2;

/// Decision values that are wanted where all are of a fit without a tenth of few samples, and the most fits for them.
const WANTED: usize = 500;
const MOST_FITS: usize = 10;

/// Samples that a fit does not see: rows, each with the share of its weight that is held out.
pub(super) struct HeldOut(Vec<(usize, f64)>);

impl HeldOut {
    /// About `n_wanted` of the samples that may be held out, each class by size. A row stands for several samples where
    /// equal ones are merged, of which some are held out, as if they were rows of their own.
    pub fn choose(samples: Chosen<'_>, may: impl Fn(usize) -> bool, n_wanted: usize, seed: u64) -> Self {
        let Chosen { labels, weights, copies } = samples;
        let n_copies = |row: usize| (copies[row].round() as usize).clamp(1, MOST);
        let eligible = (0..weights.len()).filter(|&row| weights[row] > 0.0 && may(row));
        let rows: Vec<usize> = eligible.flat_map(|row| std::iter::repeat_n(row, n_copies(row))).collect();
        // Each class has its share: rare ones would count for more than they are.
        let held = choose_of_classes(&labels.select(&rows), &vec![1.0; rows.len()], n_wanted, 0, seed.wrapping_add(1));
        let held: Vec<usize> = held.into_iter().map(|at| rows[at]).collect();
        let share = |same: &[usize]| (same[0], same.len() as f64 / n_copies(same[0]) as f64);
        HeldOut(held.chunk_by(|a, b| a == b).map(share).collect())
    }

    /// How many rows they are of.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The costs of the others.
    pub fn rest(&self, mut costs: Vec<f64>) -> Vec<f64> {
        for &(row, share) in &self.0 {
            costs[row] = if share < 1.0 { costs[row] * (1.0 - share) } else { 0.0 };
        }
        costs
    }
}

/// What the fit on all samples knows.
pub(super) struct FitOnAll<'a> {
    pub phi: &'a Vectors,
    pub samples: Chosen<'a>,
    /// C times their weights.
    pub costs: &'a [f64],
    /// The rows of φ whose samples are bases, which must not be held out: their similarity to themselves is not that of a
    /// new sample.
    pub bases: &'a HashSet<usize>,
    /// The solution, where the second fit starts.
    pub start: Start,
}

/// How good a fit on the others is on samples held out, of those that may be; none if nothing can be held out, or time is up. The second fit
/// starts at the solution on all, and takes about as long as a few of its steps.
///
/// # Errors
/// As for the fit on all samples.
pub(super) fn judge_held_out(
    all: &FitOnAll<'_>,
    may: impl Fn(usize) -> bool,
    solver: &Solver,
    seed: u64,
    monitor: &Monitor<'_>,
) -> Result<Option<Judged>> {
    let FitOnAll { phi, samples, costs, start, .. } = all;
    // Each of few classes has one at least.
    let n_wanted = MOST.min(costs.len() / 10).max((2 * samples.labels.classes().len()).min(costs.len() / 2));
    let held = HeldOut::choose(*samples, may, n_wanted, seed);
    if held.len() == 0 {
        return Ok(None);
    }
    let (rest, quiet) = (held.rest(costs.to_vec()), monitor.without_progress());
    let tol = if is_warm(solver) { TOL } else { COLD_TOL };
    let solution = solver.starting_at(start.clone(), tol).solve(phi, samples.labels, &rest, &quiet)?;
    if monitor.ask().is_err() {
        return Ok(None);
    }
    judge(phi, *samples, &held, &solution).map(Some)
}

/// Whether a solver can start at a solution.
fn is_warm(solver: &Solver) -> bool {
    matches!(solver.loss, AnyLoss::Smooth(_)) && solver.penalty == Penalty::L2
}

/// Decision values of samples held out of a few more fits: one for many samples, up to ten for few. Bases are held out only
/// if all samples are bases.
///
/// # Errors
/// As for the fit on all samples.
pub(super) fn unseen_scores(
    all: &FitOnAll<'_>,
    solver: &Solver,
    seed: u64,
    monitor: &Monitor<'_>,
) -> Result<UnseenScores> {
    let mut scores = UnseenScores::default();
    let wanted = if is_warm(solver) { 10 * WANTED } else { 2 * WANTED };
    let n_fits = (wanted / all.costs.len().max(1)).clamp(1, MOST_FITS);
    for at in 0..n_fits as u64 {
        let seed = seed.wrapping_add(at);
        let is_new = |row: usize| !all.bases.contains(&row);
        let judged = match judge_held_out(all, is_new, solver, seed, monitor)? {
            None => judge_held_out(all, |_| true, solver, seed, monitor)?,
            judged => judged,
        };
        let Some(judged) = judged else { break };
        scores.extend(judged.scores);
    }
    Ok(scores)
}

/// How good a fit is on samples that it did not see.
pub(super) struct Judged {
    /// The share of their weight that is misclassified, or of several labels the share that is wrong.
    pub error: f64,
    /// The same of each of several labels.
    pub label_errors: Vec<f64>,
    /// Their mean squared hinge, over samples and problems.
    pub squared_hinge: f64,
    /// Their decision values.
    pub scores: UnseenScores,
}

/// Judges a solution by samples that were held out.
///
/// # Errors
/// [`Error::Shape`](crate::Error::Shape) for inconsistent rows.
pub(super) fn judge(phi: &Vectors, samples: Chosen<'_>, held: &HeldOut, solution: &Solution) -> Result<Judged> {
    Ok(judge_rows(Block::of(phi)?, samples, held, (&solution.weights, &solution.intercepts)))
}

/// The same for weights and intercepts.
pub(super) fn judge_rows(
    rows: Block<'_>,
    samples: Chosen<'_>,
    held: &HeldOut,
    (all_weights, intercepts): (&[f32], &[f64]),
) -> Judged {
    let Chosen { labels, weights, .. } = samples;
    let targets = OneVsRest::of(labels);
    let (mut wrong, mut hinge, mut total) = (0.0, 0.0, 0.0);
    let mut unseen = UnseenScores::default();
    for &(row, share) in &held.0 {
        let of = |(weights, intercept): (&[f32], &f64)| rows.dot(row, weights) + intercept;
        let scores: Vec<f64> = all_weights.chunks(rows.n_features().max(1)).zip(intercepts).map(of).collect();
        let slack = |(problem, score): (usize, &f64)| {
            targets.weight(row, problem) * (1.0 - targets.sign(row, problem) * score).max(0.0).powi(2)
        };
        let weight = share * weights[row];
        total += weight * targets.mean_weight(row);
        hinge += weight * scores.iter().enumerate().map(slack).sum::<f64>() / scores.len() as f64;
        wrong += weight * targets.mistakes(row, &scores);
        unseen.values.extend(scores);
        unseen.codes.push(labels.codes()[row]);
        unseen.weights.push(weight);
    }
    let k = targets.n_problems();
    let value = |problem: usize, at: usize| unseen.values[at * k + problem];
    let of_labels = targets.with_codes(&unseen.codes).label_mistakes(&unseen.weights, value);
    let label_errors = of_labels.iter().map(|[wrong, all]| wrong / all).collect();
    Judged { error: wrong / total, label_errors, squared_hinge: hinge / total, scores: unseen }
}
