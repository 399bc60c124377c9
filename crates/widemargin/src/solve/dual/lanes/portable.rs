//! Sixteen lanes as an array: available on every machine, vectorised by the compiler.

use super::loops::{Loops, MAX_VECTORS, Pattern, Simd, Vector, dot, pick_loops, update};
use crate::expansion::Entry;
use crate::solve::dual::coordinate::{LANES, Lanes, Limits, Visit};

struct Portable;

// SAFETY: needs no instruction set.
unsafe impl Simd for Portable {
    type V = [f32; LANES];
    const UNROLL: usize = 1;

    #[inline(always)]
    unsafe fn zero() -> Self::V {
        [0.0; LANES]
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self::V {
        // SAFETY: the caller's pointer is valid for sixteen numbers.
        unsafe { from.cast::<Self::V>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn store(value: Self::V, to: *mut f32) {
        // SAFETY: the caller's pointer is valid for sixteen numbers.
        unsafe { to.cast::<Self::V>().write_unaligned(value) }
    }

    #[inline(always)]
    unsafe fn add(a: Self::V, b: Self::V) -> Self::V {
        std::array::from_fn(|l| a[l] + b[l])
    }

    #[inline(always)]
    unsafe fn multiply_add(a: Self::V, b: Self::V, sum: Self::V) -> Self::V {
        // Not `mul_add`: without the instruction it is a function call.
        std::array::from_fn(|l| a[l] * b[l] + sum[l])
    }

    #[inline(always)]
    unsafe fn spread<const WIDE: bool>(numbers: *const f32, pattern: &[i32; LANES]) -> Self::V {
        // SAFETY: patterns point to the numbers of one value.
        std::array::from_fn(|l| unsafe { *numbers.add(pattern[l] as usize) })
    }
}

unsafe fn dot_portable<E: Entry, const V: usize, const WIDE: bool>(
    row: &[E],
    table: *const f32,
    pattern: &Pattern,
    weights: *const Vector,
    out: &mut [Vector; MAX_VECTORS],
) {
    // SAFETY: guaranteed by the caller.
    unsafe { dot::<Portable, E, V, WIDE>(row, table, pattern, weights, out) }
}

unsafe fn update_portable<E: Entry, const V: usize, const WIDE: bool>(
    row: &[E],
    table: *const f32,
    pattern: &Pattern,
    weights: *mut Vector,
    step: &[Vector; MAX_VECTORS],
) {
    // SAFETY: guaranteed by the caller.
    unsafe { update::<Portable, E, V, WIDE>(row, table, pattern, weights, step) }
}

unsafe fn visit_portable(
    lanes: &mut Lanes,
    scores: &[f32; LANES],
    signs: &[f32; LANES],
    alphas: &mut [f32; LANES],
    left_out: &mut u16,
    limits: &Limits,
    shrinking: bool,
) -> Visit {
    lanes.visit(scores, signs, alphas, left_out, limits, shrinking)
}

pub(super) fn loops<E: Entry>(vectors: usize, wide: bool) -> Loops<E> {
    pick_loops!(dot_portable, update_portable, visit_portable, vectors, wide)
}
