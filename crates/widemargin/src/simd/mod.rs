//! Vectors of f32 as each instruction set has them: what hot loops are written in, once, for all of them.
//!
//! A loop is generic over [`Simd`] and `inline(always)`; a function with `#[target_feature]` around it is compiled
//! for each instruction set, and [`crate::isa::Isa`] says at run time which to call.

mod aligned;
mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;

pub(crate) use aligned::AlignedNumbers;
pub(crate) use portable::Portable;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{Avx2, Avx512};

/// One instruction set's way with a vector of f32.
///
/// # Safety
/// All methods need the instruction set; pointers must be good for what the method reads or writes.
pub(crate) unsafe trait Simd {
    type V: Copy;
    const LANES: usize;
    unsafe fn zero() -> Self::V;
    unsafe fn splat(value: f32) -> Self::V;
    unsafe fn load(from: *const f32) -> Self::V;
    unsafe fn store(value: Self::V, to: *mut f32);
    /// The first `n` lanes from memory, the others 0.
    unsafe fn load_part(from: *const f32, n: usize) -> Self::V;
    /// The first `n` lanes to memory.
    unsafe fn store_part(value: Self::V, to: *mut f32, n: usize);
    unsafe fn add(a: Self::V, b: Self::V) -> Self::V;
    /// The larger of each lane; b where either is not a number.
    unsafe fn max(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn multiply_add(a: Self::V, b: Self::V, sum: Self::V) -> Self::V;
    /// Asks for a line of memory that will be read soon; any address will do.
    unsafe fn prefetch(address: *const f32);
    /// The sum of all lanes.
    unsafe fn sum(value: Self::V) -> f32;
}
