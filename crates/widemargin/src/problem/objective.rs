//! The interface of a primal solver to the training set: sums over its rows.
//!
//! For every problem k, the solver minimizes
//!
//! ½‖w_k‖² + Σ_i c_i · loss(y_ik · (w_kᵀφ_i + b_k)),
//!
//! plus ½b_k² if the intercept is penalized. An [`Objective`] provides the sums over i, for many problems in one pass;
//! the penalty is left to the solver, since it does not depend on rows. Because every result is a sum over rows, the
//! sum of two objectives over different rows is again an objective ([`super::LinearObjective`]): rows may be in several
//! blocks, on disk, or on other machines.
//!
//! An objective stores, for each row, the scores w_kᵀφ_i of the current point and those of one direction, so that a
//! line search does not read φ. *Points* are `[problem][coordinate]`: the features' weights and then the intercept,
//! `n_features + 1` numbers per problem. `live` lists the problems of a call; all its arguments and results are in that
//! order.

use serde::{Deserialize, Serialize};

use super::{HeldOutScores, Loss};
use crate::error::Result;
use crate::linalg;
use crate::macros::named;
use crate::monitor::Monitor;

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

/// Sums over rows, for many problems at once. See the module documentation for the layout of the arguments.
pub trait Objective {
    /// Dimensions and kind.
    fn shape(&self) -> Shape;

    /// The cost of the calls below.
    fn cost(&self) -> Cost;

    /// Sets the current points: scores ← Φw. Reads φ once.
    ///
    /// # Errors
    /// [`Error::Value`](crate::Error::Value) for a non-finite score, naming the feature responsible.
    fn set_point(&mut self, live: &[usize], points: &[f64]) -> Result<()>;

    /// Sets the current directions. Reads φ once.
    ///
    /// # Errors
    /// As [`Objective::set_point`].
    fn set_direction(&mut self, live: &[usize], directions: &[f64]) -> Result<()>;

    /// Sums at a point on each problem's line. Does not read φ.
    ///
    /// # Errors
    /// Errors of the machine that holds the rows, if they are remote.
    fn line_search_eval(&mut self, live: &[usize], lines: &[Line]) -> Result<Vec<LineSums>>;

    /// Moves the current points: scores ← scores + step · direction. Does not read φ.
    ///
    /// # Errors
    /// As [`Objective::line_search_eval`].
    fn take_step(&mut self, live: &[usize], steps: &[f64]) -> Result<()>;

    /// Sums and gradients at the current points with these intercepts. Reads φ once.
    ///
    /// # Errors
    /// [`Error::Value`](crate::Error::Value) for a non-finite gradient.
    fn gradient(&mut self, live: &[usize], intercepts: &[f64]) -> Result<Gradient>;

    /// Σ_i c_i loss″_ik (φ_i, 1)(φ_i, 1)ᵀ d_k for `directions` d, as points. Reads φ once.
    ///
    /// # Errors
    /// As [`Objective::line_search_eval`].
    fn hessian_product(&mut self, live: &[usize], intercepts: &[f64], directions: &[f64]) -> Result<Vec<f64>>;

    /// A matrix that approximates the Hessians of all live problems, or `None` if the monitor says to stop.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled) if the monitor cancelled, otherwise as
    /// [`Objective::line_search_eval`].
    fn gram(&mut self, live: &[usize], intercepts: &[f64], monitor: &Monitor<'_>) -> Result<Option<Gram>>;

    /// The diagonal of that matrix, `n_features + 1` numbers. Reads φ once.
    ///
    /// # Errors
    /// As [`Objective::line_search_eval`].
    fn diagonal(&mut self, live: &[usize], intercepts: &[f64]) -> Result<Vec<f64>>;

    /// The rows with a curvature above 0 in problem `k`, or `None` if there are more than `most`. For squared hinge
    /// these are the rows inside the margin.
    ///
    /// # Errors
    /// As [`Objective::line_search_eval`].
    fn active_rows(&mut self, k: usize, intercept: f64, most: usize) -> Result<Option<ActiveRows>>;

    /// Gives some rows, evenly spaced, the cost 0 from now on, so that a fit does not see them: a tenth of few.
    ///
    /// # Errors
    /// As [`Objective::line_search_eval`].
    fn hold_out(&mut self) -> Result<()> {
        Ok(())
    }

    /// The decision values of those rows at the current points with these intercepts; none if rows cannot be held out.
    /// Does not read φ.
    ///
    /// # Errors
    /// As [`Objective::line_search_eval`].
    fn held_out(&mut self, _intercepts: &[f64]) -> Result<HeldOutScores> {
        Ok(HeldOutScores::default())
    }
}
