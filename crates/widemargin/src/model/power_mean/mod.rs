//! The power mean SVM: parameters, fit, fitted model and its file.

mod assembled;
mod choose;
mod feature_range;
pub(super) mod file;
pub(super) mod fit;
mod held_out;
mod out_of_core;
mod params;
mod primal;
mod sample_gram;

pub use assembled::{PowerMeanMetadata, scale_and_reduce};
pub use choose::{PowerMeanChoice, TriedC, TriedKernel};
pub use feature_range::{FeatureMax, LargestValues};
pub use fit::PowerMeanSvc;
pub use params::PowerMeanParams;
