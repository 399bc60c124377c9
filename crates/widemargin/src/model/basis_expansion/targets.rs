//! Regression on a basis expansion: for any similarity, at the cost of linear regression.
//!
//! Samples are compared with a few bases and the similarities normalized, as for the classifier ([`Expander`](super::expand::Expander)); on
//! these features the squared error is minimized in closed form, with an unpenalized intercept ([`FeatureRidge`]), and
//! other losses by Newton's method ([`fit_in_blocks`]). With the squared error, a Nyström map of a positive definite kernel
//! and all samples as bases this is kernel ridge regression.
//!
//! Of samples in blocks, three passes are the fit by the squared error ([`PartedRidge`]): the mean of the features, their
//! products, and the leave-one-out residuals at all C. Other losses take a pass or two a step of Newton's method.

use std::borrow::Cow;
use std::ops::Range;

use super::block_plan::Plan;
use super::expand::{Before, Expansion};
use super::expansion_params::ExpansionParams;
use super::fit::{Answered, ExpansionFit, InMemory};
use super::out_of_core::{BlockFit, Blocks};
use super::regression::{BasisExpansionRegressor, Regression};
use crate::data::{Label, Labels, Source, Targets, Vectors};
use crate::error::{Error, Result};
use crate::expansion::{BasisExpansion, Normalization, NystroemCut};
use crate::linalg::factor::Matrix;
use crate::macros::setters;
use crate::memory;
use crate::model::on_workers::Preparation;
use crate::model::regression_path::{RegressionSelection, StandardTargets, closed_form_report, half_norms};
use crate::model::within_limit::TrainingSet;
use crate::model::{CChoice, PartedTargets};
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::partition::{Executor, Recorded, Remote, Workers};
use crate::problem::{Intercept, Judged, Loss, Pieces, RowFeatures};
use crate::similarity::Similarity;
use crate::solve::residuals::{self, Choice, Fit, MemoryRows, fit, fit_in_blocks};
use crate::solve::ridge::{
    ChunkedRows, FeatureRidge, FeatureSolution, PartedRidge, RidgeRows, TakesFeatures, center_of,
};
use crate::solve::thin_plate::{FeatureMap, RowsShape, Run, Settled, fit_rows};
use crate::solve::{OwnFeatures, Report, Solved, parts_of_own_features};
use crate::tuning::MAX_PARTED_FEATURES;

/// The checkpoint name of the sums.
const ANSWERS: &str = "answers";

/// Squares of the features that are in memory at once, in addition to those of chunks of rows: the products, their
/// eigenvectors, the rotation and its copies.
const SQUARES: usize = 6;

/// Parameters of a regression on a basis expansion, with their defaults.
pub type BasisExpansionRegressorParams<S> = ExpansionParams<S, RegressionParams>;

/// Those of the task.
#[derive(Clone, Copy, Debug)]
pub struct RegressionParams {
    pub(super) c: CChoice,
    pub(super) loss: Loss,
    pub(super) has_intercept: bool,
}

impl<S: Similarity> BasisExpansionRegressorParams<S> {
    /// The defaults for a similarity: 1,000 evenly spaced bases, mean-norm normalization, the squared error, C by
    /// leave-one-out, an unpenalized intercept, one thread per core.
    pub fn new(similarity: S) -> Self {
        let task = RegressionParams { c: CChoice::Auto, loss: Loss::SquaredError, has_intercept: true };
        ExpansionParams::of(similarity, Normalization::MeanNorm, NystroemCut::Rounding, task)
    }

    setters! {
        /// The weight C of the losses in ½‖w‖² + C Σ loss(y − f): a number above 0, or [`CChoice::Auto`], the C with the
        /// least estimated loss of other samples (of several outputs, the largest mean R², or D² of a loss that is not
        /// squared). The estimate is leave-one-out, for the quantile loss five folds.
        c: impl Into<CChoice> => task.c = c.into();
        /// The loss.
        loss: Loss => task.loss = loss;
        /// Whether there is an intercept, which is not penalized.
        intercept: bool => task.has_intercept = intercept;
    }

