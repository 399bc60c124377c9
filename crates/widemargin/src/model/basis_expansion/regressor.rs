//! Regression on a basis expansion: for any similarity, at the cost of linear regression.
//!
//! Samples are compared with a few bases and the similarities normalized, as for the classifier ([`Expander`](super::expand::Expander)); on
//! these features the squared error is minimized in closed form, with an unpenalized intercept ([`FeatureRidge`]), and
//! other losses by Newton's method ([`fit_in_blocks`]). With the squared error, a Nyström map of a positive definite kernel
//! and all samples as bases this is kernel ridge regression.

use std::ops::Range;

use super::expand::Expansion;
use super::expansion_params::{ExpansionParams, SourceSet};
use super::prepare::Prepared;
use super::regression::{BasisExpansionRegressor, Regression};
use crate::data::{ABSENT, Source, Targets, Vectors, WeightedCodes};
use crate::error::{Error, Result};
use crate::expansion::{BasisExpansion, Normalization, NystroemCut};
use crate::instant::Instant;
use crate::linalg::factor::Matrix;
use crate::macros::setters;
use crate::model::clock::Clock;
use crate::model::on_workers::Preparation;
use crate::model::origin::TrainingSettings;
use crate::model::regression_path::{RegressionSelection, StandardTargets, closed_form_report, half_norms};
use crate::model::within_limit::TrainingSet;
use crate::model::{CChoice, PartedTargets};
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::partition::{Executor, Remote, Workers};
use crate::problem::{Intercept, Judged, Loss};
use crate::similarity::Similarity;
use crate::solve::residuals::{Choice, Fit, MemoryRows, fit, fit_in_blocks};
use crate::solve::ridge::{FeatureRidge, FeatureSolution, Fitted, PartedRidge, RidgeRows, center_of};
use crate::solve::thin_plate::{FeatureMap, RemoteRowSums, RowsShape, Run, Settled, fit_rows};
use crate::solve::{OwnFeatures, Report, Solved, Stage, parts_of_own_features};
use crate::tuning::MAX_PARTED_FEATURES;

/// Parameters of a regression on a basis expansion, with their defaults.
pub type BasisExpansionRegressorParams<S> = ExpansionParams<S, RegressionParams>;

