//! The smoothing spline: regression with a conditionally positive definite kernel and the squared error.

mod fit;
mod model;
mod of_parts;
mod out_of_core;
mod spline_rows;
mod task;

pub use model::{SplineRegression, ThinPlateRegressor};
