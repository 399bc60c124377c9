//! The estimated loss on new samples, for losses other than the squared loss.

use serde::{Deserialize, Serialize};

/// The estimated loss on new samples at one C: by leave-one-out for the Huber and the squared ε-insensitive loss, by
/// five-fold cross-validation for the quantile loss.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LossPoint {
    /// C of ½‖w‖² + C Σ loss(y − f).
    #[serde(rename = "C")]
    pub c: f64,
    /// The weighted mean loss of each output, in the unit of its targets (quantile loss) or of their squares.
    pub loss: Vec<f64>,
    /// 1 − loss / loss of the best constant, averaged over the outputs that no constant fits exactly; 1 if there are
    /// none.
    pub d2: f64,
    /// The standard error of this D², with the loss of the constant assumed to be known.
    pub d2_std: f64,
}
