//! The objective over one block of rows in memory, which combines losses, targets and costs with Φ.
//!
//! Its state per row can be moved to another objective over the same rows ([`ObjectiveState`]): a step is then a pure
//! function of the rows, the state and the arguments, and can run on any machine that has or can compute the rows.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::block::{Block, Sums};
use super::objective::{ActiveRows, Cost, Gradient, Gram, Line, LineSums, PointSums, Shape};
use super::{HeldOutScores, LinearProblem};
use crate::draw::is_drawn;
use crate::error::{Error, Result};
use crate::linalg;
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::tuning::{BLOCK_HELD_OUT_ONE_IN, MAX_BLOCK_HELD_OUT};

/// The maximum number of tasks per pass. The partition depends only on the sizes, and sums are added in its order, so
/// that results do not depend on the number of threads.
const MAX_SHARDS: usize = 32;

/// Minimum rows per task.
const MIN_ROWS: usize = 256;

/// Adjacent rows and their state: single precision, `[problem][row]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Shard {
    rows: Range<usize>,
    /// w_kᵀφ_i at the current points.
    scores: Vec<f32>,
    /// The same of the current directions.
    along: Vec<f32>,
}

/// Sums over the rows of one block.
#[derive(Debug)]
pub struct BlockObjective<'a> {
    block: Block<'a>,
    /// Number of the block's first row in the whole training set.
    first_row: usize,
    /// For the block's rows.
    problem: LinearProblem<'a>,
    pool: Arc<Pool>,
    pub(super) shards: Vec<Shard>,
    /// Whether some rows count for nothing.
    pub(super) holds_out: bool,
    /// Its strict limit stops passes over the rows.
    monitor: Monitor<'a>,
}

/// The stage of a pass that was stopped.
const STAGE: &str = "solve";

/// The state of an objective's rows between calls, in a form that only an objective over the same rows knows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ObjectiveState {
    shards: Vec<Shard>,
    holds_out: bool,
}

impl ObjectiveState {
    /// Its size in bytes.
    pub fn n_bytes(&self) -> usize {
        self.shards.iter().map(|shard| size_of_val(&shard.scores[..]) + size_of_val(&shard.along[..])).sum()
    }
}

impl Shard {
    /// Shards for this number of rows and problems, with all scores 0.
    pub(super) fn all(n_rows: usize, n_problems: usize) -> Vec<Shard> {
        let rows = n_rows.div_ceil(MAX_SHARDS).next_multiple_of(MIN_ROWS);
        let shard = |from| {
            let rows = from..n_rows.min(from + rows);
            let scores = vec![0.0; rows.len() * n_problems];
            Shard { along: scores.clone(), scores, rows }
        };
        (0..n_rows).step_by(rows).map(shard).collect()
    }

    /// The state, for swapping out and in.
    pub(super) fn numbers(&mut self) -> [&mut Vec<f32>; 2] {
        [&mut self.scores, &mut self.along]
    }
}

impl<'a> BlockObjective<'a> {
    /// The objective over rows in memory. `threads` threads run each pass, 0 meaning one per core. Results do not depend on
    /// the number of threads.
    ///
    /// # Errors
    /// [`Error::Shape`] if rows and problem are inconsistent, [`Error::Weight`] for a negative or non-finite cost,
    /// [`Error::NoSamples`] without rows, [`Error::Threads`].
    pub fn new(block: Block<'a>, problem: LinearProblem<'a>, threads: usize) -> Result<Self> {
        if block.n_rows() == 0 {
            return Err(Error::NoSamples(""));
        }
        problem.check(block.n_rows())?;
        let shards = Shard::all(block.n_rows(), problem.targets.n_problems());
        Ok(BlockObjective::of_shards((block, 0), problem, Arc::new(Pool::new(threads)?), shards))
    }

    /// The same, whose passes over the rows fail soon after a strict limit of the monitor.
    pub(crate) fn monitored(self, monitor: Monitor<'a>) -> Self {
        BlockObjective { monitor, ..self }
    }

    /// The state.
    pub fn into_state(self) -> ObjectiveState {
        ObjectiveState { shards: self.shards, holds_out: self.holds_out }
    }

