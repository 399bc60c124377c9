//! The power mean SVM.

use std::sync::Arc;

use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use widemargin::Result;
use widemargin::expansion::{AdditiveMap, KernelTable, ReducedKernel};
use widemargin::model::{
    self, AnyModel, FeatureMax, PowerMeanChoice, PowerMeanMetadata, PowerMeanParams, PowerMeanSvc, TrainingSettings,
    as_method,
};
use widemargin::similarity::{AdditiveKernel, OwnKernel, ScalarKernel};

use crate::convert::{self, Common};
use crate::errors::raise;
use crate::model::{Model, Trained};
use crate::python_similarity::PythonCall;
use crate::remote::{PythonWorkers, fit_remote};
use crate::weighted::WeightedLabels;
use crate::work::{Patience, ToCaller, ask, conduct};

/// A kernel: its spec, or a Python function and its name.
#[derive(FromPyObject)]
pub(crate) enum KernelArgument {
    BuiltIn(String),
    Own(PythonCall),
}

impl KernelArgument {
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

/// What a fit on some of the samples selected, for the map of all.
fn choice_of(model: &Model, map: &AdditiveMap, c: f64) -> Option<(PowerMeanParams, PowerMeanChoice)> {
    let Trained::Any(model) = &model.0 else { return None };
    let choice = as_method::<PowerMeanSvc>(&**model)?.choice()?.clone();
    // A user-defined kernel was not selected, and is not named then.
    let kernel = map.kernel().to_string().parse().unwrap_or(AdditiveKernel::Chi2);
    Some((PowerMeanParams::new(kernel).n_nodes(map.n_nodes()).c(c), choice))
}

/// Trains on the explicit features that `rows` represents.
#[pyfunction]
#[pyo3(signature = (rows, labels, *, map, nodes, factors, C, selected, stages, common))]
pub(crate) fn fit_power_mean_remote(
    py: Python<'_>,
    rows: Py<PyAny>,
    labels: PyRef<'_, WeightedLabels>,
    map: MapParts<'_>,
    nodes: Option<Vec<f64>>,
    factors: Option<Vec<f64>>,
    C: f64,
    selected: Option<PyRef<'_, Model>>,
    stages: Vec<(String, f64)>,
    common: Common<'_>,
) -> PyResult<Model> {
    let (settings, labeled) = (common.newton(), labels.of_all());
    let map = map_of(map)?;
    let metadata = PowerMeanMetadata {
        choice: selected.and_then(|model| choice_of(&model, &map, C)),
        map,
        scaling: factors.map(|factors| FeatureMax { factors }),
        c: C,
        training: TrainingSettings { nodes, ..labels.training(&common) },
        stages: convert::stages(stages),
    };
    fit_remote(py, rows, common, |workers, _, monitor| {
        let model = PowerMeanSvc::of_workers(workers, labeled, metadata, &settings, monitor)?;
        Ok(AnyModel::Classifier(Box::new(model)))
    })
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
    let rows = Arc::new(rows);
    let (scaling, map) = conduct(py, &Patience::default(), |monitor, to_caller| {
        let params = PowerMeanParams::new(kernel.scalar(to_caller)?).n_nodes(n_nodes).scale(is_scaled);
        let params = nodes.map_or(params.clone(), |nodes| params.nodes(nodes));
        model::scale_and_reduce(PythonWorkers::new(&rows, to_caller), &params, monitor)
    })?;
    Ok((scaling.map(|scaling| scaling.factors().to_vec()), parts_of(py, &map)))
}
