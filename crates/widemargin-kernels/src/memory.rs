//! Available memory, and prefetching.

use crate::error::{Error, Result};

/// Prefetches memory that will be read soon; does not affect results.
#[inline]
pub fn prefetch<T>(memory: &[T]) {
    for line in (0..size_of_val(memory)).step_by(64) {
        crate::simd::prefetch(memory.as_ptr().cast::<u8>().wrapping_add(line));
    }
}

/// Allocations below this size are not checked.
const UNCHECKED_BYTES: u64 = 64 << 20;

/// Memory available without swapping and within the process's address space limit, if the system reports it. A larger
/// allocation may well succeed, and the process be killed when it uses the memory: hence this check.
pub fn available() -> Option<u64> {
    free().into_iter().chain(addresses_left()).min()
}

/// Refuses an allocation larger than the available memory before it is made, since a failed allocation aborts the
/// process. `what` describes it with its shape; `hint` is a remedy.
///
/// # Errors
/// [`Error::Memory`].
pub fn check(needed: u64, what: impl FnOnce() -> String, hint: &'static str) -> Result<()> {
    if needed < UNCHECKED_BYTES {
        return Ok(());
    }
    available().map_or(Ok(()), |free| within(free, needed, what, hint))
}

/// Refuses what needs more bytes than there are for it.
///
/// # Errors
/// [`Error::Memory`].
pub fn within(free: u64, needed: u64, what: impl FnOnce() -> String, hint: &'static str) -> Result<()> {
    if needed <= free { Ok(()) } else { Err(Error::Memory { what: what(), needed, free, hint }) }
}

/// The product of sizes, saturating.
pub fn product(sizes: &[usize]) -> u64 {
    sizes.iter().fold(1, |product: u64, &size| product.saturating_mul(size as u64))
}

/// The hint if there are too many columns.
pub const FEWER_COLUMNS: &str =
    "check the largest index of the samples (one typing error is enough), or take fewer features";

/// Bytes available without swapping, if the system reports it.
pub fn free() -> Option<u64> {
    kilobytes("/proc/meminfo", "MemAvailable:")
}

/// Bytes of address space that the process may still use, if it has a limit (`ulimit -v`).
pub fn addresses_left() -> Option<u64> {
    let soft_limit = number("/proc/self/limits", "Max address space")?;
    Some(soft_limit.saturating_sub(kilobytes("/proc/self/status", "VmSize:")?))
}

/// A number that a file of Linux states in kB, in bytes.
fn kilobytes(file: &str, key: &str) -> Option<u64> {
    number(file, key)?.checked_mul(1024)
}

/// The first word after `key` in one of Linux's files, if it is a number. Other systems have no such file.
fn number(file: &str, key: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    text.lines().find_map(|line| line.strip_prefix(key))?.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn reads_what_linux_reports() {
        let free = free().unwrap();
        assert!(free.is_multiple_of(1024) && free > 1 << 20, "{free}");
        assert_eq!(number("/proc/self/limits", "Max no such thing"), None);
        assert_eq!(number("/proc/no-such-file", "VmRSS:"), None);
    }

    #[test]
    fn what_no_machine_has_is_refused_with_its_figure() {
        assert!(check(1 << 20, || unreachable!(), "").is_ok());
        if available().is_some() {
            let error = check(product(&[usize::MAX, 3, 8]), || "weights".into(), "take fewer").unwrap_err();
            assert!(error.to_string().starts_with("weights would take 18446744073.7 GB, "), "{error}");
        }
    }
}
