//! Sums of a block's rows.

/// Sums of rows: in single precision for as long as that is harmless, then in double.
#[derive(Clone, Debug)]
pub(in crate::problem) struct Sums {
    pub(super) n_problems: usize,
    pub(super) wide: Vec<f64>,
    pub(super) narrow: Vec<f32>,
    /// Rows summed in `narrow`.
    pub(super) in_narrow: usize,
}

impl Sums {
    /// Rows summed in single precision before they go to the double-precision sums: the rounding is then that
    /// of 256 terms, and moving the sums costs less than a tenth of making them.
    pub(super) const ROWS: usize = 256;

    /// Moves what is in single precision to the other sums.
    pub(super) fn flush(&mut self) {
        for (wide, narrow) in self.wide.iter_mut().zip(&mut self.narrow) {
            *wide += f64::from(std::mem::take(narrow));
        }
        self.in_narrow = 0;
    }
}
