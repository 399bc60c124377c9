//! Outlier detection on a basis expansion, for any similarity.
//!
//! Samples are compared with a few bases and the similarities normalized, as for the classifier
//! ([`Expander`](super::expand::Expander)); on these features w minimizes Σ (1 − w·φ(x))² + κ n s ‖w‖², with the mean
//! square s of a feature: ridge regression of the constant 1 without an intercept ([`FeatureRidge`]), the least squares
//! one-class SVM in the primal. A sample unlike all training samples has similarities, and a score w·φ(x), close to 0.

use super::expand::Expansion;
use super::expansion_params::ExpansionParams;
use super::fit::{ExpansionFit, InMemory};
use super::one_class::{BasisExpansionOneClass, OneClassTask, check_numbers};
use crate::data::{ABSENT, Samples, Source, Targets, common_divisor_of};
use crate::error::{Result, require};
use crate::expansion::{BasisExpansion, NegativeEigenvalues, Normalization, NystroemCut};
use crate::macros::setters;
use crate::model::PartedTargets;
use crate::model::known::Merged;
use crate::model::on_workers::Preparation;
use crate::model::regression_path::{closed_form_report, half_norms};
use crate::model::within_limit::TrainingSet;
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::partition::{Remote, Workers};
use crate::similarity::Similarity;
use crate::solve::Report;
use crate::solve::ridge::{FeatureRidge, FeatureSolution, PartedRidge, Spectrum};
use crate::tuning::{
    MAX_COMPARED_BASES, MAX_PARTED_FEATURES, MIN_CENTERED_OTHERS, MIN_DRAWS_OF_CONTENT, MIN_THRESHOLD_SAMPLES,
    ONE_CLASS_N_BASIS,
};

/// Parameters of an outlier detector on a basis expansion, with their defaults.
pub type BasisExpansionOneClassParams<S> = ExpansionParams<S, OneClassParams>;

/// Those of the task.
#[derive(Clone, Copy, Debug)]
pub struct OneClassParams {
    quantile: f64,
    shrinkage: f64,
}

impl<S: Similarity> BasisExpansionOneClassParams<S> {
    /// The defaults for a similarity: 500 evenly spaced bases, but at most half of the samples, so that the other half
    /// sets the threshold (with fewer than 20 samples, all); `nystroem` normalization, quantile 0.05, shrinkage
    /// 0.01, one thread per core.
    pub fn new(similarity: S) -> Self {
        let normalization = Normalization::Nystroem(NegativeEigenvalues::Clip);
        let task = OneClassParams { quantile: 0.05, shrinkage: 0.01 };
        ExpansionParams::of(similarity, normalization, NystroemCut::PreciseMillionth, task)
    }

    setters! {
        /// The share of samples like the training ones that are expected to be classified as outliers, above 0 and
        /// below 1: the threshold is this quantile of the leave-one-out scores.
        quantile: f64 => task.quantile = quantile;
        /// κ of the penalty, above 0. Little follows the samples closely, much averages similarities to them.
        shrinkage: f64 => task.shrinkage = shrinkage;
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
    /// The leave-one-out score of a sample is the exact score of a fit without it and its copies (of few distinct samples
    /// with many copies each, without one copy), with the same bases and normalization. Bases do not count for the
    /// threshold, since their similarity to themselves is unlike that of a new sample, except if fewer than 20 samples
    /// (10 for centered features) are not bases. If a time limit does not allow a fit on all samples,
    /// the model is fitted to a subset, as noted in the report, and there are no leave-one-out scores.
    ///
    /// # Errors
    /// Invalid parameters or samples, with their names and the expected values; [`Error::Memory`](crate::Error::Memory) if the features do
    /// not fit; [`Error::Cancelled`](crate::Error::Cancelled) if the monitor cancelled; [`Error::TooShort`](crate::Error::TooShort) if its time limit passed before a
    /// fit on few samples.
    pub fn fit_with(
        self,
        samples: &dyn Source<Samples = S::Samples>,
        sample_weight: Option<&[f64]>,
        monitor: &Monitor<'_>,
    ) -> Result<BasisExpansionOneClass<S>> {
        let known = &Targets::single(vec![1.0; samples.n_samples()])?;
        self.fit_in_time(TrainingSet { samples, known, sample_weight }, monitor)
    }
}

impl ExpansionFit for OneClassParams {
    type Known = Targets;
    type Task = OneClassTask;

    fn check<S: Similarity>(params: &BasisExpansionOneClassParams<S>) -> Result<()> {
        check_numbers(params.task.quantile, params.task.shrinkage)?;
        check_normalization(params.expander.normalization)
    }

