//! The loop of dual coordinate descent: rows × an update.

use std::ops::Range;

use super::certificate::Certificate;
use super::coordinate::{Lanes, Limits, Real};
use super::loss_terms::LossTerms;
use super::pack::{Pack, Weights};
use super::shard::Shard;
use crate::error::Result;
use crate::isa::{Isa, dispatch};
use crate::memory::prefetch;
use crate::monitor::{Monitor, Stopped, is_late};
use crate::simd::Simd;

/// Rows visited between two checks of the monitor.
const ROWS_PER_CHECK: usize = 1024;

/// Prefetch distance in rows; for a row's start and its other data, four times as many.
const AHEAD: usize = 2;

/// Rows φ(x), as coordinate descent sees them, for up to `L` two-class problems at a time.
pub(super) trait DualRows<const L: usize>: Sync {
    /// Of weights and dual variables.
    type Number: Real;

    /// How many neighbors in memory are visited together: see [`Order`](super::order::Order).
    const NEIGHBORS: usize = 1;

    fn n_rows(&self) -> usize;

    /// Q_ii of a row: ‖φ‖², or more.
    fn diagonal(&self, row: usize) -> Self::Number;

    /// φ·w of a row for each problem; lanes past the problems hold any values.
    fn dot<S: Simd>(&self, simd: S, row: usize, weights: &Weights<Self::Number, L>) -> [Self::Number; L];

    /// w += step · φ for each problem.
    fn add<S: Simd>(&self, simd: S, row: usize, steps: &[Self::Number; L], weights: &mut Weights<Self::Number, L>);

    /// Prefetches a row.
    fn prefetch(&self, _row: usize) {}

    /// Prefetches the position of a row.
    fn prefetch_start(&self, _row: usize) {}

    /// Ends an epoch of the live problems, one bit each.
    fn end_epoch(&self, _live: u16, _weights: &mut Weights<Self::Number, L>) {}

    /// The objectives of the problems at the weights, which may be replaced by more exact ones, over all rows.
    fn certify(&self, pass: &Pass<'_, Self, L>, pack: &mut Pack<Self::Number, L>) -> Vec<Certificate>
    where
        Self: Sized,
    {
        pass.add_sums(pack);
        pack.certificates(pass.terms.is_symmetric)
    }
}

/// Passes over rows.
pub(super) struct Pass<'a, R, const L: usize> {
    pub isa: Isa,
    pub rows: &'a R,
    pub terms: LossTerms<'a>,
}

