//! Selection of C: a warm-started path in scale-free units, and the smallest leave-one-out loss on it.
//!
//! λ = 1/(2C) is measured in units of trace(G)/n, the mean of the projected kernel's diagonal: scaling the data or the
//! kernel affects neither the grid nor the result.

use serde::{Deserialize, Serialize};

use super::newton::{Lambdas, Stop};
use super::polynomials::{Polynomials, overflow};
use super::row_sums::LeaveOneOutSums;
use super::system::Point;
use crate::error::{Error, Result};
use crate::monitor::{Monitor, Progress};
use crate::par::Pool;
use crate::problem::{HeldOutScores, Loss, OneVsRest, SmoothLoss};
use crate::solve::Status;
use crate::solve::selection::{SLACK, select_c};
use crate::tuning::{
    DEAR_PATH_START, LAMBDA_PATH_HIGHEST, LAMBDA_PATH_LEVEL, LAMBDA_PATH_PATIENCE, LAMBDA_PATH_PATIENCE_NEAR,
    LAMBDA_PATH_START, LAMBDA_PATH_STEEP, MAX_CONFIRMED_LAMBDAS,
};

/// The loss of the constant 0: the mean squared hinge, and the mean of losses in units of that of a constant.
const LOSS_OF_CONSTANT: f64 = 1.0;

/// Least λ that double precision permits, in scale-free units.
const MIN_LAMBDA_IN_DOUBLE: f64 = 1e-12;

/// The results at one C of the path.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PathPoint {
    /// C of ½‖f‖² + C Σ loss.
    #[serde(rename = "C")]
    pub c: f64,
    /// λ = 1/(2C) in units of trace(G)/n.
    pub lambda: f64,
    /// ½‖f‖² + C Σ loss, summed over the two-class problems.
    pub objective: f64,
    /// Mean leave-one-out squared hinge over samples and problems; `None` if the problem was not solved, or if the
    /// samples inside the margin do not determine the solution without one of them.
    pub loo_squared_hinge: Option<f64>,
    /// Fraction of samples that are misclassified when left out; for multilabel targets, of the known labels that are
    /// wrong.
    pub loo_error: Option<f64>,
    /// Whether these come from refits without each sample. Otherwise they assume that leaving out a sample lets no
    /// other sample cross the margin, which suffices to compare values of C.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub loo_exact: bool,
    /// Mean squared hinge of samples held out of the fit, where they select C.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_out_squared_hinge: Option<f64>,
    /// The error in five-fold cross-validation, by refits on the same bases without each fifth of the samples: at
    /// the selected C of a fit on bases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fold_error: Option<f64>,
    /// For multilabel targets, the error of each label by refits; empty without refits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub label_errors: Vec<f64>,
    /// Samples inside the margin, summed over the two-class problems.
    pub n_support: u64,
    /// The largest number of Newton steps of the two-class problems.
    pub steps: u32,
    /// Of a regression the weighted mean of the estimated losses of each output, and of their squares.
    #[serde(skip)]
    pub(crate) of_outputs: Vec<[f64; 2]>,
}

impl PathPoint {
    /// The mean squared hinge of samples that the fit did not see: held out, or by leave-one-out.
    pub fn unseen_squared_hinge(&self) -> Option<f64> {
        self.held_out_squared_hinge.or(self.loo_squared_hinge)
    }

    /// The error by refits without each sample or each fold, weighted as the fit is, if there were any.
    pub fn refit_error(&self) -> Option<f64> {
        self.loo_error.filter(|_| self.loo_exact).or(self.fold_error)
    }
}

/// All two-class problems of a fit.
#[derive(Clone, Copy)]
pub(crate) struct Problems<'a> {
    pub targets: OneVsRest<'a>,
    /// Weight of each sample, above 0.
    pub weights: &'a [f64],
    /// The part of each weight that leave-one-out removes.
    pub units: &'a [f64],
}

