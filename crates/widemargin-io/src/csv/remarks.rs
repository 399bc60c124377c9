//! Columns that are features, and probably should not be.

use crate::tuning::MIN_DISTINCT_ROWS;
use std::collections::HashSet;

use widemargin::data::{ColumnKind, DenseMatrix, TableColumns};

use super::columns::Columns;

/// Names that hardly occur but for label columns.
const LABELS: [&str; 3] = ["label", "class", "target"];

/// Names of columns that identify samples.
const IDS: [&str; 5] = ["", "id", "index", "row", "unnamed: 0"];

/// A line for each column of features that numbers the rows, or has the name of a label. `matrix` has the features.
pub(super) fn of_features(columns: &Columns, known: Option<&TableColumns>, matrix: &DenseMatrix<f64>) -> Vec<String> {
    let (mut remarks, mut next) = (Vec::new(), 0);
    for (at, &column) in columns.features.iter().enumerate() {
        let (place, kind) = (next, known.map(|known| &known.0[at]));
        next += kind.map_or(1, |kind| kind.n_features());
        let (called, number) = (columns.header.called(column), column + 1);
        if columns.roles.label.is_some() && columns.header.is_one_of(column, &LABELS) {
            remarks.push(format!(
                "column {called} is a feature, although it is named like a label: leave it out with --drop {number}, or name the \
                 column of the labels with --label"
            ));
        }
        let are_numbers = kind.is_none_or(|kind| matches!(kind.kind, ColumnKind::Number { .. }) && !kind.has_missing);
        let has_names = columns.header.names.is_some();
        if !are_numbers || matrix.n_rows < MIN_DISTINCT_ROWS {
            continue;
        }
        let of_column = || matrix.values.iter().skip(place).step_by(matrix.n_cols).copied();
        let names_samples = has_names && columns.header.is_one_of(column, &IDS) && are_distinct(of_column());
        if counts(of_column()) || names_samples {
            remarks.push(format!(
                "column {called} numbers the rows and is a feature: pass --id {number} if it only names the samples"
            ));
        }
    }
    remarks
}

/// Whether each number is one more than the last.
fn counts(mut numbers: impl Iterator<Item = f64>) -> bool {
    let Some(first) = numbers.next().filter(|first| first.fract() == 0.0) else { return false };
    numbers.zip(1..).all(|(number, row)| number == first + f64::from(row))
}

/// Whether all numbers are whole, and each occurs once.
fn are_distinct(mut numbers: impl Iterator<Item = f64>) -> bool {
    let mut distinct = HashSet::new();
    numbers.all(|number| number.fract() == 0.0 && distinct.insert(number.to_bits()))
}