impl<R: DualRows<L>, const L: usize> Pass<'_, R, L> {
    /// One pass over the rows that at least one live problem does not skip; true if the time limit ended it. The caller
    /// begins and ends the epoch of the lanes.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn epoch(&self, shard: &mut Shard<R::Number, L>, order: &[u32], monitor: &Monitor<'_>) -> Result<bool> {
        let Shard { pack, lanes, .. } = shard;
        let ended = dispatch!(self.isa, simd => simd.compiled(#[inline(always)] || {
            self.epoch_inlined(simd, pack, lanes, order, monitor)
        }));
        if ended.is_ok() {
            self.rows.end_epoch(lanes.live(), &mut pack.weights);
        }
        is_late(ended, "solve")
    }

    #[inline(always)]
    fn epoch_inlined<S: Simd>(
        &self,
        simd: S,
        pack: &mut Pack<R::Number, L>,
        lanes: &mut Lanes<R::Number, L>,
        order: &[u32],
        monitor: &Monitor<'_>,
    ) -> Result<(), Stopped> {
        let is_even = self.terms.targets.is_even();
        for (at, &row) in order.iter().enumerate() {
            if at % ROWS_PER_CHECK == 0 {
                monitor.ask()?;
            }
            // Without this, the first non-zeros of each row would wait for memory.
            if let Some(&soon) = order.get(at + AHEAD) {
                self.rows.prefetch(soon as usize);
            }
            if let Some(&later) = order.get(at + 4 * AHEAD) {
                self.prefetch_row(pack, later as usize);
            }
            let row = row as usize;
            if lanes.live() & !pack.shrunk[row] == 0 || self.terms.costs[row] == 0.0 {
                continue;
            }
            let signs = self.signs(row, pack);
            let scores = self.rows.dot(simd, row, &pack.weights);
            let limits = |cost: f64| Limits::new(&self.terms, cost, self.rows.diagonal(row));
            let (cost, alphas) = (self.terms.costs[row], &mut pack.alphas[row]);
            let shrunk = &mut pack.shrunk[row];
            let moved = if is_even {
                lanes.visit(&scores, &signs, alphas, shrunk, &limits(cost))
            } else {
                let mut each = [Limits::absent(); L];
                for (each, &problem) in each.iter_mut().zip(&pack.problems) {
                    let weight = self.terms.targets.weight(row, problem);
                    if weight > 0.0 {
                        *each = limits(cost * weight);
                    }
                }
                lanes.visit(&scores, &signs, alphas, shrunk, &each)
            };
            if let Some(steps) = moved {
                self.rows.add(simd, row, &steps, &mut pack.weights);
            }
        }
        Ok(())
    }

    /// The signs of a row in the problems of a pack; −1 in lanes past them.
    #[inline(always)]
    fn signs(&self, row: usize, pack: &Pack<R::Number, L>) -> [R::Number; L] {
        let one = R::Number::of(1.0);
        let mut signs = [-one; L];
        if self.terms.targets.is_multilabel() {
            let lanes = signs.iter_mut().zip(&pack.problems);
            lanes.for_each(|(sign, &problem)| *sign = R::Number::of(self.terms.targets.sign(row, problem)));
        } else if let Some(k) = self.terms.targets.positive_problem(row)
            && let Some(sign) = signs.get_mut(usize::from(pack.lane_of[k]))
        {
            *sign = one;
        }
        signs
    }

    /// Prefetches the data of a row.
    #[inline(always)]
    fn prefetch_row(&self, pack: &Pack<R::Number, L>, row: usize) {
        self.rows.prefetch_start(row);
        prefetch(&pack.alphas[row..row + 1]);
        prefetch(&pack.shrunk[row..row + 1]);
        prefetch(&self.terms.costs[row..row + 1]);
    }

    /// w += Σ y · step(row, class) · φ over some rows; the steps of a row come from its dual variables.
    pub fn add_rows(
        &self,
        rows: Range<usize>,
        pack: &mut Pack<R::Number, L>,
        mut step: impl FnMut(usize, usize, &mut R::Number) -> R::Number,
    ) {
        let zero = R::Number::of(0.0);
        dispatch!(self.isa, simd => simd.compiled(#[inline(always)] || {
            for row in rows {
                let signs = self.signs(row, pack);
                let mut steps = [zero; L];
                for class in 0..pack.problems.len() {
                    steps[class] = signs[class] * step(row, class, &mut pack.alphas[row][class]);
                }
                if steps.iter().any(|step| *step != zero) {
                    self.rows.add(simd, row, &steps, &mut pack.weights);
                }
            }
        }));
    }

    /// φ·w of some rows, for each class lane.
    pub fn each_score(
        &self,
        rows: impl Iterator<Item = usize>,
        pack: &Pack<R::Number, L>,
        mut take: impl FnMut(usize, &[R::Number]),
    ) {
        let n_classes = pack.problems.len();
        if n_classes == 0 {
            return;
        }
        dispatch!(self.isa, simd => simd.compiled(#[inline(always)] || {
            for row in rows {
                take(row, &self.rows.dot(simd, row, &pack.weights)[..n_classes]);
            }
        }));
    }

    /// The same, one vector for each class lane.
    pub fn scores(&self, rows: impl Iterator<Item = usize>, pack: &Pack<R::Number, L>) -> Vec<Vec<R::Number>> {
        let mut scores = vec![Vec::new(); pack.problems.len()];
        self.each_score(rows, pack, |_, of_row| {
            scores.iter_mut().zip(of_row).for_each(|(scores, score)| scores.push(*score));
        });
        scores
    }

    /// Adds the terms of the objectives at fixed weights, over all rows, to the sums of each class lane.
    pub fn add_sums(&self, pack: &mut Pack<R::Number, L>) {
        let mut all = std::mem::take(&mut pack.sums);
        self.each_score(0..self.rows.n_rows(), pack, |row, scores| {
            for ((class, sums), &score) in all.iter_mut().enumerate().zip(scores) {
                let problem = pack.problems[class];
                let margin = self.terms.targets.sign(row, problem) * score.into();
                let cost = self.terms.cost(row, problem);
                sums.add(self.terms.loss, cost, pack.alphas[row][class].into(), margin);
            }
        });
        pack.sums = all;
    }
}
