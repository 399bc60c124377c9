//! Linear models of features that workers hold.

use super::assess::assess;
use super::choose_rows::stand_ins;
use super::origin::TrainingSettings;
use crate::data::{DenseView, Label, Labels};
use crate::error::Result;
use crate::instant::Instant;
use crate::monitor::Monitor;
use crate::partition::{Executor, Workers};
use crate::problem::{
    Block, BlockObjective, HeldOut, HeldOutScores, LinearProblem, LinearRows, Objective, OneVsRest, Shape,
};
use crate::solve::newton::{self, NewtonSettings, NewtonSolution};
use crate::solve::{Calibration, EstimateMethod, Report, Stage};
use crate::tuning::COMPARISON_TOL;

/// The labels of all samples, in their order, and their weights.
#[derive(Clone, Copy, Debug)]
pub struct WeightedLabels<'a> {
    /// The labels.
    pub labels: &'a Labels,
    /// Sample weights times class weights.
    pub weights: &'a [f64],
    /// Sample weights alone.
    pub sample_weights: &'a [f64],
}

/// What precedes the solution of a fit on workers, for its model.
#[derive(Clone, Debug)]
pub struct Preparation {
    /// How the bases were selected.
    pub basis: String,
    /// Their training rows; empty for explicit bases, and for means of samples.
    pub basis_rows: Vec<usize>,
    /// The parameters of the fit.
    pub training: TrainingSettings,
    /// The stages so far, to which the solution appends its own.
    pub stages: Vec<Stage>,
}

impl WeightedLabels<'_> {
    /// The classes, in the order of the problems.
    pub(crate) fn classes(&self) -> Vec<Label> {
        self.labels.classes().to_vec()
    }

    /// Samples of weight above 0.
    pub(crate) fn n_present(&self) -> usize {
        self.weights.iter().filter(|weight| **weight > 0.0).count()
    }
}

/// Features of some rows in this process, and the numbers of these rows: directions come from their Hessian, and the
/// workers evaluate only values and gradients.
pub type BroughtRows<'a> = (&'a [usize], DenseView<'a, f32>);

/// A solution, with its account.
pub(super) struct Solved {
    pub solution: NewtonSolution,
    pub shape: Shape,
    pub report: Report,
    pub calibration: Calibration,
}

/// Minimizes over the rows that workers hold, whose costs are `c` times their weights.
pub(super) fn solve(
    workers: impl Workers,
    labeled: WeightedLabels<'_>,
    brought: Option<BroughtRows<'_>>,
    (c, settings): (f64, &NewtonSettings),
    mut stages: Vec<Stage>,
    monitor: &Monitor<'_>,
) -> Result<Solved> {
    let started = Instant::now();
    let costs: Vec<f64> = labeled.weights.iter().map(|weight| c * weight).collect();
    let some = brought.map(|(picked, features)| (stand_ins(picked, labeled.labels, &costs), Block::from(features)));
    let mut rows = Objective::of_workers(workers, monitor)?;
    let (shape, mut first) = (rows.shape(), None);
    if let Some(((codes, costs), block)) = &some {
        let targets = OneVsRest::of(labeled.labels).with_codes(codes);
        let problem = LinearProblem { targets, costs, loss: shape.loss, intercept: shape.intercept };
        let here = || BlockObjective::new(*block, problem, settings.threads);
        first = Some(newton::solve(&mut Objective::in_memory(here()?), settings, None, monitor)?);
        rows = rows.sampled(here()?)?;
    }
    let start = first.as_ref().map(NewtonSolution::start);
    let solution = newton::solve(&mut rows, settings, start, monitor)?;
    let mut held_out = held_out_scores(&mut rows, settings, monitor)?;
    stages.push(Stage { name: "solve".into(), seconds: started.elapsed().as_secs_f64() });
    let mut report = solution.report(stages, settings);
    held_out.weights.iter_mut().for_each(|weight| *weight /= c);
    let WeightedLabels { labels, sample_weights, .. } = labeled;
    let calibration = assess(&mut report, &held_out, labels, sample_weights, EstimateMethod::HeldOut);
    Ok(Solved { solution, shape, report, calibration })
}

/// Held-out decision values of some rows: a fit without them. It starts at 0: at a small C the gap is small at the
/// solution of all rows already, whose weights know these.
fn held_out_scores(
    rows: &mut Objective<'_, impl Executor<LinearRows>>,
    settings: &NewtonSettings,
    monitor: &Monitor<'_>,
) -> Result<HeldOutScores> {
    if monitor.ask().is_err() {
        return Ok(HeldOutScores::default());
    }
    rows.hold_out()?;
    let settings = NewtonSettings { tol: settings.tol.max(COMPARISON_TOL), ..*settings };
    let without = newton::solve(rows, &settings, None, monitor)?;
    rows.ask(&HeldOut { intercepts: without.intercepts })
}
