//! The exact fit: project the kernel off the polynomials, settle what becomes of them, walk the path, and
//! translate the solution back to α and β.
//!
//! Samples enter with the square root of their weight, √W Φ √W and √W P, so that a weight is the same as copies
//! in every quantity, the unit of λ included.

use super::exact::Exact;
use super::exact_visits::ExactVisits;
use super::linear::separates;
use super::newton::Stop;
use super::null_space::{Definite, NullSpace, Projected, project, span, trace};
use super::path::{Outcome, PathSettings, Problems, cancelled, walk};
use super::system::{System, Target};
use crate::error::Result;
use crate::linalg::factor::{Matrix, Svd, add_scaled};
use crate::par::Pool;
use crate::watch::{Stopped, Watch};

/// Fewer samples than this many a polynomial are separated by polynomials whatever their labels.
pub(super) const CROWDED: usize = 2;

/// What to solve, but for the matrices.
pub(crate) struct FitSettings {
    pub null_space: NullSpace,
    pub c: Option<f64>,
    pub stop: Stop,
}

/// f(x) = Σ α_i φ(x, x_i) + Σ β_m p_m(x) for each problem, and how it was come by.
pub(crate) struct Fitted {
    /// α, a vector a problem.
    pub alpha: Vec<Vec<f64>>,
    /// β on the columns of P, a vector a problem.
    pub beta: Vec<Vec<f64>>,
    /// What became of the polynomials.
    pub null_space: NullSpace,
    /// The polynomials alone separate a class from the others (known only where `auto` asked).
    pub separated: bool,
    /// Rank of P at the samples.
    pub rank: usize,
    /// The polynomials reach every sample: nothing is left for the kernel.
    pub flat: bool,
    pub outcome: Outcome,
}

/// Fits √W Φ √W (`phi`, symmetric, samples × samples) and √W P (`polynomials`, samples × monomials, the
/// constant first).
pub(crate) fn fit_exact(
    phi: Matrix,
    polynomials: &Matrix,
    problems: &Problems<'_>,
    settings: &FitSettings,
    pool: &Pool,
    watch: &Watch<'_>,
) -> Result<Fitted> {
    let basis = span(polynomials)?;
    let rank = basis.s.len();
    let n = phi.n_rows();
    let mut projected = project(phi, &basis.u)?;
    ask(watch, "project")?;
    let flat = projected.flat;
    if flat {
        projected.kernel = Matrix::zeros(n, n);
    }
    let unit = if flat { 1.0 } else { trace(&projected.kernel) / problems.weights.iter().sum::<f64>() };

    let (null_space, separated) = settle(settings.null_space, &basis, problems, watch)?;
    // Polynomials of degree 0 are the constant: kept or free, it is the same.
    let reduced = rank > 0 && !(null_space == NullSpace::Constant && polynomials.n_cols() == 1);
    let (system, form) = match null_space {
        NullSpace::Constant | NullSpace::None if reduced => {
            let (definite, kernel) =
                if flat { (Definite::nothing(n, rank), projected.kernel) } else { Definite::new(projected, &basis.u)? };
            ask(watch, "project")?;
            let kept =
                if null_space == NullSpace::Constant { unit_column(problems.weights) } else { Matrix::zeros(n, 0) };
            (Exact::new(kernel, kept), Form::Definite(definite))
        }
        _ => {
            let Projected { kernel, cross, .. } = projected;
            (Exact::new(kernel, basis.u.clone()), Form::Free(cross))
        }
    };

    let path = PathSettings { c: settings.c, unit, stop: settings.stop };
    let origins = vec![system.origin(); problems.targets().n_problems()];
    let outcome = walk(&mut ExactVisits::new(&system, problems, &path, pool, watch), &origins, &path, watch)?;
    let (mut alpha, mut beta) = (Vec::new(), Vec::new());
    for solution in &outcome.best.solutions {
        let (v, gamma) = (&solution.point.coefficients, &solution.point.free);
        let (a, b) = form.translate(&basis, v, gamma, polynomials.n_cols(), problems.weights);
        alpha.push(a);
        beta.push(b);
    }
    Ok(Fitted { alpha, beta, null_space, separated, rank, flat, outcome })
}

pub(crate) fn ask(watch: &Watch<'_>, stage: &'static str) -> Result<()> {
    match watch.ask() {
        Err(Stopped::Cancelled) => Err(cancelled(stage)),
        _ => Ok(()),
    }
}

/// Settles `auto`; the answer says also whether the polynomials separate a problem.
pub(crate) fn settle(
    asked: NullSpace,
    basis: &Svd,
    problems: &Problems<'_>,
    watch: &Watch<'_>,
) -> Result<(NullSpace, bool)> {
    let (n, rank) = (problems.codes.len(), basis.s.len());
    if asked != NullSpace::Auto {
        return Ok((asked, false));
    }
    if rank <= 1 {
        return Ok((NullSpace::Free, false));
    }
    let targets = problems.targets();
    let roots: Vec<f64> = problems.weights.iter().map(|w| w.sqrt()).collect();
    for problem in 0..targets.n_problems() {
        ask(watch, "separate")?;
        let signs: Vec<f64> = (0..n).map(|i| targets.sign(i, problem)).collect();
        if separates(&basis.u, Target { signs: &signs, roots: &roots }, watch)? {
            // With few samples a polynomial, dropping the polynomials would leave next to nothing.
            let crowded = n < CROWDED * rank;
            return Ok((if crowded { NullSpace::Free } else { NullSpace::Constant }, true));
        }
    }
    Ok((NullSpace::Free, false))
}

/// √w as a column of norm 1: the constant function among weighted scores.
pub(crate) fn unit_column(weights: &[f64]) -> Matrix {
    let norm = weights.iter().sum::<f64>().sqrt();
    Matrix::from_columns(weights.iter().map(|w| w.sqrt() / norm).collect(), weights.len(), 1)
}

/// How the solver's coefficients become α and β.
enum Form {
    /// With B = √W Φ √W Q.
    Free(Matrix),
    Definite(Definite),
}

impl Form {
    fn translate(
        &self,
        basis: &Svd,
        v: &[f64],
        gamma: &[f64],
        n_columns: usize,
        weights: &[f64],
    ) -> (Vec<f64>, Vec<f64>) {
        let mut beta = vec![0.0; n_columns];
        let mut alpha = match self {
            Form::Free(cross) => {
                // Scores are √WΦ√W a + Q(γ − Bᵀa); Q = √W P V diag(s)⁻¹ takes the second part to β.
                let mut left = gamma.to_vec();
                add_scaled(&mut left, -1.0, &cross.transposed_times(v));
                for (k, left) in left.iter().enumerate() {
                    add_scaled(&mut beta, left / basis.s[k], basis.v.col(k));
                }
                v.to_vec()
            }
            Form::Definite(definite) => {
                if let Some(gamma) = gamma.first() {
                    beta[0] = gamma / weights.iter().sum::<f64>().sqrt();
                }
                definite.coefficients(&basis.u, v)
            }
        };
        alpha.iter_mut().zip(weights).for_each(|(a, w)| *a *= w.sqrt());
        (alpha, beta)
    }
}
