//! Tables as LIBSVM text.

use std::borrow::Cow;
use std::io::Write;

use widemargin::data::{Label, Labels, Rows};

use crate::error::{Failure, Problem, excerpt};
use crate::indicators::Indicators;
use crate::table::Table;
use crate::text_input::AHEAD;
use crate::write_rows::Number;

/// Writes `label index:value …` for each sample; the labels of a multilabel sample are separated by commas. Zeros are
/// omitted, except for one in the first line if no sample has a value in the last column, so that the number of columns
/// is preserved, and for one in a line that would be empty.
///
/// The output can be read back: values beyond single precision, in which this format is read, are refused.
pub(crate) fn write(table: &Table, out: &mut impl Write) -> Result<(), Failure> {
    let labels = match (&table.labels, &table.indicators) {
        (Some(labels), _) => {
            labels.classes().iter().try_for_each(check_class)?;
            Cow::Borrowed(labels)
        }
        (None, Some(indicators)) => Cow::Owned(sets(indicators)?),
        (None, None) => {
            let problem = Problem::new("each line starts with a label, and the samples have none");
            return Err(problem.help("write .csv, .npy or .npz, which can do without").into());
        }
    };
    let n_cols = table.samples.n_cols();
    if n_cols == 0 {
        return Err(Problem::new("the samples have no features").help("write .csv or .npz").into());
    }
    let single = table.samples.is_single();
    let mut line = Vec::new();
    let view = table.samples.view()?.rows("the format")?;
    let mut last_is_empty = true;
    for row in 0..view.n_rows() {
        let mut beyond = None;
        view.for_each_nonzero(row, |column, value| {
            last_is_empty &= column + 1 < n_cols;
            if !(value as f32).is_finite() {
                beyond.get_or_insert((column, value));
            }
        });
        if let Some((column, value)) = beyond {
            let place = format!("row {}, column {}", row + 1, column + 1);
            let problem = Problem::new(format!("{place}: {value:?} is beyond the single precision it is read in"));
            return Err(problem.help("rescale the column, or write .csv or .npz").into());
        }
    }
    let (mut n_bytes, mut has_list) = (0, false);
    for row in 0..view.n_rows() {
        line.clear();
        write!(line, "{}", labels.get(row))?;
        // Writing to a vector cannot fail.
        view.for_each_nonzero(row, |column, value| {
            let _ = write!(line, " {}:{}", column + 1, Number { value, single });
        });
        if row == 0 && last_is_empty {
            write!(line, " {n_cols}:0")?;
        }
        if line.is_empty() {
            line.extend(b"1:0");
        }
        line.push(b'\n');
        n_bytes += line.len();
        // The start of the text tells whether the labels are lists.
        if table.labels.is_none() && !has_list && n_bytes > AHEAD {
            return Err(no_list().into());
        }
        has_list |= is_list(labels.get(row));
        out.write_all(&line)?;
    }
    Ok(())
}

/// Refuses a class that would not be read back.
fn check_class(class: &Label) -> Result<(), Problem> {
    let Label::Text(text) = class else { return Ok(()) };
    let is_separator = |c: char| c.is_whitespace() || c.is_control() || ":#".contains(c);
    if text.is_empty() || is_list(class) || text.contains(is_separator) {
        let reason = format!("the label '{}' would not be read back", excerpt(text));
        return Err(Problem::new(reason).help("rename the class, or write .csv or .npz"));
    }
    Ok(())
}

/// Whether a label would be read as several: whole numbers with commas between.
fn is_list(label: &Label) -> bool {
    matches!(label, Label::Text(text) if text.contains(',') && text.split(',').all(|part| part.parse::<i64>().is_ok()))
}

/// The labels of each sample with commas between.
fn sets(indicators: &Indicators) -> Result<Labels, Problem> {
    let names: Vec<String> = indicators.names.iter().map(Label::to_string).collect();
    let rows = || (0..indicators.n_samples()).map(|row| indicators.of(row));
    let reason = match names.iter().position(|name| name.parse::<i64>().is_err()) {
        Some(at) => Some(format!("multilabel targets need whole numbers as labels, not '{}'", excerpt(&names[at]))),
        None if rows().flatten().any(|value| value.is_nan()) => Some("some samples may have a label or not".to_owned()),
        None => {
            let is_empty = |at: &usize| rows().all(|row| row[*at] == 0.0);
            (0..names.len()).find(is_empty).map(|at| format!("no sample has the label '{}'", names[at]))
        }
    };
    if let Some(reason) = reason {
        return Err(Problem::new(reason).help("write .csv, which has a column for each label"));
    }
    let set = |row: &[f64]| {
        let own = names.iter().zip(row).filter(|(_, has)| **has == 1.0);
        own.map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(",")
    };
    let labels = Labels::new(rows().map(set));
    if labels.classes().iter().any(is_list) { Ok(labels) } else { Err(no_list()) }
}

/// The problem of multilabel samples that would be read as classes.
fn no_list() -> Problem {
    let reason = "none of the first samples has two labels, so that the labels would be read as classes";
    Problem::new(reason).help("put a sample with two labels first, or write .csv")
}
