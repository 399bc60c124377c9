//! The held-out score of a method with its selected parameters, from the decision values of five stratified folds.
//!
//! The parameters were selected on all of these samples and are not changed, so that a score costs five fits without a
//! search.

use crate::data::{
    ClassWeight, Distinct, Labels, SamplesView, Source, WeightedCodes, effective_weights, stratified_folds,
};
use crate::error::{Error, Result};
use crate::model::Classifier;
use crate::monitor::Monitor;
use crate::problem::OneVsRest;
use crate::tuning::N_FOLDS;

use super::{Scoring, cross_validate};

/// Samples with their labels and weights.
pub type Labeled<'a> = (&'a SamplesView<'a>, &'a Labels, Option<&'a [f64]>);

/// The score of these samples, each judged by a fit on the other folds. The weights are those of the caller: the weights
/// of classes belong to the fit, not to the score.
///
/// # Errors
/// [`Error::Score`] where the score is undefined, and for a class with a single sample; those of the fits;
/// [`Error::Cancelled`].
pub(super) fn held_out_score(
    fit: impl Fn(Labeled<'_>, &Monitor<'_>) -> Result<Box<dyn Classifier>>,
    scoring: Scoring,
    (samples, labels, sample_weight): Labeled<'_>,
    (seed, threads): (u64, usize),
    monitor: &Monitor<'_>,
) -> Result<f64> {
    // Folds do not split the copies of a sample.
    let effective = effective_weights(labels, sample_weight, &ClassWeight::Uniform)?;
    let merged = WeightedCodes { codes: labels.codes(), weights: sample_weight, effective: &effective };
    let Distinct { rows, weights, .. } =
        Distinct::find(|rows| samples.fingerprints(rows), merged, 0, threads, monitor)?;
    let known = labels.select(&rows);
    check_scoring(scoring, &known)?;
    let folds = stratified_folds(&known.as_strata(), (N_FOLDS as usize).min(rows.len()), seed)?;
    let n_classes = known.classes().len();
    let by_probabilities = scoring.prefers_probabilities(&known, n_classes);
    let n_values = OneVsRest::of(&known).n_problems();
    let mut values = vec![0.0; rows.len() * n_values];
    let mut probabilities = vec![0.0; if by_probabilities { rows.len() * n_classes } else { 0 }];
    cross_validate(&folds, |train, test| {
        let of = |places: &[usize]| places.iter().map(|&at| rows[at]).collect::<Vec<usize>>();
        let (training, held_out) = (of(train), of(test));
        let own_weights: Vec<f64> = train.iter().map(|&at| weights[at]).collect();
        let (training_samples, held_out_samples) = (samples.select(&training)?, samples.select(&held_out)?);
        let view = SamplesView::Other(&training_samples);
        let model = fit((&view, &labels.select(&training), Some(&own_weights)), monitor)?;
        if model.report().has_unbegun() {
            return Err(Error::Cancelled { stage: "folds" });
        }
        let scores = model.decision_function(&SamplesView::Other(&held_out_samples), threads, monitor)?;
        for (row, &at) in test.iter().enumerate() {
            values[at * n_values..][..n_values].copy_from_slice(scores.row(row));
            if by_probabilities {
                let calibration = model.calibration().ok_or(Error::NotCalibrated)?;
                let of_row: Vec<f64> = scores.row(row).iter().map(|&value| f64::from(value)).collect();
                let of_row = calibration.probabilities(&of_row, n_classes);
                probabilities[at * n_classes..][..n_classes].copy_from_slice(&of_row);
            }
        }
        Ok(0.0)
    })?;
    let probabilities = by_probabilities.then_some(&probabilities[..]);
    scoring.score(&known, Some(&weights), known.classes(), (&values, probabilities))
}

