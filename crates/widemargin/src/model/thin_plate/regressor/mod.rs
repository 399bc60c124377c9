//! The smoothing spline: regression with a conditionally positive definite kernel and the squared loss.

mod choose;
mod file;
mod fit;
mod model;
mod of_parts;
mod out_of_core;
mod params;
mod task;

pub(crate) use file::{Header, METHOD};
pub use model::ThinPlateRegressor;
pub use of_parts::SplineMetadata;
pub use params::{SPLINE_EXACT_UP_TO, ThinPlateRegressorParams};
