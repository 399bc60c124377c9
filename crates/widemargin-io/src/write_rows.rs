//! Common parts of the writers of all formats.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::Format;
use crate::error::IoError;

/// Why a table was not written.
#[derive(Debug)]
pub(crate) enum Failure {
    System(io::Error),
    NotInFormat { format: Format, reason: String, help: &'static str },
}

impl Failure {
    pub fn not_in(format: Format, reason: impl Into<String>, help: &'static str) -> Failure {
        Failure::NotInFormat { format, reason: reason.into(), help }
    }

    pub fn in_file(self, file: &Path) -> IoError {
        let file: PathBuf = file.to_owned();
        match self {
            Failure::System(source) => crate::atomic_write::refused(&file, "cannot write", source),
            Failure::NotInFormat { format, reason, help } => IoError::NotInFormat { file, format, reason, help },
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::System(error)
    }
}

impl From<widemargin::Error> for Failure {
    fn from(error: widemargin::Error) -> Self {
        // Only a manually constructed table can be inconsistent; this is reported like invalid input data.
        Failure::System(io::Error::new(io::ErrorKind::InvalidInput, error))
    }
}

/// A number as text: as short as it can be and still be read back exactly, and plain where it is whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Number {
    pub value: f64,
    /// Whether the value is an `f32`, and will be read back as one.
    pub single: bool,
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = self.value.fract() == 0.0 && self.value.abs() < 1e15;
        match (plain, self.single) {
            (true, true) => write!(f, "{}", self.value as f32),
            (true, false) => write!(f, "{}", self.value),
            (false, true) => write!(f, "{:?}", self.value as f32),
            (false, false) => write!(f, "{:?}", self.value),
        }
    }
}
