//! Assembles a basis expansion SVM from an expansion and weights computed elsewhere, such as on several machines.

use crate::data::Label;
use crate::error::{Error, Result};
use crate::expansion::BasisExpansion;
use crate::model::BasisExpansionSvc;
use crate::model::on_workers::{BroughtRows, Solved, WeightedLabels, solve};
use crate::model::origin::{Origin, TrainingSettings};
use crate::monitor::Monitor;
use crate::partition::Workers;
use crate::problem::{Intercept, Loss, Penalty};
use crate::similarity::Similarity;
use crate::solve::newton::NewtonSettings;
use crate::solve::thin_plate::PathPoint;
use crate::solve::{Report, Stage};
use std::sync::OnceLock;

/// The parts of a classifier other than its expansion.
#[derive(Clone, Debug)]
pub(super) struct Assembled {
    /// How the bases were selected.
    pub basis: String,
    /// Their training rows; empty for explicit bases.
    pub basis_rows: Vec<usize>,
    /// The weight C of the losses.
    pub c: f64,
    /// The evaluated values of C, if it was selected.
    pub path: Vec<PathPoint>,
    /// The loss.
    pub loss: Loss,
    /// How the intercept was treated.
    pub intercept: Intercept,
    /// Whether the targets are multilabel; the labels then are the classes.
    pub multilabel: bool,
    /// The classes, in the order of the problems.
    pub classes: Vec<Label>,
    /// `[problem][feature]`.
    pub weights: Vec<f32>,
    /// One per problem.
    pub intercepts: Vec<f64>,
    /// The report of the fit.
    pub report: Report,
}

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
        let parts = Assembled {
            basis,
            basis_rows,
            c,
            path: Vec::new(),
            loss: shape.loss,
            intercept: shape.intercept,
            multilabel: labeled.labels.is_multilabel(),
            classes: labeled.classes(),
            weights: solution.weights,
            intercepts: solution.intercepts,
            report,
        };
        Ok(BasisExpansionSvc::assembled(expansion, parts)?.with_training(training).with_calibration(calibration))
    }

    /// Assembles the classifier.
    ///
    /// # Errors
    /// [`Error::Shape`] if weights, intercepts, classes and expansion are inconsistent.
    pub(super) fn assembled(expansion: BasisExpansion<S>, parts: Assembled) -> Result<Self> {
        let origin = Origin { multilabel: parts.multilabel, ..Origin::default() };
        let (d, k) = (expansion.n_features(), origin.n_problems(parts.classes.len()));
        if parts.weights.len() != k * d || parts.intercepts.len() != k {
            return Err(Error::shape(
                "parts of a machine",
                format!("{} weights and {} intercepts", parts.weights.len(), parts.intercepts.len()),
                format!("{} and {k}: {k} problems of {d} features", k * d),
            ));
        }
        let Assembled { basis, basis_rows, c, path, loss, intercept, classes, weights, intercepts, report, .. } = parts;
        Ok(BasisExpansionSvc {
            expansion,
            basis,
            basis_rows,
            c,
            path,
            loss,
            penalty: Penalty::L2,
            intercept,
            classes,
            weights,
            intercepts,
            report,
            decision: OnceLock::new(),
            origin,
        })
    }
}
