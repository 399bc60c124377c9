//! Outlier detection on a basis expansion, for any similarity.
//!
//! Samples are compared with a few bases and the similarities normalized, as for the classifier
//! ([`Expander`](super::expand::Expander)); on these features w minimizes Σ (1 − w·φ(x))² + κ n s ‖w‖², with the mean
//! square s of a feature: ridge regression of the constant 1 without an intercept ([`FeatureRidge`]), the least squares
//! one-class SVM in the primal. A sample unlike all training samples has similarities, and a score w·φ(x), close to 0.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::expand::TrainingSamples;
use super::expansion_model::{Basis, ExpansionModel, ExpansionTask};
use super::expansion_params::{ExpansionParams, SourceSet};
use super::products::precise_products;
use super::regressor_solution::half_norms;
use super::threshold::threshold;
use crate::data::{ABSENT, About, Distinct, Samples, Source, Targets, WeightedCodes, common_divisor_of};
use crate::error::{Error, Result};
use crate::expansion::{BasisExpansion, NegativeEigenvalues, Normalization, NystroemCut};
use crate::linalg::factor::Matrix;
use crate::macros::{getters, setters};
use crate::model::clock::Clock;
use crate::model::explanation::Decided;
use crate::model::file::{Array, Reader, array};
use crate::model::origin::{Origin, TrainingSettings};
use crate::model::regression_path::closed_form_report;
use crate::model::within_limit::TrainingSet;
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::similarity::Similarity;
use crate::solve::Stage;
use crate::solve::ridge::{FeatureRidge, FeatureSolution, Fitted, Spectrum};
use crate::tuning::{MAX_COMPARED_BASES, MIN_THRESHOLD_SAMPLES, ONE_CLASS_N_BASIS};

/// The default number of bases for this number of distinct samples.
fn usual_bases(n: usize) -> usize {
    if n < MIN_THRESHOLD_SAMPLES { n.max(1) } else { (n / 2).min(ONE_CLASS_N_BASIS) }
}

/// Parameters of an outlier detector on a basis expansion, with their defaults.
pub type BasisExpansionOneClassParams<S> = ExpansionParams<S, OneClassParams>;

/// Those of the task.
#[derive(Clone, Debug)]
pub struct OneClassParams {
    contamination: f64,
    shrinkage: f64,
}

impl<S: Similarity> BasisExpansionOneClassParams<S> {
    /// The defaults for a similarity: 500 evenly spaced bases, but at most half of the samples, so that the other half
    /// sets the threshold (with fewer than 20 samples, all); `nystroem` normalization, contamination 0.05, shrinkage
    /// 0.01, one thread per core.
    pub fn new(similarity: S) -> Self {
        let normalization = Normalization::Nystroem(NegativeEigenvalues::Clip);
        let task = OneClassParams { contamination: 0.05, shrinkage: 0.01 };
        ExpansionParams::of(similarity, normalization, NystroemCut::PreciseMillionth, task)
    }

    setters! {
        /// The share of samples like the training ones that are expected to be classified as outliers, above 0 and
        /// below 1: the threshold is this quantile of the leave-one-out scores.
        contamination: f64 => task.contamination = contamination;
        /// κ of the penalty, above 0. Little follows the samples closely, much averages similarities to them.
        shrinkage: f64 => task.shrinkage = shrinkage;
    }

    /// Checks the parameters without fitting.
    ///
    /// # Errors
    /// [`Error::Parameter`] naming the first that is invalid.
    pub fn check(&self) -> Result<()> {
        check_numbers(self.task.contamination, self.task.shrinkage)?;
        check_normalization(self.expander.normalization)?;
        self.expander.check(false)
    }

    /// Trains on samples.
    ///
    /// # Errors
    /// See [`BasisExpansionOneClassParams::fit_with`].
    pub fn fit(self, samples: &dyn Source<Samples = S::Samples>) -> Result<BasisExpansionOneClass<S>> {
        self.fit_with(samples, None, &Monitor::none())
    }

