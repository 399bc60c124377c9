//! The one thing a primal solver sees: sums over the rows of a training set.
//!
//! Minimised is, for every problem k,
//!
//! ½‖w_k‖² + Σ_i c_i · loss(y_ik · (w_kᵀφ_i + b_k)),
//!
//! the square of b_k being added where the intercept is penalised. An [`Objective`] gives the sums over i, for
//! many problems in one pass; the penalty is the solver's, since it has nothing to do with rows. Because every
//! result is a sum over rows, the sum of two objectives over different rows is again an objective
//! ([`super::LinearObjective`]): rows may lie in several blocks, on disk, or on other machines.
//!
//! An objective remembers, row by row, the scores w_kᵀφ_i of the current point and those of one direction, so
//! that a search along a line needs no look at φ. *Points* are `[problem][coordinate]`: the features' weights
//! and then the intercept, `n_features + 1` numbers a problem. `live` lists the problems a call is about; all
//! that is passed with it, and all that comes back, is in its order.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::SmoothLoss;
use crate::error::{Error, Result};
use crate::linalg;
use crate::monitor::Monitor;

/// What is done about a constant in the decision function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Intercept {
    /// There is one, and it costs nothing.
    #[default]
    Free,
    /// There is one, and ½b² is part of the objective: a feature that is always 1, as LIBLINEAR's `-B 1`.
    Penalised,
    /// There is none.
    None,
}

impl fmt::Display for Intercept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Intercept::Free => "free",
            Intercept::Penalised => "penalised",
            Intercept::None => "none",
        })
    }
}

impl FromStr for Intercept {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "free" => Ok(Intercept::Free),
            "penalised" => Ok(Intercept::Penalised),
            "none" => Ok(Intercept::None),
            _ => Err(Error::UnknownName {
                what: "intercept",
                given: name.to_owned(),
                expected: "known are free, penalised, none".into(),
            }),
        }
    }
}

/// The sizes of a problem and what kind it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Rows that the sums are over.
    pub n_rows: usize,
    /// Features of a row, the intercept not counted.
    pub n_features: usize,
    /// Two-class problems.
    pub n_problems: usize,
    /// The loss.
    pub loss: SmoothLoss,
    /// The intercept.
    pub intercept: Intercept,
}

/// What calls cost, in multiply-adds of a large matrix product or what takes as long.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
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
    /// How far to go.
    pub step: f64,
    /// 1 to move the weights along the direction, 0 to leave them.
    pub along: f64,
    /// What the intercept changes a step.
    pub turn: f64,
}

/// Sums at a place on a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LineSums {
    /// Σ c loss.
    pub value: f64,
    /// Its derivative by the step.
    pub slope: f64,
    /// Its second derivative by the step.
    pub curvature: f64,
    /// Σ c pull, the sum of the dual variables.
    pub pull: f64,
}

/// Sums at the current point of a problem.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PointSums {
    /// Σ c loss.
    pub value: f64,
    /// Σ α with α_i = c_i · pull_i, the dual variables that belong to the point.
    pub pull: f64,
    /// Σ α y, which is 0 for dual variables that a free intercept allows.
    pub balance: f64,
    /// The conjugate's share of the dual objective, Σ c (loss + pull · margin) by Fenchel and Young's equality.
    pub conjugate: f64,
    /// Rows with α > 0.
    pub n_support: u64,
}

impl LineSums {
    /// Adds the sums over other rows.
    pub fn add(&mut self, other: &LineSums) {
        self.value += other.value;
        self.slope += other.slope;
        self.curvature += other.curvature;
        self.pull += other.pull;
    }
}

impl PointSums {
    /// Adds the sums over other rows.
    pub fn add(&mut self, other: &PointSums) {
        self.value += other.value;
        self.pull += other.pull;
        self.balance += other.balance;
        self.conjugate += other.conjugate;
        self.n_support += other.n_support;
    }
}

