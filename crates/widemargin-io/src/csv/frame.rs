//! The columns of a data frame become features as those of a CSV file do.

use std::borrow::Cow;
use std::collections::BTreeSet;

use widemargin::data::{ColumnKind, DenseMatrix, TableColumn, TableColumns};

use super::cell::{encode, unless_missing};
use super::number::Numbers;
use super::statistics::{Statistics, fill};
use crate::error::Problem;

/// A column of a data frame.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameColumn<'a> {
    /// Its name.
    pub name: String,
    /// Its cells, in the order of the rows.
    pub cells: FrameCells<'a>,
}

/// The cells of a column of a data frame.
#[derive(Clone, Debug, PartialEq)]
pub enum FrameCells<'a> {
    /// Numbers; NaN is a missing one.
    Numbers(&'a [f64]),
    /// Texts, read as the cells of a CSV file; `None` is a missing one.
    Texts(&'a [Option<String>]),
    /// Texts that are categories, even where they look like numbers.
    Categories(&'a [Option<String>]),
}

/// What is wrong with a column of a data frame.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("column '{column}'{}: {problem}", .row.map_or_else(String::new, |row| format!(", row {row} (from 0)")))]
pub struct FrameProblem {
    /// The name of the column.
    pub column: String,
    /// The row, if it is about one.
    pub row: Option<usize>,
    /// What is wrong.
    pub problem: Problem,
}

impl FrameColumn<'_> {
    fn n_rows(&self) -> usize {
        match &self.cells {
            FrameCells::Numbers(numbers) => numbers.len(),
            FrameCells::Texts(texts) | FrameCells::Categories(texts) => texts.len(),
        }
    }

    fn problem(&self, row: Option<usize>, problem: Problem) -> FrameProblem {
        FrameProblem { column: self.name.clone(), row, problem }
    }

    /// What the column holds in some rows; the median is still open.
    fn learn(&self, at: usize, rows: &[usize]) -> Result<TableColumn, FrameProblem> {
        let mut statistics = Statistics::new(at, matches!(self.cells, FrameCells::Categories(_)));
        for &row in rows {
            match &self.cells {
                FrameCells::Numbers(numbers) => statistics.add_number(numbers[row]),
                _ => statistics.add(self.text(row).as_deref(), row, Numbers::USUAL),
            }
        }
        statistics.column(self.name.clone(), true).map_err(|(row, problem)| self.problem(row, problem))
    }

    /// The text of a cell; none where it is missing, or a word for that.
    fn text(&self, row: usize) -> Option<Cow<'_, str>> {
        match &self.cells {
            FrameCells::Numbers(numbers) => (!numbers[row].is_nan()).then(|| numbers[row].to_string().into()),
            FrameCells::Texts(texts) | FrameCells::Categories(texts) => {
                unless_missing(texts[row].as_deref()?.trim_ascii()).map(Cow::Borrowed)
            }
        }
    }

    /// Appends the features of a cell, and returns the remark on an unknown category.
    fn encode(
        &self,
        known: &TableColumn,
        (row, at): (usize, usize),
        features: &mut Vec<f64>,
    ) -> Result<Option<String>, FrameProblem> {
        if let (FrameCells::Numbers(numbers), ColumnKind::Number { .. }) = (&self.cells, &known.kind)
            && numbers[row].is_finite()
        {
            features.push(numbers[row]);
            features.extend(known.has_missing.then_some(0.0));
            return Ok(None);
        }
        let called = || format!("'{}'", self.name);
        let remark = encode(known, self.text(row).as_deref(), (Numbers::USUAL, at), called, features);
        remark.map_err(|problem| self.problem(Some(row), problem))
    }
}

