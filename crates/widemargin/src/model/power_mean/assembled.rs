//! Assembles a power mean SVM from a kernel's map and weights computed elsewhere, such as on several machines.

use super::primal::transposed;
use crate::data::Label;
use crate::descriptor::{FeatureMax, LargestValues};
use crate::error::{Error, Result};
use crate::expansion::{AdditiveMap, CountValues, ValueCounts};
use crate::model::origin::Origin;
use crate::model::{PowerMeanParams, PowerMeanSvc};
use crate::monitor::Monitor;
use crate::partition::{Executor, SampleRows};
use crate::problem::Loss;
use crate::solve::Report;

/// Scaling and reduced kernel for samples wherever they are: the largest values are looked at without a scaling too,
/// since that is where a negative value is found.
///
/// # Errors
/// Invalid parameters; an error of the samples, such as [`Error::Value`] for a value that is negative or not finite.
pub fn scale_and_reduce(
    samples: &mut impl Executor<Of = SampleRows>,
    params: &PowerMeanParams,
    monitor: &Monitor<'_>,
) -> Result<(Option<FeatureMax>, AdditiveMap)> {
    params.check()?;
    let largest = samples.reduce(&LargestValues {}, monitor)?;
    let scaling = params.scale.then(|| FeatureMax::from_largest(&largest));
    let factors = scaling.as_ref().map(|scaling| scaling.factors().to_vec());
    let ValueCounts { values, counts, .. } = samples.reduce(&CountValues { factors }, monitor)?;
    Ok((scaling, params.map(&values, &counts)?))
}

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
    /// Whether the targets are multilabel; the labels then are the classes.
    pub multilabel: bool,
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
        let PowerMeanParts { map, loss, c, scaling, n_features, multilabel, classes, weights, report } = parts;
        let origin = Origin { multilabel, ..Origin::default() };
        let (d, k) = (n_features * map.n_nodes(), origin.n_problems(classes.len()));
        let n_factors = scaling.as_ref().map_or(n_features, |scaling| scaling.factors().len());
        if weights.len() != k * d || n_factors != n_features {
            return Err(Error::shape(
                "parts of a machine",
                format!("{} weights and {n_factors} factors", weights.len()),
                format!("{} and {n_features}: {k} problems of {d} coordinates", k * d),
            ));
        }
        let weights = transposed(&weights, k, d);
        Ok(PowerMeanSvc { map, loss, c, scaling, n_features, classes, weights, report, origin, choice: None })
    }
}
