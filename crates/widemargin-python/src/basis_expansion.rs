//! The basis expansion SVM, and regression and outlier detection on a basis expansion.

use std::sync::Arc;
use std::time::Instant;

use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use widemargin::basis::BasisChoice;
use widemargin::data::Targets;
use widemargin::model::{
    AnyModel, BasisExpansionOneClass, BasisExpansionOneClassParams, BasisExpansionParams,
    BasisExpansionRegressorParams, CChoice, OneClassMetadata,
};
use widemargin::problem::Loss;
use widemargin::select::{SimilaritySearch, uneven_columns};
use widemargin::similarity::{AdditiveKernel, AnySimilarity};

use crate::compared::{Fitted, compared};
use crate::convert::{self, Common, Target, labeled};
use crate::errors::raise;
use crate::model::{Model, composite, ours};
use crate::python_similarity::{Collected, CompositeSimilarity, Similarities, needed, on_objects};
use crate::samples::{Place, fitted};
use crate::weighted_targets::WeightedTargets;
use crate::work::conduct;
use crate::workers::PythonWorkers;

/// How bases are selected: by name, or the rows themselves.
pub fn basis_choice(name: &str, rows: Option<PyReadonlyArray1<'_, i64>>) -> PyResult<BasisChoice> {
    match convert::rows(rows)? {
        Some(rows) => Ok(BasisChoice::Rows(rows)),
        None => name.parse().map_err(raise),
    }
}

/// Fits parameters to samples: with the similarity of a search, if there is one, with built-in similarities, or with Python
/// functions. `$confirmed` is the model that a search returns in the end.
macro_rules! fit_searched {
    ($task:ident, $py:ident, $params:ident, $search:ident, $similarity:ident, $samples:ident, $targets:expr, $weights:ident,
     $common:ident, |$model:ident, $found:ident, $place:ident, $monitor:ident| $confirmed:expr) => {{
        let patience = $common.patience()?;
        if $search.is_none() && !$similarity.1.is_empty() {
            let params = $params.with_similarity(CompositeSimilarity::new($similarity).map_err(raise)?);
            let fitted = on_objects($py, &patience, $samples, |objects, monitor| {
                params.fit_with(objects, $targets, $weights, monitor)
            })?;
            return Ok((composite!($task, $py, fitted, $common.features)?, Vec::new()));
        }
        let samples = needed($samples)?;
        let $place = samples.place()?;
        let (model, tried) = conduct($py, &patience, |$monitor, _| {
            let Some($search) = &$search else {
                let params = $params.with_similarity(AnySimilarity::new(&$similarity.0)?);
                return Ok((fitted!(params, $place, $targets, $weights, $monitor)?, Vec::new()));
            };
            let start = Instant::now();
            let $found = $search.choose($place.source(), $targets, $weights, $monitor)?;
            let seconds = start.elapsed().as_secs_f64();
            let $model = fitted!($params.clone().with_choice(&$found)?, $place, $targets, $weights, $monitor)?;
            let $model = $model.with_notes($found.summary()).with_search(seconds);
            Ok(($confirmed, $found.tried))
        })?;
        Ok((Model::fitted(AnyModel::$task(Box::new(model)), $common.features)?, compared(tried)))
    }};
}

/// Trains a basis expansion SVM, on built-in similarities, Python functions, or both.
#[pyfunction]
#[pyo3(signature = (samples, target, *, similarity, search, n_basis, basis,
    basis_rows, normalization, C, intercept, loss, penalty, max_basis, common))]
