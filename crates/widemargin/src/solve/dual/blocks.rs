//! Dual coordinate descent on rows that do not fit in memory, one block at a time.
//!
//! After Yu, Hsieh, Chang and Lin, *Large linear classification when data cannot fit in memory*, KDD 2010: blocks are
//! loaded with their dual variables (the next one meanwhile), get a pass starting from the current weights, and their
//! dual variables are stored. Every step increases the dual objective over all rows, so the descent converges to the
//! same solution as in memory. The same estimates decide when to make an exact pass, which reads all rows once more.
//!
//! The paper's blocks are fixed. Here each round deals small pieces to blocks again: descent benefits from new
//! combinations of rows, and needs two or three times as many rounds if the same rows always come together, even though
//! each block is a random sample (bags of words, 180,000 rows, ten classes, gap 0.01: 6 rounds in memory; 17 in 3 fixed
//! blocks, 14 in 10, 11 in 33).

use std::marker::PhantomData;
use std::ops::Range;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::batched::shards;
use super::block_problem::{BlockProblem, BlockRows, BlockState, Blocks, Deal, DualCheckpoint, Keep, Loaded, One};
use super::certificate::{Certificate, Sums};
use super::coordinate::Lanes;
use super::order::Order;
use super::pack::{Frame, Pack, Pass, quadratic};
use super::problem::{DualProblem, DualSettings, DualSolution};
use super::tables::Tables;
use crate::error::{Error, Result};
use crate::expansion::{Entry, Narrow, Wide};
use crate::isa::Isa;
use crate::monitor::{Monitor, Progress, Stopped};
use crate::par::Pool;
use crate::problem::HeldOutScores;
use crate::solve::Status;

/// Solves every two-class problem on all blocks, from the start or from a checkpoint. The result does not depend on the
/// number of threads, and a resumed descent takes the same steps. With it come the decision values of some rows from
/// weights learned without them, which take one more pass; none if time is up.
///
/// # Errors
/// [`Error::Cancelled`] if the monitor cancelled, [`Error::Threads`] if no pool can be created, and errors of `blocks`
/// and `keep`.
pub(crate) fn solve_blocks(
    problem: &BlockProblem<'_>,
    blocks: &dyn Blocks,
    settings: &DualSettings,
    saved: Option<DualCheckpoint>,
    keep: &mut dyn Keep,
    monitor: &Monitor<'_>,
) -> Result<(DualSolution, HeldOutScores)> {
    if problem.n_features <= 1 << 16 {
        Descent::<Narrow>::new(problem, blocks, settings, saved, monitor)?.run(keep)
    } else {
        Descent::<Wide>::new(problem, blocks, settings, saved, monitor)?.run(keep)
    }
}

struct Descent<'a, E> {
    problem: &'a BlockProblem<'a>,
    blocks: &'a dyn Blocks,
    settings: &'a DualSettings,
    monitor: &'a Monitor<'a>,
    pool: Pool,
    tables: Tables<f32>,
    frame: Frame,
    /// The problems that share vectors.
    shards: Vec<Range<usize>>,
    state: BlockState,
    /// For each problem; empty while a pack has them, and before the first round.
    weights: Vec<Vec<f32>>,
    form: PhantomData<E>,
}

/// The active problems of a shard.
struct Moving {
    /// All problems of the shard.
    shard: Range<usize>,
    pack: Pack,
    lanes: Lanes,
}

impl<'a, E: Entry> Descent<'a, E> {
    fn new(
        problem: &'a BlockProblem<'a>,
        blocks: &'a dyn Blocks,
        settings: &'a DualSettings,
        saved: Option<DualCheckpoint>,
        monitor: &'a Monitor<'a>,
    ) -> Result<Self> {
        let pool = Pool::new(settings.threads)?;
        let n_problems = problem.targets.n_problems();
        let saved = saved.unwrap_or_else(|| DualCheckpoint {
            state: BlockState { rounds: 0, anew: true, problems: vec![One::new(settings.tol); n_problems] },
            weights: vec![Vec::new(); n_problems],
        });
        Ok(Descent {
            problem,
            blocks,
            settings,
            monitor,
            tables: Tables::new(problem.map, problem.book),
            frame: Frame::new(Isa::best(), problem.map, problem.n_features, n_problems),
            shards: shards(n_problems, problem.map.n_nodes(), pool.threads()),
            pool,
            state: saved.state,
            weights: saved.weights,
            form: PhantomData,
        })
    }

