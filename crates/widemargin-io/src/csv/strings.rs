//! Labeled strings, one per line.
//!
//! If there is a header, columns are identified by name: [`ReadOptions::text`] selects the strings, and [`LabelColumn`]
//! the labels. If several columns qualify, the caller must choose. A file of one column has no labels. By default, the
//! first line is a header if it contains a name of a label or string column, or a name from the options.
//!
//! Columns are separated by tabs, without quoting; tabs beyond those of the first line belong to the last column, so
//! that strings may contain them. In a file named `.csv` the separator is a comma, and cells may be quoted.

use std::path::Path;

use super::cell::trimmed;
use super::columns::has_known_name;
use super::header::{Header, LABEL_NAMES, is_one_of};
use super::read::Reader;
use super::records::Records;
use super::roles::Roles;
use crate::error::{Failure, Problem};
use crate::options::{LabelColumn, ReadOptions};

/// Names of a string column.
const STRING_NAMES: [&str; 6] = ["text", "string", "sequence", "smiles", "sentence", "message"];

/// Names of a string column that are used only if no other qualifies, since they may be names of the samples.
const WEAK_NAMES: [&str; 2] = ["word", "name"];

/// Opens a file of strings.
pub(crate) fn open_strings(path: &Path, options: &ReadOptions) -> Result<Reader, Failure> {
    let name = path.to_string_lossy().to_ascii_lowercase();
    let quoted = name.trim_end_matches(".gz").ends_with(".csv");
    let usual = if quoted { b',' } else { b'\t' };
    // Tabs are part of strings without quotes, as anything else is.
    let fixed = ReadOptions { delimiter: options.delimiter.or((!quoted).then_some(usual)), ..options.clone() };
    let mut records = Records::open(path, usual, quoted, &fixed)?;
    let (first, others) = records.first();
    let names = [&LABEL_NAMES[..], &STRING_NAMES, &WEAK_NAMES].concat();
    let has_names = || has_known_name(first, options) || first.iter().any(|cell| is_one_of(trimmed(cell), &names));
    let has_header = options.header.unwrap_or_else(has_names);
    let name = |cell: &[u8]| String::from_utf8_lossy(cell.trim_ascii()).into_owned();
    let header = Header { names: has_header.then(|| first.iter().map(name).collect()), n: records.n };
    let sample = if has_header { others.first().copied() } else { Some(first) };
    let is_number = |at: &usize| sample.and_then(|row| records.numbers.number(trimmed(row.get(*at)?))).is_some();
    let roles = roles(&header, is_number, options)?;
    if has_header {
        records.skip_header();
    }
    Ok(Reader::without_features(records, header, roles))
}

/// The label column and that of the strings. `is_number` tells whether a column of the first sample has a number.
fn roles(header: &Header, is_number: impl Fn(&usize) -> bool, options: &ReadOptions) -> Result<Roles, Problem> {
    let specified = header.label(&options.label)?;
    let label = specified.or_else(|| header.label_by_name().filter(|_| options.label == LabelColumn::Auto));
    let text = match &options.text {
        LabelColumn::Auto => guess_text(header, label, is_number, options)?,
        text => header.find(text).map_err(|reason| text.refused_as_text(&reason))?,
    };
    if specified == Some(text) {
        return Err(options.text.refused_as_text("it is the column of the labels"));
    }
    // A column with the name of a label may be requested as the string column.
    let mut label = label.filter(|label| *label != text);
    if options.label == LabelColumn::Auto && label.is_none() {
        let others: Vec<usize> = (0..header.n).filter(|column| *column != text).collect();
        label = only(header, "labels", &others)?;
    }
    Ok(Roles { label, text: Some(text), ..Roles::default() })
}

/// The only column that can contain the strings.
fn guess_text(
    header: &Header,
    label: Option<usize>,
    is_number: impl Fn(&usize) -> bool,
    options: &ReadOptions,
) -> Result<usize, Problem> {
    let mut candidates: Vec<usize> = (0..header.n).filter(|column| Some(*column) != label).collect();
    let is_label = |column: &usize| header.is_one_of(*column, &LABEL_NAMES);
    if candidates.iter().any(|column| !is_label(column)) {
        candidates.retain(|column| !is_label(column));
    }
    for names in [&STRING_NAMES[..], &WEAK_NAMES] {
        let has_name = |column: &usize| header.is_one_of(*column, names);
        let named: Vec<usize> = candidates.iter().copied().filter(has_name).collect();
        if let Some(only) = only(header, "strings", &named)? {
            return Ok(only);
        }
    }
    // The traditional layout: a label and a string.
    if let (Some(&last), None, 2) = (candidates.last(), &header.names, header.n) {
        return Ok(last);
    }
    if !candidates.iter().all(&is_number) {
        candidates.retain(|column| !is_number(column));
    }
    let only = only(header, "strings", &candidates)?;
    only.ok_or_else(|| options.label.refused("it is the only column, and the strings need one"))
}

/// The only one of some columns that may hold something.
fn only(header: &Header, what: &str, candidates: &[usize]) -> Result<Option<usize>, Problem> {
    if candidates.len() < 2 {
        return Ok(candidates.first().copied());
    }
    let candidates: Vec<String> = candidates.iter().map(|column| header.called(*column)).collect();
    let help = match what {
        "labels" => "name the label column with --label; --label none if there is none",
        _ => "name the column of strings with --format strings:COLUMN",
    };
    let text = format!("several columns may hold the {what}: {}", candidates.join(", "));
    Err(Problem::new(text).help(help))
}
