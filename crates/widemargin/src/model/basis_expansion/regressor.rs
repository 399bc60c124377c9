//! Regression on a basis expansion: for any similarity at the cost of a linear one.
//!
//! Samples are compared with a few bases and the similarities normalized, as for the classifier ([`Expander`]); on
//! these features the squared loss is minimized in closed form, with an unpenalized intercept ([`FeatureRidge`]), and
//! other losses by Newton's method ([`residuals`]). With the squared loss, a Nyström map of a positive definite kernel
//! and all samples as bases this is kernel ridge regression.

use std::fmt;
use std::sync::OnceLock;

use super::expand::{Expander, TrainingSamples};
use super::learn_weights::unweighted;
use super::on_expansion::on_expansion;
use super::products::precise_products;
use super::regressor_solution::{RegressorMetadata, Solution, by_residuals, of_closed_form};
use crate::basis::BasisChoice;
use crate::data::{ABSENT, About, DenseMatrix, Distinct, Picked, Source, Targets, Vectors, WeightedCodes};
use crate::error::{Error, Result};
use crate::expansion::{BasisExpansion, Decision, Normalization, NystroemCut};
use crate::linalg::factor::Matrix;
use crate::macros::{getters, setters};
use crate::model::clock::Clock;
use crate::model::origin::{Origin, TrainingSettings, tells_origin};
use crate::model::regression_path::{RegressionPoint, RegressionSelection, StandardTargets};
use crate::model::within_limit::fit_within_limit;
use crate::model::{CChoice, LossPoint, draw_rows};
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::problem::Loss;
use crate::similarity::Similarity;
use crate::solve::Report;
use crate::solve::residuals::{self, MemoryRows, PartedRows};
use crate::solve::ridge::{FeatureRidge, FeatureSolution, Fitted, RowTargets};

/// Parameters of a regression on a basis expansion, with their defaults.
#[derive(Clone)]
pub struct BasisExpansionRegressorParams<S: Similarity> {
    pub(crate) expander: Expander<S>,
    pub(super) c: CChoice,
    pub(super) loss: Loss,
    pub(super) has_intercept: bool,
    pub(crate) threads: usize,
}

impl<S: Similarity> BasisExpansionRegressorParams<S> {
    /// The defaults for a similarity: 1,000 bases evenly spaced, mean-norm normalization, the squared loss, C by
    /// leave-one-out, an unpenalized intercept, one thread per core.
    pub fn new(similarity: S) -> Self {
        BasisExpansionRegressorParams {
            expander: Expander {
                similarity,
                n_basis: None,
                basis: BasisChoice::default(),
                explicit: None,
                normalization: Normalization::MeanNorm,
                cut: NystroemCut::Rounding,
                seed: 0,
            },
            c: CChoice::Auto,
            loss: Loss::SquaredError,
            has_intercept: true,
            threads: 0,
        }
    }

    /// The same parameters for another similarity; explicit bases are dropped.
    pub fn with_similarity<T: Similarity>(self, similarity: T) -> BasisExpansionRegressorParams<T> {
        let BasisExpansionRegressorParams { expander, c, loss, has_intercept, threads } = self;
        let expander = expander.with_similarity(similarity);
        BasisExpansionRegressorParams { expander, c, loss, has_intercept, threads }
    }

    setters! {
        /// How many bases. Where there are fewer samples, all are used, with a note in the report. (By default 1,000, or
        /// all where there are fewer samples.)
        n_basis: usize => expander.n_basis = Some(n_basis);
        /// How bases are selected among the training samples; targets play no part in it, all samples count as one class.
        basis: BasisChoice => expander.basis = basis;
        /// Explicit bases, in place of training samples.
        bases: S::Samples => expander.explicit = Some(bases);
        /// How the similarities are normalized.
        normalization: Normalization => expander.normalization = normalization;
        /// The weight C of the losses in ½‖w‖² + C Σ loss(y − f): a number above 0, or [`CChoice::Auto`], the C with the
        /// least estimated loss of other samples (of several outputs, the largest mean R², or D² of a loss that is not
        /// squared). The estimate is leave-one-out, for the quantile loss five folds.
        c: impl Into<CChoice> => c = c.into();
        /// The loss.
        loss: Loss;
        /// Whether there is an intercept, which is not penalized.
        intercept: bool => has_intercept = intercept;
        /// Seed of the selection of bases, if random.
        seed: u64 => expander.seed = seed;
        /// Number of threads, 0 meaning one per core. The result does not depend on it.
        threads: usize;
    }

