//! Outlier detection on a basis expansion, by any similarity.
//!
//! Samples are compared with a few bases and the similarities normalized, as for the classifier ([`Expander`]); on
//! these features w minimizes Σ (1 − w·φ(x))² + κ n s ‖w‖², with the mean square s of a feature: ridge regression of
//! the constant 1 without an intercept ([`FeatureRidge`]), the least squares one-class machine in the primal. A sample
//! like none of the training has similarities, and a score w·φ(x), of about 0.

use std::fmt;
use std::sync::OnceLock;

use super::expand::{Expander, TrainingSamples};
use super::learn_weights::unweighted;
use super::on_expansion::on_expansion;
use super::products::precise_products;
use super::regressor_solution::of_closed_form;
use super::threshold::threshold;
use crate::basis::BasisChoice;
use crate::data::{ABSENT, About, Distinct, Picked, Source, Targets, WeightedCodes};
use crate::error::{Error, Result};
use crate::expansion::{BasisExpansion, Decision, NegativeEigenvalues, Normalization, NystroemCut};
use crate::linalg::factor::Matrix;
use crate::macros::{getters, setters};
use crate::model::clock::Clock;
use crate::model::draw_rows;
use crate::model::origin::{Origin, TrainingSettings, tells_origin};
use crate::model::within_limit::fit_within_limit;
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::similarity::Similarity;
use crate::solve::ridge::{FeatureRidge, FeatureSolution, Fitted, Spectrum};
use crate::solve::{Report, Stage};
use crate::tuning::{MIN_THRESHOLD_SAMPLES, ONE_CLASS_N_BASIS};

/// The default number of bases for this number of distinct samples.
fn usual_bases(n: usize) -> usize {
    if n < MIN_THRESHOLD_SAMPLES { n.max(1) } else { (n / 2).min(ONE_CLASS_N_BASIS) }
}

/// Parameters of an outlier detector on a basis expansion, with their defaults.
#[derive(Clone)]
pub struct BasisExpansionOneClassParams<S: Similarity> {
    expander: Expander<S>,
    quantile: f64,
    shrinkage: f64,
    threads: usize,
}

impl<S: Similarity> BasisExpansionOneClassParams<S> {
    /// The defaults for a similarity: 500 bases evenly spaced, and at most half of the samples, so that the other half
    /// sets the threshold (of fewer than 20 all); `nystroem` normalization, quantile 0.05, shrinkage 0.01, one thread
    /// per core.
    pub fn new(similarity: S) -> Self {
        BasisExpansionOneClassParams {
            expander: Expander {
                similarity,
                n_basis: None,
                basis: BasisChoice::default(),
                explicit: None,
                normalization: Normalization::Nystroem(NegativeEigenvalues::Clip),
                cut: NystroemCut::PreciseMillionth,
                seed: 0,
            },
            quantile: 0.05,
            shrinkage: 0.01,
            threads: 0,
        }
    }

    /// The same parameters for another similarity; explicit bases are dropped.
    pub fn with_similarity<T: Similarity>(self, similarity: T) -> BasisExpansionOneClassParams<T> {
        let BasisExpansionOneClassParams { expander, quantile, shrinkage, threads } = self;
        BasisExpansionOneClassParams { expander: expander.with_similarity(similarity), quantile, shrinkage, threads }
    }

    setters! {
        /// How many bases. Where there are fewer samples, all are used, with a note in the report. (By default 500, and
        /// at most half of the distinct samples, or all of fewer than 20.)
        n_basis: usize => expander.n_basis = Some(n_basis);
        /// How bases are selected among the training samples.
        basis: BasisChoice => expander.basis = basis;
        /// Explicit bases, in place of training samples.
        bases: S::Samples => expander.explicit = Some(bases);
        /// How the similarities are normalized. With one that centers the features, samples without similarities cannot
        /// be detected.
        normalization: Normalization => expander.normalization = normalization;
        /// The share of samples like the training ones that are expected to be classified as outliers, above 0 and
        /// below 1: the threshold is this quantile of the leave-one-out scores.
        quantile: f64;
        /// κ of the penalty, above 0. Little follows the samples closely, much averages similarities to them.
        shrinkage: f64;
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
        check_numbers(self.quantile, self.shrinkage)?;
        if !unweighted(&self.expander.similarity).is_empty() {
            let expected = "a number: weights of similarities are learned for classes";
            return Err(Error::parameter("weight", "auto", expected));
        }
        if self.expander.n_basis == Some(0) {
            return Err(Error::parameter("n_basis", "0", "at least 1"));
        }
        Ok(())
    }

