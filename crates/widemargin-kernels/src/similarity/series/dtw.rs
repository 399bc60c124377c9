//! Dynamic time warping: `dtw:window=0.1,gamma=2`, and with weights, `wdtw:g=0.05`.
//!
//! d(x, y) is the smallest Σ ‖x_i − y_j‖² along a path of steps (1, 0), (0, 1), (1, 1) from the first pair of time
//! steps to the last (Sakoe and Chiba, *Dynamic programming algorithm optimization for spoken word recognition*, 1978;
//! no slope weights). As in aeon, d is the sum of squares, not its square root; tslearn's is the root, `root=true`.
//! Without warping (window=0) d is the squared Euclidean distance of two series of equal length.
//!
//! A path has from max(m, n) to m + n − 1 pairs: of series of different lengths d grows with these. `normalize=true`
//! divides by m + n, Sakoe and Chiba's normalization, which is the same for all paths and so keeps the recursion.

use super::elastic::{Elastic, GAMMA, WINDOW};
use super::rule::{Neighbors, Offsets, Place, Rule};
use crate::error::Result;
use crate::parameters::{Arguments, Parameter, Values};
use crate::simd::Simd;
use crate::similarity::row::{Definite, Onnx, SimilarityRow, built};

pub(super) const DTW: SimilarityRow = SimilarityRow {
    name: "dtw",
    class: "DTW",
    samples: &["time series"],
    parameters: &[
        WINDOW,
        GAMMA,
        Parameter::new("root", Values::Flag, "Whether to take the square root of the sum.").or("false"),
        Parameter::new("normalize", Values::Flag, "Whether to divide by the sum of both lengths, before the root.")
            .or("false"),
    ],
    examples: &[
        "dtw",
        "dtw:window=0.1",
        "dtw:window=0.2,gamma=0.05",
        "dtw:gamma=auto",
        "dtw:root=true",
        "dtw:normalize=true,root=true",
    ],
    definite: Definite::No,
    onnx: Onnx::NO_VECTORS,
    build: |step| built(Dtw::from_step(step)),
};

/// Dynamic time warping, a similarity of series.
pub type Dtw = Elastic<Warping>;

/// The rule of dynamic time warping.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Warping {
    root: bool,
    normalize: bool,
}

impl Rule for Warping {
    const ROW: &'static SimilarityRow = &DTW;
    const SECONDS_PER_CELL: f64 = 0.3e-9;

    fn read(arguments: &Arguments<'_>) -> Result<Self> {
        Ok(Warping { root: arguments.value("root")?, normalize: arguments.value("normalize")? })
    }

    fn finish(self, last: f32, [m, n]: [usize; 2]) -> f32 {
        let d = if self.normalize { last / (m + n) as f32 } else { last };
        if self.root { d.sqrt() } else { d }
    }

    /// 3 + 2 · channels flops.
    #[inline(always)]
    fn cell<S: Simd, const ONE: bool>(self, at: &Place<'_, S, ONE>, neighbors: Neighbors<S>) -> S::F32s {
        at.add_squared(neighbors.least(at.simd))
    }
}

/// Weighted dynamic time warping: `wdtw:g=0.05`.
///
/// As `dtw`, but a pair of time steps costs w(|i − j|) ‖x_i − y_j‖² with w(a) = 1 / (1 + exp(−g (a − M / 2))), M the
/// length of the longer series: warping far is dear (Jeong, Jeong and Omitaomu, *Weighted dynamic time warping for time
/// series classification*, Pattern Recognition 44, 2011; their w_max is 1). Without a weight, g = 0, d is half that of
/// `dtw`.
pub(super) const WDTW: SimilarityRow = SimilarityRow {
    name: "wdtw",
    class: "WDTW",
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
