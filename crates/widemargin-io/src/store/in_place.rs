//! Random access to the rows of NPY files.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use widemargin::data::DenseMatrix;
use widemargin::{Error, Result};

use crate::input::open;
use crate::npy::{self, Element};
use crate::positioned::read_exact_at;
use crate::reader::SampleReader;
use crate::table::RowShards;
use crate::{IoError, ReadOptions, shards};

/// Bytes of a file decoded at a time.
const PIECE: usize = 1 << 20;

/// Row-major arrays that stay in their files, concatenated.
///
/// Files are opened for each range, so that many shards need no handles, and files that have been modified or removed
/// are detected.
#[derive(Debug)]
pub(super) struct InPlace {
    arrays: Vec<Array>,
    n_rows: usize,
    /// Number of columns in the files, including the label's.
    n_columns: usize,
    label: Option<usize>,
}

#[derive(Debug)]
struct Array {
    file: PathBuf,
    /// Number of rows in the previous files.
    first_row: usize,
    n_rows: usize,
    element: Element,
    /// Bytes before the first row.
    start: u64,
    length: u64,
    modified: Option<SystemTime>,
}

impl InPlace {
    /// The arrays of a file or a folder; `None` if some do not support random access.
    pub fn find(path: &Path, options: &ReadOptions) -> Result<Option<InPlace>, IoError> {
        let files = if path.is_dir() { shards::files(path)? } else { vec![path.to_owned()] };
        let mut found = InPlace { arrays: Vec::new(), n_rows: 0, n_columns: 0, label: None };
        let mut first: Option<(PathBuf, shards::Layout)> = None;
        for file in files {
            // A pipe can only be read once, in order.
            if !file.is_file() && file.exists() {
                return Ok(None);
            }
            let reader = npy::Reader::new(open(&file)?, options)?;
            let Some(placed) = reader.placed()? else { return Ok(None) };
            let layout = reader.layout();
            match &first {
                Some((first, expected)) => expected.check(first, &file, &layout)?,
                None => {
                    (found.n_columns, found.label) = (placed.n_cols, layout.label);
                    first = Some((file.clone(), layout));
                }
            }
            let (_, length, modified) = opened(&file).map_err(|error| IoError::reading(&file)(error))?;
            let first_row = found.n_rows;
            found.n_rows += placed.n_rows;
            let (n_rows, element, start) = (placed.n_rows, placed.element, placed.start);
            found.arrays.push(Array { file, first_row, n_rows, element, start, length, modified });
        }
        Ok(Some(found))
    }

    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Number of columns without the label's.
    pub fn n_cols(&self) -> usize {
        self.n_columns - usize::from(self.label.is_some())
    }

    pub fn has_labels(&self) -> bool {
        self.label.is_some()
    }

    /// The name of the label column in messages.
    pub fn label_column(&self) -> Option<String> {
        self.label.map(|label| (label + 1).to_string())
    }

    /// Bytes of all rows.
    pub fn bytes(&self) -> u64 {
        self.arrays.iter().map(|array| array.n_rows as u64 * array.row_bytes(self.n_columns)).sum()
    }

    /// The shard of each row, if the path is a folder of shards.
    pub fn shards(&self, path: &Path) -> Option<RowShards> {
        path.is_dir().then(|| {
            let mut shards = RowShards::default();
            self.arrays.iter().for_each(|array| shards.append(&RowShards::one(&array.file, 0, array.n_rows)));
            shards
        })
    }

    /// Whether the numbers are in double precision.
    pub fn is_double(&self) -> bool {
        self.arrays.iter().any(|array| array.element.size() == size_of::<f64>())
    }

    /// The rows of a range.
    pub fn read(&self, rows: Range<usize>) -> Result<DenseMatrix<f32>> {
        self.read_as(rows, |element, bytes, values| element.append_singles(bytes, values))
    }

    /// The same in double precision.
    pub fn read_double(&self, rows: Range<usize>) -> Result<DenseMatrix<f64>> {
        self.read_as(rows, |element, bytes, values| element.for_each(bytes, |value| values.push(value)))
    }

    fn read_as<T: widemargin::data::Element>(
        &self,
        rows: Range<usize>,
        append: impl Fn(&Element, &[u8], &mut Vec<T>),
    ) -> Result<DenseMatrix<T>> {
        let n_cols = self.n_cols();
        let mut values = Vec::with_capacity(rows.len() * n_cols);
        let mut buffer = Vec::new();
        let mut next = rows.start;
        while next < rows.end {
            // No array is empty, so the last one that begins at or before a row contains it.
            let at = self.arrays.partition_point(|array| array.first_row <= next) - 1;
            let array = &self.arrays[at];
            let end = rows.end.min(array.first_row + array.n_rows);
            let refused = |source| Error::Io { path: array.file.clone(), action: "cannot read", source };
            let file = array.reopened().map_err(refused)?;
            let row_bytes = array.row_bytes(self.n_columns) as usize;
            while next < end {
                let n = (PIECE / row_bytes).clamp(1, end - next);
                buffer.resize(n * row_bytes, 0);
                let from = array.start + (next - array.first_row) as u64 * row_bytes as u64;
                read_exact_at(&file, from, &mut buffer).map_err(refused)?;
                self.decode(&buffer, (row_bytes, next), &array.element, &append, &mut values)?;
                next += n;
            }
        }
        Ok(DenseMatrix { values, n_rows: rows.len(), n_cols })
    }

    /// Appends the features of whole rows, from row `first_row` on.
    fn decode<T: widemargin::data::Element>(
        &self,
        bytes: &[u8],
        (row_bytes, first_row): (usize, usize),
        element: &Element,
        append: impl Fn(&Element, &[u8], &mut Vec<T>),
        values: &mut Vec<T>,
    ) -> Result<()> {
        let before = values.len();
        match self.label {
            None => append(element, bytes, values),
            Some(column) => {
                let (start, end) = (column * element.size(), (column + 1) * element.size());
                for row in bytes.chunks_exact(row_bytes) {
                    append(element, &row[..start], values);
                    append(element, &row[end..], values);
                }
            }
        }
        let n_cols = self.n_cols();
        let Some(at) = values[before..].iter().position(|value| !(Into::<f64>::into(*value) as f32).is_finite()) else {
            return Ok(());
        };
        let (row, column) = (at / n_cols, at % n_cols);
        let stored = column + usize::from(self.label.is_some_and(|label| label <= column));
        let from = row * row_bytes + stored * element.size();
        Err(Error::Value {
            row: first_row + row,
            column,
            value: element.number(&bytes[from..from + element.size()]),
            problem: "is not a finite number in single precision: remove, impute or rescale it",
        })
    }
}

impl Array {
    fn row_bytes(&self, n_columns: usize) -> u64 {
        (n_columns * self.element.size()) as u64
    }

    /// The file, if it has not changed.
    fn reopened(&self) -> io::Result<File> {
        let (file, length, modified) = opened(&self.file)?;
        if (length, modified) != (self.length, self.modified) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the file has changed since it was first read"));
        }
        Ok(file)
    }
}

/// A file with its length and modification time, if the system reports it.
fn opened(path: &Path) -> io::Result<(File, u64, Option<SystemTime>)> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    Ok((file, metadata.len(), metadata.modified().ok()))
}
