//! The solution of a regression, before it becomes a model.

use super::regression::Regression;
use crate::error::Result;
use crate::model::regression_path::{RegressionSelection, StandardTargets, closed_form_report};
use crate::monitor::Monitor;
use crate::problem::Loss;
use crate::solve::residuals;
use crate::solve::ridge::FeatureSolution;
use crate::solve::{Report, Stage};

/// A solution for the standard targets, and its report.
pub(super) struct Solution {
    pub task: Regression,
    pub warning: Option<String>,
    pub report: Box<dyn FnOnce(Vec<Stage>) -> Report>,
}

impl Solution {
    /// By the squared loss, of n samples.
    pub fn of_ridge(
        solution: FeatureSolution,
        chosen: RegressionSelection,
        (standard, has_intercept): (&StandardTargets, bool),
        n: usize,
    ) -> Self {
        let FeatureSolution { weights, intercepts } = solution;
        let half_norms = half_norms(&weights, intercepts.len());
        let (c, warning) = (chosen.c(), chosen.warning(standard));
        let mut task = Regression::new(Loss::SquaredError, c, has_intercept, weights, intercepts);
        task.path = chosen.path;
        Solution { task, warning, report: Box::new(move |stages| closed_form_report(&half_norms, n, stages)) }
    }
}

/// Half the squared norm of the weights of k outputs, the same for each: the mean.
pub(super) fn half_norms(weights: &[f64], k: usize) -> Vec<f64> {
    let norms: f64 = weights.iter().map(|weight| weight * weight).sum();
    vec![0.5 * norms / k as f64; k]
}

/// By a loss that is not squared.
///
/// # Errors
/// Those of the rows; [`Error::Parameter`](crate::Error::Parameter) if C is to be chosen and there is no estimate.
pub(super) fn by_residuals(
    samples: residuals::Samples<'_, '_>,
    choice: residuals::Choice,
    standard: &StandardTargets,
    monitor: &Monitor<'_>,
) -> Result<Solution> {
    let (loss, has_intercept) = (choice.loss, samples.has_intercept);
    let fit = residuals::fit(samples, choice, monitor)?;
    let d2 = fit.path.iter().find(|point| point.c == fit.c).map(|point| point.d2);
    let no_better = |d2: f64| format!("no better than a constant: D² of samples that the fit did not see is {d2:.3}");
    let warning = match d2 {
        _ if standard.are_constant() => Some("no better than a constant: all samples have the same target".into()),
        Some(d2) if d2 <= 0.0 => Some(no_better(d2)),
        _ => None,
    };
    let problems = fit.problems;
    let report = move |stages| Report::of_solver(&problems, stages, "Newton steps", None);
    let mut task = Regression::new(loss, fit.c, has_intercept, fit.weights, fit.intercepts);
    (task.epsilons, task.loss_path) = (fit.epsilons, fit.path);
    Ok(Solution { task, warning, report: Box::new(report) })
}
