//! Reads files into tables.

use std::path::{Path, PathBuf};

use crate::blocks::sample_reader;
use crate::error::{IoError, Result};
use crate::images::cifar10::CLASS_NAMES;
use crate::images::idx::labels_beside;
use crate::input::open;
use crate::options::ReadOptions;
use crate::table::Table;
use crate::{Format, csv, libsvm, npy, npz, parquet, shards};

/// Reads a whole file, or a folder of files of one vector format or of images; `-` is standard input.
///
/// LIBSVM text is parsed and images are decoded in parallel, in the rayon pool installed by the caller.
///
/// # Errors
/// [`IoError`], which names the file, the line or row, and the column.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Table> {
    let format = options.format.map_or_else(|| Format::from_path(path), Ok)?;
    options.check(path, format)?;
    if format.is_vectors() && path.is_dir() {
        return read_shards(path, format, options);
    }
    match format {
        Format::Libsvm => libsvm::Reader::new(open(path)?, options)?.read_all(),
        Format::Csv => csv::Reader::new(open(path)?, b',', options)?.read_all(),
        Format::Tsv => csv::Reader::new(open(path)?, b'\t', options)?.read_all(),
        Format::Npy => npy::Reader::new(open(path)?, options)?.read_all(),
        Format::Npz => npz::read(open(path)?, options),
        Format::Parquet => {
            let mut reader = parquet::Reader::new(open(path)?, options)?;
            gather(path, |table| reader.next_into(table))
        }
        _ => {
            let empty = || IoError::Empty { file: path.to_owned(), what: "no samples" };
            sample_reader(path, format, options)?.next(usize::MAX)?.ok_or_else(empty)
        }
    }
}

/// Every file and folder read for `path`, with its name in messages: the data, and files looked up next to it. For
/// [`widemargin::output::check`].
pub fn inputs(path: &Path, format: Option<Format>) -> Vec<(&'static str, PathBuf)> {
    let mut all = vec![("the data", path.to_owned())];
    match format.map_or_else(|| Format::from_path(path), Ok) {
        Ok(Format::Idx) => all.extend(labels_beside(path).map(|labels| ("the file of the labels", labels))),
        Ok(Format::Cifar10) => all.push(("the file of the classes' names", path.with_file_name(CLASS_NAMES))),
        _ => {}
    }
    all
}

/// All rows of a folder of shards.
fn read_shards(folder: &Path, format: Format, options: &ReadOptions) -> Result<Table> {
    let mut shards = shards::Reader::new(folder, format, options)?;
    let table = gather(folder, |table| shards.next_into(table))?;
    if table.samples.n_cols() == 0 {
        let empty = |what| IoError::Empty { file: folder.to_owned(), what };
        return Err(empty("no index:value pair in the files; if this is another format, name it with --format"));
    }
    Ok(table)
}

/// Collects all rows of a block reader.
fn gather(path: &Path, mut next_into: impl FnMut(&mut Table) -> Result<bool>) -> Result<Table> {
    let (mut gathered, mut table) = (shards::Gathered::default(), Table::default());
    while next_into(&mut table)? {
        gathered.append(&table);
    }
    let empty = || IoError::Empty { file: path.to_owned(), what: "no samples in the file" };
    gathered.finish()?.ok_or_else(empty)
}