/// Those of the task.
#[derive(Clone, Debug)]
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

    /// Checks the parameters without fitting.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) naming the first that is invalid.
    #[doc(hidden)]
    pub fn check(&self) -> Result<()> {
        self.task.c.check()?;
        self.task.loss.check_of_targets()?;
        self.expander.check(false)
    }

    /// Trains on samples and their targets.
    ///
    /// # Errors
    /// See [`BasisExpansionRegressorParams::fit_with`].
    pub fn fit(
        self,
        samples: &dyn Source<Samples = S::Samples>,
        targets: &Targets,
    ) -> Result<BasisExpansionRegressor<S>> {
        self.fit_with(samples, targets, None, &Monitor::none())
    }

    /// Trains with one weight per sample and a monitor. Weight k is equivalent to k copies, weight 0 to leaving a
    /// sample out.
    ///
    /// The leave-one-out errors in the model are those of refits without one copy of each sample, on the same bases and
    /// normalization. They are exact for squared error. For the Huber and the squared ε-insensitive loss, each refit
    /// is one Newton step from the solution, which is exact if it moves no other sample over a breakpoint of the loss.
    /// For the quantile loss, they come from five-fold cross-validation on the same features. A time limit ends the
    /// selection of C and the solution of these losses early; if it does not allow a fit on all samples, the model is
    /// fitted to a subset, as noted in the report.
    ///
    /// # Errors
    /// Invalid parameters, targets or samples, with their names and the expected values;
    /// [`Error::Memory`](crate::Error::Memory) if the features do not fit;
    /// [`Error::Cancelled`](crate::Error::Cancelled) if the monitor cancelled;
    /// [`Error::TooShort`](crate::Error::TooShort) if its time limit passed before a fit on few samples.
    pub fn fit_with(
        self,
        samples: &dyn Source<Samples = S::Samples>,
        targets: &Targets,
        sample_weight: Option<&[f64]>,
        monitor: &Monitor<'_>,
    ) -> Result<BasisExpansionRegressor<S>> {
        self.check()?;
        let weights = targets.weights(samples.n_samples(), sample_weight)?;
        let set = TrainingSet { samples, known: targets, sample_weight };
        let fit = |params: Self, set: SourceSet<'_, S, Targets>, monitor: &Monitor<'_>| {
            params.solve(set, false, monitor).map(|(model, _)| model)
        };
        self.fit_in_time(set, &weights, monitor, fit)
    }

    /// The same by squared error, with the leave-one-out decision values of the caller's samples, samples × outputs;
    /// of samples without weight the targets.
    pub(crate) fn fit_leave_one_out(
        self,
        samples: &dyn Source<Samples = S::Samples>,
        targets: &Targets,
        sample_weight: Option<&[f64]>,
        monitor: &Monitor<'_>,
    ) -> Result<(BasisExpansionRegressor<S>, Matrix)> {
        let params = self.loss(Loss::SquaredError);
        params.check()?;
        params.solve(TrainingSet { samples, known: targets, sample_weight }, true, monitor)
    }

    fn solve(
        self,
        set: SourceSet<'_, S, Targets>,
        leaves_out: bool,
        monitor: &Monitor<'_>,
    ) -> Result<(BasisExpansionRegressor<S>, Matrix)> {
        let TrainingSet { samples, known: targets, sample_weight } = set;
        let ExpansionParams { expander, task: RegressionParams { c, loss, has_intercept }, threads } = self;
        let (effective, training) = (targets.weights(samples.n_samples(), sample_weight)?, expander.training());
        let mut clock = Clock::start(monitor);
        let weighted = WeightedCodes { codes: &targets.codes(), weights: sample_weight, effective: &effective };
        let prepared = Prepared::new(samples, weighted, threads, &mut clock)?;
        let made = expander.fit(&prepared, &mut clock)?;

        let (weights, Judged { units, factors }) = (&prepared.weights, made.judged(&prepared));
        let of_distinct = targets.of_rows(&prepared.distinct.rows);
        let standard = StandardTargets::new(&of_distinct, (weights, &units), has_intercept)?;
        let own = if loss == Loss::SquaredError { made.own_features(&prepared, &units) } else { Vec::new() };
        let fitted = Fitted::new(&standard.values, weights.clone(), units);
        let recenters = recenters(&made.expansion, has_intercept);
        let pool = Pool::new(threads)?;
        let (solution, loo_values) = match loss {
            Loss::SquaredError => {
                let phi = &made.phi;
                let (own, factors, standard) = (&own, &factors, &standard);
                let problem = Problem { phi, own, factors, standard, has_intercept, recenters, fitted };
                problem.solve((c, leaves_out), &pool, monitor)?
            }
            loss => {
                let rows = MemoryRows::new(&made.phi, &pool)?;
                let read = |some: Range<usize>, roots: &[f64]| Ok(rows.scaled(some, roots));
                let (all, choice) =
                    (standard.samples(&fitted, has_intercept), Choice { loss, c: c.value(), by_folds: recenters });
                let (k, d) = (targets.n_outputs(), rows.n_features());
                let mut fit = fit_in_blocks((&read, d), all, choice, (&pool, None), monitor)?;
                // Equal samples have no features here.
                let of_output = |output: usize| rows.original(&fit.weights[output * d..][..d]);
                fit.weights = (0..k).map(of_output).collect::<Result<Vec<_>>>()?.concat();
                (Solution::of_losses(fit, loss, (&standard, has_intercept)), Matrix::zeros(0, k))
            }
        };
        clock.end_solved("solve")?;
        let model = solution.model(made, &standard, (training, clock.stages));
        let of_callers = loo_values_of_callers(&loo_values, &prepared.distinct.places, targets, &standard);
        Ok((model, of_callers))
    }
}