impl Problems<'_> {
    /// √w of each sample.
    pub fn roots(&self) -> Vec<f64> {
        self.weights.iter().map(|weight| weight.sqrt()).collect()
    }
}

/// How C is selected, and whether its error is estimated.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PathOptions {
    /// A fixed C; `None` selects the best of the path.
    pub c: Option<f64>,
    /// A λ near which the best is expected, in units of the mean diagonal of the projected kernel.
    pub near: Option<f64>,
    /// Whether that is the only one.
    pub stays: bool,
    /// Whether it ends where the loss first rises, and does not go up where a step down has helped.
    pub is_short: bool,
    /// Whether the path is refined at its best point.
    pub refines: bool,
    /// Whether the error at the C selected is estimated by refits.
    pub confirms: bool,
    /// Whether losses are estimated by fits without each fold, as rounded ones always are.
    pub by_folds: bool,
}

/// The settings of a fit.
pub(crate) struct FitSettings {
    pub polynomials: Polynomials,
    pub path: PathOptions,
    /// The smallest λ of the path in scale-free units, in half decades.
    pub lowest: i32,
    pub stop: Stop,
    /// As of [`typical_weight`](crate::problem::typical_weight): λ is in units of it.
    pub typical_weight: f64,
    /// The solution of each problem with a similar kernel, where the exact solver starts; empty for the constant 0.
    pub start: Vec<Point>,
    /// The losses.
    pub losses: LossSettings,
}

/// The losses of a fit.
pub(crate) struct LossSettings {
    /// Of each output of a regression; of classes one for all.
    pub losses: Vec<SmoothLoss>,
    /// The mean loss of the best constant of each output, the unit of its losses; none of classes.
    pub constants: Vec<f64>,
}

impl LossSettings {
    /// One loss for all classes.
    pub fn of_classes(loss: Loss) -> Self {
        let losses = vec![SmoothLoss::new(loss)];
        LossSettings { losses, constants: Vec::new() }
    }

    /// The loss of each of `k` problems.
    pub fn of_problems(&self, k: usize) -> Vec<SmoothLoss> {
        if self.constants.is_empty() { vec![self.losses[0]; k] } else { self.losses.clone() }
    }

    /// Whether a loss is rounded.
    pub fn are_rounded(&self) -> bool {
        self.losses.iter().any(|loss| loss.is_rounded())
    }

    /// The mean over the outputs of the losses in units of those of constants, of outputs that no constant fits; 0 if
    /// there are none. None unless it is finite.
    pub fn relative_loss(&self, of_outputs: &[[f64; 2]]) -> Option<f64> {
        let varying = || of_outputs.iter().zip(&self.constants).filter(|(_, constant)| **constant > 0.0);
        let sum: f64 = varying().map(|([loss, _], constant)| loss / constant).sum();
        let is_known = of_outputs.len() == self.constants.len() && sum.is_finite();
        is_known.then(|| sum / varying().count().max(1) as f64)
    }
}

impl FitSettings {
    /// Whether losses are estimated by fits without each fold, not by leave-one-out.
    pub fn estimates_by_folds(&self) -> bool {
        self.path.by_folds || self.losses.are_rounded()
    }

    /// Whether C is selected by fits without each fold alone.
    pub fn is_by_folds(&self) -> bool {
        self.estimates_by_folds() && self.path.c.is_none()
    }
}

/// How a fit is run.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    pub settings: &'a FitSettings,
    pub pool: &'a Pool,
    pub monitor: &'a Monitor<'a>,
}

/// A problem's solution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Solved {
    pub point: Point,
    /// Samples inside the margin; of other losses, samples with a derivative other than 0.
    pub n_inside: u64,
    pub steps: u32,
    pub status: Status,
    /// λ‖h‖² + Σ (√w − y z)²₊.
    pub objective: f64,
    /// A dual objective, C-scaled; the trivial bound 0 unless it converged.
    pub dual: f64,
}

impl Solved {
    /// A point of a problem that is not solved.
    pub fn at(point: Point, status: Status) -> Self {
        Solved { point, n_inside: 0, steps: 0, status, objective: 0.0, dual: 0.0 }
    }
}

