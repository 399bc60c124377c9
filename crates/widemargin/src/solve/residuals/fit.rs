//! The fit of all outputs: ε, C, and the solutions.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::spread::{quantile, spread};
use crate::data::Checkpoint;
use crate::error::{Error, Result};
use crate::linalg::factor::Matrix;
use crate::memory::product;
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::problem::{Loss, ProblemTargets, SmoothLoss, n_independent, typical_weight};
use crate::solve::newton::line_search::{SlopeAt, find_zeros};
use crate::solve::ridge::{Fitted, roots};
use crate::solve::thin_plate::memory::streamed_bytes;
use crate::solve::thin_plate::{
    self, BlockStorage, FeatureMap, FitSettings, LossSettings, PathOptions, Polynomials, RowData, Run, Stop, fit_blocks,
};
use crate::solve::{ProblemReport, Status, effective_number, explained_standard_error};
use crate::tuning::{
    HUBER_EPSILON_IN_SPREADS, LOWEST_LAMBDA_OF_OUTPUTS, MAX_STEPS_OF_OUTPUTS, N_FOLDS, SELECTION_TIME_SHARE,
};

/// Largest distance from a breakpoint of the loss that counts as solved, in units of the targets' range.
const MAX_CROSSING: f64 = 1e-10;

/// Σ of derivatives relative to that of their sizes that counts as 0 for the best constant (decision 0028).
const BALANCE_TOL: f64 = 1e-13;

/// The estimated loss on new samples at one C: by leave-one-out for the Huber and the squared ε-insensitive loss, by
/// five-fold cross-validation for the quantile loss.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LossPoint {
    /// C of ½‖w‖² + C Σ loss(y − f).
    #[serde(rename = "C")]
    pub c: f64,
    /// The weighted mean loss of each output, in the unit of its targets (quantile loss) or of their squares.
    pub loss: Vec<f64>,
    /// 1 − loss / loss of the best constant, averaged over the outputs that no constant fits exactly; 1 if there are
    /// none.
    pub d2: f64,
    /// The standard error of this D², with the loss of the constant assumed to be known.
    pub d2_std: f64,
}

/// The problem to fit.
#[derive(Clone, Copy)]
pub(crate) struct Samples<'a> {
    /// The targets of each output are divided by its scale; weights are above 0.
    pub fitted: &'a Fitted,
    pub scales: &'a [f64],
    pub has_intercept: bool,
}

/// Features of some rows times the roots of their weights, of the roots of all: one column per row.
pub(crate) type WeightedFeatures<'a> = &'a (dyn Fn(Range<usize>, &[f64]) -> Result<Matrix> + Sync);

/// The parameters.
#[derive(Clone, Copy)]
pub(crate) struct Choice {
    /// In the unit of the targets, as is C.
    pub loss: Loss,
    pub c: Option<f64>,
    /// Whether losses are estimated by fits without each fold, whatever the loss.
    pub by_folds: bool,
}

/// The fit.
#[derive(Default)]
pub(crate) struct Fit {
    /// Whether no constant fits an output.
    varies: bool,
    /// The weights of the features of the rows, one output after another, for the scaled targets.
    pub weights: Vec<f64>,
    /// Of the scaled targets.
    pub intercepts: Vec<f64>,
    /// ε of each output, in the unit of its targets; empty for the quantile loss.
    pub epsilons: Vec<f64>,
    pub c: f64,
    /// In the unit of the targets; one point for a fixed C.
    pub path: Vec<LossPoint>,
    /// Of the problems in the unit of the targets.
    pub problems: Vec<ProblemReport>,
}

impl Fit {
    /// Of outputs at the same C, each fitted alone.
    fn of_outputs(fits: Vec<Fit>) -> Self {
        let mut fits = fits.into_iter();
        let mut all = fits.next().unwrap_or_default();
        let mut n_varying = usize::from(all.varies);
        for fit in fits {
            for (point, own) in all.path.iter_mut().zip(fit.path) {
                point.loss.extend(own.loss);
                if fit.varies {
                    // The mean of those so far and this one.
                    let share = 1.0 / (n_varying as f64 + 1.0);
                    point.d2 += share * (own.d2 - point.d2);
                    point.d2_std += share * (own.d2_std - point.d2_std);
                }
            }
            n_varying += usize::from(fit.varies);
            all.weights.extend(fit.weights);
            all.intercepts.extend(fit.intercepts);
            all.problems.extend(fit.problems);
        }
        all
    }
}

