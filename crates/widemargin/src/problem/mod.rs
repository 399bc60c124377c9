//! The optimization problems: losses, and the two-class problems of a multi-class one.

mod block;
mod block_objective;
mod held_out;
mod linear_problem;
mod linear_queries;
mod loss;
mod objective;
mod one_vs_rest;
mod pass_objective;
mod pieces;
mod problem_targets;
mod row_features;

pub use block::Block;
pub use block_objective::{BlockObjective, ObjectiveState};
pub use held_out::HeldOutScores;
pub(crate) use held_out::{HeldOutRows, Judged, count, n_independent, typical_weight, without_bases};
pub use linear_problem::LinearProblem;
pub use linear_queries::{
    Active, Diagonal, GradientAt, GramAt, HeldOut, HessianProduct, LINEAR_QUERIES, LineSearch, LinearRows, Objective,
    SetDirection, SetPoint,
};
pub use loss::{Loss, LossAt};
pub use objective::{ActiveRows, Cost, Gradient, Gram, Intercept, Line, LineSums, Penalty, PointSums, Shape};
pub use one_vs_rest::OneVsRest;
pub(crate) use one_vs_rest::n_problems;
pub(crate) use pass_objective::{PassObjective, Pieces, Room};
pub use pieces::SmoothLoss;
pub(crate) use pieces::{PieceAt, Pieces as LossPieces};
pub use problem_targets::ProblemTargets;
pub use row_features::RowFeatures;
