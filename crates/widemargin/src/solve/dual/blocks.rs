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

use std::sync::Arc;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::additive::{AdditiveRows, LANES, NEIGHBORS};
use super::checkpoint::{CheckpointWriter, Left};
use super::descent::{Descent, Epoch, Source};
use super::loss_terms::LossTerms;
use super::order::Order;
use super::pack::Frame;
use super::problem::{DualSolution, additive_shards};
use super::rows::Pass;
use super::shard::{self, State};
use super::store::{BlockProblem, BlockRows, Deal, Store};
use super::tables::Tables;
use crate::data::Checkpoint;
use crate::error::Result;
use crate::expansion::{Entries, Entry, on_entries};
use crate::isa::Isa;
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::problem::HeldOutScores;
use crate::solve::DescentSettings;

/// Solves every two-class problem on all blocks, from the start or from what is left in the checkpoint. The result does
/// not depend on the number of threads, and a resumed descent takes the same steps. With it come the decision values of
/// some rows from weights learned without them, from a second descent to a looser gap; none if time is up.
///
/// # Errors
/// [`Error::Cancelled`] if the monitor cancelled, [`Error::Threads`] if no pool can be created, and those of the store
/// and the checkpoint.
pub(crate) fn solve_blocks(
    store: &Store<'_>,
    settings: &DescentSettings,
    (checkpoint, left): (Option<&dyn Checkpoint>, Option<Left>),
    monitor: &Monitor<'_>,
) -> Result<(DualSolution, HeldOutScores)> {
    let pool = Pool::new(settings.threads)?;
    let BlockProblem { map, n_features, .. } = store.problem;
    let frame = Frame { n_features, n_nodes: map.n_nodes(), n_problems: store.n_problems() };
    let shards = additive_shards(frame.n_problems, frame.n_nodes, pool.threads());
    let shards = shards.into_iter().map(|problems| Shard::new(frame, settings, problems, 0)).collect();
    let (tables, seed) = (Tables::new(map, &store.book.values), settings.seed);
    let writer = CheckpointWriter::new(checkpoint, store, left.as_ref());
    let blocks = Blocks { store, monitor, pool, tables, seed, holds_out: false, writer };
    let mut descent = Descent::new(blocks, shards, monitor);
    if let Some((left, checkpoint)) = left.zip(checkpoint) {
        descent.next = left.take_up(checkpoint, store, &mut descent.shards)?;
    }
    descent.run()?;
    let held_out = descent.held_out_scores()?;
    let states = descent.shards.into_iter().flat_map(|shard| shard.states).collect();
    let solution = DualSolution::join(frame.n_weights(), states);
    Ok((DualSolution { alphas: Vec::new(), held_out: Vec::new(), ..solution }, held_out))
}

/// The problems that share vectors.
type Shard = shard::Shard<f32, LANES>;

/// Rows that come in blocks.
struct Blocks<'a> {
    store: &'a Store<'a>,
    monitor: &'a Monitor<'a>,
    pool: Pool,
    tables: Tables,
    seed: u64,
    /// Whether the first rows of the first block are held out.
    holds_out: bool,
    writer: CheckpointWriter<'a>,
}

impl Source<LANES> for Blocks<'_> {
    type Number = f32;

    const IN_STEP: bool = true;

    fn epoch(&mut self, shards: &mut [Shard], Epoch { number, anew }: Epoch) -> Result<bool> {
        // While rows are held out, the blocks stay the same, so that these rows are known.
        let round = (!self.holds_out).then(|| number - 1);
        let mut is_late = false;
        self.each_block(&self.deals(round), shards, |block, rows, shards| {
            let seed = mixed(self.seed, block as u64);
            let mut order = Order::new(rows.rows.n_rows(), NEIGHBORS, seed);
            if self.holds_out {
                let n_held_out = self.n_held_out(block, rows);
                order.retain(|row| row >= n_held_out);
                if anew {
                    // Their dual variables replace those of the solution.
                    states(shards).for_each(|state| state.alphas.clear());
                }
            }
            let order = order.of(round.unwrap_or(number));
            let visits = self.pool.map_mut(shards, |_, shard| {
                if shard.lanes.live() == 0 {
                    return Ok(false);
                }
                shard.pack_alphas(anew);
                let is_late = on_entries!(rows.rows.entries(), entries => {
                    self.pass(&self.coded(rows, entries), rows).epoch(shard, order, self.monitor)
                });
                shard.unpack_alphas();
                is_late
            });
            for visit in visits {
                is_late |= visit?;
            }
            let alphas: Vec<Vec<f32>> = states(shards).map(|state| std::mem::take(&mut state.alphas)).collect();
            self.store.put_away(rows, &alphas)?;
            Ok(!is_late)
        })?;
        Ok(is_late)
    }

    fn certify(&mut self, shards: &mut [Shard]) -> Result<()> {
        self.each_block(&self.deals(None), shards, |_, rows, shards| {
            self.monitor.go_on("solve")?;
            self.pool.map_mut(shards, |_, shard| {
                shard.pack_alphas(true);
                on_entries!(rows.rows.entries(), entries => {
                    self.pass(&self.coded(rows, entries), rows).add_sums(&mut shard.pack);
                });
            });
            Ok(true)
        })?;
        for shard in shards {
            let certificates = shard.pack.certificates(self.store.problem.map.is_symmetric());
            shard.set_certificates(certificates);
        }
        Ok(())
    }

    fn save(&mut self, shards: &[Shard], next: Epoch, is_last: bool) -> Result<()> {
        if is_last || self.writer.is_due() { self.writer.keep(shards, next) } else { Ok(()) }
    }
}

