//! The loop of dual coordinate descent: rows × an update.

use std::ops::Range;

use super::certificate::{Certificate, Sums};
use super::coordinate::{Lanes, Limits, Real, Visit};
use super::loss_terms::LossTerms;
use super::pack::Pack;
use super::weights::Weights;
use crate::isa::{Isa, dispatch};
use crate::memory::prefetch;
use crate::monitor::{Monitor, Stopped};
use crate::simd::Simd;

/// Rows visited between two checks of the monitor.
const ROWS_PER_CHECK: usize = 1024;

/// Prefetch distance in rows; for a row's start and its other data, four times as many.
const AHEAD: usize = 2;

/// Rows φ(x), as coordinate descent sees them, for up to `L` two-class problems at a time.
pub(super) trait DualRows<T: Real, const L: usize>: Sync {
    /// How many neighbors in memory are visited together: see [`Order`](super::order::Order).
    const NEIGHBORS: usize = 1;

    fn n_rows(&self) -> usize;

    /// Q_ii of a row: ‖φ‖², or more.
    fn diagonal(&self, row: usize) -> T;

    /// φ·w of a row for each problem; lanes past the problems hold any values.
    fn dot<S: Simd>(&self, simd: S, row: usize, weights: &Weights<T, L>) -> [T; L];

    /// w += step · φ for each problem.
    fn add<S: Simd>(&self, simd: S, row: usize, steps: &[T; L], weights: &mut Weights<T, L>);

    /// Prefetches a row.
    fn prefetch(&self, _row: usize) {}

    /// Prefetches the position of a row.
    fn prefetch_start(&self, _row: usize) {}

    /// Ends an epoch of the live problems, one bit each.
    fn end_epoch(&self, _live: u16, _weights: &mut Weights<T, L>) {}

    /// The objectives of the problems at the weights, which may be replaced by more exact ones, over all rows.
    fn certify(&self, pass: &Pass<'_, Self>, pack: &mut Pack<T, L>) -> Vec<Certificate>
    where
        Self: Sized,
    {
        let mut sums = vec![Sums::default(); pack.problems.len()];
        pass.add_sums(pack, &mut sums);
        (0..sums.len()).map(|class| pack.certificate(class, &sums[class], pass.terms.is_symmetric)).collect()
    }
}

/// Passes over rows.
pub(super) struct Pass<'a, R> {
    pub isa: Isa,
    pub rows: &'a R,
    pub terms: LossTerms<'a>,
}

impl<R> Clone for Pass<'_, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Pass<'_, R> {}

