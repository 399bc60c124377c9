//! Tuned constants: numbers that were measured or chosen, and change a result or its speed. A decision is a file
//! `docs/dev/decisions/NNNN-….md`, which has the figures.

/// Share of the weight in contradictory content from which copies are draws (decision 0022).
pub const MIN_CONTESTED_SHARE: f64 = 0.03;
/// How many contents are few, and the copies of each, on average, from which they are all there are (decision 0022).
pub const MAX_FREQUENT_CONTENTS: usize = 64;
pub const MIN_FREQUENT_COPIES: f64 = 10.0;
/// The same where all may have the same weight.
pub const MAX_EQUAL_CONTENTS: usize = 16;
pub const MIN_EQUAL_COPIES: f64 = 30.0;
/// Largest number of a column in units of its range, from which it is far from 0 (decision 0028).
pub(crate) const MAX_OFFSET: f64 = 256.0;
/// Spread of a column relative to its size that is the rounding of a constant.
pub(crate) const CONSTANT_SPREAD: f64 = 1e-14;
/// Squared distance, relative to the squared norms, below which it is recomputed (decision 0007).
pub(crate) const CANCELLED_DISTANCE: f64 = 1.0 / 8.0;
/// The same in double precision: above, the relative error is at most 1e-9.
pub(crate) const CANCELLED_DOUBLE: f64 = 1e-6;
/// Features up to which differences are as fast as products (decision 0007).
pub(crate) const MAX_DIFFERENCE_FEATURES: usize = 32;
/// Series on each side from which `gamma=auto` takes the mean distance.
pub(crate) const GAMMA_PROBES: usize = 64;
/// Rows of a matrix from which gamma is learned.
pub(crate) const GAMMA_ROWS: usize = 1000;
/// Training series that biases come from, at most.
pub(crate) const BIAS_PROBES: usize = 1024;
