//! Tables into files.

use std::fmt;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::{IoError, Result};
use crate::table::{Samples, Table};
use crate::{AtomicFile, Format, csv, libsvm, npy, npz};

/// Writes a table to a file, in the format its ending tells or the one given.
///
/// The file appears whole or not at all: a failure leaves what was there before.
///
/// # Errors
/// [`IoError::UnknownEnding`], [`IoError::NotInFormat`] for a table that the format cannot hold, and
/// [`IoError::Write`] where the system refuses.
pub fn write(table: &Table, path: &Path, format: Option<Format>) -> Result<()> {
    let format = format.map_or_else(|| Format::from_path(path), Ok)?;
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz")) {
        let (file, reason) = (path.to_owned(), "compressed files are read, not written".into());
        return Err(IoError::NotInFormat { file, format, reason, help: "leave off .gz, and compress it afterwards" });
    }
    let mut file = AtomicFile::create(path)?;
    write_to(table, format, &mut file, path)?;
    file.commit()
}

/// Writes a table to any writer; `file` is what errors call it.
///
/// # Errors
/// As [`write()`].
pub fn write_to(table: &Table, format: Format, out: &mut dyn Write, file: &Path) -> Result<()> {
    let mut out = BufWriter::with_capacity(1 << 18, out);
    let written = check_samples(table, format).and_then(|()| match format {
        Format::Libsvm => libsvm::write(table, &mut out),
        Format::Csv => csv::write(table, b',', &mut out),
        Format::Tsv => csv::write(table, b'\t', &mut out),
        Format::Npy => npy::write(table, &mut out),
        Format::Npz => npz::write(table, &mut out),
        Format::Parquet => {
            Err(Failure::not_in(format, "it is read, not written", "choose libsvm, csv, tsv, npy or npz"))
        }
        _ => Err(Failure::not_in(format, "it holds no vectors", "choose libsvm, csv, tsv, npy or npz")),
    });
    written.and_then(|()| Ok(out.flush()?)).map_err(|failure| failure.in_file(file))
}

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

    fn in_file(self, file: &Path) -> IoError {
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
        // Only a table made by hand can be inconsistent; its samples are as little data as a bad file's.
        Failure::System(io::Error::new(io::ErrorKind::InvalidInput, error))
    }
}

/// Runs a block with `view` bound to the samples, whatever they are.
macro_rules! with_rows {
    ($samples:expr, $view:ident => $body:block) => {
        match $samples {
            Samples::SparseF32(matrix) => with_rows!(@ matrix, $view, $body),
            Samples::SparseF64(matrix) => with_rows!(@ matrix, $view, $body),
            Samples::DenseF32(matrix) => with_rows!(@ matrix, $view, $body),
            Samples::DenseF64(matrix) => with_rows!(@ matrix, $view, $body),
            // Refused before any format is asked.
            Samples::Other(_) => {}
        }
    };
    (@ $matrix:ident, $view:ident, $body:block) => {{
        let $view = $matrix.view().map_err(crate::write::Failure::from)?;
        $body
    }};
}
pub(crate) use with_rows;

/// A number as text: as short as it can be and still be read back exactly, and plain where it is whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Number {
    pub value: f64,
    /// The value is an `f32`, and will be read back as one.
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

fn check_samples(table: &Table, format: Format) -> Result<(), Failure> {
    if let Samples::Other(samples) = &table.samples {
        let help = "describe them first, or keep them in the format they came in";
        return Err(Failure::not_in(format, format!("{} are no vectors", samples.kind()), help));
    }
    let n_rows = table.samples.n_rows();
    let wrong = |what: &str, n: usize, expected: usize| {
        Err(Failure::not_in(format, format!("{n} {what}, expected {expected}"), "give one to each"))
    };
    match (&table.labels, &table.feature_names) {
        (Some(labels), _) if labels.len() != n_rows => wrong("labels", labels.len(), n_rows),
        (_, Some(names)) if names.len() != table.samples.n_cols() => {
            wrong("feature names", names.len(), table.samples.n_cols())
        }
        _ => Ok(()),
    }
}
