//! Random access to dense rows: of NPY files in place, or of a scratch file.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use widemargin::data::{DenseMatrix, Element, Scratch, Vectors};
use widemargin::{Error, Result};

use super::pass::check_fits;
use super::rows::Rows;
use crate::error::Failure;
use crate::input::open;
use crate::npy::{self, Dtype, drop_column};
use crate::positioned::read_exact_at;
use crate::reader::{Layout, SampleReader};
use crate::scratch_file::refused;
use crate::table::RowShards;
use crate::{IoError, ReadOptions, ScratchFile, shards};

/// Bytes decoded at a time.
const PIECE: usize = 1 << 20;

/// Row-major arrays that stay where they are, concatenated.
#[derive(Debug)]
pub(super) struct DenseRows {
    arrays: Vec<Array>,
    n_rows: usize,
    /// Number of columns in the arrays, including the label's.
    n_columns: usize,
    pub label: Option<usize>,
}

#[derive(Debug)]
struct Array {
    storage: Storage,
    /// Number of rows in the previous arrays.
    first_row: usize,
    n_rows: usize,
    dtype: Dtype,
    /// Bytes before the first row.
    start: u64,
}

/// Files are opened for each piece, so that many shards need no handles, and files that have been modified or removed are
/// detected.
#[derive(Debug)]
enum Storage {
    File { path: PathBuf, length: u64, modified: Option<SystemTime> },
    Scratch(ScratchFile),
}

impl DenseRows {
    /// The arrays of a file or a folder; `None` if some do not support random access.
    ///
    /// # Errors
    /// For a column-major array that does not fit into the memory, where it is needed as a whole.
    pub fn find(path: &Path, options: &ReadOptions, memory: u64) -> Result<Option<DenseRows>, IoError> {
        let files = if path.is_dir() { shards::files(path)? } else { vec![path.to_owned()] };
        let mut found = DenseRows { arrays: Vec::new(), n_rows: 0, n_columns: 0, label: None };
        let (mut first, mut are_placed) = (None, true);
        for path in files {
            // A pipe can only be read once, in order.
            let may_be_placed = path.is_file() || !path.exists();
            let mut placed = || found.find_next(&path, options, &mut first, memory);
            are_placed &= may_be_placed && placed().map_err(|failure| failure.reading(&path))?;
        }
        Ok(are_placed.then_some(found))
    }

    /// Appends the array of a file, which must have the columns of the first; false if it does not support random access.
    fn find_next(
        &mut self,
        path: &Path,
        options: &ReadOptions,
        first: &mut Option<(PathBuf, Layout)>,
        memory: u64,
    ) -> Result<bool, Failure> {
        let reader = npy::Reader::new(open(path)?, options)?;
        let header = &reader.array.header;
        if header.fortran {
            let hint = "save it in row order (numpy.ascontiguousarray)";
            check_fits(path, 2 * header.n_bytes(), memory, "loading an array in column order", hint)?;
            return Ok(false);
        }
        let Some(length) = reader.length.filter(|_| header.dtype.is_exact_in_double()) else { return Ok(false) };
        if length > header.length + header.n_bytes() {
            return Err(reader.array.trailing().into());
        }
        let ((n_rows, n_columns), layout) = (header.matrix()?, reader.layout());
        match first {
            Some((first, expected)) => expected.check(first, &layout)?,
            None => {
                (self.n_columns, self.label) = (n_columns, layout.label);
                *first = Some((path.to_owned(), layout));
            }
        }
        let (_, length, modified) = opened(path)?;
        let storage = Storage::File { path: path.to_owned(), length, modified };
        self.append(storage, n_rows, header.dtype.clone(), header.length);
        Ok(true)
    }

    /// Rows of a scratch file, in double precision or single.
    pub fn scratch(scratch: ScratchFile, n_rows: usize, n_columns: usize, is_double: bool) -> DenseRows {
        let mut rows = DenseRows { arrays: Vec::new(), n_rows: 0, n_columns, label: None };
        let dtype = Dtype::parse(if is_double { "<f8" } else { "<f4" });
        rows.append(Storage::Scratch(scratch), n_rows, dtype, 0);
        rows
    }

