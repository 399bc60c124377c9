//! The thin plate SVM: parameters, fit, fitted model and its file.

mod apart;
pub(super) mod file;
mod fit;
mod kernel_blocks;
mod landmarks;
mod model;
mod out_of_core;
mod params;
mod stream;

pub use apart::{
    ColumnSums, ColumnSumsOf, FirstSumsOf, LandmarkPlan, ModelFacts, SAMPLES_A_LANDMARK, SettledPolynomials,
    choose_landmarks, draw_rows,
};
pub use landmarks::LandmarkChoice;
pub use model::ThinPlateSvc;
pub use params::{CChoice, Standardize, ThinPlateParams};
