//! Regression on a basis expansion: for any similarity, at the cost of linear regression.
//!
//! Samples are compared with a few bases and the similarities normalized, as for the classifier ([`Expander`](super::expand::Expander)); on
//! these features the squared error is minimized in closed form, with an unpenalized intercept ([`FeatureRidge`]), and
//! other losses by Newton's method ([`fit_in_blocks`]). With the squared error, a Nyström map of a positive definite kernel
//! and all samples as bases this is kernel ridge regression.

use std::collections::HashSet;
use std::ops::Range;

use super::expand::TrainingSamples;
use super::expansion_params::{ExpansionParams, SourceSet};
use super::regression::BasisExpansionRegressor;
use super::regressor_solution::Solution;
use crate::data::{ABSENT, About, DenseMatrix, Distinct, Source, Targets, Vectors, WeightedCodes};
use crate::error::Result;
use crate::expansion::{Normalization, NystroemCut};
use crate::linalg::factor::Matrix;
use crate::macros::setters;
use crate::model::CChoice;
use crate::model::clock::Clock;
use crate::model::on_workers::Preparation;
use crate::model::origin::TrainingSettings;
use crate::model::regression_path::{RegressionSelection, StandardTargets};
use crate::model::within_limit::TrainingSet;
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::problem::{Intercept, Judged, Loss, without_bases};
use crate::similarity::Similarity;
use crate::solve::residuals::{Choice, MemoryRows, Samples, fit_in_blocks};
use crate::solve::ridge::{FeatureRidge, FeatureSolution, Fitted};
use crate::solve::{OwnFeatures, Solved, parts_of_own_features};

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
        self.loss(Loss::SquaredError).solve(TrainingSet { samples, known: targets, sample_weight }, true, monitor)
    }

    fn solve(
        self,
        set: SourceSet<'_, S, Targets>,
        leaves_out: bool,
        monitor: &Monitor<'_>,
    ) -> Result<(BasisExpansionRegressor<S>, Matrix)> {
        let TrainingSet { samples, known: targets, sample_weight } = set;
        self.check()?;
        let weights = targets.weights(samples.n_samples(), sample_weight)?;
        let mut clock = Clock::start(monitor);
        let samples = &About::new(samples, &weights)?;
        let codes = targets.codes();
        let weighted = WeightedCodes { codes: &codes, weights: sample_weight, effective: &weights };
        let distinct = Distinct::find(|rows| samples.fingerprints(rows), weighted, 0, self.threads, monitor)?;
        let all = targets;
        let (targets, weights) = (all.of_rows(&distinct.rows), &distinct.weights);
        clock.end("merge")?;

        let (seed, threads, one_class) = (self.expander.seed, self.threads, vec![0; weights.len()]);
        let all_samples =
            TrainingSamples { samples, distinct: &distinct, weights, codes: &one_class, threads, monitor };
        let n_basis = self.expander.n_basis;
        let made = self.expander.fit(&all_samples, &mut clock)?;

        let of_rows = made.bases_of_rows(&distinct);
        // A sample with the content of a basis is one, whichever of them was taken.
        let contents: HashSet<usize> =
            of_rows.keys().filter(|&&at| at < weights.len()).map(|&at| distinct.content(at)).collect();
        let bases: Vec<usize> = (0..weights.len()).filter(|&at| contents.contains(&distinct.content(at))).collect();
        let draws = if distinct.are_draws(&codes) { distinct.draws() } else { vec![false; weights.len()] };
        let units = distinct.removed_weights_of_targets(&codes);
        let Judged { units, factors } = without_bases((units, weights), &bases, |row| draws[row], |_| 0);
        let remains = |at| draws[at] || distinct.is_contested(at);
        let own = made.own_features(&of_rows, remains, (weights, &units));
        let standard = StandardTargets::new(&targets, (weights, &units), self.task.has_intercept)?;
        let fitted = Fitted::new(&standard.values, weights.clone(), units);
        let (pool, has_intercept) = (Pool::new(threads)?, self.task.has_intercept);
        let problem =
            Problem { phi: &made.phi, own: &own, factors: &factors, standard: &standard, has_intercept, pool: &pool };
        let (solution, loo_values) = match self.task.loss {
            Loss::SquaredError => problem.squared(&fitted, self.task.c, leaves_out, monitor)?,
            loss => {
                let rows = MemoryRows::new(&made.phi, &pool)?;
                let samples = Samples { fitted: &fitted, scales: &standard.scales, has_intercept };
                let features = |some: Range<usize>, roots: &[f64]| Ok(rows.scaled(some, roots));
                let choice = Choice { loss, c: self.task.c.value() };
                let mut fit = fit_in_blocks((&features, rows.n_features()), samples, choice, (&pool, None), monitor)?;
                // Equal samples have no features here.
                let (k, d) = (all.n_outputs(), rows.n_features());
                let of_output = |output: usize| rows.original(&fit.weights[output * d..][..d]);
                fit.weights = (0..k).map(of_output).collect::<Result<Vec<_>>>()?.concat();
                (Solution::of_losses(fit, loss, (&standard, has_intercept)), Matrix::zeros(0, k))
            }
        };
        clock.end_solved("solve")?;
        let preparation = Preparation {
            basis: made.basis.choice,
            basis_rows: made.basis.rows,
            training: TrainingSettings { seed, n_basis, ..TrainingSettings::default() },
            stages: clock.stages,
        };
        let model = solution.model(made.expansion, &standard, preparation, made.warning);
        let of_callers = loo_values_of_callers(&loo_values, &distinct.places, all, &standard);
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

/// Features, and standard targets.
struct Problem<'a> {
    phi: &'a Vectors,
    /// Of bases that are left out.
    own: &'a [OwnFeatures],
    /// As of [`Judged`].
    factors: &'a [f64],
    standard: &'a StandardTargets,
    has_intercept: bool,
    pool: &'a Pool,
}

