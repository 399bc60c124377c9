//! Dense double-precision factorizations: Cholesky, SVD, and the products they need.
//!
//! Everything runs on the calling thread, so that results do not depend on the number of threads.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::linalg::matmul::triangular::BlockStructure::{Rectangular, TriangularLower};
use faer::linalg::matmul::{matmul, triangular};
use faer::linalg::{qr, svd, triangular_inverse, triangular_solve};
use faer::reborrow::{Reborrow, ReborrowMut};
use faer::{Accum, MatMut, MatRef, Par};
use serde::{Deserialize, Serialize};

use super::registers::clear_upper_halves;
use crate::macros::getters;
use crate::par::Pool;

/// A matrix in column-major order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Matrix<T = f64> {
    values: Vec<T>,
    n_rows: usize,
    n_cols: usize,
}

impl<T> Matrix<T> {
    /// A matrix from its concatenated columns; `values` has `n_rows * n_cols` numbers.
    pub fn from_columns(values: Vec<T>, n_rows: usize, n_cols: usize) -> Self {
        debug_assert_eq!(values.len(), n_rows * n_cols);
        Matrix { values, n_rows, n_cols }
    }

    getters! {
        /// The number of rows.
        copy n_rows: usize;
        /// The number of columns.
        copy n_cols: usize;
        /// All values, column by column.
        values: &[T];
    }

    pub(super) fn view(&self) -> MatRef<'_, T> {
        MatRef::from_column_major_slice(&self.values, self.n_rows, self.n_cols)
    }
}

impl Matrix {
    /// A matrix of zeros.
    pub fn zeros(n_rows: usize, n_cols: usize) -> Self {
        Matrix { values: vec![0.0; n_rows * n_cols], n_rows, n_cols }
    }

    /// A column.
    pub fn col(&self, col: usize) -> &[f64] {
        &self.values[col * self.n_rows..(col + 1) * self.n_rows]
    }

    /// A column, to be changed.
    pub fn col_mut(&mut self, col: usize) -> &mut [f64] {
        &mut self.values[col * self.n_rows..(col + 1) * self.n_rows]
    }

    /// All values, column by column, to be changed.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// All values, column by column, without a copy.
    pub fn into_values(self) -> Vec<f64> {
        self.values
    }

    /// An element.
    pub fn at(&self, row: usize, col: usize) -> f64 {
        self.values[col * self.n_rows + row]
    }

    /// Sets an element.
    pub fn set(&mut self, row: usize, col: usize, value: f64) {
        self.values[col * self.n_rows + row] = value;
    }

    /// The first `n` columns.
    pub fn truncated(mut self, n: usize) -> Self {
        self.n_cols = self.n_cols.min(n);
        self.values.truncate(self.n_rows * self.n_cols);
        self
    }

    /// These rows of every column.
    pub fn select_rows(&self, rows: &[usize]) -> Matrix {
        let mut out = Matrix::zeros(rows.len(), self.n_cols);
        for at in 0..self.n_cols {
            let from = self.col(at);
            for (to, &row) in out.col_mut(at).iter_mut().zip(rows) {
                *to = from[row];
            }
        }
        out
    }

    /// These columns.
    pub fn select_cols(&self, cols: &[usize]) -> Matrix {
        let values = cols.iter().map(|&col| self.col(col)).collect::<Vec<_>>().concat();
        Matrix { values, n_rows: self.n_rows, n_cols: cols.len() }
    }

    /// A range of rows of every column.
    pub fn select_row_range(&self, rows: std::ops::Range<usize>) -> Matrix {
        let values = (0..self.n_cols).map(|col| &self.col(col)[rows.clone()]).collect::<Vec<_>>().concat();
        Matrix { values, n_rows: rows.len(), n_cols: self.n_cols }
    }