/// The leave-one-out decision values of the caller's samples, from those of distinct samples and standard targets; none
/// from none.
fn loo_values_of_callers(
    loo_values: &Matrix,
    places: &[usize],
    targets: &Targets,
    standard: &StandardTargets,
) -> Matrix {
    if loo_values.n_rows() == 0 {
        return loo_values.clone();
    }
    let mut values = Matrix::zeros(targets.len(), loo_values.n_cols());
    for output in 0..loo_values.n_cols() {
        let (mean, scale) = (standard.means[output], standard.scales[output]);
        for (row, &place) in places.iter().enumerate() {
            let value =
                if place == ABSENT { targets.row(row)[output] } else { mean + scale * loo_values.at(place, output) };
            values.set(row, output, value);
        }
    }
    values
}

/// A solution for the standard targets, and its report.
pub(super) struct Solution {
    pub task: Regression,
    pub warning: Option<String>,
    /// Without the stages.
    pub report: Report,
}

impl Solution {
    /// By the squared error, of n samples.
    pub fn of_ridge(
        solution: FeatureSolution,
        chosen: RegressionSelection,
        (standard, has_intercept): (&StandardTargets, bool),
        n: usize,
    ) -> Self {
        let FeatureSolution { weights, intercepts } = solution;
        let report = closed_form_report(&half_norms(&weights, intercepts.len()), n, Vec::new());
        let (c, warning) = (chosen.c(), chosen.warning(standard));
        let mut task = Regression::new(Loss::SquaredError, c, has_intercept, weights, intercepts);
        task.path = chosen.path;
        Solution { task, warning, report }
    }

    /// By another loss.
    pub fn of_losses(fit: Fit, loss: Loss, (standard, has_intercept): (&StandardTargets, bool)) -> Self {
        let d2 = fit.path.iter().find(|point| point.c == fit.c).map(|point| point.d2);
        let no_better =
            |d2: f64| format!("no better than a constant: D² of samples that the fit did not see is {d2:.3}");
        let warning = match d2 {
            _ if standard.are_constant() => Some("no better than a constant: all samples have the same target".into()),
            Some(d2) if d2 <= 0.0 => Some(no_better(d2)),
            _ => None,
        };
        let report = Report::of_solver(&fit.problems, Vec::new(), "Newton steps", None);
        let mut task = Regression::new(loss, fit.c, has_intercept, fit.weights, fit.intercepts);
        (task.epsilons, task.loss_path) = (fit.epsilons, fit.path);
        Solution { task, warning, report }
    }

    /// By the squared error, on rows wherever they are.
    ///
    /// # Errors
    /// Those of the rows; [`Error::Parameter`] if C is to be chosen and there is no estimate, or for too many features.
    pub fn by_squares(
        targets: &PartedTargets,
        rows: &mut impl Executor<Of = RidgeRows>,
        (c, recenters): (CChoice, bool),
        monitor: &Monitor<'_>,
    ) -> Result<Self> {
        let mut ridge = PartedRidge::new(rows, (targets.n_outputs(), targets.total()), MAX_PARTED_FEATURES, monitor)?;
        if recenters {
            ridge.recentered(targets.standard.means_of_values());
        }
        let chosen = RegressionSelection::of(c, &targets.standard, (&ridge, rows), monitor)?;
        let solution = ridge.solution(chosen.lambda);
        Ok(Solution::of_ridge(solution, chosen, (&targets.standard, targets.has_intercept), targets.n_present()))
    }

    /// The model, in the unit of the targets.
    pub fn model<S: Similarity, F>(
        mut self,
        made: Expansion<S, F>,
        standard: &StandardTargets,
        before: (TrainingSettings, Vec<Stage>),
    ) -> BasisExpansionRegressor<S> {
        standard.restore(&mut self.task.weights, &mut self.task.intercepts);
        let mut model = made.model(self.task, self.report, before);
        model.report.warnings.extend(self.warning);
        model
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
        let (made, (training, mut stages)) = Expansion::on_workers(expansion, preparation);
        let (c, loss) = choice;
        c.check()?;
        loss.check_of_targets()?;
        let started = Instant::now();
        let recenters = recenters(&made.expansion, targets.has_intercept);
        let solution = match loss {
            Loss::SquaredError => Solution::by_squares(targets, &mut Remote::new(workers), (c, recenters), monitor)?,
            loss => {
                let choice = Choice { loss, c: c.value(), by_folds: recenters };
                let fit = on_workers(targets, workers, choice, monitor)?;
                Solution::of_losses(fit, loss, (&targets.standard, targets.has_intercept))
            }
        };
        stages.push(Stage { name: "solve".into(), seconds: started.elapsed().as_secs_f64() });
        Ok(solution.model(made, &targets.standard, (training, stages)))
    }
}

