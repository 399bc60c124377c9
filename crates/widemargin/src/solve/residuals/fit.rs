//! The fit of all outputs: ε, C, and the solutions.

use super::folds::Folds;
use super::loss::Rounded;
use super::newton::{State, Task};
use super::parted_rows::PartedRows;
use super::path::{LossPoint, Moments, best, costs, walk};
use super::spread::{quantile, spread};
use crate::error::{Error, Result};
use crate::linalg::factor::Matrix;
use crate::memory;
use crate::monitor::Monitor;
use crate::problem::Loss;
use crate::solve::ProblemReport;
use crate::tuning::{
    C_PER_DECADE, HUBER_EPSILON_IN_SPREADS, N_FOLDS, PINBALL_C_PER_DECADE, PINBALL_TOL, RESIDUAL_TOL,
    SELECTION_TIME_SHARE,
};

/// Bytes a row of the state of an output, of a fold, and of all that is temporary: residuals, numbers on their way to
/// the rows and back, and lists of rows.
const STATE_BYTES: usize = 17;
const FOLD_BYTES: usize = 24;
const BYTES: usize = 160;

/// Squares of the features in addition to those of the outputs (their sum and its change, the Hessian, its factor and
/// the copy that goes to the rows), and those in flight for each thread.
const SQUARES: usize = 5;
const CHUNKS: usize = 5;

/// The problem to fit.
#[derive(Clone, Copy)]
pub(crate) struct Samples<'a, 'r> {
    pub rows: &'a PartedRows<'r>,
    /// Samples × outputs, each output divided by its scale.
    pub targets: &'a Matrix,
    pub scales: &'a [f64],
    /// Above 0.
    pub weights: &'a [f64],
    /// The part of each weight that is one copy.
    pub units: &'a [f64],
    pub has_intercept: bool,
}

/// The parameters.
#[derive(Clone, Copy)]
pub(crate) struct Choice {
    /// In the unit of the targets, as is C.
    pub loss: Loss,
    pub c: Option<f64>,
    /// Seed of the folds.
    pub seed: u64,
}

/// The fit.
pub(crate) struct Fit {
    /// The weights of the features of the rows, one output after another, for the scaled targets.
    pub weights: Vec<f64>,
    /// Of the scaled targets.
    pub intercepts: Vec<f64>,
    /// ε of each output, in the unit of its targets; empty for the pinball loss.
    pub epsilons: Vec<f64>,
    pub c: f64,
    /// In the unit of the targets; one point for a fixed C.
    pub path: Vec<LossPoint>,
    /// Of the problems in the unit of the targets.
    pub problems: Vec<ProblemReport>,
}

/// Bytes that a fit of n rows of d features and k outputs takes in addition to the rows, on `threads` threads, if the
/// rows are elsewhere.
pub(crate) fn memory(loss: Loss, (n, d, k): (usize, usize, usize), threads: usize) -> u64 {
    let of_folds = if matches!(loss, Loss::Quantile { .. }) { N_FOLDS as usize * FOLD_BYTES + 8 } else { 0 };
    let of_rows = memory::product(&[n, BYTES + k * (STATE_BYTES + of_folds)]);
    // The sums of a chunk of rows are stored until those of earlier chunks are added.
    of_rows.saturating_add(memory::product(&[8, d, d, k + SQUARES + CHUNKS * threads]))
}

