//! Outlier detection on a basis expansion.

use std::sync::Arc;

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use widemargin::model::{AnyModel, BasisExpansionOneClass, BasisExpansionOneClassParams, OneClassMetadata};
use widemargin::select::uneven_columns;
use widemargin::similarity::{AdditiveKernel, AnySimilarity};

use crate::basis_expansion::basis_choice;
use crate::compared::Fitted;
use crate::convert::{self, Common};
use crate::errors::raise;
use crate::expansion::ours;
use crate::model::{Model, composite};
use crate::python_similarity::{Collected, CompositeSimilarity, Similarities, needed, on_objects};
use crate::weighted_targets::WeightedTargets;
use crate::work::conduct;
use crate::workers::PythonWorkers;

/// Trains a one-class model on a basis expansion, on built-in similarities, Python functions, or both.
#[pyfunction]
#[pyo3(signature = (samples, weights, *, similarity, n_basis, basis, basis_rows, normalization, quantile, shrinkage,
    common))]
pub(crate) fn fit_basis_expansion_one_class(
    py: Python<'_>,
    samples: Collected<'_>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    similarity: Similarities,
    n_basis: Option<usize>,
    basis: &str,
    basis_rows: Option<PyReadonlyArray1<'_, i64>>,
    normalization: &str,
    quantile: f64,
    shrinkage: f64,
    common: Common<'_>,
) -> PyResult<Fitted> {
    let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
    // This similarity is replaced below.
    let mut params = BasisExpansionOneClassParams::new(AdditiveKernel::Chi2)
        .basis(basis_choice(basis, basis_rows)?)
        .normalization(normalization.parse().map_err(raise)?)
        .quantile(quantile)
        .shrinkage(shrinkage)
        .seed(common.seed)
        .threads(common.threads);
    if let Some(n_basis) = n_basis {
        params = params.n_basis(n_basis);
    }
    let patience = common.patience()?;
    if similarity.1.is_empty() {
        let similarity = AnySimilarity::new(&similarity.0).map_err(raise)?;
        let samples = needed(samples)?;
        let view = samples.view()?;
        let warning = uneven_columns(&view, weights, &similarity).map_err(raise)?;
        let params = params.with_similarity(similarity);
        let model = conduct(py, &patience, |monitor, _| params.fit_with(&view, weights, monitor))?;
        let model = model.with_warnings(warning);
        return Ok((Model::fitted(AnyModel::OneClass(Box::new(model)), common.features)?, Vec::new()));
    }
    let params = params.with_similarity(CompositeSimilarity::new(similarity).map_err(raise)?);
    let model = on_objects(py, &patience, samples, |objects, monitor| params.fit_with(objects, weights, monitor))?;
    Ok((composite!(OneClass, py, model, common.features)?, Vec::new()))
}

/// A one-class model on an expansion, over the features that `rows` represents; `targets` has 1 and the weight of each row.
#[pyfunction]
#[pyo3(signature = (expansion, rows, targets, *, quantile, shrinkage, basis, basis_rows, stages, common))]
pub(crate) fn fit_basis_expansion_one_class_remote(
    py: Python<'_>,
    expansion: PyRef<'_, Model>,
    rows: Py<PyAny>,
    targets: PyRef<'_, WeightedTargets>,
    quantile: f64,
    shrinkage: f64,
    basis: String,
    basis_rows: Vec<usize>,
    stages: Vec<(String, f64)>,
    common: Common<'_>,
) -> PyResult<Model> {
    let (expansion, targets, rows) = (ours(&expansion)?.clone(), &targets.0, Arc::new(rows));
    let stages = convert::stages(stages);
    let metadata = OneClassMetadata { basis, basis_rows, quantile, shrinkage, seed: common.seed, stages };
    let model = conduct(py, &common.patience()?, |monitor, to_caller| {
        let workers = PythonWorkers::new(&rows, to_caller);
        BasisExpansionOneClass::of_workers(expansion, targets, workers, metadata, monitor)
    })?;
    Model::fitted(AnyModel::OneClass(Box::new(model)), common.features)
}
