//! Newton's method on features: f = F t + U γ with few columns, for many samples.
//!
//! A step costs the *change* of the violators times the columns squared: the Hessian of the loss does not
//! depend on λ and is kept, whatever the path does.

use std::ops::Range;

use super::feature_blocks::FeatureBlocks;
use super::system::{Point, System, Target};
use crate::error::{Error, Result};
use crate::linalg::factor::{Cholesky, Matrix, Side, Svd, add_lower_product, add_scaled, dot, product};
use crate::par::Pool;

/// Directions of the unpenalised part that the violators determine no better than this are left as they are.
const UNDETERMINED: f64 = 1e-10;

/// Samples gathered at a time.
const CHUNK: usize = 512;

/// Parts that the blocks are divided into, to be summed in parallel: a fixed number, so that sums do not depend on
/// how many threads there are.
const PARTS: usize = 4;

/// Blocks below which there is one part only.
const WORTH_PARTS: usize = 4 * PARTS;

/// Weighted features, a column a sample: first the penalised ones, then the unpenalised.
pub(crate) struct Landmarks<'a> {
    features: FeatureBlocks<'a>,
    pool: &'a Pool,
}

/// Σ x xᵀ (lower triangle) over the samples in `rows`.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    hessian: Matrix,
    rows: Vec<usize>,
}

/// H_tt + λI = L Lᵀ, and for the unpenalised part X = L⁻¹H_tu and the singular values of its Schur complement.
#[derive(Debug)]
pub(crate) struct Factor {
    cholesky: Cholesky,
    across: Matrix,
    schur: Svd,
}

impl<'a> Landmarks<'a> {
    pub fn new(features: FeatureBlocks<'a>, pool: &'a Pool) -> Self {
        Landmarks { features, pool }
    }

