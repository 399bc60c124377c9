//! The power mean SVM.

use std::sync::Arc;

use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use widemargin::Result;
use widemargin::expansion::{AdditiveMap, KernelTable, ReducedKernel};
use widemargin::model::{
    self, AnyModel, CChoice, FeatureMax, PowerMeanChoice, PowerMeanMetadata, PowerMeanParams, PowerMeanSvc,
    TrainingSettings,
};
use widemargin::similarity::{AdditiveKernel, OwnKernel, ScalarKernel};

use crate::convert::{self, Common};
use crate::errors::raise;
use crate::model::Model;
use crate::python_similarity::PythonCall;
use crate::remote::{PythonWorkers, fit_remote};
use crate::samples::PySamples;
use crate::weighted::WeightedLabels;
use crate::work::{Patience, ToCaller, ask, conduct};

/// A kernel: its spec, or a Python function and its name.
#[derive(FromPyObject)]
pub(crate) enum KernelArgument {
    BuiltIn(String),
    Own(PythonCall),
}

impl KernelArgument {
    /// The parameters with this kernel, or with automatic selection of one.
    fn set(self, params: PowerMeanParams, to_caller: &ToCaller) -> Result<PowerMeanParams> {
        match &self {
            KernelArgument::BuiltIn(spec) if spec == "auto" => Ok(params.choose_p()),
            _ => Ok(params.kernel(self.scalar(to_caller)?)),
        }
    }

    fn scalar(self, to_caller: &ToCaller) -> Result<ScalarKernel> {
        match self {
            KernelArgument::BuiltIn(spec) => spec.parse(),
            KernelArgument::Own(call) => Ok(own_kernel(call, to_caller)),
        }
    }
}

/// The kernel of a Python function.
pub(crate) fn own_kernel((function, name): PythonCall, to_caller: &ToCaller) -> ScalarKernel {
    let (function, to_caller, own) = (Arc::new(function), to_caller.clone(), name.clone());
    let of_pairs = move |x: &[f64], y: &[f64]| {
        let (function, x, y) = (Arc::clone(&function), x.to_vec(), y.to_vec());
        ask(&to_caller, &own, move |py| {
            let arguments = (PyArray1::from_vec(py, x), PyArray1::from_vec(py, y));
            let values = function.bind(py).call1(arguments)?;
            convert::vector::<f64>(&values)
        })
    };
    OwnKernel::of_pairs(&name, of_pairs).into()
}

/// The kernel of a map, its nodes and, for a custom kernel, the grid and the values of its table.
pub(crate) type MapParts<'py> = (String, Vec<f64>, Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)>);

fn parts_of<'py>(py: Python<'py>, map: &AdditiveMap) -> MapParts<'py> {
    let array = |numbers: &[f64]| PyArray1::from_slice(py, numbers).into_any();
    let table = map.table().map(|table| (array(table.values()), array(table.rows())));
    (map.kernel().to_string(), map.nodes().to_vec(), table)
}

/// The symmetric map with these parts.
pub(crate) fn map_of((kernel, nodes, table): MapParts<'_>) -> PyResult<AdditiveMap> {
    let kernel: ReducedKernel = match table {
        None => kernel.parse::<AdditiveKernel>().map_err(raise)?.into(),
        Some((values, rows)) => {
            let table = KernelTable::of_parts(kernel, convert::vector(&values)?, convert::vector(&rows)?);
            ReducedKernel::Table(table.ok_or_else(|| PyValueError::new_err("not the table of a kernel"))?)
        }
    };
    AdditiveMap::nystroem(kernel, &nodes).map_err(raise)
}

fn params(n_nodes: Option<usize>, nodes: Option<Vec<f64>>, scale: bool) -> PowerMeanParams {
    // `KernelArgument::set` sets the kernel.
    let params = PowerMeanParams::new(AdditiveKernel::Chi2).scale(scale);
    match (nodes, n_nodes) {
        (Some(nodes), _) => params.nodes(nodes),
        (None, Some(n_nodes)) => params.n_nodes(n_nodes),
        (None, None) => params.choose_n_nodes(),
    }
}