/// What the columns of a data frame hold, and the features of its rows. The columns have the same number of rows, and so
/// have the weights: weight k counts as k rows, and rows of weight 0 do not count where others have one.
///
/// # Errors
/// For dates and times, numbers among words, infinite numbers, and a column of too many categories or without a value.
pub fn learn_frame(
    frame: &[FrameColumn<'_>],
    weights: Option<&[f64]>,
) -> Result<(TableColumns, DenseMatrix<f64>), FrameProblem> {
    let n = frame.first().map_or(0, FrameColumn::n_rows);
    let mut rows: Vec<usize> = (0..n).filter(|&row| weights.is_none_or(|weights| weights[row] > 0.0)).collect();
    if rows.is_empty() {
        rows.extend(0..n);
    }
    let columns = frame.iter().enumerate().map(|(at, column)| column.learn(at, &rows));
    let mut columns = TableColumns(columns.collect::<Result<_, _>>()?);
    let (mut features, _) = encode_frame(&columns, frame)?;
    fill(&mut columns.0, &mut features.values, features.n_cols, weights);
    Ok((columns, features))
}

/// The features of the rows of a data frame with the columns that are known, in their order, and a line for each
/// category that is not.
///
/// # Errors
/// For cells of another kind than the column in training.
pub fn encode_frame(
    known: &TableColumns,
    frame: &[FrameColumn<'_>],
) -> Result<(DenseMatrix<f64>, Vec<String>), FrameProblem> {
    let (n_rows, n_cols) = (frame.first().map_or(0, FrameColumn::n_rows), known.n_features());
    let (mut values, mut unknown) = (Vec::with_capacity(n_rows * n_cols), BTreeSet::new());
    for row in 0..n_rows {
        for (at, (column, known)) in frame.iter().zip(&known.0).enumerate() {
            unknown.extend(column.encode(known, (row, at), &mut values)?);
        }
    }
    Ok((DenseMatrix { values, n_rows, n_cols }, unknown.into_iter().collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column<'a>(name: &str, cells: FrameCells<'a>) -> FrameColumn<'a> {
        FrameColumn { name: name.into(), cells }
    }

    fn texts(cells: &[&str]) -> Vec<Option<String>> {
        cells.iter().map(|cell| (!cell.is_empty()).then(|| (*cell).to_owned())).collect()
    }

    #[test]
    fn columns_of_each_kind_become_features() {
        let (t, z, w) = (texts(&["b", "a", "b"]), texts(&["10", "", "20"]), texts(&["True", "False", "True"]));
        let frame = [
            column("n", FrameCells::Numbers(&[1.0, f64::NAN, 3.0])),
            column("t", FrameCells::Texts(&t)),
            column("z", FrameCells::Categories(&z)),
            column("w", FrameCells::Texts(&w)),
        ];
        let (columns, features) = learn_frame(&frame, None).unwrap();
        let expected = [
            [1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0],
            [2.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0],
            [3.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0],
        ];
        assert_eq!((features.n_rows, features.values), (3, expected.concat()));
        let (n, t) = (texts(&["$1,050"]), texts(&["c"]));
        let later = [
            column("n", FrameCells::Texts(&n)),
            column("t", FrameCells::Texts(&t)),
            column("z", FrameCells::Numbers(&[20.0])),
            column("w", FrameCells::Numbers(&[1.0])),
        ];
        let (features, unknown) = encode_frame(&columns, &later).unwrap();
        assert_eq!(features.values, [1050.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0]);
        assert_eq!(unknown, ["column 't': 'c' did not occur in training and is treated as no category"]);
    }

    #[test]
    fn weights_are_copies_of_rows() {
        let numbers = [4.0, f64::NAN, 1.0, 7.0, 100.0];
        let words = texts(&["a", "b", "b", "c", "z"]);
        let weights = [2.0, 1.0, 1.0, 3.0, 0.0];
        let rows = [0, 0, 1, 2, 3, 3, 3];
        let (copied, copied_words): (Vec<f64>, Vec<Option<String>>) =
            rows.iter().map(|&row| (numbers[row], words[row].clone())).unzip();
        let learned = |numbers: &[f64], words: &[Option<String>], weights: Option<&[f64]>| {
            let frame = [column("n", FrameCells::Numbers(numbers)), column("w", FrameCells::Texts(words))];
            learn_frame(&frame, weights).unwrap().0
        };
        let expected = learned(&copied, &copied_words, None);
        assert_eq!(learned(&numbers, &words, Some(&weights)), expected);
        assert_eq!(expected.0[0].kind, ColumnKind::Number { median: 5.5 });
    }

    #[test]
    fn rejects_what_is_no_feature() {
        for (cells, message) in [
            (FrameCells::Texts(&texts(&["2024-01-31"])), "column 'x', row 0 (from 0): '2024-01-31' is a date"),
            (FrameCells::Texts(&texts(&["1", "2", "red"])), "column 'x', row 2 (from 0): 'red' is not a number"),
            (FrameCells::Numbers(&[f64::NAN]), "column 'x': no value in any row"),
            (FrameCells::Numbers(&[1.0, f64::INFINITY]), "column 'x', row 1 (from 0): 'inf' is not a finite number"),
        ] {
            let found = learn_frame(&[column("x", cells)], None).unwrap_err().to_string();
            assert!(found.starts_with(message), "{found}");
        }
    }
}
