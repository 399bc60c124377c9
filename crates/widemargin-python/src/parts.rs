//! Parts of the rows on a worker of a cluster. An answer is a function of the part, the query and the state returned by
//! an earlier answer, so that any worker that has the part, or recomputes it, can answer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use numpy::{PyArray1, PyReadonlyArray2, PyReadwriteArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use serde::{Deserialize, Serialize};
use widemargin::expansion::{Explicit, FEATURE_QUERIES, FeaturePart, FeatureRows, explicit_block};
use widemargin::model::SAMPLE_QUERIES;
use widemargin::monitor::Monitor;
use widemargin::partition::{self, SamplePart, SampleRows};
use widemargin::problem::{
    BlockObjective, Intercept, LINEAR_QUERIES, Loss, Objective, ObjectiveScratch, ObjectiveState, OneVsRest,
};
use widemargin::solve::ridge::{RIDGE_QUERIES, RidgeFeatures, RidgePart, RidgeRows};
use widemargin::solve::thin_plate::{BASIS_QUERIES, BasisRows, PartRows, RowSums, RowsState};
use widemargin::{Error, Result};

use crate::basis_plan::BasisPlan;
use crate::convert;
use crate::errors::raise;
use crate::expansion::ours;
use crate::model::Model;
use crate::power_mean::{MapParts, map_of};
use crate::samples::PySamples;
use crate::work::{Patience, conduct};

/// Work arrays of the objectives of this process, one per thread: an objective lives for one query to one part.
static SCRATCH: Mutex<Vec<ObjectiveScratch>> = Mutex::new(Vec::new());

#[derive(Serialize, Deserialize)]
enum StateKind {
    Linear(ObjectiveState),
    Basis(RowsState),
}

/// The state of a part between queries.
#[pyclass(frozen, module = "widemargin._core")]
pub(crate) struct State(StateKind);

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

    /// Bytes, for the scheduler's placement of tasks.
    fn __sizeof__(&self) -> usize {
        match &self.0 {
            StateKind::Linear(state) => size_of_val(&state.scores[..]) + size_of_val(&state.along[..]),
            StateKind::Basis(state) => 2 * size_of_val(&state.scores[..]) + size_of_val(&state.counted[..]),
        }
    }
}

fn wrong(what: &'static str, problem: &str) -> PyErr {
    let expected = "the bytes of a part of the same rows".into();
    raise(Error::Parameter { name: what, value: problem.to_owned(), expected })
}

/// The kind of a part's rows, and the data of each row.
#[derive(Serialize, Deserialize)]
enum PartData {
    /// Vectors.
    Samples { weights: Vec<f64> },
    /// Similarities to bases. They are normalized in place: a copy would double the memory, and its allocation can take
    /// longer than the similarities. A task that runs twice normalizes only once.
    Features { weights: Vec<f64>, is_normalized: AtomicBool },
    /// Features of a linear model.
    Linear { answers: RowTargets, costs: Vec<f64>, loss: Loss, intercept: Intercept },
    /// Features on bases; `units` are the weights that leave-one-out removes.
    Bases { answers: RowTargets, n_penalized: usize, roots: Vec<f64>, units: Vec<f64> },
    /// Features of a regression, with standardized targets, rows × outputs. Features on bases are already weighted, and
    /// the first `n_penalized` are penalized.
    Ridge { targets: Vec<f64>, weights: Vec<f64>, units: Vec<f64>, of: RidgeKind },
}

#[derive(Clone, Copy, Serialize, Deserialize)]
enum RidgeKind {
    /// `first` is the index of the first row among all rows.
    Plain {
        has_intercept: bool,
        first: usize,
    },
    Lifted {
        n_penalized: usize,
    },
}

/// The class of each row, or its set of labels. `sets` has the signed weights of these, sets × labels; empty for classes.
#[derive(Serialize, Deserialize)]
struct RowTargets {
    codes: Vec<u32>,
    n_classes: usize,
    sets: Vec<f64>,
}

/// [`RowTargets`] from Python.
#[derive(FromPyObject)]
pub(crate) struct PyRowTargets<'py> {
    #[pyo3(item(0))]
    codes: Bound<'py, PyAny>,
    #[pyo3(item(1))]
    n_classes: usize,
    #[pyo3(item(2))]
    sets: Option<Bound<'py, PyAny>>,
}

