//! The fit on landmarks: features whose inner product is the projected kernel between landmarks, then the
//! same path as the exact fit.

use super::exact_fit::{FitSettings, Fitted, ask, settle, unit_column};
use super::landmarks::Landmarks;
use super::null_space::{NullSpace, filled_factor, project, span};
use super::path::{Candidate, PathSettings, Problems, walk};
use super::system::Target;
use crate::error::Result;
use crate::linalg::factor::{Cholesky, Matrix, Side, Svd, add_product, add_scaled, dot, product};
use crate::par::Pool;
use crate::solve::Status;
use crate::watch::Watch;

/// The kernel and the polynomials at landmarks z and samples x.
pub(crate) struct LandmarkBlocks {
    /// Φ(z, z).
    pub between: Matrix,
    /// Φ(z, x) √W, a column a sample.
    pub to_samples: Matrix,
    /// P(z).
    pub polynomials: Matrix,
    /// √W P(x).
    pub sample_polynomials: Matrix,
}

/// Fits f = Σ α_j φ(·, z_j) + Σ β_m p_m with P(z)ᵀα = 0; [`Fitted::alpha`] is on the landmarks.
pub(crate) fn fit_landmarks(
    blocks: LandmarkBlocks,
    problems: &Problems<'_>,
    settings: &FitSettings,
    pool: &Pool,
    watch: &Watch<'_>,
) -> Result<Fitted> {
    let LandmarkBlocks { between, to_samples, polynomials, sample_polynomials } = blocks;
    let n_columns = polynomials.n_cols();
    let at_landmarks = span(&polynomials)?;
    let projected = project(between, &at_landmarks.u)?;
    let flat = projected.flat;
    // α = (I − QQᵀ)L⁻ᵀt has αᵀΦα = ‖t‖² for LLᵀ the projected kernel: the features are L⁻¹(I − QQᵀ)Φ(z, x).
    let lift = if flat { None } else { Some(filled_factor(&projected.kernel, &at_landmarks.u)?) };
    drop(projected);
    let features = features(to_samples, lift.as_ref(), &at_landmarks.u);
    ask(watch, "features")?;

    let basis = span(&sample_polynomials)?;
    let rank = basis.s.len();
    let cross = product(Side::Plain(&features), Side::Plain(&basis.u));
    let squares = |matrix: &Matrix| matrix.values().iter().map(|x| x * x).sum::<f64>();
    let spread = squares(&features) - squares(&cross);
    let flat = flat || spread <= 1e-12 * squares(&features);
    let unit = if flat { 1.0 } else { spread / problems.weights.iter().sum::<f64>() };

    let (null_space, separated) = settle(settings.null_space, &basis, problems, watch)?;
    let n_penalised = features.n_rows();
    let free = null_space == NullSpace::Free || rank == 0;
    let columns = match null_space {
        NullSpace::Constant if rank > 0 => unit_column(problems.weights),
        NullSpace::None => Matrix::zeros(features.n_cols(), 0),
        _ => basis.u.clone(),
    };
    let system = Landmarks::new(stacked(features, &columns, free.then_some(&cross)), n_penalised);
    let path = PathSettings { c: settings.c, unit, stop: settings.stop };
    let outcome = walk(&system, problems, &path, pool, watch)?;

    let (mut alpha, mut beta) = (Vec::new(), Vec::new());
    for solution in &outcome.best.solutions {
        let (t, gamma) = (&solution.point.coefficients, &solution.point.free);
        alpha.push(landmark_coefficients(t, lift.as_ref(), &at_landmarks.u));
        beta.push(polynomial_coefficients(t, gamma, free, &basis, &cross, n_columns, problems.weights));
    }
    let dual = duals(&system, &outcome.best, problems);
    Ok(Fitted { alpha, beta, null_space, separated, rank, flat, dual, outcome })
}

