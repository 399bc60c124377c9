//! Fits on rows that the workers of a cluster hold: queries are sent to the Python object that represents them, on the
//! calling thread.

use std::sync::Arc;

use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use widemargin::model::{
    self, AnyModel, BasisExpansionOneClass, BasisExpansionRegressor, BasisExpansionSvc, CChoice, PartLift, Preparation,
    ThinPlateParams, ThinPlateRegressorParams, TrainingSettings,
};
use widemargin::monitor::Monitor;
use widemargin::partition::{EncodedQuery, Workers};
use widemargin::select::loss_of_targets;
use widemargin::similarity::ConditionalKernel;
use widemargin::solve::thin_plate::Polynomials;
use widemargin::{Error, Result};

use crate::convert::{self, Common};
use crate::errors::raise;
use crate::model::{Model, ours};
use crate::samples::dense;
use crate::weighted::{WeightedLabels, WeightedTargets};
use crate::work::{self, ToCaller, conduct};

/// The Python object that represents the rows, and the channel to its thread. Its method `ask` has the arguments name of the
/// query, query, whether it changes the state of the parts, and whether it has an answer; it returns the merged answer.
pub(crate) struct PythonWorkers {
    rows: Arc<Py<PyAny>>,
    to_caller: ToCaller,
}

impl PythonWorkers {
    pub fn new(rows: &Arc<Py<PyAny>>, to_caller: &ToCaller) -> Self {
        PythonWorkers { rows: Arc::clone(rows), to_caller: to_caller.clone() }
    }
}