    pub fn features(&self) -> &FeatureBlocks<'a> {
        &self.features
    }

    fn n_penalised(&self) -> usize {
        self.features.n_penalised()
    }

    fn n_free(&self) -> usize {
        self.features.n_free()
    }

    fn width(&self) -> usize {
        self.n_penalised() + self.n_free()
    }

    /// Calls `work` for each part with its blocks, in parallel; the results in the order of the parts.
    fn parts<T: Send>(&self, work: impl Fn(Range<usize>) -> T + Sync + Send) -> Result<Vec<T>> {
        let n = self.features.n_blocks();
        let parts = if n < WORTH_PARTS { 1 } else { PARTS };
        self.pool.try_map(parts, |part| Ok(work(part * n / parts..(part + 1) * n / parts)))
    }

    /// Brings the kept Hessian to the given violators, and sums `pull(i)` x_i over them: both in one pass.
    fn update(&self, memory: &mut Memory, violators: &[usize], pull: impl Fn(usize) -> f64 + Sync) -> Result<Vec<f64>> {
        let (mut added, mut removed) = changes(&memory.rows, violators);
        let p = self.width();
        // From scratch where that is less work, which also ends the growth of rounding.
        if memory.hessian.n_rows() != p || added.len() + removed.len() >= violators.len() {
            memory.hessian = Matrix::zeros(p, p);
            (added, removed) = (violators.to_vec(), Vec::new());
        }
        let sums = self.parts(|blocks| {
            let mut right = vec![0.0; p];
            let mut hessian = Outer::new(p);
            for at in blocks {
                let range = self.features.range(at);
                let [pulled, more, less] = [violators, &added, &removed].map(|rows| within(rows, &range));
                if pulled.is_empty() && more.is_empty() && less.is_empty() {
                    continue;
                }
                let block = self.features.block(at);
                pulled.iter().for_each(|&i| add_scaled(&mut right, pull(i), block.col(i - range.start)));
                more.iter().for_each(|&i| hessian.push(1.0, block.col(i - range.start)));
                less.iter().for_each(|&i| hessian.push(-1.0, block.col(i - range.start)));
            }
            (right, hessian.sum())
        })?;
        let mut right = vec![0.0; p];
        for (some, hessian) in sums {
            add_scaled(&mut right, 1.0, &some);
            (0..p).for_each(|col| add_scaled(&mut memory.hessian.col_mut(col)[col..], 1.0, &hessian.col(col)[col..]));
        }
        memory.rows = violators.to_vec();
        Ok(right)
    }

    fn factor(&self, lambda: f64, hessian: &Matrix) -> Option<Factor> {
        let (b, q) = (self.n_penalised(), self.n_free());
        let mut penalised = Matrix::zeros(b, b);
        for col in 0..b {
            penalised.col_mut(col)[col..].copy_from_slice(&hessian.col(col)[col..b]);
            penalised.set(col, col, penalised.at(col, col) + lambda);
        }
        let cholesky = Cholesky::new(penalised)?;
        let mut across = Matrix::zeros(b, q);
        let mut schur = Matrix::zeros(q, q);
        for k in 0..q {
            (0..b).for_each(|col| across.set(col, k, hessian.at(b + k, col)));
            schur.col_mut(k)[k..].copy_from_slice(&hessian.col(b + k)[b + k..]);
        }
        cholesky.solve_lower(&mut across);
        add_lower_product(&mut schur, -1.0, Side::Transposed(&across), Side::Plain(&across));
        schur.mirror_lower();
        Some(Factor { cholesky, across, schur: Svd::new(&schur, UNDETERMINED)? })
    }

    /// Σ a_i x_i over all samples, the penalised part.
    pub fn penalised_sum(&self, a: &[f64]) -> Vec<f64> {
        let mut sum = vec![0.0; self.n_penalised()];
        for at in 0..self.features.n_blocks() {
            let range = self.features.range(at);
            if a[range.clone()].iter().any(|a| *a != 0.0) {
                let block = self.features.block(at);
                for (col, i) in range.enumerate() {
                    add_scaled(&mut sum, a[i], &block.col(col)[..self.n_penalised()]);
                }
            }
        }
        sum
    }

    fn scores(&self, penalised: &[f64], free: &[f64]) -> Result<Vec<f64>> {
        let one = |at: usize| {
            let block = self.features.block(at);
            let score = |col: usize| {
                let (t, u) = block.col(col).split_at(self.n_penalised());
                dot(t, penalised) + dot(u, free)
            };
            Ok::<_, Error>((0..block.n_cols()).map(score).collect::<Vec<f64>>())
        };
        Ok(self.pool.try_map(self.features.n_blocks(), one)?.concat())
    }

    /// x̃ᵀ (H + λ)⁻¹ x̃ of gathered samples, with the unpenalised part eliminated.
    fn quadratic(&self, gathered: &[f64], factor: &Factor) -> Vec<f64> {
        let (b, q, p) = (self.n_penalised(), self.n_free(), self.width());
        let n = gathered.len() / p;
        let penalised = gathered.chunks_exact(p).flat_map(|x| &x[..b]).copied().collect();
        let mut penalised = Matrix::from_columns(penalised, b, n);
        factor.cholesky.solve_lower(&mut penalised);
        let free = gathered.chunks_exact(p).flat_map(|x| &x[b..]).copied().collect();
        let mut free = Matrix::from_columns(free, q, n);
        let along = product(Side::Transposed(&factor.across), Side::Plain(&penalised));
        for col in 0..n {
            add_scaled(free.col_mut(col), -1.0, along.col(col));
        }
        let parts = product(Side::Transposed(&factor.schur.u), Side::Plain(&free));
        let one = |col: usize| {
            let inner: f64 = parts.col(col).iter().zip(&factor.schur.s).map(|(x, s)| x * x / s).sum();
            (dot(penalised.col(col), penalised.col(col)) + inner).clamp(0.0, 1.0)
        };
        (0..n).map(one).collect()
    }
}

/// The rows of a sorted list that are in a range.
fn within<'r>(rows: &'r [usize], range: &Range<usize>) -> &'r [usize] {
    &rows[rows.partition_point(|&i| i < range.start)..rows.partition_point(|&i| i < range.end)]
}

/// A sum of ± x xᵀ, lower triangle, whose columns are gathered before they are multiplied.
struct Outer {
    p: usize,
    sum: Matrix,
    /// To be added and to be taken away.
    gathered: [Vec<f64>; 2],
}

impl Outer {
    fn new(p: usize) -> Self {
        Outer { p, sum: Matrix::zeros(p, p), gathered: [Vec::new(), Vec::new()] }
    }

    fn push(&mut self, sign: f64, x: &[f64]) {
        let side = usize::from(sign < 0.0);
        self.gathered[side].extend_from_slice(x);
        if self.gathered[side].len() == CHUNK * self.p {
            self.flush(side);
        }
    }

