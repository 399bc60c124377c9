//! Some of the rows of a regression.

use std::ops::Range;

use crate::linalg::factor;
use crate::partition::Kind;
use crate::solve::dual::linear;

/// Rows of features with the targets of a regression.
#[derive(Clone, Copy, Debug)]
pub struct RidgeRows;

/// Numbers of rows.
#[derive(Clone, Copy, Debug)]
pub enum Values<'p> {
    /// In single precision.
    Single(&'p [f32]),
    /// In double precision.
    Double(&'p [f64]),
}

impl<'p> Values<'p> {
    /// How many there are.
    pub(in crate::solve) fn len(self) -> usize {
        match self {
            Values::Single(values) => values.len(),
            Values::Double(values) => values.len(),
        }
    }

    /// Those of some rows, of this number of features.
    pub(in crate::solve) fn rows(self, rows: Range<usize>, width: usize) -> Values<'p> {
        match self {
            Values::Single(values) => Values::Single(&values[rows.start * width..rows.end * width]),
            Values::Double(values) => Values::Double(&values[rows.start * width..rows.end * width]),
        }
    }

    /// Those of one row.
    pub(in crate::solve) fn row(self, row: usize, width: usize) -> Values<'p> {
        self.rows(row..row + 1, width)
    }

    /// Their product with weights.
    pub(in crate::solve) fn dot(self, weights: &[f64]) -> f64 {
        match self {
            Values::Single(values) => linear::dot(values, weights),
            Values::Double(values) => factor::dot(values, weights),
        }
    }

    /// Adds a multiple of them.
    pub(in crate::solve) fn add_to(self, sums: &mut [f64], times: f64) {
        match self {
            Values::Single(values) => linear::add(values, times, sums),
            Values::Double(values) => factor::add_scaled(sums, times, values),
        }
    }

    /// Writes a multiple of them less a center.
    pub(in crate::solve) fn centered(self, center: &[f64], times: f64, out: &mut [f64]) {
        let out = out.iter_mut().zip(center);
        match self {
            Values::Single(values) => {
                out.zip(values).for_each(|((out, mean), x)| *out = times * (f64::from(*x) - mean));
            }
            Values::Double(values) => out.zip(values).for_each(|((out, mean), x)| *out = times * (x - mean)),
        }
    }
}

/// The features of some rows, row-major.
#[derive(Clone, Copy, Debug)]
pub enum RidgeFeatures<'p> {
    /// As they are; nothing else is unpenalized but an intercept, if there is one.
    Plain {
        /// Rows × features.
        values: Values<'p>,
        /// Whether there is an intercept.
        has_intercept: bool,
        /// The number of the first row among all rows.
        first: usize,
    },
    /// Times the roots of the weights. The unpenalized ones are orthonormal over all rows, and the others are
    /// orthogonal to them.
    Lifted {
        /// Rows × features, the penalized ones first.
        values: &'p [f64],
        /// How many are penalized.
        n_penalized: usize,
    },
}

/// Some of the rows.
#[derive(Clone, Copy, Debug)]
pub struct RidgePart<'p> {
    /// The features.
    pub features: RidgeFeatures<'p>,
    /// How many numbers a row they have.
    pub width: usize,
    /// Rows × outputs, row-major.
    pub targets: &'p [f64],
    /// At least 0.
    pub weights: &'p [f64],
    /// The part of each weight that leave-one-out removes.
    pub units: &'p [f64],
}

impl Kind for RidgeRows {
    type Part<'p> = RidgePart<'p>;

    const NAME: &'static str = "ridge rows";
}
