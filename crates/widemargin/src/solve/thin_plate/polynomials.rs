//! The polynomials: their span over the samples, the kernel projected off it, and the positive definite kernel that
//! remains when they are dropped.

use serde::{Deserialize, Serialize};

use super::exact::Removals;
use crate::error::{Error, Result};
use crate::linalg::factor::{
    Cholesky, Matrix, Side, Svd, add_lower_product, add_product, add_scaled, product, project_off,
};
use crate::macros::named;

/// Fraction of the kernel's typical value below which the projected kernel is rounding.
const MIN_PROJECTED_KERNEL: f64 = 1e-10;

/// Size on unit-scaled columns below which a direction of the polynomials is a rounding error.
const MIN_POLYNOMIAL: f64 = 1e-9;

/// How the polynomials of a kernel are treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Polynomials {
    /// [`Polynomials::Free`] if there are at least a hundred samples per polynomial and the polynomials alone do not
    /// separate a class from the others. Otherwise free polynomials would fit the noise, or ignore C altogether: the
    /// exact solver then uses [`Polynomials::Penalized`] or [`Polynomials::Constant`], whichever has the lower
    /// leave-one-out loss; on bases and under a time limit it is [`Polynomials::Penalized`].
    #[default]
    Auto,
    /// Unpenalized, as in the paper.
    Free,
    /// The constant is unpenalized. The other polynomials are penalized by the sum of their squared coefficients, a
    /// monomial of degree m in units of s^(b/2 − m) for a kernel of degree b and the root mean square distance s
    /// between samples: for r² log r a pure number, so that no length scale enters.
    Penalized,
    /// Only the constant remains, unpenalized.
    Constant,
    /// All are dropped: a support vector machine without intercept with a positive definite kernel.
    None,
}

named!("polynomials": Polynomials {
    "auto" = Polynomials::Auto,
    "free" = Polynomials::Free,
    "penalized" = Polynomials::Penalized,
    "constant" = Polynomials::Constant,
    "none" = Polynomials::None,
});

/// The polynomials at the samples, √w P = Q diag(s) Vᵀ with orthonormal Q.
pub(crate) fn span(polynomials: &Matrix) -> Result<Svd> {
    Svd::new(polynomials, MIN_POLYNOMIAL).ok_or_else(overflow)
}

/// The error for samples with non-finite kernel values.
pub(crate) fn overflow() -> Error {
    let problem = "its values on these samples are not finite: the differences of samples are too large for double \
                   precision, scale them down";
    Error::similarity("thin plate kernel", problem)
}

/// G = (I − QQᵀ)Φ(I − QQᵀ), positive semi-definite, and B = ΦQ, from which Φ can be recovered.
#[derive(Debug)]
pub(crate) struct Projected {
    pub kernel: Matrix,
    pub cross: Matrix,
    /// True if G is only rounding: the polynomials interpolate every sample.
    pub flat: bool,
}

/// Projects the kernel matrix in place.
///
/// # Errors
/// [`Error::Parameter`] for non-finite values.
pub(crate) fn project(phi: Matrix, q: &Matrix) -> Result<Projected> {
    let mut kernel = phi;
    let n = kernel.n_rows();
    let size = (kernel.values().iter().map(|x| x * x).sum::<f64>()).sqrt() / n as f64;
    if !size.is_finite() {
        return Err(overflow());
    }
    if q.n_cols() == 0 {
        return Ok(Projected { kernel, cross: Matrix::zeros(n, 0), flat: size == 0.0 });
    }
    let cross = project_off(&mut kernel, q);
    let flat = q.n_cols() == n || trace(&kernel) <= MIN_PROJECTED_KERNEL * size * n as f64;
    Ok(Projected { kernel, cross, flat })
}

/// The trace.
pub(crate) fn trace(matrix: &Matrix) -> f64 {
    (0..matrix.n_rows()).map(|i| matrix.at(i, i)).sum()
}

/// Converts coefficients of the positive definite kernel to α.
#[derive(Debug)]
pub(crate) struct Definite {
    /// T = G⁺(I − QQᵀ)B.
    feature_map: Matrix,
}

impl Definite {
    /// The kernel of { Φα : Pᵀα = 0 } with norm αᵀΦα: K₀ = G + QCᵀ + CQᵀ + Q(CᵀG⁺C)Qᵀ with C = (I − QQᵀ)B, stored in
    /// place of G; equal to Φ − P(PᵀΦ⁻¹P)⁻¹Pᵀ, but from a positive definite factorization. It is shared by all classes
    /// and all C. Also returns the functions that the space loses with each sample.
    pub fn new(projected: Projected, q: &Matrix) -> Result<(Self, Matrix, Removals)> {
        let Projected { mut kernel, cross, .. } = projected;
        let middle = product(Side::Transposed(q), Side::Plain(&cross));
        let off = minus_product(&cross, q, &middle, 1.0);
        let cholesky = filled_factor(&kernel, q)?;
        let mut feature_map = off.clone();
        cholesky.solve_lower(&mut feature_map);
        let corner = product(Side::Transposed(&feature_map), Side::Plain(&feature_map));
        cholesky.solve_lower_transposed(&mut feature_map);
        let norms = removal_norms(&cholesky, q);
        drop(cholesky);
        let along = product(Side::Transposed(q), Side::Plain(&feature_map));
        let feature_map = minus_product(&feature_map, q, &along, 1.0);

        let half = minus_product(&off, q, &corner, -0.5);
        add_lower_product(&mut kernel, 1.0, Side::Plain(q), Side::Transposed(&half));
        add_lower_product(&mut kernel, 1.0, Side::Plain(&half), Side::Transposed(q));
        kernel.mirror_lower();
        // The gᵢ with α_i = ⟨f, gᵢ⟩ are the columns of K₀G⁺ = I − QQᵀ + QTᵀ.
        let mut off = q.clone();
        add_scaled(off.values_mut(), -1.0, feature_map.values());
        let functions = identity_minus(q, Side::Transposed(&off));
        Ok((Definite { feature_map }, kernel, Removals { functions, norms }))
    }