    /// Trains on samples.
    ///
    /// # Errors
    /// See [`BasisExpansionOneClassParams::fit_with`].
    pub fn fit(self, samples: &dyn Source<Samples = S::Samples>) -> Result<BasisExpansionOneClass<S>> {
        self.fit_with(samples, None, &Monitor::none())
    }

    /// Trains with one weight per sample and a monitor. Weight k is equivalent to k copies, weight 0 to absence.
    ///
    /// The leave-one-out score of a sample is that of the fit without one copy of it, with the same bases and the same
    /// normalization: exact. Samples that are bases do not count for the threshold, since their similarity to
    /// themselves is not that of a new sample; where the others are fewer than 20, all count. If a time limit does not
    /// allow a fit on all samples, the model is of as many as it allows, as noted in the report, and there are no
    /// leave-one-out scores.
    ///
    /// # Errors
    /// Invalid parameters or samples, with their names and the expected values; [`Error::Memory`] if the features do
    /// not fit; [`Error::Cancelled`] if the monitor cancelled; [`Error::TooShort`] if its time limit passed before a
    /// fit on few samples.
    pub fn fit_with(
        self,
        samples: &dyn Source<Samples = S::Samples>,
        sample_weight: Option<&[f64]>,
        monitor: &Monitor<'_>,
    ) -> Result<BasisExpansionOneClass<S>> {
        let monitor = &monitor.with_strict_limit();
        if !monitor.has_time_limit() || self.for_some().is_none() {
            return self.fit_rows(samples, sample_weight, monitor);
        }
        self.check()?;
        let n = samples.n_samples();
        let weights = Targets::single(vec![1.0; n])?.weights(n, sample_weight)?;
        let (size, seed) = (self.expander.size(n, 1), self.expander.seed);
        let fit = |rows: Option<&[usize]>, monitor: &Monitor<'_>| {
            let params = self.for_some().ok_or(Error::NoSamples(""))?;
            let Some(rows) = rows else { return params.fit_rows(samples, sample_weight, monitor) };
            let of_rows: Vec<f64> = rows.iter().map(|&row| weights[row]).collect();
            let mut model = params.fit_rows(&Picked { source: samples, rows }, Some(&of_rows), monitor)?;
            model.basis_rows.iter_mut().for_each(|row| *row = rows[*row]);
            // Those of the other samples would take as long as a fit on all.
            model.loo_scores = Vec::new();
            Ok(model)
        };
        fit_within_limit(size, monitor, |n| draw_rows(&weights, n, seed), fit, |model| &mut model.report)
    }

    /// A copy, as for [`Expander::for_some`].
    fn for_some(&self) -> Option<Self> {
        let BasisExpansionOneClassParams { quantile, shrinkage, threads, .. } = *self;
        Some(BasisExpansionOneClassParams { expander: self.expander.for_some()?, quantile, shrinkage, threads })
    }

    fn fit_rows(
        mut self,
        samples: &dyn Source<Samples = S::Samples>,
        sample_weight: Option<&[f64]>,
        monitor: &Monitor<'_>,
    ) -> Result<BasisExpansionOneClass<S>> {
        self.check()?;
        let (n, seed, threads) = (samples.n_samples(), self.expander.seed, self.threads);
        let effective = Targets::single(vec![1.0; n])?.weights(n, sample_weight)?;
        let mut clock = Clock::start(monitor);
        let samples = &About::new(samples, &effective)?;
        let weighted = WeightedCodes { codes: &vec![0; n], weights: sample_weight, effective: &effective };
        let distinct = Distinct::find(|rows| samples.fingerprints(rows), weighted, 0, threads, monitor)?;
        let weights = &distinct.weights;
        check_number(weights.len(), weights.iter().sum())?;
        clock.end("merge")?;

        self.expander.n_basis.get_or_insert(usual_bases(weights.len()));
        let codes = vec![0; weights.len()];
        let training =
            TrainingSamples { samples, distinct: &distinct, weights, codes: &codes, n_classes: 1, threads, monitor };
        let made = self.expander.fit(&training, &mut clock)?;

        let ones = Matrix::from_columns(vec![1.0; weights.len()], weights.len(), 1);
        let units = one_copy(weights);
        let fitted = Fitted { targets: ones, weights: weights.clone(), units: units.clone() };
        let pool = Pool::new(threads)?;
        let solver = FeatureRidge::new(&made.phi, false, fitted, &pool, monitor)?;
        let lambda = penalty(solver.spectrum(), made.phi.n_cols(), self.shrinkage);
        let FeatureSolution { weights: w, .. } = solver.solution(lambda)?;
        clock.end_solved("solve")?;
        let loo_values = loo_scores(solver.loo_values(lambda, monitor)?.into_values());
        // A copy of a basis is as similar to it as a new sample that equals it will be.
        let mut others = weights.clone();
        for place in made.chosen.rows.iter().map(|&row| distinct.places[row]).filter(|place| *place != ABSENT) {
            others[place] = (weights[place] - units[place]).max(0.0);
        }
        let threshold = threshold(&loo_values, weights, &others, self.quantile);
        clock.end("leave-one-out")?;

        let found = Found { weights: w, threshold, loo_scores: Vec::new() };
        let metadata = (made.basis, made.chosen.rows, seed);
        let numbers = (self.quantile, self.shrinkage);
        let mut model =
            BasisExpansionOneClass::of(made.expansion, found, numbers, metadata, (weights.len(), clock.stages));
        model.report.warnings.extend(made.chosen.warning);
        let absent: Vec<usize> = (0..n).filter(|&row| distinct.places[row] == ABSENT).collect();
        // Samples without weight were not part of the fit.
        let mut of_absent = match absent.is_empty() {
            true => Vec::new(),
            false => model.score_samples_with(&samples.select(&absent)?, threads, &monitor.without_progress())?,
        }
        .into_iter();
        let score = |&place: &usize| if place == ABSENT { of_absent.next() } else { loo_values.get(place).copied() };
        model.loo_scores = distinct.places.iter().filter_map(score).collect();
        Ok(model)
    }
}

