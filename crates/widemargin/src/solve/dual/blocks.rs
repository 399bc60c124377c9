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
use std::sync::Arc;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::additive::{AdditiveRows, LANES};
use super::certificate::Sums;
use super::checkpoint::{BlockState, CheckpointWriter, Left};
use super::descent::{Course, Problems, State};
use super::loss_terms::LossTerms;
use super::order::Order;
use super::pack::{self, Frame};
use super::problem::{DualSolution, additive_shards};
use super::rows::{DualRows, Pass};
use super::settings::DualSettings;
use super::store::{BlockProblem, BlockRows, Deal, Store};
use super::tables::Tables;
use crate::data::Checkpoint;
use crate::error::Result;
use crate::expansion::{Entry, Narrow, Wide};
use crate::isa::Isa;
use crate::monitor::{self, Monitor, Stopped};
use crate::par::Pool;
use crate::problem::HeldOutScores;
use crate::solve::Status;

/// Solves every two-class problem on all blocks, from the start or from what is left in the checkpoint. The result does
/// not depend on the number of threads, and a resumed descent takes the same steps. With it come the decision values of
/// some rows from weights learned without them, from a second descent to a looser gap; none if time is up.
///
/// # Errors
/// [`Error::Cancelled`] if the monitor cancelled, [`Error::Threads`] if no pool can be created, and those of the store
/// and the checkpoint.
pub(crate) fn solve_blocks(
    store: &Store<'_>,
    settings: &DualSettings,
    (checkpoint, left): (Option<&dyn Checkpoint>, Option<Left>),
    monitor: &Monitor<'_>,
) -> Result<(DualSolution, HeldOutScores)> {
    let mut writer = CheckpointWriter::new(checkpoint, store, left.as_ref());
    let saved = match left.zip(checkpoint) {
        Some((left, checkpoint)) => Some((left.take_up(checkpoint, store)?, left.state)),
        None => None,
    };
    if store.problem.n_features <= 1 << 16 {
        Descent::<Narrow>::new(store, settings, saved, monitor)?.run(&mut writer)
    } else {
        Descent::<Wide>::new(store, settings, saved, monitor)?.run(&mut writer)
    }
}

/// The active problems of a shard.
type Moving = pack::Moving<f32, LANES>;

/// A visit of all rows.
#[derive(Clone, Copy)]
struct Round {
    /// Its number, on which the order of the rows depends.
    number: u32,
    /// Whether no rows are skipped.
    anew: bool,
    /// Whether rows are held out, from a start at 0.
    holds_out: bool,
}

struct Descent<'a, E> {
    store: &'a Store<'a>,
    monitor: &'a Monitor<'a>,
    pool: Pool,
    tables: Tables,
    /// The problems that share vectors.
    shards: Vec<Range<usize>>,
    rounds: u32,
    /// Whether no rows are skipped, as after an exact pass.
    anew: bool,
    problems: Problems<f32, LANES>,
    form: PhantomData<E>,
}

impl<'a, E: Entry> Descent<'a, E> {
    fn new(
        store: &'a Store<'a>,
        settings: &'a DualSettings,
        saved: Option<(Vec<Vec<f32>>, BlockState)>,
        monitor: &'a Monitor<'a>,
    ) -> Result<Self> {
        let pool = Pool::new(settings.threads)?;
        let BlockProblem { map, n_features, .. } = store.problem;
        let (n_problems, n_nodes) = (store.n_problems(), map.n_nodes());
        let mut states = vec![State::new(settings.tol); n_problems];
        let (mut rounds, mut anew) = (0, true);
        if let Some((weights, state)) = saved {
            (rounds, anew) = (state.rounds, state.anew);
            for ((one, course), weights) in states.iter_mut().zip(state.problems).zip(weights) {
                (one.course, one.weights) = (course, weights);
            }
        }
        let frame = Frame { isa: Isa::best(), n_features, n_nodes, n_problems };
        Ok(Descent {
            store,
            monitor,
            tables: Tables::new(map, &store.book.values),
            shards: additive_shards(n_problems, n_nodes, pool.threads()),
            pool,
            rounds,
            anew,
            problems: Problems { frame, settings: *settings, n_rows: 0, range: 0..n_problems, states },
            form: PhantomData,
        })
    }

