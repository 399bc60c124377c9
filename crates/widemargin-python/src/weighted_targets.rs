//! The targets and weights of samples on a cluster, and regression on these.

use std::sync::Arc;

use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use widemargin::data::{Label, Labels};
use widemargin::model::{
    self, AnyModel, BasisExpansionOneClass, BasisExpansionRegressor, CChoice, PartedTargets, Preparation,
    ThinPlateRegressor, TrainingSettings,
};
use widemargin::select::loss_of_targets;
use widemargin::similarity::ConditionalKernel;

use crate::basis_plan::features_on_workers;
use crate::convert::{self, Common};
use crate::errors::raise;
use crate::model::{Model, ours};
use crate::work::conduct;
use crate::workers::PythonWorkers;

/// The targets and weights of all samples, in their order.
#[pyclass(frozen, module = "widemargin._core")]
pub(crate) struct WeightedTargets(pub PartedTargets);

#[pymethods]
impl WeightedTargets {
    #[new]
    fn new(
        targets: PyReadonlyArray2<'_, f64>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        has_intercept: bool,
    ) -> PyResult<Self> {
        let targets = convert::numbers(&targets)?;
        let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
        PartedTargets::new(&targets, weights, has_intercept).map(WeightedTargets).map_err(raise)
    }

    /// The targets with mean 0, if there is an intercept, and a largest magnitude of 1.
    #[getter]
    fn standard<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let values = self.0.values().to_vec();
        convert::shaped(py, values, self.0.weights().len(), self.0.n_outputs())
    }

    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.0.weights())
    }

    #[getter]
    fn units<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.0.units())
    }

    /// Rows from which bases are selected.
    fn basis_candidates<'py>(
        &self,
        py: Python<'py>,
        basis: &str,
        n_basis: usize,
        seed: u64,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let choice = basis.parse().map_err(raise)?;
        Ok(convert::row_numbers(py, model::basis_candidates(self.0.weights(), choice, n_basis, seed)))
    }

    /// `n_wanted` rows of weight above 0, to be copied to the client.
    fn some_rows<'py>(&self, py: Python<'py>, n_wanted: usize, seed: u64) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let n = self.0.weights().len();
        let one_class = Labels::from_codes(vec![Label::Integer(0)], vec![0; n]).map_err(raise)?;
        Ok(convert::row_numbers(py, model::choose_rows(&one_class, self.0.weights(), n_wanted.min(n), seed)))
    }
}

/// What precedes the solution: the selection of the bases, by the seed of the fit, and the stages.
fn preparation(basis: String, basis_rows: Vec<usize>, common: &Common<'_>, stages: Vec<(String, f64)>) -> Preparation {
    let training = TrainingSettings { seed: common.seed, ..TrainingSettings::default() };
    Preparation { basis, basis_rows, training, stages: convert::stages(stages) }
}

/// Refuses a parameter that does not belong to a loss or is out of range, before any work is done.
#[pyfunction]
pub(crate) fn check_regression_loss(loss: &str) -> PyResult<()> {
    loss_of_targets(loss).map(drop).map_err(raise)
}

/// A regression on an expansion, over the features that `rows` represents.
#[pyfunction]
#[pyo3(signature = (expansion, rows, targets, *, C, loss, basis, basis_rows, stages, common))]
pub(crate) fn fit_basis_expansion_regressor_remote(
    py: Python<'_>,
    expansion: PyRef<'_, Model>,
    rows: Py<PyAny>,
    targets: PyRef<'_, WeightedTargets>,
    C: Option<f64>,
    loss: &str,
    basis: String,
    basis_rows: Vec<usize>,
    stages: Vec<(String, f64)>,
    common: Common<'_>,
) -> PyResult<Model> {
    let (expansion, targets, rows) = (ours(&expansion)?.clone(), &targets.0, Arc::new(rows));
    let c = C.map_or(CChoice::Auto, CChoice::Value);
    let loss = loss_of_targets(loss).map_err(raise)?;
    let preparation = preparation(basis, basis_rows, &common, stages);
    let model = conduct(py, &common.patience()?, |monitor, to_caller| {
        let workers = PythonWorkers::new(&rows, to_caller);
        BasisExpansionRegressor::of_workers(expansion, targets, workers, (c, loss), preparation, monitor)
    })?;
    Model::fitted(AnyModel::Regressor(Box::new(model)), common.features)
}

/// A smoothing spline on bases: first sums over the samples that `samples` represents, then a regression on their
/// features, `features(plan, lift)`.
#[pyfunction]
#[pyo3(signature = (samples, features, targets, *, kernel, bases, support, C, basis, stages, common))]
pub(crate) fn fit_thin_plate_regressor_remote(
    py: Python<'_>,
    samples: Py<PyAny>,
    features: Py<PyAny>,
    targets: PyRef<'_, WeightedTargets>,
    kernel: &str,
    bases: PyReadonlyArray2<'_, f64>,
    support: Vec<usize>,
    C: Option<f64>,
    basis: String,
    stages: Vec<(String, f64)>,
    common: Common<'_>,
) -> PyResult<Model> {
    let kernel: ConditionalKernel = kernel.parse().map_err(raise)?;
    let (bases, targets) = (bases.as_slice()?.to_vec(), &targets.0);
    let (samples, features) = (Arc::new(samples), Arc::new(features));
    let c = C.map_or(CChoice::Auto, CChoice::Value);
    let preparation = preparation(basis, support, &common, stages);
    let model = conduct(py, &common.patience()?, |monitor, to_caller| {
        let features = |plan: &_, lift| features_on_workers(&features, plan, lift, to_caller);
        let rows = (PythonWorkers::new(&samples, to_caller), features);
        ThinPlateRegressor::fit_on_workers(kernel, bases, rows, targets, (c, preparation), monitor)
    })?;
    Model::fitted(AnyModel::Regressor(Box::new(model)), common.features)
}

/// A one-class model on an expansion, over the features that `rows` represents; `targets` has 1 and the weight of each row.
#[pyfunction]
#[pyo3(signature = (expansion, rows, targets, *, contamination, shrinkage, basis, basis_rows, stages, common))]
pub(crate) fn fit_basis_expansion_one_class_remote(
    py: Python<'_>,
    expansion: PyRef<'_, Model>,
    rows: Py<PyAny>,
    targets: PyRef<'_, WeightedTargets>,
    contamination: f64,
    shrinkage: f64,
    basis: String,
    basis_rows: Vec<usize>,
    stages: Vec<(String, f64)>,
    common: Common<'_>,
) -> PyResult<Model> {
    let (expansion, targets, rows) = (ours(&expansion)?.clone(), &targets.0, Arc::new(rows));
    let (numbers, preparation) = ((contamination, shrinkage), preparation(basis, basis_rows, &common, stages));
    let model = conduct(py, &common.patience()?, |monitor, to_caller| {
        let workers = PythonWorkers::new(&rows, to_caller);
        BasisExpansionOneClass::of_workers(expansion, targets, workers, numbers, preparation, monitor)
    })?;
    Model::fitted(AnyModel::OneClass(Box::new(model)), common.features)
}
