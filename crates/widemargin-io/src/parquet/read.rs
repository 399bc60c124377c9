//! Reads a Parquet file in blocks.

use std::path::{Path, PathBuf};

use parquet::column::reader::ColumnReader;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use rayon::prelude::*;
use widemargin::data::{DenseMatrix, Label, Labels};

use super::columns::{Columns, place};
use super::file::PositionedFile;
use super::values::{Failure, REWRITE, labels, numbers};
use crate::csv::Header;
use crate::error::{IoError, Result};
use crate::input::Input;
use crate::options::ReadOptions;
use crate::problem::{Problem, excerpt};
use crate::reader::{SampleReader, gather};
use crate::shards::Layout;
use crate::table::{Samples, Table};

/// Reads tables of consecutive rows. The columns of a block are decoded in parallel.
pub(crate) struct Reader {
    file: PathBuf,
    source: SerializedFileReader<PositionedFile>,
    columns: Columns,
    next_row: usize,
    next_group: usize,
    /// The readers of the columns of the open row group.
    group: Vec<ColumnReader>,
    /// Rows of it that have not been read yet.
    left: usize,
}

/// The values of a column.
enum Read {
    Feature(Vec<f64>, bool),
    Labels(Vec<Label>),
}

impl Reader {
    pub fn new(input: Input, options: &ReadOptions) -> Result<Reader> {
        let file = input.file.clone();
        let Some(opened) = input.into_file() else {
            let text = "Parquet is read from regular files that are not compressed as a whole";
            return Err(Problem::new(text).of(&file));
        };
        let opened = PositionedFile::new(opened).map_err(IoError::reading(&file))?;
        let source = guarded(|| SerializedFileReader::new(opened)).map_err(|error| unreadable(&file, None, error))?;
        let schema = source.metadata().file_metadata().schema_descr();
        let columns = Columns::tell(&file, schema, options)?;
        Ok(Reader { file, source, columns, next_row: 0, next_group: 0, group: Vec::new(), left: 0 })
    }

    /// False after the last row group.
    fn open_group(&mut self) -> Result<bool> {
        if self.next_group >= self.source.num_row_groups() {
            return Ok(false);
        }
        let opened = guarded(|| {
            let group = self.source.get_row_group(self.next_group)?;
            let readers = (0..self.columns.header.n).map(|column| group.get_column_reader(column));
            Ok((readers.collect::<Result<Vec<_>, _>>()?, group.metadata().num_rows()))
        });
        let (readers, n_rows) = opened.map_err(|error| unreadable(&self.file, None, error))?;
        self.group = readers;
        self.left = usize::try_from(n_rows).unwrap_or(0);
        self.next_group += 1;
        Ok(true)
    }

    fn failed(&self, column: usize, failure: Failure) -> IoError {
        let name = self.columns.header.names.as_ref().map(|names| names[column].as_str());
        match failure {
            Failure::Parquet(error) => unreadable(&self.file, name, error),
            Failure::Row(row, problem) => problem.at(&self.file, place(Some(self.next_row + row), name)),
        }
    }
}

impl SampleReader for Reader {
    fn layout(&self) -> Layout {
        let Columns { header: Header { names, n }, label, .. } = &self.columns;
        Layout { n: Some(*n), label: *label, names: names.clone(), ..Layout::default() }
    }

    fn next_into(&mut self, bytes: usize, table: &mut Table) -> Result<bool> {
        while self.left == 0 {
            if !self.open_group()? {
                return Ok(false);
            }
        }
        let n = (bytes / (8 * self.columns.header.n)).max(1).min(self.left);
        let (columns, schema) = (&self.columns, self.source.metadata().file_metadata().schema_descr());
        let read = |(column, reader): (usize, &mut ColumnReader)| {
            let (kind, optional) = (columns.kinds[column], schema.column(column).max_def_level() > 0);
            guarded(|| {
                Ok(if columns.label == Some(column) {
                    labels(reader, kind, n, optional).map(Read::Labels)
                } else {
                    numbers(reader, kind, n, optional).map(|(values, single)| Read::Feature(values, single))
                })
            })
            .map_err(Failure::Parquet)
            .and_then(|read| read)
        };
        let read: Vec<_> = self.group.par_iter_mut().enumerate().map(read).collect();
        let mut features = Vec::with_capacity(columns.header.n);
        let (mut found_labels, mut single) = (None, true);
        for (column, read) in read.into_iter().enumerate() {
            match read {
                Ok(Read::Labels(labels)) => found_labels = Some(Labels::new(labels)),
                Ok(Read::Feature(values, is_single)) => {
                    features.push(values);
                    single &= is_single;
                }
                Err(failure) => return Err(self.failed(column, failure)),
            }
        }
        let n_cols = features.len();
        let by_rows = (0..n).flat_map(|row| features.iter().map(move |feature| feature[row]));
        let samples = if single {
            Samples::DenseF32(DenseMatrix { values: by_rows.map(|value| value as f32).collect(), n_rows: n, n_cols })
        } else {
            Samples::DenseF64(DenseMatrix { values: by_rows.collect(), n_rows: n, n_cols })
        };
        let feature_names = self.layout().feature_names();
        let label_column = self.columns.label.map(|label| self.columns.header.called(label));
        *table = Table { samples, labels: found_labels, label_column, feature_names, ..Table::default() };
        self.left -= n;
        self.next_row += n;
        Ok(true)
    }

    fn read_all(&mut self) -> Result<Option<Table>> {
        gather(self)
    }
}

/// Calls the decoder, which panics on some damaged files, and converts panics to errors.
fn guarded<T>(decode: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    // Nothing is used after an error: partially modified state is dropped.
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(decode))
        .unwrap_or_else(|_| Err(ParquetError::General("the decoder broke down".into())))
}

/// The decoder's error, or the system's.
fn unreadable(file: &Path, column: Option<&str>, error: ParquetError) -> IoError {
    let text = match error {
        ParquetError::External(error) => match error.downcast::<std::io::Error>() {
            Ok(source) if source.raw_os_error().is_some() => return IoError::reading(file)(*source),
            Ok(source) => source.to_string(),
            Err(error) => error.to_string(),
        },
        ParquetError::General(text) | ParquetError::EOF(text) | ParquetError::NYI(text) => text,
        other => other.to_string(),
    };
    let what = "not a whole Parquet file, or one of a kind that is not read";
    let problem = Problem::new(format!("{what}: {}", excerpt(&text))).help(REWRITE);
    match column {
        Some(_) => problem.at(file, place(None, column)),
        None => problem.of(file),
    }
}