    fn run(mut self, writer: &mut CheckpointWriter<'_>) -> Result<(DualSolution, HeldOutScores)> {
        let is_open = |one: &State<f32>| one.course.status.is_none();
        while self.problems.states.iter().any(is_open) {
            let stopped = self.descend(writer)?;
            self.certify()?;
            let max_epochs = self.problems.settings.max_epochs;
            for one in self.problems.states.iter_mut().filter(|one| is_open(one)) {
                one.course.judge(max_epochs, false);
            }
            self.anew = true;
            let is_done = stopped || !self.problems.states.iter().any(is_open);
            if is_done || writer.is_due() {
                writer.keep(self.state(), |k| self.whole(k))?;
            }
            if stopped {
                // A resumed descent continues where it ended: the limit is that of this run.
                let unsolved = self.problems.states.iter_mut().filter(|one| is_open(one));
                unsolved.for_each(|one| one.course.status = Some(Status::TimeLimit));
            }
        }
        let held_out = if self.monitor.ask().is_ok() { self.held_out_scores()? } else { HeldOutScores::default() };
        let mut solution = DualSolution::join(self.problems.frame.n_weights(), self.problems.states);
        (solution.alphas, solution.held_out) = (Vec::new(), Vec::new());
        Ok((solution, held_out))
    }

    /// The decision values of the first rows of the first block, from weights learned without them: as in memory by a
    /// descent over the other rows from 0 to [`DUAL_HELD_OUT_TOL`], of at most as many rounds as the solution took. The blocks
    /// stay the same, so that these rows are known, and their dual variables replace those of the solution.
    fn held_out_scores(&self) -> Result<HeldOutScores> {
        let mut all: Vec<Moving> = self.shards.iter().map(|shard| self.problems.at_zero(shard.clone())).collect();
        let deals = self.deals(None);
        let mut number = 0;
        while all.iter().any(|one| one.lanes.live() != 0) {
            number += 1;
            if self.visit_blocks(&deals, &mut all, Round { number, anew: number == 1, holds_out: true })? {
                return Ok(HeldOutScores::default());
            }
            all.iter_mut().for_each(|one| self.problems.end_held_out_epoch(one, number));
        }
        let mut found = HeldOutScores::default();
        self.each_block(&deals[..deals.len().min(1)], |block, rows, _| {
            let held_out = 0..self.n_held_out(block, rows);
            let coded = self.coded(rows);
            let pass = self.pass(&coded, rows);
            let values = self.pool.map_mut(&mut all, |_, one| pass.scores(held_out.clone(), &one.pack));
            for row in held_out.clone() {
                let values = values.iter().flatten().map(|values| f64::from(values[row]));
                found.push(values, rows.codes[row], rows.costs[row], 1.0);
            }
            Ok(true)
        })?;
        Ok(found)
    }

    /// Rounds until every problem waits for an exact pass. True if the time limit was reached before.
    fn descend(&mut self, writer: &mut CheckpointWriter<'_>) -> Result<bool> {
        let mut moving = self.packed(Course::moves);
        let mut stopped = false;
        while !moving.is_empty() && !stopped {
            let round = Round { number: self.rounds, anew: self.anew, holds_out: false };
            stopped = self.visit_blocks(&self.deals(Some(self.rounds)), &mut moving, round)?;
            moving.iter_mut().for_each(|one| one.lanes.end_epoch());
            self.anew = false;
            if !stopped {
                self.rounds += 1;
                self.problems.end_epoch(&mut moving, self.monitor);
            }
            let is_last = stopped || !self.problems.states.iter().any(|one| one.course.moves());
            if !is_last && writer.is_due() {
                writer.keep(self.state(), |k| self.packed_or_whole(k, &moving))?;
            }
            if is_last {
                moving.drain(..).for_each(|one| self.problems.unpack(&one.pack));
            }
            moving = moving.into_iter().filter_map(|one| self.problems.repack(one)).collect();
        }
        Ok(stopped)
    }

