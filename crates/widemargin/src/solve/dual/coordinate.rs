//! The step of one row in sixteen two-class problems, branch-free and lane by lane, so that the compiler vectorizes it.

use super::certificate::Sums;
use super::problem::DualProblem;
use crate::problem::Loss;

/// Lanes of one vector.
pub(super) const LANES: usize = 16;

/// The bounds and curvature of one row's dual variables.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    squared: bool,
    cost: f32,
    upper: f32,
    ridge: f32,
    /// 1 / (Q_ii + D). Infinite for an empty row with the hinge loss, whose gradient is always −1: its variable goes to
    /// the upper bound, as it should.
    inverse: f32,
}

/// Those of one row in each lane.
pub(super) trait OfLanes {
    fn of(&self, lane: usize) -> Limits;
}

impl OfLanes for Limits {
    #[inline(always)]
    fn of(&self, _lane: usize) -> Limits {
        *self
    }
}

impl OfLanes for [Limits; LANES] {
    #[inline(always)]
    fn of(&self, lane: usize) -> Limits {
        self[lane]
    }
}

impl Limits {
    #[inline]
    pub fn new(problem: &DualProblem<'_>, cost: f64, diagonal: f32) -> Self {
        let ridge = problem.loss.diagonal(cost) as f32;
        Limits {
            squared: problem.loss == Loss::SquaredHinge,
            cost: cost as f32,
            upper: problem.upper_bound(cost) as f32,
            ridge,
            inverse: 1.0 / (diagonal + ridge),
        }
    }

    /// Those of a row that is no part of the problem: its variable stays at 0 and it has no loss.
    pub fn absent() -> Self {
        Limits { squared: false, cost: 0.0, upper: 0.0, ridge: 0.0, inverse: 0.0 }
    }
}

/// The result of a visit.
pub(super) enum Visit {
    /// Nothing changed.
    Still,
    /// Δα · y of each lane.
    Moved([f32; LANES]),
}

/// The statistics of an epoch, lane by lane.
#[derive(Clone, Debug)]
pub(super) struct Lanes {
    /// Active lanes, one bit each; never one beyond the classes.
    live: u16,
    /// Largest projected gradient of the last epoch (LIBLINEAR's PGmax): rows at 0 beyond it are skipped.
    threshold: [f32; LANES],
    largest: [f32; LANES],
    loss: [f64; LANES],
    linear: [f64; LANES],
    alpha_margin: [f64; LANES],
}

impl Lanes {
    pub fn new(classes: usize) -> Self {
        Lanes {
            live: ((1u32 << classes) - 1) as u16,
            threshold: [f32::INFINITY; LANES],
            largest: [0.0; LANES],
            loss: [0.0; LANES],
            linear: [0.0; LANES],
            alpha_margin: [0.0; LANES],
        }
    }

    /// The active lanes, one bit each.
    pub fn live(&self) -> u16 {
        self.live
    }

    /// Deactivates these lanes, one bit each.
    pub fn freeze(&mut self, lanes: u16) {
        self.live &= !lanes;
    }

    /// The threshold of one lane, for saving.
    pub fn threshold(&self, lane: usize) -> f32 {
        self.threshold[lane]
    }

    /// Restores a threshold.
    pub fn set_threshold(&mut self, lane: usize, threshold: f32) {
        self.threshold[lane] = threshold;
    }

    pub fn begin_epoch(&mut self) {
        self.largest = [0.0; LANES];
        self.loss = [0.0; LANES];
        self.linear = [0.0; LANES];
        self.alpha_margin = [0.0; LANES];
    }

    pub fn end_epoch(&mut self) {
        self.threshold = self.largest.map(|l| if l > 0.0 { l } else { f32::INFINITY });
    }

    /// The sums of one lane over the epoch.
    pub fn sums(&self, lane: usize) -> Sums {
        Sums { loss: self.loss[lane], linear: self.linear[lane], alpha_margin: self.alpha_margin[lane] }
    }

    /// Packs the live lanes to the front, in order.
    pub fn pack(&mut self) {
        let mut packed = Lanes::new(self.live.count_ones() as usize);
        for (to, from) in (0..LANES).filter(|&lane| self.live >> lane & 1 == 1).enumerate() {
            packed.threshold[to] = self.threshold[from];
        }
        *self = packed;
    }

    /// Solves the coordinate of one row in every live lane that does not skip the row (one bit each).
    ///
    /// Inlined into functions compiled for each instruction set.
    #[inline(always)]
    pub fn visit(
        &mut self,
        scores: &[f32; LANES],
        signs: &[f32; LANES],
        alphas: &mut [f32; LANES],
        shrunk: &mut u16,
        limits: &impl OfLanes,
        shrinking: bool,
    ) -> Visit {
        let mut margins = [0.0; LANES];
        let mut gradients = [0.0; LANES];
        for l in 0..LANES {
            margins[l] = signs[l] * scores[l];
            gradients[l] = margins[l] - 1.0 + alphas[l] * limits.of(l).ridge;
        }
        let mut moving = self.live & !*shrunk;
        if shrinking {
            let mut beyond = 0;
            for l in 0..LANES {
                beyond |= u16::from((alphas[l] == 0.0) & (gradients[l] > self.threshold[l])) << l;
            }
            *shrunk |= moving & beyond;
            moving &= !beyond;
        }
        let mut steps = [0.0; LANES];
        let mut moves = false;
        for l in 0..LANES {
            let moving = moving >> l & 1 == 1;
            let limits = limits.of(l);
            let (alpha, gradient) = (alphas[l], gradients[l]);
            let projected = if alpha == 0.0 { gradient.min(0.0) } else { gradient };
            let projected = if moving { projected } else { 0.0 };
            self.largest[l] = self.largest[l].max(projected);
            let solved = (alpha - gradient * limits.inverse).max(0.0).min(limits.upper);
            let moved = if moving { solved } else { alpha };
            steps[l] = (moved - alpha) * signs[l];
            moves |= moved != alpha;
            alphas[l] = moved;
            // Skipped rows are outside the margin with α = 0: all their terms are 0.
            let slack = if moving { (1.0 - margins[l]).max(0.0) } else { 0.0 };
            let loss = if limits.squared { slack * slack } else { slack };
            self.loss[l] += f64::from(limits.cost * loss);
            self.linear[l] += f64::from(alpha - 0.5 * limits.ridge * alpha * alpha);
            self.alpha_margin[l] += f64::from(alpha * margins[l]);
        }
        if moves { Visit::Moved(steps) } else { Visit::Still }
    }
}
