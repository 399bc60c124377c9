//! The basis expansion SVM: parameters, fit, fitted model and its file.

mod block_plan;
mod choose;
mod expand;
mod expanded;
pub(super) mod expansion_file;
pub(super) mod expansion_model;
mod expansion_params;
mod feature_pieces;
mod fit;
mod held_out;
mod model;
mod one_class;
mod one_class_fit;
mod out_of_core;
mod out_of_core_regressor;
mod prepare;
mod products;
mod regression;
mod regressor;
mod solver;

pub use expanded::Expanded;
pub use expansion_model::ExpansionModel;
pub use expansion_params::ExpansionParams;
pub use fit::BasisExpansionParams;
pub use model::{BasisExpansionSvc, Classification};
pub use one_class::{BasisExpansionOneClass, OneClassTask};
pub use one_class_fit::BasisExpansionOneClassParams;
pub use regression::{BasisExpansionRegressor, Regression};
pub use regressor::BasisExpansionRegressorParams;
