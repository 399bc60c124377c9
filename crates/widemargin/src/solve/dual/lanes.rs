//! The two inner loops of the batched solver, in vector registers.
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

use crate::expansion::Entry;
use crate::simd::Simd;

pub(super) use super::coordinate::LANES;

/// The maximum number of vectors per feature, which leaves registers for four rows of accumulators.
pub(super) const MAX_VECTORS: usize = 4;

/// The maximum number of parts.
const MAX_PARTS: usize = 4;

/// Sixteen numbers on one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Vector(pub [f32; LANES]);

impl Vector {
    pub const ZERO: Vector = Vector([0.0; LANES]);
}

/// The lanes of all vectors, and as many again as a node has at most, since a node's are copied sixteen at a time.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Flat(pub [f32; LANES * (MAX_VECTORS + 1)]);

impl Flat {
    pub const ZERO: Flat = Flat([0.0; LANES * (MAX_VECTORS + 1)]);
}

/// For each lane, the index among a value's m numbers.
pub(super) type Pattern = [[i32; LANES]; MAX_VECTORS];

/// The loops of an instruction set, for a number of vectors and of numbers per value.
#[derive(Clone, Copy)]
pub(super) struct Loops<S, E> {
    pub simd: S,
    pub dot: Dot<S, E>,
    pub update: Update<S, E>,
}

type Dot<S, E> = unsafe fn(S, &[E], *const f32, &Pattern, *const Vector, &mut Flat);
type Update<S, E> = unsafe fn(S, &[E], *const f32, &Pattern, *mut Vector, &Flat);

impl<S: Simd, E: Entry> Loops<S, E> {
    /// For 1 to [`MAX_VECTORS`] vectors and tables of 16 (`wide`) or 4 numbers per value.
    pub fn new(simd: S, vectors: usize, wide: bool) -> Self {
        let (dot, update): (Dot<S, E>, Update<S, E>) = match (vectors, wide) {
            (1, false) => (dot::<S, E, 1, false>, update::<S, E, 1, false>),
            (2, false) => (dot::<S, E, 2, false>, update::<S, E, 2, false>),
            (3, false) => (dot::<S, E, 3, false>, update::<S, E, 3, false>),
            (_, false) => (dot::<S, E, 4, false>, update::<S, E, 4, false>),
            (1, true) => (dot::<S, E, 1, true>, update::<S, E, 1, true>),
            (2, true) => (dot::<S, E, 2, true>, update::<S, E, 2, true>),
            (3, true) => (dot::<S, E, 3, true>, update::<S, E, 3, true>),
            (_, true) => (dot::<S, E, 4, true>, update::<S, E, 4, true>),
        };
        Loops { simd, dot, update }
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
    pattern: &Pattern,
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
                    simd.store(sum, out.0.as_mut_ptr().add(v * LANES + part * S::LANES));
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
                let weights = simd.load(at.add(v * LANES + part * S::LANES));
                sums[v][part] = simd.multiply_add(numbers, weights, sums[v][part]);
            }
        }
    }
}

/// weights += spread(write) · step over a row's non-zeros.
///
/// # Safety
/// As for [`dot`].
unsafe fn update<S: Simd, E: Entry, const V: usize, const WIDE: bool>(
    simd: S,
    row: &[E],
    table: *const f32,
    pattern: &Pattern,
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
                    steps[v][part] = simd.load(step.0.as_ptr().add(v * LANES + part * S::LANES));
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
                        simd.store(simd.multiply_add(numbers, steps[v][part], simd.load(at)), at);
                    }
                }
            }
        },
    );
}

/// The pattern in registers.
#[inline(always)]
fn patterns<S: Simd, const V: usize>(simd: S, pattern: &Pattern) -> Parts<S::I32s, V> {
    let mut parts = [[simd.splat_i32(0); MAX_PARTS]; V];
    for v in 0..V {
        for part in 0..LANES / S::LANES {
            // SAFETY: the parts of sixteen lanes.
            parts[v][part] = unsafe { simd.load_i32(pattern[v].as_ptr().add(part * S::LANES)) };
        }
    }
    parts
}

/// Numbers per value of a table.
const fn stride(wide: bool) -> usize {
    if wide { 16 } else { 4 }
}
