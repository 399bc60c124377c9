//! Newton's method on remote rows: each sum over the rows is requested from Python, which computes it on a cluster.

use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};

use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use widemargin::monitor::Monitor;
use widemargin::problem::{
    ActiveRows, BlockObjective, Cost, Gradient, Gram, Intercept, Line, LineSums, Objective, PointSums,
    SampledObjective, Shape, SmoothLoss,
};
use widemargin::solve::newton::{self, NewtonSettings, NewtonSolution, NewtonStart};
use widemargin::{Error, Result};

use crate::convert::shaped;
use crate::errors::raise;
use crate::row_sums::RowSums;
use crate::work::{Message, Patience, Question, ToCaller, conduct};

/// An argument of a call: numbers in rows of a given width, or in one row if that is 0.
pub(crate) struct Numbers {
    values: Vec<f64>,
    width: usize,
}

impl Numbers {
    pub fn rows(values: &[f64], width: usize) -> Self {
        Numbers { values: values.to_vec(), width }
    }

    pub fn line(values: &[f64]) -> Self {
        Numbers::rows(values, 0)
    }

    fn array(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        match self.width {
            0 => Ok(PyArray1::from_vec(py, self.values).into_any()),
            width => {
                let n = self.values.len() / width;
                Ok(shaped(py, self.values, n, width)?.into_any())
            }
        }
    }
}

/// A call of a method of the Python object for the rows.
struct Request<T> {
    rows: Arc<Py<PyAny>>,
    method: &'static str,
    live: Vec<usize>,
    numbers: Vec<Numbers>,
    read: fn(&Bound<'_, PyAny>) -> PyResult<T>,
    reply: SyncSender<Option<T>>,
}

impl<T: Send> Question for Request<T> {
    fn serve(self: Box<Self>, py: Python<'_>) -> PyResult<()> {
        let Request { rows, method, live, numbers, read, reply } = *self;
        let answer = || {
            let mut arguments = vec![live.into_pyobject(py)?.into_any()];
            for array in numbers {
                arguments.push(array.array(py)?);
            }
            read(&rows.bind(py).call_method1(method, PyTuple::new(py, arguments)?)?)
        };
        let (told, result) = match answer() {
            Ok(told) => (Some(told), Ok(())),
            Err(error) => (None, Err(error)),
        };
        // The requesting thread is waiting, so that the channel is open.
        let _ = reply.send(told);
        result
    }

    fn refuse(self: Box<Self>) {
        let _ = self.reply.send(None);
    }
}

/// A Python object for remote rows, and the channel to its thread.
pub(crate) struct Standing {
    pub rows: Arc<Py<PyAny>>,
    pub to_caller: ToCaller,
}

impl Standing {
    /// Calls a method with the problems concerned and arrays of numbers.
    pub fn ask<T: Send + 'static>(
        &self,
        method: &'static str,
        live: &[usize],
        numbers: Vec<Numbers>,
        read: fn(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Result<T> {
        let (reply, answer) = sync_channel(1);
        let (rows, live) = (Arc::clone(&self.rows), live.to_vec());
        let request = Request { rows, method, live, numbers, read, reply };
        let asked = self.to_caller.send(Message::Ask(Box::new(request))).is_ok();
        match answer.recv() {
            Ok(Some(told)) if asked => Ok(told),
            // The calling thread keeps the exception, which the caller will see.
            _ => Err(Error::Cancelled { stage: "solve" }),
        }
    }
}

/// The objective over remote rows, accessed through a Python object.
struct RemoteObjective {
    standing: Standing,
    shape: Shape,
    cost: Cost,
}

impl RemoteObjective {
    fn ask<T: Send + 'static>(
        &self,
        method: &'static str,
        live: &[usize],
        numbers: Vec<Numbers>,
        read: fn(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Result<T> {
        self.standing.ask(method, live, numbers, read)
    }

    fn width(&self) -> usize {
        self.shape.n_features + 1
    }
}

pub(crate) fn nothing(_: &Bound<'_, PyAny>) -> PyResult<()> {
    Ok(())
}

pub(crate) fn numbers(told: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    match told.extract::<PyReadonlyArray2<'_, f64>>() {
        Ok(array) => Ok(array.as_slice()?.to_vec()),
        Err(_) => Ok(told.extract::<PyReadonlyArray1<'_, f64>>()?.as_slice()?.to_vec()),
    }
}

fn pair_of_numbers(told: &Bound<'_, PyAny>) -> PyResult<(Vec<f64>, Vec<f64>)> {
    let pair = told.cast::<PyTuple>()?;
    Ok((numbers(&pair.get_item(0)?)?, numbers(&pair.get_item(1)?)?))
}

/// Rows and their curvatures, or None.
fn active(told: &Bound<'_, PyAny>) -> PyResult<Option<ActiveRows>> {
    let Some((rows, curvatures)) = told.extract::<Option<(Bound<'_, PyAny>, Bound<'_, PyAny>)>>()? else {
        return Ok(None);
    };
    Ok(Some(ActiveRows { rows: numbers(&rows)?, curvatures: numbers(&curvatures)? }))
}

fn gram(told: &Bound<'_, PyAny>) -> PyResult<Gram> {
    let parts = told.cast::<PyTuple>()?;
    let lower: PyReadonlyArray1<'_, f32> = parts.get_item(0)?.extract()?;
    let column = numbers(&parts.get_item(1)?)?;
    Ok(Gram { lower: lower.as_slice()?.to_vec(), column, corner: parts.get_item(2)?.extract()? })
}

impl Objective for RemoteObjective {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn cost(&self) -> Cost {
        self.cost
    }

