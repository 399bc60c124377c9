//! The parts of a fit on bases: features whose inner product is the projected kernel between bases, and the treatment
//! of the polynomials.

use super::feature_map::{FeatureMap, Lift};
use super::polynomials::{Polynomials, filled_factor, overflow, project, span};
use crate::error::Result;
use crate::linalg::factor::Matrix;

/// Built from the kernel and the polynomials at the bases; without unpenalized features.
pub(crate) fn feature_map_of(between: Matrix, polynomials: &Matrix) -> Result<FeatureMap> {
    let at_bases = span(polynomials)?.u;
    let projected = project(between, &at_bases)?;
    // α = (I − QQᵀ)L⁻ᵀt has αᵀΦα = ‖t‖² for LLᵀ the projected kernel: the features are L⁻¹(I − QQᵀ)Φ(z, x).
    let lift = match projected.flat {
        true => Lift::Nothing,
        false => Lift::Factor(filled_factor(&projected.kernel, &at_bases)?),
    };
    let none = Matrix::zeros(polynomials.n_cols(), 0);
    Ok(FeatureMap { lift, at_bases, penalized: none.clone(), columns: none, cross: None })
}

/// Whether nothing is left for the kernel, and the mean of its projected diagonal: from the sum of squares of its
/// features without their part along the polynomials, that of all features, and the sum of all weights.
pub(crate) fn unit_of(spread: f64, squares: f64, total: f64) -> Result<(bool, f64)> {
    if !spread.is_finite() {
        return Err(overflow());
    }
    let flat = spread <= 1e-12 * squares;
    Ok((flat, if flat { 1.0 } else { spread / total }))
}

/// T of the unpenalized features Tᵀp, for √W P = U diag(s) Vᵀ; and whether these are all the polynomials, which are
/// then projected out of the penalized features.
pub(crate) fn unpenalized(polynomials: Polynomials, s: &[f64], v: &Matrix, total: f64) -> (Matrix, bool) {
    let (n, rank) = (v.n_rows(), s.len());
    match polynomials {
        Polynomials::Constant | Polynomials::Penalized if rank > 0 => {
            let mut constant = Matrix::zeros(n, 1);
            constant.set(0, 0, 1.0 / total.sqrt());
            (constant, false)
        }
        Polynomials::None => (Matrix::zeros(n, 0), rank == 0),
        _ => {
            let mut all = v.clone();
            for (k, s) in s.iter().enumerate() {
                all.col_mut(k).iter_mut().for_each(|x| *x /= s);
            }
            (all, true)
        }
    }
}

/// S of the penalized polynomials Sᵀp: all but the constant, times the root of their weights; empty unless they are
/// penalized.
pub(crate) fn penalized(polynomials: Polynomials, spreads: &[f64]) -> Matrix {
    let columns: Vec<usize> = match polynomials {
        Polynomials::Penalized => (0..spreads.len()).filter(|&k| spreads[k] > 0.0).collect(),
        _ => Vec::new(),
    };
    let mut out = Matrix::zeros(spreads.len(), columns.len());
    columns.iter().enumerate().for_each(|(at, &k)| out.set(k, at, spreads[k].sqrt()));
    out
}