impl RowTargets {
    fn of(targets: &PyRowTargets<'_>) -> PyResult<Self> {
        let sets = match &targets.sets {
            Some(sets) => convert::contiguous(sets)?.extract::<PyReadonlyArray2<'_, f64>>()?.as_slice()?.to_vec(),
            None => Vec::new(),
        };
        Ok(RowTargets { codes: convert::vector(&targets.codes)?, n_classes: targets.n_classes, sets })
    }

    /// Those of the rows of weight above 0.
    fn present(self, weights: &[f64]) -> Self {
        RowTargets { codes: present(&self.codes, weights), ..self }
    }

    fn targets(&self) -> OneVsRest<'_> {
        match self.sets.is_empty() {
            true => OneVsRest::new(&self.codes, self.n_classes),
            false => OneVsRest::several(&self.codes, self.n_classes, &self.sets),
        }
    }
}

impl PartData {
    fn n_bytes(&self) -> usize {
        match self {
            PartData::Samples { weights } | PartData::Features { weights, .. } => size_of_val(&weights[..]),
            PartData::Linear { costs, .. } => 12 * costs.len(),
            PartData::Bases { roots, .. } => 20 * roots.len(),
            PartData::Ridge { targets, weights, .. } => size_of_val(&targets[..]) + 16 * weights.len(),
        }
    }
}

/// Rows of one partition, with its number.
#[pyclass(frozen, module = "widemargin._core")]
pub(crate) struct Part {
    #[pyo3(get)]
    number: usize,
    /// Their arrays.
    rows: Py<PyAny>,
    data: PartData,
}

/// The coefficients that turn kernel values and polynomials into features; without `cross`, polynomials alone.
#[derive(FromPyObject)]
pub(crate) struct Lift {
    #[pyo3(item(0))]
    n_penalized: usize,
    #[pyo3(item(1))]
    penalized: Vec<f64>,
    #[pyo3(item(2))]
    columns: Vec<f64>,
    #[pyo3(item(3))]
    cross: Option<Vec<f64>>,
}

/// The elements of weight above 0.
fn present<T: Copy>(all: &[T], weights: &[f64]) -> Vec<T> {
    all.iter().zip(weights).filter(|(_, weight)| **weight > 0.0).map(|(one, _)| *one).collect()
}

impl Part {
    /// The weights of samples.
    fn weights(&self) -> PyResult<&[f64]> {
        match &self.data {
            PartData::Samples { weights } => Ok(weights),
            _ => Err(PyTypeError::new_err("the part must contain samples")),
        }
    }

    /// Features normalized by an expansion, in place if possible, and the weights of their samples.
    fn normalized<'py>(&self, py: Python<'py>, expansion: &Model) -> PyResult<(Bound<'py, PyAny>, &[f64])> {
        let PartData::Features { weights, is_normalized } = &self.data else {
            return Err(PyTypeError::new_err("the part must contain features"));
        };
        let mut rows = self.rows.bind(py).clone();
        let expansion = ours(expansion)?;
        if expansion.normalization().is_learned() && !is_normalized.load(Ordering::Acquire) {
            // Arrays from another worker are read-only.
            let is_own: bool = rows.getattr("flags")?.getattr("writeable")?.extract()?;
            if !is_own {
                rows = rows.call_method1("copy", ("C",))?;
            }
            let mut values: PyReadwriteArray2<'_, f32> = rows.extract()?;
            let values = values.as_slice_mut()?;
            py.detach(|| expansion.apply_in_place(values));
            is_normalized.store(is_own, Ordering::Release);
        }
        Ok((rows, weights))
    }

    /// Features on bases, or the unpenalized polynomials alone, of the samples of weight above 0, and all weights.
    fn lifted(&self, py: Python<'_>, plan: &BasisPlan, lift: &Lift) -> PyResult<(Py<PyAny>, &[f64])> {
        let weights = self.weights()?;
        let samples: PySamples<'_> = self.rows.bind(py).extract()?;
        let plan = &plan.0;
        let view = samples.rows("the thin plate methods")?;
        let features = conduct(py, &Patience::default(), |_, _| match &lift.cross {
            None => plan.polynomial_features(&view, weights, &lift.columns),
            Some(cross) => plan.features(&view, weights, &lift.penalized, &lift.columns, cross),
        })?;
        let n = weights.iter().filter(|weight| **weight > 0.0).count();
        let width = features.len().checked_div(n).unwrap_or(0);
        Ok((convert::shaped(py, features, n, width)?.into_any().unbind(), weights))
    }

    /// The answer of features of a linear model, and the new state.
    fn linear_answer(
        &self,
        py: Python<'_>,
        query: &[u8],
        state: Option<&State>,
        targets: OneVsRest<'_>,
        (costs, kind): (&[f64], (Loss, Intercept)),
        changes_state: bool,
    ) -> PyResult<(Vec<u8>, Option<StateKind>)> {
        let empty = ObjectiveState::default();
        let state = match state.map(|state| &state.0) {
            None => &empty,
            Some(StateKind::Linear(state)) => state,
            Some(StateKind::Basis(_)) => return Err(wrong("state", "that of rows on bases")),
        };
        let features: PySamples<'_> = self.rows.bind(py).extract()?;
        let block = features.block()?;
        py.detach(|| {
            let scratch = SCRATCH.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
            let mut objective = BlockObjective::alone_in(scratch, block, targets, costs, kind, 1)?;
            objective.recall(&state.scores, &state.along)?;
            if state.holds_out {
                objective.hold_out()?;
            }
            let answer = partition::answer(LINEAR_QUERIES, query, &mut objective, &Monitor::none())?;
            let state = changes_state.then(|| StateKind::Linear(objective.state()));
            SCRATCH.lock().unwrap_or_else(PoisonError::into_inner).push(objective.into_scratch());
            Ok((answer, state))
        })
        .map_err(raise)
    }
}