    /// The transpose.
    pub fn transposed(&self) -> Matrix {
        let mut out = Matrix::zeros(self.n_cols, self.n_rows);
        for col in 0..self.n_cols {
            self.col(col).iter().enumerate().for_each(|(row, x)| out.set(col, row, *x));
        }
        out
    }

    /// `self · x`.
    pub fn times(&self, x: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.n_rows];
        for (at, &x) in x.iter().enumerate() {
            add_scaled(&mut out, x, self.col(at));
        }
        out
    }

    /// `selfᵀ · x`.
    pub fn transposed_times(&self, x: &[f64]) -> Vec<f64> {
        (0..self.n_cols).map(|at| dot(self.col(at), x)).collect()
    }

    /// Copies the lower triangle of a square matrix onto the upper one.
    pub fn mirror_lower(&mut self) {
        // In tiles: walking down a column and along a row at once would miss the cache at every step.
        const TILE: usize = 64;
        let n = self.n_rows;
        for left in (0..n).step_by(TILE) {
            for top in (left..n).step_by(TILE) {
                for col in left..(left + TILE).min(n) {
                    for row in top.max(col + 1)..(top + TILE).min(n) {
                        self.values[row * n + col] = self.values[col * n + row];
                    }
                }
            }
        }
    }

    fn view_mut(&mut self) -> MatMut<'_, f64> {
        MatMut::from_column_major_slice_mut(&mut self.values, self.n_rows, self.n_cols)
    }
}

/// `to += scale · from`.
pub fn add_scaled(to: &mut [f64], scale: f64, from: &[f64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += scale * from;
    }
}

/// x · y, with eight accumulators, which hide the latency of additions.
pub fn dot<T: Copy + Into<f64>>(x: &[T], y: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (x_chunks, y_chunks) = (x.chunks_exact(8), y.chunks_exact(8));
    let rest: f64 = x_chunks.remainder().iter().zip(y_chunks.remainder()).map(|(&x, y)| x.into() * y).sum();
    for (x, y) in x_chunks.zip(y_chunks) {
        for lane in 0..8 {
            sums[lane] += x[lane].into() * y[lane];
        }
    }
    sums.iter().sum::<f64>() + rest
}

/// A matrix, or its transpose.
#[derive(Clone, Copy, Debug)]
pub enum Side<'a> {
    /// As it is.
    Plain(&'a Matrix),
    /// Its transpose.
    Transposed(&'a Matrix),
}

impl<'a> Side<'a> {
    fn view(self) -> MatRef<'a, f64> {
        match self {
            Side::Plain(matrix) => matrix.view(),
            Side::Transposed(matrix) => matrix.view().transpose(),
        }
    }
}

/// a · b.
pub fn product(a: Side<'_>, b: Side<'_>) -> Matrix {
    let mut out = Matrix::zeros(a.view().nrows(), b.view().ncols());
    matmul(out.view_mut(), Accum::Replace, a.view(), b.view(), 1.0, Par::Seq);
    clear_upper_halves();
    out
}

/// Adds `scale · a · b` to `out`.
pub fn add_product(out: &mut Matrix, scale: f64, a: Side<'_>, b: Side<'_>) {
    matmul(out.view_mut(), Accum::Add, a.view(), b.view(), scale, Par::Seq);
    clear_upper_halves();
}

/// Adds the lower triangle of `scale · a · b` to that of the square `out`; the rest is unchanged.
pub fn add_lower_product(out: &mut Matrix, scale: f64, a: Side<'_>, b: Side<'_>) {
    let (out, a, b) = (out.view_mut(), a.view(), b.view());
    triangular::matmul(out, TriangularLower, Accum::Add, a, Rectangular, b, Rectangular, scale, Par::Seq);
    clear_upper_halves();
}

