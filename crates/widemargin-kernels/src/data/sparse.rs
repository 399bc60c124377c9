//! Sparse rows in compressed form (CSR, as in SciPy).

use super::{Element, Rows};
use crate::error::{Error, Result};
use crate::memory::prefetch;

/// `None` for a negative index.
#[inline]
fn to_usize(index: impl TryInto<usize>) -> Option<usize> {
    index.try_into().ok()
}

/// A borrowed CSR matrix of samples × features.
///
/// Row `i` has the columns `indices[indptr[i]..indptr[i + 1]]` and the values at the same positions.
#[derive(Clone, Copy, Debug)]
pub struct CsrView<'a, T, I = u32, P = usize> {
    indptr: &'a [P],
    indices: &'a [I],
    values: &'a [T],
    n_cols: usize,
}

impl<'a, T: Element, I: Copy + TryInto<usize>, P: Copy + TryInto<usize>> CsrView<'a, T, I, P> {
    /// A view of the three CSR arrays.
    ///
    /// # Errors
    /// [`Error::Shape`] if the arrays are inconsistent, a column is not below `n_cols`, or the columns of a row are not
    /// strictly ascending (sort them and sum duplicates first).
    pub fn new(indptr: &'a [P], indices: &'a [I], values: &'a [T], n_cols: usize) -> Result<Self> {
        let wrong = |what: &str, found: String, expected: String| {
            Err(Error::shape(format!("sparse samples, {what}"), found, expected))
        };
        if indices.len() != values.len() {
            return wrong("indices", format!("{} of them", indices.len()), format!("{}, one a value", values.len()));
        }
        let Some(last) = indptr.last() else {
            return wrong("indptr", "it is empty".into(), "n_rows + 1 entries".into());
        };
        if to_usize(indptr[0]) != Some(0) || to_usize(*last) != Some(values.len()) {
            return wrong("indptr", "other ends".into(), format!("first 0 and last {}", values.len()));
        }
        for row in 0..indptr.len() - 1 {
            let (start, end) = (to_usize(indptr[row]), to_usize(indptr[row + 1]));
            let (Some(start), Some(end)) = (start, end) else {
                let found = format!("a negative entry at row {row} (from 0)");
                return wrong("indptr", found, "entries of at least 0".into());
            };
            if start > end || end > values.len() {
                return wrong("indptr", format!("it falls at row {row} (from 0)"), "entries that never fall".into());
            }
            let mut previous = None;
            for index in &indices[start..end] {
                let Some(column) = to_usize(*index) else {
                    return wrong("indices", format!("a negative one in row {row} (from 0)"), "at least 0".into());
                };
                if column >= n_cols {
                    let found = format!("column {column} in row {row} (from 0)");
                    return wrong("indices", found, format!("below {n_cols}"));
                }
                if previous.is_some_and(|p| p >= column) {
                    let found = format!("column {column} out of order or twice in row {row} (from 0)");
                    return wrong("indices", found, "strictly ascending columns in each row".into());
                }
                previous = Some(column);
            }
        }
        Ok(CsrView { indptr, indices, values, n_cols })
    }

    fn range(&self, row: usize) -> std::ops::Range<usize> {
        // `new` has checked every entry: the fallback is never used.
        to_usize(self.indptr[row]).unwrap_or(0)..to_usize(self.indptr[row + 1]).unwrap_or(0)
    }

    /// Number of stored values.
    #[doc(hidden)]
    pub fn n_stored(&self) -> usize {
        self.values.len()
    }

    /// Number of stored values of a row.
    #[doc(hidden)]
    pub fn n_stored_in(&self, row: usize) -> usize {
        self.range(row).len()
    }
}

impl<T: Element, I: Copy + TryInto<usize> + Sync, P: Copy + TryInto<usize> + Sync> Rows for CsrView<'_, T, I, P> {
    fn n_rows(&self) -> usize {
        self.indptr.len() - 1
    }

    fn n_cols(&self) -> usize {
        self.n_cols
    }

    #[inline]
    fn for_each_nonzero(&self, row: usize, mut visit: impl FnMut(usize, f64)) {
        let range = self.range(row);
        for (index, &value) in self.indices[range.clone()].iter().zip(&self.values[range]) {
            let value: f64 = value.into();
            if value != 0.0 {
                visit(to_usize(*index).unwrap_or(0), value);
            }
        }
    }

    fn prefetch(&self, row: usize) {
        let range = self.range(row);
        prefetch(&self.indices[range.clone()]);
        prefetch(&self.values[range]);
    }

    fn stored(&self) -> Option<usize> {
        Some(self.values.len())
    }
}

/// An owned CSR matrix, as produced by file readers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CsrMatrix<T> {
    /// The start of each row; `n_rows + 1` entries.
    pub indptr: Vec<usize>,
    /// The column of each value, strictly ascending within a row.
    pub indices: Vec<u32>,
    /// The values.
    pub values: Vec<T>,
    /// Number of features.
    pub n_cols: usize,
}

impl<T: Element> CsrMatrix<T> {
    /// A view, as accepted by every method of the library.
    ///
    /// # Errors
    /// [`Error::Shape`] if the public fields are inconsistent.
    pub fn view(&self) -> Result<CsrView<'_, T>> {
        CsrView::new(&self.indptr, &self.indices, &self.values, self.n_cols)
    }
}

#[doc(hidden)]
impl<T: Element> CsrMatrix<T> {
    /// No rows, of this number of features.
    pub fn empty(n_cols: usize) -> Self {
        CsrMatrix { indptr: vec![0], indices: Vec::new(), values: Vec::new(), n_cols }
    }

    /// A copy of these rows, in this order.
    pub fn select(&self, rows: &[usize]) -> Self {
        let mut picked = CsrMatrix::empty(self.n_cols);
        for &row in rows {
            let range = self.indptr[row]..self.indptr[row + 1];
            picked.indices.extend_from_slice(&self.indices[range.clone()]);
            picked.values.extend_from_slice(&self.values[range]);
            picked.indptr.push(picked.values.len());
        }
        picked
    }

    /// Appends the rows of another matrix, each value converted; the number of features is the larger of the two.
    pub fn append<U: Element>(&mut self, other: &CsrMatrix<U>, convert: impl Fn(U) -> T) {
        let before = self.values.len();
        self.indptr.extend(other.indptr.iter().skip(1).map(|end| before + end));
        self.indices.extend_from_slice(&other.indices);
        self.values.extend(other.values.iter().map(|value| convert(*value)));
        self.n_cols = self.n_cols.max(other.n_cols);
    }

    /// The columns and values of one row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (u32, T)> {
        let range = self.indptr[row]..self.indptr[row + 1];
        self.indices[range.clone()].iter().copied().zip(self.values[range].iter().copied())
    }
}
