//! Newton's method on rows that workers hold.

use std::sync::Arc;

use pyo3::prelude::*;
use widemargin::problem::{BlockObjective, Cost, Intercept, RemoteObjective, SampledObjective, Shape, SmoothLoss};
use widemargin::solve::newton::{self, NewtonSettings, NewtonSolution, NewtonStart};

use crate::errors::raise;
use crate::parts::LinearPart;
use crate::work::{Patience, ToCaller, conduct};
use crate::workers::PythonWorkers;

/// Solved problems and a summary of the solve.
#[pyclass(frozen, module = "widemargin._core")]
pub(crate) struct Solution {
    pub solution: NewtonSolution,
    pub settings: NewtonSettings,
}

/// Minimises over rows that `rows` stands for: from 0, or from the solution on `sample`, some of the rows at costs that
/// stand for all, which are here. Its Hessian then is what directions come from, so that the workers are asked for
/// values and gradients alone.
#[pyfunction]
#[pyo3(signature = (rows, sample, *, n_rows, n_features, n_problems, cost, loss, intercept, tol, max_iter, threads, time_limit,
    monitor))]
#[expect(clippy::too_many_arguments, reason = "they are the solver's parameters, passed by name")]
pub(crate) fn minimise(
    py: Python<'_>,
    rows: Py<PyAny>,
    sample: Option<Bound<'_, LinearPart>>,
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
    let remote = |to_caller: &ToCaller| RemoteObjective::new(PythonWorkers::new(&rows, to_caller), shape, cost);
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