    /// The model by squared error, with the leave-one-out decision values of the standardized targets, samples × outputs.
    /// All samples must have a weight.
    pub(crate) fn fit_leave_one_out(
        self,
        samples: &dyn Source<Samples = S::Samples>,
        targets: &Targets,
        sample_weight: Option<&[f64]>,
        monitor: &Monitor<'_>,
    ) -> Result<(BasisExpansionRegressor<S>, Matrix)> {
        let params = self.loss(Loss::SquaredError);
        params.check()?;
        params.fit_rows(TrainingSet { samples, known: targets, sample_weight }, monitor, |fit| {
            let places = &fit.prepared.merged.distinct.places;
            let (model, values) = solved(fit, true)?;
            Ok((model, values.transposed().select_cols(places).transposed()))
        })
    }
}

impl Answered for RegressionParams {}

impl ExpansionFit for RegressionParams {
    type Known = Targets;
    type Task = Regression;

    fn check<S: Similarity>(params: &BasisExpansionRegressorParams<S>) -> Result<()> {
        params.task.c.check()?;
        params.task.loss.check_of_targets()
    }

    fn model_in_memory<S: Similarity>(fit: InMemory<'_, S, Self>) -> Result<BasisExpansionRegressor<S>> {
        Ok(solved(fit, false)?.0)
    }
}

impl BlockFit for RegressionParams {
    const CHECKPOINT: &'static str = "basis-expansion-regression";
    type Parted = PartedTargets;

    fn in_blocks(&self, targets: &Targets, weights: &[f64]) -> Result<(Labels, PartedTargets)> {
        let all_alike = Labels::from_codes(vec![Label::Integer(0)], vec![0; weights.len()])?;
        Ok((all_alike, PartedTargets::of(targets, weights.to_vec(), weights.to_vec(), self.has_intercept)?))
    }

    fn identity(&self, targets: &PartedTargets) -> Vec<(&'static str, String)> {
        let RegressionParams { c, loss, has_intercept } = self;
        vec![
            ("C", c.to_string()),
            ("loss", loss.name().into()),
            ("epsilon", loss.epsilon().map_or_else(|| "auto".into(), |epsilon| epsilon.to_string())),
            ("quantile", loss.quantile().map_or_else(|| "none".into(), |quantile| quantile.to_string())),
            ("intercept", has_intercept.to_string()),
            ("targets", targets.fingerprint()),
        ]
    }

    /// Samples without weight are not part of the fit.
    fn present(targets: PartedTargets, weights: &[f64], bases: &[usize]) -> (Option<Vec<usize>>, PartedTargets) {
        let rows: Vec<usize> = (0..weights.len()).filter(|&row| weights[row] > 0.0).collect();
        (Some(rows).filter(|rows| rows.len() < weights.len()), targets.with_bases(bases).present())
    }

    fn plan(&self, memory: u64, [n, d]: [usize; 2], known: (&Labels, &PartedTargets), pool: &Pool) -> Result<Plan> {
        let n_outputs = known.1.n_outputs();
        let of_solver = match self.loss {
            Loss::SquaredError => memory::product(&[8, d, d, SQUARES + pool.in_flight()]),
            _ => residuals::memory(self.loss, (n, d, n_outputs), pool.threads()),
        };
        Plan::new(memory.saturating_sub(of_solver), n, d, n_outputs)
    }

    fn resident(plan: &Plan, _labels: &Labels, weights: &[f64], _seed: u64) -> Vec<usize> {
        if plan.is_whole() { (0..weights.len()).collect() } else { Vec::new() }
    }

    fn model_in_blocks<S: Similarity>(mut fit: Blocks<'_, S, Self>) -> Result<BasisExpansionRegressor<S>> {
        let solution = fit.solve(fit.clock.monitor)?;
        fit.clock.end_solved("solve")?;
        let (made, before, targets) = fit.made();
        Ok(solution.model(made, &targets.standard, before))
    }
}

