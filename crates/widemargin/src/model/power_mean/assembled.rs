//! Assembles a power mean SVM from a kernel's map and weights computed elsewhere, such as on several machines.

use super::primal::transposed;
use crate::data::Label;
use crate::descriptor::FeatureMax;
use crate::error::{Error, Result};
use crate::expansion::AdditiveMap;
use crate::model::PowerMeanSvc;
use crate::model::origin::Origin;
use crate::problem::{Loss, n_problems};
use crate::solve::Report;

/// The parts of a power mean SVM.
#[derive(Clone, Debug)]
pub struct PowerMeanParts {
    /// The reduced kernel.
    pub map: AdditiveMap,
    /// The loss.
    pub loss: Loss,
    /// The weight C of the losses.
    pub c: f64,
    /// The scaling of the features, if any.
    pub scaling: Option<FeatureMax>,
    /// Number of features of the training samples.
    pub n_features: usize,
    /// The classes, in the order of the problems.
    pub classes: Vec<Label>,
    /// `[problem][feature * n_nodes + node]`, the weights of a linear model on
    /// [`explicit`](crate::expansion::explicit).
    pub weights: Vec<f32>,
    /// The report of the fit.
    pub report: Report,
}

impl PowerMeanSvc {
    /// Assembles the classifier.
    ///
    /// # Errors
    /// [`Error::Shape`] if weights, factors, features and classes are inconsistent.
    pub fn assembled(parts: PowerMeanParts) -> Result<Self> {
        let PowerMeanParts { map, loss, c, scaling, n_features, classes, weights, report } = parts;
        let (d, k) = (n_features * map.n_nodes(), n_problems(classes.len()));
        let n_factors = scaling.as_ref().map_or(n_features, |scaling| scaling.factors().len());
        if weights.len() != k * d || n_factors != n_features {
            return Err(Error::Shape {
                what: "parts of a machine".into(),
                found: format!("{} weights and {n_factors} factors", weights.len()),
                expected: format!("{} and {n_features}: {k} problems of {d} coordinates", k * d),
            });
        }
        let weights = transposed(&weights, k, d);
        Ok(PowerMeanSvc { map, loss, c, scaling, n_features, classes, weights, report, origin: Origin::default() })
    }
}