/// Sums and gradients at the current points.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gradient {
    /// One a problem.
    pub sums: Vec<PointSums>,
    /// −Σ α_i y_i (φ_i, 1) as points: the gradient of the sum of losses.
    pub slopes: Vec<f64>,
}

/// Σ_i h_i (φ_i, 1)(φ_i, 1)ᵀ, h_i being row i's curvature c · loss″ averaged over the live problems.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gram {
    /// Features × features, row-major, the lower triangle alone.
    pub lower: Vec<f32>,
    /// Σ h φ.
    pub column: Vec<f64>,
    /// Σ h.
    pub corner: f64,
}

/// The rows that one problem's Hessian is made of, where they are few.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ActiveRows {
    /// (φ_i, 1), `n_features + 1` numbers a row.
    pub rows: Vec<f64>,
    /// Their curvatures c · loss″, each above 0.
    pub curvatures: Vec<f64>,
}

impl ActiveRows {
    /// Adds other rows; false where they are more than `most` then, and so of no use.
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

/// Sums over rows, for many problems at once. See the head of the file for the layout of the arguments.
pub trait Objective {
    /// Sizes and kind.
    fn shape(&self) -> Shape;

    /// What the calls below cost.
    fn cost(&self) -> Cost;

    /// Makes `points` the current ones: scores ← Φw. Reads φ once.
    ///
    /// # Errors
    /// [`Error::Value`](crate::Error::Value) for a score that is not finite, naming the feature to blame.
    fn set_point(&mut self, live: &[usize], points: &[f64]) -> Result<()>;

    /// Makes `directions` the current ones. Reads φ once.
    ///
    /// # Errors
    /// As [`Objective::set_point`].
    fn set_direction(&mut self, live: &[usize], directions: &[f64]) -> Result<()>;

    /// Sums at a place on each problem's line. Does not read φ.
    ///
    /// # Errors
    /// Of the machine that holds the rows, if it is not this one.
    fn line_search_eval(&mut self, live: &[usize], lines: &[Line]) -> Result<Vec<LineSums>>;

    /// Moves the current points: scores ← scores + step · direction. Does not read φ.
    ///
    /// # Errors
    /// As [`Objective::line_search_eval`].
    fn take_step(&mut self, live: &[usize], steps: &[f64]) -> Result<()>;

    /// Sums and gradients at the current points with these intercepts. Reads φ once.
    ///
    /// # Errors
    /// [`Error::Value`](crate::Error::Value) for a gradient that is not finite.
    fn gradient(&mut self, live: &[usize], intercepts: &[f64]) -> Result<Gradient>;

    /// Σ_i c_i loss″_ik (φ_i, 1)(φ_i, 1)ᵀ d_k for `directions` d, as points. Reads φ once.
    ///
    /// # Errors
    /// As [`Objective::line_search_eval`].
    fn hessian_product(&mut self, live: &[usize], intercepts: &[f64], directions: &[f64]) -> Result<Vec<f64>>;

    /// One matrix that stands for the Hessians of all live problems, or `None` where the watch says to stop.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled) where the watch was, else as [`Objective::line_search_eval`].
    fn gram(&mut self, live: &[usize], intercepts: &[f64], monitor: &Monitor<'_>) -> Result<Option<Gram>>;

    /// The diagonal of that matrix, `n_features + 1` numbers. Reads φ once.
    ///
    /// # Errors
    /// As [`Objective::line_search_eval`].
    fn diagonal(&mut self, live: &[usize], intercepts: &[f64]) -> Result<Vec<f64>>;

    /// The rows with a curvature above 0 in problem `k`, or `None` where they are more than `most`. For squared hinge they
    /// are the rows inside the margin.
    ///
    /// # Errors
    /// As [`Objective::line_search_eval`].
    fn active_rows(&mut self, k: usize, intercept: f64, most: usize) -> Result<Option<ActiveRows>>;
}
