//! The descent of several two-class problems, and its loop over epochs for rows in memory.
//!
//! Up to `L` problems are packed, so that a row is read once for all of them. All problems of a pack share the order of
//! rows; one that seems solved is frozen, and when enough are frozen the live ones are packed again. The steps of a
//! problem do not depend on the others.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::certificate::{Certificate, StopRule};
use super::coordinate::{Lanes, Real};
use super::loss_terms::LossTerms;
use super::order::Order;
use super::pack::{Frame, Moving, Pack};
use super::rows::{DualRows, Pass};
use super::settings::DualSettings;
use crate::error::Result;
use crate::monitor::{Monitor, Progress, Stopped, is_late};
use crate::problem::HeldOutRows;
use crate::solve::{ProblemReport, Status};
use crate::tuning::{DUAL_HELD_OUT_TOL, EPOCHS_PER_EXACT_PASS};

/// Splits the problems into shards of at most `most`, at least one per thread if there are enough.
pub(super) fn shards(n_problems: usize, most: usize, threads: usize) -> Vec<Range<usize>> {
    // A whole number of shards per thread, so that all threads end together.
    let count = n_problems.div_ceil(most).next_multiple_of(threads).min(n_problems);
    (0..count).map(|s| s * n_problems / count..(s + 1) * n_problems / count).collect()
}

/// The course of a problem's descent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Course {
    pub epochs: u32,
    rule: StopRule,
    /// Waiting for an exact pass.
    pub is_near: bool,
    /// The bits of the largest projected gradient of the last epoch.
    threshold: u64,
    /// How it ended, if it did.
    pub status: Option<Status>,
    pub certificate: Certificate,
    /// Rows with a dual variable above 0, at the last exact pass.
    pub n_support: u32,
}

impl Course {
    /// A problem before the first epoch.
    pub fn new(tol: f64) -> Self {
        Course {
            epochs: 0,
            rule: StopRule::new(tol),
            is_near: false,
            threshold: f64::INFINITY.to_bits(),
            status: None,
            certificate: Certificate::default(),
            n_support: 0,
        }
    }

    /// Whether epochs change it.
    pub fn moves(&self) -> bool {
        self.status.is_none() && !self.is_near
    }

    /// Decides after an exact pass whether the descent ends.
    pub fn judge(&mut self, max_epochs: u32, stopped: bool) {
        self.status = if self.rule.is_met(self.certificate.gap()) {
            Some(Status::Converged)
        } else if self.epochs >= max_epochs {
            Some(Status::IterationLimit)
        } else {
            stopped.then_some(Status::TimeLimit)
        };
        self.is_near = false;
        self.threshold = f64::INFINITY.to_bits();
    }
}

/// The state of a two-class problem.
#[derive(Clone, Debug)]
pub(super) struct State<T> {
    pub course: Course,
    /// m numbers per feature: `weights[feature * m + node]`. Empty while a pack has them, and if all are 0.
    pub weights: Vec<T>,
    /// One per row. Empty while a pack has them, if all are 0, and if the rows have them.
    pub alphas: Vec<T>,
    /// The decision values of the rows held out, if any were.
    pub held_out: Vec<T>,
}

impl<T: Real> State<T> {
    /// A problem whose weights and dual variables are all 0.
    pub fn new(tol: f64) -> Self {
        State { course: Course::new(tol), weights: Vec::new(), alphas: Vec::new(), held_out: Vec::new() }
    }

    /// How it ended.
    pub fn report(&self) -> ProblemReport {
        let Course { epochs, status, certificate: Certificate { primal, dual }, n_support, .. } = self.course;
        ProblemReport { status: status.unwrap_or(Status::IterationLimit), iterations: epochs, primal, dual, n_support }
    }
}

/// Problems that descend.
pub(super) struct Problems<T, const L: usize> {
    pub frame: Frame,
    pub settings: DualSettings,
    /// Rows whose dual variables are stored here; 0 if they are stored with the rows.
    pub n_rows: usize,
    /// The problems of `states`.
    pub range: Range<usize>,
    pub states: Vec<State<T>>,
}

impl<T: Real, const L: usize> Problems<T, L> {
    pub fn course(&mut self, k: usize) -> &mut Course {
        &mut self.states[k - self.range.start].course
    }

    /// The problems of a shard whose course passes.
    pub fn which(&self, shard: &Range<usize>, passes: impl Fn(&Course) -> bool) -> Vec<usize> {
        shard.clone().filter(|k| passes(&self.states[k - self.range.start].course)).collect()
    }