    fn run(mut self, keep: &mut dyn Keep) -> Result<(DualSolution, HeldOutScores)> {
        while self.state.problems.iter().any(|one| one.status.is_none()) {
            let stopped = self.descend(keep)?;
            self.certify()?;
            for one in self.state.problems.iter_mut().filter(|one| one.status.is_none()) {
                let gap = Certificate { primal: one.primal, dual: one.dual }.gap();
                one.status = if one.rule.is_met(gap) {
                    Some(Status::Converged)
                } else if one.epochs >= self.settings.max_epochs {
                    Some(Status::IterationLimit)
                } else {
                    None
                };
                one.is_near = false;
                one.threshold = f32::INFINITY.to_bits();
            }
            self.state.anew = true;
            let is_done = stopped || self.state.problems.iter().all(|one| one.status.is_some());
            if is_done || keep.is_due() {
                keep.keep(&self.state, &|k| self.whole(k))?;
            }
            if stopped {
                // A resumed descent continues where it ended: the limit is that of this run.
                let unsolved = self.state.problems.iter_mut().filter(|one| one.status.is_none());
                unsolved.for_each(|one| one.status = Some(Status::TimeLimit));
            }
        }
        let held_out = if self.monitor.ask().is_ok() { self.held_out_scores()? } else { HeldOutScores::default() };
        Ok((self.solution(), held_out))
    }

    /// The decision values of the first rows of the first block: their share of the weights is removed, and every other
    /// row is visited once from there. Dual variables stay as they are stored.
    fn held_out_scores(&self) -> Result<HeldOutScores> {
        struct Without {
            pack: Pack,
            lanes: Lanes,
            values: Vec<Vec<f32>>,
        }
        let pack = |shard: &Range<usize>| {
            let mut pack = Pack::new(self.frame, shard.clone().collect());
            for (class, k) in shard.clone().enumerate() {
                pack.set_weights(class, &self.whole(k));
            }
            let mut lanes = Lanes::new(shard.len());
            lanes.begin_epoch();
            Without { pack, lanes, values: vec![Vec::new(); shard.len()] }
        };
        let mut all: Vec<Without> = self.shards.iter().map(pack).collect();
        let deals = self.deals(None);
        let mut is_late = false;
        self.each_block(&deals, |block, rows, alphas| {
            let n_rows = rows.rows.n_rows();
            let held_out = if block == 0 { 0..held_out_of(self.blocks.n_rows(), n_rows) } else { 0..0 };
            let problem = self.problem.of(rows);
            let pass = self.pass(&problem, rows);
            let order: Vec<u32> = (held_out.end as u32..n_rows as u32).collect();
            let visited = self.pool.map_mut(&mut all, |_, Without { pack, lanes, .. }| {
                pack.begin_rows(n_rows);
                for class in 0..pack.problems.len() {
                    pack.set_alphas(class, &alphas[pack.problems[class] * n_rows..][..n_rows]);
                }
                pass.forget(pack, held_out.clone());
                pass.epoch(pack, lanes, &order, false, self.monitor)
            });
            if visited.contains(&Err(Stopped::Cancelled)) {
                return Err(Error::Cancelled { stage: "hold out" });
            }
            is_late = visited.contains(&Err(Stopped::TimeLimit));
            Ok(!is_late)
        })?;
        let mut found = HeldOutScores::default();
        if is_late {
            return Ok(found);
        }
        self.each_block(&deals[..deals.len().min(1)], |_, rows, _| {
            let held_out = 0..held_out_of(self.blocks.n_rows(), rows.rows.n_rows());
            let problem = self.problem.of(rows);
            let pass = self.pass(&problem, rows);
            self.pool.map_mut(&mut all, |_, one| pass.add_scores(&one.pack, held_out.clone(), &mut one.values));
            for row in held_out {
                let values = all.iter().flat_map(|one| &one.values).map(|values| f64::from(values[row]));
                found.push(values, rows.codes[row], rows.costs[row], 1.0);
            }
            Ok(true)
        })?;
        Ok(found)
    }

