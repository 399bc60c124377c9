//! Parts of the rows on a worker of a cluster. An answer is a function of the part, of the state that an earlier answer
//! left and of the query, so that any worker that has the part, or makes it again, can give it.

use std::sync::{Mutex, PoisonError};

use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use serde::{Deserialize, Serialize};
use widemargin::data::{CsrView, DenseView};
use widemargin::expansion::{AdditiveMap, Explicit, explicit_block};
use widemargin::model::SAMPLE_QUERIES;
use widemargin::monitor::Monitor;
use widemargin::partition::{self, SampleRows};
use widemargin::problem::{
    Block, BlockObjective, Intercept, LINEAR_QUERIES, Objective, ObjectiveScratch, ObjectiveState, OneVsRest,
    SmoothLoss,
};
use widemargin::solve::thin_plate::{LANDMARK_QUERIES, LandmarkRows, PartRows, RowsState};
use widemargin::{Error, Result};

use crate::convert;
use crate::errors::raise;
use crate::landmark_plan::LandmarkPlan;
use crate::samples::Given;
use crate::work::{Patience, conduct};

/// What the objectives of this process worked in, one a thread: an objective lives for one query to one part.
static SCRATCH: Mutex<Vec<ObjectiveScratch>> = Mutex::new(Vec::new());

#[derive(Serialize, Deserialize)]
enum Remembered {
    Linear(ObjectiveState),
    Landmark(RowsState),
}

/// What a part remembers between queries.
#[pyclass(frozen, module = "widemargin._core")]
pub(crate) struct State(Remembered);

#[pymethods]
impl State {
    #[staticmethod]
    fn from_bytes(data: &[u8]) -> PyResult<State> {
        postcard::from_bytes(data).map(State).map_err(|problem| wrong("state", &problem.to_string()))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let bytes = postcard::to_stdvec(&self.0).map_err(|problem| wrong("state", &problem.to_string()))?;
        Ok((py.get_type::<State>().getattr("from_bytes")?, (PyBytes::new(py, &bytes),)))
    }

    /// Bytes, by which a scheduler decides where to send what.
    fn __sizeof__(&self) -> usize {
        match &self.0 {
            Remembered::Linear(state) => size_of_val(&state.scores[..]) + size_of_val(&state.along[..]),
            Remembered::Landmark(state) => 2 * size_of_val(&state.scores[..]) + state.counted.len(),
        }
    }
}

fn wrong(what: &'static str, problem: &str) -> PyErr {
    let expected = "what a part of the same rows gave".into();
    raise(Error::Parameter { name: what, value: problem.to_owned(), expected })
}

type Answer<'py> = (Bound<'py, PyBytes>, Option<State>);

/// An array, or the arrays of a tuple, C-contiguous and aligned: those from another worker may be neither.
fn contiguous<'py>(array: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    if let Ok(parts) = array.cast::<PyTuple>() {
        let parts = parts.iter().map(|part| if part.hasattr("dtype")? { contiguous(&part) } else { Ok(part) });
        return Ok(PyTuple::new(py, parts.collect::<PyResult<Vec<_>>>()?)?.into_any());
    }
    let options = PyDict::new(py);
    options.set_item("requirements", ["C", "A"])?;
    py.import("numpy")?.call_method("require", (array,), Some(&options))
}

/// Dense rows, or the three arrays of sparse ones and their number of columns.
#[derive(FromPyObject)]
enum Features<'py> {
    Dense(PyReadonlyArray2<'py, f32>),
    Sparse(PyReadonlyArray1<'py, usize>, PyReadonlyArray1<'py, u32>, PyReadonlyArray1<'py, f32>, usize),
}

impl Features<'_> {
    fn block(&self) -> PyResult<Block<'_>> {
        match self {
            Features::Dense(values) => {
                let shape = values.shape();
                Ok(Block::from(DenseView::new(values.as_slice()?, shape[0], shape[1]).map_err(raise)?))
            }
            Features::Sparse(indptr, indices, values, n_cols) => {
                let parts = (indptr.as_slice()?, indices.as_slice()?, values.as_slice()?);
                Ok(Block::from(CsrView::new(parts.0, parts.1, parts.2, *n_cols).map_err(raise)?))
            }
        }
    }
}

