//! Samples of any kind, whole or in blocks.

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use crate::blocks::Blocks;
use crate::collection::{Collection, LabelledSamples};
use crate::error::{IoError, Result};
use crate::options::ReadOptions;
use crate::read::open;
use crate::table::Table;
use crate::{Format, images, series, strings};

/// A format's way to give its samples piece by piece.
pub(crate) trait SampleReader: Debug + Send {
    /// The next samples, at least one and about `bytes` of the file (of the pixels, for folders); `None` at the end.
    fn next(&mut self, bytes: usize) -> Result<Option<LabelledSamples>>;
}

/// Reads all samples of a file or a folder, of whatever kind they are; `-` is standard input.
///
/// Images are decoded in parallel, in the rayon pool that the caller has installed.
///
/// # Errors
/// [`IoError`], which names the file and the place in it.
pub fn read_samples(path: &Path, options: &ReadOptions) -> Result<LabelledSamples> {
    let format = options.format.map_or_else(|| Format::from_path(path), Ok)?;
    if format.is_vectors() {
        return Ok(of_table(crate::read(path, options)?));
    }
    let empty = || IoError::Empty { file: path.to_owned(), what: "no samples" };
    reader(path, format, options)?.next(usize::MAX)?.ok_or_else(empty)
}

/// Successive samples of a file or folder.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleBlock {
    /// The samples. Lines count in the whole file; the classes of the labels are those of these samples.
    pub samples: LabelledSamples,
    /// The number of samples before these.
    pub first_row: usize,
}

/// A file or folder of samples of any kind, block by block: an iterator that ends after the first error.
///
/// Strings, series, images and the vectors that [`Blocks`] streams take constant memory.
#[derive(Debug)]
pub struct SampleBlocks {
    reader: Box<dyn SampleReader>,
    path: PathBuf,
    block_bytes: usize,
    next_row: usize,
    ended: bool,
}

impl SampleBlocks {
    /// Opens a file or folder; `-` is standard input.
    ///
    /// # Errors
    /// As [`read_samples`].
    pub fn open(path: &Path, options: &ReadOptions) -> Result<SampleBlocks> {
        let format = options.format.map_or_else(|| Format::from_path(path), Ok)?;
        let reader = match format.is_vectors() {
            true => Box::new(Vectors(Blocks::open(path, options)?)),
            false => reader(path, format, options)?,
        };
        Ok(SampleBlocks {
            reader,
            path: path.to_owned(),
            block_bytes: options.block_bytes(),
            next_row: 0,
            ended: false,
        })
    }

    fn read(&mut self) -> Result<Option<SampleBlock>> {
        let Some(samples) = self.reader.next(self.block_bytes)? else {
            if self.next_row == 0 {
                return Err(IoError::Empty { file: self.path.clone(), what: "no samples" });
            }
            return Ok(None);
        };
        let first_row = self.next_row;
        self.next_row += samples.samples.len();
        Ok(Some(SampleBlock { samples, first_row }))
    }
}

impl Iterator for SampleBlocks {
    type Item = Result<SampleBlock>;

    fn next(&mut self) -> Option<Result<SampleBlock>> {
        if self.ended {
            return None;
        }
        let block = self.read().transpose();
        self.ended = !matches!(block, Some(Ok(_)));
        block
    }
}

fn reader(path: &Path, format: Format, options: &ReadOptions) -> Result<Box<dyn SampleReader>> {
    Ok(match format {
        Format::Strings => Box::new(strings::Reader::new(open(path)?, options)?),
        Format::Ucr => Box::new(series::UcrReader::new(open(path)?, options)?),
        Format::Ts => Box::new(series::TsReader::new(open(path)?, options)?),
        Format::Images => Box::new(images::folder::Reader::new(path, options)?),
        Format::Cifar10 => Box::new(images::cifar10::Reader::new(path, options)?),
        Format::Idx => Box::new(images::idx::Reader::new(path, options)?),
        _ => Box::new(Vectors(Blocks::open(path, options)?)),
    })
}

/// Vectors, whose own blocks are as long as the options say.
#[derive(Debug)]
struct Vectors(Blocks);

impl SampleReader for Vectors {
    fn next(&mut self, _bytes: usize) -> Result<Option<LabelledSamples>> {
        Ok(self.0.next().transpose()?.map(|block| of_table(block.table)))
    }
}

fn of_table(table: Table) -> LabelledSamples {
    let samples = Collection::Vectors(table.samples);
    LabelledSamples { samples, labels: table.labels, lines: table.lines, files: None }
}
