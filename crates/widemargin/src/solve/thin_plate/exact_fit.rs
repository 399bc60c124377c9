//! The exact fit: projects the kernel off the polynomials, decides how they are treated, walks the path, and converts
//! the solution to α and β.
//!
//! Samples enter with the square root of their weight, √W Φ √W and √W P, so that weights are equivalent to copies in
//! every quantity, including the unit of λ.

use super::exact::Exact;
use super::exact_visits::ExactVisits;
use super::linear::separates;
use super::newton::Stop;
use super::path::{Outcome, PathSettings, Problems, Solved, walk};
use super::polynomials::{Definite, Polynomials, Projected, overflow, project, span, trace};
use super::system::{System, Target};
use crate::error::Result;
use crate::linalg::factor::{Matrix, Side, Svd, add_product, add_scaled, dot};
use crate::monitor::Monitor;
use crate::par::Pool;

/// Samples per polynomial from which on `auto` leaves the polynomials free. Each free one costs about 1/n of the
/// variance: at a hundred samples 1 %, where penalizing them costs next to nothing. See decision 0008.
pub(crate) const SAMPLES_PER_FREE_POLYNOMIAL: usize = 100;

/// The settings of a fit.
pub(crate) struct FitSettings {
    pub polynomials: Polynomials,
    pub c: Option<f64>,
    /// The smallest λ of the path in scale-free units, in half decades.
    pub lowest: i32,
    /// A λ near which the best is expected, in scale-free units.
    pub near: Option<f64>,
    /// Whether that is the only one.
    pub stays: bool,
    /// Whether the path is refined at its best point.
    pub refines: bool,
    /// Whether the error at the C selected is estimated by refits.
    pub confirms: bool,
    pub stop: Stop,
}

impl FitSettings {
    /// The path's, for a kernel with this mean diagonal.
    pub fn in_units(&self, unit: f64) -> PathSettings {
        let FitSettings { lowest, near, refines, confirms, stop, .. } = *self;
        let c = self.c.or(near.filter(|_| self.stays).map(|lambda| 0.5 / (lambda * unit)));
        PathSettings { c, unit, lowest, near, refines, confirms, stop }
    }
}

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

/// Fits √W Φ √W (`phi`, symmetric, samples × samples) and √W P (`values`, samples × monomials, the constant first);
/// `spreads` has the weight of each monomial in the kernel of penalized polynomials, Σ weight p(x) p(y).
pub(crate) fn fit_exact(
    phi: Matrix,
    (values, spreads): (&Matrix, &[f64]),
    problems: &Problems<'_>,
    settings: &FitSettings,
    pool: &Pool,
    monitor: &Monitor<'_>,
) -> Result<Fitted> {
    let basis = span(values)?;
    let rank = basis.s.len();
    let n = phi.n_rows();
    let mut projected = project(phi, &basis.u)?;
    monitor.go_on("project")?;
    let flat = projected.flat;
    if flat {
        projected.kernel = Matrix::zeros(n, n);
    }
    let total: f64 = problems.weights.iter().sum();
    let mut unit = if flat { 1.0 } else { trace(&projected.kernel) / total };

    let (polynomials, why) = settle(settings.polynomials, &basis, problems, monitor)?;
    // Polynomials of degree 0 are the constant: both ways are the same.
    let reduced = rank > 0 && (polynomials == Polynomials::None || values.n_cols() > 1);
    let tried = match polynomials {
        Polynomials::Penalized if reduced && why.is_some() && !monitor.has_time_limit() => {
            vec![Polynomials::Constant, Polynomials::Penalized]
        }
        Polynomials::Penalized | Polynomials::Constant | Polynomials::None if reduced => vec![polynomials],
        _ => {
            let Projected { kernel, cross, .. } = projected;
            let system = Exact::new(kernel, basis.u.clone(), None);
            let outcome = solve(&system, unit, problems, settings, pool, monitor)?;
            let form = Form::Free(cross);
            return Ok(fitted(&form, &basis, values, problems, (polynomials, why, flat, outcome)));
        }
    };
    let (definite, mut kernel, mut removals) = if flat {
        (Definite::nothing(n, rank), projected.kernel, None)
    } else {
        let (definite, kernel, removals) = Definite::new(projected, &basis.u)?;
        (definite, kernel, Some(removals))
    };
    monitor.go_on("project")?;
    let mut best: Option<(Polynomials, Outcome)> = None;
    for polynomials in tried {
        if polynomials == Polynomials::Penalized {
            let scaled = scaled_columns(values, spreads);
            if flat {
                unit = scaled.values().iter().map(|x| x * x).sum::<f64>() / total;
            }
            add_product(&mut kernel, 1.0, Side::Plain(&scaled), Side::Transposed(&scaled));
        }
        let columns =
            if polynomials == Polynomials::None { Matrix::zeros(n, 0) } else { unit_column(problems.weights) };
        let system = Exact::new(kernel, columns, removals);
        let outcome = solve(&system, unit, problems, settings, pool, monitor)?;
        // In a tie the later one: penalized rather than dropped.
        if best.as_ref().is_none_or(|(_, best)| outcome.is_at_most(best)) {
            best = Some((polynomials, outcome));
        }
        (kernel, removals) = (system.kernel, system.removals);
    }
    let (polynomials, outcome) = best.ok_or_else(overflow)?;
    let penalized = if polynomials == Polynomials::Penalized { spreads.to_vec() } else { Vec::new() };
    let form = Form::Definite { definite, penalized };
    Ok(fitted(&form, &basis, values, problems, (polynomials, why, flat, outcome)))
}