#[pymethods]
impl Part {
    /// Vector samples with their weights.
    #[staticmethod]
    fn samples(number: usize, samples: Bound<'_, PyAny>, weights: Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Part {
            number,
            rows: convert::contiguous(&samples)?.unbind(),
            data: PartData::Samples { weights: convert::vector(&weights)? },
        })
    }

    /// Similarities to the bases, not normalized, with the samples' weights.
    #[staticmethod]
    fn features(number: usize, values: Bound<'_, PyAny>, weights: Bound<'_, PyAny>) -> PyResult<Self> {
        let data = PartData::Features { weights: convert::vector(&weights)?, is_normalized: AtomicBool::new(false) };
        Ok(Part { number, rows: convert::contiguous(&values)?.unbind(), data })
    }

    /// A part from its pickled contents.
    #[staticmethod]
    fn restored(number: usize, rows: Bound<'_, PyAny>, data: &[u8]) -> PyResult<Self> {
        let data = postcard::from_bytes(data).map_err(|problem| wrong("part", &problem.to_string()))?;
        Ok(Part { number, rows: convert::contiguous(&rows)?.unbind(), data })
    }

    #[expect(clippy::type_complexity, reason = "the arguments of `restored`")]
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (usize, Py<PyAny>, Bound<'py, PyBytes>))> {
        let data = postcard::to_stdvec(&self.data).map_err(|problem| wrong("part", &problem.to_string()))?;
        let restored = py.get_type::<Part>().getattr("restored")?;
        Ok((restored, (self.number, self.rows.clone_ref(py), PyBytes::new(py, &data))))
    }

    fn __sizeof__(&self, py: Python<'_>) -> PyResult<usize> {
        let rows = self.rows.bind(py);
        let bytes = |array: &Bound<'_, PyAny>| match array.getattr("nbytes") {
            Ok(bytes) => bytes.extract::<usize>(),
            Err(_) => Ok(0),
        };
        let all = match rows.cast::<PyTuple>() {
            Ok(parts) => parts.iter().map(|part| bytes(&part)).sum::<PyResult<usize>>()?,
            Err(_) => bytes(rows)?,
        };
        Ok(all + self.data.n_bytes())
    }

    /// The answer to a query and, if the query changes it, the new state.
    fn answer<'py>(
        &self,
        py: Python<'py>,
        query: &[u8],
        state: Option<&State>,
        changes_state: bool,
    ) -> PyResult<(Bound<'py, PyBytes>, Option<State>)> {
        let rows = self.rows.bind(py);
        let (answer, state) = match &self.data {
            PartData::Samples { weights } => {
                let samples: PySamples<'_> = rows.extract()?;
                let view = samples.rows("statistics of a part")?;
                let answer = conduct(py, &Patience::default(), |monitor, _| {
                    partition::answer(SAMPLE_QUERIES, query, &mut SamplePart::new(&view, weights), monitor)
                })?;
                (answer, None)
            }
            PartData::Features { weights, .. } => {
                let values: PyReadonlyArray2<'_, f32> = rows.extract()?;
                let mut part = FeaturePart { values: values.as_slice()?, weights };
                let answer = py.detach(|| partition::answer(FEATURE_QUERIES, query, &mut part, &Monitor::none()));
                (answer.map_err(raise)?, None)
            }
            PartData::Linear { answers, costs, loss, intercept } => {
                self.linear_answer(py, query, state, answers.targets(), (costs, (*loss, *intercept)), changes_state)?
            }
            PartData::Ridge { targets, weights, units, of } => {
                let (plain, lifted): (PyReadonlyArray2<'_, f32>, PyReadonlyArray2<'_, f64>);
                let (features, width) = match *of {
                    RidgeKind::Plain { has_intercept, first } => {
                        plain = rows.extract()?;
                        (
                            RidgeFeatures::Plain { values: plain.as_slice()?.into(), has_intercept, first },
                            plain.shape()[1],
                        )
                    }
                    RidgeKind::Lifted { n_penalized } => {
                        lifted = rows.extract()?;
                        (RidgeFeatures::Lifted { values: lifted.as_slice()?, n_penalized }, lifted.shape()[1])
                    }
                };
                let mut part = RidgePart { features, width, targets, weights, units };
                let answer = py.detach(|| partition::answer(RIDGE_QUERIES, query, &mut part, &Monitor::none()));
                (answer.map_err(raise)?, None)
            }
            PartData::Bases { answers, n_penalized, roots, units } => {
                let state = match state.map(|state| &state.0) {
                    None => RowsState::default(),
                    Some(StateKind::Basis(state)) => state.clone(),
                    Some(StateKind::Linear(_)) => return Err(wrong("state", "that of rows of a linear model")),
                };
                let features: PyReadonlyArray2<'_, f64> = rows.extract()?;
                let (features, targets) = (features.as_slice()?, answers.targets());
                let rows = PartRows { features, n_penalized: *n_penalized, targets, roots, units, threads: 1 };
                let answer = |rows: &mut dyn RowSums| partition::answer(BASIS_QUERIES, query, rows, &Monitor::none());
                let (answer, state) = py.detach(|| rows.with(state, &Monitor::none(), answer)).map_err(raise)?;
                (answer, Some(StateKind::Basis(state)))
            }
        };
        Ok((PyBytes::new(py, &answer), state.filter(|_| changes_state).map(State)))
    }

    /// Some rows of dense features.
    fn pick<'py>(&self, py: Python<'py>, rows: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.rows.bind(py).get_item(rows)
    }

    /// The features, normalized, with their classes or labels and costs C · weight.
    #[expect(non_snake_case, reason = "C is the parameter's name")]
    fn linear(
        &self,
        py: Python<'_>,
        expansion: PyRef<'_, Model>,
        targets: PyRowTargets<'_>,
        C: f64,
        loss: &str,
        intercept: &str,
    ) -> PyResult<Part> {
        let (rows, weights) = self.normalized(py, &expansion)?;
        let data = PartData::Linear {
            answers: RowTargets::of(&targets)?,
            costs: weights.iter().map(|weight| C * weight).collect(),
            loss: loss.parse().map_err(raise)?,
            intercept: intercept.parse().map_err(raise)?,
        };
        Ok(Part { number: self.number, rows: rows.unbind(), data })
    }

    /// The features, normalized, with standardized targets and the part of each weight that leave-one-out removes; `first`
    /// is the index of their first row among all rows.
    fn ridge(
        &self,
        py: Python<'_>,
        expansion: PyRef<'_, Model>,
        targets: Bound<'_, PyAny>,
        units: Bound<'_, PyAny>,
        has_intercept: bool,
        first: usize,
    ) -> PyResult<Part> {
        let (rows, weights) = self.normalized(py, &expansion)?;
        let targets = convert::contiguous(&targets)?.extract::<PyReadonlyArray2<'_, f64>>()?.as_slice()?.to_vec();
        let (weights, units, of) =
            (weights.to_vec(), convert::vector(&units)?, RidgeKind::Plain { has_intercept, first });
        Ok(Part { number: self.number, rows: rows.unbind(), data: PartData::Ridge { targets, weights, units, of } })
    }

    /// v(x) of the samples of weight above 0, with their classes and costs C · weight.
    #[expect(non_snake_case, reason = "C is the parameter's name")]
    fn power_mean(
        &self,
        py: Python<'_>,
        targets: PyRowTargets<'_>,
        C: f64,
        loss: &str,
        map: MapParts<'_>,
        factors: Option<Vec<f64>>,
    ) -> PyResult<Part> {
        let weights = self.weights()?;
        let map = map_of(map)?;
        let samples: PySamples<'_> = self.rows.bind(py).extract()?;
        let rows = present(&(0..weights.len()).collect::<Vec<_>>(), weights);
        let view = samples.rows("the power mean SVM")?;
        let block = conduct(py, &Patience::default(), |_, _| explicit_block(&view, &rows, factors.as_deref(), &map))?;
        let features = match block {
            Explicit::Dense(matrix) => convert::array(py, matrix)?.into_any(),
            Explicit::Sparse(matrix) => {
                let (values, indices) = (PyArray1::from_vec(py, matrix.values), PyArray1::from_vec(py, matrix.indices));
                let parts = ("csr", values, indices, PyArray1::from_vec(py, matrix.indptr), matrix.n_cols);
                parts.into_pyobject(py)?.into_any()
            }
        };
        let data = PartData::Linear {
            answers: RowTargets::of(&targets)?.present(weights),
            costs: present(weights, weights).into_iter().map(|weight| C * weight).collect(),
            loss: loss.parse().map_err(raise)?,
            intercept: Intercept::None,
        };
        Ok(Part { number: self.number, rows: features.unbind(), data })
    }

    /// Features on bases, or the unpenalized polynomials alone, of the samples of weight above 0. `units` are the weights
    /// that leave-one-out removes.
    fn on_bases(
        &self,
        py: Python<'_>,
        targets: PyRowTargets<'_>,
        units: Bound<'_, PyAny>,
        plan: PyRef<'_, BasisPlan>,
        lift: Lift,
    ) -> PyResult<Part> {
        let (features, weights) = self.lifted(py, &plan, &lift)?;
        let data = PartData::Bases {
            answers: RowTargets::of(&targets)?.present(weights),
            n_penalized: lift.n_penalized,
            units: present(&convert::vector::<f64>(&units)?, weights),
            roots: present(weights, weights).into_iter().map(f64::sqrt).collect(),
        };
        Ok(Part { number: self.number, rows: features, data })
    }

    /// The same for a regression, with standardized targets.
    fn spline(
        &self,
        py: Python<'_>,
        targets: Bound<'_, PyAny>,
        units: Bound<'_, PyAny>,
        plan: PyRef<'_, BasisPlan>,
        lift: Lift,
    ) -> PyResult<Part> {
        let (features, weights) = self.lifted(py, &plan, &lift)?;
        let targets = convert::contiguous(&targets)?;
        let targets: PyReadonlyArray2<'_, f64> = targets.extract()?;
        let k = targets.shape()[1];
        let rows = targets.as_slice()?.chunks(k.max(1)).zip(weights).filter(|(_, weight)| **weight > 0.0);
        let data = PartData::Ridge {
            targets: rows.flat_map(|(row, _)| row.iter().copied()).collect(),
            units: present(&convert::vector::<f64>(&units)?, weights),
            weights: present(weights, weights),
            of: RidgeKind::Lifted { n_penalized: lift.n_penalized },
        };
        Ok(Part { number: self.number, rows: features, data })
    }
}

/// The merged answers of several parts to a query.
#[pyfunction]
pub(crate) fn merge<'py>(
    py: Python<'py>,
    query: &[u8],
    answers: Vec<Bound<'py, PyBytes>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let answers: Vec<&[u8]> = answers.iter().map(|answer| answer.as_bytes()).collect();
    let merged: Result<Vec<u8>> = py.detach(|| {
        if partition::is_about::<BasisRows>(query) {
            partition::merge(BASIS_QUERIES, query, &answers)
        } else if partition::is_about::<SampleRows>(query) {
            partition::merge(SAMPLE_QUERIES, query, &answers)
        } else if partition::is_about::<FeatureRows>(query) {
            partition::merge(FEATURE_QUERIES, query, &answers)
        } else if partition::is_about::<RidgeRows>(query) {
            partition::merge(RIDGE_QUERIES, query, &answers)
        } else {
            partition::merge(LINEAR_QUERIES, query, &answers)
        }
    });
    Ok(PyBytes::new(py, &merged.map_err(raise)?))
}
