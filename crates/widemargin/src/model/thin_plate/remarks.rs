//! Warnings that fits of classifiers and of smoothing splines share.

use crate::error::bytes_text;
use crate::similarity::ConditionalKernel;
use crate::tuning::{DEFAULT_N_BASIS, DISTANT_SPREADS};

/// The note that bases were used since the exact solver would take this number of bytes, and n³ operations for each
/// problem.
pub(super) fn crowded((n_samples, n_problems): (usize, usize), needed: u64) -> String {
    let of_problems = if n_problems > 1 { format!(" in {n_problems} two-class problems") } else { String::new() };
    let times = n_problems as f64 * (n_samples as f64).powi(3);
    format!(
        "{n_samples} samples{of_problems} are many for the exact solver, which takes {times:.0e} operations a step and {}: \
         {DEFAULT_N_BASIS} bases were used (n_basis = none requests the exact solver)",
        bytes_text(needed),
    )
}

/// A warning if the polynomials of a kernel are not independent at the samples.
pub(super) fn dependent(kernel: ConditionalKernel, n_polynomials: usize, rank: usize) -> Option<String> {
    (rank < n_polynomials).then(|| {
        format!(
            "the {n_polynomials} polynomials of {kernel} have rank {rank} on these samples (constant or dependent columns, \
             or too few samples): the smallest of the equivalent solutions was used",
        )
    })
}

/// A warning if the columns differ a lot in spread, unless they are standardized on request; whether they were may have
/// been decided by the leave-one-out loss.
pub(super) fn scaling_warning(uneven: f64, standardized: bool, is_decided: bool) -> Option<String> {
    let factor = if uneven < 1e6 { format!("{uneven:.0}") } else { format!("{uneven:.1e}") };
    let done = match (is_decided, standardized) {
        (true, true) => "they were standardized, for the lower leave-one-out loss",
        (true, false) => "they were used as they are, for the lower leave-one-out loss",
        (false, true) => return None,
        (false, false) => {
            "distances see little but the widest; standardize them (standardize = yes) unless they are of one unit"
        }
    };
    (uneven > DISTANT_SPREADS).then(|| format!("the columns differ in spread by a factor of {factor}: {done}"))
}
