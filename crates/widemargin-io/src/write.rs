//! Writes tables to files.

use std::io::{BufWriter, Write};
use std::path::Path;

use crate::error::{Failure, Result};
use crate::table::{Samples, Table};
use crate::write_rows::not_in;
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