    /// All problems of a shard, with weights of 0.
    pub fn at_zero(&self, shard: Range<usize>) -> Moving<T, L> {
        let pack = Pack::new(&self.frame, shard.clone().collect());
        Moving { lanes: Lanes::new(shard.len()), shard, pack }
    }

    /// Packs problems of a shard, if there are any; `anew` if they skip no rows.
    pub fn pack(&mut self, shard: Range<usize>, problems: Vec<usize>, anew: bool) -> Option<Moving<T, L>> {
        if problems.is_empty() {
            return None;
        }
        let mut lanes = Lanes::new(problems.len());
        let mut pack = Pack::new(&self.frame, problems);
        pack.begin_rows(self.n_rows);
        for class in 0..pack.problems.len() {
            let State { course, weights, alphas, .. } = &mut self.states[pack.problems[class] - self.range.start];
            pack.weights.set(class, &std::mem::take(weights));
            pack.set_alphas(class, &std::mem::take(alphas), anew);
            lanes.threshold[class] = T::of(f64::from_bits(course.threshold));
        }
        Some(Moving { shard, pack, lanes })
    }

    /// Takes back what a pack has.
    pub fn unpack(&mut self, pack: &Pack<T, L>) {
        for (class, &k) in pack.problems.iter().enumerate() {
            let State { weights, alphas, .. } = &mut self.states[k - self.range.start];
            *weights = vec![T::zero(); self.frame.n_weights()];
            *alphas = vec![T::zero(); self.n_rows];
            pack.weights.get(class, weights);
            pack.get_alphas(class, alphas);
        }
    }

    /// Removes problems that do not move, if none does or that saves a vector.
    pub fn repack(&mut self, moving: Moving<T, L>) -> Option<Moving<T, L>> {
        let Moving { shard, pack, lanes } = &moving;
        let left = lanes.live().count_ones() as usize;
        if left > 0 && self.frame.vectors_for::<L>(left) == pack.weights.vectors {
            return Some(moving);
        }
        self.unpack(pack);
        let live = self.which(shard, Course::moves);
        let live = live.into_iter().filter(|k| pack.problems.contains(k)).collect();
        self.pack(shard.clone(), live, false)
    }

    /// Ends an epoch of the live problems: those whose estimated gap is small enough wait for an exact pass.
    pub fn end_epoch(&mut self, all: &mut [Moving<T, L>], monitor: &Monitor<'_>) {
        let max_epochs = self.settings.max_epochs;
        let (mut worst, mut most): (f64, u32) = (0.0, 0);
        for Moving { pack, lanes, .. } in all {
            let mut frozen = 0;
            for (class, &k) in pack.problems.iter().enumerate().filter(|(class, _)| lanes.live() >> class & 1 == 1) {
                let course = self.course(k);
                course.epochs += 1;
                let estimate = lanes.sums(class).estimate();
                (worst, most) = (worst.max(estimate), most.max(course.epochs));
                let is_due = course.epochs.is_multiple_of(EPOCHS_PER_EXACT_PASS) || course.epochs >= max_epochs;
                course.is_near = course.rule.is_near(estimate) || is_due;
                course.threshold = lanes.threshold[class].into().to_bits();
                frozen |= u16::from(course.is_near) << class;
            }
            lanes.freeze(frozen);
        }
        let (done, total) = (u64::from(most), u64::from(max_epochs));
        monitor.tell(Progress { stage: "solve", done, total, gap: Some(worst) });
    }

    /// Ends an epoch without the rows held out: of the problems whose estimated gap is at most [`DUAL_HELD_OUT_TOL`], or
    /// that took as many epochs with all rows, it was the last.
    pub fn end_held_out_epoch(&self, Moving { pack, lanes, .. }: &mut Moving<T, L>, epoch: u32) {
        lanes.end_epoch();
        let has_ended = |&(class, &k): &(usize, &usize)| {
            let most = self.states[k - self.range.start].course.epochs;
            lanes.sums(class).estimate() <= DUAL_HELD_OUT_TOL || epoch >= most
        };
        let ended = pack.problems.iter().enumerate().filter(has_ended);
        let frozen = ended.fold(0, |bits, (class, _)| bits | 1 << class);
        lanes.freeze(frozen);
    }
}

/// A shard of problems on rows in memory.
pub(super) struct Descent<'a, R: DualRows<L>, const L: usize> {
    pub pass: Pass<'a, R, L>,
    pub problems: Problems<R::Number, L>,
    pub monitor: &'a Monitor<'a>,
}