/// (I − QQᵀ) A (I − QQᵀ) of a symmetric A, in its place, for orthonormal columns Q; returns AQ.
pub fn project_off(matrix: &mut Matrix, q: &Matrix) -> Matrix {
    if q.n_cols == 0 {
        return q.clone();
    }
    let along = product(Side::Plain(matrix), Side::Plain(q));
    let inner = product(Side::Transposed(q), Side::Plain(&along));
    // Q(B − ½QS)ᵀ + (B − ½QS)Qᵀ = QBᵀ + BQᵀ − QSQᵀ with B = AQ and S = QᵀB.
    let mut half = along.clone();
    add_product(&mut half, -0.5, Side::Plain(q), Side::Plain(&inner));
    add_lower_product(matrix, -1.0, Side::Plain(q), Side::Transposed(&half));
    add_lower_product(matrix, -1.0, Side::Plain(&half), Side::Transposed(q));
    matrix.mirror_lower();
    along
}

/// Columns of the sum per task of [`add_outer`]; fixed, so that results do not depend on the number of threads.
const PANEL: usize = 128;

/// Adds Σ sign · x xᵀ over the columns x of a matrix to the lower triangle of the column-major square `sum`; the upper
/// triangle is overwritten with arbitrary values.
pub fn add_outer(sum: &mut [f64], columns: &Matrix, signs: &[f64], pool: &Pool) {
    let (p, n) = (columns.n_rows, columns.n_cols);
    if n == 0 {
        return;
    }
    let mut panels: Vec<&mut [f64]> = sum.chunks_mut(PANEL * p).collect();
    pool.map_mut(&mut panels, |at, panel| {
        let (first, width) = (at * PANEL, panel.len() / p);
        // signs · x of the panel's own rows, transposed.
        let mut right = Matrix::zeros(n, width);
        for (col, sign) in signs.iter().enumerate() {
            let own = &columns.col(col)[first..first + width];
            own.iter().enumerate().for_each(|(at, x)| right.set(col, at, sign * x));
        }
        let panel = MatMut::from_column_major_slice_mut(panel, p, width).subrows_mut(first, p - first);
        let left = columns.view().subrows(first, p - first);
        matmul(panel, Accum::Add, left, right.view(), 1.0, Par::Seq);
        clear_upper_halves();
    });
}

/// Columns of [`add_gram`] that are converted together: 256 rows of them are 2 MiB.
const DEPTH: usize = 1024;

/// Rows per task of [`add_gram`]; fixed, so that results do not depend on the number of threads.
const GRAM_PANEL: usize = 256;

/// Adds X Xᵀ to a symmetric matrix, for X = diag(scales) times row-major single-precision rows. The sums are in double
/// precision.
///
/// n²·d flops for n rows of d values, half of those of the whole product: each panel of 256 columns is computed from
/// its diagonal downwards, then mirrored. Memory: 8·1024·n bytes for each thread.
pub fn add_gram(sum: &mut Matrix, rows: &[f32], scales: &[f64], pool: &Pool) {
    let n = scales.len();
    if n == 0 {
        return;
    }
    let d = rows.len() / n;
    let mut panels: Vec<&mut [f64]> = sum.values.chunks_mut(GRAM_PANEL * n).collect();
    pool.map_mut(&mut panels, |at, panel| {
        let (first, width) = (at * GRAM_PANEL, panel.len() / n);
        let mut panel = MatMut::from_column_major_slice_mut(panel, n, width).subrows_mut(first, n - first);
        let mut part = Vec::with_capacity((n - first) * DEPTH.min(d));
        for left in (0..d).step_by(DEPTH) {
            let depth = DEPTH.min(d - left);
            part.clear();
            for (row, scale) in (first..n).zip(&scales[first..]) {
                let values = &rows[row * d + left..][..depth];
                part.extend(values.iter().map(|x| scale * f64::from(*x)));
            }
            let part = MatRef::from_column_major_slice(&part, depth, n - first);
            let own = part.subcols(0, width);
            matmul(panel.rb_mut(), Accum::Add, part.transpose(), own, 1.0, Par::Seq);
        }
        clear_upper_halves();
    });
    sum.mirror_lower();
}

