//! The exact fit: projects the kernel off the polynomials, decides how they are treated, walks the path, and converts
//! the solution to α and β.
//!
//! Samples enter with the square root of their weight, √W Φ √W and √W P, so that weights are equivalent to copies in
//! every quantity, including the unit of λ.

use super::basis_sums::rows_separate;
use super::block_sums::{RowData, RowsState};
use super::exact::Exact;
use super::exact_visits::ExactVisits;
use super::local::Local;
use super::part_rows::with_rows;
use super::path::{Outcome, Problems, Run, walk};
use super::polynomials::{Definite, Polynomials, Projected, overflow, project, span, trace};
use super::settings::{Fitted, settle_auto};
use super::system::Point;
use crate::error::Result;
use crate::linalg::factor::{Matrix, Side, add_product, add_scaled, dot};
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::problem::RowFeatures;

/// α and β of a problem.
type Coefficients = (Vec<f64>, Vec<f64>);

/// Fits √W Φ √W (`phi`, symmetric, samples × samples) and √W P (`values`, samples × monomials, the constant first);
/// `spreads` has the weight of each monomial in the kernel of penalized polynomials, Σ weight p(x) p(y).
pub(crate) fn fit_exact(
    phi: Matrix,
    (values, spreads): (&Matrix, &[f64]),
    problems: &Problems<'_>,
    run: Run<'_>,
) -> Result<Fitted> {
    let Run { settings, pool, monitor } = run;
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

    let separates = || separate(&basis.u, problems, pool, monitor);
    let (polynomials, why) = settle_auto(settings.polynomials, n, rank, separates)?;
    let fitted = |polynomials, outcome: Outcome, one: &dyn Fn(&Point) -> Coefficients| {
        let (mut alpha, beta) = outcome.coefficients(one);
        for alpha in &mut alpha {
            alpha.iter_mut().zip(problems.weights).for_each(|(a, w)| *a *= w.sqrt());
        }
        Fitted { alpha, beta, polynomials, why, rank, flat, outcome }
    };
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
            let outcome = solve(&system, unit, problems, run)?;
            // Scores are √WΦ√W a + Q(γ − Bᵀa); Q = √W P V diag(s)⁻¹ takes the second part to β.
            let one = |point: &Point| {
                let mut left = point.free.clone();
                add_scaled(&mut left, -1.0, &cross.transposed_times(&point.coefficients));
                left.iter_mut().zip(&basis.s).for_each(|(left, s)| *left /= s);
                (point.coefficients.clone(), basis.v.times(&left))
            };
            return Ok(fitted(polynomials, outcome, &one));
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
            let mut scaled = values.clone();
            for (k, spread) in spreads.iter().enumerate() {
                scaled.col_mut(k).iter_mut().for_each(|x| *x *= spread.sqrt());
            }
            if flat {
                unit = scaled.values().iter().map(|x| x * x).sum::<f64>() / total;
            }
            add_product(&mut kernel, 1.0, Side::Plain(&scaled), Side::Transposed(&scaled));
        }
        let columns =
            if polynomials == Polynomials::None { Matrix::zeros(n, 0) } else { unit_column(problems.weights) };
        let system = Exact::new(kernel, columns, removals);
        let outcome = solve(&system, unit, problems, run)?;
        // In a tie the later one: penalized rather than dropped.
        if best.as_ref().is_none_or(|(_, best)| outcome.is_at_most(best)) {
            best = Some((polynomials, outcome));
        }
        (kernel, removals) = (system.kernel, system.removals);
    }
    let (polynomials, outcome) = best.ok_or_else(overflow)?;
    let one = |point: &Point| {
        let (v, mut beta) = (&point.coefficients, vec![0.0; values.n_cols()]);
        if polynomials == Polynomials::Penalized {
            beta.iter_mut().zip(spreads).enumerate().for_each(|(k, (b, weight))| *b = weight * dot(values.col(k), v));
        }
        if let Some(gamma) = point.free.first() {
            beta[0] += gamma / total.sqrt();
        }
        (definite.coefficients(&basis.u, v), beta)
    };
    Ok(fitted(polynomials, outcome, &one))
}

/// Walks the path of one system.
fn solve(system: &Exact, unit: f64, problems: &Problems<'_>, run: Run<'_>) -> Result<Outcome> {
    if !(unit > 0.0 && unit.is_finite()) {
        return Err(overflow());
    }
    let origins: Vec<Point> = match &run.settings.start[..] {
        [] => vec![system.origin(); problems.targets.n_problems()],
        start => start.iter().map(|point| system.point_of(point)).collect(),
    };
    let settings = (run.settings, unit * run.settings.typical_weight);
    walk(&mut ExactVisits::new(system, problems, run), &origins, settings, run.monitor)
}

/// Whether the polynomials, which span the columns of `u`, alone separate a problem.
fn separate(u: &Matrix, problems: &Problems<'_>, pool: &Pool, monitor: &Monitor<'_>) -> Result<bool> {
    let (features, roots) = (u.transposed().into_values(), problems.roots());
    let (targets, units) = (problems.targets.into(), problems.units);
    let features = RowFeatures::Weighted { values: &features, width: u.n_cols(), n_penalized: 0 };
    let rows = (features, RowData { targets, roots: &roots, units });
    let total = problems.weights.iter().sum();
    let work = |rows: &mut Local<'_>| {
        let shape = rows.shape();
        rows_separate((rows, shape), total, (pool, monitor))
    };
    Ok(with_rows(rows, RowsState::default(), (pool, monitor), work)?.0)
}

/// √w as a column of norm 1: the constant function among weighted scores.
pub(crate) fn unit_column(weights: &[f64]) -> Matrix {
    let norm = weights.iter().sum::<f64>().sqrt();
    Matrix::from_columns(weights.iter().map(|w| w.sqrt() / norm).collect(), weights.len(), 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::factor::Svd;
    use crate::problem::OneVsRest;

    fn answer(points: &[f64], codes: &[u32]) -> bool {
        let (n, pool) = (codes.len(), Pool::new(1).unwrap());
        let columns = Matrix::from_columns(points.iter().copied().chain(vec![1.0; n]).collect(), n, 2);
        let (svd, ones) = (Svd::new(&columns, 1e-10).unwrap(), vec![1.0; n]);
        let problems = Problems { targets: OneVsRest::new(codes, 2), weights: &ones, units: &ones };
        separate(&svd.u, &problems, &pool, &Monitor::none()).unwrap()
    }

    #[test]
    fn a_line_cut_once_is_separated_and_cut_twice_is_not() {
        assert!(answer(&[0.0, 1.0, 1.01, 2.0, 5.0, 9.0], &[1, 1, 0, 0, 0, 0]));
        assert!(!answer(&[0.0, 1.0, 1.01, 2.0, 5.0, 9.0], &[1, 1, 0, 0, 0, 1]));
        assert!(!answer(&[0.0, 1.0, 1.0, 2.0], &[1, 1, 0, 0]));
    }
}
