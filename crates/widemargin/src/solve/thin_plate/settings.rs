//! The results that the exact fit and the fit on bases share, and the choice of the polynomials.

use super::path::Outcome;
use super::polynomials::Polynomials;
use crate::error::Result;
use crate::tuning::SAMPLES_PER_FREE_POLYNOMIAL;

/// Why `auto` does not leave the polynomials free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WhyNotFree {
    /// They alone separate a class from the others: free polynomials would ignore C.
    Separated,
    /// There are fewer than [`SAMPLES_PER_FREE_POLYNOMIAL`] samples for each.
    FewSamples,
}

/// f(x) = Σ α_i φ(x, x_i) + Σ β_m p_m(x) for each problem, and a summary of the solve.
pub(crate) struct Fitted {
    /// α, one vector per problem.
    pub alpha: Vec<Vec<f64>>,
    /// β on the columns of P, one vector per problem.
    pub beta: Vec<Vec<f64>>,
    /// How the polynomials were treated.
    pub polynomials: Polynomials,
    /// Why `auto` did not leave the polynomials free, if so.
    pub why: Option<WhyNotFree>,
    /// Rank of P at the samples.
    pub rank: usize,
    /// Whether the polynomials interpolate every sample: nothing is left for the kernel.
    pub flat: bool,
    pub outcome: Outcome,
}

/// Resolves `auto` for `n` samples and polynomials of this rank, and says why if the polynomials are not left free;
/// `separates` returns whether they separate a problem.
pub(super) fn settle_auto(
    requested: Polynomials,
    n: usize,
    rank: usize,
    separates: impl FnOnce() -> Result<bool>,
) -> Result<(Polynomials, Option<WhyNotFree>)> {
    if requested != Polynomials::Auto {
        return Ok((requested, None));
    }
    if rank <= 1 {
        return Ok((Polynomials::Free, None));
    }
    let why = if n < SAMPLES_PER_FREE_POLYNOMIAL * rank {
        Some(WhyNotFree::FewSamples)
    } else {
        separates()?.then_some(WhyNotFree::Separated)
    };
    Ok((if why.is_some() { Polynomials::Penalized } else { Polynomials::Free }, why))
}
