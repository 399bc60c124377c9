//! The basis expansion as a transformer.

use std::sync::Arc;

use numpy::{PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use widemargin::basis::BasisChoice;
use widemargin::data::{Label, Labels};
use widemargin::model::{AnyModel, BasisExpansionParams, BasisExpansionSvc, Preparation};
use widemargin::similarity::{AdditiveKernel, AnySimilarity};

use crate::convert::{self, Common, array};
use crate::errors::raise;
use crate::model::{Model, Trained, ours};
use crate::python_similarity::{Collected, CompositeSimilarity, Similarities, on_objects, on_view};
use crate::samples::dense;
use crate::weighted_labels::WeightedLabels;
use crate::work::{Patience, conduct};
use crate::workers::PythonWorkers;

/// An expansion, the features of the training samples, and the rows of the bases.
type Expanded<'py> = (Model, Bound<'py, PyArray2<f32>>, Vec<usize>);

/// Rows that were copied to the client: their indices, and their features.
type Brought<'py> = (PyReadonlyArray1<'py, i64>, PyReadonlyArray2<'py, f32>);

/// How bases are selected: by name, or the rows themselves.
fn basis_choice(name: &str, rows: Option<PyReadonlyArray1<'_, i64>>) -> PyResult<BasisChoice> {
    match rows {
        Some(rows) => Ok(BasisChoice::Rows(convert::rows(&rows)?)),
        None => name.parse().map_err(raise),
    }
}

/// Fits an expansion without a classifier.
#[pyfunction]
#[pyo3(signature = (samples, codes, n_classes, *, similarity, n_basis, basis, basis_rows, normalization, cut, seed,
    threads, monitor))]
pub(crate) fn fit_expansion<'py>(
    py: Python<'py>,
    samples: Collected<'_>,
    codes: Option<PyReadonlyArray1<'_, u32>>,
    n_classes: usize,
    similarity: Similarities,
    n_basis: usize,
    basis: &str,
    basis_rows: Option<PyReadonlyArray1<'_, i64>>,
    normalization: &str,
    cut: &str,
    seed: u64,
    threads: usize,
    monitor: Option<Bound<'_, PyAny>>,
) -> PyResult<Expanded<'py>> {
    let classes = (0..n_classes as i64).map(Label::Integer).collect();
    let labels =
        |codes: PyReadonlyArray1<'_, u32>| Labels::from_codes(classes, codes.as_slice()?.to_vec()).map_err(raise);
    let labels = codes.map(labels).transpose()?;
    // This similarity is replaced below.
    let params = BasisExpansionParams::new(AdditiveKernel::Chi2)
        .n_basis(n_basis)
        .basis(basis_choice(basis, basis_rows)?)
        .normalization(normalization.parse().map_err(raise)?)
        .nystroem_cut(cut.parse().map_err(raise)?)
        .seed(seed)
        .threads(threads);
    let patience = Patience::new(None, monitor)?;
    if similarity.1.is_empty() {
        let params = params.with_similarity(AnySimilarity::new(&similarity.0).map_err(raise)?);
        let expanded = on_view(py, &patience, samples, |view, monitor| params.expand(view, labels.as_ref(), monitor))?;
        let model = Model(Trained::Expansion(expanded.expansion));
        return Ok((model, array(py, expanded.features)?, expanded.basis_rows));
    }
    let params = params.with_similarity(CompositeSimilarity::new(similarity).map_err(raise)?);
    let expanded =
        on_objects(py, &patience, samples, |objects, monitor| params.expand(objects, labels.as_ref(), monitor))?;
    // Only the bases are stored, not all training samples.
    let bases = expanded.expansion.bases().alone(py)?;
    let expansion = expanded.expansion.with_bases(bases).map_err(raise)?;
    Ok((Model(Trained::CompositeExpansion(expansion)), array(py, expanded.features)?, expanded.basis_rows))
}

/// The same expansion without normalization and weights of the similarities.
#[pyfunction]
pub(crate) fn unnormalized(expansion: PyRef<'_, Model>) -> PyResult<Model> {
    Ok(Model(Trained::Expansion(ours(&expansion)?.clone().unnormalized())))
}

/// The same expansion with a normalization learned from the features that `rows` represents, whose weights sum to `total`.
#[pyfunction]
pub(crate) fn normalized(
    py: Python<'_>,
    expansion: PyRef<'_, Model>,
    normalization: &str,
    rows: Py<PyAny>,
    total: f64,
) -> PyResult<Model> {
    let (expansion, rows) = (ours(&expansion)?.clone(), Arc::new(rows));
    let normalization = normalization.parse().map_err(raise)?;
    let expansion = conduct(py, &Patience::default(), |monitor, to_caller| {
        expansion.normalized(normalization, PythonWorkers::new(&rows, to_caller), total, monitor)
    })?;
    Ok(Model(Trained::Expansion(expansion)))
}

/// A classifier on an expansion, trained on the features that `rows` represents.
#[pyfunction]
#[pyo3(signature = (expansion, rows, labels, brought, *, C, basis, basis_rows, stages, common))]
pub(crate) fn fit_basis_expansion_remote(
    py: Python<'_>,
    expansion: PyRef<'_, Model>,
    rows: Py<PyAny>,
    labels: PyRef<'_, WeightedLabels>,
    brought: Option<Brought<'_>>,
    C: f64,
    basis: String,
    basis_rows: Vec<usize>,
    stages: Vec<(String, f64)>,
    common: Common<'_>,
) -> PyResult<Model> {
    let (expansion, rows, settings) = (ours(&expansion)?.clone(), Arc::new(rows), common.newton());
    let brought = brought.as_ref().map(|(rows, features)| PyResult::Ok((convert::rows(rows)?, dense(features)?)));
    let (labeled, brought) = (labels.of_all(), brought.transpose()?);
    let brought = brought.as_ref().map(|(rows, features)| (&rows[..], *features));
    let (training, stages) = (labels.training(&common), convert::stages(stages));
    let preparation = Preparation { basis, basis_rows, training, stages };
    let model = conduct(py, &common.patience()?, |monitor, to_caller| {
        let workers = PythonWorkers::new(&rows, to_caller);
        BasisExpansionSvc::of_workers(expansion, workers, labeled, brought, preparation, (C, &settings), monitor)
    })?;
    Model::fitted(AnyModel::Classifier(Box::new(model)), common.features)
}
