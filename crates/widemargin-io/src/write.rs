//! Writes tables to files.

use std::fmt;
use std::io::{BufWriter, Write};
use std::path::Path;

use widemargin::data::Rows as _;

use crate::error::{Failure, Result};
use crate::problem::Problem;
use crate::table::{Samples, Table};
use crate::{AtomicFile, Format, csv, libsvm, npy, npz};

/// Writes a table to a file, in `format` or that of the file name.
///
/// The write is atomic: on failure an existing file is unchanged.
///
/// # Errors
/// [`IoError::Input`](crate::IoError::Input) for an unknown ending and a table that the format cannot hold, and
/// [`IoError::Write`](crate::IoError::Write) where the system refuses.
pub fn write(table: &Table, path: &Path, format: Option<Format>) -> Result<()> {
    let format = format.map_or_else(|| Format::from_path(path), Ok)?;
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz")) {
        let help = "leave off .gz, and compress it afterwards";
        return Err(not_in(format, "compressed files are read, not written", help).writing(path));
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
        Format::Parquet => Err(not_in(format, "it is read, not written", "choose libsvm, csv, tsv, npy or npz")),
        _ => Err(not_in(format, "it holds no vectors", "choose libsvm, csv, tsv, npy or npz")),
    });
    written.and_then(|()| Ok(out.flush()?)).map_err(|failure| failure.writing(file))
}

fn check_samples(table: &Table, format: Format) -> Result<(), Failure> {
    if let Samples::Other(samples) = &table.samples {
        let help = "describe them first, or keep them in the format they came in";
        return Err(not_in(format, format!("{} are not vectors", samples.kind()), help));
    }
    let n_rows = table.samples.n_rows();
    let wrong = |what: &str, n: usize, expected: usize| {
        Err(not_in(format, format!("{n} {what}, expected {expected}"), "give one to each"))
    };
    match (&table.labels, &table.feature_names) {
        (Some(labels), _) if labels.len() != n_rows => wrong("labels", labels.len(), n_rows),
        (_, Some(names)) if names.len() != table.samples.n_cols() => {
            wrong("feature names", names.len(), table.samples.n_cols())
        }
        _ => Ok(()),
    }
}

/// The failure of a table that a format cannot hold.
pub(crate) fn not_in(format: Format, reason: impl fmt::Display, help: &'static str) -> Failure {
    Problem::new(format!("cannot be written as {format}: {reason}")).help(help).into()
}

/// Passes on the rows of vectors, with their zeros.
pub(crate) fn for_each_row(
    samples: &Samples,
    mut each: impl FnMut(usize, &[f64]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let view = samples.view()?.rows("the format")?;
    let mut values = vec![0.0; view.n_cols()];
    for row in 0..view.n_rows() {
        values.fill(0.0);
        view.for_each_nonzero(row, |column, value| values[column] = value);
        each(row, &values)?;
    }
    Ok(())
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