/// L · x, reading only the lower triangle of L.
pub fn lower_times(lower: &Matrix, x: &Matrix) -> Matrix {
    let mut out = Matrix::zeros(lower.n_rows, x.n_cols);
    let (to, lower, x) = (out.view_mut(), lower.view(), x.view());
    triangular::matmul(to, Rectangular, Accum::Replace, lower, TriangularLower, x, Rectangular, 1.0, Par::Seq);
    clear_upper_halves();
    out
}

/// R of A = QR: as many rows as A has columns, or fewer if A has fewer.
pub fn triangle(matrix: Matrix) -> Matrix {
    let (m, n) = (matrix.n_rows, matrix.n_cols);
    let k = m.min(n);
    if k == 0 {
        return Matrix::zeros(0, n);
    }
    let mut factor = matrix;
    let width = qr::no_pivoting::factor::recommended_block_size::<f64>(m, n);
    let mut coefficients = Matrix::zeros(width, k);
    let scratch = qr::no_pivoting::factor::qr_in_place_scratch::<f64>(m, n, width, Par::Seq, Default::default());
    qr::no_pivoting::factor::qr_in_place(
        factor.view_mut(),
        coefficients.view_mut(),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    );
    clear_upper_halves();
    let mut out = Matrix::zeros(k, n);
    for col in 0..n {
        let rows = k.min(col + 1);
        out.col_mut(col)[..rows].copy_from_slice(&factor.col(col)[..rows]);
    }
    out
}

/// Stacks two matrices vertically.
pub fn stacked(top: &Matrix, bottom: &Matrix) -> Matrix {
    let mut out = Matrix::zeros(top.n_rows + bottom.n_rows, top.n_cols);
    for col in 0..top.n_cols {
        let (first, rest) = out.col_mut(col).split_at_mut(top.n_rows);
        first.copy_from_slice(top.col(col));
        rest.copy_from_slice(bottom.col(col));
    }
    out
}

/// A = L Lᵀ of a positive definite matrix.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cholesky {
    factor: Matrix,
}

impl Cholesky {
    /// Factors a symmetric matrix, reading its lower triangle; `None` if it is not positive definite in double
    /// precision.
    pub fn new(matrix: Matrix) -> Option<Self> {
        Self::with_leading(None, matrix)
    }

    /// The same from the factor of a matrix whose first k rows and columns are those of this one; only the other r rows
    /// are read. Takes k²·r + k·r² + r³/3 flops.
    pub fn with_leading(leading: Option<(&Cholesky, usize)>, matrix: Matrix) -> Option<Self> {
        let n = matrix.n_rows();
        let mut factor = matrix;
        let k = leading.map_or(0, |(_, k)| k);
        if let Some((known, k)) = leading {
            for col in 0..k {
                factor.col_mut(col)[col..k].copy_from_slice(&known.factor.col(col)[col..k]);
            }
            let (first, _, below, last) = factor.view_mut().split_at_mut(k, k);
            let mut below = below.transpose_mut();
            triangular_solve::solve_lower_triangular_in_place(first.rb(), below.rb_mut(), Par::Seq);
            let (a, b) = (below.rb().transpose(), below.rb());
            triangular::matmul(last, TriangularLower, Accum::Add, a, Rectangular, b, Rectangular, -1.0, Par::Seq);
        }
        let scratch = llt::factor::cholesky_in_place_scratch::<f64>(n - k, Par::Seq, Default::default());
        let mut memory = MemBuffer::new(scratch);
        let stack = MemStack::new(&mut memory);
        let (_, _, _, last) = factor.view_mut().split_at_mut(k, k);
        let result = llt::factor::cholesky_in_place(last, Default::default(), Par::Seq, stack, Default::default());
        clear_upper_halves();
        // A NaN pivot is not reported as an error, so it is checked for.
        let sound = result.is_ok() && (k..n).all(|i| factor.at(i, i) > 0.0 && factor.at(i, i).is_finite());
        sound.then_some(Cholesky { factor })
    }

