//! Training, for every method and task.

use std::collections::BTreeMap;

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use widemargin::select::{Answers, Estimator};

use crate::compared::{Fitted, compared};
use crate::convert::{self, Common, Measure};
use crate::errors::raise;
use crate::model::Model;
use crate::power_mean::own_kernel;
use crate::python_similarity::{PythonCall, Similarities, combined};
use crate::samples::PySamples;
use crate::work::{Patience, conduct};

/// The value of a parameter.
#[derive(FromPyObject)]
pub(crate) enum Value<'py> {
    #[pyo3(transparent)]
    Flag(bool),
    #[pyo3(transparent)]
    Text(String),
    #[pyo3(transparent)]
    Whole(i64),
    #[pyo3(transparent)]
    Number(f64),
    #[pyo3(transparent)]
    Rows(PyReadonlyArray1<'py, i64>),
    #[pyo3(transparent)]
    Similarities(Similarities),
    #[pyo3(transparent)]
    Kernel(PythonCall),
    #[pyo3(transparent)]
    Nodes(Vec<f64>),
}

/// Trains a model on built-in similarities or kernels, Python functions, or both. Parameters that are missing or `None` are
/// automatic, or have their defaults.
#[pyfunction]
pub(crate) fn fit(
    py: Python<'_>,
    method: &str,
    task: &str,
    samples: PySamples<'_>,
    target: Option<Measure<'_>>,
    parameters: BTreeMap<String, Option<Value<'_>>>,
    common: Common<'_>,
) -> PyResult<Fitted> {
    let measured = target.as_ref().map(Measure::answers).transpose()?;
    let (answers, weights) = measured.unwrap_or_default();
    let mut estimator = Estimator::new(method.parse().map_err(raise)?, task.parse().map_err(raise)?).map_err(raise)?;
    let Common { seed, threads, tol, max_iter, .. } = common;
    let numbers = [("tol", tol.to_string()), ("max_iter", max_iter.to_string())];
    let numbers = numbers.into_iter().chain([("seed", seed.to_string()), ("threads", threads.to_string())]);
    let mut texts: Vec<(String, String)> = numbers.map(|(name, text)| (name.to_owned(), text)).collect();
    texts.retain(|(name, _)| estimator.names().contains(&&**name));
    let (mut similarities, mut kernel, mut basis) = (Similarities::default(), None, None);
    for (name, value) in parameters {
        let text = match value {
            None => continue,
            Some(Value::Flag(is_set)) => if is_set { "yes" } else { "no" }.to_owned(),
            Some(Value::Text(text)) => text,
            Some(Value::Whole(number)) => number.to_string(),
            Some(Value::Number(number)) => number.to_string(),
            Some(Value::Nodes(nodes)) => nodes.iter().map(|node| format!("{node:?}")).collect::<Vec<_>>().join(":"),
            Some(Value::Rows(rows)) => {
                basis = Some(convert::rows(&rows)?);
                continue;
            }
            Some(Value::Similarities(found)) => {
                similarities = found;
                continue;
            }
            Some(Value::Kernel(call)) => {
                kernel = Some(call);
                continue;
            }
        };
        texts.push((name, text));
    }
    texts.iter().try_for_each(|(name, text)| estimator.set(name, text)).map_err(raise)?;
    if let Some(rows) = basis {
        estimator = estimator.basis_rows(rows);
    }
    if let Some(Answers::Labels(labels)) = &answers {
        estimator = estimator.class_weight(convert::class_weight(common.class_weight.as_ref(), labels)?);
    }
    let patience = Patience { wants_best: method == "auto", ..common.patience() };
    if !similarities.1.is_empty() {
        let similarity = combined(similarities)?;
        let model = samples.conduct(py, &patience, |view, monitor| {
            estimator.fit_with(similarity, view, answers.as_ref(), weights, monitor)
        })?;
        return Ok((Model::fitted(model, common.features)?, Vec::new()));
    }
    let estimator = estimator.similarity(similarities.0);
    let place = samples.place()?;
    let (model, tried) = conduct(py, &patience, |monitor, to_caller| {
        let estimator = match kernel {
            Some(call) => estimator.scalar_kernel(own_kernel(call, to_caller)),
            None => estimator,
        };
        place.with(|samples| estimator.fit(samples, answers.as_ref(), weights, monitor))
    })?;
    Ok((Model::fitted(model, common.features)?, compared(tried)))
}
