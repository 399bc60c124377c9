//! Files into tables.

use std::path::Path;

use crate::error::{IoError, Result};
use crate::input::Input;
use crate::options::ReadOptions;
use crate::table::Table;
use crate::{Format, csv, libsvm, npy, npz};

/// Reads a whole file of vectors; `-` is standard input. For strings, series and images: [`crate::read_samples`].
///
/// LIBSVM text is parsed in parallel, in the rayon pool that the caller has installed.
///
/// # Errors
/// [`IoError`], which names the file, the line or row, and the column.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Table> {
    let format = options.format.map_or_else(|| Format::from_path(path), Ok)?;
    let input = open_vectors(path, format)?;
    match format {
        Format::Libsvm => libsvm::Reader::new(input, options)?.read_all(),
        Format::Csv => csv::Reader::new(input, b',', options)?.read_all(),
        Format::Tsv => csv::Reader::new(input, b'\t', options)?.read_all(),
        Format::Npy => npy::Reader::new(input, options)?.read_all(),
        Format::Npz => npz::read(input, options),
        _ => Err(IoError::NotVectors { file: path.to_owned(), format }),
    }
}

/// Opens the input of a format that holds vectors; others may be folders, which cannot be opened.
pub(crate) fn open_vectors(path: &Path, format: Format) -> Result<Input> {
    if format.is_vectors() { open(path) } else { Err(IoError::NotVectors { file: path.to_owned(), format }) }
}

/// Opens the input, and says of an empty file that it is empty, whatever its format.
pub(crate) fn open(path: &Path) -> Result<Input> {
    let input = Input::open(path)?;
    if input.length == Some(0) {
        return Err(IoError::Empty { file: input.file, what: "the file is empty" });
    }
    Ok(input)
}
