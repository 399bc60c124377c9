//! Reads a Parquet file in blocks.

use parquet::basic::ConvertedType::{UINT_8, UINT_16, UINT_32, UINT_64};
use parquet::column::reader::ColumnReader;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use rayon::prelude::*;
use widemargin::data::{DenseMatrix, Label, Labels};

use super::columns::columns;
use super::file::PositionedFile;
use super::values::{Cells, labels, numbers};
use crate::csv::Header;
use crate::error::{Failure, Problem};
use crate::input::Input;
use crate::options::{BLOCK_BYTES, ReadOptions};
use crate::reader::{Layout, SampleReader};
use crate::table::{Samples, Table};

/// Reads tables of consecutive rows. The columns of a block are decoded in parallel.
pub(crate) struct Reader {
    source: SerializedFileReader<PositionedFile>,
    header: Header,
    label: Option<usize>,
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
    pub fn new(input: Input, options: &ReadOptions) -> Result<Reader, Failure> {
        let Some(file) = input.into_file() else {
            return Err(Problem::new("Parquet is read from regular files that are not compressed as a whole").into());
        };
        let file = PositionedFile::new(file)?;
        let source = guarded(|| Ok(SerializedFileReader::new(file)?))?;
        let (header, label) = columns(source.metadata().file_metadata().schema_descr(), options)?;
        Ok(Reader { source, header, label, next_row: 0, next_group: 0, group: Vec::new(), left: 0 })
    }

    /// False after the last row group.
    fn open_group(&mut self) -> Result<bool, Failure> {
        if self.next_group >= self.source.num_row_groups() {
            return Ok(false);
        }
        let (readers, n_rows) = guarded(|| {
            let group = self.source.get_row_group(self.next_group)?;
            let readers = (0..self.header.n).map(|column| group.get_column_reader(column));
            Ok((readers.collect::<Result<Vec<_>, _>>()?, group.metadata().num_rows()))
        })?;
        self.group = readers;
        self.left = usize::try_from(n_rows).unwrap_or(0);
        self.next_group += 1;
        Ok(true)
    }
}

impl SampleReader for Reader {
    fn layout(&self) -> Layout {
        let names = self.header.names.clone();
        Layout { n: Some(self.header.n), label: self.label, names, ..Layout::default() }
    }

    fn next(&mut self, bytes: usize, spent: Table) -> Result<Option<Table>, Failure> {
        drop(spent);
        while self.left == 0 {
            if !self.open_group()? {
                return Ok(None);
            }
        }
        let n = (bytes.min(BLOCK_BYTES) / (8 * self.header.n)).max(1).min(self.left);
        let (header, schema) = (&self.header, self.source.metadata().file_metadata().schema_descr());
        let read = |(column, reader): (usize, &mut ColumnReader)| {
            let (called, descr) = (format!("column {}", header.called(column)), schema.column(column));
            let is_unsigned = matches!(descr.converted_type(), UINT_8 | UINT_16 | UINT_32 | UINT_64);
            let is_optional = descr.max_def_level() > 0;
            let cells = Cells { n, first_row: self.next_row, called, is_unsigned, is_optional };
            guarded(|| match self.label == Some(column) {
                true => labels(reader, &cells).map(Read::Labels),
                false => numbers(reader, &cells).map(|(values, single)| Read::Feature(values, single)),
            })
            .map_err(|failure| match failure {
                Failure::Input(None, problem) => problem.at(&cells.called),
                failure => failure,
            })
        };
        let read: Vec<_> = self.group.par_iter_mut().enumerate().map(read).collect();
        let mut features = Vec::with_capacity(header.n);
        let (mut found_labels, mut single) = (None, true);
        for read in read {
            match read? {
                Read::Labels(labels) => found_labels = Some(Labels::new(labels)),
                Read::Feature(values, is_single) => {
                    features.push(values);
                    single &= is_single;
                }
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
        let label_column = self.label.map(|label| header.called(label));
        self.left -= n;
        self.next_row += n;
        Ok(Some(Table { label_column, feature_names, ..Table::new(samples, found_labels) }))
    }
}

/// Calls the decoder, which panics on some damaged files, and converts panics to errors.
fn guarded<T>(decode: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    // Nothing is used after an error: partially modified state is dropped.
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(decode))
        .unwrap_or_else(|_| Err(ParquetError::General("the decoder broke down".into()).into()))
}
