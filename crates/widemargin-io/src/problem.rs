//! What is wrong with the content of a file, in words.

use std::borrow::Cow;
use std::fmt;

/// A problem of the content of a file, or of an option that does not fit it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Problem {
    /// The problem.
    pub text: String,
    /// A suggested remedy, if there is one.
    pub help: Option<Cow<'static, str>>,
    /// What callers distinguish.
    pub kind: ProblemKind,
}

/// The problems that callers distinguish.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProblemKind {
    /// Any other.
    #[default]
    Other,
    /// A cell that is not a number, in a column that may hold categories or missing values.
    NotNumeric,
    /// The label column does not exist, for this reason.
    NoLabelColumn(String),
}

/// The remedy for single values that cannot be used.
pub(crate) const IMPUTE: &str = "remove the row or impute the value";

/// The remedy for text in an encoding without a mark.
pub(crate) const NOT_UTF_8: &str =
    "convert the file to UTF-8; if it is in Latin-1 (Windows), with: iconv -f WINDOWS-1252 -t UTF-8 OLD > NEW";

impl Problem {
    pub(crate) fn new(text: impl Into<String>) -> Problem {
        Problem { text: text.into(), help: None, kind: ProblemKind::Other }
    }

    pub(crate) fn missing() -> Problem {
        Problem::new("missing value").help(IMPUTE)
    }

    pub(crate) fn not_text() -> Problem {
        Problem::new("not UTF-8 text").help(NOT_UTF_8)
    }

    /// The same with a remedy.
    pub(crate) fn help(self, help: impl Into<Cow<'static, str>>) -> Problem {
        Problem { help: Some(help.into()), ..self }
    }

    pub(crate) fn kind(self, kind: ProblemKind) -> Problem {
        Problem { kind, ..self }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl<T: Into<String>> From<T> for Problem {
    fn from(text: T) -> Problem {
        Problem::new(text)
    }
}

/// Text of a file as shown in a message: at most 40 characters, with control characters escaped.
pub(crate) fn excerpt(text: &str) -> String {
    let mut out = String::new();
    for (position, character) in text.chars().enumerate() {
        if position == 40 {
            out.push('…');
            break;
        }
        if character.is_control() {
            out.extend(character.escape_default());
        } else {
            out.push(character);
        }
    }
    out
}

/// Bytes of a file as shown in a message: at most a few, without control characters.
pub(crate) fn shown(bytes: &[u8]) -> String {
    excerpt(&String::from_utf8_lossy(&bytes[..bytes.len().min(160)]))
}

/// Names for a message: all of them if there are few.
pub(crate) fn list(names: &[String]) -> String {
    let shown: Vec<_> = names.iter().take(12).map(|name| excerpt(name)).collect();
    let more = if names.len() > shown.len() { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}
