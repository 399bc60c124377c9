//! Scores of classes and of numbers by name.

use std::fmt;
use std::str::FromStr;

use widemargin::select::{RegressionScoring, Scoring};
use widemargin::{Error, Result};

use crate::report::{Failure, refused};

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
        let of_classes = || name.parse().map(AnyScoring::Classes);
        let found = match name.parse() {
            Ok(of_numbers) => Ok(AnyScoring::Numbers(of_numbers)),
            Err(Error::UnknownName { .. }) => of_classes(),
            Err(error) => Err(error),
        };
        found.map_err(|error: Error| match error {
            Error::UnknownName { what, name, expected } => {
                let expected = format!("{expected}; of a regression model {}", names_of_numbers());
                Error::UnknownName { what, name, expected }
            }
            error => error,
        })
    }
}

/// The scores of numbers, as they are named.
fn names_of_numbers() -> String {
    RegressionScoring::ALL.map(|scoring| scoring.to_string()).join(", ")
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
