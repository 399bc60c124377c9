//! What can go wrong between a file and a table.

use std::borrow::Cow;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// `Result` with the crate's [`IoError`].
pub type Result<T, E = IoError> = std::result::Result<T, E>;

/// Everything that can go wrong between a file and a table.
///
/// [`IoError::help`] suggests a remedy, if there is one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IoError {
    /// The operating system refused to open or read a file.
    #[error("{}: {action}: {source}", .file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// The operation that failed.
        action: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// The operating system refused to write a file.
    #[error("{}: {action}: {source} ({outcome})", .file.display())]
    Write {
        /// The file to be written.
        file: PathBuf,
        /// The operation that failed.
        action: &'static str,
        /// The system's error.
        source: io::Error,
        /// What happened to the file.
        outcome: &'static str,
    },
    /// A problem of the content of a file, or of an option that does not fit it.
    #[error("{}: {}{problem}", .file.display(), .place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default())]
    Input {
        /// The file.
        file: PathBuf,
        /// The line or row, the column or the array, if one is meant.
        place: Option<String>,
        /// What is wrong.
        problem: Problem,
    },
    /// An error of the library about the samples read.
    #[error(transparent)]
    Library(#[from] widemargin::Error),
}

impl IoError {
    /// A suggested remedy, if there is one: one sentence for a separate line.
    pub fn help(&self) -> Option<String> {
        match self {
            IoError::Input { problem, .. } => problem.help.as_ref().map(ToString::to_string),
            _ => None,
        }
    }

    /// True if the cause is the caller's input (a path, a file's contents, an option), false if it is the system (a
    /// failing or full disk).
    pub fn is_input(&self) -> bool {
        use io::ErrorKind::{IsADirectory, NotADirectory, NotFound, PermissionDenied};
        // The error kinds of a damaged gzip file; a failing disk reports none of them.
        use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
        match self {
            IoError::Read { source, .. } if matches!(source.kind(), InvalidData | InvalidInput | UnexpectedEof) => true,
            IoError::Read { source, .. } | IoError::Write { source, .. } => {
                matches!(source.kind(), NotFound | PermissionDenied | IsADirectory | NotADirectory)
            }
            IoError::Library(error) => error.is_input(),
            _ => true,
        }
    }

    /// The error of a file that is written whole or not at all ([`widemargin::output`]).
    pub fn of_output(error: widemargin::Error) -> IoError {
        match error {
            widemargin::Error::Io { path, action, source } => IoError::writing(&path, action, source),
            error => IoError::Library(error),
        }
    }

    /// The error of an operation on a file that the system refused.
    pub(crate) fn refused(file: &Path, action: &'static str) -> impl FnOnce(io::Error) -> IoError {
        let file = file.to_owned();
        move |source| IoError::Read { file, action, source }
    }

    /// The error of a failed write, stating what happened to the file.
    fn writing(path: &Path, action: &'static str, source: io::Error) -> IoError {
        let outcome = match fs::metadata(path) {
            Ok(old) if old.is_file() => "the old file is as it was",
            Ok(_) => "nothing was replaced",
            Err(_) => "nothing was written",
        };
        IoError::Write { file: path.to_owned(), action, source, outcome }
    }
}

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
const NOT_UTF_8: &str =
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

    pub(crate) fn no_samples() -> Problem {
        Problem::new("no samples in the file")
    }

    /// LIBSVM text without features.
    pub(crate) fn no_pairs() -> Problem {
        Problem::new("no index:value pair in the file; if this is another format, name it with --format")
    }

    /// A file that cannot be read as one input with the first.
    pub(crate) fn misfit(found: &str, first: &Path, expected: &str) -> Problem {
        Problem::new(format!("{found}, but {} {expected}", first.display()))
            .help("the files of a folder are read as one input, but for those whose names begin with . or _")
    }

    /// Multilabel samples where one label per sample is needed.
    pub(crate) fn multilabel() -> Problem {
        let what = "multilabel samples, where one label per sample is needed";
        Problem::new(format!("{what}: train on them in memory, with a named method"))
            .help("name one column with --label, or train a model on all of them")
    }

    /// The same with a remedy.
    pub(crate) fn help(self, help: impl Into<Cow<'static, str>>) -> Problem {
        Problem { help: Some(help.into()), ..self }
    }

    pub(crate) fn kind(self, kind: ProblemKind) -> Problem {
        Problem { kind, ..self }
    }

    /// The error of a file as a whole.
    pub(crate) fn of(self, file: &Path) -> IoError {
        Failure::from(self).reading(file)
    }

    /// The failure at a place in a file.
    pub(crate) fn at(self, place: impl fmt::Display) -> Failure {
        Failure::Input(Some(place.to_string()), self)
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

/// Why something was not read or not written. Readers and writers do not know their file: who opened it names it.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The system refused.
    System(io::Error),
    /// A problem, and its place in the file if one is meant.
    Input(Option<String>, Problem),
    /// An error that names its file, or is not about one.
    Known(IoError),
}

impl Failure {
    /// The error of a file that was read.
    pub fn reading(self, file: &Path) -> IoError {
        match self {
            Failure::System(source) => IoError::refused(file, "cannot read")(source),
            Failure::Input(place, problem) => IoError::Input { file: file.to_owned(), place, problem },
            Failure::Known(error) => error,
        }
    }

    /// The error of a file that was written.
    pub fn writing(self, file: &Path) -> IoError {
        match self {
            Failure::System(source) => IoError::writing(file, "cannot write", source),
            failure => failure.reading(file),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::System(error)
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Failure::Input(None, problem)
    }
}

impl<E: Into<IoError>> From<E> for Failure {
    fn from(error: E) -> Self {
        Failure::Known(error.into())
    }
}

/// Text of a file as shown in a message: at most 40 characters, with control characters escaped.
pub(crate) fn excerpt(text: &str) -> String {
    let escaped = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    let shown: String = text.chars().take(40).map(escaped).collect();
    if text.chars().nth(40).is_some() { shown + "…" } else { shown }
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
