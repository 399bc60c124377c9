//! Samples, descriptors and similarities of Widemargin, and what its other layers stand on: errors, linear algebra,
//! vector instructions, threads, memory, progress.
//!
//! What is meant to be used is exported, and documented, by the crate `widemargin`; everything else may change in any
//! release.
#![deny(missing_docs)]

pub mod checksum;
pub mod data;
pub mod descriptor;
pub mod draw;
pub mod error;
pub mod instant;
pub mod isa;
pub mod linalg;
pub mod macros;
pub mod memory;
pub mod monitor;
pub mod par;
pub mod parameters;
pub mod simd;
pub mod similarity;
pub mod spec;
mod tuning;

pub use error::{Error, Result, nearest};

// The definitions of similarities, which claims use too, name the crate that users know.
#[cfg(test)]
extern crate self as widemargin;
