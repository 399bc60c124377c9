//! Parts of the rows on a worker of a cluster. An answer is a function of the part, the query and the state returned by
//! an earlier answer, so that any worker that has the part, or recomputes it, can answer.

use std::sync::atomic::{AtomicBool, Ordering};

use numpy::{PyArray1, PyReadwriteArray2};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use widemargin::Error;
use widemargin::data::Vectors;
use widemargin::expansion::explicit_block;
use widemargin::model::{PartData, PartFeatures, PartLift, PartState, PartTargets, merge_answers};
use widemargin::monitor::Monitor;
use widemargin::problem::Intercept;

use crate::convert;
use crate::errors::raise;
use crate::model::{Model, ours};
use crate::power_mean::{MapParts, map_of};
use crate::remote::{BasisPlan, Lift};
use crate::samples::PySamples;
use crate::work::{Patience, conduct};

/// The state of a part between queries.
#[pyclass(frozen, module = "widemargin._core")]
pub(crate) struct State(PartState);

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
        self.0.n_bytes()
    }
}

fn wrong(what: &'static str, problem: &str) -> PyErr {
    let expected = "the bytes of a part of the same rows".into();
    raise(Error::Parameter { name: what, value: problem.to_owned(), expected })
}

/// The class of each row and the number of classes; or the index of its set of labels, their number and the signed
/// weights of the sets, sets × labels.
type RowTargets<'py> = (Bound<'py, PyAny>, usize, Option<Bound<'py, PyAny>>);

fn row_targets((codes, n_classes, sets): RowTargets<'_>) -> PyResult<PartTargets> {
    let sets = sets.map(|sets| convert::matrix(&sets)).transpose()?;
    Ok(PartTargets { codes: convert::vector(&codes)?, n_classes, sets: sets.unwrap_or_default().0 })
}

/// The targets of rows: classes or labels; or standardized numbers, rows × outputs.
#[derive(FromPyObject)]
enum Targets<'py> {
    #[pyo3(transparent)]
    Labels(RowTargets<'py>),
    #[pyo3(transparent)]
    Numbers(Bound<'py, PyAny>),
}

/// Those of the rows of weight above 0.
fn present_targets(targets: RowTargets<'_>, weights: &[f64]) -> PyResult<PartTargets> {
    let targets = row_targets(targets)?;
    Ok(PartTargets { codes: present(&targets.codes, weights), ..targets })
}

/// A pickled part: `restored` and its arguments.
type Reduced<'py> = (Bound<'py, PyAny>, (usize, Py<PyAny>, Bound<'py, PyBytes>));

/// Rows of one partition, with its number.
#[pyclass(frozen, module = "widemargin._core")]
pub(crate) struct Part {
    #[pyo3(get)]
    number: usize,
    /// Their arrays.
    rows: Py<PyAny>,
    data: PartData,
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

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
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
        let rows: PySamples<'_> = self.rows.bind(py).extract()?;
        let (rows, state) = (rows.rows("a query to a part")?, state.map(|state| &state.0));
        let answer = py.detach(|| self.data.answer(rows, query, state, &Monitor::none()));
        let (answer, state) = answer.map_err(raise)?;
        Ok((PyBytes::new(py, &answer), state.filter(|_| changes_state).map(State)))
    }

    /// Some rows of dense features.
    fn pick<'py>(&self, py: Python<'py>, rows: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.rows.bind(py).get_item(rows)
    }

    /// The features, normalized, with their classes or labels and costs C · weight.
    fn linear(
        &self,
        py: Python<'_>,
        expansion: PyRef<'_, Model>,
        targets: RowTargets<'_>,
        C: f64,
        loss: &str,
        intercept: &str,
    ) -> PyResult<Part> {
        let (rows, weights) = self.normalized(py, &expansion)?;
        let data = PartData::Linear {
            targets: row_targets(targets)?,
            costs: weights.iter().map(|weight| C * weight).collect(),
            loss: loss.parse().map_err(raise)?,
            intercept: intercept.parse().map_err(raise)?,
        };
        Ok(Part { number: self.number, rows: rows.unbind(), data })
    }

    /// The features, normalized, with standardized targets and the part of each weight that leave-one-out removes.
    fn ridge(
        &self,
        py: Python<'_>,
        expansion: PyRef<'_, Model>,
        targets: Bound<'_, PyAny>,
        units: Bound<'_, PyAny>,
        has_intercept: bool,
    ) -> PyResult<Part> {
        let (rows, weights) = self.normalized(py, &expansion)?;
        let ((targets, _), weights, units) = (convert::matrix(&targets)?, weights.to_vec(), convert::vector(&units)?);
        let data = PartData::Ridge { targets, weights, units, features: PartFeatures::Plain { has_intercept } };
        Ok(Part { number: self.number, rows: rows.unbind(), data })
    }

    /// v(x) of the samples of weight above 0, with their classes and costs C · weight.
    fn power_mean(
        &self,
        py: Python<'_>,
        targets: RowTargets<'_>,
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
            Vectors::Dense(matrix) => convert::array(py, matrix)?.into_any(),
            Vectors::Sparse(matrix) => {
                let (values, indices) = (PyArray1::from_vec(py, matrix.values), PyArray1::from_vec(py, matrix.indices));
                let parts = ("csr", values, indices, PyArray1::from_vec(py, matrix.indptr), matrix.n_cols);
                parts.into_pyobject(py)?.into_any()
            }
        };
        let data = PartData::Linear {
            targets: present_targets(targets, weights)?,
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
        targets: Targets<'_>,
        units: Bound<'_, PyAny>,
        plan: PyRef<'_, BasisPlan>,
        lift: Lift,
    ) -> PyResult<Part> {
        let (all, (n_penalized, penalized, columns, cross)) = (self.weights()?, lift);
        let samples: PySamples<'_> = self.rows.bind(py).extract()?;
        let view = samples.rows("the thin plate methods")?;
        let (plan, lift) = (&plan.0, PartLift { n_penalized, penalized, columns, cross });
        let features = conduct(py, &Patience::default(), |_, _| plan.features(&view, all, &lift))?;
        let (weights, units) = (present(all, all), present(&convert::vector::<f64>(&units)?, all));
        let width = features.len().checked_div(weights.len()).unwrap_or(0);
        let rows = convert::shaped(py, features, weights.len(), width)?.into_any().unbind();
        let data = match targets {
            Targets::Labels(targets) => {
                let roots = weights.into_iter().map(f64::sqrt).collect();
                PartData::Bases { targets: present_targets(targets, all)?, n_penalized, units, roots }
            }
            Targets::Numbers(targets) => {
                let (targets, k) = convert::matrix(&targets)?;
                let of_present = targets.chunks(k.max(1)).zip(all).filter(|(_, weight)| **weight > 0.0);
                let targets = of_present.flat_map(|(row, _)| row.iter().copied()).collect();
                PartData::Ridge { targets, units, weights, features: PartFeatures::Lifted { n_penalized } }
            }
        };
        Ok(Part { number: self.number, rows, data })
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
    let merged = py.detach(|| merge_answers(query, &answers));
    Ok(PyBytes::new(py, &merged.map_err(raise)?))
}
