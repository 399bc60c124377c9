//! What a cell holds: a missing value, a number, a label or a category; and what is wrong with other cells.

use widemargin::data::{ColumnKind, Decimal, Encoded, Label, TableColumn, as_boolean};

use super::number::{Lookalike, Numbers};
use crate::error::{IMPUTE, Problem, ProblemKind, excerpt};

/// A cell without white space around it; one that is not UTF-8 as a character that no number and no name has.
pub(super) fn trimmed(cell: &[u8]) -> &str {
    std::str::from_utf8(cell.trim_ascii()).unwrap_or("\u{fffd}")
}

/// True for an empty cell and for words that denote missing values.
pub(super) fn is_missing(cell: &str) -> bool {
    ["", "na", "n/a", "nan", "null", "none", "?"].iter().any(|word| cell.eq_ignore_ascii_case(word))
}

/// A cell, unless it is missing.
pub(super) fn unless_missing(cell: &str) -> Option<&str> {
    (!is_missing(cell)).then_some(cell)
}

/// The label in a cell: the value of a number with a decimal comma or thousands separators, as in features; any other
/// label as it is spelled, such as `007` or `5%`.
pub(crate) fn label(cell: &str, numbers: Numbers) -> Result<Label, Problem> {
    // A class may be called 'none'.
    if !is_missing(cell) || cell.eq_ignore_ascii_case("none") {
        return match numbers.number(cell) {
            Some(number) if cell.contains(',') || Numbers::USUAL.number(cell) != Some(number) => {
                Ok(Label::parse(&number.to_string()))
            }
            // In the targets of a regression a decimal point would be taken for a decimal comma.
            None if numbers.lookalike(cell) == Some(Lookalike::OtherDecimal(Decimal::Point)) => {
                Err(other_decimal(cell, Decimal::Point))
            }
            _ => Ok(Label::parse(cell)),
        };
    }
    if cell.is_empty() {
        return Err(Problem::new("the label is missing").help("remove the rows without a label"));
    }
    let help = "remove the rows without a label; a class of this name needs another one, such as 'none'";
    Err(Problem::new(format!("the label is missing ('{cell}')")).help(help))
}

/// The number of a cell: of 1 and 0, true and false, yes and no, and of missing values.
pub(super) fn indicator(cell: &str, numbers: Numbers) -> Result<f64, Problem> {
    if is_missing(cell) {
        return Ok(f64::NAN);
    }
    let value = as_boolean(cell).map(|is_set| f64::from(u8::from(is_set))).or_else(|| numbers.number(cell));
    let expected = "is not an indicator: 1 if the sample has the label, 0 if not, empty if unknown";
    value.filter(|value| [0.0, 1.0].contains(value)).ok_or_else(|| format!("'{}' {expected}", excerpt(cell)).into())
}

/// The finite number of a cell in a column of features.
///
/// `cure_of_text` is the help for a cell that is text.
pub(super) fn feature(
    cell: &str,
    numbers: Numbers,
    column: usize,
    cure_of_text: impl FnOnce() -> String,
) -> Result<f64, Problem> {
    match numbers.number(cell) {
        Some(value) if value.is_finite() => Ok(value),
        _ if is_missing(cell) => Err(Problem::missing().kind(ProblemKind::NotNumeric)),
        Some(_) => Err(not_finite(cell)),
        None => {
            let not_a_number = || {
                let problem = Problem::new(format!("'{}' is not a number", excerpt(cell))).help(cure_of_text());
                problem.kind(ProblemKind::NotNumeric)
            };
            Err(unreadable(cell, numbers, column).unwrap_or_else(not_a_number))
        }
    }
}

/// The problem of an infinite number.
pub(super) fn not_finite(cell: &str) -> Problem {
    Problem::new(format!("'{}' is not a finite number", excerpt(cell))).help(IMPUTE)
}

/// Appends the features of a cell of a column that is known, and returns the remark on a category that did not occur in
/// training; `called` is the column in messages.
pub(super) fn encode(
    known: &TableColumn,
    text: Option<&str>,
    (numbers, column): (Numbers, usize),
    called: impl Fn() -> String,
    features: &mut Vec<f64>,
) -> Result<Option<String>, Problem> {
    let is_number = matches!(known.kind, ColumnKind::Number { .. });
    let cell = || excerpt(text.unwrap_or_default());
    let encoded = known.encode(text, |text| numbers.number(text), features).map_err(|expected| {
        let found = text.filter(|_| is_number).and_then(|text| match numbers.number(text) {
            Some(_) => Some(not_finite(text)),
            None => unreadable(text, numbers, column),
        });
        found.unwrap_or_else(|| format!("'{}' is not {expected}, as the column was in training", cell()).into())
    })?;
    let remark =
        || format!("column {}: '{}' did not occur in training and is treated as no category", called(), cell());
    Ok((encoded == Encoded::UnknownCategory).then(remark))
}

/// What is wrong with a cell that looks like a number, and is none of the file's.
pub(super) fn unreadable(text: &str, numbers: Numbers, column: usize) -> Option<Problem> {
    let (is, help) = match numbers.lookalike(text)? {
        found @ (Lookalike::Date | Lookalike::Time) => {
            let kind = if found == Lookalike::Date { "date" } else { "time" };
            let help = format!(
                "leave the column out with --drop {}, or replace it by numbers, such as the year, the month or the days \
                 since a date",
                column + 1
            );
            (format!("is a {kind}, not a number or a category"), help)
        }
        Lookalike::OtherDecimal(decimal) => return Some(other_decimal(text, decimal)),
        Lookalike::Ambiguous => (
            "may have a comma that separates thousands, or a decimal comma".to_owned(),
            "pass --decimal . if commas separate thousands, --decimal , if they are decimal marks".to_owned(),
        ),
        Lookalike::InParentheses => (
            "may be a negative number, or a missing value".to_owned(),
            format!(
                "write a negative number with a minus sign, leave the cell of a missing value empty, or pass --categorical {} \
                 if the cells are categories",
                column + 1
            ),
        ),
    };
    Some(Problem::new(format!("'{}' {is}", excerpt(text))).help(help).kind(ProblemKind::NotNumeric))
}

/// The problem of a number whose decimal mark is not that of the file.
fn other_decimal(text: &str, decimal: Decimal) -> Problem {
    let (one, other) = (decimal.mark(), decimal.other().mark());
    let help = format!(
        "write all numbers in one way, or pass --decimal {} if the file has {}s and {}s separate thousands",
        one.0, one.1, other.1
    );
    let text = format!("'{}' has a decimal {}; numbers are read with a decimal {} here", excerpt(text), one.1, other.1);
    Problem::new(text).help(help).kind(ProblemKind::NotNumeric)
}
