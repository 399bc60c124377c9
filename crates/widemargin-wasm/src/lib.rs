//! The playground of the site: fits a model to points of the plane and evaluates it, for a page in a browser.
//!
//! [`playground`] does the work and [`table`] reads CSV files; both are plain Rust, tested on every machine. [`exports`]
//! is what JavaScript sees: functions of numbers, and two buffers of bytes in the memory of the module. It is a plain C
//! ABI rather than `wasm-bindgen`, which would need a program of exactly its version to build the site, so that `cargo
//! build --target wasm32-unknown-unknown` is all that is needed.
#![forbid(unsafe_op_in_unsafe_fn)]

pub mod exports;
pub mod playground;
pub mod table;
