//! Parts of the rows on a worker of a cluster. An answer is a function of the part, of the state that an earlier answer
//! left and of the query, so that any worker that has the part, or makes it again, can give it.

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
    BlockObjective, Intercept, LINEAR_QUERIES, Objective, ObjectiveScratch, ObjectiveState, OneVsRest, SmoothLoss,
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
use crate::samples::Given;
use crate::work::{Patience, conduct};

/// What the objectives of this process worked in, one a thread: an objective lives for one query to one part.
static SCRATCH: Mutex<Vec<ObjectiveScratch>> = Mutex::new(Vec::new());

#[derive(Serialize, Deserialize)]
enum Remembered {
    Linear(ObjectiveState),
    Basis(RowsState),
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
            Remembered::Basis(state) => 2 * size_of_val(&state.scores[..]) + size_of_val(&state.counted[..]),
        }
    }
}

fn wrong(what: &'static str, problem: &str) -> PyErr {
    let expected = "what a part of the same rows gave".into();
    raise(Error::Parameter { name: what, value: problem.to_owned(), expected })
}

/// What the rows of a part are, and what is known of each.
#[derive(Serialize, Deserialize)]
enum Facts {
    /// Vectors.
    Samples { weights: Vec<f64> },
    /// Similarities to bases. They are normalized where they are: a copy would take as much memory again, and for a
    /// system to find it can take longer than to make the similarities. A task that is done twice does not do it twice.
    Features { weights: Vec<f64>, is_normalized: AtomicBool },
    /// Features of a linear model.
    Linear { answers: Answers, costs: Vec<f64>, loss: SmoothLoss, intercept: Intercept },
    /// Features on bases; `units` is what leave-one-out takes away.
    Bases { answers: Answers, n_penalized: usize, roots: Vec<f64>, units: Vec<f64> },
    /// Features of a regression, with standardized targets, rows × outputs; the weights of those on bases are in them
    /// already, and the first `n_penalized` are penalized.
    Ridge { targets: Vec<f64>, weights: Vec<f64>, units: Vec<f64>, of: RidgeKind },
}

#[derive(Clone, Copy, Serialize, Deserialize)]
enum RidgeKind {
    /// `first` is the number of the first row among all rows.
    Plain {
        has_intercept: bool,
        first: usize,
    },
    Lifted {
        n_penalized: usize,
    },
}

/// The class of each row, or its set of labels, of which `sets` has the signed weights, sets × labels; none of classes.
#[derive(Serialize, Deserialize)]
struct Answers {
    codes: Vec<u32>,
    n_classes: usize,
    sets: Vec<f64>,
}

/// The same from Python.
#[derive(FromPyObject)]
pub(crate) struct Known<'py> {
    #[pyo3(item(0))]
    codes: Bound<'py, PyAny>,
    #[pyo3(item(1))]
    n_classes: usize,
    #[pyo3(item(2))]
    sets: Option<Bound<'py, PyAny>>,
}

impl Answers {
    fn of(known: &Known<'_>) -> PyResult<Self> {
        let sets = match &known.sets {
            Some(sets) => convert::contiguous(sets)?.extract::<PyReadonlyArray2<'_, f64>>()?.as_slice()?.to_vec(),
            None => Vec::new(),
        };
        Ok(Answers { codes: convert::vector(&known.codes)?, n_classes: known.n_classes, sets })
    }

    /// Of the rows of weight above 0.
    fn present(self, weights: &[f64]) -> Self {
        Answers { codes: present(&self.codes, weights), ..self }
    }

    fn targets(&self) -> OneVsRest<'_> {
        match self.sets.is_empty() {
            true => OneVsRest::new(&self.codes, self.n_classes),
            false => OneVsRest::several(&self.codes, self.n_classes, &self.sets),
        }
    }
}

impl Facts {
    fn n_bytes(&self) -> usize {
        match self {
            Facts::Samples { weights } | Facts::Features { weights, .. } => size_of_val(&weights[..]),
            Facts::Linear { costs, .. } => 12 * costs.len(),
            Facts::Bases { roots, .. } => 20 * roots.len(),
            Facts::Ridge { targets, weights, .. } => size_of_val(&targets[..]) + 16 * weights.len(),
        }
    }
}

/// Rows of the partition of a number.
#[pyclass(frozen, module = "widemargin._core")]
pub(crate) struct Part {
    #[pyo3(get)]
    number: usize,
    /// Their arrays.
    rows: Py<PyAny>,
    facts: Facts,
}

/// What makes features of kernel values and polynomials; without `cross` of the polynomials alone.
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

/// What `weights` says is there.
fn present<T: Copy>(all: &[T], weights: &[f64]) -> Vec<T> {
    all.iter().zip(weights).filter(|(_, weight)| **weight > 0.0).map(|(one, _)| *one).collect()
}

