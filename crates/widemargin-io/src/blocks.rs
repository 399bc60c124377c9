//! Reading files in blocks of rows, for files larger than memory.

use std::path::Path;

use crate::error::{IoError, Result};
use crate::input::shown;
use crate::label_file::WithLabels;
use crate::open_file::open_file;
use crate::options::{LabelColumn, ReadOptions};
use crate::reader::SampleReader;
use crate::table::Table;
use crate::{Format, shards};

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
#[derive(Debug)]
pub struct Blocks {
    reader: Box<dyn SampleReader>,
    bytes: usize,
    file: std::path::PathBuf,
    next_row: usize,
    ended: bool,
}

/// The reader of a file, or of a folder of files of one vector format or of images.
pub(crate) fn open_reader(path: &Path, options: &ReadOptions) -> Result<Box<dyn SampleReader>> {
    let format = options.format.map_or_else(|| Format::from_path(path), Ok)?;
    options.check(path, format)?;
    if let Some(file) = &options.label_file {
        let options = ReadOptions { label: LabelColumn::None, label_file: None, ..options.clone() };
        return Ok(Box::new(WithLabels::new(open_reader(path, &options)?, file)?));
    }
    if format.is_vectors() && path.is_dir() {
        return Ok(Box::new(shards::Reader::new(path, format, options)?));
    }
    open_file(path, format, options)
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
            return Err(IoError::Empty { file: self.file.clone(), what: "no samples in the file" });
        }
        block.first_row = self.next_row;
        self.next_row += block.table.samples.n_rows();
        self.ended = !any;
        Ok(any)
    }
}

impl Iterator for Blocks {
    type Item = Result<Block>;

    fn next(&mut self) -> Option<Result<Block>> {
        let mut block = Block::default();
        match self.read_into(&mut block) {
            Ok(true) => Some(Ok(block)),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        }
    }
}
