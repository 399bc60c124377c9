//! The weights of several two-class problems, in lanes.

use std::ops::{Deref, DerefMut};

use super::coordinate::Real;
use crate::isa::Isa;

/// The maximum number of vectors per feature, which leaves registers for four rows of accumulators.
pub(super) const MAX_VECTORS: usize = 4;

/// Bytes of a cache line.
const LINE: usize = 64;

/// The dimensions of the weights, and the instruction set that reads them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub isa: Isa,
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
