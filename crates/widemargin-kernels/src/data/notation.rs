//! How the numbers and indices of a file of text are written.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The decimal mark of numbers in text.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Decimal {
    /// `1.5`; commas may separate thousands.
    #[serde(rename = ".")]
    Point,
    /// `1,5`; points may separate thousands.
    #[serde(rename = ",")]
    Comma,
}

impl Decimal {
    /// The mark, and its name in messages.
    pub fn mark(self) -> (char, &'static str) {
        match self {
            Decimal::Point => ('.', "point"),
            Decimal::Comma => (',', "comma"),
        }
    }

    /// The other mark.
    pub fn other(self) -> Decimal {
        match self {
            Decimal::Point => Decimal::Comma,
            Decimal::Comma => Decimal::Point,
        }
    }
}

impl FromStr for Decimal {
    type Err = &'static str;

    /// `.` or `,`.
    fn from_str(text: &str) -> Result<Decimal, Self::Err> {
        match text {
            "." => Ok(Decimal::Point),
            "," => Ok(Decimal::Comma),
            _ => Err("expected . or ,"),
        }
    }
}

/// The notation of a file, which its content does not always determine. A model stores that of its training file, and
/// reads other files in the same way.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notation {
    /// The decimal mark of a table, if its numbers determine it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decimal: Option<Decimal>,
    /// The index of the first feature in LIBSVM text: 0 or 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_index: Option<u32>,
}

impl Notation {
    /// Whether nothing is known.
    pub fn is_unknown(&self) -> bool {
        *self == Notation::default()
    }
}
