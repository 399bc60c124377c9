//! Memory estimates of a fit, checked before allocation.

use super::local::{BLOCK, SPAN};
use crate::error::{Error, Result, bytes_text};
use crate::memory::{available, product};
use crate::tuning::MAX_REFITTED_SAMPLES;

/// Peak memory of the exact solver: the kernel matrix, the factorization of the first step, and one of the violators'
/// block for each problem in progress.
pub(crate) fn exact_bytes(n: usize, n_columns: usize, n_problems: usize, threads: usize) -> u64 {
    // Leave-one-out by refits needs one more per problem in progress, and another for functions lost with the samples.
    let (each, shared) = if n <= MAX_REFITTED_SAMPLES { (3, 3) } else { (2, 2) };
    let matrices = product(&[8, n, n, shared + each * threads.min(n_problems)]);
    matrices.saturating_add(product(&[8, n, 5 * n_columns + 20 * n_problems]))
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
    let b = n_basis + n_columns;
    let samples = product(&[8, n, 5 * n_columns + 20 * n_problems]);
    let hessians = product(&[8, b, b, 4 * (n_problems + 1) + 8 * threads]);
    let working = product(&[8, 8 * threads, BLOCK, b]);
    let least = samples.saturating_add(hessians).saturating_add(working);
    BasisBytes { least, features: product(&[8, n, b]) }
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
    let (b, k, p) = (n_basis, n_problems, n_basis + n_columns);
    let needed = [
        // Roots and units; scores twice and a flag per problem.
        product(&[n, 16 + 17 * k]),
        // The bases' own matrices; a Hessian, its factor and its root per problem; buffers for it.
        product(&[8, 4, b, b]),
        product(&[8, p, p, 3 * k + threads]),
        product(&[8, 2, k, BLOCK, p]),
        // Samples and features of a span; a feature map and its copy per thread.
        product(&[8, SPAN, BLOCK, 3 * n_features + 2 * p]),
        product(&[8, threads, BLOCK, 3, p]),
    ];
    (needed.into_iter().fold(0, u64::saturating_add), product(&[8, BLOCK, p]))
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
