//! The basis expansion SVM.

use std::time::Instant;

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use widemargin::basis::BasisChoice;
use widemargin::model::{AnyModel, BasisExpansionParams, CChoice};
use widemargin::problem::Loss;
use widemargin::select::SimilaritySearch;
use widemargin::similarity::{AdditiveKernel, AnySimilarity};

use crate::compared::{Fitted, compared};
use crate::convert::{self, Common, Target, labeled};
use crate::errors::raise;
use crate::model::{Model, composite};
use crate::python_similarity::{Collected, CompositeSimilarity, Similarities, needed, on_objects};
use crate::samples::{Place, fitted};
use crate::work::conduct;

/// How bases are selected: by name, or the rows themselves.
pub fn basis_choice(name: &str, rows: Option<PyReadonlyArray1<'_, i64>>) -> PyResult<BasisChoice> {
    match convert::rows(rows)? {
        Some(rows) => Ok(BasisChoice::Rows(rows)),
        None => name.parse().map_err(raise),
    }
}

/// Trains a basis expansion SVM, on built-in similarities, Python functions, or both.
#[pyfunction]
#[pyo3(signature = (samples, target, *, similarity, search, n_basis, basis,
    basis_rows, normalization, C, intercept, loss, penalty, max_basis, common))]
#[expect(non_snake_case, reason = "C is the parameter's name")]
#[expect(clippy::too_many_arguments, reason = "they are the estimator's parameters, passed by name")]
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
    let patience = common.patience()?;
    if let Some(search) = search {
        let (specs, normalization, counts) = search;
        let normalization = normalization.map(|name| name.parse().map_err(raise)).transpose()?;
        let search = SimilaritySearch::of(&params, &specs, normalization, counts);
        let search = search.choosing_loss(&params, loss.is_none());
        let samples = needed(samples)?;
        let place = samples.place()?;
        let (model, tried) = conduct(py, &patience, |monitor, _| {
            let start = Instant::now();
            let found = search.choose(place.source(), &labels, weights, monitor)?;
            let seconds = start.elapsed().as_secs_f64();
            let model = fitted!(params.with_choice(&found)?, place, &labels, weights, monitor)?;
            Ok((model.with_notes(found.summary()).with_search(seconds), found.tried))
        })?;
        let model = Model::fitted(AnyModel::Classifier(Box::new(model)), common.features)?;
        return Ok((model, compared(tried)));
    }
    if similarity.1.is_empty() {
        let params = params.with_similarity(AnySimilarity::new(&similarity.0).map_err(raise)?);
        let samples = needed(samples)?;
        let place = samples.place()?;
        let model = conduct(py, &patience, |monitor, _| fitted!(params, place, &labels, weights, monitor))?;
        return Ok((Model::fitted(AnyModel::Classifier(Box::new(model)), common.features)?, Vec::new()));
    }
    let params = params.with_similarity(CompositeSimilarity::new(similarity).map_err(raise)?);
    let model =
        on_objects(py, &patience, samples, |objects, monitor| params.fit_with(objects, &labels, weights, monitor))?;
    Ok((composite!(Classifier, py, model, common.features)?, Vec::new()))
}

/// The arguments of [`SimilaritySearch::of`]: specs, a normalization, and whether the specs describe counts.
type Search = (Vec<String>, Option<String>, bool);