/// Vector samples with their weights.
#[pyclass(frozen, module = "widemargin._core")]
pub(crate) struct SamplePart {
    #[pyo3(get)]
    number: usize,
    samples: Py<PyAny>,
    weights: Vec<f64>,
}

impl SamplePart {
    /// The classes of the samples of weight above 0, and their weights.
    fn present<T: Copy>(&self, all: &[T]) -> Vec<T> {
        all.iter().zip(&self.weights).filter(|(_, weight)| **weight > 0.0).map(|(one, _)| *one).collect()
    }
}

#[pymethods]
impl SamplePart {
    #[new]
    fn new(number: usize, samples: Bound<'_, PyAny>, weights: Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(SamplePart { number, samples: contiguous(&samples)?.unbind(), weights: vector(&weights)? })
    }

    #[expect(clippy::type_complexity, reason = "the arguments of the constructor")]
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyAny>, (usize, Py<PyAny>, Bound<'py, PyArray1<f64>>)) {
        let (py, part) = (slf.py(), slf.get());
        let weights = PyArray1::from_slice(py, &part.weights);
        (slf.get_type().into_any(), (part.number, part.samples.clone_ref(py), weights))
    }

    fn __sizeof__(&self, py: Python<'_>) -> PyResult<usize> {
        let samples = self.samples.bind(py);
        let bytes = |array: &Bound<'_, PyAny>| match array.getattr("nbytes") {
            Ok(bytes) => bytes.extract::<usize>(),
            Err(_) => Ok(0),
        };
        let all = match samples.cast::<PyTuple>() {
            Ok(parts) => parts.iter().map(|part| bytes(&part)).sum::<PyResult<usize>>()?,
            Err(_) => bytes(samples)?,
        };
        Ok(all + 8 * self.weights.len())
    }

    /// The answer to a query; samples remember nothing.
    fn answer<'py>(
        &self,
        py: Python<'py>,
        query: &[u8],
        state: Option<&State>,
        changes_state: bool,
    ) -> PyResult<Answer<'py>> {
        let _ = (state, changes_state);
        let samples: Given<'_> = self.samples.bind(py).extract()?;
        let view = samples.rows("statistics of a part")?;
        let answer = conduct(py, &Patience::default(), |monitor, _| {
            partition::answer(SAMPLE_QUERIES, query, &mut partition::SamplePart::new(&view, &self.weights), monitor)
        })?;
        Ok((PyBytes::new(py, &answer), None))
    }

    /// v(x) of the samples of weight above 0, with their classes and costs C · weight.
    #[pyo3(signature = (codes, n_classes, C, loss, kernel, nodes, factors))]
    #[expect(non_snake_case, reason = "C is the parameter's name")]
    #[expect(clippy::too_many_arguments, reason = "they are what a power mean SVM is made of")]
    fn power_mean(
        &self,
        py: Python<'_>,
        codes: Bound<'_, PyAny>,
        n_classes: usize,
        C: f64,
        loss: &str,
        kernel: &str,
        nodes: Vec<f64>,
        factors: Option<Vec<f64>>,
    ) -> PyResult<LinearPart> {
        let map = AdditiveMap::nystrom(kernel.parse().map_err(raise)?, &nodes).map_err(raise)?;
        let samples: Given<'_> = self.samples.bind(py).extract()?;
        let rows = self.present(&(0..self.weights.len()).collect::<Vec<_>>());
        let view = samples.rows("the power mean SVM")?;
        let block = conduct(py, &Patience::default(), |_, _| explicit_block(&view, &rows, factors.as_deref(), &map))?;
        let features = match block {
            Explicit::Dense(matrix) => convert::array(py, matrix)?.into_any(),
            Explicit::Sparse(matrix) => {
                let (indptr, indices) = (PyArray1::from_vec(py, matrix.indptr), PyArray1::from_vec(py, matrix.indices));
                let parts = (indptr, indices, PyArray1::from_vec(py, matrix.values), matrix.n_cols);
                parts.into_pyobject(py)?.into_any()
            }
        };
        Ok(LinearPart {
            number: self.number,
            features: features.unbind(),
            codes: self.present(&vector::<u32>(&codes)?),
            n_classes,
            costs: self.present(&self.weights).into_iter().map(|weight| C * weight).collect(),
            loss: loss.parse().map_err(raise)?,
            intercept: Intercept::None,
            threads: 1,
        })
    }

    /// Features on landmarks of the samples of weight above 0; only those of the unpenalised polynomials where
    /// `only_polynomials`. `units` is what leave-one-out takes away, a sample.
    fn on_landmarks(
        &self,
        py: Python<'_>,
        codes: Bound<'_, PyAny>,
        n_classes: usize,
        units: Bound<'_, PyAny>,
        plan: PyRef<'_, LandmarkPlan>,
        lift: Lift,
    ) -> PyResult<LandmarkPart> {
        let samples: Given<'_> = self.samples.bind(py).extract()?;
        let plan = &plan.plan;
        let view = samples.rows("the thin plate SVM")?;
        let features = conduct(py, &Patience::default(), |_, _| match &lift.cross {
            None => plan.polynomial_features(&view, &self.weights, &lift.columns),
            Some(cross) => plan.features(&view, &self.weights, &lift.penalised, &lift.columns, cross),
        })?;
        let roots: Vec<f64> = self.present(&self.weights).into_iter().map(f64::sqrt).collect();
        let width = features.len().checked_div(roots.len()).unwrap_or(0);
        Ok(LandmarkPart {
            number: self.number,
            features: convert::shaped(py, features, roots.len(), width)?.into_any().unbind(),
            n_penalised: if lift.cross.is_none() { 0 } else { lift.n_penalised },
            codes: self.present(&vector::<u32>(&codes)?),
            n_classes,
            roots,
            units: self.present(&vector::<f64>(&units)?),
        })
    }
}

