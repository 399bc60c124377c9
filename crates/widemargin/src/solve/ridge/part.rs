//! Some of the rows of a regression.

use crate::partition::Kind;

/// Rows of features with the targets of a regression.
#[derive(Clone, Copy, Debug)]
pub struct RidgeRows;

/// The features of some rows, row-major.
#[derive(Clone, Copy, Debug)]
pub enum RidgeFeatures<'p> {
    /// As they are; nothing else is unpenalized but an intercept, if there is one.
    Plain {
        /// Rows × features.
        values: &'p [f32],
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
