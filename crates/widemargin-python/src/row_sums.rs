//! Sums over a block of rows, for a worker of a cluster: each call is a function of the rows and of the result of an
//! earlier call, so that any worker that has or can recompute the rows can answer the next.

use std::sync::{Mutex, PoisonError};

use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use widemargin::data::{CsrView, DenseView};
use widemargin::monitor::Monitor;
use widemargin::problem::{
    ActiveRows, Block, BlockObjective, Gradient, Gram, Intercept, Line, Objective, ObjectiveScratch, ObjectiveState,
    OneVsRest, SmoothLoss,
};
use widemargin::{Error, Result};

use crate::convert::shaped;
use crate::errors::raise;

/// Memory for the objectives of this process, one per thread: an objective lives for one call about one block.
static SCRATCH: Mutex<Vec<ObjectiveScratch>> = Mutex::new(Vec::new());

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

/// Scores of the current points and along the current directions; initially empty.
type Memory<'py> = (PyReadonlyArray1<'py, f32>, PyReadonlyArray1<'py, f32>);

type MemoryOut<'py> = (Bound<'py, PyArray1<f32>>, Bound<'py, PyArray1<f32>>);

/// Sums and slopes of each problem.
type GradientOut<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>);

/// The lower triangle row-major, the column and the corner.
type GramOut<'py> = (Bound<'py, PyArray1<f32>>, Bound<'py, PyArray1<f64>>, f64);

/// Rows, the intercept's 1 in the last column, and their curvatures.
type ActiveOut<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>);

/// A line of [`Line`]: intercept, step, along, turn.
const LINE: usize = 4;

/// A block of rows of features with its classes and costs.
#[pyclass(frozen, module = "widemargin._core")]
pub(crate) struct RowSums {
    features: Py<PyAny>,
    codes: Vec<u32>,
    n_classes: usize,
    costs: Vec<f64>,
    loss: SmoothLoss,
    intercept: Intercept,
    threads: usize,
}

impl RowSums {
    /// Runs work on the objective with its stored state, without holding the GIL.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        memory: Option<&Memory<'_>>,
        work: impl FnOnce(&mut BlockObjective<'_>) -> Result<T> + Send,
    ) -> PyResult<T> {
        let (scores, along): (&[f32], &[f32]) = match memory {
            None => (&[], &[]),
            Some((scores, along)) => (scores.as_slice()?, along.as_slice()?),
        };
        let features: Features<'_> = self.features.bind(py).extract()?;
        let block = features.block()?;
        let targets = OneVsRest::new(&self.codes, self.n_classes);
        py.detach(|| {
            let scratch = SCRATCH.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
            let kind = (self.loss, self.intercept);
            let mut objective = BlockObjective::alone_in(scratch, block, targets, &self.costs, kind, self.threads)?;
            objective.recall(scores, along)?;
            let told = work(&mut objective)?;
            SCRATCH.lock().unwrap_or_else(PoisonError::into_inner).push(objective.into_scratch());
            Ok(told)
        })
        .map_err(raise)
    }

    /// Runs work with the rows and the arguments for an objective, holding the GIL.
    pub fn with_block<T>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(Block<'_>, OneVsRest<'_>, &[f64]) -> PyResult<T>,
    ) -> PyResult<T> {
        let features: Features<'_> = self.features.bind(py).extract()?;
        work(features.block()?, OneVsRest::new(&self.codes, self.n_classes), &self.costs)
    }

    fn n_features(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.features.bind(py).extract::<Features<'_>>()?.block()?.n_features())
    }

    /// The same for work that changes the state.
    fn moved<'py>(
        &self,
        py: Python<'py>,
        memory: Option<&Memory<'_>>,
        work: impl FnOnce(&mut BlockObjective<'_>) -> Result<()> + Send,
    ) -> PyResult<MemoryOut<'py>> {
        let ObjectiveState { scores, along } = self.with(py, memory, |objective| {
            work(objective)?;
            Ok(objective.state())
        })?;
        Ok((PyArray1::from_vec(py, scores), PyArray1::from_vec(py, along)))
    }
}

#[pymethods]
impl RowSums {
    #[new]
    fn new(
        features: Py<PyAny>,
        codes: PyReadonlyArray1<'_, u32>,
        n_classes: usize,
        costs: PyReadonlyArray1<'_, f64>,
        loss: &str,
        intercept: &str,
        threads: usize,
    ) -> PyResult<Self> {
        let codes = codes.as_slice()?.to_vec();
        if let Some(row) = codes.iter().position(|&code| code as usize >= n_classes) {
            let expected = format!("a number below {n_classes}");
            return Err(raise(Error::Parameter {
                name: "codes",
                value: format!("{} in row {row}", codes[row]),
                expected,
            }));
        }
        Ok(RowSums {
            features,
            codes,
            n_classes,
            costs: costs.as_slice()?.to_vec(),
            loss: loss.parse().map_err(raise)?,
            intercept: intercept.parse().map_err(raise)?,
            threads,
        })
    }

