//! Choosing between models: cross-validation and scores.

mod cross_validation;
mod evaluation;

pub use cross_validation::{CrossValidation, cross_validate};
pub use evaluation::{ClassScore, Evaluation};
