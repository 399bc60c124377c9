//! Time warp edit distance: `twe:nu=0.001,penalty=1`.
//!
//! d(x, y) is the least cost of pairing time steps, ‖x_i − y_j‖ + ‖x_{i−1} − y_{j−1}‖ + 2 nu |i − j|, and of deleting
//! one from either series, ‖x_i − x_{i−1}‖ + nu + penalty (Marteau, *Time warp edit distance with stiffness adjustment
//! for time series matching*, IEEE Transactions on Pattern Analysis and Machine Intelligence 31, 2009, of time steps at
//! distance 1; the penalty is his lambda, a word that Python keeps for itself). Before the first step both series are
//! 0, and that is a pair. d is a metric without a band.

use super::dtw::DTW;
use super::elastic::{Elastic, GAMMA, WINDOW};
use super::rule::{Extra, Neighbors, Offsets, Place, Rule, distance};
use crate::error::Result;
use crate::parameters::{Arguments, Parameter, Values};
use crate::simd::Simd;
use crate::similarity::row::{SimilarityRow, built};

pub(super) const TWE: SimilarityRow = SimilarityRow {
    name: "twe",
    class: "TWE",
    formula: "−d, or exp(−gamma d) if gamma is set, where d(x, y) is the time warp edit distance",
    about: "Time steps are matched or deleted (Marteau, 2009). Without a band, d is a metric.",
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