/// The solutions at one C.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Candidate {
    pub solutions: Vec<Solved>,
    /// Leave-one-out decision values, one vector per problem; empty unless solved.
    pub loo_values: Vec<Vec<f64>>,
    /// Those of some samples, if not all are stored.
    pub some: HeldOutScores,
    /// The same by refits without each sample, if there were any.
    pub refitted: Vec<Vec<f64>>,
    /// By refits without each fold, the weight of the wrong and of all samples of each class, or of each label.
    pub fold_sums: Vec<[f64; 2]>,
    #[serde(with = "EveryField")]
    pub point: PathPoint,
}

impl Candidate {
    /// Built from the solutions at the last λ, and the sums of leave-one-out.
    pub fn new(
        lambdas: Lambdas,
        solutions: Vec<Solved>,
        loo_values: Vec<Vec<f64>>,
        sums: Option<&LeaveOneOutSums>,
    ) -> Self {
        let point = PathPoint {
            c: 0.5 / lambdas.last,
            lambda: lambdas.scale_free,
            loo_squared_hinge: sums.map(|sums| sums.mean_hinge(solutions.len())),
            loo_error: sums.map(LeaveOneOutSums::error),
            ..PathPoint::default()
        };
        let mut candidate = Candidate { loo_values, point, ..Candidate::default() };
        candidate.solve(solutions);
        candidate
    }

    /// Has these solutions.
    pub fn solve(&mut self, solutions: Vec<Solved>) {
        let point = &mut self.point;
        point.objective = point.c * solutions.iter().map(|solution| solution.objective).sum::<f64>();
        point.n_support = solutions.iter().map(|solution| solution.n_inside).sum();
        point.steps = solutions.iter().map(|solution| solution.steps).max().unwrap_or(0);
        self.solutions = solutions;
    }

    /// Whether one of the problems has this status.
    pub fn has(&self, status: Status) -> bool {
        self.solutions.iter().any(|solution| solution.status == status)
    }

    /// Whether all problems converged.
    pub fn is_converged(&self) -> bool {
        self.solutions.iter().all(|solution| solution.status == Status::Converged)
    }

    fn points(&self) -> Vec<Point> {
        self.solutions.iter().map(|solution| solution.point.clone()).collect()
    }

    /// The leave-one-out loss; infinite if it is not known.
    pub fn loss(&self) -> f64 {
        self.point.loo_squared_hinge.unwrap_or(f64::INFINITY)
    }
}

/// Error estimates of a candidate by refits.
pub(crate) enum Refits {
    /// Without each sample: its decision values, one vector per problem, and their sums.
    OfSamples(Vec<Vec<f64>>, LeaveOneOutSums),
    /// Without each fold: the sums over its samples.
    OfFolds(LeaveOneOutSums),
}

/// The result of a path.
pub(crate) struct Outcome {
    pub best: Candidate,
    /// By descending λ.
    pub path: Vec<PathPoint>,
    /// The requested λ in scale-free units, if it was too small to be solved.
    pub raised: Option<f64>,
    /// Whether the time limit cut the path short.
    pub cut: bool,
    /// The least leave-one-out loss of the closed form, before refits replaced any.
    closed_form: f64,
}

impl Outcome {
    /// α and β of the best solutions, one vector per problem, by those of each point.
    pub fn coefficients(&self, one: impl Fn(&Point) -> (Vec<f64>, Vec<f64>)) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
        self.best.solutions.iter().map(|solution| one(&solution.point)).unzip()
    }

    /// Whether the leave-one-out loss is at most that of another polynomials: by refits if both have them, else by the
    /// closed form of both.
    pub fn is_at_most(&self, other: &Outcome) -> bool {
        match (&self.best.point, &other.best.point) {
            (a, b) if a.loo_exact && b.loo_exact => a.loo_squared_hinge <= b.loo_squared_hinge,
            _ => self.closed_form <= other.closed_form,
        }
    }
}

