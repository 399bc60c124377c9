//! A basis expansion SVM on features that workers hold.

use super::expansion_model::{Basis, ExpansionModel};
use super::model::Classification;
use crate::error::{Error, Result};
use crate::expansion::BasisExpansion;
use crate::model::BasisExpansionSvc;
use crate::model::on_workers::{BroughtRows, Solved, WeightedLabels, solve};
use crate::model::origin::{Origin, TrainingSettings};
use crate::monitor::Monitor;
use crate::partition::Workers;
use crate::problem::Penalty;
use crate::similarity::Similarity;
use crate::solve::Stage;
use crate::solve::newton::NewtonSettings;

/// The metadata of a model of features that workers hold, in addition to its solution.
#[derive(Clone, Debug)]
pub struct ClassifierMetadata {
    /// How the bases were selected.
    pub basis: String,
    /// Their training rows; empty for explicit bases.
    pub basis_rows: Vec<usize>,
    /// The weight C of the losses.
    pub c: f64,
    /// The parameters of the fit.
    pub training: TrainingSettings,
    /// Stages before the solution, which appends its own.
    pub stages: Vec<Stage>,
}

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
        metadata: ClassifierMetadata,
        settings: &NewtonSettings,
        monitor: &Monitor<'_>,
    ) -> Result<Self> {
        let ClassifierMetadata { basis, basis_rows, c, training, stages } = metadata;
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
        Ok(ExpansionModel::new(expansion, Basis { choice: basis, rows: basis_rows }, task, report, origin))
    }
}
