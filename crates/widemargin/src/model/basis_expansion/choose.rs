//! Selection by leave-one-out in closed form, on some of the samples if there are many: of C, and of the weights of
//! similarities, one factor each (`weight=auto` in a spec).
//!
//! For the squared hinge and squared error, the decision value of a sample that the fit did not see follows from the
//! solution with it (`solve/thin_plate/feature_matrix.rs`, `squared_fit.rs`). C keeps its meaning with the
//! number of samples: it is the weight of each.
//!
//! A linear SVM on features w_m φ_m has the Gram matrix Σ w_m² K_m: one scale a similarity says how much it counts. The
//! loss is minimized over powers of √2, one weight at a time, in steps that get smaller; each value costs a path of C,
//! or one fit at a fixed C.

use super::expand::{scale_columns, unweighted};
use super::solver::{Solution, Solver, Start};
use crate::data::{DenseMatrix, DenseView, Labels, Vectors, check_costs};
use crate::error::Result;
use crate::expansion::BasisExpansion;
use crate::model::clock::Clock;
use crate::model::{assess, choose_rows, report_estimate};
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::problem::{Block, HeldOutScores, Loss, OneVsRest, count};
use crate::similarity::Similarity;
use crate::solve::thin_plate::{
    FeatureFit, PathOptions, PathPoint, Problems, fit_features, fit_squared, numbers_of_squared,
};
use crate::solve::{
    CalibratedOn, Calibration, ErrorEstimate, EstimateMethod, OwnFeatures, Report, Solved, parts_of_own_features,
};
use crate::tuning::{
    C_SAMPLES, MAX_SQUARED_LOSS_NUMBERS, MAX_WEIGHT_POWER, MIN_WEIGHT_GAIN, WEIGHT_SAMPLES, WEIGHT_STEPS,
};

/// The samples with their labels and weights.
#[derive(Clone, Copy)]
pub(super) struct LabeledSamples<'a> {
    pub labels: &'a Labels,
    /// Effective weights.
    pub weights: &'a [f64],
    /// The part of each weight that leave-one-out removes.
    pub units: &'a [f64],
}

/// C, and the results of its selection.
pub(super) struct SelectedC {
    pub c: f64,
    pub path: Vec<PathPoint>,
    /// A warm start for the fit on all samples.
    pub start: Option<Start>,
    pub note: Option<String>,
    /// The held-out scores of the selection, if they are of all samples.
    pub validation: Option<Validation>,
}

/// Held-out scores at C, and the error by these scores or by refits without folds.
pub(super) struct Validation {
    pub scores: HeldOutScores,
    pub method: EstimateMethod,
    /// Where the error is that of five folds: the weight of the wrong and of all samples by class or label.
    pub fold_sums: Vec<[f64; 2]>,
}

impl Validation {
    /// Scores without sums over folds.
    pub fn of(scores: HeldOutScores, method: EstimateMethod) -> Self {
        Validation { scores, method, fold_sums: Vec::new() }
    }

    /// The same without the features of bases that were left out. `units` are as in [`LabeledSamples`].
    pub fn without_own_features(
        &mut self,
        phi: &DenseMatrix<f32>,
        (samples, costs): (LabeledSamples<'_>, &[f64]),
        (solver, solution): (&Solver, &Solution),
        own: &[OwnFeatures],
    ) {
        let LabeledSamples { labels, units, .. } = samples;
        let (targets, k, d) = (OneVsRest::of(labels), solution.intercepts.len(), phi.n_cols);
        if self.scores.codes.is_empty() || own.is_empty() {
            return;
        }
        (self.method, self.fold_sums) = (EstimateMethod::LeaveOneOut, Vec::new());
        let judged: Vec<usize> = (0..units.len()).filter(|&row| units[row] > 0.0).collect();
        for (problem, &bias) in solution.intercepts.iter().enumerate() {
            let of_problem = &solution.weights[problem * d..][..d];
            let solved = Solved {
                weights: &of_problem.iter().copied().map(f64::from).collect::<Vec<_>>(),
                bias,
                intercept: solution.intercept,
                loss_at: &|row, value| solver.loss.at(targets.sign(row, problem), value),
                costs: &targets.costs(costs, problem),
            };
            for (own, part) in own.iter().zip(parts_of_own_features(phi, &solved, own).into_iter().flatten()) {
                let place = judged.partition_point(|&row| row < own.row);
                self.scores.values[place * k + problem] -= part;
            }
        }
    }

    /// The calibration, and the estimate of the error in the report; `weights` are those of the samples without class
    /// weights, which the others have.
    pub fn assess(self, report: &mut Report, samples: LabeledSamples<'_>, weights: &[f64]) -> Calibration {
        let LabeledSamples { labels, weights: effective, units } = samples;
        if self.fold_sums.is_empty() {
            return assess(report, &self.scores, labels, weights, self.method);
        }
        let population = labels.population(weights);
        let left_out = effective.iter().zip(units).filter(|(_, unit)| **unit > 0.0);
        let n: f64 = left_out.map(|(weight, unit)| count(*weight, *unit)).sum();
        let estimate = ErrorEstimate::of_folds(&self.fold_sums, labels.is_multilabel(), &population, n);
        report_estimate(report, estimate, labels, weights, "no fold has samples");
        Calibration::of(&self.scores, OneVsRest::of(labels), CalibratedOn::LeaveOneOut)
    }
}

impl SelectedC {
    /// A fixed C.
    pub fn fixed(c: f64) -> Self {
        SelectedC { c, path: Vec::new(), start: None, note: None, validation: None }
    }

