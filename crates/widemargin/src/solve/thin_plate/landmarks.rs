//! Newton's method on features: f = F t + U γ with few columns, for many samples.
//!
//! A step costs the *change* of the violators times the columns squared: the Hessian of the loss does not
//! depend on λ and is kept, whatever the path does.

use super::system::{Point, System, Target};
use crate::error::Result;
use crate::linalg::factor::{Cholesky, Matrix, Side, Svd, add_lower_product, add_scaled, dot, product};

/// Directions of the unpenalised part that the violators determine no better than this are left as they are.
const UNDETERMINED: f64 = 1e-10;

/// Samples gathered at a time.
const CHUNK: usize = 512;

/// Weighted features, a column a sample: first the penalised ones, then the unpenalised.
#[derive(Debug)]
pub(crate) struct Landmarks {
    features: Matrix,
    n_penalised: usize,
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

impl Landmarks {
    pub fn new(features: Matrix, n_penalised: usize) -> Self {
        Landmarks { features, n_penalised }
    }

    fn n_free(&self) -> usize {
        self.features.n_rows() - self.n_penalised
    }

    /// Adds `sign` Σ x xᵀ over the given samples.
    fn add(&self, hessian: &mut Matrix, rows: &[usize], sign: f64) {
        for rows in rows.chunks(CHUNK) {
            let chunk = self.gather(rows);
            add_lower_product(hessian, sign, Side::Plain(&chunk), Side::Transposed(&chunk));
        }
    }

    fn gather(&self, rows: &[usize]) -> Matrix {
        let p = self.features.n_rows();
        let values = rows.iter().flat_map(|&i| self.features.col(i)).copied().collect();
        Matrix::from_columns(values, p, rows.len())
    }

    /// Brings the kept Hessian to the given violators.
    fn update(&self, memory: &mut Memory, violators: &[usize]) {
        let (added, removed) = changes(&memory.rows, violators);
        let p = self.features.n_rows();
        // From scratch where that is less work, which also ends the growth of rounding.
        if memory.hessian.n_rows() != p || added.len() + removed.len() >= violators.len() {
            memory.hessian = Matrix::zeros(p, p);
            self.add(&mut memory.hessian, violators, 1.0);
        } else {
            self.add(&mut memory.hessian, &added, 1.0);
            self.add(&mut memory.hessian, &removed, -1.0);
        }
        memory.rows = violators.to_vec();
    }

    fn factor(&self, lambda: f64, hessian: &Matrix) -> Option<Factor> {
        let (b, q) = (self.n_penalised, self.n_free());
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
        let mut sum = vec![0.0; self.n_penalised];
        for (i, &a) in a.iter().enumerate().filter(|(_, a)| **a != 0.0) {
            add_scaled(&mut sum, a, &self.features.col(i)[..self.n_penalised]);
        }
        sum
    }

    fn scores(&self, penalised: &[f64], free: &[f64]) -> Vec<f64> {
        let n = self.features.n_cols();
        let score = |i: usize| {
            let (t, u) = self.features.col(i).split_at(self.n_penalised);
            dot(t, penalised) + dot(u, free)
        };
        (0..n).map(score).collect()
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

impl System for Landmarks {
    type Factor = Factor;
    type Memory = Memory;

    fn origin(&self) -> Point {
        Point {
            coefficients: vec![0.0; self.n_penalised],
            free: vec![0.0; self.n_free()],
            smooth: Vec::new(),
            scores: vec![0.0; self.features.n_cols()],
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
        self.update(memory, violators);
        let Some(factor) = self.factor(lambda, &memory.hessian) else { return Ok(None) };
        // The step solves (H + λI) Δ = −gradient / 2, so that where the violators leave γ undetermined it
        // stays.
        let b = self.n_penalised;
        let mut right = vec![0.0; self.features.n_rows()];
        for &i in violators {
            add_scaled(&mut right, target.signs[i] * target.slack(&from.scores, i), self.features.col(i));
        }
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
        point.scores = self.scores(&point.coefficients, &point.free);
        Ok(Some((point, factor)))
    }

    fn inner(&self, a: &Point, b: &Point) -> f64 {
        dot(&a.coefficients, &b.coefficients)
    }

    fn leverages(&self, _: f64, violators: &[usize], factor: &Factor) -> Vec<f64> {
        // x̃ᵀ (H + λ)⁻¹ x̃ with the unpenalised part eliminated.
        let (b, q) = (self.n_penalised, self.n_free());
        let mut leverages = Vec::with_capacity(violators.len());
        for rows in violators.chunks(CHUNK) {
            let penalised = rows.iter().flat_map(|&i| &self.features.col(i)[..b]).copied().collect();
            let mut penalised = Matrix::from_columns(penalised, b, rows.len());
            factor.cholesky.solve_lower(&mut penalised);
            let free = rows.iter().flat_map(|&i| &self.features.col(i)[b..]).copied().collect();
            let mut free = Matrix::from_columns(free, q, rows.len());
            let along = product(Side::Transposed(&factor.across), Side::Plain(&penalised));
            for col in 0..rows.len() {
                add_scaled(free.col_mut(col), -1.0, along.col(col));
            }
            let parts = product(Side::Transposed(&factor.schur.u), Side::Plain(&free));
            for col in 0..rows.len() {
                let inner: f64 = parts.col(col).iter().zip(&factor.schur.s).map(|(x, s)| x * x / s).sum();
                leverages.push((dot(penalised.col(col), penalised.col(col)) + inner).clamp(0.0, 1.0));
            }
        }
        leverages
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
