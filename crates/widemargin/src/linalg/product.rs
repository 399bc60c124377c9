//! Products of dense matrices, one thread each: whoever calls cuts the work into tasks.

use faer::linalg::matmul::{matmul, triangular};
use faer::traits::ComplexField;
use faer::{Accum, Conj, MatMut, MatRef, Par};

use super::registers::clear_upper_halves;

/// A number that matrices are made of: `f32` or `f64`.
pub(crate) trait Real: ComplexField<Conj = Self> + num_traits::Float + Send + Sync {}
impl Real for f32 {}
impl Real for f64 {}

/// A borrowed row-major matrix, of whose rows only the columns `from .. from + n_cols` count.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Columns<'a, T> {
    values: &'a [T],
    n_rows: usize,
    stride: usize,
    from: usize,
    n_cols: usize,
}

impl<'a, T: Real> Columns<'a, T> {
    /// `n_cols` columns from column `from` on of a matrix with `stride` numbers a row.
    pub fn new(values: &'a [T], stride: usize, from: usize, n_cols: usize) -> Self {
        let n_rows = values.len() / stride;
        Columns { values, n_rows, stride, from, n_cols }
    }

    fn view(self) -> MatRef<'a, T> {
        MatRef::from_row_major_slice_with_stride(self.values, self.n_rows, self.stride, self.stride)
            .subcols(self.from, self.n_cols)
    }
}

/// tile += AᵀB, for two sets of columns of the same rows; `tile` is row-major, columns of A × columns of B.
///
/// 2 · rows · columns of A · columns of B flops; a tile of 512 × 512 does 128 for each byte it reads.
pub(crate) fn add_cross_product<T: Real>(tile: &mut [T], a: Columns<'_, T>, b: Columns<'_, T>) {
    let tile = MatMut::from_row_major_slice_mut(tile, a.n_cols, b.n_cols);
    matmul(tile, Accum::Add, a.view().transpose(), b.view(), T::one(), Par::Seq);
    clear_upper_halves();
}

/// The lower triangle of tile += AᵀA; what is above the diagonal is not touched.
pub(crate) fn add_gram<T: Real>(tile: &mut [T], a: Columns<'_, T>) {
    use triangular::BlockStructure::{Rectangular, TriangularLower};
    let tile = MatMut::from_row_major_slice_mut(tile, a.n_cols, a.n_cols);
    let (left, right) = (a.view().transpose(), a.view());
    triangular::matmul(tile, TriangularLower, Accum::Add, left, Rectangular, right, Rectangular, T::one(), Par::Seq);
    clear_upper_halves();
}

/// tile −= A Bᵀ, all three row-major with `stride` numbers a row inside larger matrices: the update of a blocked
/// Cholesky factorisation.
pub(crate) fn subtract_outer<T: Real>(tile: MatMut<'_, T>, a: MatRef<'_, T>, b: MatRef<'_, T>) {
    faer::linalg::matmul::matmul_with_conj(tile, Accum::Add, a, Conj::No, b.transpose(), Conj::No, -T::one(), Par::Seq);
    clear_upper_halves();
}

/// out = A Bᵀ for row-major A (n × d) and B (m × d); `out` is row-major, n × m.
///
/// 2·n·m·d flops; with 256 rows of A and 1,000 of B of 2,000 numbers it does 100 for each byte it reads.
pub(crate) fn outer<T: Real>(out: &mut [T], a: &[T], b: &[T], d: usize) {
    if d == 0 || out.is_empty() {
        return out.fill(T::zero());
    }
    let (n, m) = (a.len() / d, b.len() / d);
    let out = MatMut::from_row_major_slice_mut(out, n, m);
    let (a, b) = (MatRef::from_row_major_slice(a, n, d), MatRef::from_row_major_slice(b, m, d));
    matmul(out, Accum::Replace, a, b.transpose(), T::one(), Par::Seq);
}

/// out = A B for row-major A (n × d) and B (d × m); `out` is row-major, n × m. 2·n·m·d flops.
pub(crate) fn times<T: Real>(out: &mut [T], a: &[T], b: &[T], d: usize) {
    if d == 0 || out.is_empty() {
        return out.fill(T::zero());
    }
    let (n, m) = (a.len() / d, b.len() / d);
    let out = MatMut::from_row_major_slice_mut(out, n, m);
    let (a, b) = (MatRef::from_row_major_slice(a, n, d), MatRef::from_row_major_slice(b, d, m));
    matmul(out, Accum::Replace, a, b, T::one(), Par::Seq);
}
