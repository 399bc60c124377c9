//! Elastic similarities of series: `dtw:window=0.1,gamma=2`.
//!
//! Each is a distance d(x, y), the least cost of a path through the table of pairs of time steps, and a recursion of its
//! cells. All channels share one path. s = exp(−gamma d) with a gamma, −d without one.
//! None is definite: warping violates the triangle inequality, and of the metrics exp(−gamma d) need not be definite either.
//!
//! The path may deviate from the diagonal by at most w = max(⌊window · longer length⌋, difference of the lengths)
//! steps, |i − j| ≤ w: a band around the diagonal, wide enough to contain a path.

mod dtw;
mod edits;
mod elastic;
mod lanes;
mod path;
mod rule;
mod soft_dtw;
#[cfg(test)]
mod tests;
mod tile;

use super::row::SimilarityRow;

pub use dtw::Dtw;

pub(super) const ROWS: &[SimilarityRow] =
    &[dtw::DTW, dtw::WDTW, edits::MSM, edits::TWE, edits::ERP, edits::LCSS, soft_dtw::SOFT_DTW];