fn states(shards: &mut [Shard]) -> impl Iterator<Item = &mut State<f32>> {
    shards.iter_mut().flat_map(|shard| &mut shard.states)
}

impl Descent<'_, Blocks<'_>, LANES> {
    /// The decision values of the first rows of the first block, from weights learned without them.
    fn held_out_scores(&mut self) -> Result<HeldOutScores> {
        let mut found = HeldOutScores::default();
        self.source.holds_out = true;
        if self.monitor.ask().is_err() || self.descend_from_zero()? {
            return Ok(found);
        }
        let blocks = &self.source;
        let deals = blocks.deals(None);
        blocks.each_block(&deals[..deals.len().min(1)], &mut self.shards, |block, rows, shards| {
            let held_out = 0..blocks.n_held_out(block, rows);
            let values = blocks.pool.map_mut(shards, |_, shard| {
                on_entries!(rows.rows.entries(), entries => {
                    blocks.pass(&blocks.coded(rows, entries), rows).scores(held_out.clone(), &shard.pack)
                })
            });
            for row in held_out.clone() {
                let values = values.iter().flatten().map(|values| f64::from(values[row]));
                found.push(values, rows.codes[row], rows.costs[row], 1.0);
            }
            Ok(true)
        })?;
        Ok(found)
    }
}

impl Blocks<'_> {
    /// The number of rows of a block that are held out: of the first, a tenth of all rows, at most 2,000.
    fn n_held_out(&self, block: usize, rows: &BlockRows) -> usize {
        if block == 0 { (self.store.n_rows() / 10).min(2000).min(rows.rows.n_rows()) } else { 0 }
    }

    fn coded<'b, E: Entry>(&'b self, rows: &'b BlockRows, entries: &'b [E]) -> AdditiveRows<'b, E> {
        let diagonal = rows.diagonal.get_or_init(|| self.tables.diagonal(&rows.rows));
        AdditiveRows::new(&rows.rows, entries, &self.tables, diagonal)
    }

    fn pass<'b, E: Entry>(
        &'b self,
        coded: &'b AdditiveRows<'b, E>,
        rows: &'b BlockRows,
    ) -> Pass<'b, AdditiveRows<'b, E>, LANES> {
        let BlockProblem { map, targets, loss, .. } = self.store.problem;
        let (targets, is_symmetric) = (targets.with_codes(&rows.codes), map.is_symmetric());
        let terms = LossTerms { targets, loss, costs: &rows.costs, is_symmetric };
        Pass { isa: Isa::best(), rows: coded, terms }
    }

    /// The pieces dealt to blocks, differently in each round; without a round, in order. A block with all pieces is
    /// always the same.
    fn deals(&self, round: Option<u32>) -> Vec<Deal> {
        let mut pieces: Vec<u32> = (0..self.store.n_pieces() as u32).collect();
        let n_blocks = self.store.n_blocks();
        let round = round.filter(|_| n_blocks > 1);
        let seed = mixed(self.seed, u64::MAX - round.map_or(u64::MAX / 2, u64::from));
        if round.is_some() {
            pieces.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
        }
        let deal = |block: usize| {
            let range = block * pieces.len() / n_blocks..(block + 1) * pieces.len() / n_blocks;
            Deal { pieces: pieces[range].to_vec(), seed: mixed(seed, block as u64) }
        };
        (0..n_blocks).map(deal).filter(|deal| !deal.pieces.is_empty()).collect()
    }

    /// Loads the blocks of some deals with their dual variables, the next one meanwhile, until `take` returns false.
    fn each_block(
        &self,
        deals: &[Deal],
        shards: &mut [Shard],
        mut take: impl FnMut(usize, &BlockRows, &mut [Shard]) -> Result<bool>,
    ) -> Result<()> {
        let load = |block: usize| self.store.load(&deals[block]);
        let take = |block: usize, (rows, alphas): (Arc<BlockRows>, Vec<Vec<f32>>)| {
            states(shards).zip(alphas).for_each(|(state, alphas)| state.alphas = alphas);
            shards.iter_mut().for_each(|shard| shard.n_rows = rows.rows.n_rows());
            let goes_on = take(block, &rows, shards)?;
            states(shards).for_each(|state| state.alphas = Vec::new());
            shards.iter_mut().for_each(|shard| shard.n_rows = 0);
            self.store.give_back(rows);
            Ok(goes_on)
        };
        Pool::ahead(deals.len(), load, take)
    }
}

/// Derives a seed for each number.
fn mixed(seed: u64, number: u64) -> u64 {
    seed ^ number.wrapping_add(1).wrapping_mul(0xd1b5_4a32_d192_ed03)
}
