//! The interface of a primal solver to the training set: sums over its rows.
//!
//! For every problem k, the solver minimizes
//!
//! ½‖w_k‖² + Σ_i c_i · loss(y_ik · (w_kᵀφ_i + b_k)),
//!
//! plus ½b_k² if the intercept is penalized. An [`Objective`](super::Objective) provides the sums over i, for many problems in one pass;
//! the penalty is left to the solver, since it does not depend on rows. Because every result is a sum over rows, these
//! may be in memory ([`super::BlockObjective`]), on disk, or on other machines.
//!
//! An objective stores, for each row, the scores w_kᵀφ_i of the current point and those of one direction, so that a
//! line search does not read φ. *Points* are `[problem][coordinate]`: the features' weights and then the intercept,
//! `n_features + 1` numbers per problem. `live` lists the problems of a call; all its arguments and results are in that
//! order.

use serde::{Deserialize, Serialize};

use super::Loss;
use crate::linalg;
use crate::macros::named;

/// How the intercept is treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Intercept {
    /// An unpenalized intercept.
    #[default]
    Free,
    /// An intercept with the penalty ½b²: a feature that is always 1, as LIBLINEAR's `-B 1`.
    Penalized,
    /// No intercept.
    None,
}

named!("intercept": Intercept {
    "free" = Intercept::Free,
    "penalized" = Intercept::Penalized,
    "none" = Intercept::None,
});

/// The penalty, which is minimized together with C Σ loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Penalty {
    /// ½‖w‖², by which the weights are small.
    #[default]
    L2,
    /// ‖w‖₁, by which most weights are 0.
    L1,
}

named!("penalty": Penalty { "l2" = Penalty::L2, "l1" = Penalty::L1 });

/// The dimensions and kind of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shape {
    /// Number of rows.
    pub n_rows: usize,
    /// Number of features, without the intercept.
    pub n_features: usize,
    /// Number of two-class problems.
    pub n_problems: usize,
    /// The loss.
    pub loss: Loss,
    /// The intercept.
    pub intercept: Intercept,
}

/// The cost of calls, in equivalent multiply-adds of a large matrix product.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Reading the rows once.
    pub pass: f64,
    /// A Hessian product of one problem during a pass.
    pub problem: f64,
    /// The Gram matrix.
    pub gram: f64,
}

/// A place on a line through the current point of a problem: scores + intercept + step · (along · direction + turn).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// The intercept at the line's start.
    pub intercept: f64,
    /// The step length.
    pub step: f64,
    /// 1 to move the weights along the direction, 0 to keep them.
    pub along: f64,
    /// The change of the intercept per unit step.
    pub turn: f64,
}

/// Sums at a place on a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LineSums {
    /// Σ c loss.
    pub value: f64,
    /// Its derivative with respect to the step.
    pub slope: f64,
    /// Its second derivative with respect to the step.
    pub curvature: f64,
    /// Σ |α| of the dual variables α.
    pub dual_norm: f64,
}

/// Sums at the current point of a problem.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PointSums {
    /// Σ c loss.
    pub value: f64,
    /// Σ |α| of the dual variables α_i = −c_i loss′ at the point.
    pub dual_norm: f64,
    /// Σ α, which is 0 for dual variables that are feasible with an unpenalized intercept.
    pub balance: f64,
    /// The conjugate's part of the dual objective, Σ c (loss − loss′ · f) by the Fenchel-Young equality.
    pub conjugate: f64,
    /// Rows with α ≠ 0.
    pub n_support: u64,
}

impl LineSums {
    /// Adds the sums over other rows.
    pub fn add(&mut self, other: &LineSums) {
        self.value += other.value;
        self.slope += other.slope;
        self.curvature += other.curvature;
        self.dual_norm += other.dual_norm;
    }
}

impl PointSums {
    /// Adds the sums over other rows.
    pub fn add(&mut self, other: &PointSums) {
        self.value += other.value;
        self.dual_norm += other.dual_norm;
        self.balance += other.balance;
        self.conjugate += other.conjugate;
        self.n_support += other.n_support;
    }
}

/// Sums and gradients at the current points.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gradient {
    /// One per problem.
    pub sums: Vec<PointSums>,
    /// −Σ α_i (φ_i, 1) as points: the gradient of the sum of losses.
    pub slopes: Vec<f64>,
}

/// Σ_i h_i (φ_i, 1)(φ_i, 1)ᵀ, h_i being row i's curvature c · loss″ averaged over the live problems.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gram {
    /// Features × features, row-major, lower triangle only.
    pub lower: Vec<f32>,
    /// Σ h φ.
    pub column: Vec<f64>,
    /// Σ h.
    pub corner: f64,
}

/// The rows that one problem's Hessian is made of, where they are few.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ActiveRows {
    /// (φ_i, 1), `n_features + 1` numbers per row.
    pub rows: Vec<f64>,
    /// Their curvatures c · loss″, each above 0.
    pub curvatures: Vec<f64>,
}

impl ActiveRows {
    /// Adds other rows; false if there are then more than `most`, so that they are useless.
    pub fn add(&mut self, other: ActiveRows, most: usize) -> bool {
        if self.curvatures.is_empty() {
            *self = other;
        } else {
            self.rows.extend(other.rows);
            self.curvatures.extend(other.curvatures);
        }
        self.curvatures.len() <= most
    }
}

impl Gradient {
    /// Adds the sums over other rows.
    pub fn add(&mut self, other: &Gradient) {
        self.sums.iter_mut().zip(&other.sums).for_each(|(total, part)| total.add(part));
        linalg::add(&mut self.slopes, &other.slopes);
    }
}

impl Gram {
    /// Adds the sums over other rows.
    pub fn add(&mut self, other: &Gram) {
        self.lower.iter_mut().zip(&other.lower).for_each(|(a, b)| *a += b);
        linalg::add(&mut self.column, &other.column);
        self.corner += other.corner;
    }
}
