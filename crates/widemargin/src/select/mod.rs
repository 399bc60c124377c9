//! Model selection: cross-validation, scores, and selection of similarities.

mod auto;
mod candidate;
mod column_scales;
mod cross_validation;
mod curves;
mod evaluation;
mod held_out_score;
mod label_scores;
mod probability_scores;
mod regression_scores;
mod regression_search;
mod relevance;
mod scores;
mod similarity_search;
mod similarity_trial;
mod sparse_bases;
mod time_left;
mod usual_candidates;

pub use auto::{AutoFit, AutoMethod, AutoParams, TriedMethod};
pub use candidate::Candidate;
#[doc(hidden)]
#[doc(hidden)]
pub use candidate::usual_normalization;
pub use cross_validation::{CrossValidation, cross_validate};
#[doc(hidden)]
pub use curves::Ranking;
pub use evaluation::{ClassScore, ConfusionMatrix, Evaluation};
pub use label_scores::{LabelScore, LabelScores};
pub use probability_scores::{brier_score, log_loss};
pub use regression_scores::RegressionScoring;
pub use regression_search::{RegressionChoice, RegressionSearch, TriedRegression};
pub use scores::Scoring;
pub use similarity_search::{SimilarityChoice, SimilaritySearch};
pub use similarity_trial::Tried;
#[doc(hidden)]
pub use sparse_bases::pick_bases;
