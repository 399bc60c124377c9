//! The interface of regression models of all methods.

use super::interface::Model;
use super::{LossPoint, RegressionPoint};
use crate::data::{DenseMatrix, SamplesView};
use crate::error::Result;
use crate::monitor::Monitor;
use crate::problem::Loss;

/// A trained regression model of any method: [`Classifier`](super::Classifier) with numbers instead of classes.
pub trait Regressor: Model {
    /// Number of targets of each sample.
    fn n_outputs(&self) -> usize;

    /// The weight C of the losses.
    fn c(&self) -> f64;

    /// The leave-one-out results of each C that was evaluated, by ascending C; only one for a fixed C. Only for the
    /// squared error.
    fn path(&self) -> &[RegressionPoint];

    /// The selected point of the path; none where leave-one-out is undetermined.
    fn chosen(&self) -> Option<&RegressionPoint> {
        self.path().iter().find(|point| point.c == self.c())
    }

    /// The loss.
    fn loss(&self) -> Loss {
        Loss::SquaredError
    }

    /// The same of losses that are not squared: the loss that is expected of other samples.
    fn loss_path(&self) -> &[LossPoint] {
        &[]
    }

    /// The selected point of this path; none without an estimate.
    fn chosen_loss(&self) -> Option<&LossPoint> {
        self.loss_path().iter().find(|point| point.c == self.c())
    }

    /// The predicted targets of samples: samples × outputs.
    ///
    /// Uses `threads` threads, 0 meaning one per core; the values do not depend on it. The number of finished samples
    /// is reported to the monitor, which may cancel (a time limit is ignored).
    ///
    /// # Errors
    /// Samples of another kind or shape, and values that cannot be used, with their names and the expected values;
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    fn predict(&self, samples: &SamplesView<'_>, threads: usize, monitor: &Monitor<'_>) -> Result<DenseMatrix<f64>>;
}
