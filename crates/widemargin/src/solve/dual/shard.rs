//! The two-class problems that are solved together, and the course of each.
//!
//! Up to `L` problems are packed, so that a row is read once for all of them. All problems of a pack share the order of
//! rows; one that seems solved is frozen, and when enough are frozen the live ones are packed again. The steps of a
//! problem do not depend on the others.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::certificate::{Certificate, StopRule};
use super::coordinate::{Lanes, Real};
use super::pack::{Frame, Pack};
use crate::solve::{DescentSettings, ProblemReport, Status};
use crate::tuning::{DUAL_HELD_OUT_TOL, EPOCHS_PER_EXACT_PASS};

/// Splits the problems into ranges of at most `most`, at least one per thread if there are enough.
pub(super) fn split(n_problems: usize, most: usize, threads: usize) -> Vec<Range<usize>> {
    // A whole number of ranges per thread, so that all threads end together.
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
    /// Of the last exact pass.
    pub certificate: Certificate,
}

impl Course {
    /// A problem before the first epoch.
    fn new(tol: f64) -> Self {
        Course {
            epochs: 0,
            rule: StopRule::new(tol),
            is_near: false,
            threshold: f64::INFINITY.to_bits(),
            status: None,
            certificate: Certificate::default(),
        }
    }

    /// Whether epochs change it.
    pub fn moves(&self) -> bool {
        self.status.is_none() && !self.is_near
    }

    /// Decides after an exact pass whether the descent ends.
    pub fn judge(&mut self, max_epochs: u32) {
        if self.rule.is_met(self.certificate.gap()) {
            self.status = Some(Status::Converged);
        } else if self.epochs >= max_epochs {
            self.status = Some(Status::IterationLimit);
        }
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
    /// One per row. Empty while a pack has them, if all are 0, and if no block is loaded.
    pub alphas: Vec<T>,
    /// The decision values of the rows held out, if any were.
    pub held_out: Vec<T>,
}

impl<T> State<T> {
    /// How it ended.
    pub fn report(&self) -> ProblemReport {
        let Course { epochs, status, certificate: Certificate { primal, dual, n_support }, .. } = self.course;
        ProblemReport { status: status.unwrap_or(Status::IterationLimit), iterations: epochs, primal, dual, n_support }
    }
}

/// Problems that share passes over the rows. Those that take part in the next pass are packed.
pub(super) struct Shard<T, const L: usize> {
    pub frame: Frame,
    pub settings: DescentSettings,
    /// The number of the first problem.
    first: usize,
    pub states: Vec<State<T>>,
    /// Number of rows that are loaded.
    pub n_rows: usize,
    pub pack: Pack<T, L>,
    pub lanes: Lanes<T, L>,
}

impl<T: Real, const L: usize> Shard<T, L> {
    /// Problems whose weights and dual variables are all 0, with none packed.
    pub fn new(frame: Frame, settings: &DescentSettings, problems: Range<usize>, n_rows: usize) -> Self {
        let course = Course::new(settings.tol);
        let state = State { course, weights: Vec::new(), alphas: Vec::new(), held_out: Vec::new() };
        let (first, states) = (problems.start, vec![state; problems.len()]);
        let (pack, lanes) = (Pack::new(&frame, Vec::new()), Lanes::new(0));
        Shard { frame, settings: *settings, first, states, n_rows, pack, lanes }
    }

    fn state_of(&mut self, class: usize) -> &mut State<T> {
        &mut self.states[self.pack.problems[class] - self.first]
    }

    /// Packs all problems, at weights and dual variables of 0; their states stay as they are.
    pub fn pack_zeros(&mut self) {
        let n_problems = self.states.len();
        self.pack = Pack::new(&self.frame, (self.first..self.first + n_problems).collect());
        self.pack.begin_rows(self.n_rows);
        self.lanes = Lanes::new(n_problems);
    }

    /// Packs the problems whose course passes; `anew` if they skip no rows.
    pub fn pack(&mut self, passes: impl Fn(&Course) -> bool, anew: bool) {
        let problems = (self.first..).zip(&self.states).filter(|(_, state)| passes(&state.course));
        self.pack = Pack::new(&self.frame, problems.map(|(problem, _)| problem).collect());
        self.lanes = Lanes::new(self.pack.problems.len());
        for class in 0..self.pack.problems.len() {
            let state = self.state_of(class);
            let (weights, threshold) = (std::mem::take(&mut state.weights), state.course.threshold);
            self.pack.weights.set(class, &weights);
            self.lanes.threshold[class] = T::of(f64::from_bits(threshold));
        }
        self.pack_alphas(anew);
    }

