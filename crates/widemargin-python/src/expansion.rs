//! The basis expansion as a transformer.

use std::sync::Arc;

use numpy::{PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use widemargin::basis::BasisChoice;
use widemargin::data::{Label, Labels};
use widemargin::model::BasisExpansionParams;

use crate::convert::{self, array};
use crate::errors::raise;
use crate::model::{Model, Trained, ours};
use crate::python_similarity::{Similarities, combined};
use crate::remote::PythonWorkers;
use crate::samples::PySamples;
use crate::work::{Patience, conduct};

/// An expansion, the features of the training samples, and the rows of the bases.
type Fitted<'py> = (Model, Bound<'py, PyArray2<f32>>, Vec<usize>);

/// How bases are selected: by name, or the rows themselves.
pub(crate) fn basis_choice(name: &str, rows: Option<PyReadonlyArray1<'_, i64>>) -> PyResult<BasisChoice> {
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
    samples: PySamples<'_>,
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
) -> PyResult<Fitted<'py>> {
    let classes = (0..n_classes as i64).map(Label::Integer).collect();
    let labels =
        |codes: PyReadonlyArray1<'_, u32>| Labels::from_codes(classes, codes.as_slice()?.to_vec()).map_err(raise);
    let labels = codes.map(labels).transpose()?;
    let params = BasisExpansionParams::new(combined(similarity)?)
        .n_basis(n_basis)
        .basis(basis_choice(basis, basis_rows)?)
        .normalization(normalization.parse().map_err(raise)?)
        .nystroem_cut(cut.parse().map_err(raise)?)
        .seed(seed)
        .threads(threads);
    let patience = Patience { monitor, ..Patience::default() };
    let expanded = samples.conduct(py, &patience, |view, monitor| params.expand(view, labels.as_ref(), monitor))?;
    let model = Model(Trained::Expansion(expanded.expansion));
    Ok((model, array(py, expanded.features)?, expanded.basis_rows))
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
