//! Large-margin classifiers for any similarity, at linear cost.
#![deny(missing_docs)]

pub mod data;
mod error;
pub mod expansion;
pub mod problem;
pub mod similarity;
pub mod solve;

pub use error::{Error, Result};