impl<S: Similarity> Blocks<'_, S, RegressionParams> {
    fn read(&self, some: Range<usize>) -> Result<Cow<'_, [f32]>> {
        let d = self.pieces.n_features();
        if self.plan.is_whole() {
            return Ok(Cow::Borrowed(&self.resident.phi[some.start * d..some.end * d]));
        }
        let mut phi = vec![0.0; some.len() * d];
        self.pieces.fill(some, &mut phi).map(|()| Cow::Owned(phi))
    }

    fn solve(&self, monitor: &Monitor<'_>) -> Result<Solution> {
        let (RegressionParams { c, loss, .. }, targets) = (self.task, &self.known.1);
        let (pool, checkpoint) = (&*self.pieces.pool, self.resources.checkpoint);
        let (d, has_intercept) = (self.pieces.n_features(), targets.has_intercept);
        let recenters = recenters(&self.pieces.expansion, targets);
        if loss == Loss::SquaredError {
            let with = |rows: Range<usize>, work: &mut TakesFeatures<'_>| {
                work(RowFeatures::Plain { values: &self.read(rows)?, width: d, has_intercept })
            };
            let rows = ChunkedRows { fitted: &targets.fitted, pool, with };
            let rows = &mut Recorded::new(rows, checkpoint, ANSWERS)?;
            return Solution::by_squares(targets, rows, (c, recenters), monitor);
        }
        let scaled = |rows: Range<usize>, roots: &[f64]| {
            let (roots, values) = (&roots[rows.clone()], self.read(rows)?);
            let plain = RowFeatures::Plain { values: &values, width: d, has_intercept: false };
            Ok(Matrix::from_columns(plain.weighted(0..roots.len(), roots), d, roots.len()))
        };
        let choice = Choice { loss, c: c.value(), by_folds: recenters };
        let fit = fit_in_blocks((&scaled, d), targets.samples(), choice, (pool, checkpoint), monitor)?;
        Ok(Solution::of_losses(fit, loss, targets))
    }
}

/// The model, and if they are requested the leave-one-out decision values of the standardized targets of distinct samples
/// by the squared error.
fn solved<S: Similarity>(
    mut fit: InMemory<'_, S, RegressionParams>,
    leaves_out: bool,
) -> Result<(BasisExpansionRegressor<S>, Matrix)> {
    let InMemory { task: RegressionParams { c, loss, has_intercept }, prepared, made, clock, .. } = &mut fit;
    let (c, loss, merged, phi) = (*c, *loss, &prepared.merged, &made.phi);
    let Judged { units, factors } = made.judged(merged);
    let own = if loss == Loss::SquaredError { made.own_features(merged, &units) } else { Vec::new() };
    let targets = &PartedTargets::of(&merged.known, merged.weights.clone(), units, *has_intercept)?;
    let (pool, recenters) = (Pool::new(prepared.threads)?, recenters(&made.expansion, targets));
    let mut loo_values = Matrix::zeros(0, targets.n_outputs());
    let solution = match loss {
        Loss::SquaredError => {
            let mut ridge = FeatureRidge::new(phi, *has_intercept, targets.fitted.clone(), &pool, clock.monitor)?;
            if recenters {
                ridge.recenter(targets.standard.means_of_values());
            }
            let problem = (ridge.parted(), &mut ridge.rows());
            let mut chosen = RegressionSelection::of(c, &targets.standard, problem, clock.monitor)?;
            let solution = ridge.solution(chosen.lambda)?;
            let judged = targets.units().iter().zip(&factors).filter(|(unit, _)| **unit > 0.0);
            // The same factor for all changes no mean.
            let are_equal = judged.map(|(_, factor)| factor).is_sorted_by(|a, b| a == b);
            if leaves_out || !own.is_empty() || !are_equal {
                loo_values = ridge.loo_values(chosen.lambda, clock.monitor)?;
                without_own_features((phi, &own), targets, (&solution, chosen.c()), &mut loo_values);
                let estimate = targets.fitted.leave_one_out(chosen.lambda, &loo_values, &factors);
                chosen.set_estimate(targets.standard.point(&estimate));
            }
            Solution::of_ridge(solution, chosen, targets)
        }
        loss => {
            let rows = MemoryRows::new(phi, &pool)?;
            let read = |some: Range<usize>, roots: &[f64]| Ok(rows.scaled(some, roots));
            let (d, choice) = (rows.n_features(), Choice { loss, c: c.value(), by_folds: recenters });
            let mut fit = fit_in_blocks((&read, d), targets.samples(), choice, (&pool, None), clock.monitor)?;
            // Equal samples have no features here.
            let of_output = |output: usize| rows.original(&fit.weights[output * d..][..d]);
            fit.weights = (0..targets.n_outputs()).map(of_output).collect::<Result<Vec<_>>>()?.concat();
            Solution::of_losses(fit, loss, targets)
        }
    };
    clock.end_solved("solve")?;
    let InMemory { made, training, clock, .. } = fit;
    Ok((solution.model(made, &targets.standard, (training, clock.stages)), loo_values))
}