/// Trains on the explicit features that `rows` represents.
#[pyfunction]
#[pyo3(signature = (rows, labels, *, map, nodes, factors, C, choice, stages, common))]
pub(crate) fn fit_power_mean_remote(
    py: Python<'_>,
    rows: Py<PyAny>,
    labels: PyRef<'_, WeightedLabels>,
    map: MapParts<'_>,
    nodes: Option<Vec<f64>>,
    factors: Option<Vec<f64>>,
    C: f64,
    choice: Option<PyRef<'_, PowerMeanSelection>>,
    stages: Vec<(String, f64)>,
    common: Common<'_>,
) -> PyResult<Model> {
    let (settings, labeled) = (common.newton(), labels.of_all());
    let metadata = PowerMeanMetadata {
        map: map_of(map)?,
        scaling: factors.map(|factors| FeatureMax { factors }),
        c: C,
        training: TrainingSettings { nodes, ..labels.training(&common) },
        choice: choice.map(|selection| (selection.params.clone(), selection.choice.clone())),
        stages: convert::stages(stages),
    };
    fit_remote(py, rows, common, |workers, _, monitor| {
        let model = PowerMeanSvc::of_workers(workers, labeled, metadata, &settings, monitor)?;
        Ok(AnyModel::Classifier(Box::new(model)))
    })
}

/// Parameters selected on samples that were copied to the client.
#[pyclass(frozen, module = "widemargin._core")]
pub(crate) struct PowerMeanSelection {
    params: PowerMeanParams,
    choice: PowerMeanChoice,
}

#[pymethods]
impl PowerMeanSelection {
    #[getter]
    fn kernel(&self) -> String {
        self.params.scalar_kernel().to_string()
    }

    #[getter]
    fn C(&self) -> f64 {
        self.params.cost()
    }

    #[getter]
    fn n_nodes(&self) -> usize {
        self.params.number_of_nodes()
    }
}

/// Selects parameters on `samples`, whose indices among all labeled samples are `rows`.
#[pyfunction]
#[pyo3(signature = (samples, rows, labels, *, kernel, C, n_nodes, nodes, factors, common))]
pub(crate) fn choose_power_mean(
    py: Python<'_>,
    samples: PySamples<'_>,
    rows: Vec<usize>,
    labels: PyRef<'_, WeightedLabels>,
    kernel: KernelArgument,
    C: Option<f64>,
    n_nodes: Option<usize>,
    nodes: Option<Vec<f64>>,
    factors: Option<Vec<f64>>,
    common: Common<'_>,
) -> PyResult<PowerMeanSelection> {
    let params = params(n_nodes, nodes, factors.is_some())
        .c(C.map_or(CChoice::Auto, CChoice::Value))
        .seed(common.seed)
        .threads(common.threads);
    let samples = samples.rows("the power mean SVM")?;
    let (labels, weights) = (&labels.labels, (&labels.weights[..], labels.units()));
    let (params, choice) = conduct(py, &common.patience()?, |monitor, to_caller| {
        kernel.set(params, to_caller)?.choose_on(&samples, &rows, labels, weights, factors.as_deref(), monitor)
    })?;
    Ok(PowerMeanSelection { params, choice })
}

/// The factors of the features, if they are scaled, and the reduced kernel, for the samples that `rows` represents.
#[pyfunction]
pub(crate) fn scale_and_reduce<'py>(
    py: Python<'py>,
    rows: Py<PyAny>,
    kernel: KernelArgument,
    n_nodes: usize,
    nodes: Option<Vec<f64>>,
    is_scaled: bool,
) -> PyResult<(Option<Vec<f64>>, MapParts<'py>)> {
    let (rows, params) = (Arc::new(rows), params(Some(n_nodes), nodes, is_scaled));
    let (scaling, map) = conduct(py, &Patience::default(), |monitor, to_caller| {
        let workers = PythonWorkers::new(&rows, to_caller);
        model::scale_and_reduce(workers, &params.kernel(kernel.scalar(to_caller)?), monitor)
    })?;
    Ok((scaling.map(|scaling| scaling.factors().to_vec()), parts_of(py, &map)))
}
