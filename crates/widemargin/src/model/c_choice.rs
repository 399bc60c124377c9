//! C, the weight of the losses: fixed or selected by leave-one-out.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

/// How C is selected.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum CChoice {
    /// The C with the smallest mean leave-one-out squared hinge loss on a path.
    #[default]
    Auto,
    /// A fixed C, above 0.
    Value(f64),
}

impl From<f64> for CChoice {
    fn from(c: f64) -> Self {
        CChoice::Value(c)
    }
}

impl fmt::Display for CChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CChoice::Auto => f.write_str("auto"),
            CChoice::Value(c) => c.fmt(f),
        }
    }
}

impl FromStr for CChoice {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "auto" => Ok(CChoice::Auto),
            _ => text.parse().map(CChoice::Value).map_err(|_| not_allowed(text)),
        }
    }
}

fn not_allowed(c: impl ToString) -> Error {
    Error::parameter("C", c, "auto, or a finite number above 0")
}

impl CChoice {
    /// Checks a fixed C.
    ///
    /// # Errors
    /// [`Error::Parameter`] if it is not a finite number above 0.
    pub(crate) fn check(self) -> Result<()> {
        match self {
            CChoice::Value(c) if !(c > 0.0 && c.is_finite()) => Err(not_allowed(c)),
            _ => Ok(()),
        }
    }

    /// The value of C, if it is fixed.
    pub(crate) fn value(self) -> Option<f64> {
        match self {
            CChoice::Auto => None,
            CChoice::Value(c) => Some(c),
        }
    }

    /// C if it is fixed; otherwise 1, which is in the range of the candidates.
    pub(crate) fn or_one(self) -> f64 {
        self.value().unwrap_or(1.0)
    }
}