impl Part {
    /// The weights of samples.
    fn weights(&self) -> PyResult<&[f64]> {
        match &self.facts {
            Facts::Samples { weights } => Ok(weights),
            _ => Err(PyTypeError::new_err("a part of samples is needed")),
        }
    }

    /// Features normalized by an expansion, where they are if possible, and the weights of their samples.
    fn normalized<'py>(&self, py: Python<'py>, expansion: &Model) -> PyResult<(Bound<'py, PyAny>, &[f64])> {
        let Facts::Features { weights, is_normalized } = &self.facts else {
            return Err(PyTypeError::new_err("a part of features is needed"));
        };
        let mut rows = self.rows.bind(py).clone();
        let expansion = ours(expansion)?;
        if expansion.normalization().is_learned() && !is_normalized.load(Ordering::Acquire) {
            // What came from another worker cannot be written to.
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

    /// Features on bases of the samples of weight above 0, or those of the unpenalized polynomials alone, and all weights.
    fn lifted(&self, py: Python<'_>, plan: &BasisPlan, lift: &Lift) -> PyResult<(Py<PyAny>, &[f64])> {
        let weights = self.weights()?;
        let samples: Given<'_> = self.rows.bind(py).extract()?;
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

    /// The answer of features of a linear model, and the state then.
    fn linear_answer(
        &self,
        py: Python<'_>,
        query: &[u8],
        state: Option<&State>,
        targets: OneVsRest<'_>,
        (costs, kind): (&[f64], (SmoothLoss, Intercept)),
        changes_state: bool,
    ) -> PyResult<(Vec<u8>, Option<Remembered>)> {
        let empty = ObjectiveState::default();
        let state = match state.map(|state| &state.0) {
            None => &empty,
            Some(Remembered::Linear(state)) => state,
            Some(Remembered::Basis(_)) => return Err(wrong("state", "that of rows on bases")),
        };
        let features: Given<'_> = self.rows.bind(py).extract()?;
        let block = features.block()?;
        py.detach(|| {
            let scratch = SCRATCH.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
            let mut objective = BlockObjective::alone_in(scratch, block, targets, costs, kind, 1)?;
            objective.recall(&state.scores, &state.along)?;
            if state.holds_out {
                objective.hold_out()?;
            }
            let answer = partition::answer(LINEAR_QUERIES, query, &mut objective, &Monitor::none())?;
            let state = changes_state.then(|| Remembered::Linear(objective.state()));
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
            facts: Facts::Samples { weights: convert::vector(&weights)? },
        })
    }

    /// Similarities to the bases, not normalized, with the samples' weights.
    #[staticmethod]
    fn features(number: usize, values: Bound<'_, PyAny>, weights: Bound<'_, PyAny>) -> PyResult<Self> {
        let facts = Facts::Features { weights: convert::vector(&weights)?, is_normalized: AtomicBool::new(false) };
        Ok(Part { number, rows: convert::contiguous(&values)?.unbind(), facts })
    }

    /// What pickle makes a part of again.
    #[staticmethod]
    fn restored(number: usize, rows: Bound<'_, PyAny>, facts: &[u8]) -> PyResult<Self> {
        let facts = postcard::from_bytes(facts).map_err(|problem| wrong("part", &problem.to_string()))?;
        Ok(Part { number, rows: convert::contiguous(&rows)?.unbind(), facts })
    }

    #[expect(clippy::type_complexity, reason = "the arguments of `restored`")]
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (usize, Py<PyAny>, Bound<'py, PyBytes>))> {
        let facts = postcard::to_stdvec(&self.facts).map_err(|problem| wrong("part", &problem.to_string()))?;
        let restored = py.get_type::<Part>().getattr("restored")?;
        Ok((restored, (self.number, self.rows.clone_ref(py), PyBytes::new(py, &facts))))
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
        Ok(all + self.facts.n_bytes())
    }

    /// The answer to a query and, where that changes it, the state then.
    fn answer<'py>(
        &self,
        py: Python<'py>,
        query: &[u8],
        state: Option<&State>,
        changes_state: bool,
    ) -> PyResult<(Bound<'py, PyBytes>, Option<State>)> {
        let rows = self.rows.bind(py);
        let (answer, state) = match &self.facts {
            Facts::Samples { weights } => {
                let samples: Given<'_> = rows.extract()?;
                let view = samples.rows("statistics of a part")?;
                let answer = conduct(py, &Patience::default(), |monitor, _| {
                    partition::answer(SAMPLE_QUERIES, query, &mut SamplePart::new(&view, weights), monitor)
                })?;
                (answer, None)
            }
            Facts::Features { weights, .. } => {
                let values: PyReadonlyArray2<'_, f32> = rows.extract()?;
                let mut part = FeaturePart { values: values.as_slice()?, weights };
                let answer = py.detach(|| partition::answer(FEATURE_QUERIES, query, &mut part, &Monitor::none()));
                (answer.map_err(raise)?, None)
            }
            Facts::Linear { answers, costs, loss, intercept } => {
                self.linear_answer(py, query, state, answers.targets(), (costs, (*loss, *intercept)), changes_state)?
            }
            Facts::Ridge { targets, weights, units, of } => {
                let (plain, lifted): (PyReadonlyArray2<'_, f32>, PyReadonlyArray2<'_, f64>);
                let (features, width) = match *of {
                    RidgeKind::Plain { has_intercept, first } => {
                        plain = rows.extract()?;
                        (RidgeFeatures::Plain { values: plain.as_slice()?, has_intercept, first }, plain.shape()[1])
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
            Facts::Bases { answers, n_penalized, roots, units } => {
                let state = match state.map(|state| &state.0) {
                    None => RowsState::default(),
                    Some(Remembered::Basis(state)) => state.clone(),
                    Some(Remembered::Linear(_)) => return Err(wrong("state", "that of rows of a linear model")),
                };
                let features: PyReadonlyArray2<'_, f64> = rows.extract()?;
                let (features, targets) = (features.as_slice()?, answers.targets());
                let rows = PartRows { features, n_penalized: *n_penalized, targets, roots, units, threads: 1 };
                let answer = |rows: &mut dyn RowSums| partition::answer(BASIS_QUERIES, query, rows, &Monitor::none());
                let (answer, state) = py.detach(|| rows.with(state, &Monitor::none(), answer)).map_err(raise)?;
                (answer, Some(Remembered::Basis(state)))
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
        known: Known<'_>,
        C: f64,
        loss: &str,
        intercept: &str,
    ) -> PyResult<Part> {
        let (rows, weights) = self.normalized(py, &expansion)?;
        let facts = Facts::Linear {
            answers: Answers::of(&known)?,
            costs: weights.iter().map(|weight| C * weight).collect(),
            loss: loss.parse().map_err(raise)?,
            intercept: intercept.parse().map_err(raise)?,
        };
        Ok(Part { number: self.number, rows: rows.unbind(), facts })
    }

    /// The features, normalized, with standardized targets and what leave-one-out takes away of each weight; `first` is the
    /// number of their first row among all rows.
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
        Ok(Part { number: self.number, rows: rows.unbind(), facts: Facts::Ridge { targets, weights, units, of } })
    }

    /// v(x) of the samples of weight above 0, with their classes and costs C · weight.
    #[expect(non_snake_case, reason = "C is the parameter's name")]
    fn power_mean(
        &self,
        py: Python<'_>,
        known: Known<'_>,
        C: f64,
        loss: &str,
        map: MapParts<'_>,
        factors: Option<Vec<f64>>,
    ) -> PyResult<Part> {
        let weights = self.weights()?;
        let map = map_of(map)?;
        let samples: Given<'_> = self.rows.bind(py).extract()?;
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
        let facts = Facts::Linear {
            answers: Answers::of(&known)?.present(weights),
            costs: present(weights, weights).into_iter().map(|weight| C * weight).collect(),
            loss: loss.parse().map_err(raise)?,
            intercept: Intercept::None,
        };
        Ok(Part { number: self.number, rows: features.unbind(), facts })
    }

    /// Features on bases of the samples of weight above 0, or those of the unpenalized polynomials alone. `units` is
    /// what leave-one-out takes away, a sample.
    fn on_bases(
        &self,
        py: Python<'_>,
        known: Known<'_>,
        units: Bound<'_, PyAny>,
        plan: PyRef<'_, BasisPlan>,
        lift: Lift,
    ) -> PyResult<Part> {
        let (features, weights) = self.lifted(py, &plan, &lift)?;
        let facts = Facts::Bases {
            answers: Answers::of(&known)?.present(weights),
            n_penalized: lift.n_penalized,
            units: present(&convert::vector::<f64>(&units)?, weights),
            roots: present(weights, weights).into_iter().map(f64::sqrt).collect(),
        };
        Ok(Part { number: self.number, rows: features, facts })
    }

    /// The same of a regression, with standardized targets.
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
        let facts = Facts::Ridge {
            targets: rows.flat_map(|(row, _)| row.iter().copied()).collect(),
            units: present(&convert::vector::<f64>(&units)?, weights),
            weights: present(weights, weights),
            of: RidgeKind::Lifted { n_penalized: lift.n_penalized },
        };
        Ok(Part { number: self.number, rows: features, facts })
    }
}

/// The answers of several parts to a query as one.
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
