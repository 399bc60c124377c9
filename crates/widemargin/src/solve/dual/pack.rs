//! The state of the two-class problems that are solved together, one in each lane.

use std::ops::Range;

use super::certificate::{Certificate, Sums};
use super::coordinate::{Lanes, Real};
use super::weights::{Frame, Vectors, Weights};

/// Problems that share passes over the rows.
pub(super) struct Pack<T, const L: usize> {
    /// The problem of each class lane.
    pub problems: Vec<usize>,
    /// The class lane of each problem; `L` or more for those not in the pack.
    pub lane_of: Vec<u8>,
    pub weights: Weights<T, L>,
    /// One vector per row; lane c belongs to `problems[c]`.
    pub alphas: Vectors<T, L>,
    /// The lanes, one bit each, that skip a row until their next exact pass.
    pub shrunk: Vec<u16>,
}

impl<T: Real, const L: usize> Pack<T, L> {
    /// Problems with zero weights, and no rows yet.
    pub fn new(frame: &Frame, problems: Vec<usize>) -> Self {
        let mut lane_of = vec![u8::MAX; frame.n_problems];
        for (lane, &k) in problems.iter().enumerate() {
            lane_of[k] = lane as u8;
        }
        let weights = Weights::zeros(frame, problems.len());
        Pack { problems, lane_of, weights, alphas: Vectors::zeros(0), shrunk: Vec::new() }
    }

    /// Allocates the dual variables of this number of rows, all 0, with no row skipped.
    pub fn begin_rows(&mut self, n_rows: usize) {
        if self.alphas.len() == n_rows {
            self.alphas.fill([T::zero(); L]);
        } else {
            self.alphas = Vectors::zeros(n_rows);
        }
        self.shrunk.clear();
        self.shrunk.resize(n_rows, 0);
    }

    /// Gathers the dual variables of one class lane, and unless it begins anew the rows that it skips: see
    /// [`get_alphas`](Self::get_alphas).
    pub fn set_alphas(&mut self, class: usize, alphas: &[T], anew: bool) {
        for ((lanes, bits), &alpha) in self.alphas.iter_mut().zip(&mut self.shrunk).zip(alphas) {
            lanes[class] = alpha;
            *bits |= u16::from(!anew && alpha.is_zero() && alpha.is_sign_negative()) << class;
        }
    }

    /// Scatters the dual variables of one class lane; −0 marks a row that it skips until the next exact pass.
    pub fn get_alphas(&self, class: usize, alphas: &mut [T]) {
        for ((lanes, bits), alpha) in self.alphas.iter().zip(&self.shrunk).zip(alphas) {
            // Of several problems, only rows at 0 are skipped.
            let is_skipped = bits >> class & 1 == 1 && lanes[class].is_zero();
            *alpha = if is_skipped { T::neg_zero() } else { lanes[class] + T::zero() };
        }
    }

    /// The objectives of one class lane from its sums; ‖f‖² from its weights if they are coordinates of f, otherwise
    /// from the margins.
    pub fn certificate(&self, class: usize, sums: &Sums, is_symmetric: bool) -> Certificate {
        Certificate::new(sums, if is_symmetric { self.weights.squared_norm(class) } else { sums.alpha_margin })
    }
}

/// Some problems of a shard, packed.
pub(super) struct Moving<T, const L: usize> {
    /// All problems of the shard.
    pub shard: Range<usize>,
    pub pack: Pack<T, L>,
    pub lanes: Lanes<T, L>,
}
