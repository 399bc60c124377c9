//! Move-split-merge: `msm:c=1`.
//!
//! d(x, y) is the least cost of turning x into y by moves, which change a value and cost by how much, splits, which
//! repeat a value, and merges, which undo that, at c each (Stefan, Athitsos and Das, *The move-split-merge metric for
//! time series*, IEEE Transactions on Knowledge and Data Engineering 25, 2013). A step without a partner costs
//!
//! C(u; v, w) = c if u is between v, its own predecessor, and w, the other series' step; else c + min(|u − v|, |u −
//! w|).
//!
//! Of several channels |·| is the Euclidean norm, and u is between v and w in the ball on the diameter from v to w,
//! where (u − v)·(u − w) ≤ 0 (Shifaz, Pelletier, Petitjean and Webb, *Elastic similarity and distance measures for
//! multivariate time series*, Knowledge and Information Systems 65, 2023). One channel has the metric itself.

use super::dtw::DTW;
use super::elastic::{Elastic, GAMMA, WINDOW};
use super::rule::{Extra, Neighbors, Place, Rule, distance};
use crate::error::Result;
use crate::parameters::{Arguments, Parameter, Values};
use crate::simd::Simd;
use crate::similarity::row::{SimilarityRow, built};

pub(super) const MSM: SimilarityRow = SimilarityRow {
    name: "msm",
    class: "MSM",
    formula: "−d, or exp(−gamma d) if gamma is set, where d(x, y) is the smallest cost of moves, splits and merges",
    about: "Move-split-merge (Stefan, Athitsos and Das, 2013). Without a band, d is a metric for a single channel.",
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