    /// The result if the polynomials interpolate every sample: no kernel part.
    pub fn nothing(n: usize, rank: usize) -> Self {
        Definite { feature_map: Matrix::zeros(n, rank) }
    }

    /// α of f = K₀v: α = v − QQᵀv + T Qᵀv, for which Φα = K₀v and Pᵀα = 0.
    pub fn coefficients(&self, q: &Matrix, v: &[f64]) -> Vec<f64> {
        let along = q.transposed_times(v);
        let mut alpha = v.to_vec();
        add_scaled(&mut alpha, -1.0, &q.times(&along));
        add_scaled(&mut alpha, 1.0, &self.feature_map.times(&along));
        alpha
    }
}

/// The factorization of G made definite along Q, whose results are projected off Q again.
///
/// # Errors
/// [`Error::Parameter`] if G is not positive semi-definite up to rounding.
pub(crate) fn filled_factor(kernel: &Matrix, q: &Matrix) -> Result<Cholesky> {
    let n = kernel.n_rows();
    let unit = trace(kernel) / n as f64;
    // Terms added elsewhere only safeguard the pivots of duplicate samples.
    let mut guard = 1e-14 * unit;
    loop {
        let mut filled = kernel.clone();
        add_lower_product(&mut filled, unit, Side::Plain(q), Side::Transposed(q));
        (0..n).for_each(|i| filled.set(i, i, filled.at(i, i) + guard));
        match Cholesky::new(filled) {
            Some(cholesky) => return Ok(cholesky),
            None if guard < 1e-6 * unit => guard *= 10.0,
            None => return Err(overflow()),
        }
    }
}

/// ‖gᵢ‖² = (G⁺)_ii; 0 for a sample with a polynomial of its own, with which no function is lost.
fn removal_norms(cholesky: &Cholesky, q: &Matrix) -> Vec<f64> {
    let n = q.n_rows();
    let mut off = identity_minus(q, Side::Transposed(q));
    let norms: Vec<f64> = (0..n).map(|i| off.at(i, i)).collect();
    cholesky.solve_lower(&mut off);
    (0..n).map(|i| if norms[i] > MIN_POLYNOMIAL { off.col(i).iter().map(|x| x * x).sum() } else { 0.0 }).collect()
}

/// I − a · b.
fn identity_minus(a: &Matrix, b: Side<'_>) -> Matrix {
    let mut out = product(Side::Plain(a), b);
    out.values_mut().iter_mut().for_each(|x| *x = -*x);
    (0..out.n_rows()).for_each(|i| out.set(i, i, out.at(i, i) + 1.0));
    out
}

/// a − scale · b · c.
fn minus_product(a: &Matrix, b: &Matrix, c: &Matrix, scale: f64) -> Matrix {
    let mut out = a.clone();
    add_product(&mut out, -scale, Side::Plain(b), Side::Plain(c));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::factor::dot;

    /// Some v with K v = g.
    fn least_squares(kernel: &Matrix, g: &[f64]) -> Vec<f64> {
        let svd = Svd::new(kernel, 1e-10).unwrap();
        let parts = svd.u.transposed_times(g).into_iter().zip(&svd.s).map(|(x, s)| x / s).collect::<Vec<_>>();
        svd.v.times(&parts)
    }

    #[test]
    fn names() {
        for name in ["auto", "free", "penalized", "constant", "none"] {
            assert_eq!(name.parse::<Polynomials>().unwrap().to_string(), name);
        }
        assert!("full".parse::<Polynomials>().is_err());
    }

    #[test]
    fn projection_and_definite_kernel() {
        // −|x − y| on the line with constants: Φα = K₀v for the α of any v.
        let x: Vec<f64> = (0..12).map(|i| (1.9 * f64::from(i)).sin() * 3.0).collect();
        let n = x.len();
        let phi: Vec<f64> = (0..n * n).map(|at| -(x[at / n] - x[at % n]).abs()).collect();
        let phi = Matrix::from_columns(phi, n, n);
        let svd = span(&Matrix::from_columns(vec![1.0; n], n, 1)).unwrap();
        let projected = project(phi.clone(), &svd.u).unwrap();
        assert!(!projected.flat);
        assert!(projected.kernel.times(&vec![1.0; n]).iter().all(|x| x.abs() < 1e-12));
        let (definite, kernel, removals) = Definite::new(projected, &svd.u).unwrap();
        let v: Vec<f64> = (0..n).map(|i| (0.7 * i as f64).cos()).collect();
        let alpha = definite.coefficients(&svd.u, &v);
        assert!(alpha.iter().sum::<f64>().abs() < 1e-12);
        for (a, b) in phi.times(&alpha).iter().zip(kernel.times(&v)) {
            assert!((a - b).abs() < 1e-10, "{a} {b}");
        }
        // α_i = ⟨f, gᵢ⟩ = gᵢᵀv, and gᵢ as a function has the coefficients whose i-th is its squared norm.
        for (i, alpha) in alpha.iter().enumerate() {
            let g = removals.functions.col(i);
            assert!((dot(g, &v) - alpha).abs() < 1e-10);
            let own = definite.coefficients(&svd.u, &least_squares(&kernel, g));
            assert!((own[i] - removals.norms[i]).abs() < 1e-8 * removals.norms[i], "{} {}", own[i], removals.norms[i]);
        }
    }
}
