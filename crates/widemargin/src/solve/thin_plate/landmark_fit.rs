//! The fit on landmarks: features whose inner product is the projected kernel between landmarks, then the
//! same path as the exact fit.

use super::exact_fit::{FitSettings, Fitted, ask, settle, unit_column};
use super::feature_blocks::{FeatureBlocks, Raw, Seen, Source};
use super::landmarks::Landmarks;
use super::null_space::{NullSpace, filled_factor, overflow, project, span};
use super::path::{Candidate, PathSettings, Problems, walk};
use super::system::Target;
use crate::error::Result;
use crate::linalg::factor::{Cholesky, Matrix, Svd, add_scaled, dot};
use crate::par::Pool;
use crate::solve::Status;
use crate::watch::Watch;

/// The kernel and the polynomials at landmarks z and samples x.
pub(crate) struct LandmarkBlocks<'a> {
    /// Φ(z, z).
    pub between: Matrix,
    /// Φ(z, x) √W of some samples.
    pub to_samples: &'a Source<'a>,
    /// P(z).
    pub polynomials: Matrix,
    /// √W P(x).
    pub sample_polynomials: Matrix,
    /// Blocks of features that are held; the others are computed anew at every pass.
    pub n_held: usize,
}

/// The features, computed once and held as far as was asked for, and what was settled on the way.
pub(crate) struct LandmarkFit<'a> {
    raw: Raw<'a>,
    seen: Seen,
    basis: Svd,
    n_columns: usize,
    flat: bool,
    unit: f64,
}

impl<'a> LandmarkFit<'a> {
    /// Goes over all samples once.
    pub fn prepare(
        blocks: LandmarkBlocks<'a>,
        problems: &Problems<'_>,
        pool: &Pool,
        watch: &Watch<'_>,
    ) -> Result<Self> {
        let LandmarkBlocks { between, to_samples, polynomials, sample_polynomials, n_held } = blocks;
        let (n_columns, n_landmarks) = (polynomials.n_cols(), between.n_rows());
        let at_landmarks = span(&polynomials)?.u;
        let projected = project(between, &at_landmarks)?;
        // α = (I − QQᵀ)L⁻ᵀt has αᵀΦα = ‖t‖² for LLᵀ the projected kernel: the features are L⁻¹(I − QQᵀ)Φ(z, x).
        let lift = if projected.flat { None } else { Some(filled_factor(&projected.kernel, &at_landmarks)?) };
        drop(projected);
        ask(watch, "features")?;

        let basis = span(&sample_polynomials)?;
        let n_samples = problems.codes.len();
        let raw = Raw { source: to_samples, n_samples, n_landmarks, lift, at_landmarks };
        let seen = raw.seen(&basis.u, n_held, pool)?;
        let along: f64 = seen.cross.values().iter().map(|x| x * x).sum();
        let spread = seen.squares - along;
        if !spread.is_finite() {
            return Err(overflow());
        }
        let flat = raw.lift.is_none() || spread <= 1e-12 * seen.squares;
        let unit = if flat { 1.0 } else { spread / problems.weights.iter().sum::<f64>() };
        Ok(LandmarkFit { raw, seen, basis, n_columns, flat, unit })
    }

    /// Fits f = Σ α_j φ(·, z_j) + Σ β_m p_m with P(z)ᵀα = 0; [`Fitted::alpha`] is on the landmarks.
    pub fn solve(
        self,
        problems: &Problems<'_>,
        settings: &FitSettings,
        pool: &Pool,
        watch: &Watch<'_>,
    ) -> Result<Fitted> {
        let LandmarkFit { raw, seen, basis, n_columns, flat, unit } = self;
        let rank = basis.s.len();
        let (null_space, separated) = settle(settings.null_space, &basis, problems, watch)?;
        let free = null_space == NullSpace::Free || rank == 0;
        let columns = match null_space {
            NullSpace::Constant if rank > 0 => unit_column(problems.weights),
            NullSpace::None => Matrix::zeros(problems.codes.len(), 0),
            _ => basis.u.clone(),
        };
        let Seen { cross, held, .. } = seen;
        let features = FeatureBlocks::new(raw, held, columns, free.then(|| cross.clone()), pool);
        let system = Landmarks::new(features, pool);
        let path = PathSettings { c: settings.c, unit, stop: settings.stop };
        let outcome = walk(&system, problems, &path, pool, watch)?;

        let (mut alpha, mut beta) = (Vec::new(), Vec::new());
        for solution in &outcome.best.solutions {
            let (t, gamma) = (&solution.point.coefficients, &solution.point.free);
            let features = system.features();
            alpha.push(landmark_coefficients(t, features.lift(), features.at_landmarks()));
            beta.push(polynomial_coefficients(t, gamma, free, &basis, &cross, n_columns, problems.weights));
        }
        let dual = duals(&system, &outcome.best, problems);
        Ok(Fitted { alpha, beta, null_space, separated, rank, flat, dual, outcome })
    }
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
fn duals(system: &Landmarks<'_>, best: &Candidate, problems: &Problems<'_>) -> Vec<f64> {
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