/// Fits all outputs.
///
/// # Errors
/// [`Error::Parameter`] if C is to be chosen and there is no estimate; [`Error::Cancelled`].
pub(crate) fn fit(samples: Samples<'_, '_>, choice: Choice, monitor: &Monitor<'_>) -> Result<Fit> {
    let k = samples.targets.n_cols();
    let choosing = &monitor.with_part_of_time(SELECTION_TIME_SHARE);
    let patient = &choosing.without_time_limit().without_progress();
    let task = |output: usize, monitor| Task {
        rows: samples.rows,
        targets: samples.targets.col(output),
        weights: samples.weights,
        has_intercept: samples.has_intercept,
        monitor,
    };
    let is_pinball = matches!(choice.loss, Loss::Quantile { .. });
    let per_decade = if is_pinball { PINBALL_C_PER_DECADE } else { C_PER_DECADE };
    let grid = match choice.c {
        Some(_) => Vec::new(),
        None => costs(samples.rows, samples.weights, per_decade, monitor)?,
    };
    let losses: Vec<Loss> = (0..k)
        .map(|output| {
            let scale = samples.scales[output];
            let chosen = |first: fn(&Task<'_, '_>) -> Loss| {
                let task = task(output, patient);
                residual_spread(&task, first(&task), samples.units, choice.c, &grid, choosing)
            };
            let epsilon = match choice.loss {
                Loss::Huber { epsilon: None } => above_zero(HUBER_EPSILON_IN_SPREADS * chosen(wide_huber)?),
                Loss::SquaredEpsilonInsensitive { epsilon: None } => {
                    let n = samples.weights.iter().sum::<f64>().max(1.0);
                    3.0 * (n.ln() / n).sqrt() * chosen(|_| Loss::SquaredEpsilonInsensitive { epsilon: Some(0.0) })?
                }
                loss => match loss.epsilon() {
                    Some(epsilon) => epsilon / scale,
                    None => return Ok(loss),
                },
            };
            Ok(choice.loss.with_epsilon(epsilon))
        })
        .collect::<Result<_>>()?;
    // In the unit of its targets, each of the other losses is the scale's square times that of the scaled targets, as
    // ½‖w‖² is; the pinball loss is the scale times, so that C is divided by it.
    let factor = |output: usize| if is_pinball { 1.0 / samples.scales[output] } else { 1.0 };
    let mean_scale = if is_pinball { samples.scales.iter().sum::<f64>() / k as f64 } else { 1.0 };
    let costs: Vec<f64> = match choice.c {
        Some(c) => vec![c],
        None => grid.iter().map(|c| c * mean_scale).collect(),
    };
    let constant: Vec<f64> =
        (0..k).map(|output| loss_of_constant(&task(output, patient), losses[output])).collect::<Result<_>>()?;
    let path = if is_pinball {
        let mut folds: Vec<Option<Folds>> =
            (0..k).map(|_| Folds::new(samples.weights, choice.seed)).collect::<Result<_>>()?;
        walk(&costs, &constant, (samples.weights, samples.units), choosing, |c| {
            let of = |(output, folds): (usize, &mut Option<Folds>)| match folds {
                Some(folds) => folds.loss(&task(output, patient), losses[output], c * factor(output)),
                None => Ok([f64::INFINITY; 2]),
            };
            folds.iter_mut().enumerate().map(of).collect()
        })?
    } else {
        let mut states: Vec<State> = (0..k).map(|_| State::new(samples.rows)).collect();
        walk(&costs, &constant, (samples.weights, samples.units), choosing, |c| {
            let of = |(output, state): (usize, &mut State)| {
                leave_one_out_loss(&task(output, patient), losses[output], c, samples.units, state)
            };
            states.iter_mut().enumerate().map(of).collect()
        })?
    };
    let c = choice.c.or_else(|| best(&path)).ok_or_else(|| {
        let expected = format!(
            "a number above 0, or more samples (n_samples = {}): without some of its samples there is nothing left to fit, \
             which the choice of C needs",
            samples.targets.n_rows()
        );
        Error::parameter("C", "auto", expected)
    })?;
    let (mut weights, mut intercepts, mut problems) = (Vec::new(), Vec::new(), Vec::new());
    for (output, &loss) in losses.iter().enumerate() {
        let mut state = State::new(samples.rows);
        let tol = if is_pinball { PINBALL_TOL } else { RESIDUAL_TOL };
        let one = task(output, monitor).solve(loss, c * factor(output), &mut state, tol)?;
        let square = samples.scales[output].powi(2);
        problems.push(ProblemReport { primal: square * one.primal, dual: square * one.dual, ..one });
        let shift = samples.rows.shift(&state.point.weights);
        intercepts.push(if samples.has_intercept { state.point.intercept + shift } else { 0.0 });
        weights.extend(state.point.weights);
    }
    let in_unit = |output: usize| samples.scales[output] * if is_pinball { 1.0 } else { samples.scales[output] };
    let path = path.into_iter().map(|point| LossPoint {
        loss: point.loss.iter().enumerate().map(|(output, loss)| loss * in_unit(output)).collect(),
        ..point
    });
    // Not rounded by the scale where it was given.
    let of_output = |output: usize| losses[output].epsilon().map(|epsilon| epsilon * samples.scales[output]);
    let epsilon = |output: usize| choice.loss.epsilon().or_else(|| of_output(output));
    let epsilons = (0..k).filter_map(epsilon).collect();
    Ok(Fit { weights, intercepts, epsilons, c, path: path.collect(), problems })
}

