//! Reads files into tables.

use std::path::Path;

use crate::blocks::open_reader;
use crate::error::{IoError, Result};
use crate::input::shown;
use crate::label_file;
use crate::options::{ColumnRule, LabelColumn, ReadOptions};
use crate::table::Table;
use crate::{Format, csv};

/// Reads a whole file, or a folder of files of one vector format or of images; `-` is standard input.
///
/// LIBSVM text is parsed and images are decoded in parallel, in the rayon pool installed by the caller.
///
/// # Errors
/// [`IoError`], which names the file, the line or row, and the column.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Table> {
    if let Some(file) = &options.label_file {
        let options = ReadOptions { label: LabelColumn::None, label_file: None, ..options.clone() };
        let mut table = read(path, &options)?;
        label_file::label(&mut table, file)?;
        return Ok(table);
    }
    let empty = || IoError::Empty { file: shown(path), what: "no samples in the file" };
    if options.columns == ColumnRule::Learn && !options.categorical.is_empty() {
        let format = options.format.map_or_else(|| Format::from_path(path), Ok)?;
        options.check(path, format)?;
        return csv::learn(path, if format == Format::Tsv { b'\t' } else { b',' }, options);
    }
    let found = open_reader(path, options).and_then(|mut reader| reader.read_all()?.ok_or_else(empty));
    match found {
        Err(error) if options.columns == ColumnRule::Learn && path.is_file() && csv::is_worth_learning(&error) => {
            match options.format.map_or_else(|| Format::from_path(path), Ok)? {
                Format::Csv => csv::learn(path, b',', options),
                Format::Tsv => csv::learn(path, b'\t', options),
                _ => Err(error),
            }
        }
        Ok(mut table) if options.columns == ColumnRule::Learn => {
            table.samples.store_densely_if_dense();
            Ok(table)
        }
        found => found,
    }
}