    /// Rounds until every problem waits for an exact pass. True if the time limit was reached before.
    fn descend(&mut self, keep: &mut dyn Keep) -> Result<bool> {
        let mut moving: Vec<Moving> = self.shards.clone().into_iter().filter_map(|shard| self.pack(shard)).collect();
        let mut stopped = false;
        while !moving.is_empty() && !stopped {
            stopped = self.round(&mut moving)?;
            if !stopped {
                self.judge(&mut moving);
            }
            let is_last = stopped || !self.state.problems.iter().any(One::moves);
            if !is_last && keep.is_due() {
                keep.keep(&self.state, &|k| self.packed_or_whole(k, &moving))?;
            }
            moving = moving.into_iter().filter_map(|one| self.repack(one, is_last)).collect();
        }
        Ok(stopped)
    }

    /// Packs the active problems of a shard.
    fn pack(&mut self, shard: Range<usize>) -> Option<Moving> {
        let problems: Vec<usize> = shard.clone().filter(|&k| self.state.problems[k].moves()).collect();
        if problems.is_empty() {
            return None;
        }
        let mut lanes = Lanes::new(problems.len());
        let mut pack = Pack::new(self.frame, problems);
        for class in 0..pack.problems.len() {
            let k = pack.problems[class];
            pack.set_weights(class, &std::mem::take(&mut self.weights[k]));
            lanes.set_threshold(class, f32::from_bits(self.state.problems[k].threshold));
        }
        Some(Moving { shard, pack, lanes })
    }

    /// Removes inactive problems, if that saves a vector.
    fn repack(&mut self, moving: Moving, is_last: bool) -> Option<Moving> {
        let left = moving.lanes.live().count_ones() as usize;
        if !is_last && left > 0 && self.frame.vectors_for(left) == moving.pack.vectors {
            return Some(moving);
        }
        for (class, &k) in moving.pack.problems.iter().enumerate() {
            self.weights[k] = vec![0.0; self.frame.n_weights()];
            moving.pack.weights(class, &mut self.weights[k]);
        }
        let Moving { shard, .. } = moving;
        if is_last { None } else { self.pack(shard) }
    }

    /// Visits every row once. True if the time limit ended it early.
    fn round(&mut self, moving: &mut [Moving]) -> Result<bool> {
        let deals = self.deals(Some(self.state.rounds));
        moving.iter_mut().for_each(|one| one.lanes.begin_epoch());
        let mut is_late = false;
        let this = &*self;
        this.each_block(&deals, |block, rows, mut alphas| {
            is_late = this.visit_all(block, rows, moving, &mut alphas)?;
            this.blocks.put_away(rows, &alphas)?;
            Ok(!is_late)
        })?;
        moving.iter_mut().for_each(|one| one.lanes.end_epoch());
        self.state.anew = false;
        Ok(is_late)
    }

    /// A pass of all shards over one block. True if the time limit ended it early.
    fn visit_all(&self, block: usize, rows: &BlockRows, moving: &mut [Moving], alphas: &mut [f32]) -> Result<bool> {
        let n_rows = rows.rows.n_rows();
        let mut rest = alphas;
        let mut at = 0;
        let mut parts: Vec<(&mut Moving, &mut [f32])> = Vec::new();
        for one in moving {
            rest = &mut std::mem::take(&mut rest)[(one.shard.start - at) * n_rows..];
            let (mine, others) = std::mem::take(&mut rest).split_at_mut(one.shard.len() * n_rows);
            (rest, at) = (others, one.shard.end);
            parts.push((one, mine));
        }
        let mut is_late = false;
        for visit in self.pool.map_mut(&mut parts, |_, (one, alphas)| self.visit(block, rows, one, alphas)) {
            match visit {
                Err(Stopped::Cancelled) => return Err(Error::Cancelled { stage: "solve" }),
                Err(Stopped::TimeLimit) => is_late = true,
                Ok(()) => {}
            }
        }
        Ok(is_late)
    }