/// What makes features of kernel values and polynomials; without `cross` of the polynomials alone.
#[derive(FromPyObject)]
pub(crate) struct Lift {
    #[pyo3(item(0))]
    n_penalised: usize,
    #[pyo3(item(1))]
    penalised: Vec<f64>,
    #[pyo3(item(2))]
    columns: Vec<f64>,
    #[pyo3(item(3))]
    cross: Option<Vec<f64>>,
}

/// Rows of features of a linear model with their classes and costs.
#[pyclass(frozen, module = "widemargin._core")]
pub(crate) struct LinearPart {
    #[pyo3(get)]
    number: usize,
    #[pyo3(get)]
    features: Py<PyAny>,
    codes: Vec<u32>,
    n_classes: usize,
    costs: Vec<f64>,
    loss: SmoothLoss,
    intercept: Intercept,
    threads: usize,
}

impl LinearPart {
    /// Hands the rows to some work, with what makes an objective of them, while the interpreter is held.
    pub fn with_block<T>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(Block<'_>, OneVsRest<'_>, &[f64]) -> PyResult<T>,
    ) -> PyResult<T> {
        let features: Features<'_> = self.features.bind(py).extract()?;
        work(features.block()?, OneVsRest::new(&self.codes, self.n_classes), &self.costs)
    }

    /// Does some work on the objective in a state, without holding the interpreter.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        state: Option<&State>,
        work: impl FnOnce(&mut BlockObjective<'_>) -> Result<T> + Send,
    ) -> PyResult<T> {
        let empty = ObjectiveState::default();
        let state = match state.map(|state| &state.0) {
            None => &empty,
            Some(Remembered::Linear(state)) => state,
            Some(Remembered::Landmark(_)) => return Err(wrong("state", "that of rows on landmarks")),
        };
        let kind = (self.loss, self.intercept);
        self.with_block(py, |block, targets, costs| {
            py.detach(|| {
                let scratch = SCRATCH.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
                let mut objective = BlockObjective::alone_in(scratch, block, targets, costs, kind, self.threads)?;
                objective.recall(&state.scores, &state.along)?;
                let found = work(&mut objective)?;
                SCRATCH.lock().unwrap_or_else(PoisonError::into_inner).push(objective.into_scratch());
                Ok(found)
            })
            .map_err(raise)
        })
    }
}