    /// Trains with one weight per sample and a monitor. Weight k is equivalent to k copies, weight 0 to leaving a
    /// sample out.
    ///
    /// The leave-one-out score of a sample is the exact score of a fit without one copy of it, with the same bases and
    /// normalization. Bases do not count for the threshold, since their similarity to themselves is unlike that of a
    /// new sample, except if fewer than 20 samples are not bases. If a time limit does not allow a fit on all samples,
    /// the model is fitted to a subset, as noted in the report, and there are no leave-one-out scores.
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
        self.check()?;
        let ones = Targets::single(vec![1.0; samples.n_samples()])?;
        let weights = ones.weights(ones.len(), sample_weight)?;
        let set = TrainingSet { samples, known: &ones, sample_weight };
        self.fit_in_time(set, &weights, monitor, Self::fit_rows)
    }

    fn fit_rows(mut self, set: SourceSet<'_, S, Targets>, monitor: &Monitor<'_>) -> Result<BasisExpansionOneClass<S>> {
        let TrainingSet { samples, known: ones, sample_weight } = set;
        let (n, seed, threads) = (samples.n_samples(), self.expander.seed, self.threads);
        let effective = ones.weights(n, sample_weight)?;
        let mut clock = Clock::start(monitor);
        let samples = &About::new(samples, &effective)?;
        let weighted = WeightedCodes { codes: &vec![0; n], weights: sample_weight, effective: &effective };
        let distinct = Distinct::find(|rows| samples.fingerprints(rows), weighted, 0, threads, monitor)?;
        let weights = &distinct.weights;
        check_number(weights.len(), weights.iter().sum())?;
        clock.end("merge")?;

        self.expander.n_basis.get_or_insert(usual_bases(weights.len()));
        let codes = vec![0; weights.len()];
        let all = TrainingSamples { samples, distinct: &distinct, weights, codes: &codes, threads, monitor };
        let made = self.expander.fit(&all, &mut clock)?;

        let warning = warning_of_distances(&made.expansion)?;

        let targets = Matrix::from_columns(vec![1.0; weights.len()], weights.len(), 1);
        let units = one_copy(weights);
        let fitted = Fitted { targets, weights: weights.clone(), units: units.clone() };
        let pool = Pool::new(threads)?;
        let solver = FeatureRidge::new(&made.phi, false, fitted, &pool, monitor)?;
        let lambda = penalty(solver.spectrum(), made.phi.n_cols(), self.task.shrinkage);
        let FeatureSolution { weights: w, .. } = solver.solution(lambda)?;
        clock.end_solved("solve")?;
        let loo_values = loo_scores(solver.loo_values(lambda, monitor)?.into_values());
        // A copy of a basis is as similar to it as a new sample that equals it will be.
        let mut others = weights.clone();
        for place in made.basis.rows.iter().map(|&row| distinct.places[row]).filter(|place| *place != ABSENT) {
            others[place] = (weights[place] - units[place]).max(0.0);
        }
        let threshold = threshold(&loo_values, (weights, &units), &others, self.task.contamination);
        clock.end("leave-one-out")?;

        let OneClassParams { contamination, shrinkage } = self.task;
        let task = OneClassTask { contamination, shrinkage, threshold, weights: w, loo_scores: Vec::new() };
        let training = TrainingSettings { seed, ..TrainingSettings::default() };
        let mut model =
            BasisExpansionOneClass::of(made.expansion, task, (made.basis, training), (weights.len(), clock.stages));
        model.report.warnings.extend(made.warning.into_iter().chain(warning));
        let absent: Vec<usize> = (0..n).filter(|&row| distinct.places[row] == ABSENT).collect();
        // Samples without weight were not part of the fit.
        let mut of_absent = match absent.is_empty() {
            true => Vec::new(),
            false => model.score_samples_with(&samples.select(&absent)?, threads, &monitor.without_progress())?,
        }
        .into_iter();
        let score = |&place: &usize| if place == ABSENT { of_absent.next() } else { loo_values.get(place).copied() };
        model.task.loo_scores = distinct.places.iter().filter_map(score).collect();
        Ok(model)
    }
}

