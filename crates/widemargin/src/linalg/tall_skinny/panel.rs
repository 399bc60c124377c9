//! A few rows of a matrix of features.

/// Selected rows of a row-major matrix.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Panel<'a> {
    pub(super) values: &'a [f32],
    pub(super) n_cols: usize,
    pub(super) rows: &'a [u32],
}

impl<'a> Panel<'a> {
    /// The rows `rows` of `values`, which has `n_cols` numbers per row.
    ///
    /// # Panics
    /// If a row is out of range: the loops below do not check.
    pub fn new(values: &'a [f32], n_cols: usize, rows: &'a [u32]) -> Self {
        let n_rows = values.len().checked_div(n_cols).unwrap_or(0);
        assert!(n_cols == 0 || rows.iter().all(|&row| (row as usize) < n_rows), "a row beyond the matrix");
        Panel { values, n_cols, rows }
    }
}
