//! The pinball loss rounded, so that its derivative is continuous.

use crate::problem::{Loss, LossAt};

/// A loss with a continuous derivative: the pinball loss is rounded over a width δ.
///
/// Every loss is the maximum of a r − conjugate(a) over a. The conjugate of the pinball loss is 0 for a from q − 1 to
/// q; with ½δ(a − μ)² added to it, the loss has a continuous derivative, and that derivative, if it is μ itself, is
/// exact.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rounded {
    pub loss: Loss,
    /// δ; of the pinball loss only.
    pub width: f64,
}

impl Rounded {
    /// The loss of a residual, its derivative and its second derivative; `shift` is μ.
    pub fn at(self, residual: f64, shift: f64) -> LossAt {
        let Loss::Quantile { quantile } = self.loss else { return self.loss.at(residual, 0.0) };
        let free = shift + residual / self.width;
        let dual = free.clamp(quantile - 1.0, quantile);
        let curvature = if dual == free { 1.0 / self.width } else { 0.0 };
        LossAt { value: dual * residual - 0.5 * self.width * (dual - shift).powi(2), dual, curvature }
    }

    /// The second derivative where it is not 0.
    pub fn curvature(self) -> f64 {
        if self.loss.is_smooth() { 2.0 } else { 1.0 / self.width }
    }

    /// The part of the conjugate due to rounding.
    pub fn rounding(self, dual: f64, shift: f64) -> f64 {
        if self.loss.is_smooth() { 0.0 } else { 0.5 * self.width * (dual - shift).powi(2) }
    }
}
