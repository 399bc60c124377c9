//! The losses of a linear SVM on features.

use super::{Loss, SmoothLoss};
use crate::macros::named;

/// The loss of ½‖w‖² + Σ c loss(y·f(x)), smooth or not; it determines the solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnyLoss {
    /// max(0, 1 − m), which is not smooth: solved by coordinate descent on the dual.
    Hinge,
    /// A smooth loss: solved by Newton's method in the primal.
    Smooth(SmoothLoss),
}

impl Default for AnyLoss {
    fn default() -> Self {
        AnyLoss::Smooth(SmoothLoss::default())
    }
}

impl From<SmoothLoss> for AnyLoss {
    fn from(loss: SmoothLoss) -> Self {
        AnyLoss::Smooth(loss)
    }
}

impl From<Loss> for AnyLoss {
    fn from(loss: Loss) -> Self {
        match loss {
            Loss::Hinge => AnyLoss::Hinge,
            Loss::SquaredHinge => AnyLoss::Smooth(SmoothLoss::SquaredHinge),
        }
    }
}

named!("loss": AnyLoss {
    "hinge" = AnyLoss::Hinge,
    "squared-hinge" = AnyLoss::Smooth(SmoothLoss::SquaredHinge),
    "squared-error" = AnyLoss::Smooth(SmoothLoss::Squared),
    "logistic" = AnyLoss::Smooth(SmoothLoss::Logistic),
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_is_read_as_it_is_written() {
        for name in ["hinge", "squared-hinge", "squared-error", "logistic"] {
            assert_eq!(name.parse::<AnyLoss>().unwrap().to_string(), name);
        }
        assert_eq!(AnyLoss::from(Loss::Hinge), AnyLoss::Hinge);
        assert_eq!(AnyLoss::from(Loss::SquaredHinge), AnyLoss::default());
        assert!("hinges".parse::<AnyLoss>().unwrap_err().to_string().contains("squared-hinge"));
    }
}