impl<R> Pass<'_, R> {
    /// One pass over the rows that at least one live problem does not skip. The caller begins and ends the epoch of
    /// `lanes`.
    pub fn epoch<T: Real, const L: usize>(
        &self,
        pack: &mut Pack<T, L>,
        lanes: &mut Lanes<T, L>,
        order: &[u32],
        shrinking: bool,
        monitor: &Monitor<'_>,
    ) -> Result<(), Stopped>
    where
        R: DualRows<T, L>,
    {
        dispatch!(self.isa, simd => simd.compiled(#[inline(always)] || {
            self.epoch_inlined(simd, pack, lanes, order, shrinking, monitor)
        }))?;
        self.rows.end_epoch(lanes.live(), &mut pack.weights);
        Ok(())
    }

    #[inline(always)]
    fn epoch_inlined<T: Real, const L: usize, S: Simd>(
        &self,
        simd: S,
        pack: &mut Pack<T, L>,
        lanes: &mut Lanes<T, L>,
        order: &[u32],
        shrinking: bool,
        monitor: &Monitor<'_>,
    ) -> Result<(), Stopped>
    where
        R: DualRows<T, L>,
    {
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
            let visit = if is_even {
                lanes.visit(&scores, &signs, alphas, shrunk, &limits(cost), shrinking)
            } else {
                let mut each = [Limits::absent(); L];
                for (each, &problem) in each.iter_mut().zip(&pack.problems) {
                    let weight = self.terms.targets.weight(row, problem);
                    if weight > 0.0 {
                        *each = limits(cost * weight);
                    }
                }
                lanes.visit(&scores, &signs, alphas, shrunk, &each, shrinking)
            };
            match visit {
                Visit::Still => {}
                Visit::Moved(steps) => self.rows.add(simd, row, &steps, &mut pack.weights),
            }
        }
        Ok(())
    }

    /// The signs of a row in the problems of a pack; −1 in lanes past them.
    #[inline(always)]
    fn signs<T: Real, const L: usize>(&self, row: usize, pack: &Pack<T, L>) -> [T; L] {
        let mut signs = [-T::one(); L];
        if self.terms.targets.is_multilabel() {
            let lanes = signs.iter_mut().zip(&pack.problems);
            lanes.for_each(|(sign, &problem)| *sign = T::of(self.terms.targets.sign(row, problem)));
        } else if let Some(k) = self.terms.targets.positive_problem(row)
            && let Some(sign) = signs.get_mut(usize::from(pack.lane_of[k]))
        {
            *sign = T::one();
        }
        signs
    }

    /// Prefetches the data of a row.
    #[inline(always)]
    fn prefetch_row<T: Real, const L: usize>(&self, pack: &Pack<T, L>, row: usize)
    where
        R: DualRows<T, L>,
    {
        self.rows.prefetch_start(row);
        prefetch(&pack.alphas[row..row + 1]);
        prefetch(&pack.shrunk[row..row + 1]);
        prefetch(&self.terms.costs[row..row + 1]);
    }

    /// w += Σ y · step(row, class) · φ over some rows; the steps of a row come from its dual variables.
    pub fn add_rows<T: Real, const L: usize>(
        &self,
        rows: Range<usize>,
        pack: &mut Pack<T, L>,
        mut step: impl FnMut(usize, usize, &mut T) -> T,
    ) where
        R: DualRows<T, L>,
    {
        dispatch!(self.isa, simd => simd.compiled(#[inline(always)] || {
            for row in rows {
                let signs = self.signs(row, pack);
                let mut steps = [T::zero(); L];
                for class in 0..pack.problems.len() {
                    steps[class] = signs[class] * step(row, class, &mut pack.alphas[row][class]);
                }
                if steps.iter().any(|step| *step != T::zero()) {
                    self.rows.add(simd, row, &steps, &mut pack.weights);
                }
            }
        }));
    }

    /// φ·w of some rows, for each class lane.
    pub fn each_score<T: Real, const L: usize>(
        &self,
        rows: impl Iterator<Item = usize>,
        pack: &Pack<T, L>,
        mut take: impl FnMut(usize, &[T]),
    ) where
        R: DualRows<T, L>,
    {
        let n_classes = pack.problems.len();
        dispatch!(self.isa, simd => simd.compiled(#[inline(always)] || {
            for row in rows {
                take(row, &self.rows.dot(simd, row, &pack.weights)[..n_classes]);
            }
        }));
    }

    /// Adds the terms of the objectives at fixed weights, over all rows, to the sums of each class lane.
    pub fn add_sums<'s, T: Real, const L: usize>(&self, pack: &Pack<T, L>, sums: impl IntoIterator<Item = &'s mut Sums>)
    where
        R: DualRows<T, L>,
    {
        let mut sums: Vec<&mut Sums> = sums.into_iter().collect();
        self.each_score(0..self.rows.n_rows(), pack, |row, scores| {
            for ((class, sums), &score) in sums.iter_mut().enumerate().zip(scores) {
                let problem = pack.problems[class];
                let margin = self.terms.targets.sign(row, problem) * score.into();
                let cost = self.terms.cost(row, problem);
                sums.add(self.terms.loss, cost, pack.alphas[row][class].into(), margin);
            }
        });
    }
}
