//! Decision values computed from similarities, without features if the map is a projection, or from sparse features.
//!
//! Features φ = Mᵀs of similarities s have the decision value w·φ = (Mw)·s. With v = Mw precomputed, a sample costs
//! bases × problems, whereas computing φ first costs bases × features: 100 times as much, with a thousand bases and ten
//! problems. In double precision: M divides by square roots of eigenvalues, including small ones, so that v is large
//! and its terms cancel.

use super::part_map::{Linear, PartMap, n_joined};
use crate::data::{CsrMatrix, Rows};
use crate::error::Result;
use crate::linalg;

/// An efficient form of the weights from which decision values are computed.
#[derive(Clone, Debug)]
pub(crate) enum Decision {
    Folded(FoldedDecision),
    Sparse(SparseDecision),
}

/// Weights on sparse features.
#[derive(Clone, Debug)]
pub(crate) struct SparseDecision {
    /// `[feature][problem]`, so that those of a non-zero are adjacent.
    weights: Vec<f32>,
    n_problems: usize,
}

impl SparseDecision {
    /// From weights `[problem][feature]`.
    pub fn new<W: Copy + Into<f64>>(weights: &[W], n_problems: usize) -> Self {
        let n_features = weights.len() / n_problems.max(1);
        let of = |at: usize| weights[at % n_problems * n_features + at / n_problems].into() as f32;
        SparseDecision { weights: (0..weights.len()).map(of).collect(), n_problems }
    }

    /// The products of rows with the weights, row-major rows × problems: 2 flops per non-zero and problem, with 4 bytes
    /// read.
    pub fn values(&self, rows: &CsrMatrix<f32>, out: &mut [f32]) -> Result<()> {
        let (rows, k) = (rows.view()?, self.n_problems);
        let mut sums = vec![0.0f64; k];
        for (row, out) in out.chunks_mut(k.max(1)).enumerate() {
            sums.fill(0.0);
            rows.for_each_nonzero(row, |feature, value| {
                let weights = &self.weights[feature * k..(feature + 1) * k];
                sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += value * f64::from(*weight));
            });
            out.iter_mut().zip(&sums).for_each(|(out, sum)| *out = *sum as f32);
        }
        Ok(())
    }
}

/// Weights on similarities after all maps except projections.
#[derive(Clone, Debug)]
pub(crate) struct FoldedDecision {
    /// The maps of the expansion without their matrices.
    pub maps: Vec<PartMap>,
    /// `[problem][column of any part]`.
    weights: Vec<f64>,
    n_problems: usize,
}

impl FoldedDecision {
    /// Built from the maps of an expansion, and weights on its features.
    pub fn new<W: Copy + Into<f64>>(maps: &[PartMap], weights: &[W], n_problems: usize) -> Self {
        let mut folded = Vec::with_capacity(n_problems * maps.iter().map(|map| map.n_columns).sum::<usize>());
        let n_features = n_joined(maps);
        for problem in 0..n_problems {
            let mut of_problem = &weights[problem * n_features..][..n_features];
            for map in maps {
                let own;
                (own, of_problem) = of_problem.split_at(map.n_features);
                match &map.linear {
                    Linear::Factors(_) => folded.extend(own.iter().map(|w| (*w).into())),
                    Linear::Matrix(matrix) => folded.extend(times(matrix, map.n_columns, own)),
                    Linear::PreciseMatrix(matrix) => folded.extend(times(matrix, map.n_columns, own)),
                }
            }
        }
        FoldedDecision { maps: maps.iter().map(PartMap::without_matrix).collect(), weights: folded, n_problems }
    }

    /// The weight of a column of any part, of its similarity after the maps.
    pub fn weight(&self, problem: usize, column: usize) -> f64 {
        self.weights[problem * self.width() + column]
    }

    /// Columns of all parts.
    pub fn width(&self) -> usize {
        self.weights.len() / self.n_problems
    }

    /// The products of rows of mapped similarities with the weights, row-major rows × problems.
    pub fn values(&self, rows: &[f64], out: &mut [f32]) {
        let mut sums = vec![0.0; out.len()];
        linalg::outer(&mut sums, rows, &self.weights, self.width());
        out.iter_mut().zip(sums).for_each(|(out, sum)| *out = sum as f32);
    }
}

/// Mw, of a row-major M.
fn times<'a>(
    matrix: &'a [impl Copy + Into<f64>],
    n_rows: usize,
    w: &'a [impl Copy + Into<f64>],
) -> impl Iterator<Item = f64> + 'a {
    let row = move |row: usize| matrix[row * w.len()..][..w.len()].iter().zip(w);
    (0..n_rows).map(move |at| row(at).map(|(a, b)| (*a).into() * (*b).into()).sum())
}