/// A point with the fields that its JSON omits if they have their defaults: for formats without field names.
#[derive(Serialize, Deserialize)]
#[serde(remote = "PathPoint")]
struct EveryField {
    c: f64,
    lambda: f64,
    objective: f64,
    loo_squared_hinge: Option<f64>,
    loo_error: Option<f64>,
    loo_exact: bool,
    held_out_squared_hinge: Option<f64>,
    fold_error: Option<f64>,
    label_errors: Vec<f64>,
    n_support: u64,
    steps: u32,
    of_outputs: Vec<[f64; 2]>,
}

/// Solves all problems at one λ.
pub(crate) trait Visit {
    /// Solves from the starting points; `None` if one of the problems exceeds double precision.
    fn visit(&mut self, lambdas: Lambdas, starts: &[Point]) -> Result<Option<Candidate>>;

    /// Estimates a candidate's error by refits, if possible.
    fn confirm(&mut self, lambdas: Lambdas, candidate: &Candidate) -> Result<Option<Refits>>;

    /// λ of the first visit, in scale-free units, if this resumes an earlier path.
    fn began(&self) -> Option<f64> {
        None
    }
}

/// The nearest λ of a path.
fn half_decades(lambda: f64) -> i32 {
    (2.0 * lambda.log10()).round() as i32
}

/// Solves at a fixed C, or along the path, for a kernel whose mean diagonal is `unit`.
pub(crate) fn walk(
    visits: &mut impl Visit,
    origins: &[Point],
    (settings, unit): (&FitSettings, f64),
    monitor: &Monitor<'_>,
) -> Result<Outcome> {
    let mut walk = Walk { visits, origins, settings, unit, monitor, path: Vec::new(), best: None, cut: false };
    let PathOptions { c, near, stays, confirms, .. } = settings.path;
    let only = near.filter(|_| stays);
    match c.or(only.map(|lambda| 0.5 / (lambda * unit))) {
        Some(c) => {
            let mut outcome = walk.single(0.5 / c / unit)?;
            if confirms && monitor.ask().is_ok() {
                walk.confirm(&mut outcome.best)?;
                outcome.path = vec![outcome.best.point.clone()];
            }
            Ok(outcome)
        }
        None => walk.whole(),
    }
}

/// A path and its best candidate.
struct Walk<'a, V> {
    visits: &'a mut V,
    origins: &'a [Point],
    settings: &'a FitSettings,
    unit: f64,
    monitor: &'a Monitor<'a>,
    path: Vec<PathPoint>,
    /// Its λ in half decades, and the candidate.
    best: Option<(f64, Candidate)>,
    /// Whether the time limit cut the path short.
    cut: bool,
}