    /// Packs the problems of each shard whose course passes.
    fn packed(&mut self, passes: impl Fn(&Course) -> bool) -> Vec<Moving> {
        let Descent { problems, shards, .. } = self;
        let pack = |shard: &Range<usize>| problems.pack(shard.clone(), problems.which(shard, &passes), true);
        shards.iter().filter_map(pack).collect()
    }

    /// The number of rows of a block that are held out: of the first, a tenth of all rows, at most 2,000.
    fn n_held_out(&self, block: usize, rows: &BlockRows) -> usize {
        if block == 0 { (self.store.n_rows() / 10).min(2000).min(rows.rows.n_rows()) } else { 0 }
    }

    /// Begins an epoch and passes over all blocks. True if the time limit ended it early.
    fn visit_blocks(&self, deals: &[Deal], moving: &mut [Moving], round: Round) -> Result<bool> {
        moving.iter_mut().for_each(|one| one.lanes.begin_epoch());
        let mut is_late = false;
        self.each_block(deals, |block, rows, mut alphas| {
            if round.holds_out && round.anew {
                alphas.fill(0.0);
            }
            is_late = self.visit_all(block, rows, moving, &mut alphas, round)?;
            self.store.put_away(rows, &alphas)?;
            Ok(!is_late)
        })?;
        Ok(is_late)
    }

    /// A pass of all shards over one block. True if the time limit ended it early.
    fn visit_all(
        &self,
        block: usize,
        rows: &BlockRows,
        moving: &mut [Moving],
        alphas: &mut [f32],
        round: Round,
    ) -> Result<bool> {
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
        for visit in self.pool.map_mut(&mut parts, |_, (one, alphas)| self.visit(block, rows, one, alphas, round)) {
            is_late |= monitor::is_late(visit, "solve")?;
        }
        Ok(is_late)
    }

    /// A pass over one block. `alphas` are those of the shard's problems, one column each.
    fn visit(
        &self,
        block: usize,
        rows: &BlockRows,
        moving: &mut Moving,
        alphas: &mut [f32],
        round: Round,
    ) -> Result<(), Stopped> {
        let n_rows = rows.rows.n_rows();
        let first = moving.shard.start;
        let column = |k: usize| (k - first) * n_rows..(k - first + 1) * n_rows;
        let pack = &mut moving.pack;
        pack.begin_rows(n_rows);
        for class in 0..pack.problems.len() {
            pack.set_alphas(class, &alphas[column(pack.problems[class])], round.anew);
        }
        let coded = self.coded(rows);
        let seed = mixed(self.problems.settings.seed, block as u64);
        let mut order = Order::new(n_rows, AdditiveRows::<E>::NEIGHBORS, seed);
        if round.holds_out {
            let n_held_out = self.n_held_out(block, rows);
            order.retain(|row| row >= n_held_out);
        }
        let ended = self.pass(&coded, rows).epoch(moving, order.of(round.number), self.monitor);
        let pack = &moving.pack;
        for class in 0..pack.problems.len() {
            pack.get_alphas(class, &mut alphas[column(pack.problems[class])]);
        }
        ended
    }

    fn coded<'b>(&'b self, rows: &'b BlockRows) -> AdditiveRows<'b, E> {
        let diagonal = rows.diagonal.get_or_init(|| self.tables.diagonal(&rows.rows));
        // `solve_blocks` chose the same form as the code that created the rows.
        let entries = E::of(rows.rows.entries()).unwrap_or(&[]);
        AdditiveRows::new(&rows.rows, entries, &self.tables, diagonal)
    }

