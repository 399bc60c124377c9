//! The interface of outlier detectors.

use super::interface::Model;
use crate::data::SamplesView;
use crate::error::Result;
use crate::monitor::Monitor;

/// A trained outlier detector: [`Classifier`](super::Classifier) without classes.
pub trait OneClass: Model {
    /// The score below which samples are outliers.
    fn threshold(&self) -> f64;

    /// The expected fraction of new samples like the training samples that are below the threshold.
    fn quantile(&self) -> f64;

    /// The leave-one-out score of each training sample, from a fit without one copy of it.
    fn loo_scores(&self) -> &[f64];

    /// The score of each sample: about 1 for samples like the training samples, closer to 0 for others.
    ///
    /// Uses `threads` threads, 0 meaning one per core; the values do not depend on it. The number of finished samples
    /// is reported to the monitor, which may cancel (a time limit is ignored).
    ///
    /// # Errors
    /// Samples of another kind or shape, and values that cannot be used, with their names and the expected values;
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    fn score_samples(&self, samples: &SamplesView<'_>, threads: usize, monitor: &Monitor<'_>) -> Result<Vec<f64>>;

    /// The scores less the threshold: below 0 for outliers.
    ///
    /// # Errors
    /// As for [`OneClass::score_samples`].
    fn decision_function(&self, samples: &SamplesView<'_>, threads: usize, monitor: &Monitor<'_>) -> Result<Vec<f64>> {
        let scores = self.score_samples(samples, threads, monitor)?;
        Ok(scores.into_iter().map(|score| score - self.threshold()).collect())
    }

    /// 1 for samples like those of the training, −1 for outliers.
    ///
    /// # Errors
    /// As for [`OneClass::score_samples`].
    fn predict(&self, samples: &SamplesView<'_>, threads: usize, monitor: &Monitor<'_>) -> Result<Vec<i8>> {
        let values = self.decision_function(samples, threads, monitor)?;
        Ok(values.into_iter().map(|value| if value < 0.0 { -1 } else { 1 }).collect())
    }
}
