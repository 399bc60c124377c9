//! Interpretation of the columns of a table: header and label.

use csv::ByteRecord;

use super::header::{Header, LABEL_NAMES, is_one_of};
use super::records::Records;
use crate::error::{IoError, Result};
use crate::options::{LabelColumn, ReadOptions};

/// The columns of a file.
#[derive(Debug)]
pub(crate) struct Columns {
    pub header: Header,
    /// The label column.
    pub label: Option<usize>,
    /// Whether the caller specified the label column, or that there is none.
    pub is_label_given: bool,
}

impl Columns {
    /// Determines the columns from the first two lines.
    pub fn tell(records: &Records, options: &ReadOptions) -> Result<Columns> {
        let (first, second) = records.first();
        let names = if options.header.unwrap_or_else(|| is_header(first, second)) {
            let name = |cell: &[u8]| String::from_utf8(cell.trim_ascii().to_vec());
            let names = first.iter().map(name).collect::<Result<Vec<_>, _>>();
            Some(names.map_err(|_| records.header_problem())?)
        } else {
            None
        };
        let header = Header { names, n: records.n };
        let label = match options.label {
            LabelColumn::Auto => guess_label(&header, if header.names.is_some() { second } else { Some(first) }),
            _ => header.label(&records.file, &options.label)?,
        };
        if header.n == usize::from(label.is_some()) {
            return Err(IoError::Empty {
                file: records.file.clone(),
                what: "no feature columns: the only column is the label (is it separated by commas, or by tabs as .tsv?)",
            });
        }
        Ok(Columns { header, label, is_label_given: options.label != LabelColumn::Auto })
    }
}

/// True for an empty cell and for words that denote missing values.
pub(crate) fn is_missing(cell: &[u8]) -> bool {
    ["", "na", "n/a", "nan", "null", "none", "?"].iter().any(|word| cell.eq_ignore_ascii_case(word.as_bytes()))
}

/// The number in a cell, however large.
pub(crate) fn number(cell: &[u8]) -> Option<f64> {
    std::str::from_utf8(cell).ok()?.parse().ok()
}

/// A header names a label column, or has text above a number.
fn is_header(first: &ByteRecord, second: Option<&ByteRecord>) -> bool {
    let named = first.iter().any(|cell| is_one_of(cell, &LABEL_NAMES));
    let above = |(above, below): (&[u8], &[u8])| {
        let above = above.trim_ascii();
        !is_missing(above) && number(above).is_none() && number(below.trim_ascii()).is_some()
    };
    named || second.is_some_and(|second| first.iter().zip(second).any(above))
}

fn guess_label(header: &Header, sample: Option<&ByteRecord>) -> Option<usize> {
    if let Some(named) = header.last_of(&LABEL_NAMES) {
        return Some(named);
    }
    let is_text = |cell: &[u8]| !is_missing(cell.trim_ascii()) && number(cell.trim_ascii()).is_none();
    let mut texts = sample?.iter().enumerate().filter(|(_, cell)| is_text(cell)).map(|(column, _)| column);
    match (texts.next(), texts.next()) {
        (Some(only), None) => Some(only),
        _ => header.names.is_none().then_some(0),
    }
}