    /// Checks the parameters without fitting.
    ///
    /// # Errors
    /// [`Error::Parameter`] naming the first that is invalid.
    pub fn check(&self) -> Result<()> {
        self.c.check()?;
        self.loss.check_of_targets()?;
        if !unweighted(&self.expander.similarity).is_empty() {
            return Err(Error::parameter(
                "weight",
                "auto",
                "a number: weights of similarities are learned for classes",
            ));
        }
        if self.expander.n_basis == Some(0) {
            return Err(Error::parameter("n_basis", "0", "at least 1"));
        }
        Ok(())
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

    /// Trains with one weight per sample and a monitor. Weight k is equivalent to k copies, weight 0 to absence.
    ///
    /// The leave-one-out errors in the model are for the features of the fit: of refits without one copy of each
    /// sample, with the same bases and the same normalization. They are exact for the squared loss, and one Newton step
    /// from the solution for Huber's and the squared ε-insensitive loss: exact where a refit moves no other sample over
    /// a corner of the loss. Of the quantile loss the model has the loss of refits without one of five folds, which
    /// share the features too. A time limit ends the choice of C and the solution of these losses early; if it does not
    /// allow a fit on all samples, the model is of as many as it allows, as noted in the report.
    ///
    /// # Errors
    /// Invalid parameters, targets or samples, with their names and the expected values; [`Error::Memory`] if the
    /// features do not fit; [`Error::Cancelled`] if the monitor cancelled; [`Error::TooShort`] if its time limit passed
    /// before a fit on few samples.
    pub fn fit_with(
        self,
        samples: &dyn Source<Samples = S::Samples>,
        targets: &Targets,
        sample_weight: Option<&[f64]>,
        monitor: &Monitor<'_>,
    ) -> Result<BasisExpansionRegressor<S>> {
        let monitor = &monitor.with_strict_limit();
        if !monitor.has_time_limit() || self.for_some().is_none() {
            return self.solve(samples, targets, sample_weight, false, monitor).map(|(model, _)| model);
        }
        self.check()?;
        let weights = targets.weights(samples.n_samples(), sample_weight)?;
        let (size, seed) = (self.expander.size(weights.len(), 1), self.expander.seed);
        let fit = |rows: Option<&[usize]>, monitor: &Monitor<'_>| {
            let params = self.for_some().ok_or(Error::NoSamples(""))?;
            let Some(rows) = rows else {
                return params.solve(samples, targets, sample_weight, false, monitor).map(|(model, _)| model);
            };
            let of_rows: Vec<f64> = rows.iter().map(|&row| weights[row]).collect();
            let picked = Picked { source: samples, rows };
            let (mut model, _) = params.solve(&picked, &targets.of_rows(rows), Some(&of_rows), false, monitor)?;
            model.basis_rows.iter_mut().for_each(|row| *row = rows[*row]);
            Ok(model)
        };
        fit_within_limit(size, monitor, |n| draw_rows(&weights, n, seed), fit, |model| &mut model.report)
    }

    /// A copy, as for [`Expander::for_some`].
    fn for_some(&self) -> Option<Self> {
        let BasisExpansionRegressorParams { c, loss, has_intercept, threads, .. } = *self;
        let expander = self.expander.for_some()?;
        Some(BasisExpansionRegressorParams { expander, c, loss, has_intercept, threads })
    }

    /// The same by the squared loss, with the leave-one-out decision values of the caller's samples, samples × outputs;
    /// of samples without weight the targets.
    pub(crate) fn fit_leave_one_out(
        self,
        samples: &dyn Source<Samples = S::Samples>,
        targets: &Targets,
        sample_weight: Option<&[f64]>,
        monitor: &Monitor<'_>,
    ) -> Result<(BasisExpansionRegressor<S>, Matrix)> {
        let squared = BasisExpansionRegressorParams { loss: Loss::SquaredError, ..self };
        squared.solve(samples, targets, sample_weight, true, monitor)
    }

