//! Lines with a label and values, as in the UCR archive.
//!
//! The label ends at the first tab or, without a tab, at the first comma or white space; values are separated by tabs,
//! commas or white space. The archive pads shorter series with NaN: trailing missing values mark the end of a series,
//! missing values elsewhere are refused.

use crate::error::Problem;

/// The label of a line, and the cells of its only channel.
pub(super) fn split(line: &str, has_label: bool) -> Result<(Option<&str>, Vec<Vec<&str>>), Problem> {
    let parts = || match line.contains('\t') {
        true => line.split_once('\t'),
        false => line.trim_start().split_once(|c: char| c == ',' || c.is_whitespace()),
    };
    let (label, values) = match has_label {
        true => parts().map(|(label, values)| (Some(label), values)).ok_or("no values")?,
        false => (None, line),
    };
    // A cell between two tabs or commas may be empty; white space next to a separator is part of it.
    let cells = values.trim().split([',', '\t']).flat_map(|cell| {
        let mut words = cell.split_whitespace().peekable();
        let empty = words.peek().is_none().then_some("");
        words.chain(empty)
    });
    Ok((label, vec![cells.collect()]))
}
