//! Reads the values of one column.

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use widemargin::data::Label;

use crate::error::{Failure, IMPUTE, Problem, excerpt};

/// The remedy for files that cannot be decoded.
const REWRITE: &str = "copy the file again, or write it again with snappy, gzip, zstd or no compression";

/// The next cells of a column.
pub(super) struct Cells {
    pub n: usize,
    /// The number of rows before them.
    pub first_row: usize,
    /// The column in messages.
    pub called: String,
    /// Whether whole numbers are at least 0.
    pub is_unsigned: bool,
    /// Whether some may be missing.
    pub is_optional: bool,
}

impl Cells {
    fn problem(&self, row: usize, problem: Problem) -> Failure {
        problem.at(format!("row {}, {}", self.first_row + row + 1, self.called))
    }

    /// The failure of rows that are missing.
    fn end_early(&self, n_read: usize) -> Failure {
        self.problem(n_read, Problem::new("the values end here, before the row group does").help(REWRITE))
    }
}

/// The next values as features, and whether single precision represents all of them exactly.
pub(super) fn numbers(reader: &mut ColumnReader, cells: &Cells) -> Result<(Vec<f64>, bool), Failure> {
    let mut single = true;
    let values: Vec<f64> = match reader {
        ColumnReader::FloatColumnReader(reader) => read(reader, cells)?.into_iter().map(f64::from).collect(),
        ColumnReader::DoubleColumnReader(reader) => {
            single = false;
            read(reader, cells)?
        }
        reader => {
            let mut values = Vec::new();
            for (row, number) in wholes(reader, cells)?.into_iter().enumerate() {
                let value = number as f64;
                if value as i128 != number {
                    let text = format!("{number} cannot be stored exactly as a floating-point number");
                    let problem = Problem::new(text).help("if this column numbers the rows, leave it out");
                    return Err(cells.problem(row, problem));
                }
                single &= f64::from(value as f32) == value;
                values.push(value);
            }
            values
        }
    };
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok((values, single)),
        Some(row) => {
            let text = format!("{} is not a finite number", values[row]);
            Err(cells.problem(row, Problem::new(text).help(IMPUTE)))
        }
    }
}

/// The next values as labels.
pub(super) fn labels(reader: &mut ColumnReader, cells: &Cells) -> Result<Vec<Label>, Failure> {
    let of_number = |number: String| Label::parse(&number);
    Ok(match reader {
        ColumnReader::ByteArrayColumnReader(reader) => {
            let texts: Vec<ByteArray> = read(reader, cells)?;
            let label = |(row, text): (usize, &ByteArray)| match text.as_utf8().map(str::trim) {
                Ok("") => Err(cells.problem(row, Problem::missing())),
                Ok(text) => Ok(Label::parse(text)),
                Err(_) => Err(cells.problem(row, "not UTF-8 text".into())),
            };
            texts.iter().enumerate().map(label).collect::<Result<_, _>>()?
        }
        ColumnReader::FloatColumnReader(_) | ColumnReader::DoubleColumnReader(_) => {
            let (values, single) = numbers(reader, cells)?;
            // As short as the column's precision allows: 0.1, not 0.10000000149011612.
            let text = |value: f64| if single { (value as f32).to_string() } else { value.to_string() };
            values.into_iter().map(|value| of_number(text(value))).collect()
        }
        reader => wholes(reader, cells)?.into_iter().map(|value| of_number(value.to_string())).collect(),
    })
}

fn wholes(reader: &mut ColumnReader, cells: &Cells) -> Result<Vec<i128>, Failure> {
    Ok(match reader {
        ColumnReader::BoolColumnReader(reader) => read(reader, cells)?.into_iter().map(i128::from).collect(),
        // Unsigned numbers are stored as signed ones with the same bits.
        ColumnReader::Int32ColumnReader(reader) if cells.is_unsigned => {
            read(reader, cells)?.into_iter().map(|number| i128::from(number.cast_unsigned())).collect()
        }
        ColumnReader::Int64ColumnReader(reader) if cells.is_unsigned => {
            read(reader, cells)?.into_iter().map(|number| i128::from(number.cast_unsigned())).collect()
        }
        ColumnReader::Int32ColumnReader(reader) => read(reader, cells)?.into_iter().map(i128::from).collect(),
        ColumnReader::Int64ColumnReader(reader) => read(reader, cells)?.into_iter().map(i128::from).collect(),
        // The schema was checked, so there is no column of another type.
        _ => return Err(cells.end_early(0)),
    })
}

/// The next values; a null is an error.
fn read<T: DataType>(reader: &mut ColumnReaderImpl<T>, cells: &Cells) -> Result<Vec<T::T>, Failure> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let mut n_read = 0;
    while n_read < cells.n {
        let def_levels = cells.is_optional.then_some(&mut levels);
        let (records, ..) = reader.read_records(cells.n - n_read, def_levels, None, &mut values)?;
        n_read += records;
        if records == 0 {
            return Err(cells.end_early(n_read));
        }
    }
    if values.len() < cells.n {
        // In a column without nesting, a value is present if its level is 1.
        let null = levels.iter().position(|level| *level == 0).unwrap_or(values.len());
        return Err(cells.problem(null, Problem::missing()));
    }
    Ok(values)
}

impl From<ParquetError> for Failure {
    /// The decoder's error, or the system's.
    fn from(error: ParquetError) -> Self {
        let text = match error {
            ParquetError::External(error) => match error.downcast::<std::io::Error>() {
                Ok(source) if source.raw_os_error().is_some() => return (*source).into(),
                Ok(source) => source.to_string(),
                Err(error) => error.to_string(),
            },
            ParquetError::General(text) | ParquetError::EOF(text) | ParquetError::NYI(text) => text,
            other => other.to_string(),
        };
        let what = "not a whole Parquet file, or one of a kind that is not read";
        Problem::new(format!("{what}: {}", excerpt(&text))).help(REWRITE).into()
    }
}
