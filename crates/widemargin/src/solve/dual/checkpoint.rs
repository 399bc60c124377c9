//! The checkpoint of a fit on blocks, which resumes to the same model, bit for bit.
//!
//! Weights (one name per problem) and dual variables (one name per share of the pieces) are stored in two alternating
//! generations: the state, which is saved last, names the complete one. The coded rows are not stored: recomputing
//! them gives the same rows.

use std::ops::Range;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::additive::LANES;
use super::descent::Epoch;
use super::shard::{Course, Shard};
use super::store::Store;
use crate::data::{Checkpoint, load_checkpoint, save_checkpoint};
use crate::error::{Error, Result};
use crate::instant::Instant;
use crate::tuning::{CHECKPOINT_INTERVAL, CHECKPOINT_ONE_IN};

const STATE: &str = "power-mean";

/// The state of an earlier run between two epochs, in addition to its weights and dual variables.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Left {
    /// Which of the two generations of weights and dual variables is complete.
    generation: u32,
    next: Epoch,
    problems: Vec<Course>,
}

impl Left {
    /// Opens the state of a checkpoint, if there is one.
    ///
    /// # Errors
    /// Errors of the checkpoint.
    pub fn find(checkpoint: Option<&dyn Checkpoint>) -> Result<Option<Left>> {
        let Some(bytes) = checkpoint.map(|saved| load_checkpoint(saved, STATE)).transpose()?.flatten() else {
            return Ok(None);
        };
        serde_json::from_slice(&bytes).map(Some).map_err(|problem| damaged(problem.to_string()))
    }

    /// Restores the states of the problems, and the dual variables of the blocks.
    ///
    /// # Errors
    /// Errors of the checkpoint and the blocks; [`Error::Checkpoint`] for missing parts or parts of the wrong size.
    pub(super) fn take_up(
        self,
        checkpoint: &dyn Checkpoint,
        store: &Store<'_>,
        shards: &mut [Shard<f32, LANES>],
    ) -> Result<Epoch> {
        let numbers = |name: String, n: usize| {
            let bytes = load_checkpoint(checkpoint, &name)?.ok_or_else(|| damaged(format!("nothing under {name}")))?;
            if bytes.len() != 4 * n {
                return Err(damaged(format!("{} bytes under {name} in place of {}", bytes.len(), 4 * n)));
            }
            Ok(bytes.as_chunks::<4>().0.iter().map(|word| f32::from_le_bytes(*word)).collect::<Vec<f32>>())
        };
        for share in 0..SHARES {
            let pieces = share_of(share, store.n_pieces());
            let n_alphas = pieces.clone().map(|piece| store.n_alphas(piece)).sum();
            let all = numbers(name("alphas", self.generation, share), n_alphas)?;
            let mut rest = &all[..];
            for piece in pieces {
                let (ours, others) = rest.split_at(store.n_alphas(piece));
                store.set_alphas(piece, ours.to_vec())?;
                rest = others;
            }
        }
        let n_weights = store.problem.n_features * store.problem.map.n_nodes();
        if self.problems.len() != store.n_problems() {
            return Err(damaged(format!("the state of {} problems", self.problems.len())));
        }
        let states = shards.iter_mut().flat_map(|shard| &mut shard.states);
        for (k, (state, course)) in states.zip(self.problems).enumerate() {
            (state.course, state.weights) = (course, numbers(name("weights", self.generation, k), n_weights)?);
        }
        Ok(self.next)
    }
}

/// Where a part of a generation is saved: the weights of a problem, or the dual variables of a share.
fn name(kind: &str, generation: u32, part: usize) -> String {
    format!("{STATE}-{kind}-{generation}-{part}")
}

/// Number of shares into which the pieces are divided.
const SHARES: usize = 16;

fn share_of(share: usize, n_pieces: usize) -> Range<usize> {
    share * n_pieces / SHARES..(share + 1) * n_pieces / SHARES
}

fn damaged(found: String) -> Error {
    let expected = "the checkpoint of a fit on blocks (delete it to start again)";
    Error::Checkpoint { problem: format!("it is {found}, expected {expected}") }
}

/// Saves the state of a fit.
pub(super) struct CheckpointWriter<'a> {
    checkpoint: Option<&'a dyn Checkpoint>,
    store: &'a Store<'a>,
    generation: u32,
    /// When the last checkpoint was finished, and how long it took.
    last: Option<(Instant, Duration)>,
}

impl<'a> CheckpointWriter<'a> {
    /// Starts saving the state of this fit, after the state `left` by an earlier run.
    pub fn new(checkpoint: Option<&'a dyn Checkpoint>, store: &'a Store<'a>, left: Option<&Left>) -> Self {
        let generation = left.map_or(0, |left| 1 - left.generation.min(1));
        CheckpointWriter { checkpoint, store, generation, last: None }
    }

    /// Whether it is time to save.
    pub fn is_due(&self) -> bool {
        let passed =
            |(done, took): (Instant, Duration)| done.elapsed() >= CHECKPOINT_INTERVAL.max(took * CHECKPOINT_ONE_IN);
        self.checkpoint.is_some() && self.last.is_none_or(passed)
    }

    /// Saves the state of the problems; the dual variables are stored with the blocks.
    pub fn keep(&mut self, shards: &[Shard<f32, LANES>], next: Epoch) -> Result<()> {
        let Some(checkpoint) = self.checkpoint else {
            return Ok(());
        };
        let (begun, generation) = (Instant::now(), self.generation);
        let bytes = |numbers: Vec<f32>| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
        for (k, numbers) in shards.iter().flat_map(Shard::weights).enumerate() {
            save_checkpoint(checkpoint, &name("weights", generation, k), &bytes(numbers))?;
        }
        for share in 0..SHARES {
            let mut all = Vec::new();
            for piece in share_of(share, self.store.n_pieces()) {
                all.extend(bytes(self.store.alphas(piece)?));
            }
            save_checkpoint(checkpoint, &name("alphas", generation, share), &all)?;
        }
        let states = shards.iter().flat_map(|shard| &shard.states);
        let problems = states.map(|state| state.course.clone()).collect();
        let state = serde_json::to_vec(&Left { generation, next, problems });
        save_checkpoint(checkpoint, STATE, &state.map_err(|problem| damaged(problem.to_string()))?)?;
        self.generation = 1 - generation;
        self.last = Some((Instant::now(), begun.elapsed()));
        Ok(())
    }
}