impl<V: Visit> Walk<'_, V> {
    /// Solves at λ in scale-free units; none too if the time limit passed after another candidate.
    fn visit(&mut self, lambda: f64, starts: &[Point]) -> Result<Option<Candidate>> {
        self.monitor.tell(Progress { stage: "solve", done: self.path.len() as u64, total: 0, gap: None });
        let found = self.visits.visit(Lambdas::new(lambda * self.unit, lambda), starts);
        in_time(found, !self.path.is_empty(), &mut self.cut)
    }

    /// Solves at one λ, multiplied by ten as often as necessary for double precision.
    fn single(&mut self, requested: f64) -> Result<Outcome> {
        let mut lambda = requested.max(MIN_LAMBDA_IN_DOUBLE);
        loop {
            if let Some(best) = self.visit(lambda, self.origins)? {
                let path = vec![best.point.clone()];
                let raised = (lambda > requested * (1.0 + 1e-12)).then_some(requested);
                return Ok(Outcome { closed_form: best.loss(), best, path, raised, cut: false });
            }
            lambda *= 10.0;
            if lambda > 1e12 {
                return Err(overflow());
            }
        }
    }

    /// Walks from the start downwards, then upwards, in each direction until the loss has risen for a while; then
    /// between the best and its neighbors. The best candidate by the closed form is confirmed; if its estimate gets
    /// worse, so is the next.
    fn whole(mut self) -> Result<Outcome> {
        let (PathOptions { near, is_short, refines, confirms, .. }, lowest) =
            (self.settings.path, self.settings.lowest);
        // Of rounded losses a fit is the dearer the smaller λ is, and starts best from a larger one.
        let is_dear = !is_short && (self.monitor.has_time_limit() || self.settings.is_by_folds());
        let usual = if is_dear { DEAR_PATH_START } else { LAMBDA_PATH_START };
        let expected = near.map_or(usual, |lambda| half_decades(lambda).clamp(lowest, LAMBDA_PATH_HIGHEST));
        let start = self.visits.began().map_or(expected, half_decades);
        let is_near = near.is_some() || is_short;
        let patience = if is_near { LAMBDA_PATH_PATIENCE_NEAR } else { LAMBDA_PATH_PATIENCE };
        let mut upwards = self.origins.to_vec();
        for (direction, first) in [(-1, start), (1, start + 1)] {
            if is_short && self.best.as_ref().is_some_and(|(at, _)| *at < f64::from(start)) {
                break;
            }
            let mut starts = upwards.clone();
            let mut at = first;
            let mut losses: Vec<f64> = Vec::new();
            while (lowest..=LAMBDA_PATH_HIGHEST).contains(&at) {
                self.cut |= self.best.is_some() && self.monitor.ask().is_err();
                if self.cut {
                    break;
                }
                let Some(candidate) = self.visit(10f64.powf(f64::from(at) / 2.0), &starts)? else { break };
                starts = candidate.points();
                losses.push(candidate.loss());
                if at == start {
                    upwards.clone_from(&starts);
                }
                self.note(f64::from(at), candidate);
                if self.cut {
                    break;
                }
                let (best_at, best) = self.best.as_ref().ok_or_else(overflow)?;
                let has_risen = (f64::from(at) - best_at) * f64::from(direction) >= f64::from(patience);
                let ends = has_risen || is_steep(&losses, best.loss()) || (direction < 0 && is_level(&losses));
                // A large λ tends to a constant: what is much worse than that is not the best.
                let is_useless = direction > 0 && best.loss() > LOSS_OF_CONSTANT * (1.0 + LAMBDA_PATH_STEEP);
                if ends && !is_useless {
                    break;
                }
                at += direction;
            }
            if self.best.is_none() && direction == 1 {
                // Nothing could be solved from the start upwards: try higher.
                return self.single(10f64.powf(f64::from(LAMBDA_PATH_HIGHEST) / 2.0));
            }
        }
        if let Some(coarse) = self.best.as_ref().map(|(at, _)| *at).filter(|_| refines) {
            for at in [coarse - 0.5, coarse + 0.5].into_iter().filter(|at| *at >= f64::from(lowest)) {
                self.cut |= self.monitor.ask().is_err();
                let Some((_, nearest)) = self.best.as_ref().filter(|_| !self.cut) else { break };
                let starts = nearest.points();
                if let Some(candidate) = self.visit(10f64.powf(at / 2.0), &starts)? {
                    self.note(at, candidate);
                }
            }
        }
        let (cut, (_, mut best)) = (self.cut, self.best.take().ok_or_else(overflow)?);
        let selected = select_c(self.path.iter().map(|point| (point.c, point.loo_squared_hinge)), SLACK);
        // The path keeps the solutions of the least loss alone.
        let lambda = selected.map_or(best.point.lambda, |at| self.path[at].lambda);
        if lambda != best.point.lambda && !cut {
            best = self.visit(lambda, &best.points())?.unwrap_or(best);
        }
        let closed_form = best.loss();
        let best = if !cut && confirms { self.confirmed(best)? } else { best };
        self.path.sort_by(|a, b| b.lambda.total_cmp(&a.lambda));
        Ok(Outcome { best, path: self.path, raised: None, cut, closed_form })
    }

    /// Records a candidate and keeps it if it is the best; a later one that the time limit stopped cuts the path.
    fn note(&mut self, at: f64, candidate: Candidate) {
        let stopped = candidate.has(Status::TimeLimit);
        self.cut |= stopped;
        if stopped && self.best.is_some() {
            return;
        }
        self.path.push(candidate.point.clone());
        if self.best.as_ref().is_none_or(|(_, best)| candidate.loss() < best.loss()) {
            self.best = Some((at, candidate));
        }
    }

    /// Confirms the best candidate of the path, and those whose closed-form estimates are below its confirmed one.
    fn confirmed(&mut self, mut best: Candidate) -> Result<Candidate> {
        self.confirm(&mut best)?;
        for _ in 0..MAX_CONFIRMED_LAMBDAS {
            let is_open = best.point.loo_exact && self.monitor.ask().is_ok();
            let Some(loss) = best.point.loo_squared_hinge.filter(|_| is_open) else { break };
            let hinge = |point: &PathPoint| point.loo_squared_hinge.filter(|hinge| !point.loo_exact && *hinge < loss);
            let rivals = self.path.iter().filter_map(|point| hinge(point).map(|hinge| (hinge, point.lambda)));
            let Some((_, rival)) = rivals.min_by(|a, b| a.0.total_cmp(&b.0)) else { break };
            let Some(mut other) = self.visit(rival, &best.points())? else { break };
            self.confirm(&mut other)?;
            if !other.point.loo_exact {
                break;
            }
            if other.point.loo_squared_hinge.is_some_and(|other| other < loss) {
                best = other;
            }
        }
        Ok(best)
    }

    /// Replaces the closed-form estimates of a candidate by those of refits, also in the path.
    fn confirm(&mut self, candidate: &mut Candidate) -> Result<()> {
        if !candidate.is_converged() || candidate.point.loo_error.is_none() {
            return Ok(());
        }
        let lambda = candidate.point.lambda;
        let found = self.visits.confirm(Lambdas::new(lambda * self.unit, lambda), candidate);
        let Some(refits) = in_time(found, true, &mut false)? else { return Ok(()) };
        let point = &mut candidate.point;
        match refits {
            Refits::OfSamples(values, sums) => {
                let hinge = sums.mean_hinge(values.len());
                (point.loo_squared_hinge, point.loo_error, point.loo_exact) = (Some(hinge), Some(sums.error()), true);
                point.label_errors = sums.label_errors();
                candidate.refitted = values;
            }
            Refits::OfFolds(sums) => {
                point.fold_error = Some(sums.error());
                point.label_errors = sums.label_errors();
                candidate.fold_sums = sums.of_groups;
            }
        }
        self.path.iter_mut().filter(|at| at.lambda == point.lambda).for_each(|at| at.clone_from(point));
        Ok(())
    }
}

/// The candidate, unless the time limit passed; that is an error only before there is another candidate.
fn in_time<T>(found: Result<Option<T>>, has_other: bool, cut: &mut bool) -> Result<Option<T>> {
    match found {
        Err(Error::TooShort { .. }) if has_other => {
            *cut = true;
            Ok(None)
        }
        found => found,
    }
}

/// Whether the last [`LAMBDA_PATH_PATIENCE`] steps of a path have lowered the loss by less than
/// [`LAMBDA_PATH_LEVEL`].
fn is_level(losses: &[f64]) -> bool {
    let Some(before) = losses.len().checked_sub(LAMBDA_PATH_PATIENCE as usize + 1) else { return false };
    let (before, now) = (losses[before], losses[losses.len() - 1]);
    now <= before && before - now < LAMBDA_PATH_LEVEL * before
}

/// Whether the last step of a path has raised the loss, to more than [`LAMBDA_PATH_STEEP`] above the least.
fn is_steep(losses: &[f64], least: f64) -> bool {
    let [.., before, now] = *losses else { return false };
    now.is_finite() && now > before && now > least * (1.0 + LAMBDA_PATH_STEEP)
}