    /// The factor of the first `n` rows and columns, from the lower triangle of a larger factor.
    pub fn leading(lower: &Matrix, n: usize) -> Self {
        let mut factor = Matrix::zeros(n, n);
        for col in 0..n {
            factor.col_mut(col)[col..].copy_from_slice(&lower.col(col)[col..n]);
        }
        Cholesky { factor }
    }

    /// L; above its diagonal are zeros or the entries of the matrix.
    pub fn lower(&self) -> &Matrix {
        &self.factor
    }

    /// The solution x of A x = b.
    pub fn solve(&self, b: Vec<f64>) -> Vec<f64> {
        let mut x = Matrix { n_rows: b.len(), n_cols: 1, values: b };
        self.solve_columns(&mut x);
        x.values
    }

    /// A⁻¹ · x, in place.
    pub fn solve_columns(&self, x: &mut Matrix) {
        self.solve_lower(x);
        self.solve_lower_transposed(x);
    }

    /// L⁻¹ · x, in place.
    pub fn solve_lower(&self, x: &mut Matrix) {
        triangular_solve::solve_lower_triangular_in_place(self.factor.view(), x.view_mut(), Par::Seq);
        clear_upper_halves();
    }

    /// L⁻ᵀ · x, in place.
    pub fn solve_lower_transposed(&self, x: &mut Matrix) {
        triangular_solve::solve_upper_triangular_in_place(self.factor.view().transpose(), x.view_mut(), Par::Seq);
        clear_upper_halves();
    }

    /// L⁻¹.
    pub fn inverse_lower(&self) -> Matrix {
        let n = self.factor.n_rows();
        let mut inverse = Matrix::zeros(n, n);
        triangular_inverse::invert_lower_triangular(inverse.view_mut(), self.factor.view(), Par::Seq);
        clear_upper_halves();
        inverse
    }

    /// The diagonal of A⁻¹: the squared norms of the columns of L⁻¹.
    pub fn inverse_diagonal(&self) -> Vec<f64> {
        let inverse = self.inverse_lower();
        let n = inverse.n_rows();
        (0..n).map(|i| inverse.col(i)[i..].iter().map(|x| x * x).sum()).collect()
    }
}

/// A = U diag(s) Vᵀ, thin: U is rows × k, V columns × k, where k is the smaller side; s is descending.
#[derive(Clone, Debug)]
pub struct Svd {
    /// The left singular vectors, in columns.
    pub u: Matrix,
    /// The singular values, descending.
    pub s: Vec<f64>,
    /// The right singular vectors, in columns.
    pub v: Matrix,
}

impl Svd {
    /// The decomposition, truncated to the singular values above `threshold` times the largest; `None` for non-finite
    /// numbers.
    pub fn new(matrix: &Matrix, threshold: f64) -> Option<Self> {
        let (m, n) = (matrix.n_rows(), matrix.n_cols());
        let k = m.min(n);
        if k == 0 {
            return Some(Svd { u: Matrix::zeros(m, 0), s: Vec::new(), v: Matrix::zeros(n, 0) });
        }
        let (mut u, mut v) = (Matrix::zeros(m, k), Matrix::zeros(n, k));
        let mut s = faer::diag::Diag::<f64>::zeros(k);
        let thin = svd::ComputeSvdVectors::Thin;
        let scratch = svd::svd_scratch::<f64>(m, n, thin, thin, Par::Seq, Default::default());
        let done = svd::svd(
            matrix.view(),
            s.as_mut(),
            Some(u.view_mut()),
            Some(v.view_mut()),
            Par::Seq,
            MemStack::new(&mut MemBuffer::new(scratch)),
            Default::default(),
        );
        clear_upper_halves();
        done.ok()?;
        let s: Vec<f64> = s.column_vector().iter().copied().collect();
        if !s[0].is_finite() {
            return None;
        }
        let least = threshold * s[0];
        Some(Svd { u, s, v }.above(least))
    }

