//! The power mean SVM: parameters, fit, fitted model and its file.

mod assembled;
pub(super) mod file;
mod fit;
mod out_of_core;
mod primal;

pub use assembled::{PowerMeanParts, scale_and_reduce};
pub use fit::{PowerMeanParams, PowerMeanSvc};
