//! Products of sparse rows. Weights and sums are `[feature][problem]`, so that the numbers of a non-zero for all
//! problems are adjacent: 2 flops per non-zero and problem, with 4 to 8 bytes moved.

use super::Products;
use super::sums::Sums;
use crate::data::{CsrView, Rows};
use crate::error::Result;
use crate::linalg::factor::Matrix;
use crate::monitor::{Monitor, is_late};
use crate::par::Pool;

/// A scattered multiply-add takes about as long as 16 of a dense product.
const SCATTER_COST: f64 = 16.0;

/// Rows of the Gram matrix per task; fixed, so that results do not depend on the number of threads.
const BAND: usize = 128;

/// Visits each feature of each problem, a few features at a time, so that two orders of their weights stay in the
/// first-level cache.
fn by_tiles(n_features: usize, n_problems: usize, mut visit: impl FnMut(usize, usize)) {
    const FEATURES: usize = 32;
    for first in (0..n_features).step_by(FEATURES) {
        for problem in 0..n_problems {
            (first..n_features.min(first + FEATURES)).for_each(|feature| visit(feature, problem));
        }
    }
}

impl Products for CsrView<'_, f32> {
    fn n_values(&self) -> usize {
        self.max_nonzeros()
    }

    /// A sum costs as much as the products of as many non-zeros as there are features, and rows may have few non-zeros.
    fn n_partial_sums(&self, n_shards: usize) -> usize {
        n_shards.min((self.max_nonzeros() / (4 * self.n_cols()).max(1)).max(2))
    }

    fn pack(&self, points: &[f64], stride: usize) -> Vec<f32> {
        let (d, k) = (self.n_cols(), points.len() / stride);
        let mut packed = vec![0.0; d * k];
        by_tiles(d, k, |feature, p| packed[feature * k + p] = points[p * stride + feature] as f32);
        packed
    }

    fn scores(&self, rows: &[u32], packed: &[f32], out: &mut [f32]) {
        let n = rows.len();
        let k = out.len() / n.max(1);
        let mut sums = vec![0.0f32; k];
        for (i, &row) in rows.iter().enumerate() {
            sums.fill(0.0);
            self.for_each_nonzero(row as usize, |column, value| {
                for (sum, weight) in sums.iter_mut().zip(&packed[column * k..(column + 1) * k]) {
                    *sum += value as f32 * weight;
                }
            });
            for (p, sum) in sums.iter().enumerate() {
                out[p * n + i] = *sum;
            }
        }
    }

    fn add_combination(&self, rows: &[u32], factors: &[f32], sums: &mut Sums) {
        let (n, k) = (rows.len(), sums.n_problems);
        let mut mine = vec![0.0f64; k];
        for (i, &row) in rows.iter().enumerate() {
            for (p, factor) in mine.iter_mut().enumerate() {
                *factor = f64::from(factors[p * n + i]);
            }
            self.for_each_nonzero(row as usize, |column, value| {
                for (sum, factor) in sums.wide[column * k..(column + 1) * k].iter_mut().zip(&mine) {
                    *sum += value * factor;
                }
            });
        }
    }

    fn sums(&self, n_problems: usize) -> Sums {
        Sums { n_problems, wide: vec![0.0; self.n_cols() * n_problems], narrow: Vec::new(), in_narrow: 0 }
    }

    fn unpack(&self, sums: Sums) -> Vec<f64> {
        let (k, d) = (sums.n_problems, self.n_cols());
        let mut out = vec![0.0; sums.wide.len()];
        by_tiles(d, k, |feature, p| out[p * d + feature] = sums.wide[feature * k + p]);
        out
    }

    fn gram_cost(&self) -> f64 {
        let pairs = |row| 0.5 * (self.n_stored_in(row) as f64).powi(2);
        SCATTER_COST * (0..self.n_rows()).map(pairs).sum::<f64>()
    }

    fn gram(&self, factors: &[f32], pool: &Pool, monitor: &Monitor<'_>) -> Result<Option<Vec<f32>>> {
        let d = self.n_cols();
        let mut lower = vec![0.0f32; d * d];
        let mut bands: Vec<&mut [f32]> = lower.chunks_mut((BAND * d).max(1)).collect();
        let done = pool.map_mut(&mut bands, |at, band| {
            let columns = at * BAND..at * BAND + band.len() / d;
            let mut entries = Vec::new();
            for (row, &factor) in factors.iter().enumerate() {
                if row % 4096 == 0 {
                    monitor.ask()?;
                }
                if factor == 0.0 {
                    continue;
                }
                entries.clear();
                self.for_each_nonzero(row, |column, value| {
                    if column < columns.end {
                        entries.push((column, value as f32));
                    }
                });
                for (i, &(column, value)) in entries.iter().enumerate() {
                    if column >= columns.start {
                        let sums = &mut band[(column - columns.start) * d..][..d];
                        for &(other, with) in &entries[..=i] {
                            sums[other] += factor * value * with;
                        }
                    }
                }
            }
            Ok(())
        });
        Ok(if is_late(done.into_iter().collect(), "gram")? { None } else { Some(lower) })
    }

    /// For each feature, 2 flops for each pair of rows that have it, the second not before the first.
    fn inner_products(&self, roots: &[f64], pool: &Pool) -> Matrix {
        let n = self.n_rows();
        let mut gram = Matrix::zeros(n, n);
        let mut by_feature: Vec<Vec<(u32, f64)>> = vec![Vec::new(); self.n_cols()];
        for (row, root) in roots.iter().enumerate() {
            self.for_each_nonzero(row, |feature, x| by_feature[feature].push((row as u32, root * x)));
        }
        let mut columns: Vec<&mut [f64]> = gram.values_mut().chunks_mut(n.max(1)).collect();
        pool.map_mut(&mut columns, |at, column| {
            self.for_each_nonzero(at, |feature, x| {
                let x = roots[at] * x;
                let from = by_feature[feature].partition_point(|&(row, _)| (row as usize) < at);
                by_feature[feature][from..].iter().for_each(|&(row, y)| column[row as usize] += x * y);
            });
        });
        gram.mirror_lower();
        gram
    }
}
