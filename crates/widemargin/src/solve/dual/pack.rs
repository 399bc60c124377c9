//! Up to 16 two-class problems in the lanes of vector registers, and passes over the rows that update them.

use std::ops::Range;

use super::certificate::Sums;
use super::coordinate::{Lanes, Limits, Visit};
use super::lanes::{Flat, LANES, Loops, MAX_VECTORS, Pattern, Vector};
use super::problem::{DualProblem, ROWS_PER_CHECK};
use super::tables::Tables;
use crate::expansion::{AdditiveMap, Entry};
use crate::isa::{Isa, dispatch};
use crate::memory::prefetch;
use crate::monitor::{Monitor, Stopped};
use crate::problem::Loss;
use crate::simd::Simd;

/// Prefetch distance in rows; for a row's start and its other data, four times as many.
const AHEAD: usize = 2;

/// The dimensions of a pack.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub isa: Isa,
    pub n_features: usize,
    pub n_nodes: usize,
    pub n_problems: usize,
}

impl Frame {
    pub fn new(isa: Isa, map: &AdditiveMap, n_features: usize, n_problems: usize) -> Self {
        Frame { isa, n_features, n_nodes: map.n_nodes(), n_problems }
    }

    /// Number of weights of one problem.
    pub fn n_weights(&self) -> usize {
        self.n_features * self.n_nodes
    }

    /// Vectors per feature for this number of problems.
    pub fn vectors_for(&self, classes: usize) -> usize {
        (classes * self.n_nodes).div_ceil(LANES)
    }
}

/// The live problems, packed into lanes.
pub(super) struct Pack {
    frame: Frame,
    /// The problem of each class lane.
    pub problems: Vec<usize>,
    /// The class lane of each problem; [`LANES`] or more for those not in the pack.
    lane_of: Vec<u8>,
    pattern: Pattern,
    pub vectors: usize,
    /// `weights[feature * vectors + v]`: lane l of a feature is node l / classes, class l % classes.
    weights: Vec<Vector>,
    /// One vector per row; lane c belongs to `problems[c]`.
    alphas: Vec<Vector>,
    /// The lanes, one bit each, that skip a row until their next exact pass.
    pub shrunk: Vec<u16>,
}

impl Pack {
    /// Problems with zero weights, and no rows yet.
    pub fn new(frame: Frame, problems: Vec<usize>) -> Self {
        let (m, classes) = (frame.n_nodes, problems.len());
        let vectors = frame.vectors_for(classes);
        let mut pattern = [[0; LANES]; MAX_VECTORS];
        for lane in 0..m * classes {
            pattern[lane / LANES][lane % LANES] = (lane / classes) as i32;
        }
        let mut lane_of = vec![u8::MAX; frame.n_problems];
        for (lane, &k) in problems.iter().enumerate() {
            lane_of[k] = lane as u8;
        }
        let weights = vec![Vector::ZERO; frame.n_features * vectors];
        Pack { frame, problems, lane_of, pattern, vectors, weights, alphas: Vec::new(), shrunk: Vec::new() }
    }

    /// Allocates the dual variables of this number of rows, all 0, with no row skipped.
    pub fn begin_rows(&mut self, n_rows: usize) {
        self.alphas.clear();
        self.alphas.resize(n_rows, Vector::ZERO);
        self.shrunk.clear();
        self.shrunk.resize(n_rows, 0);
    }

    /// Gathers the weights of one class lane.
    pub fn set_weights(&mut self, class: usize, weights: &[f32]) {
        let (m, classes) = (self.frame.n_nodes, self.problems.len());
        for (at, &weight) in weights.iter().enumerate() {
            let lane = (at % m) * classes + class;
            self.weights[at / m * self.vectors + lane / LANES].0[lane % LANES] = weight;
        }
    }

    /// Scatters the weights of one class lane.
    pub fn weights(&self, class: usize, weights: &mut [f32]) {
        let (m, classes) = (self.frame.n_nodes, self.problems.len());
        for (at, weight) in weights.iter_mut().enumerate() {
            let lane = (at % m) * classes + class;
            *weight = self.weights[at / m * self.vectors + lane / LANES].0[lane % LANES];
        }
    }

    /// Gathers the dual variables of one class lane.
    pub fn set_alphas(&mut self, class: usize, alphas: &[f32]) {
        for (lanes, &alpha) in self.alphas.iter_mut().zip(alphas) {
            lanes.0[class] = alpha;
        }
    }

    /// Scatters the dual variables of one class lane.
    pub fn alphas(&self, class: usize, alphas: &mut [f32]) {
        for (lanes, alpha) in self.alphas.iter().zip(alphas) {
            *alpha = lanes.0[class];
        }
    }

    /// Multiplies the weights and dual variables of one class lane.
    fn scale(&mut self, class: usize, factor: f32) {
        let classes = self.problems.len();
        for lane in (0..self.frame.n_nodes).map(|node| node * classes + class) {
            for vector in self.weights[lane / LANES..].iter_mut().step_by(self.vectors) {
                vector.0[lane % LANES] *= factor;
            }
        }
        self.alphas.iter_mut().for_each(|alphas| alphas.0[class] *= factor);
    }

