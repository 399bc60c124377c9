//! Sums of a block's rows.

/// Sums of rows: in single precision for a limited number of rows, then in double.
#[derive(Clone, Debug)]
pub(in crate::problem) struct Sums {
    pub(super) n_problems: usize,
    pub(super) wide: Vec<f64>,
    pub(super) narrow: Vec<f32>,
    /// Rows summed in `narrow`.
    pub(super) in_narrow: usize,
}

impl Sums {
    /// Rows summed in single precision before they are added to the double-precision sums: the rounding error is then
    /// that of 256 terms, and the addition costs less than a tenth of the sums.
    pub(super) const ROWS: usize = 256;

    /// Adds the single-precision sums to the double-precision ones.
    pub(super) fn flush(&mut self) {
        for (wide, narrow) in self.wide.iter_mut().zip(&mut self.narrow) {
            *wide += f64::from(std::mem::take(narrow));
        }
        self.in_narrow = 0;
    }
}
