//! Losses for Newton's method: convex, with a continuous derivative.

use serde::{Deserialize, Serialize};

use super::Loss;
use crate::error::{Error, Result};
use crate::macros::named;

/// The loss of ½‖w‖² + Σ c loss(y·f(x)) in the primal.
///
/// The plain hinge is not included: at its corner Newton's method has no Hessian, and smoothing it would change the
/// problem. Requesting it gives an error that names the alternatives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum SmoothLoss {
    /// max(0, 1 − m)².
    #[default]
    SquaredHinge,
    /// (1 − m)² = (y − f)², of a least squares support vector machine (Suykens & Vandewalle 1999): samples beyond the
    /// margin also have a cost, so that one matrix serves all problems.
    Squared,
    /// ln(1 + e^−m).
    Logistic,
}

/// A loss at one margin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossAt {
    /// The loss itself.
    pub value: f64,
    /// Minus its derivative; times the cost, this is the dual variable. Below 0 beyond the margin, for the squared
    /// loss.
    pub dual: f64,
    /// Its second derivative (from the left at a discontinuity).
    pub curvature: f64,
}

impl SmoothLoss {
    /// The loss and its derivatives at `margin`.
    #[inline]
    pub fn at(self, margin: f64) -> LossAt {
        match self {
            SmoothLoss::SquaredHinge => {
                let slack = (1.0 - margin).max(0.0);
                LossAt { value: slack * slack, dual: 2.0 * slack, curvature: if slack > 0.0 { 2.0 } else { 0.0 } }
            }
            SmoothLoss::Squared => {
                let slack = 1.0 - margin;
                LossAt { value: slack * slack, dual: 2.0 * slack, curvature: 2.0 }
            }
            SmoothLoss::Logistic => {
                // e^−|m| cannot overflow; both branches are the same function.
                let small = (-margin.abs()).exp();
                let (near, far) = (1.0 / (1.0 + small), small / (1.0 + small));
                let dual = if margin > 0.0 { far } else { near };
                LossAt { value: (-margin).max(0.0) + small.ln_1p(), dual, curvature: near * far }
            }
        }
    }
}

impl TryFrom<Loss> for SmoothLoss {
    type Error = Error;

    fn try_from(loss: Loss) -> Result<Self> {
        match loss {
            Loss::SquaredHinge => Ok(SmoothLoss::SquaredHinge),
            _ => Err(not_smooth(loss.to_string())),
        }
    }
}

named!("loss": SmoothLoss {
    "squared-hinge" = SmoothLoss::SquaredHinge,
    "squared-error" = SmoothLoss::Squared,
    "logistic" = SmoothLoss::Logistic,
}, "hinge" => not_smooth("hinge".into()));

fn not_smooth(value: String) -> Error {
    let expected = "the primal Newton solver needs a smooth loss: use squared-hinge, squared-error or logistic \
                    (the hinge is solved in the dual: solve::dual::linear)";
    Error::parameter("loss", value, expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_are_those_of_the_value() {
        for loss in [SmoothLoss::SquaredHinge, SmoothLoss::Squared, SmoothLoss::Logistic] {
            for margin in [-30.0, -2.0, 0.0, 0.5, 0.999, 1.5, 40.0] {
                let h = 1e-5;
                let (here, up, down) = (loss.at(margin), loss.at(margin + h), loss.at(margin - h));
                assert!((here.dual + (up.value - down.value) / (2.0 * h)).abs() < 1e-5, "{loss} {margin}");
                assert!((here.curvature + (up.dual - down.dual) / (2.0 * h)).abs() < 1e-4, "{loss} {margin}");
            }
            assert_eq!(loss.to_string().parse::<SmoothLoss>().unwrap(), loss);
            assert!(loss.at(-1e300).value.is_infinite() == (loss != SmoothLoss::Logistic));
        }
        assert!("hinge".parse::<SmoothLoss>().unwrap_err().to_string().contains("use squared-hinge"));
        assert!(SmoothLoss::try_from(Loss::Hinge).is_err());
    }
}