/// The weight of one copy of each sample. Without labels, repeated draws cannot be distinguished from weights: where
/// every sample has a weight above 1, the smallest is the unit of weights.
pub(super) fn one_copy(weights: &[f64]) -> Vec<f64> {
    let unit = weights.iter().copied().filter(|weight| *weight > 0.0).fold(f64::INFINITY, f64::min).max(1.0);
    weights.iter().map(|weight| weight.min(unit)).collect()
}

/// Refuses a quantile or a shrinkage that cannot be.
pub(super) fn check_numbers(quantile: f64, shrinkage: f64) -> Result<()> {
    if !(quantile > 0.0 && quantile < 1.0) {
        return Err(Error::parameter("quantile", quantile, "a number above 0 and below 1"));
    }
    if !(shrinkage > 0.0 && shrinkage.is_finite()) {
        return Err(Error::parameter("shrinkage", shrinkage, "a finite number above 0"));
    }
    Ok(())
}

/// Refuses a single sample, without which nothing is left.
pub(super) fn check_number(n: usize, total_weight: f64) -> Result<()> {
    if n < 2 && total_weight < 2.0 {
        let expected = "at least 2 samples: the threshold is a quantile of leave-one-out scores";
        return Err(Error::parameter("n_samples", n, expected));
    }
    Ok(())
}

/// λ of ½‖w‖² + 1/(2λ) Σ (1 − w·φ)²: κ times the sum of the weights and the mean square of a feature.
pub(super) fn penalty(spectrum: &Spectrum, n_features: usize, shrinkage: f64) -> f64 {
    shrinkage * spectrum.total_weight() * spectrum.unit() / n_features.max(1) as f64
}

/// Leave-one-out decision values as scores: 0 if the other samples do not determine it.
pub(super) fn loo_scores(mut values: Vec<f64>) -> Vec<f64> {
    values.iter_mut().filter(|value| !value.is_finite()).for_each(|value| *value = 0.0);
    values
}

impl<S: Similarity> fmt::Debug for BasisExpansionOneClassParams<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BasisExpansionOneClassParams")
            .field("similarity", &self.expander.similarity.spec())
            .field("n_basis", &self.expander.n_basis)
            .field("quantile", &self.quantile)
            .field("shrinkage", &self.shrinkage)
            .finish_non_exhaustive()
    }
}

/// A solution.
pub(super) struct Found {
    pub weights: Vec<f64>,
    pub threshold: f64,
    pub loo_scores: Vec<f64>,
}

