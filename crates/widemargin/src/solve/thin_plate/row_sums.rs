//! The interface of the basis solver to the training set: sums over its rows, wherever these are stored.
//!
//! A row of weight w is a vector x of features times √w: first the penalized ones, then the unpenalized. A point is a
//! vector of the same length; z = x · point is the row's weighted score, and √w y − z its residual. Half the derivative of
//! its loss, and whether that curves there, follow from the residual ([`SmoothLoss`](crate::problem::SmoothLoss)); for the squared hinge the rows that
//! curve are those inside the margin. An implementation stores for each row and problem z at the current point, z at the
//! point evaluated last, and the share of the row that is counted in the problem's Hessian Σ x xᵀ, which the solver stores.
//!
//! Queries are for all problems at once: the cost of a pass is that of reading the rows and computing their features.

use serde::{Deserialize, Serialize};

use crate::problem::HeldOutScores;

/// The dimensions of a fit on bases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowsShape {
    /// Number of penalized features: one per basis.
    pub n_penalized: usize,
    /// Number of unpenalized features: the free polynomials.
    pub n_free: usize,
    /// Number of two-class problems, or of outputs.
    pub n_problems: usize,
    /// Whether all problems share the Hessian at 0: every row has a loss that curves there, as those that are not rounded do
    /// for classes, and weighs the same in all.
    pub shares_first_hessian: bool,
}

impl RowsShape {
    /// Number of features of a row.
    pub fn width(&self) -> usize {
        self.n_penalized + self.n_free
    }
}

/// Sums over the rows of one problem at one point.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PointSums {
    /// Σ p x, where p is half the derivative of a row's loss by its residual: for the squared hinge, y times its slack
    /// inside the margin.
    pub right: Vec<f64>,
    /// Σ loss: for the squared hinge, of the squared slacks.
    pub loss: f64,
    /// Σ p √w y.
    pub linear: f64,
    /// Σ |p| √w.
    pub pulls: f64,
    /// Σ w of the rows whose loss curves.
    pub curved: f64,
    /// Σ loss and Σ conjugate of losses that are not rounded.
    pub exact: [f64; 2],
    /// The largest distance of a row from the piece of its loss at the current point, if it is in another one; above 0 if
    /// there is one.
    pub crossing: f64,
    /// The largest |z|.
    pub size: f64,
    /// Rows with a derivative other than 0.
    pub n_support: u64,
}

impl PointSums {
    /// Adds the sums over other rows.
    pub fn add(&mut self, other: &PointSums) {
        if self.right.is_empty() {
            self.right.clone_from(&other.right);
        } else {
            self.right.iter_mut().zip(&other.right).for_each(|(sum, x)| *sum += x);
        }
        self.loss += other.loss;
        self.linear += other.linear;
        self.pulls += other.pulls;
        self.curved += other.curved;
        (0..2).for_each(|at| self.exact[at] += other.exact[at]);
        self.crossing = self.crossing.max(other.crossing);
        self.size = self.size.max(other.size);
        self.n_support += other.n_support;
    }
}

/// Sums over leave-one-out decision values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LeaveOneOutSums {
    /// Σ w max(0, 1 − y value)² over rows and problems.
    pub hinge: f64,
    /// The weight of the wrong and of all rows of each class, or of each label.
    pub of_groups: Vec<[f64; 2]>,
    /// Whether the targets are multilabel.
    pub is_multilabel: bool,
    /// Of each output of a regression the sums of weight times loss, of weight times its square, and of the weights.
    pub of_outputs: Vec<[f64; 3]>,
    /// Those of some rows; of a regression the residuals, rows × outputs.
    pub some: HeldOutScores,
}

impl LeaveOneOutSums {
    /// Adds the sums over other rows.
    pub(crate) fn extend(&mut self, other: LeaveOneOutSums) {
        self.hinge += other.hinge;
        self.some.extend(other.some);
        self.is_multilabel |= other.is_multilabel;
        add_groups(&mut self.of_groups, other.of_groups);
        add_groups(&mut self.of_outputs, other.of_outputs);
    }

    /// The mean of the squared hinge over the rows and `k` problems.
    pub(crate) fn mean_hinge(&self, k: usize) -> f64 {
        let all: f64 = self.of_groups.iter().map(|[_, all]| all).sum();
        // Labels are problems themselves, whose known rows may differ.
        self.hinge / if self.is_multilabel { all } else { all * k as f64 }
    }

    /// The share of the weight that is wrong.
    pub(crate) fn error(&self) -> f64 {
        let sum = |at: usize| self.of_groups.iter().map(|group| group[at]).sum::<f64>();
        sum(0) / sum(1)
    }

    /// The same of each label, if multilabel; empty for classes.
    pub(crate) fn label_errors(&self) -> Vec<f64> {
        let share = |[wrong, all]: &[f64; 2]| wrong / all;
        if self.is_multilabel { self.of_groups.iter().map(share).collect() } else { Vec::new() }
    }
}

/// Adds sums of groups; there may be none yet.
fn add_groups<const N: usize>(sums: &mut Vec<[f64; N]>, next: Vec<[f64; N]>) {
    if sums.is_empty() {
        *sums = next;
    } else {
        sums.as_flattened_mut().iter_mut().zip(next.as_flattened()).for_each(|(sum, part)| *sum += part);
    }
}

/// Hessians, column-major squares whose lower triangle is used, or what is to be added to them: of each live problem, or
/// one for all; and the sums of each live problem.
pub(super) type Sums = (Vec<Vec<f64>>, Vec<PointSums>);

/// Where problems are evaluated.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Place {
    /// At points, problems × width, including those of problems that are not live.
    Points(Vec<f64>),
    /// At positions on the lines from the current points (0) to those evaluated last (1), to which they move.
    OnLines(Vec<f64>),
}
