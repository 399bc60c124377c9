//! The steps of a distributed thin plate fit on bases: the workers' sums, and the path on the client.

use std::sync::Arc;
use std::time::Instant;

use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use widemargin::model::{
    self, CChoice, ColumnSumsOf, ModelMetadata, SettledPolynomials, ThinPlateParams, TrainingSettings,
};
use widemargin::partition::{Executor, Remote, SampleRows};
use widemargin::problem::OneVsRest;
use widemargin::similarity::ConditionalKernel;
use widemargin::solve::thin_plate::{self, Polynomials, RemoteRowSums, RowsShape};

use crate::convert::{self, Common, row_numbers, shaped};
use crate::errors::raise;
use crate::model::Model;
use crate::samples::PySamples;
use crate::weighted_labels::WeightedLabels;
use crate::work::{Patience, conduct};
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

/// Trains on bases: first sums over the samples that `samples` represents, then the path over their features,
/// `features(plan, lift)`.
#[pyfunction]
#[pyo3(signature = (samples, features, labels, *, kernel, bases, support, polynomials, C, basis, stages, common))]
#[expect(non_snake_case, reason = "C is the parameter's name")]
#[expect(clippy::too_many_arguments, reason = "they are the solver's parameters, passed by name")]
pub(crate) fn fit_thin_plate_remote(
    py: Python<'_>,
    samples: Py<PyAny>,
    features: Bound<'_, PyAny>,
    labels: PyRef<'_, WeightedLabels>,
    kernel: &str,
    bases: PyReadonlyArray2<'_, f64>,
    support: Vec<u64>,
    polynomials: &str,
    C: Option<f64>,
    basis: String,
    mut stages: Vec<(String, f64)>,
    common: Common<'_>,
) -> PyResult<Model> {
    let (kernel, polynomials): (ConditionalKernel, Polynomials) =
        (kernel.parse().map_err(raise)?, polynomials.parse().map_err(raise)?);
    let (bases, samples, started) = (bases.as_slice()?.to_vec(), Arc::new(samples), Instant::now());
    let (plan, sums) = conduct(py, &Patience::default(), |monitor, to_caller| {
        let mut samples = Remote::<SampleRows, _>::new(PythonWorkers::new(&samples, to_caller));
        let columns = samples.reduce(&ColumnSumsOf {}, monitor)?;
        let plan = model::BasisPlan::new(kernel, bases, columns)?;
        let sums = plan.first_sums_of(&mut samples, monitor)?;
        Ok((plan, sums))
    })?;

    let (n_rows, total) = (labels.n_present(), labels.total());
    let targets = OneVsRest::of(&labels.labels);
    let (n_problems, mean_weight) = (targets.n_problems(), targets.uneven_weight(&labels.weights));
    let settle = |polynomials, separates| plan.settle(&sums, polynomials, n_rows, total, separates).map_err(raise);
    let shared = Py::new(py, BasisPlan(plan.clone()))?;
    let rows_of = |settled: &SettledPolynomials, only_polynomials: bool| -> PyResult<_> {
        let cross = (!only_polynomials).then(|| settled.cross());
        let n_penalized = if only_polynomials { 0 } else { settled.n_penalized() };
        let lift = (n_penalized, settled.penalized(), settled.columns(), cross);
        let shape = RowsShape { n_rows, n_penalized, n_free: settled.n_free(), n_problems };
        Ok((Arc::new(features.call1((&shared, lift))?.unbind()), shape))
    };
    let mut separates = false;
    if polynomials == Polynomials::Auto {
        let free = settle(Polynomials::Free, false)?;
        if free.n_free() > 1 {
            let (rows, shape) = rows_of(&free, true)?;
            separates = conduct(py, &Patience::default(), |monitor, to_caller| {
                let mut rows = RemoteRowSums::new(PythonWorkers::new(&rows, to_caller), shape).weighed(mean_weight);
                thin_plate::rows_separate(&mut rows, total, common.threads, monitor)
            })?;
        }
    }
    let settled = settle(polynomials, separates)?;
    stages.push(("polynomials".into(), started.elapsed().as_secs_f64()));
    let started = Instant::now();
    let (rows, shape) = rows_of(&settled, false)?;
    stages.push(("features".into(), started.elapsed().as_secs_f64()));

    let params = ThinPlateParams::new(kernel)
        .c(C.map_or(CChoice::Auto, CChoice::Value))
        .tol(common.tol)
        .max_steps(common.max_iter)
        .threads(common.threads);
    let training = TrainingSettings { basis: Some(basis), ..labels.training(&common) };
    let metadata = ModelMetadata {
        classes: labels.labels.classes().to_vec(),
        total_weight: targets.total(&labels.weights),
        several: labels.labels.is_multilabel().then_some(targets),
        evaluated_on: Some((&labels.labels, &labels.sample_weights)),
        support,
        stages: convert::stages(stages),
    };
    let model = conduct(py, &common.patience()?, |monitor, to_caller| {
        let mut rows = RemoteRowSums::new(PythonWorkers::new(&rows, to_caller), shape).weighed(mean_weight);
        Ok(plan.fit(&params, settled, &mut rows, metadata, monitor)?.with_training(training))
    })?;
    Model::fitted(model, common.features).map_err(raise)
}