/// Bytes that a fit of n rows of d features and k outputs takes in addition to the rows, on `threads` threads.
pub(crate) fn memory(loss: Loss, (n, d, k): (usize, usize, usize), threads: usize) -> u64 {
    // The targets by rows, and the multipliers of a rounded loss, for all rows and without each fold.
    let numbers = if loss.is_smooth() { 1 } else { 3 + N_FOLDS as usize };
    streamed_bytes(n, 0, d, 1, k, threads).0.saturating_add(product(&[8, n, numbers, k]))
}

/// A fit of some settings, for which rows are the same: the name is that of its log in a checkpoint.
pub(crate) type Solve<'a> = &'a mut dyn FnMut(&FitSettings, &'static str, &Monitor<'_>) -> Result<thin_plate::Fitted>;

/// Rows that come in blocks, from memory or in passes.
pub(crate) fn fit_in_blocks(
    (features, n_features): (WeightedFeatures<'_>, usize),
    samples: Samples<'_>,
    choice: Choice,
    (pool, checkpoint): (&Pool, Option<&dyn Checkpoint>),
    monitor: &Monitor<'_>,
) -> Result<Fit> {
    let Fitted { targets, weights, units } = samples.fitted;
    let (k, n) = (targets.n_rows(), targets.n_cols());
    if let (Loss::Quantile { .. }, Some(_), 2..) = (choice.loss, choice.c, k) {
        // Their intercepts may be any of an interval: each is that of its output alone.
        let alone = |output: usize| {
            let own = Matrix::from_columns((0..n).map(|row| targets.at(output, row)).collect(), 1, n);
            let fitted = &Fitted { targets: own, weights: weights.clone(), units: units.clone() };
            let samples = Samples { fitted, scales: &samples.scales[output..=output], ..samples };
            fit_in_blocks((features, n_features), samples, choice, (pool, checkpoint), monitor)
        };
        return Ok(Fit::of_outputs((0..k).map(alone).collect::<Result<_>>()?));
    }
    let (roots, targets) = (roots(weights), ProblemTargets::Outputs { values: targets.values(), n_outputs: k });
    let row_data = RowData { targets, roots: &roots, units };
    let raw = |rows: Range<usize>, with_features: bool| {
        let ones = Matrix::from_columns(roots[rows.clone()].to_vec(), 1, rows.len());
        Ok((if with_features { features(rows, &roots)? } else { Matrix::default() }, ones))
    };
    fit(samples, choice, monitor, &mut |settings, name, monitor| {
        // The multipliers of a rounded loss, and the state of a fit without a fold, are no part of a log.
        let checkpoint = checkpoint.filter(|_| choice.loss.is_smooth() && !settings.path.by_folds);
        let checkpoint = checkpoint.map(|checkpoint| (checkpoint, name));
        let storage = BlockStorage { n_cached: 0, lifts: false, checkpoint };
        let run = Run { settings, pool, monitor };
        fit_blocks(&raw, FeatureMap::identity(n_features), (row_data, &[0.0]), storage, run, || Ok(()))
    })
}

/// Fits all outputs.
///
/// # Errors
/// [`Error::Parameter`] if C is to be chosen and there is no estimate; [`Error::Cancelled`]; those of `solve`.
pub(crate) fn fit(samples: Samples<'_>, choice: Choice, monitor: &Monitor<'_>, solve: Solve<'_>) -> Result<Fit> {
    let Samples { fitted: Fitted { targets, weights, units }, scales, has_intercept } = samples;
    let (targets, k) = (targets.transposed(), targets.n_rows());
    // In the unit of its targets, each of the other losses is the scale's square times that of the scaled targets, as
    // ½‖w‖² is; the quantile loss is the scale times, so that C is divided by it.
    let is_quantile = matches!(choice.loss, Loss::Quantile { .. });
    let mean_scale = if is_quantile { scales.iter().sum::<f64>() / k as f64 } else { 1.0 };
    let in_unit = |output: usize| scales[output] * if is_quantile { 1.0 } else { scales[output] };
    let (fixed, total) = (choice.c.map(|c| c / mean_scale), weights.iter().sum::<f64>());
    let size = |output: usize| {
        let sum: f64 = targets.col(output).iter().zip(weights).map(|(y, weight)| weight * y.abs()).sum();
        if sum > 0.0 { sum / total } else { 1.0 }
    };
    let constants = |losses: &[Loss]| -> Result<Vec<f64>> {
        let of_output = |(output, &loss)| loss_of_constant(loss, targets.col(output), weights, has_intercept);
        losses.iter().enumerate().map(of_output).collect()
    };
    let settings = |losses: &[Loss], by_folds: bool| -> Result<FitSettings> {
        let smooth = |(output, &loss): (usize, &Loss)| {
            let factor = if is_quantile { mean_scale / scales[output] } else { 1.0 };
            SmoothLoss { factor, unit: size(output) / factor, ..SmoothLoss::new(loss) }
        };
        Ok(FitSettings {
            polynomials: if has_intercept { Polynomials::Free } else { Polynomials::None },
            path: PathOptions { c: fixed, refines: !is_quantile, by_folds, ..PathOptions::default() },
            lowest: LOWEST_LAMBDA_OF_OUTPUTS,
            stop: Stop { max_steps: MAX_STEPS_OF_OUTPUTS, tol: MAX_CROSSING },
            typical_weight: typical_weight(units),
            start: Vec::new(),
            losses: LossSettings {
                losses: losses.iter().enumerate().map(smooth).collect(),
                constants: constants(losses)?,
            },
        })
    };

    // ε in units of the scales: fixed, or from the residuals of a first fit.
    let n = total.max(1.0);
    let (first, in_spreads): (Option<Vec<Loss>>, f64) = match choice.loss {
        // As if residuals were the targets themselves.
        Loss::Huber { epsilon: None } => {
            let wide = |output| above_zero(HUBER_EPSILON_IN_SPREADS * spread(targets.col(output), weights));
            (Some((0..k).map(|output| choice.loss.with_epsilon(wide(output))).collect()), HUBER_EPSILON_IN_SPREADS)
        }
        Loss::SquaredEpsilonInsensitive { epsilon: None } => {
            (Some(vec![choice.loss.with_epsilon(0.0); k]), 3.0 * (n.ln() / n).sqrt())
        }
        _ => (None, 0.0),
    };
    let losses: Vec<Loss> = match (first, choice.loss.epsilon()) {
        (Some(first), _) => {
            let choosing = monitor.with_part_of_time(SELECTION_TIME_SHARE);
            let left = solve(&settings(&first, choice.by_folds)?, "first", &choosing)?.outcome.best.some;
            let of_output = |output: usize| {
                let known = left.values.chunks(k).zip(&left.weights).map(|(of_row, weight)| (of_row[output], *weight));
                let (left, weights): (Vec<f64>, Vec<f64>) = known.filter(|(residual, _)| residual.is_finite()).unzip();
                let epsilon = in_spreads * spread(&left, &weights);
                if matches!(choice.loss, Loss::Huber { .. }) { above_zero(epsilon) } else { epsilon }
            };
            (0..k).map(|output| choice.loss.with_epsilon(of_output(output))).collect()
        }
        (None, Some(epsilon)) => scales.iter().map(|scale| choice.loss.with_epsilon(epsilon / scale)).collect(),
        (None, None) => vec![choice.loss; k],
    };

    let unknown = |thin_plate::Fitted { outcome, .. }: &thin_plate::Fitted| {
        outcome.best.point.loo_squared_hinge.is_none() && outcome.best.is_converged() && !outcome.cut
    };
    let mut fitted = solve(&settings(&losses, choice.by_folds)?, "losses", monitor)?;
    if choice.c.is_none() && !choice.by_folds && unknown(&fitted) {
        // Where no loss curves at a solution, as at targets that are all beyond ε, leave-one-out is undetermined.
        fitted = solve(&settings(&losses, true)?, "folds", monitor)?;
    }
    let is_unknown = unknown(&fitted);
    let thin_plate::Fitted { alpha, beta, outcome, .. } = fitted;
    let best = &outcome.best;
    // Without the only sample there are no folds; a fit that was stopped has no estimate either.
    let is_alone = is_quantile && n_independent(weights, units) < 2;
    if choice.c.is_none() && (is_alone || is_unknown) {
        let expected = format!(
            "a number above 0, or more samples (n_samples = {}): without some of its samples there is nothing left to fit, \
             which the choice of C needs",
            targets.n_rows()
        );
        return Err(Error::parameter("C", "auto", expected));
    }
    let c = choice.c.unwrap_or(best.point.c * mean_scale);
    let problem = |(output, solved): (usize, &thin_plate::Solved)| {
        let square = scales[output].powi(2);
        ProblemReport {
            status: if outcome.raised.is_some() { Status::PrecisionLimit } else { solved.status },
            iterations: solved.steps,
            primal: square * best.point.c * solved.objective,
            dual: square * solved.dual,
            n_support: u32::try_from(solved.n_inside).unwrap_or(u32::MAX),
        }
    };
    let references = constants(&losses)?;
    let n_effective = effective_number(weights, units);
    let path = outcome.path.iter().filter(|_| !is_alone).filter_map(|point| {
        let loss = point.of_outputs.iter().enumerate().map(|(output, [loss, _])| in_unit(output) * loss).collect();
        Some(LossPoint {
            c: choice.c.unwrap_or(point.c * mean_scale),
            loss,
            d2: 1.0 - point.loo_squared_hinge?,
            d2_std: explained_standard_error(&point.of_outputs, &references, n_effective),
        })
    });
    // Not rounded by the scale where it was given.
    let of_output = |output: usize| losses[output].epsilon().map(|epsilon| epsilon * scales[output]);
    let epsilon = |output: usize| choice.loss.epsilon().or_else(|| of_output(output));
    let intercept = |beta: &Vec<f64>| if has_intercept { beta.first().copied().unwrap_or(0.0) } else { 0.0 };
    Ok(Fit {
        varies: references.iter().any(|constant| *constant > 0.0),
        weights: alpha.concat(),
        intercepts: beta.iter().map(intercept).collect(),
        epsilons: (0..k).filter_map(epsilon).collect(),
        c,
        path: path.collect(),
        problems: best.solutions.iter().enumerate().map(problem).collect(),
    })
}

/// ε where all residuals are 0: any will do.
fn above_zero(epsilon: f64) -> f64 {
    if epsilon > 0.0 { epsilon } else { 1.0 }
}

/// The weighted mean loss of the best constant, or of 0 without an intercept.
fn loss_of_constant(loss: Loss, targets: &[f64], weights: &[f64], has_intercept: bool) -> Result<f64> {
    let mut constant = [0.0];
    match loss {
        _ if !has_intercept => {}
        Loss::Quantile { quantile: q } => constant = [quantile(targets.iter().copied(), weights, q)],
        _ => find_zeros(&mut constant, vec![(f64::NEG_INFINITY, f64::INFINITY)], |_, places| {
            let (mut slope, mut curvature, mut size) = (0.0, 0.0, 0.0);
            for (y, weight) in targets.iter().zip(weights) {
                let at = SmoothLoss::new(loss).pieces(*y, 1.0, 0.0).at(y - places[0]);
                slope -= weight * at.pull;
                size += weight * at.pull.abs();
                curvature += if at.is_active { *weight } else { 0.0 };
            }
            Ok(vec![SlopeAt { slope, curvature, tolerance: BALANCE_TOL * size }])
        })?,
    }
    let losses = targets.iter().zip(weights).map(|(y, weight)| weight * loss.value(*y, constant[0]));
    Ok(losses.sum::<f64>() / weights.iter().sum::<f64>())
}
