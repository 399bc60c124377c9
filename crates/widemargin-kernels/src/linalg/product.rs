//! Single-threaded products of dense matrices: callers split the work into tasks.

use faer::linalg::matmul::{matmul, triangular};
use faer::traits::ComplexField;
use faer::{Accum, Conj, MatMut, MatRef, Par};

use super::registers::clear_upper_halves;

/// A floating-point type of views and matrices: `f32` or `f64`.
pub trait Element: ComplexField<Conj = Self> + num_traits::Float + Into<f64> + Send + Sync + 'static {}
impl Element for f32 {}
impl Element for f64 {}

/// A borrowed row-major matrix, restricted to the columns `from .. from + n_cols`.
#[derive(Clone, Copy, Debug)]
pub struct Columns<'a, T> {
    values: &'a [T],
    n_rows: usize,
    stride: usize,
    from: usize,
    n_cols: usize,
}

impl<'a, T: Element> Columns<'a, T> {
    /// `n_cols` columns from column `from` on of a matrix with `stride` numbers per row.
    pub fn new(values: &'a [T], stride: usize, from: usize, n_cols: usize) -> Self {
        let n_rows = values.len() / stride.max(1);
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
pub fn add_cross_product<T: Element>(tile: &mut [T], a: Columns<'_, T>, b: Columns<'_, T>) {
    if tile.is_empty() {
        return;
    }
    let tile = MatMut::from_row_major_slice_mut(tile, a.n_cols, b.n_cols);
    matmul(tile, Accum::Add, a.view().transpose(), b.view(), T::one(), Par::Seq);
    clear_upper_halves();
}

/// The lower triangle of tile += AᵀA; the upper triangle is not touched.
pub fn add_gram<T: Element>(tile: &mut [T], a: Columns<'_, T>) {
    use triangular::BlockStructure::{Rectangular, TriangularLower};
    if tile.is_empty() {
        return;
    }
    let tile = MatMut::from_row_major_slice_mut(tile, a.n_cols, a.n_cols);
    let (left, right) = (a.view().transpose(), a.view());
    triangular::matmul(tile, TriangularLower, Accum::Add, left, Rectangular, right, Rectangular, T::one(), Par::Seq);
    clear_upper_halves();
}

/// tile −= A Bᵀ, all three row-major with `stride` numbers per row inside larger matrices: the update of a blocked
/// Cholesky factorization.
pub fn subtract_outer<T: Element>(tile: MatMut<'_, T>, a: MatRef<'_, T>, b: MatRef<'_, T>) {
    faer::linalg::matmul::matmul_with_conj(tile, Accum::Add, a, Conj::No, b.transpose(), Conj::No, -T::one(), Par::Seq);
    clear_upper_halves();
}

/// out = A Bᵀ for row-major A (n × d) and B (m × d); `out` is row-major, n × m. A row of `out` does not depend on the
/// other rows, bit for bit.
///
/// 2·n·m·d flops; with 256 rows of A and 1,000 of B of 2,000 numbers it does 100 for each byte it reads.
pub fn outer<T: Element>(out: &mut [T], a: &[T], b: &[T], d: usize) {
    if d == 0 || out.is_empty() {
        return out.fill(T::zero());
    }
    let m = b.len() / d;
    row_by_row(out, a, MatRef::from_row_major_slice(b, m, d).transpose());
}

/// a += b, element by element.
pub fn add(a: &mut [f64], b: &[f64]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
}

/// out = A B for row-major A (n × d) and B (d × m); `out` is row-major, n × m. A row of `out` does not depend on the
/// other rows, bit for bit. 2·n·m·d flops.
pub fn times<T: Element>(out: &mut [T], a: &[T], b: &[T], d: usize) {
    if d == 0 || out.is_empty() {
        return out.fill(T::zero());
    }
    let m = b.len() / d;
    row_by_row(out, a, MatRef::from_row_major_slice(b, d, m));
}

/// Products of at most this many multiplications take another path through faer, with another order of summation.
const SMALL_PRODUCT: usize = 16 * 16 * 16;

/// Rows of every product on processors other than x86-64, where the order in which faer sums a row's products depends
/// on how many rows there are.
const CHUNK_ROWS: Option<usize> = if cfg!(target_arch = "x86_64") { None } else { Some(64) };

/// out = A B, where no row of `out` depends on the number of rows. faer sums a row's products in one order provided the
/// product is of two matrices and not small; so A is padded with rows of zeros if it has too few. A product with one
/// column is one dot product per row, always in the same order.
fn row_by_row<T: Element>(out: &mut [T], a: &[T], b: MatRef<'_, T>) {
    let (d, m) = (b.nrows(), b.ncols());
    let n = a.len() / d;
    let enough = match CHUNK_ROWS {
        _ if m == 1 => n,
        Some(rows) if n > rows => {
            let parts = out.chunks_mut(rows * m).zip(a.chunks(rows * d));
            return parts.for_each(|(out, a)| row_by_row(out, a, b));
        }
        Some(rows) => rows.max(SMALL_PRODUCT / (m * d) + 1),
        None => n.max(2).max(SMALL_PRODUCT / (m * d) + 1),
    };
    let product = |out: &mut [T], a: &[T], n: usize| {
        let out = MatMut::from_row_major_slice_mut(out, n, m);
        matmul(out, Accum::Replace, MatRef::from_row_major_slice(a, n, d), b, T::one(), Par::Seq);
    };
    if n == enough {
        return product(out, a, n);
    }
    let (mut padded, mut all) = (vec![T::zero(); enough * d], vec![T::zero(); enough * m]);
    padded[..a.len()].copy_from_slice(a);
    product(&mut all, &padded, enough);
    out.copy_from_slice(&all[..n * m]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(n: usize, seed: u32) -> Vec<f32> {
        let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(12345);
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 23) as f32 - 1.0
        };
        (0..n).map(|_| next()).collect()
    }

    #[test]
    fn a_row_does_not_see_the_others() {
        let widths = [1usize, 2, 3, 8, 17, 31, 64, 100, 257, 500, 513, 1500];
        let few = [1, 2, 3, 4, 6, 10].into_iter().flat_map(|m| widths.map(|d| (m, d)));
        for (m, d) in few.chain([(1000, 500), (1000, 1), (1000, 2), (300, 64), (4097, 3), (1, 10_000)]) {
            let (a, b) = (numbers(256 * d, 1), numbers(m * d, 2));
            for product in [outer::<f32>, times::<f32>] {
                let of = |rows: std::ops::Range<usize>| {
                    let mut out = vec![7.0f32; rows.len() * m];
                    product(&mut out, &a[rows.start * d..rows.end * d], &b, d);
                    out
                };
                let all = of(0..256);
                for (from, n) in [(0, 1), (255, 1), (3, 2), (100, 3), (16, 16), (33, 100), (0, 255)] {
                    let right = &all[from * m..(from + n) * m];
                    assert!(of(from..from + n) == right, "{m} × {d}, {n} rows from {from}");
                }
            }
            // And it is the product.
            let (mut out, mut plain) = (vec![0.0f32; 3 * m], vec![0.0f32; 3 * m]);
            let transposed: Vec<f32> = (0..d * m).map(|at| b[at % m * d + at / m]).collect();
            outer(&mut out, &a[..3 * d], &b, d);
            times(&mut plain, &a[..3 * d], &transposed, d);
            for (at, (outer, times)) in out.iter().zip(plain).enumerate() {
                let (i, j) = (at / m, at % m);
                let right: f64 = (0..d).map(|k| f64::from(a[i * d + k]) * f64::from(b[j * d + k])).sum();
                assert!((f64::from(*outer) - right).abs() < 1e-3 && (f64::from(times) - right).abs() < 1e-3);
            }
        }
    }
}
