//! The textual form of a similarity: `name:key=value,key=value`, preceded by descriptors joined by `/`.
//!
//! `hog:cell=4/rigid:radius=2` is rigid matching on HOG cells of 4 × 4 pixels. A spec keeps its text, so that
//! parsing and formatting round-trip. The exception is `>`, the original separator, which is still read (model files
//! contain it) but written as `/`, since a shell treats `>` as a redirection.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

/// One name with its parameters.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    name: String,
    values: Vec<(String, String)>,
}

/// A chain of steps: descriptors, then a similarity.
#[doc(hidden)]
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

    /// Removes a parameter.
    pub(crate) fn remove(&mut self, key: &str) -> Option<String> {
        let at = self.values.iter().position(|(known, _)| known == key)?;
        Some(self.values.remove(at).1)
    }

    /// The parameters in their original order.
    pub fn values(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        let mut pairs = self.values.iter().enumerate();
        pairs.try_for_each(|(i, (key, value))| write!(f, "{}{key}={value}", if i == 0 { ':' } else { ',' }))
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut steps = self.steps.iter().enumerate();
        steps.try_for_each(|(i, step)| write!(f, "{}{step}", if i == 0 { "" } else { "/" }))
    }
}

impl FromStr for Spec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = |expected: String| Error::parameter("similarity", format!("'{text}'"), expected);
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
                            return Err(wrong(format!("'{key}' occurs twice")));
                        }
                        values.push((key.to_owned(), value.to_owned()));
                    }
                    _ => return Err(wrong(format!("'{pair}' is not key=value"))),
                }
            }
            Ok(Step { name: name.to_owned(), values })
        };
        Ok(Spec { steps: text.split('/').map(step).collect::<Result<_>>()? })
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
        for text in ["hog:cell=4/mean-norm/rbf:gamma=2", "hog:cell=4/mean-norm/rbf:gamma=2"] {
            let spec: Spec = text.parse().unwrap();
            assert_eq!((&spec, spec.to_string().as_str()), (&right, "hog:cell=4/mean-norm/rbf:gamma=2"));
        }
    }
}