/// Walks the path of one system.
fn solve(
    system: &Exact,
    unit: f64,
    problems: &Problems<'_>,
    settings: &FitSettings,
    pool: &Pool,
    monitor: &Monitor<'_>,
) -> Result<Outcome> {
    if !(unit > 0.0 && unit.is_finite()) {
        return Err(overflow());
    }
    let path = settings.in_units(unit);
    let origins = vec![system.origin(); problems.targets.n_problems()];
    walk(&mut ExactVisits::new(system, problems, &path, pool, monitor), &origins, &path, monitor)
}

/// Converts the solutions to α and β.
fn fitted(
    form: &Form,
    basis: &Svd,
    values: &Matrix,
    problems: &Problems<'_>,
    (polynomials, why, flat, outcome): (Polynomials, Option<WhyNotFree>, bool, Outcome),
) -> Fitted {
    let one = |solution: &Solved| {
        let (v, gamma) = (&solution.point.coefficients, &solution.point.free);
        form.translate(basis, v, gamma, values, problems.weights)
    };
    let (alpha, beta) = outcome.best.solutions.iter().map(one).unzip();
    Fitted { alpha, beta, polynomials, why, rank: basis.s.len(), flat, outcome }
}

/// Resolves `auto`, and says why if the polynomials are not left free.
pub(crate) fn settle(
    requested: Polynomials,
    basis: &Svd,
    problems: &Problems<'_>,
    monitor: &Monitor<'_>,
) -> Result<(Polynomials, Option<WhyNotFree>)> {
    let n = problems.weights.len();
    settle_auto(requested, n, basis.s.len(), || {
        let targets = problems.targets;
        let roots: Vec<f64> = problems.weights.iter().map(|w| w.sqrt()).collect();
        for problem in 0..targets.n_problems() {
            monitor.go_on("separate")?;
            let signs: Vec<f64> = (0..n).map(|i| targets.sign(i, problem)).collect();
            // Whether they can be separated does not depend on weights, but on which samples there are.
            let is_known = |row: usize| f64::from(u8::from(targets.weight(row, problem) > 0.0));
            let known: Option<Vec<f64>> = (!targets.is_even()).then(|| (0..n).map(is_known).collect());
            let target = Target { signs: &signs, roots: &roots, weights: known.as_deref() };
            if separates(&basis.u, target, monitor)? {
                return Ok(true);
            }
        }
        Ok(false)
    })
}

/// The same for `n` samples and polynomials of this rank, with a function that returns whether they separate a problem.
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

/// Multiplies rows by the square roots of their weights.
pub(super) fn scaled_columns(columns: &Matrix, weights: &[f64]) -> Matrix {
    let mut scaled = columns.clone();
    for (k, weight) in weights.iter().enumerate() {
        scaled.col_mut(k).iter_mut().for_each(|x| *x *= weight.sqrt());
    }
    scaled
}

/// √w as a column of norm 1: the constant function among weighted scores.
pub(crate) fn unit_column(weights: &[f64]) -> Matrix {
    let norm = weights.iter().sum::<f64>().sqrt();
    Matrix::from_columns(weights.iter().map(|w| w.sqrt() / norm).collect(), weights.len(), 1)
}

/// How the solver's coefficients are converted to α and β.
enum Form {
    /// With B = √W Φ √W Q.
    Free(Matrix),
    Definite {
        definite: Definite,
        /// The weights of the monomials if they are penalized, otherwise empty.
        penalized: Vec<f64>,
    },
}

impl Form {
    fn translate(
        &self,
        basis: &Svd,
        v: &[f64],
        gamma: &[f64],
        polynomials: &Matrix,
        weights: &[f64],
    ) -> (Vec<f64>, Vec<f64>) {
        let mut beta = vec![0.0; polynomials.n_cols()];
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
            Form::Definite { definite, penalized } => {
                for (k, weight) in penalized.iter().enumerate() {
                    beta[k] = weight * dot(polynomials.col(k), v);
                }
                if let Some(gamma) = gamma.first() {
                    beta[0] += gamma / weights.iter().sum::<f64>().sqrt();
                }
                definite.coefficients(&basis.u, v)
            }
        };
        alpha.iter_mut().zip(weights).for_each(|(a, w)| *a *= w.sqrt());
        (alpha, beta)
    }
}