    /// The squared norm of the weights of one class lane.
    fn squared_norm(&self, class: usize) -> f64 {
        let classes = self.problems.len();
        let lanes = (0..self.frame.n_nodes).map(|node| node * classes + class);
        let square = |lane: usize| {
            self.weights[lane / LANES..]
                .iter()
                .step_by(self.vectors)
                .map(|v| f64::from(v.0[lane % LANES]).powi(2))
                .sum::<f64>()
        };
        lanes.map(square).sum()
    }
}

/// The rows of a pass, and their data.
pub(super) struct Pass<'a, E> {
    pub problem: &'a DualProblem<'a>,
    pub tables: &'a Tables<f32>,
    pub diagonal: &'a [f32],
    pub entries: &'a [E],
}

impl<E: Entry> Pass<'_, E> {
    /// One pass over the rows that at least one live problem does not skip. The caller begins and ends the epoch of
    /// `lanes`.
    pub fn epoch(
        &self,
        pack: &mut Pack,
        lanes: &mut Lanes,
        order: &[u32],
        shrinking: bool,
        monitor: &Monitor<'_>,
    ) -> Result<(), Stopped> {
        dispatch!(pack.frame.isa, simd => simd.compiled(#[inline(always)] || {
            self.epoch_inlined(self.loops(simd, pack), pack, lanes, order, shrinking, monitor)
        }))
    }

    fn loops<S: Simd>(&self, simd: S, pack: &Pack) -> Loops<S, E> {
        Loops::new(simd, pack.vectors, self.tables.stride > 4)
    }

    #[inline(always)]
    fn epoch_inlined<S: Simd>(
        &self,
        loops: Loops<S, E>,
        pack: &mut Pack,
        lanes: &mut Lanes,
        order: &[u32],
        shrinking: bool,
        monitor: &Monitor<'_>,
    ) -> Result<(), Stopped> {
        let classes = pack.problems.len();
        let m = self.problem.map.n_nodes();
        let is_even = self.problem.targets.is_even();
        let mut spread = Flat::ZERO;
        for (at, &row) in order.iter().enumerate() {
            if at % ROWS_PER_CHECK == 0 {
                monitor.ask()?;
            }
            // Without this, the first non-zeros of each row would wait for memory.
            if let Some(&soon) = order.get(at + AHEAD) {
                prefetch(self.row(soon as usize));
            }
            if let Some(&later) = order.get(at + 4 * AHEAD) {
                self.prefetch_row(pack, later as usize);
            }
            let row = row as usize;
            if lanes.live() & !pack.shrunk[row] == 0 {
                continue;
            }
            let mut signs = [-1.0; LANES];
            let targets = &self.problem.targets;
            if targets.is_multilabel() {
                let lanes = signs.iter_mut().zip(&pack.problems);
                lanes.for_each(|(sign, &problem)| *sign = targets.sign(row, problem) as f32);
            } else if let Some(k) = targets.positive_problem(row)
                && let Some(sign) = signs.get_mut(usize::from(pack.lane_of[k]))
            {
                *sign = 1.0;
            }
            let scores = self.scores(&loops, pack, row);
            let limits = |cost: f64| Limits::new(self.problem, cost, self.diagonal[row]);
            let (cost, alphas) = (self.problem.costs[row], &mut pack.alphas[row].0);
            let shrunk = &mut pack.shrunk[row];
            let visit = if is_even {
                lanes.visit(&scores, &signs, alphas, shrunk, &limits(cost), shrinking)
            } else {
                let mut each = [Limits::absent(); LANES];
                for (each, &problem) in each.iter_mut().zip(&pack.problems) {
                    let weight = targets.weight(row, problem);
                    if weight > 0.0 {
                        *each = limits(cost * weight);
                    }
                }
                lanes.visit(&scores, &signs, alphas, shrunk, &each, shrinking)
            };
            match visit {
                Visit::Still => {}
                Visit::Moved(steps) => {
                    for node in 0..m {
                        spread.0[node * classes..][..LANES].copy_from_slice(&steps);
                    }
                    let (write, weights) = (self.tables.write().as_ptr(), pack.weights.as_mut_ptr());
                    // SAFETY: `CodedRows` has every feature below n_features and every code in the book, and
                    // `Pack` and `Tables` were sized by those.
                    unsafe { (loops.update)(loops.simd, self.row(row), write, &pack.pattern, weights, &spread) };
                }
            }
        }
        Ok(())
    }

    /// Takes the share of some rows away from the weights: their dual variables are 0 then.
    pub fn forget(&self, pack: &mut Pack, rows: Range<usize>) {
        dispatch!(pack.frame.isa, simd => {
            let loops = self.loops(simd, pack);
            simd.compiled(#[inline(always)] || self.forget_inlined(loops, pack, rows));
        });
    }

    #[inline(always)]
    fn forget_inlined<S: Simd>(&self, loops: Loops<S, E>, pack: &mut Pack, rows: Range<usize>) {
        let classes = pack.problems.len();
        let mut spread = Flat::ZERO;
        for row in rows {
            let mut steps = [0.0; LANES];
            for (class, step) in steps[..classes].iter_mut().enumerate() {
                let sign = self.problem.targets.sign(row, pack.problems[class]) as f32;
                *step = -sign * std::mem::take(&mut pack.alphas[row].0[class]);
            }
            for node in 0..self.problem.map.n_nodes() {
                spread.0[node * classes..][..LANES].copy_from_slice(&steps);
            }
            let (write, weights) = (self.tables.write().as_ptr(), pack.weights.as_mut_ptr());
            // SAFETY: as for an epoch.
            unsafe { (loops.update)(loops.simd, self.row(row), write, &pack.pattern, weights, &spread) };
        }
    }

    /// Scales the dual variables α of each class lane, and the weights with them, to the largest dual objective:
    /// by Σ α / (‖f‖² + Σ D α²). Nothing is scaled if the variables have an upper bound, or the weights are not
    /// coordinates of f.
    pub fn rescale(&self, pack: &mut Pack) {
        if self.problem.loss != Loss::SquaredHinge || !self.problem.map.is_symmetric() {
            return;
        }
        for class in 0..pack.problems.len() {
            let (mut linear, mut square) = (0.0, pack.squared_norm(class));
            for (row, alphas) in pack.alphas.iter().enumerate() {
                let alpha = f64::from(alphas.0[class]);
                if alpha > 0.0 {
                    let cost = self.problem.cost(row, pack.problems[class]);
                    linear += alpha;
                    square += self.problem.loss.diagonal(cost) * alpha * alpha;
                }
            }
            if square > 0.0 {
                pack.scale(class, (linear / square) as f32);
            }
        }
    }

    /// Appends f(x) of some rows to the values of each class lane.
    pub fn add_scores(&self, pack: &Pack, rows: Range<usize>, values: &mut [Vec<f32>]) {
        dispatch!(pack.frame.isa, simd => {
            let loops = self.loops(simd, pack);
            simd.compiled(#[inline(always)] || {
                for row in rows.clone() {
                    let scores = self.scores(&loops, pack, row);
                    values.iter_mut().zip(scores).for_each(|(values, score)| values.push(score));
                }
            });
        });
    }

    /// Prefetches the data of a row.
    #[inline(always)]
    fn prefetch_row(&self, pack: &Pack, row: usize) {
        prefetch(&self.problem.rows.indptr()[row..row + 1]);
        prefetch(&pack.alphas[row..row + 1]);
        prefetch(&pack.shrunk[row..row + 1]);
        prefetch(&self.problem.costs[row..row + 1]);
        prefetch(&self.diagonal[row..row + 1]);
    }

    #[inline(always)]
    fn row(&self, row: usize) -> &[E] {
        let indptr = self.problem.rows.indptr();
        &self.entries[indptr[row]..indptr[row + 1]]
    }

    /// f(x) of one row for every class lane.
    #[inline(always)]
    fn scores<S: Simd>(&self, loops: &Loops<S, E>, pack: &Pack, row: usize) -> [f32; LANES] {
        let mut sums = Flat::ZERO;
        let read = self.tables.read().as_ptr();
        // SAFETY: `CodedRows` has every feature below n_features and every code in the book, and `Pack` and
        // `Tables` were sized by those.
        unsafe { (loops.dot)(loops.simd, self.row(row), read, &pack.pattern, pack.weights.as_ptr(), &mut sums) };
        let classes = pack.problems.len();
        // Lanes past the classes hold unrelated values, which are not used.
        let mut scores = [0.0; LANES];
        for node in 0..self.problem.map.n_nodes() {
            for (score, sum) in scores.iter_mut().zip(&sums.0[node * classes..][..LANES]) {
                *score += sum;
            }
        }
        scores
    }

    /// Adds the terms of the objectives at fixed weights, over all rows, to the sums of each class lane.
    pub fn add_sums(&self, pack: &Pack, sums: &mut [Sums]) {
        dispatch!(pack.frame.isa, simd => {
            let loops = self.loops(simd, pack);
            simd.compiled(#[inline(always)] || self.add_sums_inlined(loops, pack, sums));
        });
    }

    #[inline(always)]
    fn add_sums_inlined<S: Simd>(&self, loops: Loops<S, E>, pack: &Pack, sums: &mut [Sums]) {
        for row in 0..self.problem.rows.n_rows() {
            let scores = self.scores(&loops, pack, row);
            for (class, sums) in sums.iter_mut().enumerate() {
                let sign = self.problem.targets.sign(row, pack.problems[class]);
                let alpha = f64::from(pack.alphas[row].0[class]);
                let cost = self.problem.cost(row, pack.problems[class]);
                sums.add(self.problem.loss, cost, alpha, sign * f64::from(scores[class]));
            }
        }
    }
}

/// ‖f‖² of one class lane: from its weights if they are coordinates of f, otherwise from the margins.
pub(super) fn quadratic(map: &AdditiveMap, pack: &Pack, class: usize, sums: &Sums) -> f64 {
    if map.is_symmetric() { pack.squared_norm(class) } else { sums.alpha_margin }
}
