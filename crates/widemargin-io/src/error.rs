//! The error type of this crate.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::problem::Problem;

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
    /// An unknown format name.
    #[error("unknown format '{name}': expected {}", crate::Format::names())]
    UnknownFormat {
        /// The unknown name.
        name: String,
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

    pub(crate) fn reading(file: &Path) -> impl FnOnce(io::Error) -> IoError {
        IoError::refused(file, "cannot read")
    }

    /// The error of an operation on a file that the system refused.
    pub(crate) fn refused(file: &Path, action: &'static str) -> impl FnOnce(io::Error) -> IoError {
        let file = file.to_owned();
        move |source| IoError::Read { file, action, source }
    }

    /// The error of a failed write, stating what happened to the file.
    pub(crate) fn writing(path: &Path, action: &'static str, source: io::Error) -> IoError {
        let outcome = match fs::metadata(path) {
            Ok(old) if old.is_file() => "the old file is as it was",
            Ok(_) => "nothing was replaced",
            Err(_) => "nothing was written",
        };
        IoError::Write { file: path.to_owned(), action, source, outcome }
    }

    /// The error of a file without samples.
    pub(crate) fn no_samples(file: &Path) -> IoError {
        Problem::new("no samples in the file").of(file)
    }

    /// The error of LIBSVM text without features.
    pub(crate) fn no_pairs(file: &Path) -> IoError {
        Problem::new("no index:value pair in the file; if this is another format, name it with --format").of(file)
    }

    /// The error of a file that cannot be read as one input with the first.
    pub(crate) fn misfit(file: &Path, found: &str, first: &Path, expected: &str) -> IoError {
        let help = "the files of a folder are read as one input, but for those whose names begin with . or _";
        Problem::new(format!("{found}, but {} {expected}", first.display())).help(help).of(file)
    }

    /// The error of multilabel samples where one label per sample is needed.
    pub(crate) fn multilabel(file: &Path) -> IoError {
        let what = "multilabel samples, where one label per sample is needed";
        Problem::new(format!("{what}: train on them in memory, with a named method"))
            .help("name one column with --label, or train a model on all of them")
            .of(file)
    }
}

impl Problem {
    /// The error of a file as a whole.
    pub(crate) fn of(self, file: &Path) -> IoError {
        IoError::Input { file: file.to_owned(), place: None, problem: self }
    }

    /// The error at a place in a file.
    pub(crate) fn at(self, file: &Path, place: impl fmt::Display) -> IoError {
        IoError::Input { file: file.to_owned(), place: Some(place.to_string()), problem: self }
    }
}

/// Why something was not read or not written, before the file is known.
#[derive(Debug)]
pub(crate) enum Failure {
    System(io::Error),
    Problem(Problem),
}

impl Failure {
    /// The error of a file that was read.
    pub fn reading(self, file: &Path) -> IoError {
        match self {
            Failure::System(source) => IoError::reading(file)(source),
            Failure::Problem(problem) => problem.of(file),
        }
    }

    /// The error of a file that was written.
    pub fn writing(self, file: &Path) -> IoError {
        match self {
            Failure::System(source) => IoError::writing(file, "cannot write", source),
            Failure::Problem(problem) => problem.of(file),
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
        Failure::Problem(problem)
    }
}

impl From<widemargin::Error> for Failure {
    fn from(error: widemargin::Error) -> Self {
        // Only a manually constructed table can be inconsistent; this is reported like invalid input data.
        Failure::System(io::Error::new(io::ErrorKind::InvalidInput, error))
    }
}
