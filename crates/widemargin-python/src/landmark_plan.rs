//! The steps of a distributed thin plate fit on landmarks: the workers' sums, and the path on the client.

use std::sync::Arc;

use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use widemargin::Error;
use widemargin::model::{self, CChoice, ColumnSumsOf, ModelFacts, ThinPlateParams, TrainingSettings};
use widemargin::partition::{Executor, Remote, SampleRows};
use widemargin::problem::OneVsRest;
use widemargin::similarity::ConditionalKernel;
use widemargin::solve::thin_plate::{self, FirstSums, RemoteRowSums, RowsShape};

use crate::convert::{self, Common, reduced, row_numbers, shaped};
use crate::errors::raise;
use crate::model::Model;
use crate::samples::Given;
use crate::weighted_labels::WeightedLabels;
use crate::work::{Patience, conduct};
use crate::workers::PythonWorkers;

/// Landmarks, and the indices of these samples.
type Chosen<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<i64>>);

/// Landmarks (landmarks, features) and the indices of these samples, empty if they are means.
#[pyfunction]
pub(crate) fn choose_landmarks<'py>(
    py: Python<'py>,
    samples: Given<'_>,
    weights: PyReadonlyArray1<'_, f64>,
    basis: &str,
    n_basis: usize,
    seed: u64,
    threads: usize,
) -> PyResult<Chosen<'py>> {
    let (weights, choice) = (weights.as_slice()?, basis.parse().map_err(raise)?);
    let view = samples.rows("the thin plate SVM")?;
    let width = widemargin::data::Rows::n_cols(&view);
    let (bases, chosen, width) = conduct(py, &Patience::default(), |_, _| {
        let (bases, chosen) = model::choose_landmarks(&view, weights, choice, n_basis, seed, threads)?;
        Ok((bases, chosen, width))
    })?;
    let n = bases.len() / width.max(1);
    Ok((shaped(py, bases, n, width)?, row_numbers(py, chosen)))
}

/// The treatment of the polynomials.
#[pyclass(frozen, module = "widemargin._core")]
pub(crate) struct SettledPolynomials(model::SettledPolynomials);

#[pymethods]
impl SettledPolynomials {
    /// What makes features of kernel values and polynomials, or of the polynomials alone: what `SamplePart.on_landmarks`
    /// takes.
    fn lift(&self, only_polynomials: bool) -> (usize, Vec<f64>, Vec<f64>, Option<Vec<f64>>) {
        let cross = (!only_polynomials).then(|| self.0.cross().to_vec());
        (self.0.n_penalised(), self.0.penalised().to_vec(), self.0.columns().to_vec(), cross)
    }

    #[getter]
    fn n_free(&self) -> usize {
        self.0.n_free()
    }
}

/// A kernel on landmarks, and what all samples tell of its polynomials.
#[pyclass(frozen, module = "widemargin._core")]
pub(crate) struct LandmarkPlan {
    pub plan: model::LandmarkPlan,
    sums: Option<FirstSums>,
}

#[pymethods]
impl LandmarkPlan {
    /// Asks the samples that `rows` stands for.
    #[new]
    fn new(py: Python<'_>, kernel: &str, bases: PyReadonlyArray2<'_, f64>, rows: Py<PyAny>) -> PyResult<Self> {
        let kernel: ConditionalKernel = kernel.parse().map_err(raise)?;
        let (bases, rows) = (bases.as_slice()?.to_vec(), Arc::new(rows));
        conduct(py, &Patience::default(), |monitor, to_caller| {
            let mut samples = Remote::<SampleRows, _>::new(PythonWorkers::new(&rows, to_caller));
            let columns = samples.reduce(&ColumnSumsOf {}, monitor)?;
            let plan = model::LandmarkPlan::new(kernel, bases, columns)?;
            let sums = plan.first_sums_of(&mut samples, monitor)?;
            Ok(LandmarkPlan { plan, sums: Some(sums) })
        })
    }

    /// The plan that workers make features with.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        let plan = py.detach(|| model::LandmarkPlan::from_bytes(data)).map_err(raise)?;
        Ok(LandmarkPlan { plan, sums: None })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let bytes = slf.get().plan.to_bytes().map_err(raise)?;
        reduced(slf.as_any(), PyBytes::new(slf.py(), &bytes))
    }

    fn settle(
        &self,
        null_space: &str,
        labels: PyRef<'_, WeightedLabels>,
        separates: bool,
    ) -> PyResult<SettledPolynomials> {
        let (n, total) = (labels.n_present(), labels.total());
        let null_space = null_space.parse().map_err(raise)?;
        let no_sums = || raise(Error::NoSamples("the plan of a worker has no sums over all samples"));
        let settled = self.plan.settle(self.sums.as_ref().ok_or_else(no_sums)?, null_space, n, total, separates);
        settled.map(SettledPolynomials).map_err(raise)
    }

    /// The path over rows that `rows` stands for, and the machine.
    #[pyo3(signature = (settled, rows, labels, *, support, C, basis, stages, common))]
    #[expect(non_snake_case, reason = "C is the parameter's name")]
    #[expect(clippy::too_many_arguments, reason = "they are the solver's parameters, passed by name")]
    fn fit(
        &self,
        py: Python<'_>,
        settled: PyRef<'_, SettledPolynomials>,
        rows: Py<PyAny>,
        labels: PyRef<'_, WeightedLabels>,
        support: Vec<u64>,
        C: Option<f64>,
        basis: String,
        stages: Vec<(String, f64)>,
        common: Common<'_>,
    ) -> PyResult<Model> {
        let (plan, settled) = (self.plan.clone(), settled.0.clone());
        let params = ThinPlateParams::new(plan.kernel())
            .c(C.map_or(CChoice::Auto, CChoice::Value))
            .tol(common.tol)
            .max_steps(common.max_iter)
            .threads(common.threads);
        let training = TrainingSettings { landmarks: Some(basis), ..labels.training(&common) };
        let facts = ModelFacts {
            classes: labels.labels.classes().to_vec(),
            class_weights: labels.class_totals(),
            support,
            stages: convert::stages(stages),
        };
        let shape = shape_of(&labels, settled.n_penalised(), settled.n_free());
        let rows = Arc::new(rows);
        let model = conduct(py, &common.patience()?, |monitor, to_caller| {
            let mut rows = RemoteRowSums::new(PythonWorkers::new(&rows, to_caller), shape);
            Ok(plan.fit(&params, settled, &mut rows, facts, monitor)?.with_training(training))
        })?;
        Model::fitted(model, common.feature_names).map_err(raise)
    }
}

/// The sizes of the rows of samples.
fn shape_of(labels: &WeightedLabels, n_penalised: usize, n_free: usize) -> RowsShape {
    let n_problems = OneVsRest::new(&[], labels.labels.classes().len()).n_problems();
    RowsShape { n_rows: labels.n_present(), n_penalised, n_free, n_problems }
}

/// Whether remote rows of polynomial features alone, accessed through `rows`, separate a problem.
#[pyfunction]
pub(crate) fn rows_separate(
    py: Python<'_>,
    rows: Py<PyAny>,
    labels: PyRef<'_, WeightedLabels>,
    n_free: usize,
    threads: usize,
) -> PyResult<bool> {
    let (shape, total, rows) = (shape_of(&labels, 0, n_free), labels.total(), Arc::new(rows));
    conduct(py, &Patience::default(), |monitor, to_caller| {
        let mut rows = RemoteRowSums::new(PythonWorkers::new(&rows, to_caller), shape);
        thin_plate::rows_separate(&mut rows, total, threads, monitor)
    })
}