    fn solve(
        self,
        samples: &dyn Source<Samples = S::Samples>,
        targets: &Targets,
        sample_weight: Option<&[f64]>,
        leaves_out: bool,
        monitor: &Monitor<'_>,
    ) -> Result<(BasisExpansionRegressor<S>, Matrix)> {
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
        let training = TrainingSamples {
            samples,
            distinct: &distinct,
            weights,
            codes: &one_class,
            n_classes: 1,
            threads,
            monitor,
        };
        let made = self.expander.fit(&training, &mut clock)?;

        let units = distinct.removed_weights_of_targets(&codes);
        let standard = StandardTargets::new(&targets, (weights, &units), self.has_intercept)?;
        let fitted = Fitted { targets: standard.values.clone(), weights: weights.clone(), units };
        let pool = Pool::new(threads)?;
        let problem = Problem { phi: &made.phi, standard: &standard, has_intercept: self.has_intercept, pool: &pool };
        let (solution, loo_values) = match self.loss {
            Loss::SquaredError => problem.squared(fitted, self.c, leaves_out, monitor)?,
            loss => {
                let by_row = standard.values.transposed().into_values();
                let rows = MemoryRows::new(&made.phi, &pool)?;
                let chunks = &mut rows.with_targets(RowTargets::of(&fitted, &by_row), self.has_intercept, &pool);
                let samples = residuals::Samples {
                    rows: &PartedRows::new(chunks, weights, all.n_outputs(), usize::MAX, monitor)?,
                    targets: &standard.values,
                    scales: &standard.scales,
                    weights,
                    units: &fitted.units,
                    has_intercept: self.has_intercept,
                };
                let choice = residuals::Choice { loss, c: self.c.value(), seed };
                let mut solution = by_residuals(samples, choice, &standard, monitor)?;
                let k = all.n_outputs();
                // Equal samples have no features here.
                let width = solution.weights.len() / k;
                let of_output = |output: usize| rows.original(&solution.weights[output * width..][..width]);
                solution.weights = (0..k).map(of_output).collect::<Result<Vec<_>>>()?.concat();
                (solution, Matrix::zeros(0, k))
            }
        };
        clock.end_solved("solve")?;
        let metadata = RegressorMetadata {
            basis: made.basis,
            basis_rows: made.chosen.rows,
            c: self.c,
            loss: self.loss,
            seed,
            stages: clock.stages,
        };
        let warning = made.chosen.warning;
        let model = BasisExpansionRegressor::of_solution(
            made.expansion,
            (solution, &standard),
            self.has_intercept,
            metadata,
            warning,
        );
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
    standard: &'a StandardTargets,
    has_intercept: bool,
    pool: &'a Pool,
}

impl Problem<'_> {
    /// By the squared loss, with the leave-one-out decision values of the samples if they are requested.
    fn squared(
        &self,
        fitted: Fitted,
        c: CChoice,
        leaves_out: bool,
        monitor: &Monitor<'_>,
    ) -> Result<(Solution, Matrix)> {
        let n = fitted.weights.len();
        let solver = FeatureRidge::new(self.phi, self.has_intercept, fitted, self.pool, monitor)?;
        let chosen = RegressionSelection::of(c, self.standard, solver.spectrum(), |lambdas| {
            solver.leave_one_out(lambdas, monitor)
        })?;
        let FeatureSolution { weights, intercepts } = solver.solution(chosen.lambda)?;
        let k = intercepts.len();
        let loo_values = match leaves_out {
            true => solver.loo_values(chosen.lambda, monitor)?,
            false => Matrix::zeros(0, k),
        };
        let norms = weights.iter().map(|weight| weight * weight).sum::<f64>();
        let report = move |stages| of_closed_form(norms, n, k, stages);
        let solution = Solution {
            weights,
            intercepts,
            c: chosen.c(),
            warning: chosen.warning(self.standard),
            path: chosen.path,
            epsilons: Vec::new(),
            loss_path: Vec::new(),
            report: Box::new(report),
        };
        Ok((solution, loo_values))
    }
}

impl<S: Similarity> fmt::Debug for BasisExpansionRegressorParams<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BasisExpansionRegressorParams")
            .field("similarity", &self.expander.similarity.spec())
            .field("n_basis", &self.expander.n_basis)
            .field("loss", &self.loss)
            .field("C", &self.c)
            .finish_non_exhaustive()
    }
}

/// A regression on a basis expansion. It stores its bases, and compares samples with these only.
#[derive(Clone)]
pub struct BasisExpansionRegressor<S: Similarity> {
    pub(crate) expansion: BasisExpansion<S>,
    /// How the bases were selected.
    pub(crate) basis: String,
    /// Their training rows; empty for explicit bases.
    pub(crate) basis_rows: Vec<usize>,
    pub(crate) c: f64,
    pub(crate) path: Vec<RegressionPoint>,
    pub(crate) loss: Loss,
    /// ε of each output, of the losses that have one.
    pub(crate) epsilons: Vec<f64>,
    pub(crate) loss_path: Vec<LossPoint>,
    pub(crate) has_intercept: bool,
    /// `[output][feature]`.
    pub(crate) weights: Vec<f64>,
    pub(crate) intercepts: Vec<f64>,
    pub(crate) report: Report,
    /// The weights over the largest of each output in the form used for prediction, computed on first use.
    pub(crate) decision: OnceLock<Decision>,
    pub(crate) origin: Origin,
}

