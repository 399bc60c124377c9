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

mod loops;
mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;

use crate::expansion::Entry;
use crate::isa::Isa;

pub(super) use super::coordinate::LANES;
pub(super) use loops::{Loops, MAX_VECTORS, Pattern, Vector};

/// The loops for an instruction set of [`Isa::available`], 1 to [`MAX_VECTORS`] vectors and tables of 16 (`wide`) or 4
/// numbers per value.
pub(super) fn loops<E: Entry>(isa: Isa, vectors: usize, wide: bool) -> Loops<E> {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => x86::avx512(vectors, wide),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => x86::avx2(vectors, wide),
        _ => portable::loops(vectors, wide),
    }
}