    fn append(&mut self, storage: Storage, n_rows: usize, dtype: Dtype, start: u64) {
        self.arrays.push(Array { storage, first_row: self.n_rows, n_rows, dtype, start });
        self.n_rows += n_rows;
    }

    /// The shard of each row.
    pub fn shards(&self) -> RowShards {
        let mut shards = RowShards::default();
        for array in &self.arrays {
            if let Storage::File { path, .. } = &array.storage {
                shards.push(path.clone(), 0, array.n_rows);
            }
        }
        shards
    }

    fn read_as<T: Element>(
        &self,
        rows: Range<usize>,
        append: fn(&Dtype, &[u8], &mut Vec<T>),
    ) -> Result<DenseMatrix<T>> {
        let n_cols = self.n_columns - usize::from(self.label.is_some());
        let mut values = Vec::with_capacity(rows.len() * n_cols);
        let mut buffer = Vec::new();
        let mut next = rows.start;
        while next < rows.end {
            // No array is empty, so the last one that begins at or before a row contains it.
            let array = &self.arrays[self.arrays.partition_point(|array| array.first_row <= next) - 1];
            let (end, row_bytes) = (rows.end.min(array.first_row + array.n_rows), self.n_columns * array.dtype.size);
            let n = (PIECE / row_bytes).clamp(1, end - next);
            buffer.resize(n * row_bytes, 0);
            array.storage.read(array.start + ((next - array.first_row) * row_bytes) as u64, &mut buffer)?;
            let mut numbers = self.features(&array.dtype, &buffer, append);
            let is_bad = |number: &T| !(Into::<f64>::into(*number) as f32).is_finite();
            if let Some(at) = numbers.iter().position(is_bad) {
                let value = self.features(&array.dtype, &buffer, Dtype::append_doubles)[at];
                let (row, column) = (next + at / n_cols, at % n_cols);
                let problem = "is not a finite number in single precision: remove, impute or rescale it";
                return Err(Error::Value { row, column, value, problem });
            }
            values.append(&mut numbers);
            next += n;
        }
        Ok(DenseMatrix { values, n_rows: rows.len(), n_cols })
    }

    /// The features in the bytes of whole rows.
    fn features<T>(&self, dtype: &Dtype, bytes: &[u8], append: fn(&Dtype, &[u8], &mut Vec<T>)) -> Vec<T> {
        let mut numbers = Vec::with_capacity(bytes.len() / dtype.size);
        append(dtype, bytes, &mut numbers);
        if let Some(label) = self.label {
            drop_column(&mut numbers, label, self.n_columns);
        }
        numbers
    }
}

impl Rows for DenseRows {
    fn n_rows(&self) -> usize {
        self.n_rows
    }

    fn bytes(&self) -> u64 {
        self.arrays.iter().map(|array| (array.n_rows * self.n_columns * array.dtype.size) as u64).sum()
    }

    fn read(&self, rows: Range<usize>) -> Result<Vectors> {
        self.read_as(rows, Dtype::append_singles).map(Vectors::Dense)
    }

    fn read_double(&self, rows: Range<usize>) -> Option<Result<DenseMatrix<f64>>> {
        let is_double = self.arrays.iter().any(|array| array.dtype.size == size_of::<f64>());
        is_double.then(|| self.read_as(rows, Dtype::append_doubles))
    }
}

impl Storage {
    /// Fills bytes from a position; an error if a file has changed.
    fn read(&self, at: u64, bytes: &mut [u8]) -> Result<()> {
        let (path, before) = match self {
            Storage::Scratch(scratch) => return scratch.read(at, bytes),
            Storage::File { path, length, modified } => (path, (*length, *modified)),
        };
        let read = opened(path).and_then(|(file, length, modified)| match (length, modified) == before {
            true => read_exact_at(&file, at, bytes),
            false => Err(io::Error::new(io::ErrorKind::InvalidData, "the file has changed since it was first read")),
        });
        read.map_err(|source| refused(path, "cannot read", source))
    }
}

/// A file with its length and modification time, if the system reports it.
fn opened(path: &Path) -> io::Result<(File, u64, Option<SystemTime>)> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    Ok((file, metadata.len(), metadata.modified().ok()))
}
