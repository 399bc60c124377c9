//! Weighted dynamic time warping: `wdtw:g=0.05`.
//!
//! As `dtw`, but a pair of time steps costs w(|i − j|) ‖x_i − y_j‖² with w(a) = 1 / (1 + exp(−g (a − M / 2))), M the
//! length of the longer series: warping far is dear (Jeong, Jeong and Omitaomu, *Weighted dynamic time warping for time
//! series classification*, Pattern Recognition 44, 2011; their w_max is 1). Without a weight, g = 0, d is half that of
//! `dtw`.

use super::dtw::DTW;
use super::elastic::{Elastic, GAMMA, WINDOW};
use super::rule::{Neighbors, Offsets, Place, Rule};
use crate::error::Result;
use crate::parameters::{Arguments, Parameter, Values};
use crate::simd::Simd;
use crate::similarity::row::{SimilarityRow, built};

pub(super) const WDTW: SimilarityRow = SimilarityRow {
    name: "wdtw",
    class: "WDTW",
    formula: "as for dtw, but with the squared difference of time steps i and j multiplied by 1 / (1 + exp(−g (|i − j| \
              − M / 2))), where M is the length of the longer series",
    about: "Weighted dynamic time warping (Jeong, Jeong and Omitaomu, 2011).",
    parameters: &[
        WINDOW,
        Parameter::new("g", Values::NOT_NEGATIVE, "The steepness of the weight as a function of |i − j|.").or("0.05"),
        GAMMA,
    ],
    examples: &["wdtw", "wdtw:g=0.5,window=0.4", "wdtw:g=3,gamma=auto"],
    build: |step| built(Elastic::<Weighted>::from_step(step)),
    ..DTW
};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Weighted {
    g: f64,
}

impl Rule for Weighted {
    const ROW: &'static SimilarityRow = &WDTW;
    const SECONDS_PER_CELL: f64 = 0.4e-9;

    fn read(arguments: &Arguments<'_>) -> Result<Self> {
        Ok(Weighted { g: arguments.value("g")? })
    }

    fn offsets(self, longest: usize) -> Offsets {
        let longest = longest as i64;
        // At k = 2 |i − j| − M.
        let numbers = (-longest..=longest).map(|k| (1.0 / (1.0 + (-self.g * k as f64 / 2.0).exp())) as f32);
        Offsets { numbers: numbers.collect(), by_length: true }
    }

    /// 3 + 2 · channels flops and a vector read.
    #[inline(always)]
    fn cell<S: Simd, const ONE: bool>(self, at: &Place<'_, S, ONE>, neighbors: Neighbors<S>) -> S::F32s {
        at.simd.multiply_add(at.offset(), at.squared(), neighbors.least(at.simd))
    }
}
