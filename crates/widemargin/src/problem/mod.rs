//! What is minimised: losses and the two-class problems that a multi-class one is made of.

mod loss;
mod one_vs_rest;

pub use loss::Loss;
pub use one_vs_rest::OneVsRest;
pub(crate) use one_vs_rest::n_problems;