#[pymethods]
impl LinearPart {
    #[new]
    #[pyo3(signature = (number, features, codes, n_classes, costs, loss, intercept, threads = 1))]
    #[expect(clippy::too_many_arguments, reason = "pickle hands them over in this order")]
    fn new(
        number: usize,
        features: Bound<'_, PyAny>,
        codes: Bound<'_, PyAny>,
        n_classes: usize,
        costs: Bound<'_, PyAny>,
        loss: &str,
        intercept: &str,
        threads: usize,
    ) -> PyResult<Self> {
        let codes = vector::<u32>(&codes)?;
        if let Some(row) = codes.iter().position(|&code| code as usize >= n_classes) {
            let expected = format!("a number below {n_classes}");
            return Err(raise(Error::Parameter {
                name: "codes",
                value: format!("{} in row {row}", codes[row]),
                expected,
            }));
        }
        let (loss, intercept) = (loss.parse().map_err(raise)?, intercept.parse().map_err(raise)?);
        let (features, costs) = (contiguous(&features)?.unbind(), vector(&costs)?);
        Ok(LinearPart { number, features, codes, n_classes, costs, loss, intercept, threads })
    }

    #[expect(clippy::type_complexity, reason = "the arguments of the constructor")]
    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> (
        Bound<'py, PyAny>,
        (usize, Py<PyAny>, Bound<'py, PyArray1<u32>>, usize, Bound<'py, PyArray1<f64>>, String, String, usize),
    ) {
        let (py, part) = (slf.py(), slf.get());
        let arrays = (PyArray1::from_slice(py, &part.codes), PyArray1::from_slice(py, &part.costs));
        let names = (part.loss.to_string(), part.intercept.to_string());
        let features = part.features.clone_ref(py);
        let given = (part.number, features, arrays.0, part.n_classes, arrays.1, names.0, names.1, part.threads);
        (slf.get_type().into_any(), given)
    }

    fn __sizeof__(&self, py: Python<'_>) -> PyResult<usize> {
        let features: Features<'_> = self.features.bind(py).extract()?;
        let bytes = match &features {
            Features::Dense(values) => size_of_val(values.as_slice()?),
            Features::Sparse(_, indices, ..) => 8 * indices.len(),
        };
        Ok(bytes + 12 * self.codes.len())
    }

    /// The answer to a query and, where that changes it, the state then.
    fn answer<'py>(
        &self,
        py: Python<'py>,
        query: &[u8],
        state: Option<&State>,
        changes_state: bool,
    ) -> PyResult<Answer<'py>> {
        let (answer, state) = self.with(py, state, |objective| {
            let answer = partition::answer(LINEAR_QUERIES, query, objective, &Monitor::none())?;
            Ok((answer, changes_state.then(|| State(Remembered::Linear(objective.state())))))
        })?;
        Ok((PyBytes::new(py, &answer), state))
    }

    /// What a pass, a problem in it and the Gram matrix cost, in multiply-adds of a large product.
    fn cost(&self, py: Python<'_>) -> PyResult<(f64, f64, f64)> {
        let cost = self.with(py, None, |objective| Ok(objective.cost()))?;
        Ok((cost.pass, cost.problem, cost.gram))
    }
}

/// Rows of features on landmarks with their classes and weights.
#[pyclass(frozen, module = "widemargin._core")]
pub(crate) struct LandmarkPart {
    #[pyo3(get)]
    number: usize,
    features: Py<PyAny>,
    n_penalised: usize,
    codes: Vec<u32>,
    n_classes: usize,
    roots: Vec<f64>,
    units: Vec<f64>,
}

