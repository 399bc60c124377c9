//! The trait through which vector samples are read, dense or sparse.

use crate::error::{Error, Result};

/// Vector samples by row: the common interface of dense and sparse views.
pub trait Rows: Sync {
    /// Number of samples.
    fn n_rows(&self) -> usize;

    /// Number of features.
    fn n_cols(&self) -> usize;

    /// Calls `visit(column, value)` for each non-zero of a row, in ascending order of distinct columns.
    ///
    /// Stored zeros are skipped, so that a dense row and its sparse copy behave alike.
    fn for_each_nonzero(&self, row: usize, visit: impl FnMut(usize, f64));

    /// Hints that a row will be visited soon.
    #[doc(hidden)]
    fn prefetch(&self, _row: usize) {}

    /// An upper bound on the number of non-zeros, for reserving memory.
    #[doc(hidden)]
    fn max_nonzeros(&self) -> usize {
        self.stored().unwrap_or_else(|| self.n_rows() * self.n_cols())
    }

    /// True if a row lists only its non-zero columns, so that a sample may be narrower than the model.
    #[doc(hidden)]
    fn is_sparse(&self) -> bool {
        self.stored().is_some()
    }

    /// Number of stored values of rows that list only their non-zero columns; `None` of dense rows.
    #[doc(hidden)]
    fn stored(&self) -> Option<usize> {
        None
    }
}

/// Some rows of others, in this order.
#[doc(hidden)]
#[derive(Debug)]
pub struct PickedRows<'a, R> {
    /// All rows.
    pub source: &'a R,
    /// Which of them.
    pub rows: &'a [usize],
}

impl<R: Rows> Rows for PickedRows<'_, R> {
    fn n_rows(&self) -> usize {
        self.rows.len()
    }

    fn n_cols(&self) -> usize {
        self.source.n_cols()
    }

    #[inline]
    fn for_each_nonzero(&self, row: usize, visit: impl FnMut(usize, f64)) {
        self.source.for_each_nonzero(self.rows[row], visit);
    }

    fn prefetch(&self, row: usize) {
        self.source.prefetch(self.rows[row]);
    }

    fn stored(&self) -> Option<usize> {
        self.source.stored()
    }
}

/// Checks that every feature of a row is finite and at least 0, as additive kernels need, and passes its non-zeros to
/// `visit` as [`Rows::for_each_nonzero`] does.
///
/// # Errors
/// [`Error::Value`] for the first invalid value of the row.
#[doc(hidden)]
#[inline]
pub fn visit_histogram(samples: &impl Rows, row: usize, mut visit: impl FnMut(usize, f64)) -> Result<()> {
    let mut bad = None;
    samples.for_each_nonzero(row, |column, value| {
        if value > 0.0 && value < f64::INFINITY {
            visit(column, value);
        } else if bad.is_none() {
            bad = Some((column, value));
        }
    });
    bad.map_or(Ok(()), |(column, value)| Err(not_a_histogram(row, column, value)))
}

#[cold]
fn not_a_histogram(row: usize, column: usize, value: f64) -> Error {
    let problem = if value < 0.0 && value.is_finite() {
        "is negative: additive kernels need features of at least 0 (shift or scale the data first)"
    } else {
        "is not a finite number: remove or impute it"
    };
    Error::Value { row, column, value, problem }
}
