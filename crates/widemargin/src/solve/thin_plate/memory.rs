//! Memory estimates of a fit, checked before allocation.

use super::local::BLOCK;
use crate::error::{Error, Result, bytes_text};
use crate::memory::available;
use crate::tuning::MAX_REFITTED_SAMPLES;

const NUMBER: u64 = size_of::<f64>() as u64;

/// Peak memory of the exact solver: the kernel matrix, the factorization of the first step, and one of the violators'
/// block for each problem in progress.
pub(crate) fn exact_bytes(n: usize, n_columns: usize, n_problems: usize, threads: usize) -> u64 {
    let (n, columns, k) = (n as u64, n_columns as u64, n_problems as u64);
    // Leave-one-out by refits needs one more per problem in progress, and another for functions lost with the samples.
    let (each, shared) = if n as usize <= MAX_REFITTED_SAMPLES { (3, 3) } else { (2, 2) };
    let matrices = shared + each * threads.min(n_problems) as u64;
    let (square, rest) = (n.saturating_mul(n).saturating_mul(matrices), n.saturating_mul(5 * columns + 20 * k));
    NUMBER.saturating_mul(square.saturating_add(rest))
}

/// Peak memory of a fit on bases.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BasisBytes {
    /// The required minimum: the polynomials and the scores at the samples, a Hessian and its factors per problem, the
    /// blocks processed by the threads.
    pub least: u64,
    /// The samples' features, which may be recomputed instead.
    pub features: u64,
}

pub(crate) fn basis_bytes(n: usize, n_basis: usize, n_columns: usize, n_problems: usize, threads: usize) -> BasisBytes {
    let (n, b, k) = (n as u64, (n_basis + n_columns) as u64, n_problems as u64);
    let (samples, working) = (n.saturating_mul(5 * n_columns as u64 + 20 * k), 8 * threads as u64 * BLOCK as u64 * b);
    let hessians = (b * b).saturating_mul(4 * (k + 1) + 8 * threads as u64);
    let bytes = |numbers: u64| NUMBER.saturating_mul(numbers);
    BasisBytes {
        least: bytes(samples.saturating_add(hessians).saturating_add(working)),
        features: bytes(n.saturating_mul(b)),
    }
}

/// Memory of a fit on bases over streamed samples: the required minimum, and each cached block of features.
pub(crate) fn streamed_bytes(
    n: usize,
    n_features: usize,
    n_basis: usize,
    n_columns: usize,
    n_problems: usize,
    threads: usize,
) -> (u64, u64) {
    let (n, d, b, m, k) = (n as u64, n_features as u64, n_basis as u64, n_columns as u64, n_problems as u64);
    let (p, block) = (b + m, BLOCK as u64);
    // Roots and units; scores twice and a flag per problem.
    let rows = n.saturating_mul(2 * NUMBER + k * (2 * NUMBER + 1));
    // The bases' own matrices; a Hessian, its factor and its root per problem; buffers for it.
    let squares = (4 * b * b).saturating_add((p * p).saturating_mul(3 * k + threads as u64)) + 2 * k * block * p;
    // Samples and features of a span; a feature map and its copy per thread.
    let working = super::local::SPAN as u64 * block * (3 * d + 2 * p) + threads as u64 * block * 3 * p;
    (rows.saturating_add(NUMBER.saturating_mul(squares.saturating_add(working))), NUMBER * block * p)
}

impl BasisBytes {
    /// How many of `n_blocks` blocks of features fit in the limit, or in available memory; and that number of bytes, if
    /// not all of them fit.
    pub fn cached_blocks(&self, n_blocks: usize, limit: Option<u64>) -> (usize, Option<u64>) {
        // Part of the available memory is left to other processes, whose needs may grow.
        let free = || available().map(|bytes| bytes / 10 * 9);
        let Some(available) = limit.or_else(free) else { return (n_blocks, None) };
        let left = available.saturating_sub(self.least);
        if self.features <= left {
            return (n_blocks, None);
        }
        let share = left as f64 / self.features as f64;
        ((share * n_blocks as f64) as usize, Some(available))
    }
}

/// Refuses a fit that does not fit into `limit` bytes or, without a limit, into available memory.
///
/// # Errors
/// [`Error::Parameter`] on `n_basis`, with the figures.
pub(crate) fn check(needed: u64, limit: Option<u64>, n: usize, n_basis: Option<usize>, cheaper: &str) -> Result<()> {
    let Some(available) = limit.or_else(available) else { return Ok(()) };
    if needed <= available {
        return Ok(());
    }
    let solver = if n_basis.is_some() { "that many bases" } else { "the exact solver" };
    let value = n_basis.map_or_else(|| "none".to_owned(), |n_basis| n_basis.to_string());
    let (needed, free) = (bytes_text(needed), bytes_text(available));
    let expected = format!("{solver} would take {needed} for {n} samples and {free} are free: {cheaper}");
    Err(Error::parameter("n_basis", value, expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_with_its_figure() {
        let needed = exact_bytes(50_000, 23, 1, 1);
        let message = check(needed, Some(1 << 30), 50_000, None, "set n_basis").unwrap_err().to_string();
        assert!(
            message.starts_with("n_basis = none") && message.contains("80.") && message.contains("1.1 GB"),
            "{message}"
        );
        assert!(check(needed, Some(1 << 40), 50_000, None, "").is_ok());
        assert!(check(u64::MAX, Some(u64::MAX), 1, None, "").is_ok());
        assert!(exact_bytes(usize::MAX, 1, 1, 1) > 1 << 60);
    }
}
