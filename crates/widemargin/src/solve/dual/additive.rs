//! The coded rows of additive kernels; their two inner loops are in vector registers.
//!
//! The weights are laid out as `weights[feature][vector][16 lanes]`. A lane holds one (node, class) pair; lane l,
//! counted over all vectors, is node l / classes, class l % classes, so that few classes waste few lanes: ten classes
//! of three nodes fill 30 of 32 lanes, not 30 of 48. The map of a value is m numbers, spread over the lanes by a fixed
//! permutation.
//!
//! Arithmetic per non-zero and vector (16 lanes): 1 FMA to evaluate, 1 to update, so with m nodes 4m flops per non-zero
//! and class. Bytes: 64 read to evaluate, 64 read and 64 written to update, 4 of the row, 16 of the table. Sixteen
//! classes of three nodes move 576 bytes for 192 flops: the loads and stores of the first-level cache are the limit,
//! not the arithmetic.
//!
//! The sixteen lanes are one to four *parts*, vectors of the instruction set.
#![expect(clippy::needless_range_loop, reason = "the compiler unrolls constant indices into registers")]

use super::pack::{MAX_VECTORS, Pattern, Weights};
use super::rows::DualRows;
use super::tables::Tables;
use crate::expansion::{CodedRows, Entry};
use crate::memory::prefetch;
use crate::simd::Simd;

/// Lanes of one vector: a cache line.
pub(super) const LANES: usize = 16;

/// Rows that are visited together: see [`Order`](super::order::Order).
pub(super) const NEIGHBORS: usize = 4;

/// The maximum number of parts.
const MAX_PARTS: usize = 4;

/// Rows of (feature, code) pairs, whose maps are read from tables.
#[derive(Clone, Copy)]
pub(super) struct AdditiveRows<'a, E> {
    indptr: &'a [usize],
    entries: &'a [E],
    tables: &'a Tables,
    diagonal: &'a [f32],
}

impl<'a, E: Entry> AdditiveRows<'a, E> {
    /// Those of `rows`, with its entries.
    pub fn new(rows: &'a CodedRows, entries: &'a [E], tables: &'a Tables, diagonal: &'a [f32]) -> Self {
        AdditiveRows { indptr: rows.indptr(), entries, tables, diagonal }
    }

    #[inline(always)]
    fn row(&self, row: usize) -> &[E] {
        &self.entries[self.indptr[row]..self.indptr[row + 1]]
    }
}

impl<E: Entry> DualRows<LANES> for AdditiveRows<'_, E> {
    type Number = f32;

    const NEIGHBORS: usize = NEIGHBORS;

    fn n_rows(&self) -> usize {
        self.indptr.len() - 1
    }

    #[inline(always)]
    fn diagonal(&self, row: usize) -> f32 {
        self.diagonal[row]
    }

    #[inline(always)]
    fn dot<S: Simd>(&self, simd: S, row: usize, weights: &Weights<f32, LANES>) -> [f32; LANES] {
        let mut sums = Flat::ZERO;
        let (dot, _) = kernels::<S, E>(weights.vectors, self.tables.is_wide());
        let (read, lanes) = (self.tables.read().as_ptr(), weights.lanes.as_ptr());
        // SAFETY: `CodedRows` has every feature below n_features and every code in the book, and the weights and tables
        // were sized by those.
        unsafe { dot(simd, self.row(row), read, &weights.pattern, lanes, &mut sums) };
        // Lanes past the classes hold unrelated values, which are not used.
        let mut scores = [0.0; LANES];
        for node in 0..weights.n_nodes {
            for (score, sum) in scores.iter_mut().zip(&sums.0[node * weights.n_classes..][..LANES]) {
                *score += sum;
            }
        }
        scores
    }

    #[inline(always)]
    fn add<S: Simd>(&self, simd: S, row: usize, steps: &[f32; LANES], weights: &mut Weights<f32, LANES>) {
        let mut spread = Flat::ZERO;
        for node in 0..weights.n_nodes {
            spread.0[node * weights.n_classes..][..LANES].copy_from_slice(steps);
        }
        let (_, add) = kernels::<S, E>(weights.vectors, self.tables.is_wide());
        let (write, lanes) = (self.tables.write().as_ptr(), weights.lanes.as_mut_ptr());
        // SAFETY: as in `dot`.
        unsafe { add(simd, self.row(row), write, &weights.pattern, lanes, &spread) };
    }

    #[inline(always)]
    fn prefetch(&self, row: usize) {
        prefetch(self.row(row));
    }

    #[inline(always)]
    fn prefetch_start(&self, row: usize) {
        prefetch(&self.indptr[row..row + 1]);
        prefetch(&self.diagonal[row..row + 1]);
    }
}

/// The lanes of all vectors, and as many again as a node has at most, since a node's are copied sixteen at a time.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Flat([f32; LANES * (MAX_VECTORS + 1)]);

impl Flat {
    const ZERO: Flat = Flat([0.0; LANES * (MAX_VECTORS + 1)]);
}

type Vector = [f32; LANES];
type Dot<S, E> = unsafe fn(S, &[E], *const f32, &Pattern<LANES>, *const Vector, &mut Flat);
type Add<S, E> = unsafe fn(S, &[E], *const f32, &Pattern<LANES>, *mut Vector, &Flat);

