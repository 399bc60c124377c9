//! Regression on a basis expansion.

use std::time::Instant;

use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use widemargin::data::Targets;
use widemargin::model::{AnyModel, BasisExpansionRegressorParams, CChoice};
use widemargin::problem::Loss;
use widemargin::select::SimilaritySearch;
use widemargin::similarity::{AdditiveKernel, AnySimilarity};

use crate::basis_expansion::basis_choice;
use crate::compared::{Fitted, compared};
use crate::convert::Common;
use crate::errors::raise;
use crate::model::{Model, composite};
use crate::python_similarity::{Collected, CompositeSimilarity, Similarities, needed, on_objects};
use crate::samples::{Place, fitted};
use crate::work::conduct;

/// Trains a regression on a basis expansion, on built-in similarities, Python functions, or both.
#[pyfunction]
#[pyo3(signature = (samples, targets, weights, *, similarity, search, n_basis, basis, basis_rows, normalization, C,
    loss, epsilon, quantile, has_intercept, common))]
#[expect(non_snake_case, reason = "C is the parameter's name")]
#[expect(clippy::too_many_arguments, reason = "they are the estimator's parameters, passed by name")]
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
    let patience = common.patience()?;
    if let Some((specs, normalization)) = search {
        let normalization = normalization.map(|name| name.parse().map_err(raise)).transpose()?;
        let search = SimilaritySearch::of_regression(&params, &specs, normalization);
        let samples = needed(samples)?;
        let place = samples.place()?;
        let (model, tried) = conduct(py, &patience, |monitor, _| {
            let start = Instant::now();
            let found = search.choose(place.source(), &targets, weights, monitor)?;
            let seconds = start.elapsed().as_secs_f64();
            let model = fitted!(params.clone().with_choice(&found)?, place, &targets, weights, monitor)?;
            let model = model.with_notes(found.summary()).with_search(seconds);
            let model = search.confirmed((&params, &found), model, place.source(), (&targets, weights), monitor)?;
            Ok((model, found.tried))
        })?;
        let model = Model::fitted(AnyModel::Regressor(Box::new(model)), common.features)?;
        return Ok((model, compared(tried)));
    }
    if similarity.1.is_empty() {
        let params = params.with_similarity(AnySimilarity::new(&similarity.0).map_err(raise)?);
        let samples = needed(samples)?;
        let place = samples.place()?;
        let model = conduct(py, &patience, |monitor, _| fitted!(params, place, &targets, weights, monitor))?;
        return Ok((Model::fitted(AnyModel::Regressor(Box::new(model)), common.features)?, Vec::new()));
    }
    let params = params.with_similarity(CompositeSimilarity::new(similarity).map_err(raise)?);
    let model =
        on_objects(py, &patience, samples, |objects, monitor| params.fit_with(objects, &targets, weights, monitor))?;
    Ok((composite!(Regressor, py, model, common.features)?, Vec::new()))
}
