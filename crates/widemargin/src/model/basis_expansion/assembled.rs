//! A basis expansion SVM put together from an expansion and weights that were found apart: on several machines, say.

use crate::data::Label;
use crate::error::{Error, Result};
use crate::expansion::BasisExpansion;
use crate::model::BasisExpansionSvc;
use crate::model::origin::Origin;
use crate::problem::{AnyLoss, Intercept, n_problems};
use crate::similarity::Similarity;
use crate::solve::Report;
use std::sync::OnceLock;

/// What a machine is besides its expansion.
#[derive(Clone, Debug)]
pub struct Assembled {
    /// How the bases were chosen.
    pub basis: String,
    /// Which training samples they were; empty where they were given.
    pub basis_rows: Vec<usize>,
    /// The weight C of the losses.
    pub c: f64,
    /// The loss.
    pub loss: AnyLoss,
    /// What was done about a constant.
    pub intercept: Intercept,
    /// The classes, in the order of the problems.
    pub classes: Vec<Label>,
    /// `[problem][feature]`.
    pub weights: Vec<f32>,
    /// One a problem.
    pub intercepts: Vec<f64>,
    /// The account of the fit.
    pub report: Report,
}

impl<S: Similarity> BasisExpansionSvc<S> {
    /// The machine of these parts.
    ///
    /// # Errors
    /// [`Error::Shape`] where weights, intercepts and classes are not those of one another or of the expansion.
    pub fn assembled(expansion: BasisExpansion<S>, parts: Assembled) -> Result<Self> {
        let (d, k) = (expansion.n_features(), n_problems(parts.classes.len()));
        if parts.weights.len() != k * d || parts.intercepts.len() != k {
            return Err(Error::Shape {
                what: "parts of a machine".into(),
                found: format!("{} weights and {} intercepts", parts.weights.len(), parts.intercepts.len()),
                expected: format!("{} and {k}: {k} problems of {d} features", k * d),
            });
        }
        let Assembled { basis, basis_rows, c, loss, intercept, classes, weights, intercepts, report } = parts;
        Ok(BasisExpansionSvc {
            expansion,
            basis,
            basis_rows,
            c,
            loss,
            intercept,
            classes,
            weights,
            intercepts,
            report,
            decision: OnceLock::new(),
            origin: Origin::default(),
        })
    }
}