    fn flush(&mut self, side: usize) {
        let values = std::mem::take(&mut self.gathered[side]);
        if values.is_empty() {
            return;
        }
        let n = values.len() / self.p;
        let chunk = Matrix::from_columns(values, self.p, n);
        let sign = if side == 0 { 1.0 } else { -1.0 };
        add_lower_product(&mut self.sum, sign, Side::Plain(&chunk), Side::Transposed(&chunk));
    }

    fn sum(mut self) -> Matrix {
        self.flush(0);
        self.flush(1);
        self.sum
    }
}

/// What sorted `to` has and sorted `from` has not, and the reverse.
fn changes(from: &[usize], to: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let missing = |from: &[usize], to: &[usize]| -> Vec<usize> {
        let mut at = 0;
        to.iter()
            .copied()
            .filter(|x| {
                while at < from.len() && from[at] < *x {
                    at += 1;
                }
                from.get(at) != Some(x)
            })
            .collect()
    };
    (missing(from, to), missing(to, from))
}

impl System for Landmarks<'_> {
    type Factor = Factor;
    type Memory = Memory;

    fn origin(&self) -> Point {
        Point {
            coefficients: vec![0.0; self.n_penalised()],
            free: vec![0.0; self.n_free()],
            smooth: Vec::new(),
            scores: vec![0.0; self.features.n_samples()],
        }
    }

    fn solve(
        &self,
        lambda: f64,
        violators: &[usize],
        target: Target<'_>,
        from: &Point,
        memory: &mut Memory,
    ) -> Result<Option<(Point, Factor)>> {
        // The step solves (H + λI) Δ = −gradient / 2, so that where the violators leave γ undetermined it
        // stays.
        let pull = |i: usize| target.signs[i] * target.slack(&from.scores, i);
        let mut right = self.update(memory, violators, pull)?;
        let Some(factor) = self.factor(lambda, &memory.hessian) else { return Ok(None) };
        let b = self.n_penalised();
        add_scaled(&mut right[..b], -lambda, &from.coefficients);
        let mut step = Matrix::from_columns(right[..b].to_vec(), b, 1);
        factor.cholesky.solve_lower(&mut step);
        let mut rest = right[b..].to_vec();
        add_scaled(&mut rest, -1.0, &factor.across.transposed_times(step.col(0)));
        let mut change = vec![0.0; rest.len()];
        for (k, part) in factor.schur.u.transposed_times(&rest).into_iter().enumerate() {
            add_scaled(&mut change, part / factor.schur.s[k], factor.schur.v.col(k));
        }
        add_scaled(step.col_mut(0), -1.0, &factor.across.times(&change));
        factor.cholesky.solve_lower_transposed(&mut step);

        let mut point = Point { smooth: Vec::new(), scores: Vec::new(), ..from.clone() };
        add_scaled(&mut point.coefficients, 1.0, step.col(0));
        add_scaled(&mut point.free, 1.0, &change);
        point.scores = self.scores(&point.coefficients, &point.free)?;
        Ok(Some((point, factor)))
    }

    fn inner(&self, a: &Point, b: &Point) -> f64 {
        dot(&a.coefficients, &b.coefficients)
    }

    fn leverages(&self, _: f64, violators: &[usize], factor: &Factor) -> Result<Vec<f64>> {
        let parts = self.parts(|blocks| {
            let (mut leverages, mut gathered) = (Vec::new(), Vec::new());
            for at in blocks {
                let range = self.features.range(at);
                let rows = within(violators, &range);
                if rows.is_empty() {
                    continue;
                }
                let block = self.features.block(at);
                for &i in rows {
                    gathered.extend_from_slice(block.col(i - range.start));
                    if gathered.len() == CHUNK * self.width() {
                        leverages.extend(self.quadratic(&gathered, factor));
                        gathered.clear();
                    }
                }
            }
            leverages.extend(self.quadratic(&gathered, factor));
            leverages
        })?;
        Ok(parts.concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_sorted_sets() {
        assert_eq!(changes(&[1, 3, 5], &[0, 3, 4, 5, 9]), (vec![0, 4, 9], vec![1]));
        assert_eq!(changes(&[], &[2]), (vec![2], vec![]));
        assert_eq!(changes(&[2], &[]), (vec![], vec![2]));
    }
}
