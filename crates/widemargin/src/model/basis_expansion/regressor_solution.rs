//! The solution of a regression, which becomes a model; on features that others hold: of other machines, or read in passes.

use super::expand::Expansion;
use super::regression::{BasisExpansionRegressor, Regression};
use crate::error::{Error, Result};
use crate::expansion::BasisExpansion;
use crate::instant::Instant;
use crate::model::on_workers::Preparation;
use crate::model::origin::TrainingSettings;
use crate::model::regression_path::{RegressionSelection, StandardTargets, closed_form_report};
use crate::model::{CChoice, PartedTargets};
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::partition::{Executor, Remote, Workers};
use crate::problem::Loss;
use crate::similarity::Similarity;
use crate::solve::residuals::{Choice, Fit, fit};
use crate::solve::ridge::{FeatureSolution, PartedRidge, RidgeRows, center_of};
use crate::solve::thin_plate::{FeatureMap, RemoteRowSums, RowsShape, Run, Settled, fit_rows};
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

    /// By another loss.
    pub fn of_losses(fit: Fit, loss: Loss, (standard, has_intercept): (&StandardTargets, bool)) -> Self {
        let d2 = fit.path.iter().find(|point| point.c == fit.c).map(|point| point.d2);
        let no_better =
            |d2: f64| format!("no better than a constant: D² of samples that the fit did not see is {d2:.3}");
        let warning = match d2 {
            _ if standard.are_constant() => Some("no better than a constant: all samples have the same target".into()),
            Some(d2) if d2 <= 0.0 => Some(no_better(d2)),
            _ => None,
        };
        let report = Report::of_solver(&fit.problems, Vec::new(), "Newton steps", None);
        let mut task = Regression::new(loss, fit.c, has_intercept, fit.weights, fit.intercepts);
        (task.epsilons, task.loss_path) = (fit.epsilons, fit.path);
        Solution { task, warning, report }
    }

    /// By the squared error, on rows wherever they are.
    ///
    /// # Errors
    /// Those of the rows; [`Error::Parameter`] if C is to be chosen and there is no estimate, or for too many features.
    pub fn by_squares(
        targets: &PartedTargets,
        rows: &mut impl Executor<Of = RidgeRows>,
        c: CChoice,
        monitor: &Monitor<'_>,
    ) -> Result<Self> {
        let ridge = PartedRidge::new(rows, (targets.n_outputs(), targets.total()), MAX_PARTED_FEATURES, monitor)?;
        let chosen = RegressionSelection::of(c, &targets.standard, (&ridge, rows), monitor)?;
        let solution = ridge.solution(chosen.lambda);
        Ok(Solution::of_ridge(solution, chosen, (&targets.standard, targets.has_intercept), targets.n_present()))
    }

    /// The model, in the unit of the targets.
    pub fn model<S: Similarity, F>(
        mut self,
        made: Expansion<S, F>,
        standard: &StandardTargets,
        before: (TrainingSettings, Vec<Stage>),
    ) -> BasisExpansionRegressor<S> {
        standard.restore(&mut self.task.weights, &mut self.task.intercepts);
        let mut model = made.model(self.task, self.report, before);
        model.report.warnings.extend(self.warning);
        model
    }
}

/// Half the squared norm of the weights of k outputs, the same for each: the mean.
pub(super) fn half_norms(weights: &[f64], k: usize) -> Vec<f64> {
    let norms: f64 = weights.iter().map(|weight| weight * weight).sum();
    vec![0.5 * norms / k as f64; k]
}

impl<S: Similarity> BasisExpansionRegressor<S> {
    /// Trains on the features of an expansion that workers hold, with the standardized targets of the same rows. Equal
    /// samples are not merged.
    ///
    /// The squared error takes three queries; its leave-one-out errors are exact for the features, as on one machine.
    /// Other losses are minimized by Newton's method, for all outputs together: a query or two a step and one at each C.
    /// Their estimates of the error are those of one machine, except that the folds of the quantile loss are of all
    /// samples, not of those that differ, which may choose another C.
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
        let (made, (training, mut stages)) = Expansion::on_workers(expansion, preparation);
        let (c, loss) = choice;
        c.check()?;
        loss.check_of_targets()?;
        let started = Instant::now();
        let solution = match loss {
            Loss::SquaredError => Solution::by_squares(targets, &mut Remote::new(workers), c, monitor)?,
            loss => {
                let fit = on_workers(targets, workers, Choice { loss, c: c.value() }, monitor)?;
                Solution::of_losses(fit, loss, (&targets.standard, targets.has_intercept))
            }
        };
        stages.push(Stage { name: "solve".into(), seconds: started.elapsed().as_secs_f64() });
        Ok(solution.model(made, &targets.standard, (training, stages)))
    }
}

/// The fit by a loss that is not squared, of plain features that workers hold.
fn on_workers(
    targets: &PartedTargets,
    mut workers: impl Workers,
    choice: Choice,
    monitor: &Monitor<'_>,
) -> Result<Fit> {
    let (k, total, has_intercept) = (targets.n_outputs(), targets.total(), targets.has_intercept);
    let mut rows = Remote::<RidgeRows, _>::new(&mut workers);
    let (center, _) = center_of(&mut rows, (k, total), MAX_PARTED_FEATURES, monitor)?;
    if let Some(value) = center.iter().find(|value| !value.is_finite()) {
        return Err(Error::NotFinite { what: "a sum of the features".into(), value: *value });
    }
    let settled = Settled::of_plain(&center, total, has_intercept);
    let map = settled.feature_map(FeatureMap::identity(center.len()));
    let n_free = usize::from(has_intercept);
    let shape = RowsShape { n_penalized: center.len(), n_free, n_problems: k, shares_first_hessian: false };
    let (present, pool) = (targets.present(), Pool::new(0)?);
    fit(present.samples(), choice, monitor, &mut |settings, _, monitor| {
        let run = Run { settings, pool: &pool, monitor };
        fit_rows(&mut RemoteRowSums::new(&mut workers, shape), (&settled, &map), None, run)
    })
}
