//! Writes tables to files.

use std::io::{BufWriter, Write};
use std::path::Path;

use widemargin::data::Labels;
use widemargin::output::OutputFile;

use crate::error::{Failure, IoError, Problem, Result};
use crate::indicators::Indicators;
use crate::table::{Samples, Table};
use crate::{Format, csv, libsvm, npy, npz};

/// Writes a table to a file, in `format` or that of the file name.
///
/// The write is atomic: on failure an existing file is unchanged.
///
/// # Errors
/// [`IoError::Input`] for an unknown ending and a table that the format cannot hold, and [`IoError::Write`] where the
/// system refuses.
pub fn write(table: &Table, path: &Path, format: Option<Format>) -> Result<()> {
    let format = format.map_or_else(|| Format::from_path(path), Ok)?;
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz")) {
        let help = "leave off .gz, and compress it afterwards";
        let failure = Problem::new("compressed files are read, not written").help(help).into();
        return Err(refused(failure, format, path));
    }
    let mut file = OutputFile::create(path).map_err(IoError::of_output)?;
    write_to(table, format, &mut file, path)?;
    file.commit().map_err(IoError::of_output)
}

/// Writes a table to any writer; `file` is what errors call it.
///
/// # Errors
/// As [`write()`].
pub fn write_to(table: &Table, format: Format, out: &mut dyn Write, file: &Path) -> Result<()> {
    let mut out = BufWriter::with_capacity(1 << 18, out);
    let written = check_samples(table, format).map_err(Failure::from).and_then(|()| match format {
        Format::Libsvm => libsvm::write(table, &mut out),
        Format::Csv => csv::write(table, b',', &mut out),
        Format::Tsv => csv::write(table, b'\t', &mut out),
        Format::Npy => npy::write(table, &mut out),
        Format::Npz => npz::write(table, &mut out),
        _ => {
            let reason = if format == Format::Parquet { "it is read, not written" } else { "it holds no vectors" };
            Err(Problem::new(reason).help("choose libsvm, csv, tsv, npy or npz").into())
        }
    });
    written.and_then(|()| Ok(out.flush()?)).map_err(|failure| refused(failure, format, file))
}

/// The error of a table that was not written, or that the format cannot hold.
fn refused(failure: Failure, format: Format, file: &Path) -> IoError {
    let failure = match failure {
        Failure::Input(_, Problem { text, help, kind }) => {
            Failure::from(Problem { text: format!("cannot be written as {format}: {text}"), help, kind })
        }
        failure => failure,
    };
    failure.writing(file)
}

fn check_samples(table: &Table, format: Format) -> Result<(), Problem> {
    if let Samples::Other(samples) = &table.samples {
        let help = "describe them first, or keep them in the format they came in";
        return Err(Problem::new(format!("{} are not vectors", samples.kind())).help(help));
    }
    let (n_rows, n_cols) = (table.samples.n_rows(), table.samples.n_cols());
    let is_table = matches!(format, Format::Csv | Format::Tsv);
    let has_sets = is_table || format == Format::Libsvm;
    let parts = [
        ("labels", table.labels.as_ref().map(Labels::len), n_rows, true),
        ("multilabel targets", table.indicators.as_ref().map(Indicators::n_samples), n_rows, has_sets),
        ("ids", table.ids.as_ref().map(Vec::len), n_rows, is_table),
        ("weights", table.weights.as_ref().map(Vec::len), n_rows, is_table),
        ("groups", table.groups.as_ref().map(Labels::len), n_rows, false),
        ("feature names", table.feature_names.as_ref().map(Vec::len), n_cols, true),
    ];
    if let Some((what, Some(n), expected, _)) =
        parts.iter().find(|(_, n, expected, _)| n.is_some_and(|n| n != *expected))
    {
        return Err(Problem::new(format!("{n} {what}, expected {expected}")).help("give one to each"));
    }
    let lost = parts.iter().filter(|(_, n, _, has_place)| n.is_some() && !has_place).map(|(what, ..)| *what);
    let lost = lost.collect::<Vec<_>>().join(" and ");
    if !lost.is_empty() {
        let help = "write .csv or .tsv, which have columns for ids, weights and labels, or leave them out: columns with \
                    --drop, the labels of LIBSVM text with --label none";
        return Err(Problem::new(format!("the samples have {lost}, for which it has no place")).help(help));
    }
    Ok(())
}
