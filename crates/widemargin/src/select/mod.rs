//! Choosing between models: cross-validation, scores, and which similarities to use together.

mod cross_validation;
mod evaluation;
mod greedy;
mod sparse_bases;

pub use cross_validation::{CrossValidation, cross_validate};
pub use evaluation::{ClassScore, Evaluation};
pub use greedy::{Greedy, GreedySettings, Round, select_similarities};
pub use sparse_bases::pick_bases;
