//! Reads files into tables, whole or in blocks of rows.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::error::{Problem, Result};
use crate::input::shown;
use crate::label_file::FileLabels;
use crate::open_file::open_file;
use crate::options::{LabelColumn, ReadOptions};
use crate::reader::SampleReader;
use crate::shards::Gathered;
use crate::table::Table;
use crate::{Format, shards};

/// The format of a file, and the options that apply to it: labels of another file are not looked for in this one.
pub(crate) fn checked(path: &Path, mut options: ReadOptions) -> Result<(Format, ReadOptions)> {
    let format = options.format.map_or_else(|| Format::from_path(path), Ok)?;
    options.check(path, format).map_err(|problem| problem.of(&shown(path)))?;
    if options.label_file.is_some() {
        options.label = LabelColumn::None;
    }
    Ok((format, options))
}

/// Reads a whole file, or a folder of files of one vector format or of images; `-` is standard input.
///
/// LIBSVM text is parsed and images are decoded in parallel, in the rayon pool installed by the caller.
///
/// # Errors
/// [`IoError`](crate::IoError), which names the file, the line or row, and the column.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Table> {
    let Blocks { mut reader, labels, file, .. } = Blocks::open(path, options)?;
    let (mut gathered, mut spent) = (Gathered::default(), Table::default());
    while let Some(table) = reader.next(usize::MAX, spent).map_err(|failure| failure.reading(&file))? {
        spent = gathered.append(table);
    }
    let mut table = gathered.finish().ok_or_else(|| Problem::no_samples().of(&file))?;
    if let Some(labels) = labels {
        labels.put(0..table.samples.n_rows(), true, &mut table)?;
    }
    if options.learn {
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
    labels: Option<FileLabels>,
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
        let (format, options) = checked(path, options.clone())?;
        let is_folder = format.is_vectors() && path.is_dir();
        let opened = if is_folder { shards::open(path, format, &options) } else { open_file(path, format, &options) };
        let file = shown(path);
        let reader = opened.map_err(|failure| failure.reading(&file))?;
        let labels = options.label_file.as_deref().map(|file| FileLabels::read(file, options.decimal)).transpose()?;
        Ok(Blocks { reader, labels, bytes: options.block_bytes(), file, next_row: 0, ended: false })
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
        let read = self.reader.next(self.bytes, std::mem::take(&mut block.table));
        let table = read.map_err(|failure| failure.reading(&self.file))?;
        let any = table.is_some();
        if !any && self.next_row == 0 {
            return Err(Problem::no_samples().of(&self.file));
        }
        *block = Block { table: table.unwrap_or_default(), first_row: self.next_row };
        self.next_row += block.table.samples.n_rows();
        if let Some(labels) = &self.labels {
            labels.put(block.first_row..self.next_row, !any, &mut block.table)?;
        }
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
