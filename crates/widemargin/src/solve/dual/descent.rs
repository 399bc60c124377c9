//! The loop over epochs: until the estimated gap of every problem is small enough, then an exact pass, which decides
//! whether it is solved.

use serde::{Deserialize, Serialize};

use super::coordinate::Real;
use super::loss_terms::LossTerms;
use super::order::Order;
use super::rows::{DualRows, Pass};
use super::shard::{Course, Shard};
use crate::error::Result;
use crate::monitor::{Monitor, Progress};
use crate::problem::HeldOutRows;
use crate::solve::Status;

/// A visit of all rows.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Epoch {
    /// Its number, from 1 on, on which the order of the rows depends.
    pub number: u32,
    /// Whether no rows are skipped, as after an exact pass.
    pub anew: bool,
}

/// Rows that are visited for several shards of problems: in memory, or block by block.
pub(super) trait Source<const L: usize> {
    /// Of weights and dual variables.
    type Number: Real;

    /// Whether all problems have the same orders of rows; otherwise only those with the same number of epochs, so that
    /// the steps of a problem do not depend on the others.
    const IN_STEP: bool;

    /// A step for each row and packed problem; true if the time limit ended it.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled), and errors of reading rows.
    fn epoch(&mut self, shards: &mut [Shard<Self::Number, L>], epoch: Epoch) -> Result<bool>;

    /// Sets the certificates of the packed problems at fixed weights.
    ///
    /// # Errors
    /// As for [`Source::epoch`].
    fn certify(&mut self, shards: &mut [Shard<Self::Number, L>]) -> Result<()>;

    /// Saves the state before the next epoch if it is time to, or the last to do so.
    ///
    /// # Errors
    /// Errors of the checkpoint.
    fn save(&mut self, _shards: &[Shard<Self::Number, L>], _next: Epoch, _is_last: bool) -> Result<()> {
        Ok(())
    }
}

/// The descent of some shards of problems.
pub(super) struct Descent<'a, S: Source<L>, const L: usize> {
    pub source: S,
    pub shards: Vec<Shard<S::Number, L>>,
    pub next: Epoch,
    pub monitor: &'a Monitor<'a>,
}

impl<'a, S: Source<L>, const L: usize> Descent<'a, S, L> {
    /// A descent from the states of the problems.
    pub fn new(source: S, shards: Vec<Shard<S::Number, L>>, monitor: &'a Monitor<'a>) -> Self {
        Descent { source, shards, next: Epoch { number: 1, anew: true }, monitor }
    }

    /// Solves the problems from their states; a time limit ends with the current state.
    ///
    /// # Errors
    /// Errors of the source.
    pub fn run(&mut self) -> Result<()> {
        while let Some(least) = self.unsolved().map(|course| course.epochs).min() {
            if !S::IN_STEP {
                self.next.number = least + 1;
            }
            let stopped = self.descend()?;
            self.certify(stopped)?;
            let is_last = stopped || self.unsolved().next().is_none();
            self.source.save(&self.shards, self.next, is_last)?;
            if stopped {
                // A resumed descent continues where it ended: the limit is that of this run.
                self.unsolved().for_each(|course| course.status = Some(Status::TimeLimit));
            }
        }
        Ok(())
    }

    fn unsolved(&mut self) -> impl Iterator<Item = &mut Course> {
        let states = self.shards.iter_mut().flat_map(|shard| &mut shard.states);
        states.map(|state| &mut state.course).filter(|course| course.status.is_none())
    }

    /// Whether a problem takes part in the next epoch.
    fn is_open(number: u32) -> impl Fn(&Course) -> bool {
        move |course| course.moves() && (S::IN_STEP || course.epochs + 1 == number)
    }

    /// Epochs until every open problem waits for an exact pass. True if the time limit was reached before.
    fn descend(&mut self) -> Result<bool> {
        for shard in &mut self.shards {
            shard.pack(Self::is_open(self.next.number), true);
        }
        while self.is_live() {
            let stopped = self.epoch()?;
            self.next.anew = false;
            if stopped {
                self.shards.iter_mut().for_each(Shard::unpack);
                return Ok(true);
            }
            self.next.number += 1;
            let (mut worst, mut most): (f64, u32) = (0.0, 0);
            for shard in &mut self.shards {
                let of_shard = shard.end_epoch();
                (worst, most) = (worst.max(of_shard.0), most.max(of_shard.1));
                shard.repack(Self::is_open(self.next.number));
            }
            let total = self.shards.first().map_or(0, |shard| shard.settings.max_epochs.into());
            self.monitor.tell(Progress { stage: "solve", done: most.into(), total, gap: Some(worst) });
            self.source.save(&self.shards, self.next, false)?;
        }
        Ok(false)
    }

