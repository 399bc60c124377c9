//! The solution of a regression, before it becomes a model.

use crate::error::Result;
use crate::model::regression_path::{RegressionPoint, RegressionSelection, StandardTargets};
use crate::model::{CChoice, LossPoint};
use crate::monitor::Monitor;
use crate::problem::Loss;
use crate::solve::residuals;
use crate::solve::ridge::FeatureSolution;
use crate::solve::{Report, Stage, Status};

/// The metadata of the model of such a fit, in addition to its solution.
#[derive(Clone, Debug)]
pub struct RegressorMetadata {
    /// How the bases were selected.
    pub basis: String,
    /// Their training rows; empty for explicit bases.
    pub basis_rows: Vec<usize>,
    /// The weight of the losses, fixed or to be selected.
    pub c: CChoice,
    /// The loss.
    pub loss: Loss,
    /// Of the selection of bases, and of the folds of the quantile loss.
    pub seed: u64,
    /// Stages before the solution, which appends its own.
    pub stages: Vec<Stage>,
}

/// A solution for the standard targets, and its report.
pub(super) struct Solution {
    pub weights: Vec<f64>,
    pub intercepts: Vec<f64>,
    pub c: f64,
    pub path: Vec<RegressionPoint>,
    pub epsilons: Vec<f64>,
    pub loss_path: Vec<LossPoint>,
    pub warning: Option<String>,
    pub report: Box<dyn FnOnce(Vec<Stage>) -> Report>,
}

impl Solution {
    /// By the squared loss, of n samples.
    pub fn of_ridge(
        solution: FeatureSolution,
        chosen: RegressionSelection,
        standard: &StandardTargets,
        n: usize,
    ) -> Self {
        let FeatureSolution { weights, intercepts } = solution;
        let (k, norms) = (intercepts.len(), weights.iter().map(|weight| weight * weight).sum::<f64>());
        Solution {
            weights,
            intercepts,
            c: chosen.c(),
            warning: chosen.warning(standard),
            path: chosen.path,
            epsilons: Vec::new(),
            loss_path: Vec::new(),
            report: Box::new(move |stages| of_closed_form(norms, n, k, stages)),
        }
    }
}

/// The report of a solution in closed form, which has no gap: of k outputs by n samples, with the squared norm of the
/// weights.
pub(super) fn of_closed_form(norms: f64, n: usize, k: usize, stages: Vec<Stage>) -> Report {
    let half = vec![0.5 * norms / k as f64; k];
    let n_support = vec![u32::try_from(n).unwrap_or(u32::MAX); k];
    Report::of(&vec![Status::Converged; k], vec![1; k], (&half, &half), vec![0.0; k], n_support, stages)
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
    let fit = residuals::fit(samples, choice, monitor)?;
    let d2 = fit.path.iter().find(|point| point.c == fit.c).map(|point| point.d2);
    let no_better = |d2: f64| format!("no better than a constant: D² of samples that the fit did not see is {d2:.3}");
    let warning = match d2 {
        _ if standard.are_constant() => Some("no better than a constant: all samples have the same target".into()),
        Some(d2) if d2 <= 0.0 => Some(no_better(d2)),
        _ => None,
    };
    let solved = fit.solved;
    let report = move |stages| {
        let status: Vec<Status> = solved.iter().map(|one| one.status).collect();
        let (primal, dual): (Vec<f64>, Vec<f64>) = solved.iter().map(|one| (one.primal, one.dual)).unzip();
        let (iterations, n_support) = solved.iter().map(|one| (one.iterations, one.n_support)).unzip();
        let gaps = solved.iter().map(|one| one.gap()).collect();
        let mut report = Report::of(&status, iterations, (&primal, &dual), gaps, n_support, stages);
        let at_limit = format!("after {} Newton steps", report.max_iterations());
        report.warn_unless_converged(&at_limit, None);
        report
    };
    Ok(Solution {
        weights: fit.weights,
        intercepts: fit.intercepts,
        c: fit.c,
        path: Vec::new(),
        epsilons: fit.epsilons,
        loss_path: fit.path,
        warning,
        report: Box::new(report),
    })
}
