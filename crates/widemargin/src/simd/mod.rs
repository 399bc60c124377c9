//! Vectors of f32 for each instruction set: hot loops are written once, generically.
//!
//! A loop is generic over [`Simd`] and `inline(always)`; a wrapper function with `#[target_feature]` is compiled for
//! each instruction set, and [`crate::isa::Isa`] selects one at run time.

mod aligned;
mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;

pub(crate) use aligned::AlignedNumbers;
pub(crate) use portable::Portable;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{Avx2, Avx512};

/// The f32 vector operations of one instruction set.
///
/// # Safety
/// All methods need the instruction set; pointers must be valid for what the method reads or writes.
pub(crate) unsafe trait Simd {
    type V: Copy;
    const LANES: usize;
    unsafe fn zero() -> Self::V;
    unsafe fn splat(value: f32) -> Self::V;
    unsafe fn load(from: *const f32) -> Self::V;
    unsafe fn store(value: Self::V, to: *mut f32);
    /// Loads the first `n` lanes; the others are 0.
    unsafe fn load_part(from: *const f32, n: usize) -> Self::V;
    /// Stores the first `n` lanes.
    unsafe fn store_part(value: Self::V, to: *mut f32, n: usize);
    unsafe fn add(a: Self::V, b: Self::V) -> Self::V;
    /// The lane-wise maximum; b if either is NaN.
    unsafe fn max(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn multiply_add(a: Self::V, b: Self::V, sum: Self::V) -> Self::V;
    /// Prefetches a cache line; any address is allowed.
    unsafe fn prefetch(address: *const f32);
    /// The sum of all lanes.
    unsafe fn sum(value: Self::V) -> f32;
}
