//! Lines with a label and values, as in the UCR archive.
//!
//! The label ends at the first tab or, without a tab, at the first comma or white space; values are separated by tabs,
//! commas or white space. The archive pads shorter series with NaN: trailing missing values mark the end of a series,
//! missing values elsewhere are refused.

use super::values::{ReadSeries, label};
use crate::error::Problem;

/// Reads a series.
pub(super) fn read_line(mut line: &str, labeled: bool, series: &mut ReadSeries) -> Result<(), Problem> {
    if labeled {
        let parts = match line.contains('\t') {
            true => line.split_once('\t'),
            false => line.trim_start().split_once(|c: char| c == ',' || c.is_whitespace()),
        };
        let (first, values) = parts.ok_or("no values")?;
        series.labels.push(label(first)?);
        line = values;
    }
    // A cell between two tabs or commas may be empty; white space next to a separator is part of it.
    let cells = line.trim().split([',', '\t']).flat_map(|cell| {
        let mut words = cell.split_whitespace().peekable();
        let empty = words.peek().is_none().then_some("");
        words.chain(empty)
    });
    series.push(&[cells.collect()])
}