    fn is_live(&self) -> bool {
        self.shards.iter().any(|shard| shard.lanes.live() != 0)
    }

    fn epoch(&mut self) -> Result<bool> {
        self.shards.iter_mut().for_each(|shard| shard.lanes.begin_epoch());
        self.source.epoch(&mut self.shards, self.next)
    }

    /// An exact pass for the problems that wait for it, or for all.
    fn certify(&mut self, all: bool) -> Result<()> {
        let is_due = |course: &Course| course.status.is_none() && (course.is_near || all);
        self.shards.iter_mut().for_each(|shard| shard.pack(is_due, true));
        self.source.certify(&mut self.shards)?;
        for shard in &mut self.shards {
            shard.unpack();
            let due = shard.states.iter_mut().map(|state| &mut state.course).filter(|course| is_due(course));
            due.for_each(|course| course.judge(shard.settings.max_epochs));
        }
        self.next.anew = true;
        Ok(())
    }

    /// Descends from 0 to [`DUAL_HELD_OUT_TOL`](crate::tuning::DUAL_HELD_OUT_TOL) over the rows of the source, which are
    /// without those held out, in at most as many epochs as the solution took, which stays in the states; true if the
    /// time limit ended it. From the solution it would begin near that gap, with dual variables that still depend on the
    /// rows held out.
    ///
    /// # Errors
    /// Errors of the source.
    pub fn descend_from_zero(&mut self) -> Result<bool> {
        self.next = Epoch { number: 1, anew: true };
        self.shards.iter_mut().for_each(Shard::pack_zeros);
        while self.is_live() {
            if self.epoch()? {
                return Ok(true);
            }
            self.shards.iter_mut().for_each(|shard| shard.end_held_out_epoch(self.next.number));
            self.next = Epoch { number: self.next.number + 1, anew: false };
        }
        Ok(false)
    }
}

/// Rows in memory.
pub(super) struct Memory<'a, R, const L: usize> {
    pub pass: Pass<'a, R, L>,
    pub order: Order,
    /// Costs in place of those of the pass, without the rows held out.
    pub rest: Option<Vec<f64>>,
    pub monitor: &'a Monitor<'a>,
}

impl<'a, R: DualRows<L>, const L: usize> Descent<'a, Memory<'a, R, L>, L> {
    /// The descent of a shard on rows in memory.
    pub fn in_memory(pass: Pass<'a, R, L>, shard: Shard<R::Number, L>, monitor: &'a Monitor<'a>) -> Self {
        let order = Order::new(pass.rows.n_rows(), R::NEIGHBORS, shard.settings.seed);
        Descent::new(Memory { pass, order, rest: None, monitor }, vec![shard], monitor)
    }

    /// The decision values of rows from weights learned without them, set by set. With a time limit that has passed
    /// there are none.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn hold_out(&mut self, sets: &[HeldOutRows]) -> Result<()> {
        let mut values = vec![Vec::new(); self.shards[0].states.len()];
        self.source.order = Order::new(self.source.pass.rows.n_rows(), R::NEIGHBORS, 0);
        for set in sets {
            self.source.rest = Some(set.rest(self.source.pass.terms.costs.to_vec()));
            if self.descend_from_zero()? {
                return Ok(());
            }
            let of_set = self.source.pass.scores(set.rows(), &self.shards[0].pack);
            values.iter_mut().zip(of_set).for_each(|(values, of_set)| values.extend(of_set));
        }
        self.shards[0].states.iter_mut().zip(values).for_each(|(state, values)| state.held_out = values);
        Ok(())
    }
}

impl<R: DualRows<L>, const L: usize> Source<L> for Memory<'_, R, L> {
    type Number = R::Number;

    const IN_STEP: bool = false;

    fn epoch(&mut self, shards: &mut [Shard<R::Number, L>], Epoch { number, anew }: Epoch) -> Result<bool> {
        let costs = self.rest.as_deref().unwrap_or(self.pass.terms.costs);
        let pass = Pass { terms: LossTerms { costs, ..self.pass.terms }, ..self.pass };
        let mut is_late = false;
        for shard in shards {
            if anew {
                self.order.begin();
            }
            is_late |= pass.epoch(shard, self.order.of(number), self.monitor)?;
            if L == 1 {
                self.order.retain(|row| shard.pack.shrunk[row] == 0);
            }
        }
        Ok(is_late)
    }

    fn certify(&mut self, shards: &mut [Shard<R::Number, L>]) -> Result<()> {
        for shard in shards {
            let certificates = self.pass.rows.certify(&self.pass, &mut shard.pack);
            shard.set_certificates(certificates);
        }
        Ok(())
    }
}
