//! The power mean SVM.

use std::sync::Arc;

use pyo3::prelude::*;
use widemargin::descriptor::FeatureMax;
use widemargin::expansion::AdditiveMap;
use widemargin::model::{self, PowerMeanParams, PowerMeanParts, PowerMeanSvc};
use widemargin::partition::{Remote, SampleRows};
use widemargin::problem::Loss;
use widemargin::similarity::AdditiveKernel;

use crate::convert::{self, Common, Target, labelled};
use crate::errors::raise;
use crate::model::Model;
use crate::remote::{Solved, minimise};
use crate::samples::Given;
use crate::weighted_labels::WeightedLabels;
use crate::work::{Patience, conduct};
use crate::workers::PythonWorkers;

/// Trains a power mean SVM.
#[pyfunction]
#[pyo3(signature = (samples, target, *, kernel, loss, C, approximation, n_nodes,
    nodes, scale, shrinking, common))]
#[expect(non_snake_case, reason = "C is the parameter's name")]
#[expect(clippy::too_many_arguments, reason = "they are the estimator's parameters, passed by name")]
pub(crate) fn fit_power_mean(
    py: Python<'_>,
    samples: Given<'_>,
    target: Target<'_>,
    kernel: &str,
    loss: &str,
    C: f64,
    approximation: &str,
    n_nodes: usize,
    nodes: Option<Vec<f64>>,
    scale: bool,
    shrinking: bool,
    common: Common<'_>,
) -> PyResult<Model> {
    let (labels, weights) = labelled(&target)?;
    let kernel: AdditiveKernel = kernel.parse().map_err(raise)?;
    let params = params(kernel, n_nodes, nodes, scale)
        .loss(loss.parse().map_err(raise)?)
        .c(C)
        .approximation(approximation.parse().map_err(raise)?)
        .class_weight(convert::class_weight(common.class_weight.as_ref(), &labels)?)
        .tol(common.tol)
        .max_epochs(common.max_iter)
        .shrinking(shrinking)
        .seed(common.seed)
        .threads(common.threads);
    let rows = samples.rows("the power mean SVM")?;
    let model = conduct(py, &common.patience()?, |monitor, _| params.fit_with(&rows, &labels, weights, monitor))?;
    Model::fitted(model, common.feature_names).map_err(raise)
}

fn params(kernel: AdditiveKernel, n_nodes: usize, nodes: Option<Vec<f64>>, scale: bool) -> PowerMeanParams {
    let params = PowerMeanParams::new(kernel).scale(scale);
    match nodes {
        Some(nodes) => params.nodes(nodes),
        None => params.n_nodes(n_nodes),
    }
}

/// Trains on explicit features that `rows` stands for.
#[pyfunction]
#[pyo3(signature = (rows, labels, *, kernel, nodes, factors, C, stages, common))]
#[expect(non_snake_case, reason = "C is the parameter's name")]
#[expect(clippy::too_many_arguments, reason = "they are what a machine is made of, passed by name")]
pub(crate) fn fit_power_mean_remote(
    py: Python<'_>,
    rows: Py<PyAny>,
    labels: PyRef<'_, WeightedLabels>,
    kernel: &str,
    nodes: Vec<f64>,
    factors: Option<Vec<f64>>,
    C: f64,
    stages: Vec<(String, f64)>,
    common: Common<'_>,
) -> PyResult<Model> {
    let Solved { solution, shape, report } = minimise(py, rows, &labels, None, C, &common, stages)?;
    let map = AdditiveMap::nystrom(kernel.parse().map_err(raise)?, &nodes).map_err(raise)?;
    let parts = PowerMeanParts {
        n_features: shape.n_features / map.n_nodes(),
        map,
        loss: Loss::SquaredHinge,
        c: C,
        scaling: factors.map(FeatureMax::from_factors),
        classes: labels.labels.classes().to_vec(),
        weights: solution.weights,
        report,
    };
    let model = PowerMeanSvc::assembled(parts).map_err(raise)?.with_training(labels.training(&common));
    Model::fitted(model, common.feature_names).map_err(raise)
}

/// What features are multiplied by, where they are scaled, and the nodes of a kernel, for the samples that `rows` stands
/// for.
#[pyfunction]
pub(crate) fn scale_and_nodes(
    py: Python<'_>,
    rows: Py<PyAny>,
    kernel: &str,
    n_nodes: usize,
    nodes: Option<Vec<f64>>,
    is_scaled: bool,
) -> PyResult<(Option<Vec<f64>>, Vec<f64>)> {
    let (rows, params) = (Arc::new(rows), params(kernel.parse().map_err(raise)?, n_nodes, nodes, is_scaled));
    let (scaling, map) = conduct(py, &Patience::default(), |monitor, to_caller| {
        let mut samples = Remote::<SampleRows, _>::new(PythonWorkers::new(&rows, to_caller));
        model::scale_and_reduce(&mut samples, &params, monitor)
    })?;
    Ok((scaling.map(|scaling| scaling.factors().to_vec()), map.nodes().to_vec()))
}
