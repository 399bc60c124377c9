//! The power mean SVM.

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use widemargin::data::Label;
use widemargin::descriptor::FeatureMax;
use widemargin::expansion::AdditiveMap;
use widemargin::model::{PowerMeanParams, PowerMeanParts, PowerMeanSvc};
use widemargin::problem::Loss;
use widemargin::similarity::AdditiveKernel;
use widemargin::solve::Stage;

use crate::convert::{self, Asked, Class, Factors};
use crate::errors::raise;
use crate::model::Model;
use crate::remote_objective::Solution;
use crate::samples::Given;
use crate::work::{Patience, conduct};

/// Trains a power mean SVM.
#[pyfunction]
#[pyo3(signature = (samples, classes, codes, sample_weight, *, kernel, loss, C, approximation, n_nodes, nodes,
        scale, class_weight, tol, max_iter, seed, threads, time_limit, monitor,
        shrinking = true, feature_names = None))]
#[expect(non_snake_case, reason = "C is the parameter's name")]
#[expect(clippy::too_many_arguments, reason = "they are the estimator's parameters, passed by name")]
pub(crate) fn fit_power_mean(
    py: Python<'_>,
    samples: Given<'_>,
    classes: Vec<Class>,
    codes: PyReadonlyArray1<'_, u32>,
    sample_weight: Option<PyReadonlyArray1<'_, f64>>,
    kernel: &str,
    loss: &str,
    C: f64,
    approximation: &str,
    n_nodes: usize,
    nodes: Option<Vec<f64>>,
    scale: bool,
    class_weight: Option<Factors>,
    tol: f64,
    max_iter: u32,
    seed: u64,
    threads: usize,
    time_limit: Option<f64>,
    monitor: Option<Bound<'_, PyAny>>,
    shrinking: bool,
    feature_names: Option<Vec<String>>,
) -> PyResult<Model> {
    let labels = convert::labels(classes, &codes)?;
    let weights = sample_weight.as_ref().map(|weights| weights.as_slice()).transpose()?;
    let kernel: AdditiveKernel = kernel.parse().map_err(raise)?;
    let mut params = PowerMeanParams::new(kernel)
        .loss(loss.parse().map_err(raise)?)
        .c(C)
        .approximation(approximation.parse().map_err(raise)?)
        .n_nodes(n_nodes)
        .scale(scale)
        .class_weight(convert::class_weight(class_weight, &labels)?)
        .tol(tol)
        .max_epochs(max_iter)
        .shrinking(shrinking)
        .seed(seed)
        .threads(threads);
    if let Some(nodes) = nodes {
        params = params.nodes(nodes);
    }
    let patience = Patience::new(time_limit, monitor)?;
    let rows = samples.rows("the power mean SVM")?;
    conduct(py, &patience, |monitor, _| {
        Model::fitted(params.fit_with(&rows, &labels, weights, monitor)?, feature_names)
    })
}

/// The model of weights that were found apart, on `explicit` features.
#[pyfunction]
#[pyo3(signature = (solution, classes, *, kernel, nodes, factors, n_features, C, stages,
        training, feature_names = None))]
#[expect(non_snake_case, reason = "C is the parameter's name")]
#[expect(clippy::too_many_arguments, reason = "they are what a machine is made of, passed by name")]
pub(crate) fn assemble_power_mean(
    solution: PyRef<'_, Solution>,
    classes: Vec<Class>,
    kernel: &str,
    nodes: Vec<f64>,
    factors: Option<Vec<f64>>,
    n_features: usize,
    C: f64,
    stages: Vec<(String, f64)>,
    training: Asked,
    feature_names: Option<Vec<String>>,
) -> PyResult<Model> {
    let classes: Vec<Label> = classes.into_iter().map(Label::from).collect();
    let training = training.settings(&classes)?;
    let stages = stages.into_iter().map(|(name, seconds)| Stage { name, seconds }).collect();
    let parts = PowerMeanParts {
        map: AdditiveMap::nystrom(kernel.parse().map_err(raise)?, &nodes).map_err(raise)?,
        loss: Loss::SquaredHinge,
        c: C,
        scaling: factors.map(FeatureMax::from_factors),
        n_features,
        classes,
        weights: solution.solution.weights.clone(),
        report: solution.solution.report(stages, &solution.settings),
    };
    let model = PowerMeanSvc::assembled(parts).map_err(raise)?.with_training(training);
    Model::fitted(model, feature_names).map_err(raise)
}