    /// A pass over one block. `alphas` are those of the shard's problems, one column each.
    fn visit(&self, block: usize, rows: &BlockRows, moving: &mut Moving, alphas: &mut [f32]) -> Result<(), Stopped> {
        let n_rows = rows.rows.n_rows();
        let Moving { shard, pack, lanes } = moving;
        let column = |k: usize| (k - shard.start) * n_rows..(k - shard.start + 1) * n_rows;
        pack.begin_rows(n_rows);
        for class in 0..pack.problems.len() {
            let alphas = &alphas[column(pack.problems[class])];
            pack.set_alphas(class, alphas);
            if !self.state.anew {
                let is_out = |alpha: &f32| u16::from(alpha.to_bits() == (-0.0f32).to_bits());
                pack.shrunk.iter_mut().zip(alphas).for_each(|(bits, alpha)| *bits |= is_out(alpha) << class);
            }
        }
        let problem = self.problem.of(rows);
        let pass = self.pass(&problem, rows);
        let mut order = Order::new(n_rows, mixed(self.settings.seed, block as u64));
        let ended = pass.epoch(pack, lanes, order.of(self.state.rounds), true, self.monitor);
        for class in 0..pack.problems.len() {
            let alphas = &mut alphas[column(pack.problems[class])];
            pack.alphas(class, alphas);
            for (alpha, bits) in alphas.iter_mut().zip(&pack.shrunk) {
                // Only rows at 0 are skipped.
                *alpha = if bits >> class & 1 == 1 { -0.0 } else { *alpha + 0.0 };
            }
        }
        ended
    }

    fn pass<'b>(&'b self, problem: &'b DualProblem<'b>, rows: &'b BlockRows) -> Pass<'b, E> {
        let diagonal = rows.diagonal.get_or_init(|| self.tables.diagonal(&rows.rows));
        // `solve_blocks` chose the same form as the code that created the rows.
        let entries = E::of(rows.rows.entries()).unwrap_or(&[]);
        Pass { problem, tables: &self.tables, diagonal, entries }
    }

    /// The estimates of a round for each problem.
    fn judge(&mut self, moving: &mut [Moving]) {
        self.state.rounds += 1;
        let (mut worst, mut most): (f64, u32) = (0.0, 0);
        for Moving { pack, lanes, .. } in moving {
            let mut frozen = 0;
            for (class, &k) in pack.problems.iter().enumerate().filter(|(class, _)| lanes.live() >> class & 1 == 1) {
                let one = &mut self.state.problems[k];
                one.epochs += 1;
                let estimate = lanes.sums(class).estimate();
                (worst, most) = (worst.max(estimate), most.max(one.epochs));
                one.is_near = one.rule.is_near(estimate) || one.epochs >= self.settings.max_epochs;
                one.threshold = lanes.threshold(class).to_bits();
                frozen |= u16::from(one.is_near) << class;
            }
            lanes.freeze(frozen);
        }
        let (done, total) = (u64::from(most), u64::from(self.settings.max_epochs));
        self.monitor.tell(Progress { stage: "solve", done, total, gap: Some(worst) });
    }

    /// The objectives of the unsolved problems at fixed weights, over all blocks.
    fn certify(&mut self) -> Result<()> {
        struct Sure {
            pack: Pack,
            sums: Vec<Sums>,
            n_support: Vec<u32>,
        }
        let mut sure: Vec<Sure> = Vec::new();
        for shard in self.shards.clone() {
            let problems: Vec<usize> = shard.filter(|&k| self.state.problems[k].status.is_none()).collect();
            if problems.is_empty() {
                continue;
            }
            let (sums, n_support) = (vec![Sums::default(); problems.len()], vec![0; problems.len()]);
            let mut pack = Pack::new(self.frame, problems);
            for class in 0..pack.problems.len() {
                pack.set_weights(class, &self.weights[pack.problems[class]]);
            }
            sure.push(Sure { pack, sums, n_support });
        }
        self.each_block(&self.deals(None), |_, rows, alphas| {
            self.monitor.go_on("solve")?;
            let n_rows = rows.rows.n_rows();
            let problem = self.problem.of(rows);
            let pass = self.pass(&problem, rows);
            self.pool.map_mut(&mut sure, |_, Sure { pack, sums, n_support, .. }| {
                pack.begin_rows(n_rows);
                for class in 0..pack.problems.len() {
                    let alphas = &alphas[pack.problems[class] * n_rows..][..n_rows];
                    pack.set_alphas(class, alphas);
                    n_support[class] += alphas.iter().filter(|alpha| **alpha > 0.0).count() as u32;
                }
                pass.add_sums(pack, sums);
            });
            Ok(true)
        })?;
        for Sure { pack, sums, n_support } in &sure {
            for (class, &k) in pack.problems.iter().enumerate() {
                let exact = Certificate::new(&sums[class], quadratic(self.problem.map, pack, class, &sums[class]));
                let one = &mut self.state.problems[k];
                (one.primal, one.dual, one.n_support) = (exact.primal, exact.dual, n_support[class]);
            }
        }
        Ok(())
    }

