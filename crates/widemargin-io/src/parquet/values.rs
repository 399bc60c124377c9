//! Reads the values of one column.

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use widemargin::data::Label;

use super::columns::Kind;
use crate::problem::{IMPUTE, Problem};

/// The remedy for files that cannot be decoded.
pub(super) const REWRITE: &str = "copy the file again, or write it again with snappy, gzip, zstd or no compression";

/// Why values were not read; the row is relative to the requested ones.
#[derive(Debug)]
pub(super) enum Failure {
    Parquet(ParquetError),
    Row(usize, Problem),
}

/// The error for missing rows.
fn missing(read: usize) -> Failure {
    let problem = Problem::new("the values end here, before the row group does");
    Failure::Row(read, problem.help(REWRITE))
}

/// The next `n` values as features, and whether single precision represents all of them exactly.
pub(super) fn numbers(
    reader: &mut ColumnReader,
    kind: Kind,
    n: usize,
    optional: bool,
) -> Result<(Vec<f64>, bool), Failure> {
    let mut single = kind != Kind::Double;
    let values: Vec<f64> = match reader {
        ColumnReader::FloatColumnReader(reader) => read(reader, n, optional)?.into_iter().map(f64::from).collect(),
        ColumnReader::DoubleColumnReader(reader) => read(reader, n, optional)?,
        reader => {
            let mut values = Vec::new();
            for (row, number) in wholes(reader, kind, n, optional)?.into_iter().enumerate() {
                let value = number as f64;
                if value as i128 != number {
                    let text = format!("{number} cannot be stored exactly as a floating-point number");
                    let problem = Problem::new(text).help("if this column numbers the rows, leave it out");
                    return Err(Failure::Row(row, problem));
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
            Err(Failure::Row(row, Problem::new(text).help(IMPUTE)))
        }
    }
}

/// The next `n` values as labels.
pub(super) fn labels(reader: &mut ColumnReader, kind: Kind, n: usize, optional: bool) -> Result<Vec<Label>, Failure> {
    let of_number = |number: String| Label::parse(&number);
    Ok(match reader {
        ColumnReader::ByteArrayColumnReader(reader) => {
            let texts: Vec<ByteArray> = read(reader, n, optional)?;
            let label = |(row, text): (usize, &ByteArray)| match text.as_utf8().map(str::trim) {
                Ok("") => Err(Failure::Row(row, Problem::missing())),
                Ok(text) => Ok(Label::parse(text)),
                Err(_) => Err(Failure::Row(row, "not UTF-8 text".into())),
            };
            texts.iter().enumerate().map(label).collect::<Result<_, _>>()?
        }
        ColumnReader::FloatColumnReader(_) | ColumnReader::DoubleColumnReader(_) => {
            let (values, single) = numbers(reader, kind, n, optional)?;
            // As short as the column's precision allows: 0.1, not 0.10000000149011612.
            let text = |value: f64| if single { (value as f32).to_string() } else { value.to_string() };
            values.into_iter().map(|value| of_number(text(value))).collect()
        }
        reader => wholes(reader, kind, n, optional)?.into_iter().map(|value| of_number(value.to_string())).collect(),
    })
}

fn wholes(reader: &mut ColumnReader, kind: Kind, n: usize, optional: bool) -> Result<Vec<i128>, Failure> {
    let signed = kind != Kind::Whole { signed: false };
    Ok(match reader {
        ColumnReader::BoolColumnReader(reader) => read(reader, n, optional)?.into_iter().map(i128::from).collect(),
        // Unsigned numbers are stored as signed ones with the same bits.
        ColumnReader::Int32ColumnReader(reader) => {
            let number = |number: i32| if signed { i128::from(number) } else { i128::from(number.cast_unsigned()) };
            read(reader, n, optional)?.into_iter().map(number).collect()
        }
        ColumnReader::Int64ColumnReader(reader) => {
            let number = |number: i64| if signed { i128::from(number) } else { i128::from(number.cast_unsigned()) };
            read(reader, n, optional)?.into_iter().map(number).collect()
        }
        // The schema was checked, so there is no column of another type.
        _ => return Err(missing(0)),
    })
}

/// The next `n` values; a null is an error.
fn read<T: DataType>(reader: &mut ColumnReaderImpl<T>, n: usize, optional: bool) -> Result<Vec<T::T>, Failure> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let mut n_read = 0;
    while n_read < n {
        let def_levels = optional.then_some(&mut levels);
        let (records, ..) = reader.read_records(n - n_read, def_levels, None, &mut values).map_err(Failure::Parquet)?;
        n_read += records;
        if records == 0 {
            return Err(missing(n_read));
        }
    }
    if values.len() < n {
        // In a column without nesting, a value is present if its level is 1.
        let null = levels.iter().position(|level| *level == 0).unwrap_or(values.len());
        return Err(Failure::Row(null, Problem::missing()));
    }
    Ok(values)
}
