//! Available memory, and prefetching.

use crate::error::{Error, Result};

/// Prefetches memory that will be read soon; does not affect results.
#[inline]
pub(crate) fn prefetch<T>(memory: &[T]) {
    for line in (0..size_of_val(memory)).step_by(64) {
        crate::simd::prefetch(memory.as_ptr().cast::<u8>().wrapping_add(line));
    }
}

/// Allocations below this size are not checked.
const NO_QUESTION: u64 = 64 << 20;

/// Memory available without swapping and within the process's address space limit, if the system reports it. A larger
/// allocation may well succeed, and the process be killed when it uses the memory: hence this check.
pub(crate) fn available() -> Option<u64> {
    match (free(), addresses_left()) {
        (Some(free), Some(left)) => Some(free.min(left)),
        (free, left) => free.or(left),
    }
}

/// Refuses an allocation larger than the available memory before it is made, since a failed allocation aborts the
/// process. `what` describes it with its shape; `hint` is a remedy.
///
/// # Errors
/// [`Error::Memory`].
pub(crate) fn check(needed: u64, what: impl FnOnce() -> String, hint: &'static str) -> Result<()> {
    if needed < NO_QUESTION {
        return Ok(());
    }
    match available() {
        Some(free) if needed > free => Err(Error::Memory { what: what(), needed, free, hint }),
        _ => Ok(()),
    }
}

/// The product of sizes, saturating.
pub(crate) fn product(sizes: &[usize]) -> u64 {
    sizes.iter().fold(1, |product: u64, &size| product.saturating_mul(size as u64))
}

/// The hint if there are too many columns.
pub(crate) const FEWER_COLUMNS: &str =
    "check the largest index of the samples (one typing error is enough), or take fewer features";

/// Bytes available without swapping, if the system reports it.
pub fn free() -> Option<u64> {
    #[cfg(target_os = "linux")]
    return procfs::Current::current().ok().and_then(|memory: procfs::Meminfo| memory.mem_available);
    #[cfg(not(target_os = "linux"))]
    None
}

/// Resident memory of this process in bytes, if the system reports it.
pub fn resident() -> Option<u64> {
    #[cfg(target_os = "linux")]
    return procfs::process::Process::myself().ok()?.status().ok()?.vmrss.map(|kilobytes| kilobytes * 1024);
    #[cfg(not(target_os = "linux"))]
    None
}

/// Bytes of address space that the process may still use, if it has a limit (`ulimit -v`).
pub fn addresses_left() -> Option<u64> {
    #[cfg(target_os = "linux")]
    {
        use procfs::process::{LimitValue, Process};
        let process = Process::myself().ok()?;
        let LimitValue::Value(limit) = process.limits().ok()?.max_address_space.soft_limit else { return None };
        Some(limit.saturating_sub(process.status().ok()?.vmsize? * 1024))
    }
    #[cfg(not(target_os = "linux"))]
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_machine_has_is_refused_with_its_figure() {
        assert!(check(1 << 20, || unreachable!(), "").is_ok());
        if available().is_some() {
            let error = check(product(&[usize::MAX, 3, 8]), || "weights".into(), "take fewer").unwrap_err();
            assert!(error.to_string().starts_with("weights would take 18446744073.7 GB, "), "{error}");
        }
    }
}