/// The weight of one copy of each sample. Without labels, repeated draws cannot be distinguished from weights: where all
/// weights are multiples of one, that is the weight of a copy, and else each weight is of one sample.
pub(super) fn one_copy(weights: &[f64]) -> Vec<f64> {
    let unit = match weights {
        [_] => 1.0,
        _ => common_divisor_of(weights).map_or(f64::INFINITY, |divisor| divisor.max(1.0)),
    };
    weights.iter().map(|weight| weight.min(unit)).collect()
}

/// Refuses a contamination or a shrinkage that cannot be.
pub(super) fn check_numbers(contamination: f64, shrinkage: f64) -> Result<()> {
    if !(contamination > 0.0 && contamination < 1.0) {
        return Err(Error::parameter("contamination", contamination, "a number above 0 and below 1"));
    }
    if !(shrinkage > 0.0 && shrinkage.is_finite()) {
        return Err(Error::parameter("shrinkage", shrinkage, "a finite number above 0"));
    }
    Ok(())
}

/// Refuses a normalization that centers the features on the training samples: no sample has a score near 1 then, and
/// none is an outlier.
pub(super) fn check_normalization(normalization: Normalization) -> Result<()> {
    if normalization.is_learned() {
        let expected = "nystroem, centered or none: with features of mean 0 all scores are about 0";
        return Err(Error::parameter("normalization", normalization, expected));
    }
    Ok(())
}

/// A warning where most bases are more similar to others, in absolute value, than to themselves, as under minus a
/// distance: the similarities of outliers are then not about 0.
fn warning_of_distances<S: Similarity>(expansion: &BasisExpansion<S>) -> Result<Option<String>> {
    let (similarity, bases) = (expansion.similarity(), expansion.described());
    let is_centered = matches!(expansion.normalization(), Normalization::Centered(_));
    let has_features = (0..similarity.n_parts()).any(|part| similarity.own_features(part, bases).is_some());
    if has_features || similarity.brings_columns() {
        return Ok(None);
    }
    let step = bases.len().div_ceil(MAX_COMPARED_BASES).max(1);
    let some = Samples::select(bases, &(0..bases.len()).step_by(step).collect::<Vec<_>>());
    let n = some.len();
    let mut block = vec![0.0; similarity.n_parts() * n * n];
    similarity.block(&some, &some, &mut block)?;
    let exceeds = |rows: &[f32], (a, b): (usize, usize)| rows[a * n + b].abs() > rows[a * n + a].max(rows[b * n + b]);
    for (part, rows) in block.chunks((n * n).max(1)).enumerate() {
        // Centered, minus a distance is definite.
        if is_centered && !expansion.is_indefinite(part) {
            continue;
        }
        let pairs = (0..n).flat_map(|a| (0..a).map(move |b| (a, b)));
        if 2 * pairs.filter(|pair| exceeds(rows, *pair)).count() > n * (n - 1) / 2 {
            let name = similarity.part(part);
            return Ok(Some(format!(
                "most samples are more similar to others than to themselves by {name}, as by minus a distance: it is not \
                 about 0 for outliers, which may not be detected; use one that is, such as one with gamma, or the \
                 normalization centered, if it is conditionally positive definite"
            )));
        }
    }
    Ok(None)
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

/// An outlier detector on a basis expansion. It stores its bases, and compares samples with them only.
pub type BasisExpansionOneClass<S> = ExpansionModel<S, OneClassTask>;

/// The task of an outlier detector on a basis expansion.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OneClassTask {
    pub(crate) contamination: f64,
    pub(crate) shrinkage: f64,
    pub(crate) threshold: f64,
    #[serde(skip)]
    pub(crate) weights: Vec<f64>,
    #[serde(skip)]
    pub(crate) loo_scores: Vec<f64>,
}

