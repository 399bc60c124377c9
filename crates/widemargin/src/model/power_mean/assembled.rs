//! Assembles a power mean SVM from a kernel's map and weights computed elsewhere, such as on several machines.

use super::feature_range::{FeatureMax, LargestValues};
use super::fit::Task;
use super::primal::transposed;
use crate::error::{Error, Result};
use crate::expansion::{AdditiveMap, CountValues, ValueCounts};
use crate::model::on_workers::{Solved, WeightedLabels, solve};
use crate::model::origin::Origin;
use crate::model::{PowerMeanChoice, PowerMeanParams, PowerMeanSvc, TrainingSettings};
use crate::monitor::Monitor;
use crate::partition::{Executor, Remote, Workers};
use crate::solve::Stage;
use crate::solve::newton::NewtonSettings;

/// Scaling and reduced kernel for samples that workers hold: the largest values are looked at without a scaling too,
/// since that is where a negative value is found.
///
/// # Errors
/// Invalid parameters; an error of the samples, such as [`Error::Value`] for a value that is negative or not finite.
pub fn scale_and_reduce(
    workers: impl Workers,
    params: &PowerMeanParams,
    monitor: &Monitor<'_>,
) -> Result<(Option<FeatureMax>, AdditiveMap)> {
    params.check()?;
    let mut samples = Remote::new(workers);
    let largest = samples.reduce(&LargestValues {}, monitor)?;
    let scaling = params.scale.then(|| FeatureMax::from_largest(&largest));
    let factors = scaling.as_ref().map(|scaling| scaling.factors().to_vec());
    let ValueCounts { values, counts, .. } = samples.reduce(&CountValues { factors }, monitor)?;
    Ok((scaling, params.map(&values, &counts)?))
}

/// The map of a power mean SVM whose explicit features workers hold, and the metadata of its model.
#[derive(Clone, Debug)]
pub struct PowerMeanMetadata {
    /// The reduced kernel.
    pub map: AdditiveMap,
    /// The scaling of the features, if any.
    pub scaling: Option<FeatureMax>,
    /// The weight C of the losses.
    pub c: f64,
    /// The parameters of the fit.
    pub training: TrainingSettings,
    /// The selected parameters, and those that they were selected for.
    pub choice: Option<(PowerMeanParams, PowerMeanChoice)>,
    /// Stages before the solution, which appends its own.
    pub stages: Vec<Stage>,
}

impl PowerMeanSvc {
    /// Trains on the explicit features that workers hold, by the squared hinge.
    ///
    /// # Errors
    /// An error of the workers; [`Error::Cancelled`]; [`Error::Shape`] for the features of another map.
    #[doc(hidden)]
    pub fn of_workers(
        workers: impl Workers,
        labeled: WeightedLabels<'_>,
        metadata: PowerMeanMetadata,
        settings: &NewtonSettings,
        monitor: &Monitor<'_>,
    ) -> Result<Self> {
        let PowerMeanMetadata { map, scaling, c, training, choice, stages } = metadata;
        let Solved { solution, shape, report, calibration } =
            solve(workers, labeled, None, (c, settings), stages, monitor)?;
        let n_features = shape.n_features / map.n_nodes();
        let (d, k) = (n_features * map.n_nodes(), shape.n_problems);
        let n_factors = scaling.as_ref().map_or(n_features, |scaling| scaling.factors().len());
        if d != shape.n_features || n_factors != n_features {
            return Err(Error::shape(
                "parts of a machine",
                format!("{} coordinates and {n_factors} factors", shape.n_features),
                format!("{d} coordinates and {n_features} factors"),
            ));
        }
        let task = Task { loss: shape.loss, c, classes: labeled.classes(), choice: None };
        let origin = Origin::of(training).labeled(labeled.labels).calibrated(calibration);
        let weights = transposed(&solution.weights, k, d);
        let model = PowerMeanSvc { map, task, scaling, n_features, weights, report, origin };
        Ok(match choice {
            Some((params, choice)) => model.with_choice(&params, Some(choice)),
            None => model,
        })
    }
}
