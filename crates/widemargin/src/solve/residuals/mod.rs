//! Regression on features by losses that are not the square: Huber's, the squared ε-insensitive and the pinball loss.
//!
//! For each output, ½‖w‖² + C Σ v loss(y − w·φ − b) is minimized by Newton's method on features × features
//! ([`newton`]), until a duality gap proves the solution. The first two losses are piecewise quadratic, so that the
//! method ends after finitely many steps; the pinball loss is approached by rounded ones. C is chosen on a path of
//! values, each from the solution of the one before ([`path`]): by leave-one-out ([`newton`]) or, for the
//! pinball loss, by folds ([`folds`]).
//!
//! Numbers per row stay with the solver; it requests products with the features ([`parted_rows`]), whether these are
//! in memory ([`memory_rows`]) or elsewhere.

mod active_gram;
mod factor;
mod fit;
mod folds;
mod loss;
mod memory_rows;
mod newton;
mod parted_rows;
mod path;
mod residual_sums;
mod spread;

#[cfg(test)]
mod tests;

pub(crate) use fit::{Choice, Samples, fit, memory};
pub(crate) use memory_rows::MemoryRows;
pub(crate) use parted_rows::PartedRows;
pub use path::LossPoint;
pub(crate) use residual_sums::ResidualSums;
