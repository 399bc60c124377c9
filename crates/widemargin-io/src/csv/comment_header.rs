//! A comment right above a table may have the names of its columns, as NumPy writes them.

use csv::ByteRecord;

use super::columns::{first_cells, has_known_name};
use super::delimiter::{is_comment, without_sign};
use super::first_line::{self, FirstLine};
use super::header::{LABEL_NAMES, is_one_of};
use super::records::Records;
use crate::error::{Failure, Problem};
use crate::options::ReadOptions;

/// Skips the comment above the table unless it has the names of the columns.
///
/// # Errors
/// For one that could be either.
pub(super) fn settle(records: &mut Records, options: &ReadOptions) -> Result<(), Failure> {
    if is_comment(records.first().0) && !has_names(records, options)? {
        records.skip_comment();
    } else {
        records.uncomment();
    }
    Ok(())
}

fn has_names(records: &Records, options: &ReadOptions) -> Result<bool, Failure> {
    let (comment, rows) = records.first();
    let [first, others @ ..] = &rows[..] else { return Ok(true) };
    let is_header = |line: &ByteRecord, others: &[&ByteRecord]| {
        has_known_name(line, options) || first_line::of(line, others, records.numbers) == FirstLine::Names
    };
    if options.header == Some(false) || is_header(first, others) {
        return Ok(false);
    }
    let names = without_sign(comment);
    let is_known = has_known_name(comment, options) || has_known_name(&names, options);
    if options.header == Some(true) || is_known || names.iter().any(|cell| is_one_of(cell, &LABEL_NAMES)) {
        return Ok(true);
    }
    // A model knows the names that its tables have. A row that is left out has numbers, and values of other rows.
    let has_number = || names.iter().any(|cell| records.numbers.number(cell.trim_ascii()).is_some());
    if options.trained.is_some() || has_number() || first_line::of(&names, &rows, records.numbers) == FirstLine::Sample
    {
        return Ok(false);
    }
    if names.iter().all(|cell| !cell.trim_ascii().contains(&b' ')) {
        return Ok(true);
    }
    let text = format!("{} could be the names of the columns, or a comment", first_cells(comment));
    let help = "pass --header yes if they are names, --header no if the line is a comment";
    Err(records.first_problem(Problem::new(text).help(help)))
}