/// Whether features are centered on the samples and there is no intercept, which would take up any shift: features sum
/// to 0 then, and those of the others say what those of a sample are, which leave-one-out must not know.
pub(super) fn recenters<S: Similarity>(expansion: &BasisExpansion<S>, has_intercept: bool) -> bool {
    expansion.normalization().is_learned() && !has_intercept
}

/// The fit by a loss that is not squared, of plain features that workers hold.
fn on_workers(
    targets: &PartedTargets,
    mut workers: impl Workers,
    choice: Choice,
    monitor: &Monitor<'_>,
) -> Result<Fit> {
    let (k, total, has_intercept) = (targets.n_outputs(), targets.total(), targets.has_intercept);
    let mut rows = Remote::<RidgeRows, _>::new(&mut workers);
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
        fit_rows(&mut RemoteRowSums::new(&mut workers, shape), (&settled, &map), None, run)
    })
}

/// A problem of the squared error, of standard targets.
struct Problem<'a> {
    phi: &'a Vectors,
    /// Of bases that are left out.
    own: &'a [OwnFeatures],
    /// As of [`Judged`].
    factors: &'a [f64],
    standard: &'a StandardTargets,
    has_intercept: bool,
    /// As of [`recenters`].
    recenters: bool,
    fitted: Fitted,
}

impl Problem<'_> {
    /// Leave-one-out decision values without the features of bases that are left out.
    fn without_own_features(&self, (solution, c): (&FeatureSolution, f64), values: &mut Matrix) {
        let Vectors::Dense(phi) = self.phi else { return };
        let costs: Vec<f64> = self.fitted.weights.iter().map(|weight| c * weight).collect();
        for output in 0..values.n_cols() {
            let solved = Solved {
                weights: &solution.weights[output * phi.n_cols..][..phi.n_cols],
                bias: solution.intercepts[output],
                intercept: if self.has_intercept { Intercept::Free } else { Intercept::None },
                loss_at: &|row, value| Loss::SquaredError.at(self.fitted.targets.at(output, row), value),
                costs: &costs,
            };
            for (own, part) in self.own.iter().zip(parts_of_own_features(phi, &solved, self.own).into_iter().flatten())
            {
                values.set(own.row, output, values.at(own.row, output) - part);
            }
        }
    }

    /// The solution, with the leave-one-out decision values of the samples if they are requested.
    fn solve(
        &self,
        (c, leaves_out): (CChoice, bool),
        pool: &Pool,
        monitor: &Monitor<'_>,
    ) -> Result<(Solution, Matrix)> {
        let Problem { own, factors, standard, has_intercept, fitted, .. } = self;
        let mut solver = FeatureRidge::new(self.phi, *has_intercept, fitted.clone(), pool, monitor)?;
        if self.recenters {
            solver.recentered(standard.means_of_values());
        }
        let problem = (solver.parted(), &mut solver.rows());
        let mut chosen = RegressionSelection::of(c, standard, problem, monitor)?;
        let solution = solver.solution(chosen.lambda)?;
        let mut loo_values = Matrix::zeros(0, solution.intercepts.len());
        let judged = fitted.units.iter().zip(*factors).filter(|(unit, _)| **unit > 0.0);
        // The same factor for all changes no mean.
        let are_equal = judged.map(|(_, factor)| factor).is_sorted_by(|a, b| a == b);
        if leaves_out || !own.is_empty() || !are_equal {
            loo_values = solver.loo_values(chosen.lambda, monitor)?;
            self.without_own_features((&solution, chosen.c()), &mut loo_values);
            chosen.set_estimate(standard.point(&fitted.leave_one_out(chosen.lambda, &loo_values, factors)));
        }
        let n = fitted.weights.len();
        Ok((Solution::of_ridge(solution, chosen, (standard, *has_intercept), n), loo_values))
    }
}
