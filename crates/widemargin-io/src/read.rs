//! Reads files into tables, whole or in blocks of rows.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::error::{IoError, Result};
use crate::input::shown;
use crate::label_file::WithLabels;
use crate::open_file::open_file;
use crate::options::{ColumnRule, LabelColumn, ReadOptions};
use crate::reader::SampleReader;
use crate::table::Table;
use crate::{Format, shards};

/// The reader of a file, or of a folder of files of one vector format or of images.
fn open_reader(path: &Path, options: &ReadOptions) -> Result<Box<dyn SampleReader>> {
    let format = options.format.map_or_else(|| Format::from_path(path), Ok)?;
    options.check(path, format)?;
    if let Some(file) = &options.label_file {
        let options = ReadOptions { label: LabelColumn::None, label_file: None, ..options.clone() };
        return Ok(Box::new(WithLabels::new(open_reader(path, &options)?, file, options.decimal)?));
    }
    if format.is_vectors() && path.is_dir() {
        return Ok(Box::new(shards::Reader::new(path, format, options)?));
    }
    open_file(path, format, options)
}

/// Reads a whole file, or a folder of files of one vector format or of images; `-` is standard input.
///
/// LIBSVM text is parsed and images are decoded in parallel, in the rayon pool installed by the caller.
///
/// # Errors
/// [`IoError`], which names the file, the line or row, and the column.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Table> {
    let mut table = open_reader(path, options)?.read_all()?.ok_or_else(|| IoError::no_samples(&shown(path)))?;
    if options.columns == ColumnRule::Learn {
        table.samples.store_densely_if_dense();
    }
    Ok(table)
}

/// Consecutive rows of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// The rows. Lines are numbered within the whole file; the classes of the labels are those of these rows, and
    /// without [`ReadOptions::n_features`] a LIBSVM block is as wide as its largest index.
    pub table: Table,
    /// The number of preceding rows.
    pub first_row: usize,
}

/// A file, or a folder of files read as one input, in blocks. No block spans two files.
///
/// LIBSVM, CSV and NPY files take constant memory, whatever their size. NPZ archives, and NPY files in column-major
/// order, are loaded completely and returned as one block.
///
/// As an iterator this allocates a new block each time; [`Blocks::read_into`] reuses one.
pub struct Blocks {
    reader: Box<dyn SampleReader>,
    bytes: usize,
    file: PathBuf,
    next_row: usize,
    ended: bool,
}

impl Blocks {
    /// Opens a file, or a folder of files of one vector format or of images; `-` is standard input.
    ///
    /// # Errors
    /// As [`crate::read`].
    pub fn open(path: &Path, options: &ReadOptions) -> Result<Blocks> {
        let (reader, bytes) = (open_reader(path, options)?, options.block_bytes());
        Ok(Blocks { reader, bytes, file: shown(path), next_row: 0, ended: false })
    }

    /// Reads the next rows into `block`, reusing its memory; false after the last.
    ///
    /// # Errors
    /// As [`crate::read`]. After an error there are no more blocks.
    pub fn read_into(&mut self, block: &mut Block) -> Result<bool> {
        if self.ended {
            return Ok(false);
        }
        // Reset only if this call succeeds.
        self.ended = true;
        let any = self.reader.next_into(self.bytes, &mut block.table)?;
        if !any && self.next_row == 0 {
            return Err(IoError::no_samples(&self.file));
        }
        block.first_row = self.next_row;
        self.next_row += block.table.samples.n_rows();
        self.ended = !any;
        Ok(any)
    }
}

impl fmt::Debug for Blocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blocks").field("file", &self.file).field("next_row", &self.next_row).finish_non_exhaustive()
    }
}

impl Iterator for Blocks {
    type Item = Result<Block>;

    fn next(&mut self) -> Option<Result<Block>> {
        let mut block = Block::default();
        let read = self.read_into(&mut block);
        read.map(|any| any.then_some(block)).transpose()
    }
}
