//! Cells that are missing, and the text of those that are not.

use crate::problem::CsvProblem;

/// True for an empty cell and for words that denote missing values.
pub(crate) fn is_missing(cell: &[u8]) -> bool {
    ["", "na", "n/a", "nan", "null", "none", "?"].iter().any(|word| cell.eq_ignore_ascii_case(word.as_bytes()))
}

/// The text of a cell; none where it is missing.
pub(crate) fn text_of(cell: &[u8]) -> Result<Option<&str>, CsvProblem> {
    if is_missing(cell) {
        return Ok(None);
    }
    std::str::from_utf8(cell).map(Some).map_err(|_| CsvProblem::NotText)
}