    /// λ at C on the path, in scale-free units; none of a fixed C.
    pub fn lambda(&self) -> Option<f64> {
        self.path.iter().find(|point| point.c == self.c).map(|point| point.lambda)
    }

    /// The same for another loss, with a note in the report.
    fn for_other_loss(self) -> Self {
        let before = self.note.map_or_else(String::new, |note| format!("{note}; "));
        let note = Some(format!("{before}C was selected for the squared hinge"));
        SelectedC { note, validation: None, ..self }
    }

    /// The cost of each sample's loss.
    ///
    /// # Errors
    /// As for [`check_costs`].
    pub fn costs(&self, weights: &[f64], n_classes: usize) -> Result<Vec<f64>> {
        check_costs(self.c, weights, n_classes)?;
        Ok(weights.iter().map(|weight| self.c * weight).collect())
    }
}

/// Some of the samples, with the data that the solvers need.
pub(super) struct Sampled<'a> {
    all: Block<'a>,
    /// Copies of the rows; none where they are all.
    part: Option<Vectors>,
    labels: Labels,
    weights: Vec<f64>,
    /// As in [`LabeledSamples`].
    units: Vec<f64>,
}

impl<'a> Sampled<'a> {
    /// At most `n_wanted` of the samples, the same for the same seed.
    pub fn new(phi: Block<'a>, samples: LabeledSamples<'_>, n_wanted: usize, seed: u64) -> Result<Self> {
        let LabeledSamples { labels, weights, .. } = samples;
        let rows = choose_rows(labels, weights, n_wanted.min(weights.len()), seed);
        let is_part = rows.len() < weights.len();
        let of_rows = |all: &[f64]| -> Vec<f64> { rows.iter().map(|&row| all[row]).collect() };
        let (weights, units) = (of_rows(weights), of_rows(samples.units));
        let part = if is_part { Some(phi.select(&rows)?) } else { None };
        let labels = labels.present(&rows);
        Ok(Sampled { all: phi, part, labels, weights, units })
    }

    pub fn n_rows(&self) -> usize {
        self.weights.len()
    }

    /// Whether there are more samples than these.
    pub fn is_part(&self) -> bool {
        self.part.is_some()
    }

    pub fn phi(&self) -> Result<Block<'_>> {
        self.part.as_ref().map_or(Ok(self.all), Block::of)
    }

    /// Whether the squared error is minimized, not the squared hinge.
    fn is_squared(&self, loss: Loss) -> bool {
        loss == Loss::SquaredError && OneVsRest::of(&self.labels).is_even()
    }

    /// The fit at the C of a path, or with the least error on it, as a start for other solvers; with its held-out scores,
    /// if these are all samples.
    fn fit(&self, path: PathOptions, solver: &Solver, monitor: &Monitor<'_>) -> Result<SelectedC> {
        let is_squared = self.is_squared(solver.loss);
        let (solve, pool) = (if is_squared { fit_squared } else { fit_features }, Pool::new(solver.threads)?);
        let FeatureFit { weights, intercepts, outcome } =
            solve(self.phi()?, &self.problems(), path, solver.compared_intercept(), &pool, monitor)?;
        let best = &outcome.best;
        let is_exact = is_squared || best.point.loo_exact;
        let is_raised = is_squared && outcome.raised.is_some();
        let is_known = !self.is_part() && !is_raised && !best.loo_values.is_empty();
        let validation = (is_known && (is_exact || !best.fold_sums.is_empty())).then(|| {
            let values = if best.refitted.is_empty() { &best.loo_values } else { &best.refitted };
            let scores = HeldOutScores::of_problems(values, self.labels.codes(), &self.weights, &self.units);
            let method = if is_exact { EstimateMethod::LeaveOneOut } else { EstimateMethod::Folds };
            Validation { scores, method, fold_sums: best.fold_sums.clone() }
        });
        let start = Some(Start::of_problems(&weights, intercepts));
        Ok(SelectedC { c: best.point.c, path: outcome.path, start, note: None, validation })
    }

    /// Their one-vs-rest problems.
    pub fn problems(&self) -> Problems<'_> {
        Problems { targets: OneVsRest::of(&self.labels), weights: &self.weights, units: &self.units }
    }
}