/// The functions for a number of vectors and a size of the table's entries.
#[inline(always)]
fn kernels<S: Simd, E: Entry>(vectors: usize, is_wide: bool) -> (Dot<S, E>, Add<S, E>) {
    match (vectors, is_wide) {
        (1, false) => (dot::<S, E, 1, false>, add::<S, E, 1, false>),
        (2, false) => (dot::<S, E, 2, false>, add::<S, E, 2, false>),
        (3, false) => (dot::<S, E, 3, false>, add::<S, E, 3, false>),
        (_, false) => (dot::<S, E, 4, false>, add::<S, E, 4, false>),
        (1, true) => (dot::<S, E, 1, true>, add::<S, E, 1, true>),
        (2, true) => (dot::<S, E, 2, true>, add::<S, E, 2, true>),
        (3, true) => (dot::<S, E, 3, true>, add::<S, E, 3, true>),
        (_, true) => (dot::<S, E, 4, true>, add::<S, E, 4, true>),
    }
}

/// The parts of V vectors; only the first [`LANES`] / `S::LANES` of each are in use.
type Parts<T, const V: usize> = [[T; MAX_PARTS]; V];

/// Σ over a row's non-zeros of spread(read) · weights, lane by lane.
///
/// # Safety
/// Every entry's feature is a row of `weights` (V vectors each), every code a row of `table`, and the pattern is of the
/// numbers of such a row.
unsafe fn dot<S: Simd, E: Entry, const V: usize, const WIDE: bool>(
    simd: S,
    row: &[E],
    table: *const f32,
    pattern: &Pattern<LANES>,
    weights: *const Vector,
    out: &mut Flat,
) {
    /// Independent sums, to hide the latency of the additions.
    const MAX_UNROLL: usize = 4;
    // SAFETY: guaranteed by the caller.
    simd.compiled(
        #[inline(always)]
        move || unsafe {
            let unroll = const { if S::LANES == LANES { MAX_UNROLL } else { 1 } };
            let pattern = patterns::<S, V>(simd, pattern);
            let mut sums = [[[simd.splat(0.0); MAX_PARTS]; V]; MAX_UNROLL];
            let mut chunks = row.chunks_exact(unroll);
            for chunk in &mut chunks {
                for (entry, sums) in chunk.iter().zip(&mut sums) {
                    add_products::<S, E, V, WIDE>(simd, entry, table, &pattern, weights, sums);
                }
            }
            for entry in chunks.remainder() {
                add_products::<S, E, V, WIDE>(simd, entry, table, &pattern, weights, &mut sums[0]);
            }
            for v in 0..V {
                for part in 0..LANES / S::LANES {
                    let mut sum = sums[0][v][part];
                    for more in &sums[1..unroll] {
                        sum = simd.add(sum, more[v][part]);
                    }
                    simd.store(sum, &mut out.0[v * LANES + part * S::LANES..]);
                }
            }
        },
    );
}

/// sums += spread(read) · weights of one non-zero.
///
/// # Safety
/// As for [`dot`].
#[inline(always)]
unsafe fn add_products<S: Simd, E: Entry, const V: usize, const WIDE: bool>(
    simd: S,
    entry: &E,
    table: *const f32,
    pattern: &Parts<S::I32s, V>,
    weights: *const Vector,
    sums: &mut Parts<S::F32s, V>,
) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let at = weights.add(entry.feature() * V).cast::<f32>();
        let numbers = table.add(entry.code() * stride(WIDE));
        for v in 0..V {
            for part in 0..LANES / S::LANES {
                let numbers = simd.spread::<WIDE>(numbers, pattern[v][part]);
                let weights = simd.load_unchecked(at.add(v * LANES + part * S::LANES));
                sums[v][part] = simd.multiply_add(numbers, weights, sums[v][part]);
            }
        }
    }
}

/// weights += spread(write) · step over a row's non-zeros.
///
/// # Safety
/// As for [`dot`].
unsafe fn add<S: Simd, E: Entry, const V: usize, const WIDE: bool>(
    simd: S,
    row: &[E],
    table: *const f32,
    pattern: &Pattern<LANES>,
    weights: *mut Vector,
    step: &Flat,
) {
    // SAFETY: guaranteed by the caller.
    simd.compiled(
        #[inline(always)]
        move || unsafe {
            let pattern = patterns::<S, V>(simd, pattern);
            let mut steps = [[simd.splat(0.0); MAX_PARTS]; V];
            for v in 0..V {
                for part in 0..LANES / S::LANES {
                    steps[v][part] = simd.load(&step.0[v * LANES + part * S::LANES..]);
                }
            }
            // Backwards: the last rows that `dot` read are still in the first-level cache.
            for entry in row.iter().rev() {
                let at = weights.add(entry.feature() * V).cast::<f32>();
                let numbers = table.add(entry.code() * stride(WIDE));
                for v in 0..V {
                    for part in 0..LANES / S::LANES {
                        let at = at.add(v * LANES + part * S::LANES);
                        let numbers = simd.spread::<WIDE>(numbers, pattern[v][part]);
                        simd.store_unchecked(simd.multiply_add(numbers, steps[v][part], simd.load_unchecked(at)), at);
                    }
                }
            }
        },
    );
}

/// The pattern in registers.
#[inline(always)]
fn patterns<S: Simd, const V: usize>(simd: S, pattern: &Pattern<LANES>) -> Parts<S::I32s, V> {
    let mut parts = [[simd.splat_i32(0); MAX_PARTS]; V];
    for v in 0..V {
        for part in 0..LANES / S::LANES {
            parts[v][part] = simd.load_i32(&pattern[v][part * S::LANES..]);
        }
    }
    parts
}

/// Numbers per value of a table.
const fn stride(wide: bool) -> usize {
    if wide { 16 } else { 4 }
}
