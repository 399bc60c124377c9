//! Samples, descriptors and similarities of Widemargin, and what its other layers stand on: errors, linear algebra,
//! vector instructions, threads, memory, progress.
//!
//! What is meant to be used is exported, and documented, by the crate `widemargin`; everything else may change in any
//! release.
#![deny(missing_docs)]

#[doc(hidden)]
pub mod checksum;
pub mod data;
#[doc(hidden)]
pub mod descriptor;
#[doc(hidden)]
pub mod draw;
#[doc(hidden)]
pub mod error;
#[doc(hidden)]
pub mod instant;
#[doc(hidden)]
pub mod isa;
#[doc(hidden)]
pub mod linalg;
#[doc(hidden)]
pub mod macros;
#[doc(hidden)]
pub mod memory;
pub mod monitor;
#[doc(hidden)]
pub mod par;
#[doc(hidden)]
pub mod parameters;
#[doc(hidden)]
pub mod simd;
pub mod similarity;
#[doc(hidden)]
pub mod spec;
mod tuning;

pub use error::{Error, Result};
#[doc(hidden)]
pub use error::{nearest, suggestion};

// The definitions of similarities, which claims use too, name the crate that users know.
#[cfg(test)]
extern crate self as widemargin;
