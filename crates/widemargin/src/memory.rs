//! Calling memory to the caches before it is needed.

/// Asks for memory that will be read soon; a hint that changes no result.
#[inline]
pub(crate) fn prefetch<T>(memory: &[T]) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..size_of_val(memory)).step_by(64) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 has the instruction, and it reads nothing; the address is inside `memory`.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(memory.as_ptr().cast::<i8>().add(line)) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = memory;
}
