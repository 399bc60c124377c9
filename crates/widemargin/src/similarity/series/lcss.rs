//! Longest common subsequence of series: `lcss:epsilon=0.5`.
//!
//! d(x, y) is 1 − L / min(m, n), L the most pairs of time steps, in order in both series, with ‖x_i − y_j‖ ≤ epsilon
//! (Vlachos, Kollios and Gunopulos, *Discovering similar multidimensional trajectories*, ICDE 2002). As in aeon ‖·‖ is
//! the Euclidean norm of all channels, where the paper compares each with epsilon.

use super::dtw::DTW;
use super::elastic::{Elastic, GAMMA, WINDOW};
use super::rule::{Extra, Neighbors, Place, Rule};
use crate::error::Result;
use crate::parameters::{Arguments, Parameter, Values};
use crate::simd::Simd;
use crate::similarity::row::{SimilarityRow, built};

pub(super) const LCSS: SimilarityRow = SimilarityRow {
    name: "lcss",
    class: "LCSS",
    formula: "−d, or exp(−gamma d) if gamma is set, where d(x, y) = 1 − L / n, L is the length of the longest common \
              subsequence, and n the length of the shorter series",
    about: "Time steps match if they differ by at most epsilon (Vlachos, Kollios and Gunopulos, 2002).",
    parameters: &[
        WINDOW,
        Parameter::new("epsilon", Values::NOT_NEGATIVE, "The largest Euclidean distance of matching time steps.")
            .or("1"),
        GAMMA,
    ],
    examples: &["lcss:epsilon=0.2", "lcss:epsilon=0.1,window=0.3", "lcss:epsilon=0.3,window=0,gamma=auto"],
    build: |step| built(Elastic::<CommonSubsequence>::from_step(step)),
    ..DTW
};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CommonSubsequence {
    epsilon: f32,
}

impl Rule for CommonSubsequence {
    const ROW: &'static SimilarityRow = &LCSS;
    const REPEATS: bool = false;
    const SECONDS_PER_CELL: f64 = 0.4e-9;
    const HAS_EDGES: bool = true;

    fn read(arguments: &Arguments<'_>) -> Result<Self> {
        Ok(CommonSubsequence { epsilon: arguments.value("epsilon")? })
    }

    fn is_pair(cost: f32) -> bool {
        cost < 0.0
    }

    fn extra(self, series: &[f32], channels: usize) -> Extra {
        Extra { edge: vec![0.0; series.len() / channels], ..Extra::default() }
    }

    fn finish(self, last: f32, [m, n]: [usize; 2]) -> f32 {
        // Counts are integers below 2^24.
        1.0 + last / m.min(n) as f32
    }

    /// Minus the length of the longest common subsequence: 6 + 2 · channels flops, and a root where there are several
    /// channels.
    #[inline(always)]
    fn cell<S: Simd, const ONE: bool>(self, at: &Place<'_, S, ONE>, neighbors: Neighbors<S>) -> S::F32s {
        let simd = at.simd;
        let away = at.distance();
        let common = simd.where_at_most(away, simd.splat(self.epsilon), simd.splat(-1.0), simd.splat(0.0));
        simd.min(simd.add(neighbors.diagonal, common), simd.min(neighbors.above, neighbors.left))
    }
}