impl<R: DualRows<L>, const L: usize> Descent<'_, R, L> {
    /// Solves the problems from their states; a time limit ends with the current state.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn run(&mut self) -> Result<()> {
        let mut order = Order::new(self.pass.rows.n_rows(), R::NEIGHBORS, self.problems.settings.seed);
        let all = self.problems.range.clone();
        loop {
            // Problems that continue after an exact pass may have had different numbers of epochs. Only those at the
            // same epoch share an order of the rows.
            let unsolved = self.problems.states.iter().map(|state| &state.course).filter(|one| one.status.is_none());
            let Some(epoch) = unsolved.map(|one| one.epochs).min() else {
                return Ok(());
            };
            let open = self.problems.which(&all, |one| one.status.is_none() && one.epochs == epoch);
            let stopped = is_late(self.descend(&open, epoch, &mut order), "solve")?;
            self.certify(open.clone());
            let max_epochs = self.problems.settings.max_epochs;
            open.into_iter().for_each(|k| self.problems.course(k).judge(max_epochs, stopped));
        }
    }

    /// Epochs until the estimated gap of every open problem is small enough, or the epochs run out.
    fn descend(&mut self, open: &[usize], mut epoch: u32, order: &mut Order) -> Result<(), Stopped> {
        let mut moving = self.problems.pack(self.problems.range.clone(), open.to_vec(), true);
        order.begin();
        while let Some(mut one) = moving {
            epoch += 1;
            one.lanes.begin_epoch();
            if let Err(stopped) = self.pass.epoch(&mut one, order.of(epoch), self.monitor) {
                self.problems.unpack(&one.pack);
                return Err(stopped);
            }
            one.lanes.end_epoch();
            if L == 1 {
                order.retain(|row| one.pack.shrunk[row] == 0);
            }
            self.problems.end_epoch(std::slice::from_mut(&mut one), self.monitor);
            moving = self.problems.repack(one);
        }
        Ok(())
    }

    /// The objectives of some problems over all rows.
    fn certify(&mut self, problems: Vec<usize>) {
        let Some(Moving { mut pack, .. }) = self.problems.pack(self.problems.range.clone(), problems, true) else {
            return;
        };
        let certificates = self.pass.rows.certify(&self.pass, &mut pack);
        self.problems.unpack(&pack);
        for (k, certificate) in pack.problems.into_iter().zip(certificates) {
            let State { course, alphas, .. } = &mut self.problems.states[k - self.problems.range.start];
            course.certificate = certificate;
            course.n_support = alphas.iter().filter(|alpha| **alpha > R::Number::of(0.0)).count() as u32;
        }
    }

    /// The decision values of rows from weights learned without them, set by set: a descent over the other rows
    /// from 0 to [`DUAL_HELD_OUT_TOL`], of at most as many epochs as the solution took. From the solution it would begin
    /// near that gap, with dual variables that still depend on the rows held out. With a time limit that has passed
    /// there are none.
    pub fn hold_out(&mut self, sets: &[HeldOutRows]) -> Result<(), Stopped> {
        let mut values = vec![Vec::new(); self.problems.states.len()];
        let mut order = Order::new(self.pass.rows.n_rows(), R::NEIGHBORS, 0);
        for set in sets {
            let costs = set.rest(self.pass.terms.costs.to_vec());
            let pass = Pass { terms: LossTerms { costs: &costs, ..self.pass.terms }, ..self.pass };
            let mut moving = self.problems.at_zero(self.problems.range.clone());
            moving.pack.begin_rows(self.problems.n_rows);
            for epoch in 1.. {
                moving.lanes.begin_epoch();
                pass.epoch(&mut moving, order.of(epoch), self.monitor)?;
                self.problems.end_held_out_epoch(&mut moving, epoch);
                if moving.lanes.live() == 0 {
                    break;
                }
            }
            let of_set = pass.scores(set.rows(), &moving.pack);
            values.iter_mut().zip(of_set).for_each(|(values, of_set)| values.extend(of_set));
        }
        self.problems.states.iter_mut().zip(values).for_each(|(one, values)| one.held_out = values);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_cover_the_problems_and_share_them_evenly() {
        for (problems, most, threads, sizes) in [
            (1, 16, 2, vec![1]),
            (10, 16, 1, vec![10]),
            (10, 16, 2, vec![5, 5]),
            (96, 16, 2, vec![16; 6]),
            (20, 4, 1, vec![4; 5]),
            (3, 16, 8, vec![1, 1, 1]),
        ] {
            let shards = shards(problems, most, threads);
            assert_eq!(shards.iter().map(|s| s.len()).collect::<Vec<_>>(), sizes);
            assert_eq!((shards[0].start, shards[shards.len() - 1].end), (0, problems));
        }
    }
}
