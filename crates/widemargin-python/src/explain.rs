//! Explanations of predictions and reports on models.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use widemargin::data::Source;
use widemargin_report::{Measurement, explanation_html, report_html};

use crate::convert::Measure;
use crate::model::{Model, Trained};
use crate::samples::PySamples;
use crate::work::{Patience, conduct};

/// The explanation of the first sample, for the class at `place` or the predicted one, as JSON and as HTML.
#[pyfunction]
pub fn explain(
    py: Python<'_>,
    model: &Bound<'_, Model>,
    samples: PySamples<'_>,
    place: Option<usize>,
    n_terms: usize,
) -> PyResult<(String, String)> {
    let this = model.get();
    let Trained::Any(model) = &this.0 else {
        return Err(PyTypeError::new_err("an expansion without a classifier has no predictions to explain"));
    };
    let (found, sample) = samples.conduct(py, &Patience::default(), |view, _| {
        Ok((model.explain(view, 0, place, n_terms)?, view.chunk(0..1)?))
    })?;
    let (bases, sample) = if this.is_python() { (None, None) } else { (model.bases(), Some(&sample)) };
    let html = explanation_html(&found, bases, sample, model.feature_names(), n_terms);
    let json = serde_json::to_string(&found).map_err(|error| PyTypeError::new_err(error.to_string()))?;
    Ok((json, html))
}

/// The report on a model as HTML.
#[pyfunction]
pub fn report(
    py: Python<'_>,
    model: &Bound<'_, Model>,
    title: String,
    data: Option<(PySamples<'_>, Option<Measure<'_>>, String)>,
    threads: usize,
) -> PyResult<String> {
    let (samples, measure, name) = match data {
        Some((samples, measure, name)) => (Some(samples), measure, name),
        None => (None, None, String::new()),
    };
    let view = samples.as_ref().map(|samples| samples.view()).transpose()?;
    let (answers, weights) = measure.as_ref().map(Measure::answers).transpose()?.unwrap_or_default();
    let (Trained::Any(model), false) = (&model.get().0, model.get().is_python()) else {
        let problem = "a report needs a model with built-in similarities, not Python functions";
        return Err(PyTypeError::new_err(problem));
    };
    let data = view.as_ref().map(|samples| Measurement { samples, answers: answers.as_ref(), weights, name });
    conduct(py, &Patience::default(), |monitor, _| report_html(model, title, data, threads, monitor))
}
