//! The textual form of a similarity: `name:key=value,key=value`, preceded by descriptors joined by `/`.
//!
//! `hog:cell=4/rigid:radius=2` is rigid matching on HOG cells of 4 × 4 pixels. A spec keeps its text as given, so that
//! parsing and formatting round-trip. The exception is `>`, the original separator, which is still read (model files
//! contain it) but written as `/`, since a shell treats `>` as a redirection.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

/// One name with its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    name: String,
    values: Vec<(String, String)>,
}

/// A chain of steps: descriptors, then a similarity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// The steps in order; at least one.
    pub steps: Vec<Step>,
}

impl Step {
    /// The name before the colon.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sets a parameter, for example to a learned value.
    pub fn set(&mut self, key: &str, value: impl fmt::Display) {
        let value = value.to_string();
        match self.values.iter_mut().find(|(known, _)| known == key) {
            Some((_, old)) => *old = value,
            None => self.values.push((key.to_owned(), value)),
        }
    }

    /// The parameters, to be consumed one by one.
    pub fn arguments(&self) -> Arguments<'_> {
        Arguments { step: self, taken: Vec::new() }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for (i, (key, value)) in self.values.iter().enumerate() {
            write!(f, "{}{key}={value}", if i == 0 { ':' } else { ',' })?;
        }
        Ok(())
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.steps.iter().enumerate() {
            write!(f, "{}{step}", if i == 0 { "" } else { "/" })?;
        }
        Ok(())
    }
}

impl FromStr for Spec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = |expected: String| Error::Parameter { name: "similarity", value: format!("'{text}'"), expected };
        let step = |step: &str| {
            let (name, rest) = step.split_once(':').map_or((step, None), |(name, rest)| (name, Some(rest)));
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
            if name.is_empty() || !name.chars().all(plain) {
                return Err(wrong(format!("'{name}' is not a name; a similarity is written name:key=value,key=value")));
            }
            let mut values: Vec<(String, String)> = Vec::new();
            for pair in rest.into_iter().flat_map(|rest| rest.split(',')) {
                match pair.split_once('=') {
                    Some((key, value)) if !key.is_empty() && key.chars().all(plain) && !value.is_empty() => {
                        if values.iter().any(|(known, _)| known == key) {
                            return Err(wrong(format!("'{key}' is given twice")));
                        }
                        values.push((key.to_owned(), value.to_owned()));
                    }
                    _ => return Err(wrong(format!("'{pair}' is not key=value"))),
                }
            }
            Ok(Step { name: name.to_owned(), values })
        };
        Ok(Spec { steps: text.split(['/', '>']).map(step).collect::<Result<_>>()? })
    }
}

/// The parameters of a step while they are parsed; [`Arguments::end`] refuses those that were not consumed.
#[derive(Clone, Debug)]
pub struct Arguments<'a> {
    step: &'a Step,
    taken: Vec<&'static str>,
}

impl<'a> Arguments<'a> {
    /// The text of a parameter, if it was given.
    pub fn text(&mut self, key: &'static str) -> Option<&'a str> {
        self.taken.push(key);
        self.step.values.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    /// A parameter of any type that parses, or its default.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a value that does not parse, or that `right` refuses; `expected` says what is expected.
    pub fn get<T: FromStr>(
        &mut self,
        key: &'static str,
        default: T,
        expected: &str,
        right: impl Fn(&T) -> bool,
    ) -> Result<T> {
        let Some(text) = self.text(key) else { return Ok(default) };
        match text.parse() {
            Ok(value) if right(&value) => Ok(value),
            _ => Err(Error::Parameter {
                name: key,
                value: format!("{text} in '{}'", self.step),
                expected: expected.into(),
            }),
        }
    }

    /// A parameter that is a finite number above 0.
    ///
    /// # Errors
    /// [`Error::Parameter`].
    pub fn positive(&mut self, key: &'static str, default: f64) -> Result<f64> {
        self.get(key, default, "a finite number above 0", |value| *value > 0.0 && value.is_finite())
    }

    /// A parameter that is a finite number.
    ///
    /// # Errors
    /// [`Error::Parameter`].
    pub fn real(&mut self, key: &'static str, default: f64) -> Result<f64> {
        self.get(key, default, "a finite number", |value| value.is_finite())
    }

    /// A parameter that is a whole number in a range.
    ///
    /// # Errors
    /// [`Error::Parameter`].
    pub fn whole(
        &mut self,
        key: &'static str,
        default: usize,
        range: std::ops::RangeInclusive<usize>,
    ) -> Result<usize> {
        let expected = format!("a whole number from {} to {}", range.start(), range.end());
        self.get(key, default, &expected, |value| range.contains(value))
    }

    /// Refuses parameters that were not consumed.
    ///
    /// # Errors
    /// [`Error::Parameter`] naming the first such parameter, and the known ones.
    pub fn end(self) -> Result<()> {
        let stray = self.step.values.iter().find(|(key, _)| !self.taken.contains(&key.as_str()));
        let Some((key, _)) = stray else { return Ok(()) };
        let known = match self.taken.as_slice() {
            [] => format!("'{}' has no parameters", self.step.name),
            known => format!("the parameters of '{}' are {}", self.step.name, known.join(", ")),
        };
        Err(Error::Parameter {
            name: "similarity",
            value: format!("'{}'", self.step),
            expected: format!("'{key}' is not known: {known}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_are_written_as_they_are_read() {
        for text in ["rbf:gamma=1", "rbf", "hog:cell=8/deformable:rigid=2,local=1", "dtw:window=0.10,gamma=2e0"] {
            assert_eq!(text.parse::<Spec>().unwrap().to_string(), text);
        }
        let wrong = [
            "",
            ">rbf",
            "/rbf",
            "rbf/",
            "rbf:",
            "rbf:gamma",
            "rbf:gamma=",
            "rbf:=1",
            "rbf:gamma=1,gamma=2",
            "r bf",
            "a>>b",
            "a//b",
            "a>/b",
        ];
        for wrong in wrong {
            assert!(wrong.parse::<Spec>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn slash_and_angle_bracket_join_steps_alike() {
        let right: Spec = "hog:cell=4/mean-norm/rbf:gamma=2".parse().unwrap();
        for text in ["hog:cell=4>mean-norm>rbf:gamma=2", "hog:cell=4>mean-norm/rbf:gamma=2"] {
            let spec: Spec = text.parse().unwrap();
            assert_eq!((&spec, spec.to_string().as_str()), (&right, "hog:cell=4/mean-norm/rbf:gamma=2"));
        }
    }

    #[test]
    fn arguments_are_checked_and_none_is_left() {
        let spec: Spec = "rbf:gamma=2,size=9".parse().unwrap();
        let mut arguments = spec.steps[0].arguments();
        assert_eq!(arguments.positive("gamma", 1.0).unwrap(), 2.0);
        assert!(arguments.clone().end().unwrap_err().to_string().contains("'size' is not known"));
        assert!(arguments.whole("size", 1, 1..=8).unwrap_err().to_string().contains("from 1 to 8"));
        assert!(arguments.end().is_ok());
    }
}
