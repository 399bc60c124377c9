//! The one trait through which vector samples are read, dense or sparse.

use crate::error::{Error, Result};

/// Vector samples, row by row: what dense and sparse views have in common.
pub trait Rows: Sync {
    /// Number of samples.
    fn n_rows(&self) -> usize;

    /// Number of features.
    fn n_cols(&self) -> usize;

    /// Calls `visit(column, value)` for each non-zero of a row, columns ascending, each column once.
    ///
    /// Stored zeros are skipped, so a dense row and its sparse copy are visited alike.
    fn for_each_nonzero(&self, row: usize, visit: impl FnMut(usize, f64));

    /// True where a row lists only the columns it has, so that a sample may be narrower than the model.
    fn is_sparse(&self) -> bool;
}

/// Checks that every feature is finite and at least 0, as additive kernels need.
pub fn check_histograms(samples: &impl Rows) -> Result<()> {
    for row in 0..samples.n_rows() {
        check_histogram_row(samples, row)?;
    }
    Ok(())
}

fn check_histogram_row(samples: &impl Rows, row: usize) -> Result<()> {
    let mut bad = None;
    samples.for_each_nonzero(row, |column, value| {
        if bad.is_none() && !(value >= 0.0 && value.is_finite()) {
            bad = Some((column, value));
        }
    });
    match bad {
        None => Ok(()),
        Some((column, value)) if value < 0.0 => Err(Error::Value {
            row,
            column,
            value,
            problem: "is negative: additive kernels need features of at least 0 (shift or scale the data first)",
        }),
        Some((column, value)) => {
            Err(Error::Value { row, column, value, problem: "is not a finite number: remove or impute it" })
        }
    }
}
