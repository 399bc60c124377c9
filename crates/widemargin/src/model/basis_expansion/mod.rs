//! The basis expansion SVM: parameters, fit, fitted model and its file.

mod assembled;
mod block_plan;
mod choose_c;
mod expand;
mod expanded;
pub(super) mod expansion_file;
mod feature_pieces;
mod features_of_all;
pub(super) mod file;
mod fit;
mod held_out;
mod held_out_path;
mod hessian_rows;
mod hessian_sample;
mod learn_weights;
mod manifest;
mod model;
mod out_of_core;
mod out_of_core_regressor;
mod products;
mod prune;
mod regressor;
pub(super) mod regressor_file;
mod regressor_of_parts;
mod solver;
mod start;
mod wanted_bases;

pub use assembled::Assembled;
pub use expanded::Expanded;
pub use fit::BasisExpansionParams;
pub(super) use hessian_rows::choose_of_classes;
pub use hessian_rows::{brought_rows, stand_ins};
pub use model::BasisExpansionSvc;
pub use regressor::{BasisExpansionRegressor, BasisExpansionRegressorParams};
pub use regressor_of_parts::RegressorFacts;