/// L⁻¹(I − QQᵀ)Φ, in place; zero where the landmarks leave nothing for the kernel.
fn features(to_samples: Matrix, lift: Option<&Cholesky>, q: &Matrix) -> Matrix {
    let Some(cholesky) = lift else {
        return Matrix::zeros(to_samples.n_rows(), to_samples.n_cols());
    };
    // In place: this is the largest matrix of the fit.
    let mut features = to_samples;
    if q.n_cols() > 0 {
        let along = product(Side::Transposed(q), Side::Plain(&features));
        add_product(&mut features, -1.0, Side::Plain(q), Side::Plain(&along));
    }
    cholesky.solve_lower(&mut features);
    features
}

/// The features over the unpenalised columns, the former less their part along the latter where `cross` tells
/// it: a change of variables that makes the Hessian well conditioned.
fn stacked(features: Matrix, columns: &Matrix, cross: Option<&Matrix>) -> Matrix {
    let (b, q, n) = (features.n_rows(), columns.n_cols(), features.n_cols());
    let mut out = Matrix::zeros(b + q, n);
    let mut row = vec![0.0; q];
    for i in 0..n {
        row.iter_mut().enumerate().for_each(|(k, x)| *x = columns.at(i, k));
        let (top, bottom) = out.col_mut(i).split_at_mut(b);
        top.copy_from_slice(features.col(i));
        bottom.copy_from_slice(&row);
        if let Some(cross) = cross {
            row.iter().enumerate().for_each(|(k, x)| add_scaled(top, -x, cross.col(k)));
        }
    }
    out
}

/// α = (I − QQᵀ)L⁻ᵀt.
fn landmark_coefficients(t: &[f64], lift: Option<&Cholesky>, q: &Matrix) -> Vec<f64> {
    let Some(cholesky) = lift else { return vec![0.0; t.len()] };
    let mut alpha = Matrix::from_columns(t.to_vec(), t.len(), 1);
    cholesky.solve_lower_transposed(&mut alpha);
    let along = q.transposed_times(alpha.col(0));
    add_scaled(alpha.col_mut(0), -1.0, &q.times(&along));
    alpha.col(0).to_vec()
}

/// β of the unpenalised part, and of what the features' change of variables took along.
fn polynomial_coefficients(
    t: &[f64],
    gamma: &[f64],
    free: bool,
    basis: &Svd,
    cross: &Matrix,
    n_columns: usize,
    weights: &[f64],
) -> Vec<f64> {
    let mut beta = vec![0.0; n_columns];
    if free {
        let mut left = gamma.to_vec();
        add_scaled(&mut left, -1.0, &cross.transposed_times(t));
        for (k, left) in left.iter().enumerate() {
            add_scaled(&mut beta, left / basis.s[k], basis.v.col(k));
        }
    } else if let Some(gamma) = gamma.first() {
        beta[0] = gamma / weights.iter().sum::<f64>().sqrt();
    }
    beta
}

/// The dual objective at a = y (√w − y z)₊ / λ: 2λ Σ y_i a_i √w_i − λ‖Σ a_i x_i‖² − λ² Σ a_i², times C.
fn duals(system: &Landmarks, best: &Candidate, problems: &Problems<'_>) -> Vec<f64> {
    let (lambda, targets) = (best.lambda, problems.targets());
    let roots: Vec<f64> = problems.weights.iter().map(|w| w.sqrt()).collect();
    let one = |(problem, solution): (usize, &super::newton::Solution<()>)| {
        if solution.status != Status::Converged {
            // Not feasible: all that is known is that a loss is at least 0.
            return 0.0;
        }
        let signs: Vec<f64> = (0..roots.len()).map(|i| targets.sign(i, problem)).collect();
        let target = Target { signs: &signs, roots: &roots };
        let slack: Vec<f64> = (0..roots.len()).map(|i| target.slack(&solution.point.scores, i).max(0.0)).collect();
        let pushed: Vec<f64> = slack.iter().zip(&signs).map(|(slack, sign)| slack * sign / lambda).collect();
        let sum = system.penalised_sum(&pushed);
        let linear: f64 = slack.iter().zip(&roots).map(|(slack, root)| slack * (2.0 * root - slack)).sum();
        0.5 / lambda * (linear - lambda * dot(&sum, &sum))
    };
    best.solutions.iter().enumerate().map(one).collect()
}
