//! Dense rows.

use super::{Element, Rows};
use crate::error::{Error, Result};
use crate::memory::prefetch;

/// Rows are selected in any order; the row this many positions ahead is prefetched.
pub(super) const AHEAD: usize = 4;

/// A borrowed row-major matrix of samples × features.
#[derive(Clone, Copy, Debug)]
pub struct DenseView<'a, T> {
    values: &'a [T],
    n_rows: usize,
    n_cols: usize,
}

impl<'a, T: Element> DenseView<'a, T> {
    /// A view of `values`, `n_rows` rows of `n_cols` numbers each.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `values.len() == n_rows * n_cols`.
    pub fn new(values: &'a [T], n_rows: usize, n_cols: usize) -> Result<Self> {
        if n_rows.checked_mul(n_cols) != Some(values.len()) {
            let expected = format!("{n_rows} rows × {n_cols} columns");
            return Err(Error::shape("dense samples", format!("{} values", values.len()), expected));
        }
        Ok(DenseView { values, n_rows, n_cols })
    }

    /// One row, `n_cols` numbers.
    pub fn row(&self, row: usize) -> &'a [T] {
        &self.values[row * self.n_cols..(row + 1) * self.n_cols]
    }

    /// All values, row by row.
    pub fn values(&self) -> &'a [T] {
        self.values
    }
}

impl<T: Element> Rows for DenseView<'_, T> {
    fn n_rows(&self) -> usize {
        self.n_rows
    }

    fn n_cols(&self) -> usize {
        self.n_cols
    }

    #[inline]
    fn for_each_nonzero(&self, row: usize, mut visit: impl FnMut(usize, f64)) {
        for (column, &value) in self.row(row).iter().enumerate() {
            let value: f64 = value.into();
            if value != 0.0 {
                visit(column, value);
            }
        }
    }

    fn prefetch(&self, row: usize) {
        prefetch(self.row(row));
    }
}

/// An owned row-major matrix, for callers without an array type.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DenseMatrix<T> {
    /// The numbers, row by row.
    pub values: Vec<T>,
    /// Number of samples.
    pub n_rows: usize,
    /// Number of features.
    pub n_cols: usize,
}

impl<T: Element> DenseMatrix<T> {
    /// One row.
    pub fn row(&self, row: usize) -> &[T] {
        &self.values[row * self.n_cols..(row + 1) * self.n_cols]
    }

    /// A copy of these rows, in this order.
    #[doc(hidden)]
    pub fn select(&self, rows: &[usize]) -> Self {
        let mut values = Vec::with_capacity(rows.len() * self.n_cols);
        for (at, &row) in rows.iter().enumerate() {
            if let Some(&soon) = rows.get(at + AHEAD) {
                prefetch(self.row(soon));
            }
            values.extend_from_slice(self.row(row));
        }
        DenseMatrix { values, n_rows: rows.len(), n_cols: self.n_cols }
    }

    /// Appends the rows of another matrix with the same columns, each value converted.
    #[doc(hidden)]
    pub fn append<U: Element>(&mut self, other: &DenseMatrix<U>, convert: impl Fn(U) -> T) {
        self.values.extend(other.values.iter().map(|value| convert(*value)));
        self.n_rows += other.n_rows;
    }

    /// A view, as accepted by every method of the library.
    ///
    /// # Errors
    /// [`Error::Shape`] if the public fields are inconsistent.
    pub fn view(&self) -> Result<DenseView<'_, T>> {
        DenseView::new(&self.values, self.n_rows, self.n_cols)
    }
}
