//! Newton's method on rows that are stored on workers.

use std::sync::Arc;
use std::time::Instant;

use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use widemargin::data::DenseView;
use widemargin::model::{assess, stand_ins};
use widemargin::monitor::Monitor;
use widemargin::problem::{
    Block, BlockObjective, HeldOutScores, Objective, OneVsRest, RemoteObjective, SampledObjective, Shape,
};
use widemargin::solve::newton::{self, NewtonSettings, NewtonSolution, NewtonStart};
use widemargin::solve::{Calibration, EstimateMethod, Report, Stage};

use crate::convert::{self, Common};
use crate::errors::raise;
use crate::weighted_labels::WeightedLabels;
use crate::work::{ToCaller, conduct};
use crate::workers::PythonWorkers;

/// Rows that were copied to the client: their indices, and their features.
pub(crate) type Brought<'py> = (PyReadonlyArray1<'py, i64>, PyReadonlyArray2<'py, f32>);

/// Solved problems, their sizes, and a summary of the solve.
pub(crate) struct Solved {
    pub solution: NewtonSolution,
    pub shape: Shape,
    pub report: Report,
    pub calibration: Calibration,
}

/// Minimizes over the rows that `rows` represents, starting from 0, or from the solution on the rows that were copied to
/// the client. Directions then come from the Hessian of these rows, and the workers evaluate only values and gradients.
pub(crate) fn minimize(
    py: Python<'_>,
    rows: Py<PyAny>,
    labels: &WeightedLabels,
    brought: Option<Brought<'_>>,
    c: f64,
    common: &Common<'_>,
    stages: Vec<(String, f64)>,
) -> PyResult<Solved> {
    let Common { tol, max_iter, threads, .. } = *common;
    let settings = NewtonSettings { tol, max_iter, threads, ..NewtonSettings::default() };
    let (rows, patience, started) = (Arc::new(rows), common.patience()?, Instant::now());
    let remote = |to_caller: &ToCaller, monitor: &Monitor<'_>| {
        let objective = RemoteObjective::new(PythonWorkers::new(&rows, to_caller), monitor)?;
        let shape = Objective::shape(&objective);
        Ok::<_, widemargin::Error>((objective, shape))
    };
    let (solution, shape, mut held_out) = match brought {
        None => conduct(py, &patience, |monitor, to_caller| {
            let (mut objective, shape) = remote(to_caller, monitor)?;
            let solution = newton::solve(&mut objective, &settings, None, monitor)?;
            let held_out = held_out_scores(&mut objective, &settings, monitor)?;
            Ok((solution, shape, held_out))
        })?,
        Some((rows, features)) => {
            let rows = convert::rows(Some(rows))?.unwrap_or_default();
            let costs: Vec<f64> = labels.weights.iter().map(|weight| c * weight).collect();
            let (codes, costs) = stand_ins(&rows, &labels.labels, &costs);
            let targets = OneVsRest::of(&labels.labels).with_codes(&codes);
            let (n_rows, n_cols) = (features.shape()[0], features.shape()[1]);
            let block = Block::from(DenseView::new(features.as_slice()?, n_rows, n_cols).map_err(raise)?);
            conduct(py, &patience, |monitor, to_caller| {
                let (objective, shape) = remote(to_caller, monitor)?;
                let here = || BlockObjective::alone(block, targets, &costs, shape.loss, shape.intercept, threads);
                let first = newton::solve(&mut here()?, &settings, None, monitor)?;
                let start = NewtonStart { weights: &first.weights, intercepts: &first.intercepts };
                let mut objective = SampledObjective::new(objective, here()?)?;
                let solution = newton::solve(&mut objective, &settings, Some(start), monitor)?;
                let held_out = held_out_scores(&mut objective, &settings, monitor)?;
                Ok((solution, shape, held_out))
            })?
        }
    };
    let mut stages = convert::stages(stages);
    stages.push(Stage { name: "solve".into(), seconds: started.elapsed().as_secs_f64() });
    let mut report = solution.report(stages, &settings);
    held_out.weights.iter_mut().for_each(|weight| *weight /= c);
    let calibration = assess(&mut report, &held_out, &labels.labels, &labels.sample_weights, EstimateMethod::HeldOut);
    Ok(Solved { solution, shape, report, calibration })
}

/// The relative duality gap of the fit without the held-out rows.
const HELD_OUT_TOL: f64 = 1e-2;

/// Held-out decision values of some rows: a fit without them. It starts at 0: at a small C the gap is small at the
/// solution of all rows already, whose weights know these.
fn held_out_scores(
    objective: &mut impl Objective,
    settings: &NewtonSettings,
    monitor: &Monitor<'_>,
) -> widemargin::Result<HeldOutScores> {
    if monitor.ask().is_err() {
        return Ok(HeldOutScores::default());
    }
    objective.hold_out()?;
    let settings = NewtonSettings { tol: settings.tol.max(HELD_OUT_TOL), ..*settings };
    let without = newton::solve(objective, &settings, None, monitor)?;
    objective.held_out(&without.intercepts)
}
