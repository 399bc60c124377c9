//! Single precision for matrices that are only compared: twice as fast, with 7 digits of each product.

use std::ops::Range;

use faer::linalg::{matmul, triangular_solve};
use faer::{Accum, MatMut, MatRef, Par};

use super::factor::Matrix;
use super::registers::clear_upper_halves;
use crate::par::Pool;

/// Columns whose products are added up in single precision; sums of these are in double precision.
const DEPTH: usize = 1024;

/// Columns of a product per task; fixed, so that results do not depend on the number of threads.
const PANEL: usize = 128;

/// A matrix in single precision, in column-major order.
pub type SingleMatrix = Matrix<f32>;

impl SingleMatrix {
    /// A matrix rounded.
    pub fn of(matrix: &Matrix) -> Self {
        let values = matrix.values().iter().map(|x| *x as f32).collect();
        Matrix::from_columns(values, matrix.n_rows(), matrix.n_cols())
    }

    /// The lower triangle of X Xᵀ; the upper one holds arbitrary values. rows²·columns flops, half of the whole
    /// product.
    pub fn outer(&self, pool: &Pool) -> Matrix {
        half_product(self.view(), pool)
    }

    /// The lower triangle of Xᵀ X, likewise.
    pub fn inner(&self, pool: &Pool) -> Matrix {
        half_product(self.view().transpose(), pool)
    }

    /// xᵀA⁻¹x of some columns x, where this is the factor of A, rounded: rows² flops each. With the condition number κ of
    /// A its relative error is about √κ · 6e-8.
    pub fn inverse_products(&self, columns: &SingleMatrix, some: Range<usize>) -> Vec<f64> {
        let n = columns.n_rows();
        if n == 0 {
            return vec![0.0; some.len()];
        }
        let mut solved = columns.values()[some.start * n..some.end * n].to_vec();
        let to = MatMut::from_column_major_slice_mut(&mut solved, n, some.len());
        triangular_solve::solve_lower_triangular_in_place(self.view(), to, Par::Seq);
        clear_upper_halves();
        let square = |x: &[f32]| x.iter().map(|x| f64::from(*x).powi(2)).sum();
        solved.chunks(n.max(1)).map(square).collect()
    }
}

/// The lower triangle of A Aᵀ.
fn half_product(matrix: MatRef<'_, f32>, pool: &Pool) -> Matrix {
    let (n, d) = (matrix.nrows(), matrix.ncols());
    let mut sum = Matrix::zeros(n, n);
    let mut panels: Vec<&mut [f64]> = sum.values_mut().chunks_mut((PANEL * n).max(1)).collect();
    pool.map_mut(&mut panels, |at, panel| {
        let (first, width) = (at * PANEL, panel.len() / n);
        let mut products = vec![0.0f32; (n - first) * width];
        for left in (0..d).step_by(DEPTH) {
            let below = matrix.subrows(first, n - first).subcols(left, DEPTH.min(d - left));
            let own = below.subrows(0, width);
            let to = MatMut::from_column_major_slice_mut(&mut products, n - first, width);
            matmul::matmul(to, Accum::Replace, below, own.transpose(), 1.0, Par::Seq);
            for (column, products) in panel.chunks_mut(n).zip(products.chunks(n - first)) {
                column[first..].iter_mut().zip(products).for_each(|(sum, more)| *sum += f64::from(*more));
            }
        }
        clear_upper_halves();
    });
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::factor::{Cholesky, Side, product};

    /// More rows and columns than a task has.
    fn made(n_rows: usize, n_cols: usize) -> Matrix {
        let values = (0..n_rows * n_cols).map(|i| (i as f64 * 0.37).sin()).collect();
        Matrix::from_columns(values, n_rows, n_cols)
    }

    #[test]
    fn half_products_are_those_of_double_precision_to_seven_digits() {
        for (n_rows, n_cols) in [(PANEL + 41, DEPTH + 7), (5, 300), (300, 5)] {
            let matrix = made(n_rows, n_cols);
            let single = SingleMatrix::of(&matrix);
            let outer = product(Side::Plain(&matrix), Side::Transposed(&matrix));
            let inner = product(Side::Transposed(&matrix), Side::Plain(&matrix));
            let found = |threads: usize| {
                let pool = Pool::new(threads).unwrap();
                (single.outer(&pool), single.inner(&pool))
            };
            let (one, three) = (found(1), found(3));
            for ((found, again), expected) in [(&one.0, &three.0), (&one.1, &three.1)].into_iter().zip([outer, inner]) {
                for col in 0..expected.n_cols() {
                    for row in col..expected.n_rows() {
                        let error = (found.at(row, col) - expected.at(row, col)).abs();
                        let size = (expected.at(row, row) * expected.at(col, col)).sqrt();
                        assert!(error < 4e-6 * size, "{row} {col}: {error:e} of {size}");
                        assert_eq!(found.at(row, col), again.at(row, col));
                    }
                }
            }
        }
    }

    #[test]
    fn inverse_products_are_those_of_the_factor() {
        let (half, columns) = (made(40, 60), made(40, 9));
        let mut matrix = product(Side::Plain(&half), Side::Transposed(&half));
        (0..40).for_each(|i| matrix.set(i, i, matrix.at(i, i) + 0.1));
        let cholesky = Cholesky::new(matrix).unwrap();
        let found = SingleMatrix::of(cholesky.lower()).inverse_products(&SingleMatrix::of(&columns), 2..9);
        let mut solved = columns;
        cholesky.solve_lower(&mut solved);
        for (at, found) in found.iter().enumerate() {
            let expected: f64 = solved.col(at + 2).iter().map(|x| x * x).sum();
            assert!((found - expected).abs() < 1e-4 * expected, "{found} {expected}");
        }
    }
}
