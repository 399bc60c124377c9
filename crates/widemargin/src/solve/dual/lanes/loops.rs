//! The generic inner loops, shared by all instruction sets, and their data.

use crate::expansion::Entry;
use crate::solve::dual::coordinate::{LANES, Lanes, Limits, Visit};

/// The maximum number of vectors per feature, which leaves registers for four rows of accumulators.
pub(in crate::solve::dual) const MAX_VECTORS: usize = 4;

/// Sixteen numbers on one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(in crate::solve::dual) struct Vector(pub [f32; LANES]);

impl Vector {
    pub const ZERO: Vector = Vector([0.0; LANES]);
}

/// For each lane, the index among a value's m numbers.
pub(in crate::solve::dual) type Pattern = [[i32; LANES]; MAX_VECTORS];

/// The sixteen-lane operations of one instruction set.
///
/// # Safety
/// All methods need the instruction set; pointers must be valid for what the method reads or writes.
pub(super) unsafe trait Simd {
    type V: Copy;
    /// Independent accumulators per vector, to hide the latency of the additions.
    const UNROLL: usize;
    unsafe fn zero() -> Self::V;
    unsafe fn load(from: *const f32) -> Self::V;
    unsafe fn store(value: Self::V, to: *mut f32);
    unsafe fn add(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn multiply_add(a: Self::V, b: Self::V, sum: Self::V) -> Self::V;
    /// Sets lane l to `numbers[pattern[l]]`; 16 numbers may be read if `WIDE`, otherwise 4.
    unsafe fn spread<const WIDE: bool>(numbers: *const f32, pattern: &[i32; LANES]) -> Self::V;
}

/// Σ over a row's non-zeros of spread(read) · weights, lane by lane.
///
/// # Safety
/// Every entry's feature is a row of `weights` (V vectors each), every code a row of `table`.
#[inline(always)]
pub(super) unsafe fn dot<S: Simd, E: Entry, const V: usize, const WIDE: bool>(
    row: &[E],
    table: *const f32,
    pattern: &Pattern,
    weights: *const Vector,
    out: &mut [Vector; MAX_VECTORS],
) {
    const MOST: usize = 4;
    let stride = if WIDE { 16 } else { 4 };
    // SAFETY: guaranteed by the caller.
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
pub(super) unsafe fn update<S: Simd, E: Entry, const V: usize, const WIDE: bool>(
    row: &[E],
    table: *const f32,
    pattern: &Pattern,
    weights: *mut Vector,
    step: &[Vector; MAX_VECTORS],
) {
    let stride = if WIDE { 16 } else { 4 };
    // SAFETY: guaranteed by the caller.
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
pub(in crate::solve::dual) struct Loops<E> {
    pub dot: Dot<E>,
    pub update: Update<E>,
    pub visit: Step,
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
pub(super) use pick_loops;
