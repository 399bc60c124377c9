//! Models on a basis expansion: parameters, fit, fitted model and its file.
//!
//! A fit in memory is the same for all tasks (`fit.rs`) up to the solution, and one of samples in blocks for labels and
//! targets (`out_of_core.rs`): `classes.rs` has the solutions of labels, `targets.rs` those of targets, and
//! `one_class_fit.rs` that of one class.

#![expect(private_bounds, private_interfaces, reason = "the tasks are those of this module")]

mod block_plan;
mod choose;
mod classes;
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
mod products;
mod regression;
mod solver;
mod targets;

pub use classes::BasisExpansionParams;
pub use expanded::Expanded;
pub use expansion_model::ExpansionModel;
pub use expansion_params::ExpansionParams;
pub use model::{BasisExpansionSvc, Classification};
pub use one_class::{BasisExpansionOneClass, OneClassTask};
pub use one_class_fit::BasisExpansionOneClassParams;
pub use regression::{BasisExpansionRegressor, Regression};
pub use targets::BasisExpansionRegressorParams;
