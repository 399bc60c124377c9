//! Losses of a margin m = y·f(x), and their dual problems.

use crate::macros::named;

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

named!("loss": Loss { "hinge" = Loss::Hinge, "squared-hinge" = Loss::SquaredHinge });