impl Workers for PythonWorkers {
    fn ask(&mut self, encoded: EncodedQuery<'_>) -> Result<Vec<u8>> {
        let EncodedQuery { name, query, changes_state, has_answer } = encoded;
        let (rows, query) = (Arc::clone(&self.rows), query.to_vec());
        let answer = work::ask(&self.to_caller, name, move |py| {
            let arguments = (name, PyBytes::new(py, &query), changes_state, has_answer);
            Ok(rows.bind(py).call_method1("ask", arguments)?.extract::<&[u8]>()?.to_vec())
        });
        answer.map_err(|_| Error::Cancelled { stage: "solve" })
    }
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
fn features_on_workers(
    features: &Arc<Py<PyAny>>,
    plan: &model::BasisPlan,
    lift: PartLift,
    to_caller: &ToCaller,
) -> Result<PythonWorkers> {
    let (features, plan) = (Arc::clone(features), BasisPlan(plan.clone()));
    let PartLift { n_penalized, penalized, columns, cross } = lift;
    let lift: Lift = (n_penalized, penalized, columns, cross);
    let rows =
        work::ask(to_caller, "features", move |py| Ok(features.bind(py).call1((Py::new(py, plan)?, lift))?.unbind()));
    let rows = rows.map_err(|_| Error::Cancelled { stage: "features" })?;
    Ok(PythonWorkers::new(&Arc::new(rows), to_caller))
}

/// Rows that were copied to the client: their indices, and their features.
type Brought<'py> = (PyReadonlyArray1<'py, i64>, PyReadonlyArray2<'py, f32>);

/// A problem on the features of an expansion.
#[derive(FromPyObject)]
pub(crate) enum Problem<'py> {
    /// A classifier: C, and some rows for the starting point and the Hessian.
    Classes(PyRef<'py, WeightedLabels>, f64, Option<Brought<'py>>),
    /// An outlier detector, of targets that are all 1: the quantile and the shrinkage.
    OneClass(PyRef<'py, WeightedTargets>, f64, f64),
    /// A regression: C, and the loss.
    Targets(PyRef<'py, WeightedTargets>, Option<f64>, String),
}

/// What a thin plate model is fitted to.
#[derive(FromPyObject)]
pub(crate) enum Weighted<'py> {
    #[pyo3(transparent)]
    Labels(PyRef<'py, WeightedLabels>),
    #[pyo3(transparent)]
    Targets(PyRef<'py, WeightedTargets>),
}

/// The model that `fit` trains on the rows that a Python object represents.
pub(crate) fn fit_remote(
    py: Python<'_>,
    rows: Py<PyAny>,
    common: Common<'_>,
    fit: impl FnOnce(PythonWorkers, &ToCaller, &Monitor<'_>) -> Result<AnyModel> + Send,
) -> PyResult<Model> {
    let rows = Arc::new(rows);
    let model = conduct(py, &common.patience(), |monitor, to_caller| {
        fit(PythonWorkers::new(&rows, to_caller), to_caller, monitor)
    })?;
    Model::fitted(model, common.features)
}

/// The parameters that a fitted model without classes stores.
fn training(common: &Common<'_>) -> TrainingSettings {
    TrainingSettings { seed: common.seed, ..TrainingSettings::default() }
}

/// Refuses a parameter that does not belong to a loss or is out of range, before any work is done.
#[pyfunction]
pub(crate) fn check_regression_loss(loss: &str) -> PyResult<()> {
    loss_of_targets(loss).map(drop).map_err(raise)
}

/// A model on an expansion, over the features that `rows` represents.
#[pyfunction]
#[pyo3(signature = (expansion, rows, problem, *, basis, basis_rows, stages, common))]
pub(crate) fn fit_expansion_remote(
    py: Python<'_>,
    expansion: PyRef<'_, Model>,
    rows: Py<PyAny>,
    problem: Problem<'_>,
    basis: String,
    basis_rows: Vec<usize>,
    stages: Vec<(String, f64)>,
    common: Common<'_>,
) -> PyResult<Model> {
    let (expansion, stages) = (ours(&expansion)?.clone(), convert::stages(stages));
    let of = |training| Preparation { basis, basis_rows, training, stages };
    match problem {
        Problem::Classes(labels, c, brought) => {
            let (labeled, settings, of_fit) = (labels.of_all(), common.newton(), of(labels.training(&common)));
            let brought = match &brought {
                Some((rows, features)) => Some((convert::rows(rows)?, dense(features)?)),
                None => None,
            };
            let brought = brought.as_ref().map(|(rows, features)| (&rows[..], *features));
            fit_remote(py, rows, common, |workers, _, monitor| {
                let c = (c, &settings);
                let model = BasisExpansionSvc::of_workers(expansion, workers, labeled, brought, of_fit, c, monitor)?;
                Ok(AnyModel::Classifier(Box::new(model)))
            })
        }
        Problem::OneClass(ones, quantile, shrinkage) => {
            let (ones, numbers, of_fit) = (&ones.0, (quantile, shrinkage), of(training(&common)));
            fit_remote(py, rows, common, |workers, _, monitor| {
                let model = BasisExpansionOneClass::of_workers(expansion, ones, workers, numbers, of_fit, monitor)?;
                Ok(AnyModel::OneClass(Box::new(model)))
            })
        }
        Problem::Targets(targets, c, loss) => {
            let choice = (c.map_or(CChoice::Auto, CChoice::Value), loss_of_targets(&loss).map_err(raise)?);
            let (targets, of_fit) = (&targets.0, of(training(&common)));
            fit_remote(py, rows, common, |workers, _, monitor| {
                let model = BasisExpansionRegressor::of_workers(expansion, targets, workers, choice, of_fit, monitor)?;
                Ok(AnyModel::Regressor(Box::new(model)))
            })
        }
    }
}

/// A thin plate model on bases: first sums over the samples that `samples` represents, then a fit to their features,
/// `features(plan, lift)`.
#[pyfunction]
#[pyo3(signature = (samples, features, weighted, *, kernel, bases, basis_rows, C, basis, stages, common,
    polynomials = "auto", loss = "squared-hinge"))]
pub(crate) fn fit_thin_plate_remote(
    py: Python<'_>,
    samples: Py<PyAny>,
    features: Py<PyAny>,
    weighted: Weighted<'_>,
    kernel: &str,
    bases: PyReadonlyArray2<'_, f64>,
    basis_rows: Vec<usize>,
    C: Option<f64>,
    basis: String,
    stages: Vec<(String, f64)>,
    common: Common<'_>,
    polynomials: &str,
    loss: &str,
) -> PyResult<Model> {
    let kernel: ConditionalKernel = kernel.parse().map_err(raise)?;
    let polynomials: Polynomials = polynomials.parse().map_err(raise)?;
    let (features, bases, stages) = (Arc::new(features), bases.as_slice()?.to_vec(), convert::stages(stages));
    let c = C.map_or(CChoice::Auto, CChoice::Value);
    let of = |training| Preparation { basis, basis_rows, training, stages };
    match &weighted {
        Weighted::Labels(labels) => {
            let params = ThinPlateParams::new(kernel).c(c).tol(common.tol).max_steps(common.max_iter);
            let params = params.loss(loss.parse().map_err(raise)?).polynomials(polynomials).threads(common.threads);
            let (labeled, of_fit) = (labels.of_all(), of(labels.training(&common)));
            fit_remote(py, samples, common, |workers, to_caller, monitor| {
                let features = |plan: &_, lift| features_on_workers(&features, plan, lift, to_caller);
                let model = params.fit_on_workers(bases, (workers, features), &labeled, of_fit, monitor)?;
                Ok(AnyModel::Classifier(Box::new(model)))
            })
        }
        Weighted::Targets(targets) => {
            let params = ThinPlateRegressorParams::new(kernel).c(c).threads(common.threads);
            let (targets, of_fit) = (&targets.0, of(training(&common)));
            fit_remote(py, samples, common, |workers, to_caller, monitor| {
                let features = |plan: &_, lift| features_on_workers(&features, plan, lift, to_caller);
                let model = params.fit_on_workers(bases, (workers, features), targets, of_fit, monitor)?;
                Ok(AnyModel::Regressor(Box::new(model)))
            })
        }
    }
}