    fn usual_bases(&self, weights: &[f64]) -> Result<Option<usize>> {
        let n = weights.len();
        check_number(n, weights.iter().sum())?;
        Ok(Some(if n < MIN_THRESHOLD_SAMPLES { n.max(1) } else { (n / 2).min(ONE_CLASS_N_BASIS) }))
    }

    fn model_in_memory<S: Similarity>(mut fit: InMemory<'_, S, Self>) -> Result<BasisExpansionOneClass<S>> {
        let (prepared, InMemory { task, made, clock, .. }) = (fit.prepared, &mut fit);
        let (Merged { distinct, known, weights, .. }, monitor) = (&prepared.merged, clock.monitor);
        let (places, expansion) = (&distinct.places, &made.expansion);
        let warning = warning_of_distances(expansion)?;
        let targets = PartedTargets::of(known, weights.clone(), weights_of_one(weights), false)?;
        let pool = Pool::new(prepared.threads)?;
        let ridge = FeatureRidge::new(&made.phi, false, targets.fitted.clone(), &pool, monitor)?;
        let lambda = penalty(&ridge.parted().spectrum, made.phi.n_cols(), task.shrinkage);
        let solution = ridge.solution(lambda)?;
        clock.end_solved("solve")?;
        let loo_values = ridge.loo_values(lambda, monitor)?.into_values();
        let bases = made.basis.rows.iter().map(|&row| places[row]).filter(|place| *place != ABSENT);
        let task = task.solved(solution, loo_values, &targets, bases, expansion.normalization());
        clock.end("leave-one-out")?;

        let report = report_of(&task, weights.len(), expansion);
        drop(ridge);
        let mut model = fit.model(task, report);
        model.report.warnings.extend(warning);
        // Samples without weight were not part of the fit.
        let absent: Vec<usize> = (0..places.len()).filter(|&row| places[row] == ABSENT).collect();
        let of_absent = match absent.is_empty() {
            true => Vec::new(),
            false => {
                let absent = prepared.samples.select(&absent)?;
                model.precise_products(&absent, prepared.threads, &monitor.without_progress())?
            }
        };
        let (mut of_absent, loo) = (of_absent.into_iter(), std::mem::take(&mut model.task.loo_scores));
        let score = |&place: &usize| if place == ABSENT { of_absent.next() } else { loo.get(place).copied() };
        model.task.loo_scores = places.iter().filter_map(score).collect();
        Ok(model)
    }
}

impl OneClassParams {
    /// The task of a solution, with the leave-one-out decision values of the samples, and those that are bases.
    fn solved(
        &self,
        solution: FeatureSolution,
        loo_values: Vec<f64>,
        targets: &PartedTargets,
        bases: impl Iterator<Item = usize>,
        normalization: Normalization,
    ) -> OneClassTask {
        let (OneClassParams { quantile, shrinkage }, weights, units) = (*self, targets.weights(), targets.units());
        // 0 if the other samples do not determine it.
        let loo_scores: Vec<f64> =
            loo_values.into_iter().map(|value| if value.is_finite() { value } else { 0.0 }).collect();
        // Another draw of the content of a basis is as similar to it as a new sample that equals it will be.
        let mut others = weights.to_vec();
        bases.for_each(|row| others[row] = weights[row] - units[row]);
        // Centered features of bases have mean 0, and so have their scores.
        let is_centered = matches!(normalization, Normalization::Centered(_));
        let enough = if is_centered { MIN_CENTERED_OTHERS } else { MIN_THRESHOLD_SAMPLES };
        let threshold = threshold(&loo_scores, (weights, units), (&others, enough), quantile);
        OneClassTask { quantile, shrinkage, threshold, weights: solution.weights, loo_scores }
    }
}

impl<S: Similarity> BasisExpansionOneClass<S> {
    /// Trains on the features of an expansion; `targets` has the number 1 and the weight of each of the same rows,
    /// without an intercept. The leave-one-out score of every row is collected here. Equal samples are not merged: of
    /// copies of a basis only the row that is the basis does not count for the threshold.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) for a wrong quantile or shrinkage, a single sample, or too many
    /// features for the sums of their products; [`Error::NotFinite`](crate::Error::NotFinite); an error of the rows;
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    #[doc(hidden)]
    pub fn of_workers(
        expansion: BasisExpansion<S>,
        targets: &PartedTargets,
        workers: impl Workers,
        (quantile, shrinkage): (f64, f64),
        preparation: Preparation,
        monitor: &Monitor<'_>,
    ) -> Result<Self> {
        check_numbers(quantile, shrinkage)?;
        check_normalization(expansion.normalization())?;
        check_number(targets.n_present(), targets.total())?;
        let (made, training, mut clock) = Expansion::on_workers(expansion, preparation, monitor);
        let features = &mut Remote::new(workers);
        let ridge = PartedRidge::new(features, (1, targets.total()), MAX_PARTED_FEATURES, monitor)?;
        let lambda = penalty(&ridge.spectrum, made.expansion.n_features(), shrinkage);
        let (solution, loo_values) = (ridge.solution(lambda), ridge.loo_values(features, lambda, monitor)?);
        let n = loo_values.len();
        let params = OneClassParams { quantile, shrinkage };
        let bases = made.basis.rows.iter().copied().filter(|row| *row < n);
        let task = params.solved(solution, loo_values, targets, bases, made.expansion.normalization());
        clock.end_solved("solve")?;
        let report = report_of(&task, targets.n_present(), &made.expansion);
        Ok(made.model(task, report, (training, clock.stages)))
    }
}

/// The report of a solution for n samples.
fn report_of<S: Similarity>(task: &OneClassTask, n: usize, expansion: &BasisExpansion<S>) -> Report {
    let mut report = closed_form_report(&half_norms(&task.weights, 1), n, Vec::new());
    let is_blind = task.threshold <= 0.0 && !expansion.similarity().metadata().brings_columns;
    report.warnings.extend(is_blind.then(|| {
        format!(
            "the threshold is {:.3}, and the scores of samples that are far from all others are about 0: they may not be detected; use \
             another similarity or fewer bases",
            task.threshold
        )
    }));
    report
}

/// The part of each weight that leave-one-out removes. Leave-one-out removes all copies of a sample, because they may
/// represent one weighted sample. If the distinct samples have many copies on average, as in a table with few distinct
/// values, the copies are independent draws, and it removes a single one.
fn weights_of_one(weights: &[f64]) -> Vec<f64> {
    let n_least = MIN_DRAWS_OF_CONTENT * weights.len() as f64;
    let draw = match weights {
        [only] => Some(only.min(1.0)),
        _ => common_divisor_of(weights).filter(|draw| weights.iter().sum::<f64>() >= n_least * draw),
    };
    weights.iter().map(|weight| draw.map_or(*weight, |draw| weight.min(draw))).collect()
}

/// Refuses a normalization that centers the features on the training samples: no sample has a score near 1 then, and
/// none is an outlier.
fn check_normalization(normalization: Normalization) -> Result<()> {
    let expected = "nystroem, centered or none: with features of mean 0 all scores are about 0";
    require(!normalization.is_learned(), "normalization", normalization, expected)
}

/// A warning where most bases are more similar to others, in absolute value, than to themselves, as under minus a
/// distance: the similarities of outliers are then not about 0.
fn warning_of_distances<S: Similarity>(expansion: &BasisExpansion<S>) -> Result<Option<String>> {
    let (similarity, bases) = (expansion.similarity(), expansion.described());
    let is_centered = matches!(expansion.normalization(), Normalization::Centered(_));
    let has_features = (0..similarity.n_parts()).any(|part| similarity.own_features(part, bases).is_some());
    if has_features || similarity.metadata().brings_columns {
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
fn check_number(n: usize, total_weight: f64) -> Result<()> {
    let expected = "at least 2 samples: the threshold is a quantile of leave-one-out scores";
    require(n >= 2 || total_weight >= 2.0, "n_samples", n, expected)
}

/// λ of ½‖w‖² + 1/(2λ) Σ (1 − w·φ)²: κ times the sum of the weights and the mean square of a feature.
fn penalty(spectrum: &Spectrum, n_features: usize, shrinkage: f64) -> f64 {
    shrinkage * spectrum.total_weight() * spectrum.unit() / n_features.max(1) as f64
}

/// Parts of a sample that are rounding.
const SAMPLE_ROUNDING: f64 = 1e-9;

/// The score that a new one is below with this probability, from the leave-one-out scores of samples that are no bases,
/// with weights `others`, if they are enough: of n of them, by weight, the (n + 1)·share-th, between two of them by
/// linear interpolation. `units` are the weights of single samples.
fn threshold(scores: &[f64], (weights, units): (&[f64], &[f64]), (others, enough): (&[f64], usize), share: f64) -> f64 {
    let with = |weights: &[f64]| {
        let rows = scores.iter().zip(weights).zip(units).map(|((score, weight), unit)| (*score, *weight, *unit));
        rows.filter(|(_, weight, _)| *weight > 0.0).collect::<Vec<_>>()
    };
    let unit = units.iter().sum::<f64>() / units.iter().filter(|unit| **unit > 0.0).count().max(1) as f64;
    let few = others.iter().sum::<f64>() < enough as f64 * unit;
    quantile(with(if few { weights } else { others }), unit, share)
}

/// The quantile of scores, each with a weight and the weight of one sample: k samples of one score count as k scores.
/// `unit` is the weight of a new sample. Where several samples have the score of the quantile, it is above them if that
/// is nearer to the share that is below it.
fn quantile(mut scores: Vec<(f64, f64, f64)>, unit: f64, share: f64) -> f64 {
    scores.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = scores.iter().map(|(_, weight, _)| weight).sum();
    let (wanted, rounding) = (share * (total + unit), SAMPLE_ROUNDING * unit);
    // The last score below, and the place of the last of its samples.
    let (mut last, mut below) = (None, 0.0);
    for equal in scores.chunk_by(|a, b| a.0 == b.0) {
        let (score, weight) = (equal[0].0, equal.iter().map(|(_, weight, _)| weight).sum::<f64>());
        let of_one = equal.iter().map(|(_, weight, unit)| weight.min(*unit)).fold(0.0, f64::max);
        // The place of the first sample.
        let first = below + of_one;
        if let Some(last) = last.filter(|_| wanted + rounding < first) {
            return last + (score - last) * (wanted - below) / of_one;
        }
        let above = below + weight;
        if wanted <= above + rounding {
            let next = scores.iter().map(|(other, ..)| *other).find(|other| *other > score);
            let is_nearer = weight > of_one + rounding && above - wanted < wanted - below - rounding;
            return next.filter(|_| is_nearer).map_or(score, |next| 0.5 * (score + next));
        }
        (last, below) = (Some(score), above);
    }
    last.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_copies() {
        let ones = |scores: &[f64]| scores.iter().map(|score| (*score, 1.0, 1.0)).collect::<Vec<_>>();
        let scores: Vec<f64> = (0..19).rev().map(f64::from).collect();
        // Of 19 scores the first, the second and the tenth.
        for (share, expected) in [(0.05, 0.0), (0.1, 1.0), (0.5, 9.0), (1e-6, 0.0), (0.999, 18.0)] {
            assert_eq!(quantile(ones(&scores), 1.0, share), expected, "{share}");
        }
        let weighted = vec![(2.0, 3.0, 1.0), (1.0, 2.0, 1.0), (5.0, 4.0, 1.0)];
        let copies = [2.0, 5.0, 1.0, 5.0, 2.0, 5.0, 1.0, 5.0, 2.0];
        for share in [0.05, 0.1, 0.2, 0.21, 0.3, 0.5, 0.51, 0.9] {
            assert_eq!(quantile(weighted.clone(), 1.0, share), quantile(ones(&copies), 1.0, share), "{share}");
            let parts = weighted.iter().map(|(score, weight, unit)| (*score, weight / 9.0, unit / 9.0)).collect();
            assert_eq!(quantile(parts, 1.0 / 9.0, share), quantile(ones(&copies), 1.0, share), "{share}");
        }
    }

    #[test]
    fn of_equal_scores_as_many_are_below_as_is_nearest() {
        let zeros = |n: usize| (0..20).map(|at| (if at < n { 0.0 } else { at as f64 }, 1.0, 1.0)).collect::<Vec<_>>();
        // 10 % are 2.1 of 20 and the next.
        for (n, expected) in [(1, 1.1), (2, 0.2), (3, 1.5), (4, 2.0), (5, 0.0)] {
            assert!((quantile(zeros(n), 1.0, 0.1) - expected).abs() < 1e-12, "{n}");
        }
        assert_eq!(quantile(vec![(0.0, 1.0, 1.0); 20], 1.0, 0.1), 0.0);
    }

    #[test]
    fn bases_count_only_where_there_are_few_others() {
        let scores: Vec<f64> = (0..40).map(f64::from).collect();
        let others = |weight: f64| (0..40).map(|at| if at < 20 { 0.0 } else { weight }).collect::<Vec<f64>>();
        assert_eq!(threshold(&scores, (&[1.0; 40], &[1.0; 40]), (&others(1.0), 20), 0.1), 21.1);
        assert_eq!(threshold(&scores[..39], (&[1.0; 39], &[1.0; 39]), (&others(1.0)[..39], 20), 0.1), 3.0);
        // Those without weight do not count at all.
        let (mut weights, mut others) = (vec![2.0; 40], others(2.0));
        (weights[20], others[20]) = (0.0, 0.0);
        assert_eq!(threshold(&scores, (&weights, &[1.0; 40]), (&others, 20), 0.1), 22.5);
    }
}
