//! Losses of a margin m = y·f(x), and their dual problems.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

/// The loss of ½‖f‖² + C Σ loss(y·f(x)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Loss {
    /// max(0, 1 − m).
    Hinge,
    /// max(0, 1 − m)².
    #[default]
    SquaredHinge,
}

impl Loss {
    /// The loss at margin `margin`.
    #[inline]
    pub fn value(self, margin: f64) -> f64 {
        let slack = (1.0 - margin).max(0.0);
        match self {
            Loss::Hinge => slack,
            Loss::SquaredHinge => slack * slack,
        }
    }

    /// Upper bound of the dual variable of a sample with cost `c` = C · weight.
    #[inline]
    pub fn upper_bound(self, c: f64) -> f64 {
        match self {
            Loss::Hinge => c,
            Loss::SquaredHinge => f64::INFINITY,
        }
    }

    /// The loss's contribution to the diagonal of the dual's quadratic form.
    #[inline]
    pub fn diagonal(self, c: f64) -> f64 {
        match self {
            Loss::Hinge => 0.0,
            Loss::SquaredHinge => 0.5 / c,
        }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Loss::Hinge => "hinge",
            Loss::SquaredHinge => "squared-hinge",
        })
    }
}

impl FromStr for Loss {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "hinge" => Ok(Loss::Hinge),
            "squared-hinge" => Ok(Loss::SquaredHinge),
            _ => Err(Error::UnknownName {
                what: "loss",
                given: name.to_owned(),
                expected: "known are hinge, squared-hinge".into(),
            }),
        }
    }
}
