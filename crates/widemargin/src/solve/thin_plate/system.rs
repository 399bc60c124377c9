//! A two-class problem, parts of its samples, and points.

use serde::{Deserialize, Serialize};

/// The two-class problem: minimize λ‖h‖² + Σ r (√w − y z)²₊ over the penalized part h and the unpenalized γ, where z =
/// √w · f are the weighted scores, and r is 1 except for multilabel targets, whose problems weigh samples differently.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target<'a> {
    /// +1 or −1 per sample.
    pub signs: &'a [f64],
    /// √w of each sample: the margin that z must reach.
    pub roots: &'a [f64],
    /// r of each sample, 0 for one that is no part of the problem; `None` where all are 1.
    pub weights: Option<&'a [f64]>,
    /// The samples that are solved for.
    pub part: Part,
    /// Whether samples beyond the margin are violators too: of the squared error, (√w − y z)² without a positive part.
    pub is_two_sided: bool,
}

impl Target<'_> {
    /// The distance of sample `i` inside the margin.
    pub fn slack(&self, scores: &[f64], i: usize) -> f64 {
        self.roots[i] - self.signs[i] * scores[i]
    }

    /// Whether a sample with this distance inside the margin is a violator.
    pub fn violates(&self, slack: f64) -> bool {
        self.is_two_sided || slack > 0.0
    }

    /// r of a sample.
    pub fn weight(&self, i: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[i])
    }

    /// Whether a sample is part of the problem.
    pub fn has(&self, i: usize) -> bool {
        self.part.has(i) && self.weights.is_none_or(|weights| weights[i] > 0.0)
    }

    /// λ/r: the noise of a sample in the regression that a step solves.
    pub fn noise(&self, lambda: f64, i: usize) -> f64 {
        self.weights.map_or(lambda, |weights| lambda / weights[i])
    }

    /// The violators.
    pub fn violators(&self, scores: &[f64]) -> Vec<usize> {
        (0..scores.len()).filter(|&i| self.has(i) && self.violates(self.slack(scores, i))).collect()
    }

    /// Σ r (√w − y z)² over the violators.
    pub fn loss(&self, scores: &[f64]) -> f64 {
        let of = |i| self.weight(i) * self.slack(scores, i).powi(2);
        self.violators(scores).into_iter().map(of).sum()
    }
}

/// One sample in 2^k, selected pseudo-randomly, so that neither their order nor a period in it matters; k = 0 is all.
/// Parts are nested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part(pub u32);

impl Part {
    /// All samples.
    pub const ALL: Part = Part(0);

    /// The part to start with: about `least` of `n` samples.
    pub fn first(n: usize, least: usize) -> Part {
        Part((n / least).max(1).ilog2())
    }
    fn has(self, i: usize) -> bool {
        if self == Part::ALL {
            return true;
        }
        // The final steps of SplitMix64.
        let mixed = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 32 & ((1 << self.0) - 1) == 0
    }
}

/// A candidate solution.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Point {
    /// Coefficients of the penalized part.
    pub coefficients: Vec<f64>,
    /// γ, the unpenalized part.
    pub free: Vec<f64>,
    /// Scores of the penalized part alone, if the solver needs them.
    pub smooth: Vec<f64>,
    /// z, the weighted scores of all samples.
    pub scores: Vec<f64>,
}

impl Point {
    /// (1 − t) · self + t · other.
    pub fn mix(&mut self, other: &Point, t: f64) {
        let parts = [
            (&mut self.coefficients, &other.coefficients),
            (&mut self.free, &other.free),
            (&mut self.smooth, &other.smooth),
            (&mut self.scores, &other.scores),
        ];
        for (mine, theirs) in parts {
            for (x, y) in mine.iter_mut().zip(theirs) {
                *x += t * (y - *x);
            }
        }
    }
}