pub(crate) fn fit_basis_expansion(
    py: Python<'_>,
    samples: Collected<'_>,
    target: Target<'_>,
    similarity: Similarities,
    search: Option<Search>,
    n_basis: Option<usize>,
    basis: &str,
    basis_rows: Option<PyReadonlyArray1<'_, i64>>,
    normalization: &str,
    C: Option<f64>,
    intercept: &str,
    loss: Option<&str>,
    penalty: &str,
    max_basis: Option<usize>,
    common: Common<'_>,
) -> PyResult<Fitted> {
    let (labels, weights) = labeled(&target)?;
    // This similarity is replaced below.
    let mut params = BasisExpansionParams::new(AdditiveKernel::Chi2)
        .basis(basis_choice(basis, basis_rows)?)
        .normalization(normalization.parse().map_err(raise)?)
        .c(C.map_or(CChoice::Auto, CChoice::Value))
        .intercept(intercept.parse().map_err(raise)?)
        .loss(loss.map_or_else(|| Ok(Loss::default()), str::parse).map_err(raise)?)
        .penalty(penalty.parse().map_err(raise)?)
        .max_basis(max_basis)
        .class_weight(convert::class_weight(common.class_weight.as_ref(), &labels)?)
        .tol(common.tol)
        .max_iter(common.max_iter)
        .seed(common.seed)
        .threads(common.threads);
    if let Some(n_basis) = n_basis {
        params = params.n_basis(n_basis);
    }
    let search_of = |(specs, normalization, counts): Search| {
        let normalization = normalization.map(|name| name.parse().map_err(raise)).transpose()?;
        let search = SimilaritySearch::of(&params, &specs, normalization, counts);
        PyResult::Ok(search.choosing_loss(&params, loss.is_none()))
    };
    let search = search.map(search_of).transpose()?;
    fit_searched!(
        Classifier,
        py,
        params,
        search,
        similarity,
        samples,
        &labels,
        weights,
        common,
        |model, found, place, monitor| model
    )
}

/// The arguments of [`SimilaritySearch::of`]: specs, a normalization, and whether the specs describe counts.
type Search = (Vec<String>, Option<String>, bool);

/// Trains a regression on a basis expansion, on built-in similarities, Python functions, or both.
#[pyfunction]
#[pyo3(signature = (samples, targets, weights, *, similarity, search, n_basis, basis, basis_rows, normalization, C,
    loss, epsilon, quantile, has_intercept, common))]
pub(crate) fn fit_basis_expansion_regressor(
    py: Python<'_>,
    samples: Collected<'_>,
    targets: PyReadonlyArray2<'_, f64>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    similarity: Similarities,
    search: Option<(Vec<String>, Option<String>)>,
    n_basis: Option<usize>,
    basis: &str,
    basis_rows: Option<PyReadonlyArray1<'_, i64>>,
    normalization: &str,
    C: Option<f64>,
    loss: &str,
    epsilon: Option<f64>,
    quantile: Option<f64>,
    has_intercept: bool,
    common: Common<'_>,
) -> PyResult<Fitted> {
    let targets = Targets::new(targets.as_slice()?.to_vec(), targets.shape()[1]).map_err(raise)?;
    let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
    // This similarity is replaced below.
    let mut params = BasisExpansionRegressorParams::new(AdditiveKernel::Chi2)
        .basis(basis_choice(basis, basis_rows)?)
        .normalization(normalization.parse().map_err(raise)?)
        .c(C.map_or(CChoice::Auto, CChoice::Value))
        .loss(Loss::of_targets(loss, epsilon, quantile).map_err(raise)?)
        .intercept(has_intercept)
        .seed(common.seed)
        .threads(common.threads);
    if let Some(n_basis) = n_basis {
        params = params.n_basis(n_basis);
    }
    let search_of = |(specs, normalization): (Vec<String>, Option<String>)| {
        let normalization = normalization.map(|name| name.parse().map_err(raise)).transpose()?;
        PyResult::Ok(SimilaritySearch::of_regression(&params, &specs, normalization))
    };
    let search = search.map(search_of).transpose()?;
    fit_searched!(
        Regressor,
        py,
        params,
        search,
        similarity,
        samples,
        &targets,
        weights,
        common,
        |model, found, place, monitor| {
            search.confirmed((&params, &found), model, place.source(), (&targets, weights), monitor)?
        }
    )
}

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
