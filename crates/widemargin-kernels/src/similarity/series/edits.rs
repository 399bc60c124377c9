//! Edit distances of series: `msm:c=1`, `twe:nu=0.001,penalty=1`, `erp:g=0` and `lcss:epsilon=0.5`. Time steps are paired,
//! or left without a partner at a cost.

use super::dtw::DTW;
use super::elastic::{Elastic, GAMMA, WINDOW};
use super::rule::{Extra, Neighbors, Offsets, Place, Rule, distance};
use crate::error::Result;
use crate::parameters::{Arguments, Parameter, Values};
use crate::simd::Simd;
use crate::similarity::row::{SimilarityRow, built};

/// Move-split-merge: `msm:c=1`.
///
/// d(x, y) is the least cost of turning x into y by moves, which change a value and cost by how much, splits, which
/// repeat a value, and merges, which undo that, at c each (Stefan, Athitsos and Das, *The move-split-merge metric for
/// time series*, IEEE Transactions on Knowledge and Data Engineering 25, 2013). A step without a partner costs
///
/// C(u; v, w) = c if u is between v, its own predecessor, and w, the other series' step; else c + min(|u − v|, |u −
/// w|).
///
/// Of several channels |·| is the Euclidean norm, and u is between v and w in the ball on the diameter from v to w,
/// where (u − v)·(u − w) ≤ 0 (Shifaz, Pelletier, Petitjean and Webb, *Elastic similarity and distance measures for
/// multivariate time series*, Knowledge and Information Systems 65, 2023). One channel has the metric itself.
pub(super) const MSM: SimilarityRow = SimilarityRow {
    name: "msm",
    class: "MSM",
    parameters: &[WINDOW, Parameter::new("c", Values::NOT_NEGATIVE, "The cost of a split or a merge.").or("1"), GAMMA],
    examples: &["msm", "msm:c=0.1,window=0.2", "msm:c=0.01,gamma=auto"],
    build: |step| built(Elastic::<MoveSplitMerge>::from_step(step)),
    ..DTW
};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MoveSplitMerge {
    c: f32,
}

impl Rule for MoveSplitMerge {
    const ROW: &'static SimilarityRow = &MSM;
    const SECONDS_PER_CELL: f64 = 0.6e-9;

    fn read(arguments: &Arguments<'_>) -> Result<Self> {
        Ok(MoveSplitMerge { c: arguments.value("c")? })
    }

    /// Each step's difference from the one before it, 0 for the first, and its norm.
    fn extra(self, series: &[f32], channels: usize) -> Extra {
        let mut second = vec![0.0; series.len()];
        for at in channels..series.len() {
            second[at] = series[at] - series[at - channels];
        }
        let gaps = second.chunks(channels).map(|step| distance(step, &vec![0.0; channels]) as f32).collect();
        Extra { second, gaps, edge: Vec::new() }
    }

    /// 15 + 5 · channels flops, one of them a root where there are several channels; 4 numbers read.
    #[inline(always)]
    fn cell<S: Simd, const ONE: bool>(self, at: &Place<'_, S, ONE>, neighbors: Neighbors<S>) -> S::F32s {
        let (simd, x, y) = (at.simd, at.table.x, at.table.y);
        let Neighbors { above, diagonal, left } = neighbors;
        let zero = simd.splat(0.0);
        // (x_i − x_{i−1})·(x_i − y_j) and (y_j − y_{j−1})·(x_i − y_j): the first is negative where x_i is between, the
        // second positive where y_j is.
        let (mut of_x, mut of_y, mut squared) = (zero, zero, zero);
        let away = if ONE {
            let difference = simd.subtract(at.x, at.y);
            of_x = simd.multiply(at.of_x(x.second), difference);
            of_y = simd.multiply(at.of_y(y.second), difference);
            simd.abs(difference)
        } else {
            for channel in 0..at.table.channels {
                let difference = simd.subtract(at.x_at(x.values, channel), at.y_at(y.values, channel));
                of_x = simd.multiply_add(at.x_at(x.second, channel), difference, of_x);
                of_y = simd.multiply_add(at.y_at(y.second, channel), difference, of_y);
                squared = simd.multiply_add(difference, difference, squared);
            }
            simd.sqrt(squared)
        };
        let split = simd.where_at_most(of_x, zero, zero, simd.min(at.of_x(x.gaps), away));
        let merge = simd.where_at_most(zero, of_y, zero, simd.min(at.of_y(y.gaps), away));
        let alone = simd.min(simd.add(above, split), simd.add(left, merge));
        simd.min(simd.add(diagonal, away), simd.add(alone, simd.splat(self.c)))
    }
}

/// Time warp edit distance: `twe:nu=0.001,penalty=1`.
///
/// d(x, y) is the least cost of pairing time steps, ‖x_i − y_j‖ + ‖x_{i−1} − y_{j−1}‖ + 2 nu |i − j|, and of deleting
/// one from either series, ‖x_i − x_{i−1}‖ + nu + penalty (Marteau, *Time warp edit distance with stiffness adjustment
/// for time series matching*, IEEE Transactions on Pattern Analysis and Machine Intelligence 31, 2009, of time steps at
/// distance 1; the penalty is his lambda, a word that Python keeps for itself). Before the first step both series are
/// 0, and that is a pair. d is a metric without a band.
pub(super) const TWE: SimilarityRow = SimilarityRow {
    name: "twe",
    class: "TWE",
    parameters: &[
        WINDOW,
        Parameter::new("nu", Values::NOT_NEGATIVE, "The stiffness: the cost of a difference in time, per time step.")
            .or("0.001"),
        Parameter::new("penalty", Values::NOT_NEGATIVE, "The cost of a deletion, lambda in the paper.").or("1"),
        GAMMA,
    ],
    examples: &["twe", "twe:nu=0.1,penalty=0.2,window=0.3", "twe:nu=1,gamma=auto"],
    build: |step| built(Elastic::<TimeWarpEdit>::from_step(step)),
    ..DTW
};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TimeWarpEdit {
    nu: f64,
    penalty: f64,
}

