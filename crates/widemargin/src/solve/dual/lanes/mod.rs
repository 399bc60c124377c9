//! The two inner loops of the batched solver, in vector registers.
//!
//! Weights stand as `weights[feature][vector][16 lanes]`. A lane holds one (node, class) pair; lane l of
//! all lanes together is node l / classes, class l % classes, so that few classes waste few lanes: ten
//! classes of three nodes fill 30 of 32 lanes, not 30 of 48. What the map says of a value is m numbers,
//! and a fixed permutation spreads them over the lanes.
//!
//! Arithmetic a non-zero and vector (16 lanes): 1 FMA to evaluate, 1 to update, so with m nodes
//! 4m flops a non-zero·class. Bytes: 64 read to evaluate, 64 read and 64 written to update, 4 of the row,
//! 16 of the table. Sixteen classes of three nodes move 576 bytes for 192 flops: the loads and stores of
//! the first-level cache are the limit, not the arithmetic.

mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;

use super::coordinate::{Lanes, Limits, Visit};
use crate::expansion::Entry;
use crate::isa::Isa;

/// Lanes of one vector.
pub(super) const LANES: usize = 16;

/// The most vectors a feature may take: what leaves registers for four rows of accumulators.
pub(super) const MAX_VECTORS: usize = 4;

/// Sixteen numbers on a cache line of their own.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Vector(pub [f32; LANES]);

impl Vector {
    pub const ZERO: Vector = Vector([0.0; LANES]);
}

/// For each lane, which of a value's m numbers it takes.
pub(super) type Pattern = [[i32; LANES]; MAX_VECTORS];

/// One instruction set's way with sixteen lanes.
///
/// # Safety
/// All methods need the instruction set; pointers must be good for what the method reads or writes.
pub(super) unsafe trait Simd {
    type V: Copy;
    /// Independent accumulators a vector, to hide the latency of the additions.
    const UNROLL: usize;
    unsafe fn zero() -> Self::V;
    unsafe fn load(from: *const f32) -> Self::V;
    unsafe fn store(value: Self::V, to: *mut f32);
    unsafe fn add(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn multiply_add(a: Self::V, b: Self::V, sum: Self::V) -> Self::V;
    /// Lane l becomes `numbers[pattern[l]]`; 16 numbers may be read where `WIDE`, else 4.
    unsafe fn spread<const WIDE: bool>(numbers: *const f32, pattern: &[i32; LANES]) -> Self::V;
}

/// Σ over a row's non-zeros of spread(read) · weights, lane by lane.
///
/// # Safety
/// Every entry's feature is a row of `weights` (V vectors each), every code a row of `table`.
#[inline(always)]
unsafe fn dot<S: Simd, E: Entry, const V: usize, const WIDE: bool>(
    row: &[E],
    table: *const f32,
    pattern: &Pattern,
    weights: *const Vector,
    out: &mut [Vector; MAX_VECTORS],
) {
    const MOST: usize = 4;
    let stride = if WIDE { 16 } else { 4 };
    // SAFETY: the caller's promise.
    unsafe {
        let mut sums = [[S::zero(); V]; MOST];
        let mut chunks = row.chunks_exact(S::UNROLL);
        for chunk in &mut chunks {
            for (entry, sums) in chunk.iter().zip(&mut sums) {
                let at = weights.add(entry.feature() * V);
                let numbers = table.add(entry.code() * stride);
                for v in 0..V {
                    let numbers = S::spread::<WIDE>(numbers, &pattern[v]);
                    sums[v] = S::multiply_add(numbers, S::load(at.add(v).cast()), sums[v]);
                }
            }
        }
        for entry in chunks.remainder() {
            let at = weights.add(entry.feature() * V);
            let numbers = table.add(entry.code() * stride);
            for v in 0..V {
                let numbers = S::spread::<WIDE>(numbers, &pattern[v]);
                sums[0][v] = S::multiply_add(numbers, S::load(at.add(v).cast()), sums[0][v]);
            }
        }
        for v in 0..V {
            let mut sum = sums[0][v];
            for more in &sums[1..S::UNROLL] {
                sum = S::add(sum, more[v]);
            }
            S::store(sum, out[v].0.as_mut_ptr());
        }
    }
}

/// weights += spread(write) · step over a row's non-zeros.
///
/// # Safety
/// As for [`dot`], for both rows.
#[inline(always)]
unsafe fn update<S: Simd, E: Entry, const V: usize, const WIDE: bool>(
    row: &[E],
    table: *const f32,
    pattern: &Pattern,
    weights: *mut Vector,
    step: &[Vector; MAX_VECTORS],
) {
    let stride = if WIDE { 16 } else { 4 };
    // SAFETY: the caller's promise.
    unsafe {
        let mut steps = [S::zero(); V];
        for v in 0..V {
            steps[v] = S::load(step[v].0.as_ptr());
        }
        // Backwards: what `dot` read last is still in the first-level cache.
        for entry in row.iter().rev() {
            let at = weights.add(entry.feature() * V);
            let numbers = table.add(entry.code() * stride);
            for v in 0..V {
                let at = at.add(v).cast::<f32>();
                let numbers = S::spread::<WIDE>(numbers, &pattern[v]);
                S::store(S::multiply_add(numbers, steps[v], S::load(at)), at);
            }
        }
    }
}

type Dot<E> = unsafe fn(&[E], *const f32, &Pattern, *const Vector, &mut [Vector; MAX_VECTORS]);
type Step = unsafe fn(&mut Lanes, &[f32; LANES], &[f32; LANES], &mut [f32; LANES], &mut u16, &Limits, bool) -> Visit;
type Update<E> = unsafe fn(&[E], *const f32, &Pattern, *mut Vector, &[Vector; MAX_VECTORS]);

/// The loops for one number of vectors and one instruction set.
#[derive(Clone, Copy)]
pub(super) struct Loops<E> {
    pub dot: Dot<E>,
    pub update: Update<E>,
    pub visit: Step,
}

/// The loops for an instruction set of [`Isa::available`], 1 to [`MAX_VECTORS`] vectors and tables of 16
/// (`wide`) or 4 numbers a value.
pub(super) fn loops<E: Entry>(isa: Isa, vectors: usize, wide: bool) -> Loops<E> {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => x86::avx512(vectors, wide),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => x86::avx2(vectors, wide),
        _ => portable::loops(vectors, wide),
    }
}

/// Picks the monomorphic loops for run-time `vectors` and `wide`.
macro_rules! pick_loops {
    ($dot:ident, $update:ident, $visit:ident, $vectors:expr, $wide:expr) => {
        match ($vectors, $wide) {
            (1, false) => Loops { dot: $dot::<E, 1, false>, update: $update::<E, 1, false>, visit: $visit },
            (2, false) => Loops { dot: $dot::<E, 2, false>, update: $update::<E, 2, false>, visit: $visit },
            (3, false) => Loops { dot: $dot::<E, 3, false>, update: $update::<E, 3, false>, visit: $visit },
            (_, false) => Loops { dot: $dot::<E, 4, false>, update: $update::<E, 4, false>, visit: $visit },
            (1, true) => Loops { dot: $dot::<E, 1, true>, update: $update::<E, 1, true>, visit: $visit },
            (2, true) => Loops { dot: $dot::<E, 2, true>, update: $update::<E, 2, true>, visit: $visit },
            (3, true) => Loops { dot: $dot::<E, 3, true>, update: $update::<E, 3, true>, visit: $visit },
            (_, true) => Loops { dot: $dot::<E, 4, true>, update: $update::<E, 4, true>, visit: $visit },
        }
    };
}
use pick_loops;
