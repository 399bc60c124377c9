//! Regression on features that others hold: of other machines, or read in passes.

use super::regressor::BasisExpansionRegressor;
use super::regressor_solution::{Solution, by_residuals};
use crate::error::Result;
use crate::expansion::BasisExpansion;
use crate::instant::Instant;
use crate::model::on_workers::Preparation;
use crate::model::{CChoice, PartedTargets, RegressionSelection};
use crate::monitor::Monitor;
use crate::partition::{Executor, Remote, Workers};
use crate::problem::Loss;
use crate::similarity::Similarity;
use crate::solve::Stage;
use crate::solve::residuals::{self, PartedRows};
use crate::solve::ridge::{PartedRidge, RidgeRows};
use crate::tuning::MAX_PARTED_FEATURES;

impl<S: Similarity> BasisExpansionRegressor<S> {
    /// Trains on the features of an expansion that workers hold, with the standardized targets of the same rows. Equal
    /// samples are not merged.
    ///
    /// The squared loss takes three queries; its leave-one-out errors are exact for the features, as on one machine.
    /// Other losses are minimized by Newton's method: two queries a step (three for the quantile loss) and four more at
    /// each C, hundreds in all if C and ε are selected, each with a number for each row in the query or the answer.
    /// Their estimates of the error are those of one machine, except that the folds of the quantile loss are drawn
    /// among all samples, not among those that differ, which may choose another C.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) for a wrong C or loss, or too many features for the sums of their
    /// products; [`Error::NotFinite`](crate::Error::NotFinite); an error of the rows;
    /// [`Error::Cancelled`](crate::Error::Cancelled).
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
        let solution = match loss {
            Loss::SquaredError => squared(targets, rows, c, monitor)?,
            loss => {
                let choice = residuals::Choice { loss, c: c.value(), seed: preparation.training.seed };
                of_residuals(targets, rows, choice, monitor)?
            }
        };
        preparation.stages.push(Stage { name: "solve".into(), seconds: started.elapsed().as_secs_f64() });
        Ok(BasisExpansionRegressor::of_solution(expansion, (solution, &targets.standard), preparation, None))
    }
}

/// By the squared loss.
fn squared(
    targets: &PartedTargets,
    rows: &mut impl Executor<Of = RidgeRows>,
    c: CChoice,
    monitor: &Monitor<'_>,
) -> Result<Solution> {
    let (standard, k) = (&targets.standard, targets.n_outputs());
    let ridge = PartedRidge::new(rows, (k, targets.total()), MAX_PARTED_FEATURES, monitor)?;
    let errors = |lambdas: &[f64]| ridge.leave_one_out(rows, lambdas, monitor);
    let chosen = RegressionSelection::of(c, standard, ridge.spectrum(), errors)?;
    let (solution, kind) = (ridge.solution(chosen.lambda), (standard, targets.has_intercept));
    Ok(Solution::of_ridge(solution, chosen, kind, targets.n_present()))
}

/// By another loss.
fn of_residuals(
    targets: &PartedTargets,
    rows: &mut impl Executor<Of = RidgeRows>,
    choice: residuals::Choice,
    monitor: &Monitor<'_>,
) -> Result<Solution> {
    let (standard, present) = (&targets.standard, targets.present());
    let rows = PartedRows::new(rows, targets.weights(), targets.n_outputs(), MAX_PARTED_FEATURES, monitor)?;
    let samples = residuals::Samples {
        rows: &rows,
        targets: &standard.values,
        scales: &standard.scales,
        weights: present.weights(),
        units: present.units(),
        has_intercept: targets.has_intercept,
    };
    by_residuals(samples, choice, standard, monitor)
}
