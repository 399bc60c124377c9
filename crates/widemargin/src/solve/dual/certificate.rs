//! The two objectives and the gap between them.
//!
//! During an epoch the margins are those at the time of each visit, so the sums only estimate the objectives; a last
//! pass at fixed weights makes them exact. For a symmetric map the gap then bounds the distance to the optimum. The
//! polynomial map does not define a minimization problem; its fixed point makes the same expression zero, so the value
//! still shows how far the iteration is from its end.

use serde::{Deserialize, Serialize};

use crate::problem::Loss;
use crate::tuning::{GAP_AFTER_PREMATURE_PASS, MIN_GAP_LEFT_BY_EPOCH};

/// The final objectives of one two-class problem.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Certificate {
    pub primal: f64,
    pub dual: f64,
    /// Rows with a dual variable above 0.
    pub n_support: u32,
}

impl Certificate {
    pub fn new(sums: &Sums, quadratic: f64) -> Self {
        let (primal, dual) = (0.5 * quadratic + sums.loss, sums.linear - 0.5 * quadratic);
        Certificate { primal, dual, n_support: sums.n_support }
    }

    pub fn gap(&self) -> f64 {
        relative_gap(self.primal, self.dual)
    }
}

/// (primal − dual) / primal; 0 if both are zero; NaN is preserved.
fn relative_gap(primal: f64, dual: f64) -> f64 {
    if primal <= 0.0 { 0.0 } else { (primal - dual) / primal }
}

/// Sums over the rows of one problem.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    /// Σ cost · loss(margin).
    pub loss: f64,
    /// Σ α − D α² / 2.
    pub linear: f64,
    /// Σ α · margin, which is the quadratic form at fixed weights.
    pub alpha_margin: f64,
    /// Rows with a dual variable above 0.
    pub n_support: u32,
}

impl Sums {
    #[inline]
    pub fn add(&mut self, loss: Loss, cost: f64, alpha: f64, margin: f64) {
        // A row that is no part of the problem.
        if cost == 0.0 {
            return;
        }
        self.loss += cost * loss.value(1.0, margin);
        self.linear += alpha - 0.5 * loss.diagonal(cost) * alpha * alpha;
        self.alpha_margin += alpha * margin;
        self.n_support += u32::from(alpha > 0.0);
    }

    /// The relative gap from the sums of an epoch, with each row as of before its step: the sum of the coordinates'
    /// gaps at their visits. No term is negative (Fenchel-Young inequality).
    pub fn estimate(&self) -> f64 {
        relative_gap(self.loss + 0.5 * self.alpha_margin, self.linear - 0.5 * self.alpha_margin)
    }
}

/// The stopping rule: decides from the estimates of the epochs when an exact pass is worth its cost (about half an
/// epoch).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::solve) struct StopRule {
    tol: f64,
    /// The estimated gap required for an exact pass.
    wanted: f64,
    last: f64,
}

impl StopRule {
    pub fn new(tol: f64) -> Self {
        StopRule { tol, wanted: tol, last: 1.0 }
    }

    /// Whether an epoch with this estimate should be followed by an exact pass.
    pub fn is_near(&mut self, estimate: f64) -> bool {
        let left = (estimate / self.last).clamp(MIN_GAP_LEFT_BY_EPOCH, 1.0);
        self.last = estimate;
        estimate * left <= self.wanted
    }

    /// Whether the exact gap ends the descent.
    pub fn is_met(&mut self, exact: f64) -> bool {
        self.wanted *= GAP_AFTER_PREMATURE_PASS;
        exact <= self.tol
    }
}
