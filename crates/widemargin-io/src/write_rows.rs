//! Common parts of the writers of all formats.

use std::fmt;

use widemargin::data::Rows as _;

use crate::error::Failure;
use crate::table::Samples;

/// Passes on the rows of vectors, with their zeros.
pub(crate) fn for_each_row(
    samples: &Samples,
    mut each: impl FnMut(usize, &[f64]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let view = samples.view()?.rows("the format")?;
    let mut values = vec![0.0; view.n_cols()];
    for row in 0..view.n_rows() {
        values.fill(0.0);
        view.for_each_nonzero(row, |column, value| values[column] = value);
        each(row, &values)?;
    }
    Ok(())
}

/// A number as text: as short as it can be and still be read back exactly, and plain where it is whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Number {
    pub value: f64,
    /// Whether the value is an `f32`, and will be read back as one.
    pub single: bool,
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = self.value.fract() == 0.0 && self.value.abs() < 1e15;
        match (plain, self.single) {
            (true, true) => write!(f, "{}", self.value as f32),
            (true, false) => write!(f, "{}", self.value),
            (false, true) => write!(f, "{:?}", self.value as f32),
            (false, false) => write!(f, "{:?}", self.value),
        }
    }
}