    /// Whether a row of the block is one of those that can be held out.
    fn can_be_held_out(&self, row: usize) -> bool {
        let one_in = BLOCK_HELD_OUT_ONE_IN.max(self.block.n_rows().div_ceil(MAX_BLOCK_HELD_OUT));
        is_drawn(row, one_in)
    }

    /// Restores the state of another objective over the same rows.
    ///
    /// # Errors
    /// [`Error::Shape`] if it is for other rows or problems.
    pub fn recall(&mut self, state: ObjectiveState) -> Result<()> {
        let places =
            |shards: &[Shard]| -> Vec<_> { shards.iter().map(|one| (one.rows.clone(), one.scores.len())).collect() };
        if places(&state.shards) != places(&self.shards) {
            let count = |shards: &[Shard]| shards.iter().map(|shard| shard.scores.len()).sum::<usize>();
            let expected = format!("{}, rows × problems", count(&self.shards));
            return Err(Error::shape("stored scores", format!("{} numbers", count(&state.shards)), expected));
        }
        (self.shards, self.holds_out) = (state.shards, state.holds_out);
        Ok(())
    }

    /// The objective with the state of one over the same rows, whose block may be different: a block without columns
    /// suffices for everything that does not read φ.
    pub(super) fn of_shards(
        (block, first_row): (Block<'a>, usize),
        problem: LinearProblem<'a>,
        pool: Arc<Pool>,
        shards: Vec<Shard>,
    ) -> Self {
        BlockObjective { block, first_row, problem, pool, shards, holds_out: false, monitor: Monitor::none() }
    }

    /// Products of all rows with `points`, stored as the shards' scores or directions.
    fn multiply(&mut self, live: &[usize], points: &[f64], into: fn(&mut Shard) -> &mut Vec<f32>) -> Result<()> {
        let d = self.block.n_features();
        if points.chunks(d + 1).all(|point| point[..d].iter().all(|w| *w == 0.0)) {
            for shard in &mut self.shards {
                let n = shard.rows.len();
                live.iter().for_each(|&k| into(shard)[k * n..(k + 1) * n].fill(0.0));
            }
            return Ok(());
        }
        let packed = self.block.products().pack(points, d + 1);
        let (block, panel, monitor) = (&self.block, self.block.panel_rows(), &self.monitor);
        let finite = self.pool.map_mut(&mut self.shards, |_, shard| {
            let rows: Vec<u32> = shard.rows.clone().map(|row| row as u32).collect();
            let mut out = vec![0.0; panel * live.len()];
            let mut finite = true;
            for (from, rows) in (0..).step_by(panel).zip(rows.chunks(panel)) {
                monitor.go_on(STAGE)?;
                let out = &mut out[..rows.len() * live.len()];
                block.products().scores(rows, &packed, out);
                finite &= out.iter().all(|score| score.is_finite());
                for (scores, &k) in out.chunks(rows.len()).zip(live) {
                    let at = k * shard.rows.len() + from;
                    into(shard)[at..at + rows.len()].copy_from_slice(scores);
                }
            }
            Ok(finite)
        });
        if finite.into_iter().collect::<Result<Vec<bool>>>()?.contains(&false) {
            Err(self.not_finite())
        } else {
            Ok(())
        }
    }

    fn not_finite(&self) -> Error {
        let expected = "features and C such that scores fit single precision: scale the features";
        self.block.check(self.first_row).err().unwrap_or(Error::parameter("C", "too large", expected))
    }

    /// Calls `visit(i, y, cost, score)` for the rows of a shard in problem `k`.
    #[inline(always)]
    fn for_each(&self, shard: &Shard, k: usize, mut visit: impl FnMut(usize, f64, f64, f64)) {
        let n = shard.rows.len();
        let scores = &shard.scores[k * n..(k + 1) * n];
        let costs = &self.problem.costs[shard.rows.clone()];
        for (i, (&score, &cost)) in scores.iter().zip(costs).enumerate() {
            let row = shard.rows.start + i;
            let cost = if self.holds_out && self.can_be_held_out(row) { 0.0 } else { cost };
            visit(i, self.problem.targets.sign(row, k), cost * self.problem.targets.weight(row, k), f64::from(score));
        }
    }

    /// c · loss″ of a shard's rows, `[live problem][row]`.
    fn curvatures(&self, shard: &Shard, live: &[usize], intercepts: &[f64]) -> Vec<f32> {
        let n = shard.rows.len();
        let mut factors = vec![0.0; n * live.len()];
        for ((factors, &k), b) in factors.chunks_mut(n).zip(live).zip(intercepts) {
            self.for_each(shard, k, |i, y, cost, score| {
                factors[i] = (cost * self.problem.loss.at(y, score + b).curvature) as f32;
            });
        }
        factors
    }

    /// Curvatures of all rows of the block, averaged over the live problems.
    fn mean_curvatures(&self, live: &[usize], intercepts: &[f64]) -> Vec<f32> {
        let share = 1.0 / live.len().max(1) as f64;
        let mut all = Vec::with_capacity(self.block.n_rows());
        for shard in &self.shards {
            let factors = self.curvatures(shard, live, intercepts);
            let n = shard.rows.len();
            all.extend((0..n).map(|i| {
                let sum: f64 = factors[i..].iter().step_by(n).map(|&factor| f64::from(factor)).sum();
                (sum * share) as f32
            }));
        }
        all
    }

    /// Calls `work(rows, factors)` panel by panel for the rows with a non-zero factor in any live problem: for squared
    /// hinge, the rows inside the margin.
    fn for_each_panel(&self, shard: &Shard, factors: &[f32], mut work: impl FnMut(&[u32], &mut [f32])) {
        let n = shard.rows.len();
        let active: Vec<usize> = (0..n).filter(|&i| factors[i..].iter().step_by(n).any(|f| *f != 0.0)).collect();
        let mut rows: Vec<u32> = Vec::new();
        let mut mine = Vec::new();
        for panel in active.chunks(self.block.panel_rows()) {
            rows.clear();
            rows.extend(panel.iter().map(|&i| (shard.rows.start + i) as u32));
            mine.clear();
            for factors in factors.chunks(n) {
                mine.extend(panel.iter().map(|&i| factors[i]));
            }
            work(&rows, &mut mine);
        }
    }

    /// The partial sums of groups of adjacent shards, as many in each, in order: of the features, and what `work` adds
    /// up besides, one per problem.
    fn partial_sums<T: Clone + Default + Send>(
        &self,
        n_live: usize,
        work: impl Fn(&Shard, &mut Sums, &mut [T]) + Sync,
    ) -> Result<Vec<(Vec<f64>, Vec<T>)>> {
        let n = self.shards.len();
        let n_in_group = n.div_ceil(self.block.products().n_partial_sums(n).max(1)).max(1);
        let groups: Vec<&[Shard]> = self.shards.chunks(n_in_group).collect();
        self.pool.try_map(groups.len(), |group| {
            let (mut sums, mut others) = (self.block.products().sums(n_live), vec![T::default(); n_live]);
            for shard in groups[group] {
                self.monitor.go_on(STAGE)?;
                work(shard, &mut sums, &mut others);
            }
            Ok((self.block.products().unpack(sums), others))
        })
    }

    /// Adds partial sums in order, as points: the features' sums and the intercept's.
    fn add_up(&self, n_live: usize, parts: impl IntoIterator<Item = (Vec<f64>, Vec<f64>)>) -> Vec<f64> {
        let d = self.block.n_features();
        let mut total = vec![0.0; n_live * (d + 1)];
        for (features, intercepts) in parts {
            for (k, total) in total.chunks_mut(d + 1).enumerate() {
                linalg::add(total, &features[k * d..(k + 1) * d]);
                total[d] += intercepts[k];
            }
        }
        total
    }

    // The answers of the rows to the queries of `linear_queries.rs`.

    pub(super) fn shape(&self) -> Shape {
        self.problem.shape(self.block.n_rows(), self.block.n_features())
    }

    /// Measured relative to a matrix product at 80 Gflop/s: a pass takes the time of 15 multiply-adds per value for
    /// reading it and of 2.5 for each problem.
    pub(super) fn cost(&self) -> Cost {
        let values = self.block.products().n_values() as f64;
        Cost { pass: 15.0 * values, problem: 2.5 * values, gram: self.block.products().gram_cost() }
    }

    pub(super) fn set_point(&mut self, live: &[usize], points: &[f64]) -> Result<()> {
        self.multiply(live, points, |shard| &mut shard.scores)
    }

    pub(super) fn set_direction(&mut self, live: &[usize], directions: &[f64]) -> Result<()> {
        self.multiply(live, directions, |shard| &mut shard.along)
    }

    pub(super) fn line_search_eval(&mut self, live: &[usize], lines: &[Line]) -> Result<Vec<LineSums>> {
        let parts = self.pool.try_map(self.shards.len(), |s| {
            self.monitor.go_on(STAGE)?;
            let shard = &self.shards[s];
            let n = shard.rows.len();
            let sums = live.iter().zip(lines).map(|(&k, line)| {
                let along = &shard.along[k * n..(k + 1) * n];
                let mut sums = LineSums::default();
                self.for_each(shard, k, |i, y, cost, score| {
                    let moves = line.along * f64::from(along[i]) + line.turn;
                    let loss = self.problem.loss.at(y, score + line.intercept + line.step * moves);
                    sums.value += cost * loss.value;
                    sums.slope -= cost * loss.dual * moves;
                    sums.curvature += cost * loss.curvature * moves * moves;
                    sums.dual_norm += cost * loss.dual.abs();
                });
                sums
            });
            Ok::<_, Error>(sums.collect::<Vec<_>>())
        })?;
        let mut total = vec![LineSums::default(); live.len()];
        for part in &parts {
            total.iter_mut().zip(part).for_each(|(total, part)| total.add(part));
        }
        Ok(total)
    }

    pub(super) fn take_step(&mut self, live: &[usize], steps: &[f64]) -> Result<()> {
        self.pool.map_mut(&mut self.shards, |_, shard| {
            let n = shard.rows.len();
            for (&k, &step) in live.iter().zip(steps) {
                let range = k * n..(k + 1) * n;
                for (score, along) in shard.scores[range.clone()].iter_mut().zip(&shard.along[range]) {
                    *score = (f64::from(*score) + step * f64::from(*along)) as f32;
                }
            }
        });
        Ok(())
    }

    pub(super) fn gradient(&mut self, live: &[usize], intercepts: &[f64]) -> Result<Gradient> {
        let parts = self.partial_sums(live.len(), |shard, slopes, all: &mut [PointSums]| {
            let n = shard.rows.len();
            let mut factors = vec![0.0; n * live.len()];
            for (((factors, &k), b), all) in factors.chunks_mut(n).zip(live).zip(intercepts).zip(all) {
                let mut sums = PointSums::default();
                self.for_each(shard, k, |i, y, cost, score| {
                    let loss = self.problem.loss.at(y, score + b);
                    let alpha = cost * loss.dual;
                    sums.value += cost * loss.value;
                    sums.dual_norm += alpha.abs();
                    sums.balance += alpha;
                    // Not 0 · ∞ for an infinite score, whose α is 0.
                    sums.conjugate += cost * loss.value + if alpha != 0.0 { alpha * (score + b) } else { 0.0 };
                    sums.n_support += u64::from(alpha != 0.0);
                    factors[i] = -alpha as f32;
                });
                all.add(&sums);
            }
            self.for_each_panel(shard, &factors, |rows, factors| {
                self.block.products().add_combination(rows, factors, slopes)
            });
        })?;
        let mut sums = vec![PointSums::default(); live.len()];
        for (_, part) in &parts {
            sums.iter_mut().zip(part).for_each(|(total, part)| total.add(part));
        }
        let parts = parts.into_iter().map(|(slopes, sums)| (slopes, sums.iter().map(|s| -s.balance).collect()));
        let slopes = self.add_up(live.len(), parts);
        if !slopes.iter().all(|slope| slope.is_finite()) || !sums.iter().all(|sums| sums.value.is_finite()) {
            return Err(self.not_finite());
        }
        Ok(Gradient { sums, slopes })
    }

    pub(super) fn hessian_product(
        &mut self,
        live: &[usize],
        intercepts: &[f64],
        directions: &[f64],
    ) -> Result<Vec<f64>> {
        let d = self.block.n_features();
        let packed = self.block.products().pack(directions, d + 1);
        let turns: Vec<f32> = directions.chunks(d + 1).map(|direction| direction[d] as f32).collect();
        let parts = self.partial_sums(live.len(), |shard, sums, balances: &mut [f64]| {
            let mut scores = Vec::new();
            let factors = self.curvatures(shard, live, intercepts);
            // Both products of a panel while it is cached, so that Φ is read once.
            self.for_each_panel(shard, &factors, |rows, factors| {
                scores.resize(factors.len(), 0.0);
                self.block.products().scores(rows, &packed, &mut scores);
                let problems = factors.chunks_mut(rows.len()).zip(scores.chunks(rows.len()));
                for ((factors, scores), (turn, balance)) in problems.zip(turns.iter().zip(&mut *balances)) {
                    for (factor, score) in factors.iter_mut().zip(scores) {
                        *factor *= score + turn;
                        *balance += f64::from(*factor);
                    }
                }
                self.block.products().add_combination(rows, factors, sums);
            });
        })?;
        Ok(self.add_up(live.len(), parts))
    }

    pub(super) fn gram(&mut self, live: &[usize], intercepts: &[f64], monitor: &Monitor<'_>) -> Result<Option<Gram>> {
        let factors = self.mean_curvatures(live, intercepts);
        let Some(lower) = self.block.products().gram(&factors, &self.pool, monitor)? else { return Ok(None) };
        let parts = self.partial_sums(1, |shard, sums, corner: &mut [f64]| {
            let factors = &factors[shard.rows.clone()];
            self.for_each_panel(shard, factors, |rows, factors| {
                self.block.products().add_combination(rows, factors, sums)
            });
            corner[0] += factors.iter().map(|&factor| f64::from(factor)).sum::<f64>();
        })?;
        let mut column = self.add_up(1, parts);
        let corner = column.pop().unwrap_or(0.0);
        Ok(Some(Gram { lower, column, corner }))
    }

    pub(super) fn diagonal(&mut self, live: &[usize], intercepts: &[f64]) -> Result<Vec<f64>> {
        let factors = self.mean_curvatures(live, intercepts);
        let parts = self.partial_sums(1, |shard, sums, corner: &mut [f64]| {
            let factors = &factors[shard.rows.clone()];
            self.block.add_squares(shard.rows.start, factors, sums);
            corner[0] += factors.iter().map(|&factor| f64::from(factor)).sum::<f64>();
        })?;
        Ok(self.add_up(1, parts))
    }

    pub(super) fn active_rows(&mut self, k: usize, intercept: f64, most: usize) -> Result<Option<ActiveRows>> {
        let curvatures = self.mean_curvatures(&[k], &[intercept]);
        let active: Vec<usize> = (0..curvatures.len()).filter(|&row| curvatures[row] > 0.0).collect();
        if active.len() > most {
            return Ok(None);
        }
        let size = self.block.n_features() + 1;
        let mut rows = vec![0.0; active.len() * size];
        for (out, &row) in rows.chunks_mut(size).zip(&active) {
            out[size - 1] = 1.0;
            self.block.for_each_nonzero(row, |column, value| out[column] = value);
        }
        let curvatures = active.iter().map(|&row| f64::from(curvatures[row])).collect();
        Ok(Some(ActiveRows { rows, curvatures }))
    }

    pub(super) fn held_out(&mut self, intercepts: &[f64]) -> Result<HeldOutScores> {
        let LinearProblem { targets, costs, .. } = self.problem;
        let mut found = HeldOutScores::default();
        for shard in &self.shards {
            let n = shard.rows.len();
            for (i, row) in shard.rows.clone().enumerate() {
                if self.can_be_held_out(row) && costs[row] > 0.0 {
                    let score = |(k, b): (usize, &f64)| f64::from(shard.scores[k * n + i]) + b;
                    found.push(intercepts.iter().enumerate().map(score), targets.code(row), costs[row], 1.0);
                }
            }
        }
        Ok(found)
    }
}