/// Leave-one-out decision values without the features of bases that are left out.
fn without_own_features(
    (phi, own): (&Vectors, &[OwnFeatures]),
    PartedTargets { fitted, has_intercept, .. }: &PartedTargets,
    (solution, c): (&FeatureSolution, f64),
    values: &mut Matrix,
) {
    let Vectors::Dense(phi) = phi else { return };
    let costs: Vec<f64> = fitted.weights.iter().map(|weight| c * weight).collect();
    for output in 0..values.n_cols() {
        let solved = Solved {
            weights: &solution.weights[output * phi.n_cols..][..phi.n_cols],
            bias: solution.intercepts[output],
            intercept: if *has_intercept { Intercept::Free } else { Intercept::None },
            loss_at: &|row, value| Loss::SquaredError.at(fitted.targets.at(output, row), value),
            costs: &costs,
        };
        for (own, part) in own.iter().zip(parts_of_own_features(phi, &solved, own).into_iter().flatten()) {
            values.set(own.row, output, values.at(own.row, output) - part);
        }
    }
}

/// A solution for the standard targets, and its report.
pub(super) struct Solution {
    pub task: Regression,
    /// Without the stages.
    pub report: Report,
}

impl Solution {
    /// By the squared error.
    pub fn of_ridge(solution: FeatureSolution, chosen: RegressionSelection, targets: &PartedTargets) -> Self {
        let FeatureSolution { weights, intercepts } = solution;
        let mut report = closed_form_report(&half_norms(&weights, intercepts.len()), targets.n_present(), Vec::new());
        report.warnings.extend(chosen.warning(&targets.standard));
        let mut task = Regression::new(Loss::SquaredError, chosen.c(), targets.has_intercept, weights, intercepts);
        task.path = chosen.path;
        Solution { task, report }
    }

    /// By another loss.
    pub fn of_losses(fit: Fit, loss: Loss, targets: &PartedTargets) -> Self {
        let mut report = Report::of_solver(&fit.problems, Vec::new(), "Newton steps", None);
        let d2 = fit.path.iter().find(|point| point.c == fit.c).map(|point| point.d2);
        if targets.standard.are_constant() {
            report.warnings.push("no better than a constant: all samples have the same target".into());
        } else if let Some(d2) = d2.filter(|d2| *d2 <= 0.0) {
            let of = "D² of samples that the fit did not see";
            report.warnings.push(format!("no better than a constant: {of} is {d2:.3}"));
        }
        let mut task = Regression::new(loss, fit.c, targets.has_intercept, fit.weights, fit.intercepts);
        (task.epsilons, task.loss_path) = (fit.epsilons, fit.path);
        Solution { task, report }
    }

    /// By the squared error, on rows wherever they are.
    ///
    /// # Errors
    /// Those of the rows; [`Error::Parameter`] if C is to be chosen and there is no estimate, or for too many features.
    pub fn by_squares(
        targets: &PartedTargets,
        rows: &mut impl Executor<RidgeRows>,
        (c, recenters): (CChoice, bool),
        monitor: &Monitor<'_>,
    ) -> Result<Self> {
        let mut ridge = PartedRidge::new(rows, (targets.n_outputs(), targets.total()), MAX_PARTED_FEATURES, monitor)?;
        if recenters {
            ridge.recenter(targets.standard.means_of_values());
        }
        let chosen = RegressionSelection::of(c, &targets.standard, (&ridge, rows), monitor)?;
        Ok(Solution::of_ridge(ridge.solution(chosen.lambda), chosen, targets))
    }

