//! The losses of a linear SVM on features.

use std::fmt;
use std::str::FromStr;

use super::{Loss, SmoothLoss};
use crate::error::{Error, Result};

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

impl fmt::Display for AnyLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AnyLoss::Hinge => f.write_str("hinge"),
            AnyLoss::Smooth(loss) => loss.fmt(f),
        }
    }
}

impl FromStr for AnyLoss {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "hinge" => Ok(AnyLoss::Hinge),
            "squared-hinge" => Ok(AnyLoss::Smooth(SmoothLoss::SquaredHinge)),
            "logistic" => Ok(AnyLoss::Smooth(SmoothLoss::Logistic)),
            _ => Err(Error::UnknownName {
                what: "loss",
                given: name.to_owned(),
                expected: "known are hinge, squared-hinge, logistic".into(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_is_read_as_it_is_written() {
        for name in ["hinge", "squared-hinge", "logistic"] {
            assert_eq!(name.parse::<AnyLoss>().unwrap().to_string(), name);
        }
        assert_eq!(AnyLoss::from(Loss::Hinge), AnyLoss::Hinge);
        assert_eq!(AnyLoss::from(Loss::SquaredHinge), AnyLoss::default());
        assert!("hinges".parse::<AnyLoss>().unwrap_err().to_string().contains("squared-hinge"));
    }
}
