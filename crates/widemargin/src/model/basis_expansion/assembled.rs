//! A basis expansion SVM on features that workers hold.

use super::expansion_model::{Basis, ExpansionModel};
use super::model::Classification;
use crate::error::{Error, Result};
use crate::expansion::BasisExpansion;
use crate::model::BasisExpansionSvc;
use crate::model::on_workers::{BroughtRows, Preparation, Solved, WeightedLabels, solve};
use crate::model::origin::Origin;
use crate::monitor::Monitor;
use crate::partition::Workers;
use crate::problem::Penalty;
use crate::similarity::Similarity;
use crate::solve::newton::NewtonSettings;

impl<S: Similarity> BasisExpansionSvc<S> {
    /// Trains on the features of an expansion that workers hold, with the classes, costs, loss and intercept that they
    /// have. Equal samples are not merged. Without features of some rows in this process (`brought`), workers compute
    /// the Hessian's products too.
    ///
    /// # Errors
    /// An error of the workers; [`Error::Cancelled`].
    pub fn of_workers(
        expansion: BasisExpansion<S>,
        workers: impl Workers,
        labeled: WeightedLabels<'_>,
        brought: Option<BroughtRows<'_>>,
        preparation: Preparation,
        (c, settings): (f64, &NewtonSettings),
        monitor: &Monitor<'_>,
    ) -> Result<Self> {
        let Preparation { basis: choice, basis_rows: rows, training, stages } = preparation;
        let Solved { solution, shape, report, calibration } =
            solve(workers, labeled, brought, (c, settings), stages, monitor)?;
        let origin = Origin::of(training).labeled(labeled.labels).calibrated(calibration);
        let (d, k) = (expansion.n_features(), origin.n_problems(labeled.labels.classes().len()));
        if solution.weights.len() != k * d || solution.intercepts.len() != k {
            return Err(Error::shape(
                "parts of a machine",
                format!("{} weights and {} intercepts", solution.weights.len(), solution.intercepts.len()),
                format!("{} and {k}: {k} problems of {d} features", k * d),
            ));
        }
        let task = Classification {
            loss: shape.loss,
            penalty: Penalty::L2,
            c,
            path: Vec::new(),
            intercept: shape.intercept,
            classes: labeled.classes(),
            weights: solution.weights,
            intercepts: solution.intercepts,
        };
        Ok(ExpansionModel::new(expansion, Basis { choice, rows }, task, report, origin))
    }
}