#[pymethods]
impl LandmarkPart {
    #[new]
    fn new(
        number: usize,
        features: Bound<'_, PyAny>,
        n_penalised: usize,
        codes: Bound<'_, PyAny>,
        n_classes: usize,
        roots: Bound<'_, PyAny>,
        units: Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let (codes, roots, units) = (vector(&codes)?, vector(&roots)?, vector(&units)?);
        Ok(LandmarkPart {
            number,
            features: contiguous(&features)?.unbind(),
            n_penalised,
            codes,
            n_classes,
            roots,
            units,
        })
    }

    #[expect(clippy::type_complexity, reason = "the arguments of the constructor")]
    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> (
        Bound<'py, PyAny>,
        (
            usize,
            Py<PyAny>,
            usize,
            Bound<'py, PyArray1<u32>>,
            usize,
            Bound<'py, PyArray1<f64>>,
            Bound<'py, PyArray1<f64>>,
        ),
    ) {
        let (py, part) = (slf.py(), slf.get());
        let (roots, units) = (PyArray1::from_slice(py, &part.roots), PyArray1::from_slice(py, &part.units));
        let codes = PyArray1::from_slice(py, &part.codes);
        let features = part.features.clone_ref(py);
        let given = (part.number, features, part.n_penalised, codes, part.n_classes, roots, units);
        (slf.get_type().into_any(), given)
    }

    fn __sizeof__(&self, py: Python<'_>) -> PyResult<usize> {
        let features: PyReadonlyArray2<'_, f64> = self.features.bind(py).extract()?;
        Ok(size_of_val(features.as_slice()?) + 20 * self.codes.len())
    }

    /// The answer to a query and, where that changes it, the state then.
    fn answer<'py>(
        &self,
        py: Python<'py>,
        query: &[u8],
        state: Option<&State>,
        changes_state: bool,
    ) -> PyResult<Answer<'py>> {
        let state = match state.map(|state| &state.0) {
            None => RowsState::default(),
            Some(Remembered::Landmark(state)) => state.clone(),
            Some(Remembered::Linear(_)) => return Err(wrong("state", "that of rows of a linear model")),
        };
        let features: PyReadonlyArray2<'_, f64> = self.features.bind(py).extract()?;
        let rows = PartRows {
            features: features.as_slice()?,
            n_penalised: self.n_penalised,
            targets: OneVsRest::new(&self.codes, self.n_classes),
            roots: &self.roots,
            units: &self.units,
            threads: 1,
        };
        let answer = |rows: &mut dyn widemargin::solve::thin_plate::RowSums| {
            partition::answer(LANDMARK_QUERIES, query, rows, &Monitor::none())
        };
        let (answer, state) = py.detach(|| rows.with(state, &Monitor::none(), answer)).map_err(raise)?;
        Ok((PyBytes::new(py, &answer), changes_state.then_some(State(Remembered::Landmark(state)))))
    }
}

fn vector<T: numpy::Element + Copy>(array: &Bound<'_, PyAny>) -> PyResult<Vec<T>> {
    Ok(contiguous(array)?.extract::<PyReadonlyArray1<'_, T>>()?.as_slice()?.to_vec())
}

/// The answers of several parts to a query as one.
#[pyfunction]
pub(crate) fn merge<'py>(
    py: Python<'py>,
    query: &[u8],
    answers: Vec<Bound<'py, PyBytes>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let answers: Vec<&[u8]> = answers.iter().map(|answer| answer.as_bytes()).collect();
    let merged = py.detach(|| {
        if partition::is_about::<LandmarkRows>(query) {
            partition::merge(LANDMARK_QUERIES, query, &answers)
        } else if partition::is_about::<SampleRows>(query) {
            partition::merge(SAMPLE_QUERIES, query, &answers)
        } else {
            partition::merge(LINEAR_QUERIES, query, &answers)
        }
    });
    Ok(PyBytes::new(py, &merged.map_err(raise)?))
}
