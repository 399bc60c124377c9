//! Tables as LIBSVM text.

use std::io::Write;

use widemargin::data::{Label, Rows};

use crate::Format;
use crate::error::Failure;
use crate::problem::excerpt;
use crate::table::Table;
use crate::write_rows::{Number, not_in};

/// Writes `label index:value …` for each sample. Zeros are omitted, except for one in the first line if no sample has a
/// value in the last column, so that the number of columns is preserved.
///
/// The output can be read back: values beyond single precision, in which this format is read, are refused.
pub(crate) fn write(table: &Table, out: &mut impl Write) -> Result<(), Failure> {
    let Some(labels) = &table.labels else {
        return Err(not_in(
            Format::Libsvm,
            "each line starts with a label, and the samples have none",
            "write .csv, .npy or .npz, which can do without",
        ));
    };
    for label in labels.classes() {
        if let Label::Text(text) = label
            && (text.is_empty() || text.chars().any(|c| c.is_whitespace() || c.is_control() || ":#".contains(c)))
        {
            return Err(not_in(
                Format::Libsvm,
                format!("the label '{}' would not be read back", excerpt(text)),
                "rename the class, or write .csv or .npz",
            ));
        }
    }
    let n_cols = table.samples.n_cols();
    if n_cols == 0 {
        return Err(not_in(Format::Libsvm, "the samples have no features", "write .csv or .npz"));
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
            return Err(not_in(
                Format::Libsvm,
                format!("row {row}, column {column} (from 0): {value:?} is beyond the single precision it is read in"),
                "rescale the column, or write .csv or .npz",
            ));
        }
    }
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
        line.push(b'\n');
        out.write_all(&line)?;
    }
    Ok(())
}