/// An outlier detector on a basis expansion. It stores its bases, and compares samples with these only.
#[derive(Clone)]
pub struct BasisExpansionOneClass<S: Similarity> {
    pub(crate) expansion: BasisExpansion<S>,
    /// How the bases were selected.
    pub(crate) basis: String,
    /// Their training rows; empty for explicit bases.
    pub(crate) basis_rows: Vec<usize>,
    pub(crate) quantile: f64,
    pub(crate) shrinkage: f64,
    pub(crate) weights: Vec<f64>,
    pub(crate) threshold: f64,
    pub(crate) loo_scores: Vec<f64>,
    pub(crate) report: Report,
    /// The weights over the largest of them in the form used for prediction, computed on first use.
    pub(crate) decision: OnceLock<Decision>,
    pub(crate) origin: Origin,
}

impl<S: Similarity> BasisExpansionOneClass<S> {
    // The number of features depends on the kind of samples.
    tells_origin!(|_| None);
    on_expansion!(BasisExpansionOneClass);

    /// From a solution with this quantile and shrinkage; the selection of the bases, their rows and the seed; and the
    /// number of samples.
    pub(super) fn of(
        expansion: BasisExpansion<S>,
        found: Found,
        (quantile, shrinkage): (f64, f64),
        (basis, basis_rows, seed): (String, Vec<usize>, u64),
        (n, stages): (usize, Vec<Stage>),
    ) -> Self {
        let Found { weights, threshold, loo_scores } = found;
        let mut report = of_closed_form(weights.iter().map(|weight| weight * weight).sum(), n, 1, stages);
        let (notes, warnings) = expansion.remarks();
        report.notes.extend(notes);
        report.warnings.extend(warnings);
        BasisExpansionOneClass {
            expansion,
            basis,
            basis_rows,
            quantile,
            shrinkage,
            weights,
            threshold,
            loo_scores,
            report,
            decision: OnceLock::new(),
            origin: Origin::of(TrainingSettings { seed, ..TrainingSettings::default() }),
        }
    }

    /// The score of each sample: about 1 for those like the training samples, toward 0 for others.
    ///
    /// Uses `threads` threads, 0 meaning one per core; the values do not depend on it.
    ///
    /// # Errors
    /// Errors of the similarity; [`Error::Similarity`] for a non-finite value, naming the pair.
    pub fn score_samples(&self, samples: &dyn Source<Samples = S::Samples>, threads: usize) -> Result<Vec<f64>> {
        self.score_samples_with(samples, threads, &Monitor::none())
    }

    /// The same with a monitor, which receives progress and may cancel (time limits are ignored).
    ///
    /// # Errors
    /// As for [`BasisExpansionOneClass::score_samples`]; [`Error::Cancelled`].
    pub fn score_samples_with(
        &self,
        samples: &dyn Source<Samples = S::Samples>,
        threads: usize,
        monitor: &Monitor<'_>,
    ) -> Result<Vec<f64>> {
        precise_products(&self.expansion, (&self.decision, &self.weights), 1, samples, threads, monitor)
    }

    /// The scores less the threshold: below 0 for outliers.
    ///
    /// # Errors
    /// As for [`BasisExpansionOneClass::score_samples`].
    pub fn decision_function(&self, samples: &dyn Source<Samples = S::Samples>, threads: usize) -> Result<Vec<f64>> {
        let scores = self.score_samples(samples, threads)?;
        Ok(scores.into_iter().map(|score| score - self.threshold).collect())
    }

    /// 1 for samples like those of the training, −1 for outliers.
    ///
    /// # Errors
    /// As for [`BasisExpansionOneClass::score_samples`].
    pub fn predict(&self, samples: &dyn Source<Samples = S::Samples>, threads: usize) -> Result<Vec<i8>> {
        let values = self.decision_function(samples, threads)?;
        Ok(values.into_iter().map(|value| if value < 0.0 { -1 } else { 1 }).collect())
    }

    getters! {
        /// The weights, one per feature.
        weights: &[f64];
        /// The share of samples like the training ones that is expected below the threshold.
        copy quantile: f64;
        /// κ of the penalty.
        copy shrinkage: f64;
        /// The score below which samples are outliers.
        copy threshold: f64;
        /// The score of each training sample by a fit without one copy of it; of a base too, with its similarity to
        /// itself.
        loo_scores: &[f64];
    }
}

impl<S: Similarity> fmt::Debug for BasisExpansionOneClass<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BasisExpansionOneClass")
            .field("expansion", &self.expansion)
            .field("threshold", &self.threshold)
            .field("report", &self.report)
            .finish_non_exhaustive()
    }
}
