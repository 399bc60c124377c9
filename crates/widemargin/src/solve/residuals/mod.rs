//! Regression on features by losses that are not the square: Huber's, the squared ε-insensitive and the quantile loss.
//!
//! For all outputs together, ½‖w‖² + C Σ v loss(y − w·φ − b) is minimized by Newton's method on sums over the rows
//! ([`thin_plate`](super::thin_plate)), wherever these are, and C is chosen on its path: by leave-one-out, or by folds for
//! the quantile loss. This module selects ε, by the spread of the leave-one-out residuals of a first
//! fit.

mod fit;
mod memory_rows;
mod spread;

#[cfg(test)]
mod tests;

pub use fit::LossPoint;
pub(crate) use fit::{Choice, Fit, Samples, fit, fit_in_blocks, memory};
pub(crate) use memory_rows::MemoryRows;
