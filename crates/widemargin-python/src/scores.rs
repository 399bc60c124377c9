//! Scores of decision values, probabilities and predicted targets, as the command line reports them.

use std::collections::BTreeMap;

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use widemargin::data::Labels;
use widemargin::select::{Ranking, RegressionScoring, Scoring, brier_score, log_loss};

use crate::errors::raise;

type Numbers<'py> = PyReadonlyArray1<'py, f64>;

/// The curve of the receiver operating characteristic, and that of precision over recall.
type Curves = (Vec<(f64, f64)>, Vec<(f64, f64)>);

/// A score of decision values, flat, of samples with these classes.
#[pyfunction]
#[pyo3(signature = (scoring, codes, n_classes, values, weights=None))]
pub(crate) fn class_score(
    scoring: &str,
    codes: Vec<u32>,
    n_classes: i64,
    values: PyReadonlyArray1<'_, f32>,
    weights: Option<Numbers<'_>>,
) -> PyResult<f64> {
    let scoring: Scoring = scoring.parse().map_err(raise)?;
    let classes: Vec<_> = (0..n_classes).map(Into::into).collect();
    let labels = Labels::new(codes.into_iter().map(i64::from));
    let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
    scoring.score(&labels, weights, &classes, values.as_slice()?).map_err(raise)
}

/// Log loss and Brier score of probabilities, flat, of samples with these classes.
#[pyfunction]
#[pyo3(signature = (codes, n_classes, probabilities, weights=None))]
pub(crate) fn probability_scores(
    codes: Vec<u32>,
    n_classes: usize,
    probabilities: Numbers<'_>,
    weights: Option<Numbers<'_>>,
) -> PyResult<(f64, f64)> {
    let (p, weights) = (probabilities.as_slice()?, weights.as_ref().map(|weights| weights.as_slice()).transpose()?);
    let loss = log_loss(&codes, n_classes, p, weights).map_err(raise)?;
    Ok((loss, brier_score(&codes, n_classes, p, weights).map_err(raise)?))
}

/// The scores of predicted targets, by name.
#[pyfunction]
#[pyo3(signature = (targets, predicted, weights=None))]
pub(crate) fn regression_scores(
    targets: Numbers<'_>,
    predicted: Numbers<'_>,
    weights: Option<Numbers<'_>>,
) -> PyResult<BTreeMap<String, f64>> {
    let (y, f) = (targets.as_slice()?, predicted.as_slice()?);
    let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
    let one = |scoring: RegressionScoring| Ok((scoring.to_string(), scoring.score(y, f, weights).map_err(raise)?));
    RegressionScoring::ALL.into_iter().map(one).collect()
}

/// The curves of two classes.
#[pyfunction]
pub(crate) fn curves(values: PyReadonlyArray1<'_, f32>, positive: Vec<bool>, weights: Numbers<'_>) -> PyResult<Curves> {
    let samples = values.as_slice()?.iter().zip(positive).zip(weights.as_slice()?);
    let ranking = Ranking::new(samples.map(|((value, side), weight)| (*value, side, *weight)));
    Ok((ranking.roc_curve(), ranking.precision_recall_curve()))
}
