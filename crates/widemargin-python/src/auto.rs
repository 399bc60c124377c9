//! A fit with default parameters.

use pyo3::prelude::*;
use widemargin::model::AnyModel;
use widemargin::select::{AutoMethod, AutoParams, Scoring};

use crate::compared::{Fitted, compared};
use crate::convert::{self, Common, Target, labeled};
use crate::errors::raise;
use crate::model::Model;
use crate::python_similarity::{Collected, needed};
use crate::work::{Patience, conduct};

/// Trains the best of the methods that suit the samples, with automatic parameters.
#[pyfunction]
pub(crate) fn fit_auto(
    py: Python<'_>,
    samples: Collected<'_>,
    target: Target<'_>,
    methods: Vec<String>,
    scoring: Option<&str>,
    common: Common<'_>,
) -> PyResult<Fitted> {
    let (labels, weights) = labeled(&target)?;
    let methods = methods.iter().map(|name| name.parse::<AutoMethod>().map_err(raise)).collect::<PyResult<_>>()?;
    let class_weight = convert::class_weight(common.class_weight.as_ref(), &labels)?;
    let scoring = scoring.map(|name| name.parse::<Scoring>().map_err(raise)).transpose()?;
    let params = AutoParams { methods, scoring, class_weight, seed: common.seed, threads: common.threads };
    let samples = needed(samples)?;
    let view = samples.view()?;
    let patience = Patience { wants_best: true, ..common.patience()? };
    let found = conduct(py, &patience, |monitor, _| params.fit_with(&view, &labels, weights, monitor))?;
    Ok((Model::fitted(AnyModel::Classifier(found.model), common.features)?, compared(found.tried)))
}