    /// The same, truncated to the singular values above `least`.
    pub fn above(mut self, least: f64) -> Self {
        let rank = self.s.iter().take_while(|value| **value > least).count();
        self.s.truncate(rank);
        Svd { u: self.u.truncated(rank), s: self.s, v: self.v.truncated(rank) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small matrix of repeatable numbers without structure.
    fn made(n_rows: usize, n_cols: usize) -> Matrix {
        Matrix::from_columns((0..n_rows * n_cols).map(|i| (1.7 * (i * i) as f64 + 0.3).sin()).collect(), n_rows, n_cols)
    }

    #[test]
    fn cholesky_solves_and_inverts() {
        let half = made(9, 6);
        let mut matrix = Matrix::zeros(6, 6);
        add_lower_product(&mut matrix, 1.0, Side::Transposed(&half), Side::Plain(&half));
        let mut full = matrix.clone();
        full.mirror_lower();
        let factor = Cholesky::new(matrix).unwrap();
        let mut inverse = Matrix::zeros(6, 6);
        (0..6).for_each(|i| inverse.set(i, i, 1.0));
        factor.solve_lower(&mut inverse);
        factor.solve_lower_transposed(&mut inverse);
        let unit = product(Side::Plain(&full), Side::Plain(&inverse));
        for i in 0..6 {
            for j in 0..6 {
                assert!((unit.at(i, j) - f64::from(i == j)).abs() < 1e-12);
            }
            assert!((factor.inverse_diagonal()[i] - inverse.at(i, i)).abs() < 1e-12);
        }
        full.set(3, 3, -1.0);
        assert!(Cholesky::new(full).is_none());
    }

    #[test]
    fn a_factor_continues_from_its_leading_rows() {
        let half = made(90, 70);
        let mut matrix = Matrix::zeros(70, 70);
        add_lower_product(&mut matrix, 1.0, Side::Transposed(&half), Side::Plain(&half));
        (0..70).for_each(|i| matrix.set(i, i, matrix.at(i, i) + 1.0));
        let whole = Cholesky::new(matrix.clone()).unwrap();
        for k in [0, 1, 33, 69, 70] {
            // Entries of the leading rows are not read.
            let mut rest = matrix.clone();
            (0..k).for_each(|col| rest.col_mut(col)[..k].fill(f64::NAN));
            let factor = Cholesky::with_leading(Some((&whole, k)), rest).unwrap();
            let places = (0..70).flat_map(|col| (col..70).map(move |row| (row, col)));
            let differences = places.map(|(row, col)| (factor.factor.at(row, col) - whole.factor.at(row, col)).abs());
            assert!(differences.fold(0.0, f64::max) < 1e-11, "{k}");
        }
        matrix.set(69, 69, -1.0);
        assert!(Cholesky::with_leading(Some((&whole, 33)), matrix).is_none());
    }

    #[test]
    fn gram_matrices_of_single_rows_are_products_in_double_precision() {
        // More rows than a panel has and more columns than are converted together.
        let (n, d) = (GRAM_PANEL + 41, DEPTH + 7);
        let rows: Vec<f32> = (0..n * d).map(|i| (i as f32 * 0.37).sin()).collect();
        let scales: Vec<f64> = (0..n).map(|i| 0.5 + (i % 7) as f64).collect();
        let scaled = rows.iter().enumerate().map(|(i, x)| scales[i / d] * f64::from(*x)).collect();
        let columns = Matrix::from_columns(scaled, d, n);
        let expected = product(Side::Transposed(&columns), Side::Plain(&columns));
        let gram = |threads: usize| {
            let mut sum = Matrix::from_columns(vec![2.0; n * n], n, n);
            add_gram(&mut sum, &rows, &scales, &Pool::new(threads).unwrap());
            sum
        };
        let found = gram(1);
        for (found, expected) in found.values().iter().zip(expected.values()) {
            assert!((found - 2.0 - expected).abs() < 1e-9 * (1.0 + expected.abs()), "{found} {expected}");
        }
        assert_eq!(found, gram(3));
    }

    #[test]
    fn singular_values_show_the_rank() {
        let mut matrix = made(7, 4);
        let copy = matrix.col(0).to_vec();
        matrix.col_mut(2).copy_from_slice(&copy);
        let svd = Svd::new(&matrix, 1e-10).unwrap();
        assert_eq!((svd.s.len(), svd.u.n_cols(), svd.v.n_cols()), (3, 3, 3));
        let mut scaled = svd.u.clone();
        for k in 0..3 {
            scaled.col_mut(k).iter_mut().for_each(|x| *x *= svd.s[k]);
        }
        let again = product(Side::Plain(&scaled), Side::Transposed(&svd.v));
        assert!(again.values().iter().zip(matrix.values()).all(|(x, y)| (x - y).abs() < 1e-13));
        assert_eq!(Svd::new(&Matrix::zeros(3, 2), 1e-10).unwrap().s.len(), 0);
        assert_eq!(Svd::new(&Matrix::zeros(3, 0), 1e-10).unwrap().s.len(), 0);
    }

    #[test]
    fn triangles_and_outer_sums() {
        let (a, b) = (made(5, 4), made(9, 4));
        let whole = stacked(&a, &b);
        // R of all is that of the parts' Rs, but for signs: RᵀR is the same.
        let of_parts = triangle(stacked(&triangle(a), &triangle(b)));
        for r in [&of_parts, &triangle(whole.clone())] {
            let square = product(Side::Transposed(r), Side::Plain(r));
            let right = product(Side::Transposed(&whole), Side::Plain(&whole));
            assert!(square.values().iter().zip(right.values()).all(|(x, y)| (x - y).abs() < 1e-13));
            assert_eq!((r.n_rows(), r.at(2, 1)), (4, 0.0));
        }
        assert_eq!(triangle(made(2, 4)).n_rows(), 2);

        let columns = made(300, 6);
        let signs = [1.0, 1.0, -1.0, 1.0, -1.0, 1.0];
        let mut sums = [vec![0.0; 300 * 300], vec![0.0; 300 * 300]];
        for (sum, threads) in sums.iter_mut().zip([1, 3]) {
            add_outer(sum, &columns, &signs, &Pool::new(threads).unwrap());
        }
        for (row, col) in [(0, 0), (299, 0), (299, 299), (150, 140), (128, 127)] {
            let right: f64 = (0..6).map(|k| signs[k] * columns.at(row, k) * columns.at(col, k)).sum();
            assert!((sums[0][col * 300 + row] - right).abs() < 1e-12);
            assert_eq!(sums[0][col * 300 + row].to_bits(), sums[1][col * 300 + row].to_bits());
        }
        let lower = made(3, 3);
        let x = made(3, 2);
        let found = lower_times(&lower, &x);
        assert!((found.at(1, 1) - (lower.at(1, 0) * x.at(0, 1) + lower.at(1, 1) * x.at(1, 1))).abs() < 1e-14);
    }

    #[test]
    fn products_by_hand() {
        let matrix = made(11, 3);
        let x = [0.5, -1.0, 2.0];
        let y = matrix.times(&x);
        let gram = product(Side::Transposed(&matrix), Side::Plain(&matrix));
        for (i, value) in matrix.transposed_times(&y).into_iter().enumerate() {
            let direct: f64 = (0..3).map(|j| gram.at(i, j) * x[j]).sum();
            assert!((value - direct).abs() < 1e-13);
        }
    }
}
