//! Reading files in blocks of rows, for files larger than memory.

use std::path::Path;

use crate::error::{IoError, Result};
use crate::input::open;
use crate::input::shown;
use crate::options::ReadOptions;
use crate::sample_reader::SampleReader;
use crate::table::Table;
use crate::vector_reader::VectorReader;
use crate::{Format, images, series, shards, strings};

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
    reader: Reader,
    file: std::path::PathBuf,
    next_row: usize,
    ended: bool,
}

#[derive(Debug)]
enum Reader {
    Vectors(Box<VectorReader>),
    Shards(Box<shards::Reader>),
    Other { reader: Box<dyn SampleReader>, bytes: usize },
}

/// The reader of a format that does not contain vectors.
pub(crate) fn sample_reader(path: &Path, format: Format, options: &ReadOptions) -> Result<Box<dyn SampleReader>> {
    Ok(match format {
        Format::Strings => Box::new(strings::Reader::new(open(path)?, options)?),
        Format::Ucr => Box::new(series::UcrReader::new(open(path)?, options)?),
        Format::Ts => Box::new(series::TsReader::new(open(path)?, options)?),
        Format::Images => Box::new(images::folder::Reader::new(path, options)?),
        Format::Cifar10 => Box::new(images::cifar10::Reader::new(path, options)?),
        Format::Idx => Box::new(images::idx::Reader::new(path, options)?),
        _ => return Err(IoError::UnknownFormat { given: format.to_string() }),
    })
}

impl Blocks {
    /// Opens a file, or a folder of files of one vector format or of images; `-` is standard input.
    ///
    /// # Errors
    /// As [`crate::read`].
    pub fn open(path: &Path, options: &ReadOptions) -> Result<Blocks> {
        let format = options.format.map_or_else(|| Format::from_path(path), Ok)?;
        options.check(path, format)?;
        if !format.is_vectors() {
            let reader = Reader::Other { reader: sample_reader(path, format, options)?, bytes: options.block_bytes() };
            return Ok(Blocks { reader, file: path.to_owned(), next_row: 0, ended: false });
        }
        let reader = if path.is_dir() {
            Reader::Shards(Box::new(shards::Reader::new(path, format, options)?))
        } else {
            Reader::Vectors(Box::new(VectorReader::open(path, format, options)?))
        };
        Ok(Blocks { reader, file: shown(path), next_row: 0, ended: false })
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
        let any = match &mut self.reader {
            Reader::Vectors(reader) => reader.next_into(&mut block.table)?,
            Reader::Shards(reader) => reader.next_into(&mut block.table)?,
            Reader::Other { reader, bytes } => reader.next(*bytes)?.map(|table| block.table = table).is_some(),
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
