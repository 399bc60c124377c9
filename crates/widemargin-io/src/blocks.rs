//! Files in blocks of rows, for those larger than memory.

use std::path::Path;

use crate::error::{IoError, Result};
use crate::options::ReadOptions;
use crate::read::open_vectors;
use crate::table::Table;
use crate::{Format, csv, libsvm, npy, npz};

/// Successive rows of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// The rows. Lines count in the whole file; the classes of the labels are those of these rows,
    /// and without [`ReadOptions::n_features`] a LIBSVM block is as wide as its largest index.
    pub table: Table,
    /// The number of rows before these.
    pub first_row: usize,
}

/// A file, block by block.
///
/// LIBSVM, CSV and NPY files take constant memory, whatever their size. NPZ archives, and NPY files in
/// column order, are loaded whole and come as one block.
///
/// As an iterator this makes a new block each time; [`Blocks::read_into`] fills the same one again.
#[derive(Debug)]
pub struct Blocks {
    reader: Reader,
    file: std::path::PathBuf,
    next_row: usize,
    ended: bool,
}

#[derive(Debug)]
enum Reader {
    Libsvm(libsvm::Reader),
    Csv(csv::Reader),
    Npy(npy::Reader),
    Whole(Option<Table>),
}

impl Blocks {
    /// Opens a file; `-` is standard input.
    ///
    /// # Errors
    /// As [`crate::read`].
    pub fn open(path: &Path, options: &ReadOptions) -> Result<Blocks> {
        let format = options.format.map_or_else(|| Format::from_path(path), Ok)?;
        let input = open_vectors(path, format)?;
        let file = input.file.clone();
        let reader = match format {
            Format::Libsvm => Reader::Libsvm(libsvm::Reader::new(input, options)?),
            Format::Csv => Reader::Csv(csv::Reader::new(input, b',', options)?),
            Format::Tsv => Reader::Csv(csv::Reader::new(input, b'\t', options)?),
            Format::Npy => Reader::Npy(npy::Reader::new(input, options)?),
            Format::Npz => Reader::Whole(Some(npz::read(input, options)?)),
            _ => return Err(IoError::NotVectors { file, format }),
        };
        Ok(Blocks { reader, file, next_row: 0, ended: false })
    }

    /// Puts the next rows into `block`, whose memory is used again; false after the last.
    ///
    /// # Errors
    /// As [`crate::read`]. After an error there are no more blocks.
    pub fn read_into(&mut self, block: &mut Block) -> Result<bool> {
        if self.ended {
            return Ok(false);
        }
        // Stands unless this call ends well.
        self.ended = true;
        let any = match &mut self.reader {
            Reader::Libsvm(reader) => reader.next_into(&mut block.table)?,
            Reader::Csv(reader) => reader.next_into(&mut block.table)?,
            Reader::Npy(reader) => reader.next_into(&mut block.table)?,
            Reader::Whole(table) => table.take().map(|table| block.table = table).is_some(),
        };
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
