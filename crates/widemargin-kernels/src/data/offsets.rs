//! Offsets of columns far from 0, such as map coordinates and times, subtracted before the conversion to single
//! precision.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Rows;
use crate::error::{Error, Result};
use crate::tuning::{CONSTANT_SPREAD, MAX_OFFSET};

/// The offset of each column.
#[doc(hidden)]
pub type Offsets = Arc<[f64]>;

/// The offsets of dense rows, of those of weight above 0: the middle of a column that is far from 0 and loses digits in
/// single precision, and 0 of others. `None` if there are no such columns, and for sparse rows.
#[doc(hidden)]
pub fn offsets_of(rows: &impl Rows, weights: &[f64]) -> Option<Offsets> {
    if rows.is_sparse() {
        return None;
    }
    let mut ranges = ColumnRanges::new(rows.n_cols());
    ranges.add(rows, weights);
    ranges.offsets()
}

/// Refuses sparse rows with a column that would need an offset: without its zeros it would not be sparse.
///
/// # Errors
/// [`Error::Shape`], with the first such column.
pub(crate) fn check_sparse(rows: &impl Rows, weights: &[f64]) -> Result<()> {
    let present: Vec<usize> = (0..rows.n_rows()).filter(|&row| weights[row] > 0.0).collect();
    let (Some(&first), true) = (present.first(), rows.is_sparse()) else { return Ok(()) };
    // Such a column is 0 in no row.
    let mut ranges: BTreeMap<usize, Range> = BTreeMap::new();
    rows.for_each_nonzero(first, |column, _| {
        ranges.insert(column, Range::default());
    });
    for &row in &present {
        rows.for_each_nonzero(row, |column, x| {
            if let Some(range) = ranges.get_mut(&column) {
                range.add(x);
            }
        });
    }
    match ranges.iter().find(|(_, range)| range.offset(present.len()) != 0.0) {
        Some((column, _)) => {
            let found =
                format!("a sparse column {column} so far from 0 for its range that single precision loses digits");
            Err(Error::shape("samples", found, "differences from its mean, or dense rows"))
        }
        None => Ok(()),
    }
}

/// The ranges of columns, from which their offsets follow; rows may come in pieces.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct ColumnRanges {
    columns: Vec<Range>,
    n_rows: usize,
}

impl ColumnRanges {
    /// Of no rows yet.
    pub fn new(n_cols: usize) -> Self {
        ColumnRanges { columns: vec![Range::default(); n_cols], n_rows: 0 }
    }

    /// Adds those rows that have a weight above 0.
    pub fn add(&mut self, rows: &impl Rows, weights: &[f64]) {
        for row in (0..rows.n_rows()).filter(|&row| weights[row] > 0.0) {
            self.n_rows += 1;
            rows.for_each_nonzero(row, |column, x| self.columns[column].add(x));
        }
    }

    /// As [`offsets_of`] all these rows.
    pub fn offsets(&self) -> Option<Offsets> {
        let offsets: Vec<f64> = self.columns.iter().map(|column| column.offset(self.n_rows)).collect();
        offsets.iter().any(|offset| *offset != 0.0).then(|| offsets.into())
    }
}

/// The numbers of a column that are not 0.
#[derive(Clone, Copy, Debug)]
struct Range {
    least: f64,
    most: f64,
    n: usize,
    is_rounded: bool,
}

impl Default for Range {
    fn default() -> Self {
        Range { least: f64::INFINITY, most: f64::NEG_INFINITY, n: 0, is_rounded: false }
    }
}

impl Range {
    fn add(&mut self, x: f64) {
        (self.least, self.most, self.n) = (self.least.min(x), self.most.max(x), self.n + 1);
        self.is_rounded |= f64::from(x as f32) != x;
    }

    fn offset(&self, n_rows: usize) -> f64 {
        let (width, size) = (self.most - self.least, self.most.abs().max(self.least.abs()));
        let is_far = self.n == n_rows
            && size > MAX_OFFSET * width
            && width > CONSTANT_SPREAD * size
            && size < f64::from(f32::MAX);
        if is_far && self.is_rounded { self.least + 0.5 * width } else { 0.0 }
    }
}