    fn set_point<'py>(
        &self,
        py: Python<'py>,
        memory: Option<Memory<'py>>,
        live: Vec<usize>,
        points: PyReadonlyArray2<'_, f64>,
    ) -> PyResult<MemoryOut<'py>> {
        let points = points.as_slice()?;
        self.moved(py, memory.as_ref(), |objective| objective.set_point(&live, points))
    }

    fn set_direction<'py>(
        &self,
        py: Python<'py>,
        memory: Memory<'py>,
        live: Vec<usize>,
        directions: PyReadonlyArray2<'_, f64>,
    ) -> PyResult<MemoryOut<'py>> {
        let directions = directions.as_slice()?;
        self.moved(py, Some(&memory), |objective| objective.set_direction(&live, directions))
    }

    fn take_step<'py>(
        &self,
        py: Python<'py>,
        memory: Memory<'py>,
        live: Vec<usize>,
        steps: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<MemoryOut<'py>> {
        let steps = steps.as_slice()?;
        self.moved(py, Some(&memory), |objective| objective.take_step(&live, steps))
    }

    /// Value, slope, curvature and pull, one row per problem.
    fn line_search_eval<'py>(
        &self,
        py: Python<'py>,
        memory: Memory<'py>,
        live: Vec<usize>,
        lines: PyReadonlyArray2<'_, f64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let lines = lines.as_slice()?.chunks_exact(LINE);
        let lines: Vec<Line> = lines.map(|l| Line { intercept: l[0], step: l[1], along: l[2], turn: l[3] }).collect();
        let sums = self.with(py, Some(&memory), |objective| objective.line_search_eval(&live, &lines))?;
        let numbers = sums.iter().flat_map(|s| [s.value, s.slope, s.curvature, s.pull]).collect();
        shaped(py, numbers, sums.len(), 4)
    }

    /// Value, pull, balance, conjugate and number of support vectors, one row per problem; and the slopes.
    fn gradient<'py>(
        &self,
        py: Python<'py>,
        memory: Memory<'py>,
        live: Vec<usize>,
        intercepts: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<GradientOut<'py>> {
        let intercepts = intercepts.as_slice()?;
        let gradient = self.with(py, Some(&memory), |objective| objective.gradient(&live, intercepts))?;
        let Gradient { sums, slopes } = gradient;
        let numbers = sums.iter().flat_map(|s| [s.value, s.pull, s.balance, s.conjugate, s.n_support as f64]).collect();
        let width = slopes.len() / sums.len().max(1);
        Ok((shaped(py, numbers, sums.len(), 5)?, shaped(py, slopes, sums.len(), width)?))
    }

    fn hessian_product<'py>(
        &self,
        py: Python<'py>,
        memory: Memory<'py>,
        live: Vec<usize>,
        intercepts: PyReadonlyArray1<'_, f64>,
        directions: PyReadonlyArray2<'_, f64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (n, width) = (live.len(), directions.shape()[1]);
        let (intercepts, directions) = (intercepts.as_slice()?, directions.as_slice()?);
        let product =
            self.with(py, Some(&memory), |objective| objective.hessian_product(&live, intercepts, directions))?;
        shaped(py, product, n, width)
    }

    fn gram<'py>(
        &self,
        py: Python<'py>,
        memory: Memory<'py>,
        live: Vec<usize>,
        intercepts: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<GramOut<'py>> {
        let intercepts = intercepts.as_slice()?;
        let cancelled = || Error::Cancelled { stage: "solve" };
        let Gram { lower, column, corner } = self.with(py, Some(&memory), |objective| {
            objective.gram(&live, intercepts, &Monitor::none())?.ok_or_else(cancelled)
        })?;
        Ok((PyArray1::from_vec(py, lower), PyArray1::from_vec(py, column), corner))
    }

    fn diagonal<'py>(
        &self,
        py: Python<'py>,
        memory: Memory<'py>,
        live: Vec<usize>,
        intercepts: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let intercepts = intercepts.as_slice()?;
        let diagonal = self.with(py, Some(&memory), |objective| objective.diagonal(&live, intercepts))?;
        Ok(PyArray1::from_vec(py, diagonal))
    }

    /// The rows with a curvature above 0 in the single live problem, and their curvatures; None if there are more than
    /// `most`.
    fn active_rows<'py>(
        &self,
        py: Python<'py>,
        memory: Memory<'py>,
        live: Vec<usize>,
        intercepts: PyReadonlyArray1<'_, f64>,
        most: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Option<ActiveOut<'py>>> {
        let (&[k], &[intercept], &[most]) = (&live[..], intercepts.as_slice()?, most.as_slice()?) else {
            return Err(PyValueError::new_err("active_rows are those of one problem"));
        };
        let found = self.with(py, Some(&memory), |objective| objective.active_rows(k, intercept, most as usize))?;
        let Some(ActiveRows { rows, curvatures }) = found else { return Ok(None) };
        let (n, width) = (curvatures.len(), self.n_features(py)? + 1);
        Ok(Some((shaped(py, rows, n, width)?, PyArray1::from_vec(py, curvatures))))
    }

    /// The cost of a pass, of a problem in it and of the Gram matrix, in multiply-adds of a large product.
    fn cost(&self, py: Python<'_>) -> PyResult<(f64, f64, f64)> {
        let cost = self.with(py, None, |objective| Ok(objective.cost()))?;
        Ok((cost.pass, cost.problem, cost.gram))
    }
}