    fn pass<'b>(&'b self, coded: &'b AdditiveRows<'b, E>, rows: &'b BlockRows) -> Pass<'b, AdditiveRows<'b, E>, LANES> {
        let BlockProblem { map, targets, loss, .. } = self.store.problem;
        let (targets, is_symmetric) = (targets.with_codes(&rows.codes), map.is_symmetric());
        let terms = LossTerms { targets, loss, costs: &rows.costs, is_symmetric };
        Pass { isa: self.problems.frame.isa, rows: coded, terms }
    }

    /// The objectives of the unsolved problems at fixed weights, over all blocks.
    fn certify(&mut self) -> Result<()> {
        let fixed = self.packed(|course| course.status.is_none());
        let with_sums = |one: Moving| {
            let sums = vec![(Sums::default(), 0); one.pack.problems.len()];
            (one, sums)
        };
        let mut sure: Vec<(Moving, Vec<(Sums, u32)>)> = fixed.into_iter().map(with_sums).collect();
        self.each_block(&self.deals(None), |_, rows, alphas| {
            self.monitor.go_on("solve")?;
            let n_rows = rows.rows.n_rows();
            let coded = self.coded(rows);
            let pass = self.pass(&coded, rows);
            self.pool.map_mut(&mut sure, |_, (Moving { pack, .. }, sums)| {
                pack.begin_rows(n_rows);
                for (class, (_, n_support)) in sums.iter_mut().enumerate() {
                    let alphas = &alphas[pack.problems[class] * n_rows..][..n_rows];
                    pack.set_alphas(class, alphas, true);
                    *n_support += alphas.iter().filter(|alpha| **alpha > 0.0).count() as u32;
                }
                pass.add_sums(pack, sums.iter_mut().map(|(sums, _)| sums));
            });
            Ok(true)
        })?;
        for (Moving { pack, .. }, sums) in sure {
            self.problems.unpack(&pack);
            for (class, (sums, n_support)) in sums.iter().enumerate() {
                let course = self.problems.course(pack.problems[class]);
                course.certificate = pack.certificate(class, sums, self.store.problem.map.is_symmetric());
                course.n_support = *n_support;
            }
        }
        Ok(())
    }

    /// The pieces dealt to blocks, differently in each round; without a round, in order. A block with all pieces is
    /// always the same.
    fn deals(&self, round: Option<u32>) -> Vec<Deal> {
        let mut pieces: Vec<u32> = (0..self.store.n_pieces() as u32).collect();
        let n_blocks = self.store.n_blocks();
        let round = round.filter(|_| n_blocks > 1);
        let seed = mixed(self.problems.settings.seed, u64::MAX - round.map_or(u64::MAX / 2, u64::from));
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
        let load = |block: usize| self.store.load(&deals[block]);
        let mut take = |block: usize, (rows, alphas): (Arc<BlockRows>, Vec<f32>)| {
            let goes_on = take(block, &rows, alphas)?;
            self.store.give_back(rows);
            Ok(goes_on)
        };
        match deals.len() {
            0 => Ok(()),
            1 => take(0, load(0)?).map(|_| ()),
            n => Pool::ahead(n, load, take),
        }
    }

    /// What is saved in addition to the weights.
    fn state(&self) -> BlockState {
        let problems = self.problems.states.iter().map(|one| one.course.clone()).collect();
        BlockState { rounds: self.rounds, anew: self.anew, problems }
    }

    fn whole(&self, k: usize) -> Vec<f32> {
        let weights = &self.problems.states[k].weights;
        if weights.is_empty() { vec![0.0; self.problems.frame.n_weights()] } else { weights.clone() }
    }

    fn packed_or_whole(&self, k: usize, moving: &[Moving]) -> Vec<f32> {
        let mut weights = self.whole(k);
        for Moving { pack, .. } in moving {
            if let Some(class) = pack.problems.iter().position(|&other| other == k) {
                pack.weights.get(class, &mut weights);
            }
        }
        weights
    }
}

/// Derives a seed for each number.
fn mixed(seed: u64, number: u64) -> u64 {
    seed ^ number.wrapping_add(1).wrapping_mul(0xd1b5_4a32_d192_ed03)
}