    fn set_point(&mut self, live: &[usize], points: &[f64]) -> Result<()> {
        self.ask("set_point", live, vec![Numbers::rows(points, self.width())], nothing)
    }

    fn set_direction(&mut self, live: &[usize], directions: &[f64]) -> Result<()> {
        self.ask("set_direction", live, vec![Numbers::rows(directions, self.width())], nothing)
    }

    fn line_search_eval(&mut self, live: &[usize], lines: &[Line]) -> Result<Vec<LineSums>> {
        let lines: Vec<f64> = lines.iter().flat_map(|l| [l.intercept, l.step, l.along, l.turn]).collect();
        let sums = self.ask("line_search_eval", live, vec![Numbers::rows(&lines, 4)], numbers)?;
        let sum = |s: &[f64]| LineSums { value: s[0], slope: s[1], curvature: s[2], pull: s[3] };
        Ok(sums.chunks_exact(4).map(sum).collect())
    }

    fn take_step(&mut self, live: &[usize], steps: &[f64]) -> Result<()> {
        self.ask("take_step", live, vec![Numbers::line(steps)], nothing)
    }

    fn gradient(&mut self, live: &[usize], intercepts: &[f64]) -> Result<Gradient> {
        let (sums, slopes) = self.ask("gradient", live, vec![Numbers::line(intercepts)], pair_of_numbers)?;
        let sum =
            |s: &[f64]| PointSums { value: s[0], pull: s[1], balance: s[2], conjugate: s[3], n_support: s[4] as u64 };
        Ok(Gradient { sums: sums.chunks_exact(5).map(sum).collect(), slopes })
    }

    fn hessian_product(&mut self, live: &[usize], intercepts: &[f64], directions: &[f64]) -> Result<Vec<f64>> {
        let given = vec![Numbers::line(intercepts), Numbers::rows(directions, self.width())];
        self.ask("hessian_product", live, given, numbers)
    }

    fn gram(&mut self, live: &[usize], intercepts: &[f64], monitor: &Monitor<'_>) -> Result<Option<Gram>> {
        if monitor.ask().is_err() {
            return Ok(None);
        }
        self.ask("gram", live, vec![Numbers::line(intercepts)], gram).map(Some)
    }

    fn diagonal(&mut self, live: &[usize], intercepts: &[f64]) -> Result<Vec<f64>> {
        self.ask("diagonal", live, vec![Numbers::line(intercepts)], numbers)
    }

    fn active_rows(&mut self, k: usize, intercept: f64, most: usize) -> Result<Option<ActiveRows>> {
        let given = vec![Numbers::line(&[intercept]), Numbers::line(&[most as f64])];
        self.ask("active_rows", &[k], given, active)
    }
}

/// Solved problems and a summary of the solve.
#[pyclass(frozen, module = "widemargin._core")]
pub(crate) struct Solution {
    pub solution: NewtonSolution,
    pub settings: NewtonSettings,
}

/// Minimises over remote rows, accessed through `rows`: from 0, or from the solution on `sample`, local rows at
/// scaled-up costs. Directions are then computed from its Hessian, so that only values and gradients are requested from
/// remote rows.
#[pyfunction]
#[pyo3(signature = (rows, sample, *, n_rows, n_features, n_problems, cost, loss, intercept, tol, max_iter, threads, time_limit,
    monitor))]
#[expect(clippy::too_many_arguments, reason = "they are the solver's parameters, passed by name")]
pub(crate) fn minimise(
    py: Python<'_>,
    rows: Py<PyAny>,
    sample: Option<Bound<'_, RowSums>>,
    n_rows: usize,
    n_features: usize,
    n_problems: usize,
    cost: (f64, f64, f64),
    loss: &str,
    intercept: &str,
    tol: f64,
    max_iter: u32,
    threads: usize,
    time_limit: Option<f64>,
    monitor: Option<Bound<'_, PyAny>>,
) -> PyResult<Solution> {
    let loss: SmoothLoss = loss.parse().map_err(raise)?;
    let intercept: Intercept = intercept.parse().map_err(raise)?;
    let shape = Shape { n_rows, n_features, n_problems, loss, intercept };
    let cost = Cost { pass: cost.0, problem: cost.1, gram: cost.2 };
    let settings = NewtonSettings { tol, max_iter, threads, ..NewtonSettings::default() };
    let rows = Arc::new(rows);
    let patience = Patience::new(time_limit, monitor)?;
    let remote = |to_caller: &ToCaller| RemoteObjective {
        standing: Standing { rows, to_caller: to_caller.clone() },
        shape,
        cost,
    };
    let Some(sample) = sample else {
        let solution = conduct(py, &patience, |monitor, to_caller| {
            newton::solve(&mut remote(to_caller), &settings, None, monitor)
        })?;
        return Ok(Solution { solution, settings });
    };
    let solution = sample.get().with_block(py, |block, targets, costs| {
        conduct(py, &patience, |monitor, to_caller| {
            let mut here = BlockObjective::alone(block, targets, costs, loss, intercept, threads)?;
            let first = newton::solve(&mut here, &settings, None, monitor)?;
            let start = NewtonStart { weights: &first.weights, intercepts: &first.intercepts };
            let here = BlockObjective::alone(block, targets, costs, loss, intercept, threads)?;
            let mut objective = SampledObjective::new(remote(to_caller), here)?;
            newton::solve(&mut objective, &settings, Some(start), monitor)
        })
    })?;
    Ok(Solution { solution, settings })
}
