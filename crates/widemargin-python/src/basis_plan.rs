//! The steps of a distributed thin plate fit on bases: the workers' sums, and the path on the client.

use std::sync::Arc;

use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use widemargin::model::{self, AnyModel, CChoice, PartLift, ThinPlateParams, TrainingSettings};
use widemargin::similarity::ConditionalKernel;
use widemargin::solve::thin_plate::Polynomials;

use crate::convert::{self, Common, row_numbers, shaped};
use crate::errors::raise;
use crate::model::Model;
use crate::samples::PySamples;
use crate::weighted_labels::WeightedLabels;
use crate::work::{self, Patience, ToCaller, conduct};
use crate::workers::PythonWorkers;

/// Bases, and the indices of these samples.
type ThinPlateBases<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<i64>>);

/// Bases (bases, features) and the indices of these samples, empty if they are means.
#[pyfunction]
pub(crate) fn choose_thin_plate_bases<'py>(
    py: Python<'py>,
    samples: PySamples<'_>,
    weights: PyReadonlyArray1<'_, f64>,
    basis: &str,
    n_basis: usize,
    seed: u64,
    threads: usize,
) -> PyResult<ThinPlateBases<'py>> {
    let (weights, choice) = (weights.as_slice()?, basis.parse().map_err(raise)?);
    let view = samples.rows("the thin plate SVM")?;
    let width = widemargin::data::Rows::n_cols(&view);
    let (bases, rows, width) = conduct(py, &Patience::default(), |_, _| {
        let (bases, rows) = model::choose_bases(&view, weights, choice, n_basis, seed, threads)?;
        Ok((bases, rows, width))
    })?;
    let n = bases.len() / width.max(1);
    Ok((shaped(py, bases, n, width)?, row_numbers(py, rows)))
}

/// A kernel on bases, with which workers compute features.
#[pyclass(frozen, module = "widemargin._core")]
pub(crate) struct BasisPlan(pub model::BasisPlan);

#[pymethods]
impl BasisPlan {
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        py.detach(|| model::BasisPlan::from_bytes(data)).map(BasisPlan).map_err(raise)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let bytes = slf.get().0.to_bytes().map_err(raise)?;
        Ok((slf.get_type().getattr("from_bytes")?, (PyBytes::new(slf.py(), &bytes),)))
    }
}

/// The coefficients of features as Python passes them on: the fields of [`PartLift`].
pub(crate) type Lift = (usize, Vec<f64>, Vec<f64>, Option<Vec<f64>>);

/// Features that workers make of their samples: the result of `features(plan, lift)` on the calling thread.
pub(crate) fn features_on_workers(
    features: &Arc<Py<PyAny>>,
    plan: &model::BasisPlan,
    lift: PartLift,
    to_caller: &ToCaller,
) -> widemargin::Result<PythonWorkers> {
    let (features, plan) = (Arc::clone(features), BasisPlan(plan.clone()));
    let PartLift { n_penalized, penalized, columns, cross } = lift;
    let lift: Lift = (n_penalized, penalized, columns, cross);
    let rows = work::ask(to_caller, move |py| Ok(features.bind(py).call1((Py::new(py, plan)?, lift))?.unbind()));
    let rows = rows.ok_or(widemargin::Error::Cancelled { stage: "features" })?;
    Ok(PythonWorkers::new(&Arc::new(rows), to_caller))
}

/// Trains on bases: first sums over the samples that `samples` represents, then the path over their features,
/// `features(plan, lift)`.
#[pyfunction]
#[pyo3(signature = (samples, features, labels, *, kernel, bases, support, polynomials, C, basis, stages, common))]
pub(crate) fn fit_thin_plate_remote(
    py: Python<'_>,
    samples: Py<PyAny>,
    features: Py<PyAny>,
    labels: PyRef<'_, WeightedLabels>,
    kernel: &str,
    bases: PyReadonlyArray2<'_, f64>,
    support: Vec<u64>,
    polynomials: &str,
    C: Option<f64>,
    basis: String,
    stages: Vec<(String, f64)>,
    common: Common<'_>,
) -> PyResult<Model> {
    let kernel: ConditionalKernel = kernel.parse().map_err(raise)?;
    let polynomials: Polynomials = polynomials.parse().map_err(raise)?;
    let (samples, features) = (Arc::new(samples), Arc::new(features));
    let params = ThinPlateParams::new(kernel)
        .c(C.map_or(CChoice::Auto, CChoice::Value))
        .tol(common.tol)
        .max_steps(common.max_iter)
        .threads(common.threads);
    let training = TrainingSettings { basis: Some(basis), ..labels.training(&common) };
    let (labeled, metadata, bases) = (labels.of_all(), (support, convert::stages(stages)), bases.as_slice()?.to_vec());
    let model = conduct(py, &common.patience()?, |monitor, to_caller| {
        let features = |plan: &_, lift| features_on_workers(&features, plan, lift, to_caller);
        let rows = (PythonWorkers::new(&samples, to_caller), features);
        let model = params.fit_on_workers((kernel, polynomials), bases, rows, labeled, metadata, monitor)?;
        Ok(model.with_training(training))
    })?;
    Model::fitted(AnyModel::Classifier(Box::new(model)), common.features)
}
