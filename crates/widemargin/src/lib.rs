//! Large-margin classifiers for any similarity, at linear cost.
//!
//! Samples and labels are in [`data`], similarities in [`similarity`], estimators and their parameters in [`model`],
//! and automatic selection and scores in [`select`]. Undocumented modules are internal and may change in any release.
//!
//! ```
//! use widemargin::data::{DenseView, Labels};
//! use widemargin::model::PowerMeanParams;
//! use widemargin::similarity::AdditiveKernel;
//!
//! let histograms = [4.0, 1.0, 0.0, 3.0, 2.0, 0.0, 0.0, 1.0, 4.0, 0.0, 2.0, 5.0];
//! let samples = DenseView::new(&histograms, 4, 3)?;
//! let labels = Labels::new(["cat", "cat", "dog", "dog"]);
//! let model = PowerMeanParams::new(AdditiveKernel::Chi2).c(1.0).fit(&samples, &labels)?;
//! assert_eq!(model.predict(&samples, 1)?[2].to_string(), "dog");
//! assert!(model.report().gap() <= 0.01);
//! # Ok::<(), widemargin::Error>(())
//! ```
//!
//! # Features
//!
//! `threads` (default): thread pools. Without it, and on `wasm32-unknown-unknown`, all work runs on the calling thread,
//! and more than one thread is an error. On that target, the program must provide a clock (`monitor::set_clock`).
#![deny(missing_docs)]

#[doc(hidden)]
pub mod basis;
#[doc(hidden)]
pub mod expansion;
pub mod model;
#[doc(hidden)]
pub mod output;
#[doc(hidden)]
pub mod partition;
#[doc(hidden)]
pub mod problem;
mod search;
pub mod select;
#[doc(hidden)]
pub mod solve;
mod tuning;

#[doc(inline)]
pub use widemargin_kernels::{Error, Result, data, monitor, similarity};
use widemargin_kernels::{checksum, draw, error, instant, isa, linalg, macros, par, parameters, simd, spec};
#[doc(hidden)]
pub use widemargin_kernels::{descriptor, memory, nearest, suggestion};
