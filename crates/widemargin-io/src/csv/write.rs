//! Tables as CSV.

use std::io::{self, Write};

use crate::error::Failure;
use crate::table::Table;
use crate::write_rows::{Number, for_each_row};

/// Writes a header and one sample per line, with one column per feature and the label last.
///
/// Unnamed features are called x1, x2, …: a header is always written, so that the label column is identified, or its
/// absence.
pub(crate) fn write(table: &Table, delimiter: u8, out: &mut impl Write) -> Result<(), Failure> {
    let mut csv = csv::WriterBuilder::new().delimiter(delimiter).from_writer(out);
    for column in 0..table.samples.n_cols() {
        match &table.feature_names {
            Some(names) => csv.write_field(&names[column]),
            None => csv.write_field(format!("x{}", column + 1)),
        }
        .map_err(broken)?;
    }
    if table.labels.is_some() {
        csv.write_field("label").map_err(broken)?;
    }
    csv.write_record(None::<&[u8]>).map_err(broken)?;
    let (single, mut cell) = (table.samples.is_single(), Vec::new());
    for_each_row(&table.samples, |row, values| {
        for &value in values {
            cell.clear();
            write!(cell, "{}", Number { value, single })?;
            csv.write_field(&cell).map_err(broken)?;
        }
        if let Some(labels) = &table.labels {
            csv.write_field(labels.get(row).to_string()).map_err(broken)?;
        }
        csv.write_record(None::<&[u8]>).map_err(broken)
    })?;
    Ok(csv.flush()?)
}

fn broken(error: csv::Error) -> Failure {
    match error.into_kind() {
        csv::ErrorKind::Io(source) => source.into(),
        kind => io::Error::other(format!("{kind:?}")).into(),
    }
}
