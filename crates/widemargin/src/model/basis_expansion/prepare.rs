//! The first stage of a fit in memory: equal samples become one, whose weight leave-one-out removes wholly or in part.

use crate::data::{About, ClassWeight, Distinct, Labels, Samples, Source, WeightedCodes};
use crate::error::Result;
use crate::model::clock::Clock;

/// The distinct training samples, and numbers of each.
pub(crate) struct Prepared<'a, S> {
    /// In the caller's order.
    pub samples: About<'a, S>,
    pub distinct: Distinct,
    /// Effective weights.
    pub weights: Vec<f64>,
    /// The class or group, by which bases are selected.
    pub strata: Vec<u32>,
    /// Whether it is one of several independent draws of its content.
    pub draws: Vec<bool>,
    /// The part of the weight that leave-one-out removes.
    pub units: Vec<f64>,
    pub threads: usize,
}

impl<'a, S: Samples> Prepared<'a, S> {
    /// Of samples with targets, which are equal where their codes are, or without any.
    ///
    /// # Errors
    /// Those of reading the samples; [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn new(
        samples: &'a dyn Source<Samples = S>,
        weighted: WeightedCodes<'_>,
        threads: usize,
        clock: &mut Clock<'_>,
    ) -> Result<Self> {
        let samples = About::new(samples, weighted.effective)?;
        let distinct = Distinct::find(|rows| samples.fingerprints(rows), weighted, 0, threads, clock.monitor)?;
        clock.end("merge")?;
        let (weights, units) = (distinct.weights.clone(), distinct.removed_weights_of_targets(weighted.codes));
        let are_draws = distinct.are_draws(weighted.codes);
        let draws = if are_draws { distinct.draws() } else { vec![false; weights.len()] };
        Ok(Prepared { samples, strata: vec![0; weights.len()], draws, units, weights, distinct, threads })
    }

    /// The same of samples with labels, and the labels of the distinct samples.
    ///
    /// # Errors
    /// Those of the effective weights.
    pub fn labeled(self, labels: &Labels, class_weight: &ClassWeight) -> Result<(Self, Labels)> {
        let (labels, weights) = self.distinct.labeled(labels, class_weight)?;
        let (draws, units) = (self.distinct.draws(), self.distinct.removed_weights(&weights));
        Ok((Prepared { strata: labels.strata().0, draws, units, weights, ..self }, labels))
    }
}