/// Rejects a scoring that is undefined for these labels, or for a fold of them.
///
/// # Errors
/// [`Error::Score`].
pub(super) fn check_scoring(scoring: Scoring, labels: &Labels) -> Result<()> {
    scoring.check(labels, labels.classes())?;
    let ones = vec![1.0; labels.len()];
    let counts: Vec<f64> = match labels.sets() {
        Some(sets) => sets.totals(labels.codes(), &ones).iter().map(|[_, with]| *with).collect(),
        None => labels.class_weights(&ones),
    };
    match counts.iter().position(|&count| count == 1.0) {
        Some(at) => {
            let (kind, name) = (if labels.is_multilabel() { "label" } else { "class" }, &labels.classes()[at]);
            let problem = format!("{kind} '{name}' has one sample only: with it left out, none is known");
            Err(scoring.undefined(problem))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{AnySamples, DenseMatrix, Vectors};
    use crate::model::{Standardize, ThinPlateParams};
    use crate::similarity::ConditionalKernel;

    /// Two clouds that overlap, the second a small one.
    fn clouds(n: usize) -> (Vectors, Labels) {
        let noise = |i: usize, step: usize| ((i * step) * 389 % 1009) as f32 / 1009.0;
        let is_second = |i: usize| i.is_multiple_of(4);
        let shift = |i: usize| if is_second(i) { 0.4 } else { 0.0 };
        let values = (0..n).flat_map(|i| [noise(i, 31) + shift(i), noise(i, 57)]).collect();
        (
            Vectors::Dense(DenseMatrix { values, n_rows: n, n_cols: 2 }),
            Labels::new((0..n).map(|i| i64::from(is_second(i)))),
        )
    }

    #[test]
    fn each_sample_is_scored_by_a_fit_without_it() {
        let (vectors, labels) = clouds(90);
        let weights: Vec<f64> = (0..90).map(|i| [1.0, 0.0, 2.0][i % 3]).collect();
        let any = AnySamples::Vectors(vectors.clone());
        let samples = SamplesView::Other(&any);
        let params = ThinPlateParams::new(ConditionalKernel::Distance).c(1.0).standardize(Standardize::Yes).threads(1);
        let monitor = Monitor::none();

        let merged = WeightedCodes { codes: labels.codes(), weights: Some(&weights), effective: &weights };
        let rows = Distinct::find(|rows| samples.fingerprints(rows), merged, 0, 1, &monitor).unwrap().rows;
        assert_eq!(rows.len(), 60);
        let known = labels.select(&rows);
        let folds = stratified_folds(&known, N_FOLDS as usize, 7).unwrap();
        let mut values = vec![f32::NAN; rows.len()];
        let mut probabilities = vec![f64::NAN; 2 * rows.len()];
        for fold in 0..N_FOLDS as usize {
            let train: Vec<usize> = (0..rows.len()).filter(|&at| folds[at] != fold).map(|at| rows[at]).collect();
            let some: AnySamples = samples.select(&train).unwrap();
            let some = SamplesView::Other(&some);
            let of_train: Vec<f64> = train.iter().map(|&row| weights[row]).collect();
            let model = params
                .fit_with(&some.rows("a test").unwrap(), &labels.select(&train), Some(&of_train), &monitor)
                .unwrap();
            let all = Classifier::decision_function(&model, &samples, 1, &monitor).unwrap();
            let likely = model.predict_proba(&samples, 1, &monitor).unwrap();
            for (at, &row) in rows.iter().enumerate().filter(|(at, _)| folds[*at] == fold) {
                values[at] = all.values()[row];
                probabilities[2 * at..][..2].copy_from_slice(&likely.values[2 * row..][..2]);
            }
        }
        let of_rows: Vec<f64> = rows.iter().map(|&row| weights[row]).collect();
        for scoring in Scoring::all().filter(|scoring| !scoring.is_of_numbers()) {
            let expected =
                scoring.score(&known, Some(&of_rows), known.classes(), (&values, Some(&probabilities))).unwrap();
            let refit = |(samples, labels, weights): Labeled<'_>, monitor: &Monitor<'_>| {
                let model = params.fit_with(&samples.rows("a test")?, labels, weights, monitor)?;
                Ok(Box::new(model) as Box<dyn Classifier>)
            };
            let found = held_out_score(refit, scoring, (&samples, &labels, Some(&weights)), (7, 1), &monitor).unwrap();
            assert!((found - expected).abs() < 1e-6, "{scoring}: {found} instead of {expected}");
            let plausible = if scoring.needs_probabilities() { -0.6..-0.01 } else { 0.1..0.99 };
            assert!(plausible.contains(&found), "{scoring}: {found}");
        }
    }

    #[test]
    fn rejects_classes_of_one_sample() {
        let refused = check_scoring(Scoring::F1Macro, &Labels::new(["a", "a", "b", "c", "c"])).unwrap_err().to_string();
        assert!(refused.contains("class 'b' has one sample only"), "{refused}");
        assert!(check_scoring(Scoring::F1Macro, &Labels::new(["a", "a", "b", "b"])).is_ok());
        let matrix = |values: &[f64]| Labels::multilabel(vec!["a".into(), "b".into()], values).unwrap();
        let once = matrix(&[1.0, 0.0, 1.0, 1.0, 0.0, f64::NAN, 0.0, 0.0]);
        let refused = check_scoring(Scoring::F1Macro, &once).unwrap_err().to_string();
        assert!(refused.contains("label 'b' has one sample only"), "{refused}");
        assert!(check_scoring(Scoring::F1Macro, &matrix(&[1.0, 1.0, 1.0, 1.0, 0.0, 0.0])).is_ok());
    }
}