impl<S: Similarity> BasisExpansionRegressor<S> {
    // The number of features depends on the kind of samples.
    tells_origin!(|_| None);
    on_expansion!(BasisExpansionRegressor);

    /// From a solution, in the unit of the targets; `warning` is of the bases.
    pub(super) fn of_solution(
        expansion: BasisExpansion<S>,
        (mut solution, standard): (Solution, &StandardTargets),
        has_intercept: bool,
        metadata: RegressorMetadata,
        warning: Option<String>,
    ) -> Self {
        let RegressorMetadata { basis, basis_rows, loss, seed, stages, .. } = metadata;
        standard.restore(&mut solution.weights, &mut solution.intercepts);
        let mut report = (solution.report)(stages);
        let (notes, warnings) = expansion.remarks();
        report.notes.extend(notes);
        report.warnings.extend(warnings.into_iter().chain(warning).chain(solution.warning));
        BasisExpansionRegressor {
            expansion,
            basis,
            basis_rows,
            c: solution.c,
            path: solution.path,
            loss,
            epsilons: solution.epsilons,
            loss_path: solution.loss_path,
            has_intercept,
            weights: solution.weights,
            intercepts: solution.intercepts,
            report,
            decision: OnceLock::new(),
            origin: Origin::of(TrainingSettings { seed, ..TrainingSettings::default() }),
        }
    }

    /// The predicted targets of samples: samples × outputs.
    ///
    /// Uses `threads` threads, 0 meaning one per core; the values do not depend on it.
    ///
    /// # Errors
    /// Errors of the similarity; [`Error::Similarity`] for a non-finite value, naming the pair.
    pub fn predict(&self, samples: &dyn Source<Samples = S::Samples>, threads: usize) -> Result<DenseMatrix<f64>> {
        self.predict_with(samples, threads, &Monitor::none())
    }

    /// The same with a monitor, which receives progress and may cancel (time limits are ignored).
    ///
    /// # Errors
    /// As for [`BasisExpansionRegressor::predict`]; [`Error::Cancelled`].
    pub fn predict_with(
        &self,
        samples: &dyn Source<Samples = S::Samples>,
        threads: usize,
        monitor: &Monitor<'_>,
    ) -> Result<DenseMatrix<f64>> {
        let k = self.intercepts.len();
        let weights = (&self.decision, &self.weights[..]);
        let mut values = precise_products(&self.expansion, weights, k, samples, threads, monitor)?;
        values.iter_mut().enumerate().for_each(|(at, value)| *value += self.intercepts[at % k]);
        Ok(DenseMatrix { values, n_rows: samples.n_samples(), n_cols: k })
    }

    /// The same model with another estimate at its C, and its warning if it is no better than the mean.
    pub(crate) fn with_estimate(mut self, estimate: RegressionPoint, warning: Option<String>) -> Self {
        self.path.iter_mut().filter(|point| point.c == estimate.c).for_each(|point| *point = estimate.clone());
        self.report.warnings.retain(|warning| !warning.starts_with("no better than the mean"));
        self.report.warnings.extend(warning);
        let note = "the estimate is that of five folds, each with a search of its own";
        self.report.notes.push(note.into());
        self
    }

    /// Number of targets of each sample.
    pub fn n_outputs(&self) -> usize {
        self.intercepts.len()
    }

    getters! {
        /// The weights, `[output][feature]`.
        weights: &[f64];
        /// The intercepts, one per output.
        intercepts: &[f64];
        /// The weight C of the losses, fixed or selected.
        copy c: f64;
        /// The leave-one-out results of each C that was evaluated, by ascending C; only one for a fixed C. For the
        /// squared loss only.
        path: &[RegressionPoint];
        /// The requested loss.
        copy loss: Loss;
        /// ε of each output, fixed or selected, in the unit of its targets; empty for losses that have none.
        epsilons: &[f64];
        /// The estimated loss on new samples at each C that was evaluated, by ascending C; only one for a fixed C. For
        /// losses that are not squared.
        loss_path: &[LossPoint];
        /// Whether there is an intercept.
        copy has_intercept: bool;
    }
}

impl<S: Similarity> fmt::Debug for BasisExpansionRegressor<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BasisExpansionRegressor")
            .field("expansion", &self.expansion)
            .field("n_outputs", &self.intercepts.len())
            .field("report", &self.report)
            .finish_non_exhaustive()
    }
}
