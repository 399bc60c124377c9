//! Scores of classes and of numbers by name.

use std::fmt;
use std::str::FromStr;

use widemargin::select::{RegressionScoring, Scoring};
use widemargin::{Error, Result};

use crate::report::{Failure, refused};
use crate::text_table::list;

/// A score of classes, or of numbers.
#[derive(Clone, Copy, Debug)]
pub enum AnyScoring {
    Classes(Scoring),
    Numbers(RegressionScoring),
}

impl fmt::Display for AnyScoring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AnyScoring::Classes(scoring) => scoring.fmt(f),
            AnyScoring::Numbers(scoring) => scoring.fmt(f),
        }
    }
}

impl FromStr for AnyScoring {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match (name.parse(), name.parse()) {
            (Ok(of_numbers), _) => Ok(AnyScoring::Numbers(of_numbers)),
            (Err(Error::UnknownName { .. }), Ok(of_classes)) => Ok(AnyScoring::Classes(of_classes)),
            (Err(Error::UnknownName { .. }), Err(Error::UnknownName { what, name, expected })) => {
                let expected = format!("{expected}; of a regression model {}", names_of_numbers());
                Err(Error::UnknownName { what, name, expected })
            }
            (Err(error), _) => Err(error),
        }
    }
}

/// The scores of numbers, as they are named.
fn names_of_numbers() -> String {
    list(RegressionScoring::ALL, ", ")
}

impl AnyScoring {
    /// The score, which must be of classes.
    pub fn of_classes(self) -> Result<Scoring, Failure> {
        let AnyScoring::Classes(scoring) = self else {
            let failure = format!("{self} is a score of numbers, and the model predicts classes");
            return refused(failure, "name a score of classes, such as accuracy or neg-log-loss");
        };
        Ok(scoring)
    }

    /// The score, which must be of numbers.
    pub fn of_numbers(self) -> Result<RegressionScoring, Failure> {
        let AnyScoring::Numbers(scoring) = self else {
            let failure = format!("{self} is a score of classes, and this is a regression model");
            return refused(failure, format!("name one of {}", names_of_numbers()));
        };
        Ok(scoring)
    }
}
