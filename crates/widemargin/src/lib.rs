//! Large-margin classifiers for any similarity, at linear cost.
#![deny(missing_docs)]

pub mod data;
mod error;

pub use error::{Error, Result};