    /// The pieces dealt to blocks, differently in each round; without a round, in order. A block with all pieces is
    /// always the same.
    fn deals(&self, round: Option<u32>) -> Vec<Deal> {
        let mut pieces: Vec<u32> = (0..self.blocks.n_pieces() as u32).collect();
        let n_blocks = self.blocks.n_blocks();
        let round = round.filter(|_| n_blocks > 1);
        let seed = mixed(self.settings.seed, u64::MAX - round.map_or(u64::MAX / 2, u64::from));
        if round.is_some() {
            pieces.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
        }
        let deal = |block: usize| {
            let range = block * pieces.len() / n_blocks..(block + 1) * pieces.len() / n_blocks;
            Deal { pieces: pieces[range].to_vec(), seed: mixed(seed, block as u64) }
        };
        (0..n_blocks).map(deal).filter(|deal| !deal.pieces.is_empty()).collect()
    }

    /// Loads the blocks of some deals, the next one meanwhile, until `take` returns false.
    fn each_block(
        &self,
        deals: &[Deal],
        mut take: impl FnMut(usize, &BlockRows, Vec<f32>) -> Result<bool>,
    ) -> Result<()> {
        let load = |block: usize| self.blocks.load(&deals[block]);
        let mut take = |block: usize, Loaded { rows, alphas }: Loaded| {
            let goes_on = take(block, &rows, alphas)?;
            self.blocks.give_back(rows);
            Ok(goes_on)
        };
        match deals.len() {
            0 => Ok(()),
            1 => take(0, load(0)?).map(|_| ()),
            n => Pool::ahead(n, load, take),
        }
    }

    fn whole(&self, k: usize) -> Vec<f32> {
        if self.weights[k].is_empty() { vec![0.0; self.frame.n_weights()] } else { self.weights[k].clone() }
    }

    fn packed_or_whole(&self, k: usize, moving: &[Moving]) -> Vec<f32> {
        let mut weights = self.whole(k);
        for Moving { pack, .. } in moving {
            if let Some(class) = pack.problems.iter().position(|&other| other == k) {
                pack.weights(class, &mut weights);
            }
        }
        weights
    }

    fn solution(self) -> DualSolution {
        let n_problems = self.weights.len();
        let mut weights = vec![0.0; self.frame.n_weights() * n_problems];
        for (k, one) in self.weights.iter().enumerate() {
            for (slot, &weight) in weights[k..].iter_mut().step_by(n_problems).zip(one) {
                *slot = weight;
            }
        }
        let problems = &self.state.problems;
        DualSolution {
            weights,
            held_out: Vec::new(),
            alphas: Vec::new(),
            n_support: problems.iter().map(|one| one.n_support).collect(),
            epochs: problems.iter().map(|one| one.epochs).collect(),
            status: problems.iter().map(|one| one.status.unwrap_or(Status::IterationLimit)).collect(),
            primal: problems.iter().map(|one| one.primal).collect(),
            dual: problems.iter().map(|one| one.dual).collect(),
        }
    }
}

/// The number of rows of the first block that are held out: a tenth of all rows, at most 2,000 and at most the rows of
/// the block.
fn held_out_of(n_all: usize, n_rows: usize) -> usize {
    (n_all / 10).min(2000).min(n_rows)
}

/// Derives a seed for each number.
fn mixed(seed: u64, number: u64) -> u64 {
    seed ^ number.wrapping_add(1).wrapping_mul(0xd1b5_4a32_d192_ed03)
}
