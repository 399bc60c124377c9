//! The solution of a regression, which becomes a model; on features that others hold: of other machines, or read in passes.

use super::expansion_model::{Basis, ExpansionModel};
use super::regression::{BasisExpansionRegressor, Regression};
use crate::error::Result;
use crate::expansion::BasisExpansion;
use crate::instant::Instant;
use crate::model::on_workers::Preparation;
use crate::model::origin::Origin;
use crate::model::regression_path::{RegressionSelection, StandardTargets, closed_form_report};
use crate::model::{CChoice, PartedTargets};
use crate::monitor::Monitor;
use crate::partition::{Executor, Remote, Workers};
use crate::problem::Loss;
use crate::similarity::Similarity;
use crate::solve::residuals::{self, PartedRows};
use crate::solve::ridge::{FeatureSolution, PartedRidge, RidgeRows};
use crate::solve::{Report, Stage};
use crate::tuning::MAX_PARTED_FEATURES;

/// A solution for the standard targets, and its report.
pub(super) struct Solution {
    pub task: Regression,
    pub warning: Option<String>,
    /// Without the stages.
    pub report: Report,
}

impl Solution {
    /// By the squared error, of n samples.
    pub fn of_ridge(
        solution: FeatureSolution,
        chosen: RegressionSelection,
        (standard, has_intercept): (&StandardTargets, bool),
        n: usize,
    ) -> Self {
        let FeatureSolution { weights, intercepts } = solution;
        let report = closed_form_report(&half_norms(&weights, intercepts.len()), n, Vec::new());
        let (c, warning) = (chosen.c(), chosen.warning(standard));
        let mut task = Regression::new(Loss::SquaredError, c, has_intercept, weights, intercepts);
        task.path = chosen.path;
        Solution { task, warning, report }
    }

    /// The model, in the unit of the targets; `warning` is of the bases.
    pub fn model<S: Similarity>(
        self,
        expansion: BasisExpansion<S>,
        standard: &StandardTargets,
        preparation: Preparation,
        warning: Option<String>,
    ) -> BasisExpansionRegressor<S> {
        let Preparation { basis: choice, basis_rows: rows, training, stages } = preparation;
        let Solution { mut task, mut report, warning: of_solution } = self;
        standard.restore(&mut task.weights, &mut task.intercepts);
        report.stages = stages;
        expansion.add_remarks(&mut report.notes, &mut report.warnings);
        report.warnings.extend(warning.into_iter().chain(of_solution));
        ExpansionModel::new(expansion, Basis { choice, rows }, task, report, Origin::of(training))
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
    let report = Report::of_solver(&fit.problems, Vec::new(), "Newton steps", None);
    let mut task = Regression::new(loss, fit.c, has_intercept, fit.weights, fit.intercepts);
    (task.epsilons, task.loss_path) = (fit.epsilons, fit.path);
    Ok(Solution { task, warning, report })
}

impl<S: Similarity> BasisExpansionRegressor<S> {
    /// Trains on the features of an expansion that workers hold, with the standardized targets of the same rows. Equal
    /// samples are not merged.
    ///
    /// The squared error takes three queries; its leave-one-out errors are exact for the features, as on one machine.
    /// Other losses are minimized by Newton's method: two queries a step (three for the quantile loss) and four more at
    /// each C, hundreds in all if C and ε are selected, each with a number for each row in the query or the answer.
    /// Their estimates of the error are those of one machine, except that the folds of the quantile loss are drawn
    /// among all samples, not among those that differ, which may choose another C.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) for a wrong C or loss, or too many features for the sums of their
    /// products; [`Error::NotFinite`](crate::Error::NotFinite); an error of the rows;
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    #[doc(hidden)]
    pub fn of_workers(
        expansion: BasisExpansion<S>,
        targets: &PartedTargets,
        workers: impl Workers,
        choice: (CChoice, Loss),
        preparation: Preparation,
        monitor: &Monitor<'_>,
    ) -> Result<Self> {
        let targets = &targets.clone().with_bases(&preparation.basis_rows);
        BasisExpansionRegressor::of_parts(expansion, targets, &mut Remote::new(workers), choice, preparation, monitor)
    }

    /// The same on rows wherever they are.
    pub(super) fn of_parts(
        expansion: BasisExpansion<S>,
        targets: &PartedTargets,
        rows: &mut impl Executor<Of = RidgeRows>,
        (c, loss): (CChoice, Loss),
        mut preparation: Preparation,
        monitor: &Monitor<'_>,
    ) -> Result<Self> {
        c.check()?;
        loss.check_of_targets()?;
        let started = Instant::now();
        let (standard, k, has_intercept) = (&targets.standard, targets.n_outputs(), targets.has_intercept);
        let solution = match loss {
            Loss::SquaredError => {
                let ridge = PartedRidge::new(rows, (k, targets.total()), MAX_PARTED_FEATURES, monitor)?;
                let errors = |lambdas: &[f64]| ridge.leave_one_out(rows, lambdas, monitor);
                let chosen = RegressionSelection::of(c, standard, ridge.spectrum(), errors)?;
                let solution = ridge.solution(chosen.lambda);
                Solution::of_ridge(solution, chosen, (standard, has_intercept), targets.n_present())
            }
            loss => {
                let present = targets.present();
                let samples = residuals::Samples {
                    rows: &PartedRows::new(rows, targets.weights(), k, MAX_PARTED_FEATURES, monitor)?,
                    targets: &standard.values,
                    scales: &standard.scales,
                    weights: present.weights(),
                    units: present.units(),
                    has_intercept,
                };
                let choice = residuals::Choice { loss, c: c.value(), seed: preparation.training.seed };
                by_residuals(samples, choice, standard, monitor)?
            }
        };
        preparation.stages.push(Stage { name: "solve".into(), seconds: started.elapsed().as_secs_f64() });
        Ok(solution.model(expansion, standard, preparation, None))
    }
}
