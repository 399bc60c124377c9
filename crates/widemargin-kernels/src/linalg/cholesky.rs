//! Cholesky factorization A = L·Lᵀ and solutions with it, in the precision of the matrix.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{LltParams, cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Auto, MatMut, MatRef, Par, Spec};

use super::product::{Element, subtract_outer};
use super::registers::clear_upper_halves;
use crate::par::Pool;

/// Rows and columns per task. The partition is fixed, so that results do not depend on the number of threads.
const BLOCK: usize = 512;

/// The factor L of a symmetric positive definite matrix.
#[derive(Clone, Debug)]
pub struct Cholesky<T> {
    /// Row-major, `size` × `size`; only the lower triangle is used.
    lower: Vec<T>,
    size: usize,
}

impl<T: Element> Cholesky<T> {
    /// Factors the row-major `matrix` (reading its lower triangle) in place; `None` if it is not positive definite in
    /// its precision. size³ / 3 flops.
    pub fn new(mut matrix: Vec<T>, size: usize, pool: &Pool) -> Option<Self> {
        assert_eq!(matrix.len(), size * size, "a square matrix");
        for from in (0..size).step_by(BLOCK) {
            let width = BLOCK.min(size - from);
            factor_diagonal(&mut matrix, size, from, width)?;
            let (done, below) = matrix.split_at_mut((from + width) * size);
            let diagonal = &done[from * size..];
            // Row blocks below the diagonal, independently: L₂₁ = A₂₁ L₁₁⁻ᵀ.
            let mut rows: Vec<&mut [T]> = below.chunks_mut(BLOCK * size).collect();
            pool.map_mut(&mut rows, |_, rows| solve_right(diagonal, rows, size, from, width));
            // The trailing matrix: A₂₂ −= L₂₁ L₂₁ᵀ. Every row block needs the panels of those above it.
            let panel: Vec<T> = rows
                .iter()
                .flat_map(|rows| rows.chunks(size))
                .flat_map(|row| &row[from..from + width])
                .copied()
                .collect();
            pool.map_mut(&mut rows, |at, rows| update(rows, &panel, size, from + width, at, width));
        }
        Some(Cholesky { lower: matrix, size })
    }

    /// Solves A·x = b for several b in place; `sides` is \[side\]\[row\]. 2 · size² flops per side.
    pub fn solve(&self, sides: &mut [T]) {
        if self.size == 0 || sides.is_empty() {
            return;
        }
        let lower = MatRef::from_row_major_slice(&self.lower, self.size, self.size);
        let n_sides = sides.len() / self.size;
        let mut sides = MatMut::from_column_major_slice_mut(sides, self.size, n_sides);
        solve_lower_triangular_in_place(lower, sides.as_mut(), Par::Seq);
        solve_upper_triangular_in_place(lower.transpose(), sides, Par::Seq);
        clear_upper_halves();
    }
}

/// Factors the diagonal block that starts at `from`, in place.
fn factor_diagonal<T: Element>(matrix: &mut [T], size: usize, from: usize, width: usize) -> Option<()> {
    let rows = &mut matrix[from * size..(from + width) * size];
    let block = MatMut::from_row_major_slice_mut(rows, width, size).subcols_mut(from, width);
    let params: Spec<LltParams, T> = <LltParams as Auto<T>>::auto().into();
    let mut memory = MemBuffer::new(cholesky_in_place_scratch::<T>(width, Par::Seq, params));
    // faer prefers contiguous columns for speed only; a row-major block is small enough not to matter.
    let done = cholesky_in_place(block, Default::default(), Par::Seq, MemStack::new(&mut memory), params);
    clear_upper_halves();
    done.ok().map(drop)
}

/// X := X L⁻ᵀ for the columns `from .. from + width` of a block of rows, L being that block of `diagonal`.
fn solve_right<T: Element>(diagonal: &[T], rows: &mut [T], size: usize, from: usize, width: usize) {
    let n = rows.len() / size;
    let lower = MatRef::from_row_major_slice(&diagonal[..width * size], width, size).subcols(from, width);
    let panel = MatMut::from_row_major_slice_mut(rows, n, size).subcols_mut(from, width);
    solve_lower_triangular_in_place(lower, panel.transpose_mut(), Par::Seq);
    clear_upper_halves();
}

/// Subtracts the share of L₂₁ L₂₁ᵀ from row block `at` of the trailing matrix (which starts at row and column `from`).
fn update<T: Element>(rows: &mut [T], panel: &[T], size: usize, from: usize, at: usize, width: usize) {
    let n = rows.len() / size;
    let panel = MatRef::from_row_major_slice(panel, panel.len() / width, width);
    let first = at * BLOCK;
    let mine = MatMut::from_row_major_slice_mut(rows, n, size).subcols_mut(from, first + n);
    subtract_outer(mine, panel.subrows(first, n), panel.subrows(0, first + n));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A well-conditioned symmetric matrix, its lower triangle right and rubbish above.
    fn matrix(size: usize) -> (Vec<f64>, Vec<f64>) {
        let entry = |i: usize, j: usize| ((i * 31 + j * 17) % 23) as f64 / 23.0 - 0.5;
        let mut full = vec![0.0; size * size];
        for i in 0..size {
            for j in 0..=i {
                let mut sum = if i == j { 1.0 + size as f64 } else { 0.0 };
                sum += entry(i, j) + entry(j, i);
                (full[i * size + j], full[j * size + i]) = (sum, sum);
            }
        }
        let mut lower = full.clone();
        for i in 0..size {
            lower[i * size + i + 1..(i + 1) * size].fill(99.0);
        }
        (full, lower)
    }

    #[test]
    fn solves_across_block_borders() {
        for size in [1, 7, BLOCK, BLOCK + 3, 2 * BLOCK + 70] {
            let (full, lower) = matrix(size);
            let right: Vec<f64> = (0..2 * size).map(|i| (i % 5) as f64 - 2.0).collect();
            let mut answers = Vec::new();
            for threads in [1, 3] {
                let factor = Cholesky::new(lower.clone(), size, &Pool::new(threads).unwrap()).unwrap();
                let mut x = right.clone();
                factor.solve(&mut x);
                for (side, right) in x.chunks(size).zip(right.chunks(size)) {
                    for (row, right) in full.chunks(size).zip(right) {
                        let found: f64 = row.iter().zip(side).map(|(a, x)| a * x).sum();
                        assert!((found - right).abs() < 1e-9, "{size}");
                    }
                }
                answers.push(x);
            }
            assert_eq!(answers[0], answers[1]);
        }
    }

    #[test]
    fn an_indefinite_matrix_has_no_factor() {
        let pool = Pool::new(1).unwrap();
        assert!(Cholesky::new(vec![1.0f32, 0.0, 2.0, 1.0], 2, &pool).is_none());
        assert!(Cholesky::new(vec![f32::NAN], 1, &pool).is_none());
    }
}