impl Rule for TimeWarpEdit {
    const ROW: &'static SimilarityRow = &TWE;
    const REPEATS: bool = false;
    const SECONDS_PER_CELL: f64 = 0.6e-9;

    fn read(arguments: &Arguments<'_>) -> Result<Self> {
        Ok(TimeWarpEdit { nu: arguments.value("nu")?, penalty: arguments.value("penalty")? })
    }

    /// The previous step of each, and the cost of deleting it.
    fn extra(self, series: &[f32], channels: usize) -> Extra {
        let mut second = vec![0.0; channels];
        second.extend_from_slice(&series[..series.len() - channels]);
        let deletion = |(step, before): (&[f32], &[f32])| (distance(step, before) + self.nu + self.penalty) as f32;
        let gaps = series.chunks(channels).zip(second.chunks(channels)).map(deletion).collect();
        Extra { second, gaps, edge: Vec::new() }
    }

    fn offsets(self, longest: usize) -> Offsets {
        Offsets { numbers: (0..longest).map(|away| (2.0 * self.nu * away as f64) as f32).collect(), by_length: false }
    }

    /// 7 + 4 · channels flops, and two roots where there are several channels; 5 numbers read.
    #[inline(always)]
    fn cell<S: Simd, const ONE: bool>(self, at: &Place<'_, S, ONE>, neighbors: Neighbors<S>) -> S::F32s {
        let simd = at.simd;
        let paired = simd.add(simd.add(at.distance(), at.second_distance()), at.offset());
        let of_x = simd.add(neighbors.above, at.of_x(at.table.x.gaps));
        let of_y = simd.add(neighbors.left, at.of_y(at.table.y.gaps));
        simd.min(simd.add(neighbors.diagonal, paired), simd.min(of_x, of_y))
    }
}

/// Edit distance with real penalty: `erp:g=0`.
///
/// d(x, y) is the least cost of pairing time steps, ‖x_i − y_j‖, and of leaving one of either series without a partner,
/// its distance to g (Chen and Ng, *On the marriage of Lp-norms and edit distance*, VLDB 2004; of several channels the
/// Euclidean norm, g in each). d is a metric without a band. aeon charges a path that begins without partners for all
/// of a series.
pub(super) const ERP: SimilarityRow = SimilarityRow {
    name: "erp",
    class: "ERP",
    parameters: &[
        WINDOW,
        Parameter::new("g", Values::FINITE, "The value with which skipped time steps are compared.").or("0"),
        GAMMA,
    ],
    examples: &["erp", "erp:g=0.5,window=0.3", "erp:g=-1,window=0,gamma=auto"],
    build: |step| built(Elastic::<RealPenalty>::from_step(step)),
    ..DTW
};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RealPenalty {
    g: f32,
}

impl Rule for RealPenalty {
    const ROW: &'static SimilarityRow = &ERP;
    const REPEATS: bool = false;
    const SECONDS_PER_CELL: f64 = 0.4e-9;
    const HAS_EDGES: bool = true;

    fn read(arguments: &Arguments<'_>) -> Result<Self> {
        Ok(RealPenalty { g: arguments.value("g")? })
    }

    /// The distance of each step to g, and their sums.
    fn extra(self, series: &[f32], channels: usize) -> Extra {
        let gap = vec![self.g; channels];
        let gaps: Vec<f32> = series.chunks(channels).map(|step| distance(step, &gap) as f32).collect();
        let mut sum = 0.0;
        let sums = gaps.iter().map(|gap| {
            sum += gap;
            sum
        });
        Extra { edge: sums.collect(), second: Vec::new(), gaps }
    }

    /// 5 + 2 · channels flops, and a root where there are several channels; 2 numbers read.
    #[inline(always)]
    fn cell<S: Simd, const ONE: bool>(self, at: &Place<'_, S, ONE>, neighbors: Neighbors<S>) -> S::F32s {
        let simd = at.simd;
        let of_x = simd.add(neighbors.above, at.of_x(at.table.x.gaps));
        let of_y = simd.add(neighbors.left, at.of_y(at.table.y.gaps));
        simd.min(simd.add(neighbors.diagonal, at.distance()), simd.min(of_x, of_y))
    }
}

/// Longest common subsequence of series: `lcss:epsilon=0.5`.
///
/// d(x, y) is 1 − L / min(m, n), L the most pairs of time steps, in order in both series, with ‖x_i − y_j‖ ≤ epsilon
/// (Vlachos, Kollios and Gunopulos, *Discovering similar multidimensional trajectories*, ICDE 2002). As in aeon ‖·‖ is
/// the Euclidean norm of all channels, where the paper compares each with epsilon.
pub(super) const LCSS: SimilarityRow = SimilarityRow {
    name: "lcss",
    class: "LCSS",
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
