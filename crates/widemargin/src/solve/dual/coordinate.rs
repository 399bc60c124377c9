//! The step of one row in the two-class problems of a pack, branch-free and lane by lane, so that the compiler
//! vectorizes it.

use num_traits::Float;

use super::certificate::Sums;
use super::loss_terms::LossTerms;
use crate::problem::Loss;

/// The numbers in which rows are computed.
pub(super) trait Real: Float + Into<f64> + Send + Sync + 'static {
    fn of(value: f64) -> Self;
}

impl Real for f32 {
    #[inline(always)]
    fn of(value: f64) -> f32 {
        value as f32
    }
}

impl Real for f64 {
    #[inline(always)]
    fn of(value: f64) -> f64 {
        value
    }
}

/// The bounds and curvature of one row's dual variables.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits<T> {
    squared: bool,
    cost: T,
    upper: T,
    ridge: T,
    /// 1 / (Q_ii + D). Infinite for an empty row with the hinge loss, whose gradient is always −1: its variable goes to
    /// the upper bound, as it should.
    inverse: T,
}

/// Those of one row in each lane.
pub(super) trait OfLanes<T> {
    fn of(&self, lane: usize) -> Limits<T>;
}

impl<T: Real> OfLanes<T> for Limits<T> {
    #[inline(always)]
    fn of(&self, _lane: usize) -> Limits<T> {
        *self
    }
}

impl<T: Real, const L: usize> OfLanes<T> for [Limits<T>; L] {
    #[inline(always)]
    fn of(&self, lane: usize) -> Limits<T> {
        self[lane]
    }
}

impl<T: Real> Limits<T> {
    #[inline]
    pub fn new(terms: &LossTerms<'_>, cost: f64, diagonal: T) -> Self {
        let ridge = T::of(terms.loss.diagonal(cost));
        Limits {
            squared: terms.loss == Loss::SquaredHinge,
            cost: T::of(cost),
            upper: T::of(terms.upper_bound(cost)),
            ridge,
            inverse: (diagonal + ridge).recip(),
        }
    }

    /// Those of a row that is no part of the problem: its variable stays at 0 and it has no loss.
    pub fn absent() -> Self {
        Limits { squared: false, cost: T::zero(), upper: T::zero(), ridge: T::zero(), inverse: T::zero() }
    }
}

/// The sums of an epoch, lane by lane: see [`Sums`].
#[derive(Clone, Copy, Debug)]
struct LaneSums<const L: usize> {
    loss: [f64; L],
    linear: [f64; L],
    alpha_margin: [f64; L],
}

/// The statistics of an epoch, lane by lane.
#[derive(Clone, Debug)]
pub(super) struct Lanes<T, const L: usize> {
    /// Active lanes, one bit each; never one beyond the classes.
    live: u16,
    /// Largest projected gradient of the last epoch (LIBLINEAR's PGmax): rows at 0 beyond it are skipped.
    pub threshold: [T; L],
    largest: [T; L],
    /// The smallest, below which rows at their upper bound are skipped: see [`Lanes::SKIPS_BOUNDED`].
    lower_threshold: [T; L],
    least: [T; L],
    sums: LaneSums<L>,
    /// The terms of the rows skipped at their upper bound.
    bounded: LaneSums<L>,
}

impl<T: Real, const L: usize> Lanes<T, L> {
    /// Whether rows at their upper bound are skipped. Of several problems, nearly always one needs the row.
    const SKIPS_BOUNDED: bool = L == 1;

    pub fn new(classes: usize) -> Self {
        let none = LaneSums { loss: [0.0; L], linear: [0.0; L], alpha_margin: [0.0; L] };
        Lanes {
            live: ((1u32 << classes) - 1) as u16,
            threshold: [T::infinity(); L],
            largest: [T::zero(); L],
            lower_threshold: [T::neg_infinity(); L],
            least: [T::zero(); L],
            sums: none,
            bounded: none,
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

    pub fn begin_epoch(&mut self) {
        self.largest = [T::zero(); L];
        self.least = [T::zero(); L];
        self.sums = self.bounded;
    }

    pub fn end_epoch(&mut self) {
        // Without a gradient of one sign no row is skipped on that side.
        self.threshold = self.largest.map(|l| if l > T::zero() { l } else { T::infinity() });
        self.lower_threshold = self.least.map(|l| if l < T::zero() { l } else { T::neg_infinity() });
    }

    /// The sums of one lane over the epoch.
    pub fn sums(&self, lane: usize) -> Sums {
        let LaneSums { loss, linear, alpha_margin } = &self.sums;
        Sums { loss: loss[lane], linear: linear[lane], alpha_margin: alpha_margin[lane], ..Sums::default() }
    }

    /// Solves the coordinate of one row in every live lane that does not skip the row (one bit each); the steps, if any
    /// lane moved.
    ///
    /// Inlined into functions compiled for each instruction set.
    #[inline(always)]
    pub fn visit(
        &mut self,
        scores: &[T; L],
        signs: &[T; L],
        alphas: &mut [T; L],
        shrunk: &mut u16,
        limits: &impl OfLanes<T>,
    ) -> Option<[T; L]> {
        let (zero, one, half) = (T::zero(), T::one(), T::of(0.5));
        let mut margins = [zero; L];
        let mut gradients = [zero; L];
        for l in 0..L {
            margins[l] = signs[l] * scores[l];
            gradients[l] = margins[l] - one + alphas[l] * limits.of(l).ridge;
        }
        let mut moving = self.live & !*shrunk;
        let (mut beyond, mut bounded) = (0, 0);
        for l in 0..L {
            beyond |= u16::from((alphas[l] == zero) & (gradients[l] > self.threshold[l])) << l;
            if Self::SKIPS_BOUNDED {
                let is_bounded = (alphas[l] == limits.of(l).upper) & (gradients[l] < self.lower_threshold[l]);
                bounded |= u16::from(is_bounded) << l;
            }
        }
        *shrunk |= moving & (beyond | bounded);
        moving &= !beyond;
        let mut steps = [zero; L];
        let mut moves = false;
        for l in 0..L {
            let moving = moving >> l & 1 == 1;
            let limits = limits.of(l);
            let (alpha, gradient) = (alphas[l], gradients[l]);
            let projected = if alpha == zero { gradient.min(zero) } else { gradient };
            let projected = if moving { projected } else { zero };
            self.largest[l] = self.largest[l].max(projected);
            if Self::SKIPS_BOUNDED && alpha < limits.upper {
                self.least[l] = self.least[l].min(projected);
            }
            let solved = (alpha - gradient * limits.inverse).max(zero).min(limits.upper);
            let moved = if moving { solved } else { alpha };
            steps[l] = (moved - alpha) * signs[l];
            moves |= moved != alpha;
            alphas[l] = moved;
            // Rows skipped at 0 are outside the margin: all their terms are 0.
            let slack = if moving { (one - margins[l]).max(zero) } else { zero };
            let loss = if limits.squared { slack * slack } else { slack };
            self.sums.loss[l] += (limits.cost * loss).into();
            self.sums.linear[l] += (alpha - half * limits.ridge * alpha * alpha).into();
            self.sums.alpha_margin[l] += (alpha * margins[l]).into();
            if Self::SKIPS_BOUNDED && bounded >> l & 1 == 1 {
                self.bounded.loss[l] += (limits.cost * loss).into();
                self.bounded.linear[l] += alpha.into();
                self.bounded.alpha_margin[l] += (alpha * margins[l]).into();
            }
        }
        moves.then_some(steps)
    }
}