impl ExpansionTask for OneClassTask {
    const METHOD: &'static str = "basis-expansion-one-class";
    type Weight = f64;

    fn weights(&self) -> &[f64] {
        &self.weights
    }

    fn n_problems(&self) -> usize {
        1
    }

    fn decide<S: Similarity>(model: &BasisExpansionOneClass<S>, sample: &S::Samples) -> Result<Decided> {
        let values = model.decision_function(sample, 1)?;
        Ok(Decided {
            classes: vec!["score".into()],
            is_of_values: true,
            values,
            intercepts: vec![-model.task.threshold],
        })
    }

    fn arrays(&self, n_features: usize) -> [Array<'_>; 2] {
        let n = self.loo_scores.len();
        [array("weights", vec![n_features], &self.weights), array("loo_scores", vec![n], &self.loo_scores)]
    }

    fn read(&mut self, reader: &Reader<'_>, _origin: &Origin, n_features: usize) -> Result<()> {
        check_numbers(self.contamination, self.shrinkage).map_err(|error| reader.caused(&error))?;
        self.weights = reader.tensor("weights", &[n_features])?;
        self.loo_scores = reader.tensor("loo_scores", &[reader.size("loo_scores", 0)])?;
        Ok(())
    }

    fn check_finite(&self) -> Result<()> {
        if self.threshold.is_finite() {
            return Ok(());
        }
        Err(Error::NotFinite { what: "the model's threshold".into(), value: self.threshold })
    }

    fn parameters(&self) -> Value {
        json!({ "contamination": self.contamination, "shrinkage": self.shrinkage, "threshold": self.threshold })
    }

    fn of_picked(&mut self) {
        // Those of the other samples would take as long as a fit on all.
        self.loo_scores = Vec::new();
    }
}

impl<S: Similarity> BasisExpansionOneClass<S> {
    /// From a solution; the selection of the bases and the parameters of the fit; and the number of samples.
    pub(super) fn of(
        expansion: BasisExpansion<S>,
        task: OneClassTask,
        (basis, training): (Basis, TrainingSettings),
        (n, stages): (usize, Vec<Stage>),
    ) -> Self {
        let mut report = closed_form_report(&half_norms(&task.weights, 1), n, stages);
        let (notes, warnings) = expansion.remarks();
        report.notes.extend(notes);
        report.warnings.extend(warnings);
        ExpansionModel::new(expansion, basis, task, report, Origin::of(training))
    }

    /// The score of each sample: about 1 for samples like the training samples, closer to 0 for others.
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
        precise_products(&self.expansion, (&self.decision, &self.task.weights), 1, samples, threads, monitor)
    }

    /// The scores minus the threshold: below 0 for outliers.
    ///
    /// # Errors
    /// As for [`BasisExpansionOneClass::score_samples`].
    pub fn decision_function(&self, samples: &dyn Source<Samples = S::Samples>, threads: usize) -> Result<Vec<f64>> {
        let scores = self.score_samples(samples, threads)?;
        Ok(scores.into_iter().map(|score| score - self.task.threshold).collect())
    }

    /// 1 for inliers, −1 for outliers.
    ///
    /// # Errors
    /// As for [`BasisExpansionOneClass::score_samples`].
    pub fn predict(&self, samples: &dyn Source<Samples = S::Samples>, threads: usize) -> Result<Vec<i8>> {
        let values = self.decision_function(samples, threads)?;
        Ok(values.into_iter().map(|value| if value < 0.0 { -1 } else { 1 }).collect())
    }

    getters! {
        task =>
        /// The share of samples like the training ones that is expected below the threshold.
        copy contamination: f64;
        /// κ of the penalty.
        copy shrinkage: f64;
        /// The score below which samples are outliers.
        copy threshold: f64;
        /// The score of each training sample by a fit without one copy of it; of a base too, with its similarity to
        /// itself.
        loo_scores: &[f64];
    }
}