/// Squared error on all samples at C, in closed form, where problems weigh samples alike and no matrix is too large:
/// by sizes alone, as the answer must not depend on the machine's free memory. The solver then starts at the solution,
/// and the leave-one-out decision values of all samples are known.
///
/// # Errors
/// As for [`fit_squared`].
pub(super) fn solve_squared(
    phi: Block<'_>,
    samples: LabeledSamples<'_>,
    chosen: &mut SelectedC,
    solver: &Solver,
    monitor: &Monitor<'_>,
) -> Result<()> {
    let is_too_large = numbers_of_squared(phi, samples.weights.len()) > MAX_SQUARED_LOSS_NUMBERS;
    if chosen.validation.is_some() || !OneVsRest::of(samples.labels).is_even() || is_too_large || monitor.ask().is_err()
    {
        return Ok(());
    }
    let path = PathOptions { c: Some(chosen.c), ..PathOptions::default() };
    let all = Sampled::new(phi, samples, samples.weights.len(), solver.seed)?;
    let SelectedC { start, validation, .. } = all.fit(path, solver, monitor)?;
    (chosen.start, chosen.validation) = (start, validation);
    Ok(())
}

/// The C with the least mean leave-one-out squared hinge, of decision values of the squared error if that is the loss
/// and the problems weigh samples alike, and otherwise of the squared hinge; λ is expected `near` this, if a search has
/// determined it. Refits confirm it where it is selected on all samples.
pub(super) fn choose_c(
    phi: Block<'_>,
    samples: LabeledSamples<'_>,
    near: Option<f64>,
    solver: &Solver,
    monitor: &Monitor<'_>,
) -> Result<SelectedC> {
    let sampled = Sampled::new(phi, samples, C_SAMPLES, solver.seed)?;
    let path = PathOptions { near, refines: true, confirms: !sampled.is_part(), ..PathOptions::default() };
    let chosen = sampled.fit(path, solver, monitor)?;
    // Of fewer classes it is another problem.
    let is_same = sampled.labels.classes().len() == samples.labels.classes().len();
    let note = sampled.is_part().then(|| format!("C was selected on {} of the samples", sampled.n_rows()));
    let chosen = SelectedC { start: chosen.start.filter(|_| is_same), note, ..chosen };
    let is_of_loss = sampled.is_squared(solver.loss) || solver.loss == Loss::default();
    Ok(if is_of_loss { chosen } else { chosen.for_other_loss() })
}

/// Learns the weights that are open, at C if it is fixed, and applies them to an expansion and its features; returns a
/// note, if any were.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
pub(super) fn learn_weights<S: Similarity>(
    expansion: &mut BasisExpansion<S>,
    phi: &mut [f32],
    samples: LabeledSamples<'_>,
    (c, solver): (Option<f64>, &Solver),
    clock: &mut Clock<'_>,
) -> Result<Option<String>> {
    let open = unweighted(expansion.similarity());
    if open.is_empty() {
        return Ok(None);
    }
    let width = expansion.n_features();
    let columns = |part: usize| expansion.part_columns(part).unwrap_or_default();
    let view = DenseView::new(phi, samples.labels.len(), width)?;
    let sampled = Sampled::new(view.into(), samples, WEIGHT_SAMPLES, solver.seed)?;
    let (pool, monitor) = (Pool::new(solver.threads)?, &clock.monitor.without_progress());
    let loss = |powers: &[f64]| -> Result<f64> {
        let Block::Dense(rows) = sampled.phi()? else { return Ok(f64::INFINITY) };
        let mut scaled = rows.values().to_vec();
        for (&part, power) in open.iter().zip(powers) {
            scale_columns(&mut scaled, width, columns(part), power.exp2());
        }
        let (scaled, path) =
            (DenseView::new(&scaled, sampled.n_rows(), width)?, PathOptions { c, ..PathOptions::default() });
        let found =
            fit_features(scaled.into(), &sampled.problems(), path, solver.compared_intercept(), &pool, monitor)?;
        Ok(found.outcome.best.point.loo_squared_hinge.unwrap_or(f64::INFINITY))
    };
    let mut powers = vec![0.0; open.len()];
    let mut least = loss(&powers)?;
    // Where C is chosen too, a common factor changes nothing.
    let first = usize::from(c.is_none() && open.len() == expansion.similarity().n_parts());
    for step in WEIGHT_STEPS {
        for at in first..open.len() {
            for direction in [step, -step] {
                let before = powers[at];
                while (powers[at] + direction).abs() <= MAX_WEIGHT_POWER {
                    powers[at] += direction;
                    let met = loss(&powers)?;
                    if met >= least * (1.0 - MIN_WEIGHT_GAIN) {
                        powers[at] -= direction;
                        break;
                    }
                    least = met;
                }
                if powers[at] != before {
                    break;
                }
            }
        }
    }
    let of = if sampled.is_part() { format!(" on {} of the samples", sampled.n_rows()) } else { String::new() };
    drop(sampled);
    let ranges: Vec<_> = open.iter().map(|&part| columns(part)).collect();
    let mut weights = Vec::new();
    for ((&part, power), columns) in open.iter().zip(&powers).zip(ranges) {
        scale_columns(phi, width, columns, power.exp2());
        weights.push(format!("{:.3} for {}", power.exp2(), expansion.similarity().part(part)));
        expansion.weigh(part, power.exp2())?;
    }
    clock.end("weights")?;
    Ok(Some(format!("weights of similarities were learned{of}: {}", weights.join(", "))))
}