/// Huber's loss for residuals that are the targets themselves.
fn wide_huber(task: &Task<'_, '_>) -> Loss {
    Loss::Huber { epsilon: Some(above_zero(HUBER_EPSILON_IN_SPREADS * spread(task.targets, task.weights))) }
}

/// ε where all residuals are 0: any will do.
fn above_zero(epsilon: f64) -> f64 {
    if epsilon > 0.0 { epsilon } else { 1.0 }
}

/// The spread of leave-one-out residuals, at the fixed C or the best one.
fn residual_spread(
    task: &Task<'_, '_>,
    loss: Loss,
    units: &[f64],
    c: Option<f64>,
    grid: &[f64],
    choosing: &Monitor<'_>,
) -> Result<f64> {
    let mut state = State::new(task.rows);
    let c = match c {
        Some(c) => c,
        None => {
            let constant = [loss_of_constant(task, loss)?];
            // Every other value will do.
            let coarse: Vec<f64> = grid.iter().step_by(2).copied().collect();
            let path = walk(&coarse, &constant, (task.weights, units), choosing, |c| {
                Ok(vec![leave_one_out_loss(task, loss, c, units, &mut state)?])
            })?;
            state = State::new(task.rows);
            best(&path).unwrap_or(grid[0])
        }
    };
    task.solve(loss, c, &mut state, RESIDUAL_TOL)?;
    let left = task.leave_one_out(Rounded { loss, width: 0.0 }, c, units, &mut state)?;
    // Undetermined leave-one-out residuals have no part in it.
    let known = left.into_iter().zip(of_left_out(task.weights, units)).filter(|(residual, _)| residual.is_finite());
    let (left, weights): (Vec<f64>, Vec<f64>) = known.unzip();
    Ok(spread(&left, &weights))
}

/// The weighted mean of the leave-one-out losses, starting at the state, and that of their squares.
fn leave_one_out_loss(task: &Task<'_, '_>, loss: Loss, c: f64, units: &[f64], state: &mut State) -> Result<Moments> {
    task.solve(loss, c, state, RESIDUAL_TOL)?;
    let left = task.leave_one_out(Rounded { loss, width: 0.0 }, c, units, state)?;
    Ok(loss_moments(loss, left.into_iter(), &of_left_out(task.weights, units)))
}

/// The weights of the samples that are left out, which have a unit above 0; 0 for the others.
fn of_left_out(weights: &[f64], units: &[f64]) -> Vec<f64> {
    weights.iter().zip(units).map(|(weight, unit)| if *unit > 0.0 { *weight } else { 0.0 }).collect()
}

/// The weighted mean loss of the best constant, or of 0 without an intercept.
fn loss_of_constant(task: &Task<'_, '_>, loss: Loss) -> Result<f64> {
    let constant = match loss {
        _ if !task.has_intercept => 0.0,
        Loss::Quantile { quantile: q } => quantile(task.targets.iter().copied(), task.weights, q),
        _ => {
            let mut state = State::new(task.rows);
            task.center(Rounded { loss, width: 0.0 }, &mut state)?;
            state.point.intercept
        }
    };
    let [mean, _] = loss_moments(loss, task.targets.iter().map(|y| y - constant), task.weights);
    Ok(mean)
}

/// The weighted mean of the losses, and that of their squares.
fn loss_moments(loss: Loss, residuals: impl Iterator<Item = f64>, weights: &[f64]) -> Moments {
    let total: f64 = weights.iter().sum();
    residuals.zip(weights).fold([0.0; 2], |[mean, squares], (residual, weight)| {
        let loss = loss.value(residual, 0.0);
        [mean + weight / total * loss, squares + weight / total * loss * loss]
    })
}
