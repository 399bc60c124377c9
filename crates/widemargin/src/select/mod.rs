//! Model selection: cross-validation, scores, and selection of similarities.

mod auto;
mod by_name;
mod candidate;
mod class_scores;
mod column_gradients;
mod column_scales;
mod column_weights;
mod cross_validation;
mod curves;
mod estimator;
mod evaluation;
mod held_out_score;
mod label_scores;
mod method;
mod method_fit;
mod nested_folds;
mod regression_scores;
mod scores;
mod similarity_search;
mod subset;
mod trial;
mod unseen_columns;
mod usual_candidates;
mod work;

pub use crate::search::Tried;
pub use auto::{AutoFit, AutoParams};
#[doc(hidden)]
pub use by_name::{PER_CLASS, loss_of_targets, split_spec};
pub use candidate::{Candidate, SimilaritySearch};
pub use cross_validation::{CrossValidation, cross_validate};
#[doc(hidden)]
pub use curves::Ranking;
pub use estimator::{Compared, Estimator, Place};
pub use evaluation::{ClassScore, ConfusionMatrix, Evaluation};
#[doc(hidden)]
pub use held_out_score::Labeled;
pub use label_scores::{LabelScore, LabelScores};
pub use method::{Method, Task};
pub use method_fit::MethodPoint;
pub use scores::Scoring;
pub use similarity_search::SimilarityChoice;
pub use subset::{Answers, SimilarityPoint};
