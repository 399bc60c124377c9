//! Edit distance with real penalty: `erp:g=0`.
//!
//! d(x, y) is the least cost of pairing time steps, ‖x_i − y_j‖, and of leaving one of either series without a partner,
//! its distance to g (Chen and Ng, *On the marriage of Lp-norms and edit distance*, VLDB 2004; of several channels the
//! Euclidean norm, g in each). d is a metric without a band. aeon charges a path that begins without partners for all
//! of a series.

use super::dtw::DTW;
use super::elastic::{Elastic, GAMMA, WINDOW};
use super::rule::{Extra, Neighbors, Place, Rule, distance};
use crate::error::Result;
use crate::parameters::{Arguments, Parameter, Values};
use crate::simd::Simd;
use crate::similarity::row::{SimilarityRow, built};

pub(super) const ERP: SimilarityRow = SimilarityRow {
    name: "erp",
    class: "ERP",
    formula: "−d, or exp(−gamma d) if gamma is set, where d(x, y) is the edit distance with real penalty",
    about: "Steps are matched, or skipped at their distance to g (Chen and Ng, 2004). Without a band, d is a metric.",
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