    /// The model, in the unit of the targets.
    pub fn model<S: Similarity, F>(
        mut self,
        made: Expansion<S, F>,
        standard: &StandardTargets,
        before: Before,
    ) -> BasisExpansionRegressor<S> {
        standard.restore(&mut self.task.weights, &mut self.task.intercepts);
        made.model(self.task, self.report, before)
    }
}

impl<S: Similarity> BasisExpansionRegressor<S> {
    /// Trains on the features of an expansion that workers hold, with the standardized targets of the same rows. Equal
    /// samples are not merged.
    ///
    /// The squared error takes three queries; its leave-one-out errors are exact for the features, as on one machine.
    /// Other losses are minimized by Newton's method, for all outputs together: a query or two a step and one at each C.
    /// Their estimates of the error are those of one machine, except that the folds of the quantile loss are of all
    /// samples, not of those that differ, which may choose another C.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) for a wrong C or loss, or too many features for the sums of their
    /// products; [`Error::NotFinite`](crate::Error::NotFinite); an error of the rows;
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    #[doc(hidden)]
    pub fn of_workers(
        expansion: BasisExpansion<S>,
        targets: &PartedTargets,
        workers: impl Workers,
        choice: (CChoice, Loss),
        preparation: Preparation,
        monitor: &Monitor<'_>,
    ) -> Result<Self> {
        let targets = &targets.clone().with_bases(&preparation.basis_rows);
        let (made, training, mut clock) = Expansion::on_workers(expansion, preparation, monitor);
        let (c, loss) = choice;
        c.check()?;
        loss.check_of_targets()?;
        let recenters = recenters(&made.expansion, targets);
        let solution = match loss {
            Loss::SquaredError => Solution::by_squares(targets, &mut Remote::new(workers), (c, recenters), monitor)?,
            loss => {
                let choice = Choice { loss, c: c.value(), by_folds: recenters };
                let fit = on_workers(targets, workers, choice, monitor)?;
                Solution::of_losses(fit, loss, targets)
            }
        };
        clock.end_solved("solve")?;
        Ok(solution.model(made, &targets.standard, (training, clock.stages)))
    }
}

/// Whether features are centered on the samples and there is no intercept to absorb the shift. They sum to 0 then, so that
/// those of the other samples determine those of a sample that leave-one-out removes.
pub(super) fn recenters<S: Similarity>(expansion: &BasisExpansion<S>, targets: &PartedTargets) -> bool {
    expansion.normalization().is_learned() && !targets.has_intercept
}

/// The fit by a loss that is not squared, of plain features that workers hold.
fn on_workers(targets: &PartedTargets, workers: impl Workers, choice: Choice, monitor: &Monitor<'_>) -> Result<Fit> {
    let (k, total, has_intercept) = (targets.n_outputs(), targets.total(), targets.has_intercept);
    let mut rows = Remote::new(workers);
    let (center, _) = center_of(&mut rows, (k, total), MAX_PARTED_FEATURES, monitor)?;
    if let Some(value) = center.iter().find(|value| !value.is_finite()) {
        return Err(Error::NotFinite { what: "a sum of the features".into(), value: *value });
    }
    let settled = Settled::of_plain(&center, total, has_intercept);
    let map = settled.feature_map(FeatureMap::identity(center.len()));
    let n_free = usize::from(has_intercept);
    let shape = RowsShape { n_penalized: center.len(), n_free, n_problems: k, shares_first_hessian: false };
    let (present, pool) = (targets.present(), Pool::new(0)?);
    fit(present.samples(), choice, monitor, &mut |settings, _, monitor| {
        let run = Run { settings, pool: &pool, monitor };
        fit_rows((&mut rows, shape), (&settled, &map), None, run)
    })
}
