//! Features of rows that are computed elsewhere.

use std::ops::Range;

/// Features of some rows, row-major: first those that are penalized.
#[derive(Clone, Copy, Debug)]
pub enum RowFeatures<'a> {
    /// As they are; the constant is one more, which is not penalized, if there is an intercept.
    Plain {
        /// Rows × features.
        values: &'a [f32],
        /// Numbers of a row.
        width: usize,
        /// Whether there is an intercept.
        has_intercept: bool,
    },
    /// Times the roots of the weights.
    Weighted {
        /// Rows × features.
        values: &'a [f64],
        /// Numbers of a row.
        width: usize,
        /// How many are penalized.
        n_penalized: usize,
    },
}

impl RowFeatures<'_> {
    /// How many numbers they are, and how many of a row.
    pub(crate) fn size(&self) -> (usize, usize) {
        match *self {
            RowFeatures::Plain { values, width, .. } => (values.len(), width),
            RowFeatures::Weighted { values, width, .. } => (values.len(), width),
        }
    }

    /// How many of a row are penalized, and how many are not.
    pub(crate) fn shape(&self) -> (usize, usize) {
        match *self {
            RowFeatures::Plain { width, has_intercept, .. } => (width, usize::from(has_intercept)),
            RowFeatures::Weighted { width, n_penalized, .. } => (n_penalized, width.saturating_sub(n_penalized)),
        }
    }

    /// Those of some rows times the roots of their weights, with the constant.
    pub(crate) fn weighted(&self, rows: Range<usize>, roots: &[f64]) -> Vec<f64> {
        match *self {
            RowFeatures::Weighted { values, width, .. } => values[rows.start * width..rows.end * width].to_vec(),
            RowFeatures::Plain { values, width, has_intercept } => {
                let one = |row: usize| {
                    let of_row = values[row * width..(row + 1) * width].iter().map(move |x| roots[row] * f64::from(*x));
                    of_row.chain(has_intercept.then_some(roots[row]))
                };
                rows.flat_map(one).collect()
            }
        }
    }
}