    /// Moves the dual variables of the loaded rows to the pack.
    pub fn pack_alphas(&mut self, anew: bool) {
        self.pack.begin_rows(self.n_rows);
        for class in 0..self.pack.problems.len() {
            let alphas = std::mem::take(&mut self.state_of(class).alphas);
            self.pack.set_alphas(class, &alphas, anew);
        }
    }

    /// Moves them back.
    pub fn unpack_alphas(&mut self) {
        for class in 0..self.pack.problems.len() {
            let mut alphas = vec![T::zero(); self.n_rows];
            self.pack.get_alphas(class, &mut alphas);
            self.state_of(class).alphas = alphas;
        }
    }

    /// Moves everything back from the pack.
    pub fn unpack(&mut self) {
        self.unpack_alphas();
        for class in 0..self.pack.problems.len() {
            self.state_of(class).weights = self.weights_of(class);
        }
        self.pack = Pack::new(&self.frame, Vec::new());
    }

    fn weights_of(&self, class: usize) -> Vec<T> {
        let mut weights = vec![T::zero(); self.frame.n_weights()];
        self.pack.weights.get(class, &mut weights);
        weights
    }

    /// Sets the certificates of the packed problems.
    pub fn set_certificates(&mut self, certificates: Vec<Certificate>) {
        for (class, certificate) in certificates.into_iter().enumerate() {
            self.state_of(class).course.certificate = certificate;
        }
    }

    /// The weights of each problem.
    pub fn weights(&self) -> impl Iterator<Item = Vec<T>> + '_ {
        (self.first..).zip(&self.states).map(|(problem, state)| {
            let packed = self.pack.problems.iter().position(|&packed| packed == problem);
            let mut weights = packed.map_or_else(|| state.weights.clone(), |class| self.weights_of(class));
            weights.resize(self.frame.n_weights(), T::zero());
            weights
        })
    }

    /// Packs the problems whose course passes in place of those packed, if none of them moves or that saves a vector.
    pub fn repack(&mut self, passes: impl Fn(&Course) -> bool) {
        let left = self.lanes.live().count_ones() as usize;
        if left == 0 || self.frame.vectors_for::<L>(left) < self.pack.weights.vectors {
            self.unpack();
            self.pack(passes, false);
        }
    }

    /// Ends an epoch of the live problems: those whose estimated gap is small enough wait for an exact pass. The largest
    /// estimate and number of epochs.
    pub fn end_epoch(&mut self) -> (f64, u32) {
        let max_epochs = self.settings.max_epochs;
        let (mut worst, mut most, mut frozen): (f64, u32, u16) = (0.0, 0, 0);
        self.lanes.end_epoch();
        let live = self.lanes.live();
        for class in (0..self.pack.problems.len()).filter(|class| live >> class & 1 == 1) {
            let (estimate, threshold) = (self.lanes.sums(class).estimate(), self.lanes.threshold[class]);
            let course = &mut self.state_of(class).course;
            course.epochs += 1;
            (worst, most) = (worst.max(estimate), most.max(course.epochs));
            let is_due = course.epochs.is_multiple_of(EPOCHS_PER_EXACT_PASS) || course.epochs >= max_epochs;
            course.is_near = course.rule.is_near(estimate) || is_due;
            course.threshold = threshold.into().to_bits();
            frozen |= u16::from(course.is_near) << class;
        }
        self.lanes.freeze(frozen);
        (worst, most)
    }

    /// Ends an epoch without the rows held out: of the problems whose estimated gap is at most [`DUAL_HELD_OUT_TOL`], or
    /// that took as many epochs with all rows, it was the last.
    pub fn end_held_out_epoch(&mut self, epoch: u32) {
        self.lanes.end_epoch();
        for (class, state) in self.states.iter().enumerate() {
            if self.lanes.sums(class).estimate() <= DUAL_HELD_OUT_TOL || epoch >= state.course.epochs {
                self.lanes.freeze(1 << class);
            }
        }
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
            let shards = split(problems, most, threads);
            assert_eq!(shards.iter().map(|s| s.len()).collect::<Vec<_>>(), sizes);
            assert_eq!((shards[0].start, shards[shards.len() - 1].end), (0, problems));
        }
    }
}