impl Problem<'_> {
    /// Leave-one-out decision values without the features of bases that are left out.
    fn without_own_features(
        &self,
        phi: &DenseMatrix<f32>,
        fitted: &Fitted,
        (solution, c): (&FeatureSolution, f64),
        values: &mut Matrix,
    ) {
        let costs: Vec<f64> = fitted.weights.iter().map(|weight| c * weight).collect();
        for output in 0..values.n_cols() {
            let solved = Solved {
                weights: &solution.weights[output * phi.n_cols..][..phi.n_cols],
                bias: solution.intercepts[output],
                intercept: if self.has_intercept { Intercept::Free } else { Intercept::None },
                loss_at: &|row, value| Loss::SquaredError.at(fitted.targets.at(output, row), value),
                costs: &costs,
            };
            for (own, part) in self.own.iter().zip(parts_of_own_features(phi, &solved, self.own).into_iter().flatten())
            {
                values.set(own.row, output, values.at(own.row, output) - part);
            }
        }
    }

    /// By the squared error, with the leave-one-out decision values of the samples if they are requested.
    fn squared(
        &self,
        fitted: &Fitted,
        c: CChoice,
        leaves_out: bool,
        monitor: &Monitor<'_>,
    ) -> Result<(Solution, Matrix)> {
        let n = fitted.weights.len();
        let solver = FeatureRidge::new(self.phi, self.has_intercept, fitted.clone(), self.pool, monitor)?;
        let problem = (solver.parted(), &mut solver.rows());
        let mut chosen = RegressionSelection::of(c, self.standard, problem, monitor)?;
        let solution = solver.solution(chosen.lambda)?;
        let mut loo_values = Matrix::zeros(0, solution.intercepts.len());
        let judged = fitted.units.iter().zip(self.factors).filter(|(unit, _)| **unit > 0.0);
        // The same factor for all changes no mean.
        let are_equal = judged.map(|(_, factor)| factor).is_sorted_by(|a, b| a == b);
        if leaves_out || !self.own.is_empty() || !are_equal {
            loo_values = solver.loo_values(chosen.lambda, monitor)?;
            if let Vectors::Dense(phi) = self.phi {
                self.without_own_features(phi, fitted, (&solution, chosen.c()), &mut loo_values);
            }
            chosen.set_estimate(self.standard.point(&fitted.leave_one_out(chosen.lambda, &loo_values, self.factors)));
        }
        let targets = (self.standard, self.has_intercept);
        Ok((Solution::of_ridge(solution, chosen, targets, n), loo_values))
    }
}
