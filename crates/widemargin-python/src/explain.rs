//! Explanations of predictions and reports on models.

use std::path::PathBuf;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use widemargin::data::{AnySamples, Source};
use widemargin::model::{Explanation, write_atomically};
use widemargin_report::{Report, explanation_html};

use crate::convert::{Target, labeled};
use crate::errors::raise;
use crate::model::{Model, Trained};
use crate::python_similarity::{Collected, both, needed};
use crate::work::{Patience, conduct};

/// The explanation of the first of some samples, of the class at a position or of the predicted one, as JSON and as HTML.
#[pyfunction]
pub fn explain(
    py: Python<'_>,
    model: &Bound<'_, Model>,
    samples: Collected<'_>,
    place: Option<usize>,
    n_terms: usize,
) -> PyResult<(String, String)> {
    let told =
        |found: Explanation, bases: Option<&AnySamples>, sample: Option<&AnySamples>, names: Option<&[String]>| {
            let html = explanation_html(&found, bases, sample, names, n_terms);
            let json = serde_json::to_string(&found).map_err(|error| PyTypeError::new_err(error.to_string()))?;
            Ok((json, html))
        };
    match &model.get().0 {
        Trained::Any(model) => {
            let samples = needed(samples)?;
            let view = samples.view()?;
            let found = conduct(py, &Patience::default(), |_, _| model.explain(&view, 0, place, n_terms))?;
            let sample = view.chunk(0..1).map_err(raise)?;
            told(found, model.bases(), Some(&sample), model.feature_names())
        }
        Trained::Composite(model) => {
            let source = both(samples)?;
            let found =
                conduct(py, &Patience::default(), |_, to_caller| model.explain(&source(to_caller), 0, place, n_terms))?;
            told(found, None, None, model.feature_names())
        }
        _ => Err(PyTypeError::new_err("an expansion alone predicts nothing that could be explained")),
    }
}

/// The report on a model as HTML, written to a file where one is given.
#[pyfunction]
#[pyo3(signature = (model, title, data, path, threads, monitor = None))]
pub fn report(
    py: Python<'_>,
    model: &Bound<'_, Model>,
    title: String,
    data: Option<(Collected<'_>, Target<'_>, String)>,
    path: Option<PathBuf>,
    threads: usize,
    monitor: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let Trained::Any(model) = &model.get().0 else {
        let problem =
            "a report needs a model whose similarities are the library's: those of Python's functions have none";
        return Err(PyTypeError::new_err(problem));
    };
    let patience = Patience::new(None, monitor)?;
    let html = match data {
        None => {
            conduct(py, &patience, |monitor, _| Report { model: &**model, title, data: None }.html(threads, monitor))?
        }
        Some((samples, target, name)) => {
            let (labels, weights) = labeled(&target)?;
            let samples = needed(samples)?;
            let view = samples.view()?;
            let data = Some((&view, &labels, weights, name));
            conduct(py, &patience, |monitor, _| Report { model: &**model, title, data }.html(threads, monitor))?
        }
    };
    if let Some(path) = path {
        py.detach(|| write_atomically(&path, |out| out.write_all(html.as_bytes()))).map_err(crate::files::refused)?;
    }
    Ok(html)
}
