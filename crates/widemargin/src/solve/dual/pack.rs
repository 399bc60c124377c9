//! The state of the two-class problems that are solved together, one in each lane: their weights and dual variables.

use std::ops::{Deref, DerefMut};

use super::certificate::{Certificate, Sums};
use super::coordinate::Real;

/// The maximum number of vectors per feature, which leaves registers for four rows of accumulators.
pub(super) const MAX_VECTORS: usize = 4;

/// Bytes of a cache line.
const LINE: usize = 64;

/// The dimensions of the weights.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub n_features: usize,
    /// Numbers per feature and problem.
    pub n_nodes: usize,
    pub n_problems: usize,
}

impl Frame {
    /// Number of weights of one problem.
    pub fn n_weights(&self) -> usize {
        self.n_features * self.n_nodes
    }

    /// Vectors of `L` lanes per feature for this number of problems.
    pub fn vectors_for<const L: usize>(&self, classes: usize) -> usize {
        (classes * self.n_nodes).div_ceil(L)
    }
}

/// Vectors of `L` lanes; a vector that is as large as a cache line is one.
#[derive(Debug)]
pub(super) struct Vectors<T, const L: usize> {
    numbers: Vec<T>,
    start: usize,
    end: usize,
}

impl<T: Real, const L: usize> Vectors<T, L> {
    /// `n` vectors of zeros.
    pub fn zeros(n: usize) -> Self {
        let spare = LINE / size_of::<T>();
        let numbers = vec![T::zero(); n * L + spare];
        let start = numbers.as_ptr().align_offset(LINE).min(spare);
        Vectors { numbers, start, end: start + n * L }
    }
}

impl<T, const L: usize> Deref for Vectors<T, L> {
    type Target = [[T; L]];

    #[inline(always)]
    fn deref(&self) -> &[[T; L]] {
        self.numbers[self.start..self.end].as_chunks().0
    }
}

impl<T, const L: usize> DerefMut for Vectors<T, L> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [[T; L]] {
        self.numbers[self.start..self.end].as_chunks_mut().0
    }
}

/// For each lane, the index among a value's m numbers.
pub(super) type Pattern<const L: usize> = [[i32; L]; MAX_VECTORS];

/// The weights of a pack.
#[derive(Debug)]
pub(super) struct Weights<T, const L: usize> {
    pub n_nodes: usize,
    pub n_classes: usize,
    pub pattern: Pattern<L>,
    /// Vectors per feature.
    pub vectors: usize,
    /// `lanes[feature * vectors + v]`: lane l of a feature is node l / classes, class l % classes.
    pub lanes: Vectors<T, L>,
}

impl<T: Real, const L: usize> Weights<T, L> {
    /// Those of this number of problems, all 0.
    pub fn zeros(frame: &Frame, n_classes: usize) -> Self {
        let (n_nodes, vectors) = (frame.n_nodes, frame.vectors_for::<L>(n_classes));
        let mut pattern = [[0; L]; MAX_VECTORS];
        for lane in 0..n_nodes * n_classes {
            pattern[lane / L][lane % L] = (lane / n_classes) as i32;
        }
        Weights { n_nodes, n_classes, pattern, vectors, lanes: Vectors::zeros(frame.n_features * vectors) }
    }

    /// Gathers the weights of one class.
    pub fn set(&mut self, class: usize, weights: &[T]) {
        for (lanes, weights) in self.lanes.chunks_exact_mut(self.vectors).zip(weights.chunks_exact(self.n_nodes)) {
            for (node, &weight) in weights.iter().enumerate() {
                let lane = node * self.n_classes + class;
                lanes[lane / L][lane % L] = weight;
            }
        }
    }

    /// Scatters the weights of one class.
    pub fn get(&self, class: usize, weights: &mut [T]) {
        for (lanes, weights) in self.lanes.chunks_exact(self.vectors).zip(weights.chunks_exact_mut(self.n_nodes)) {
            for (node, weight) in weights.iter_mut().enumerate() {
                let lane = node * self.n_classes + class;
                *weight = lanes[lane / L][lane % L];
            }
        }
    }

    /// The squared norm of the weights of one class.
    pub fn squared_norm(&self, class: usize) -> f64 {
        let lanes = (0..self.n_nodes).map(|node| node * self.n_classes + class);
        let square = |lane: usize| -> f64 {
            let of_lane = self.lanes[lane / L..].iter().step_by(self.vectors).map(|vector| vector[lane % L].into());
            of_lane.map(|weight: f64| weight * weight).sum()
        };
        lanes.map(square).sum()
    }
}

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
    /// The sums of an exact pass.
    pub sums: Vec<Sums>,
}

impl<T: Real, const L: usize> Pack<T, L> {
    /// Problems with zero weights, and no rows yet.
    pub fn new(frame: &Frame, problems: Vec<usize>) -> Self {
        let mut lane_of = vec![u8::MAX; frame.n_problems];
        for (lane, &k) in problems.iter().enumerate() {
            lane_of[k] = lane as u8;
        }
        let (weights, sums) = (Weights::zeros(frame, problems.len()), vec![Sums::default(); problems.len()]);
        Pack { problems, lane_of, weights, alphas: Vectors::zeros(0), shrunk: Vec::new(), sums }
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

    /// The objectives of each class lane from its sums; ‖f‖² from its weights if they are coordinates of f, otherwise
    /// from the margins.
    pub fn certificates(&self, is_symmetric: bool) -> Vec<Certificate> {
        let norm = |class: usize, sums: &Sums| {
            if is_symmetric { self.weights.squared_norm(class) } else { sums.alpha_margin }
        };
        self.sums.iter().enumerate().map(|(class, sums)| Certificate::new(sums, norm(class, sums))).collect()
    }
}
