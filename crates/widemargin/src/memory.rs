//! Calling memory to the caches before it is needed, and how much of it is free.

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

/// Memory that can be had without swapping, where the system tells. A request beyond it may well be granted,
/// and the process killed when it uses what it was granted: that is why it is asked for.
pub(crate) fn available() -> Option<u64> {
    #[cfg(target_os = "linux")]
    {
        let text = std::fs::read_to_string("/proc/meminfo").ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kilobytes * 1024)
    }
    #[cfg(not(target_os = "linux"))]
    None
}
