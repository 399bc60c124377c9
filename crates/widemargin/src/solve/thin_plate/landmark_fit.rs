//! The fit on landmarks: features whose inner product is the projected kernel between landmarks, then the
//! same path as the exact fit.

use super::batched_newton::BatchedNewton;
use super::block_sums::RowFacts;
use super::exact_fit::{FitSettings, Fitted, ask, settle, unit_column};
use super::feature_blocks::{FeatureBlocks, Seen, Source};
use super::feature_map::FeatureMap;
use super::landmark_visits::LandmarkVisits;
use super::local::{Blocks, Local};
use super::null_space::{NullSpace, filled_factor, overflow, project, span};
use super::path::{Outcome, PathSettings, Problems, walk};
use crate::error::Result;
use crate::linalg::factor::{Matrix, Side, Svd, beside, product};
use crate::monitor::Monitor;
use crate::par::Pool;

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
    /// The weight of each polynomial if they are penalised.
    pub spreads: Vec<f64>,
    /// Number of cached blocks of features; the others are recomputed in every pass.
    pub n_held: usize,
}

/// The features, computed once and cached as far as requested, and how the polynomials are treated.
pub(crate) struct LandmarkFit<'a> {
    blocks: FeatureBlocks<'a>,
    seen: Seen,
    basis: Svd,
    sample_polynomials: Matrix,
    spreads: Vec<f64>,
    flat: bool,
    unit: f64,
}

impl<'a> LandmarkFit<'a> {
    /// Computes all features once.
    pub fn prepare(
        blocks: LandmarkBlocks<'a>,
        problems: &Problems<'_>,
        pool: &Pool,
        monitor: &Monitor<'_>,
    ) -> Result<Self> {
        let LandmarkBlocks { between, to_samples, polynomials, sample_polynomials, spreads, n_held } = blocks;
        let feature_map = feature_map_of(between, &polynomials)?;
        ask(monitor, "features")?;
        let basis = span(&sample_polynomials)?;
        let mut blocks = FeatureBlocks::new(to_samples, problems.codes.len(), feature_map);
        let seen = blocks.see(&basis.u, n_held, pool)?;
        let along: f64 = seen.cross.values().iter().map(|x| x * x).sum();
        let (flat, unit) = unit_of(seen.squares - along, seen.squares, problems.weights.iter().sum())?;
        Ok(LandmarkFit { blocks, seen, basis, sample_polynomials, spreads, flat, unit })
    }

    /// Fits f = Σ α_j φ(·, z_j) + Σ β_m p_m with P(z)ᵀα = 0; [`Fitted::alpha`] is on the landmarks.
    pub fn solve(
        self,
        problems: &Problems<'_>,
        settings: &FitSettings,
        pool: &Pool,
        monitor: &Monitor<'_>,
    ) -> Result<Fitted> {
        let LandmarkFit { blocks, seen, basis, sample_polynomials, spreads, flat, unit } = self;
        let rank = basis.s.len();
        let (null_space, why) = settle(settings.null_space, &basis, problems, monitor)?;
        let total: f64 = problems.weights.iter().sum();
        let columns = match null_space {
            NullSpace::Constant | NullSpace::Penalized if rank > 0 => unit_column(problems.weights),
            NullSpace::None => Matrix::zeros(problems.codes.len(), 0),
            _ => basis.u.clone(),
        };
        let penalised = penalised(null_space, &spreads);
        let (of_polynomials, is_free) = unpenalised(null_space, &basis.s, &basis.v, total);
        let columns = beside(&product(Side::Plain(&sample_polynomials), Side::Plain(&penalised)), &columns);
        drop(sample_polynomials);
        let cross = is_free.then_some(seen.cross);
        let blocks = blocks.with_columns(columns, (penalised, of_polynomials), cross, pool);

        let roots: Vec<f64> = problems.weights.iter().map(|w| w.sqrt()).collect();
        let facts = RowFacts { targets: problems.targets(), roots: &roots, units: problems.units };
        let mut rows = Local::new(blocks, facts, true, pool, monitor);
        let path = PathSettings { c: settings.c, unit, stop: settings.stop };
        let mut visits =
            LandmarkVisits::new(BatchedNewton::new(&mut rows, pool), unit, total, settings.stop, pool, monitor, None);
        let origins = visits.origins();
        let outcome = walk(&mut visits, &origins, &path, monitor)?;
        let (alpha, beta) = translated(&outcome, rows.blocks.feature_map());
        Ok(Fitted { alpha, beta, null_space, why, rank, flat, outcome })
    }
}

/// Built from the kernel and the polynomials at the landmarks; without unpenalised features.
pub(crate) fn feature_map_of(between: Matrix, polynomials: &Matrix) -> Result<FeatureMap> {
    let at_landmarks = span(polynomials)?.u;
    let projected = project(between, &at_landmarks)?;
    // α = (I − QQᵀ)L⁻ᵀt has αᵀΦα = ‖t‖² for LLᵀ the projected kernel: the features are L⁻¹(I − QQᵀ)Φ(z, x).
    let cholesky = if projected.flat { None } else { Some(filled_factor(&projected.kernel, &at_landmarks)?) };
    let none = Matrix::zeros(polynomials.n_cols(), 0);
    Ok(FeatureMap { cholesky, at_landmarks, penalised: none.clone(), columns: none, cross: None })
}

/// Whether nothing is left for the kernel, and the mean of its projected diagonal: from the features' sum of squares,
/// without and with their part along the polynomials, and the sum of all weights.
pub(crate) fn unit_of(spread: f64, squares: f64, total: f64) -> Result<(bool, f64)> {
    if !spread.is_finite() {
        return Err(overflow());
    }
    let flat = spread <= 1e-12 * squares;
    Ok((flat, if flat { 1.0 } else { spread / total }))
}

/// T of the unpenalised features Tᵀp, for √W P = U diag(s) Vᵀ; and whether these are all the polynomials, which are
/// then projected out of the penalised features.
pub(crate) fn unpenalised(null_space: NullSpace, s: &[f64], v: &Matrix, total: f64) -> (Matrix, bool) {
    let (n, rank) = (v.n_rows(), s.len());
    match null_space {
        NullSpace::Constant | NullSpace::Penalized if rank > 0 => {
            let mut constant = Matrix::zeros(n, 1);
            constant.set(0, 0, 1.0 / total.sqrt());
            (constant, false)
        }
        NullSpace::None => (Matrix::zeros(n, 0), rank == 0),
        _ => {
            let mut all = v.clone();
            for (k, s) in s.iter().enumerate() {
                all.col_mut(k).iter_mut().for_each(|x| *x /= s);
            }
            (all, true)
        }
    }
}

/// S of the penalised polynomials Sᵀp: all but the constant, times the root of their weights; empty unless they are
/// penalised.
pub(crate) fn penalised(null_space: NullSpace, spreads: &[f64]) -> Matrix {
    let kept: Vec<usize> = match null_space {
        NullSpace::Penalized => (0..spreads.len()).filter(|&k| spreads[k] > 0.0).collect(),
        _ => Vec::new(),
    };
    let mut out = Matrix::zeros(spreads.len(), kept.len());
    kept.iter().enumerate().for_each(|(at, &k)| out.set(k, at, spreads[k].sqrt()));
    out
}

/// α and β of the best solutions, one vector per problem.
pub(crate) fn translated(outcome: &Outcome, feature_map: &FeatureMap) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
    let one = |solution: &super::path::Solved| {
        feature_map.coefficients(&[&solution.point.coefficients[..], &solution.point.free].concat())
    };
    outcome.best.solutions.iter().map(one).unzip()
}
