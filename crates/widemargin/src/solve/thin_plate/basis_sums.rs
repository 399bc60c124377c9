//! The sums and steps of a fit on bases over distributed samples.

use serde::{Deserialize, Serialize};

use super::basis_queries::BasisRows;
use super::basis_visits::BasisVisits;
use super::batched_newton::{BatchedNewton, Enough};
use super::feature_map::FeatureMap;
use super::log::Log;
use super::newton::{Lambdas, Stop};
use super::path::{Run, walk};
use super::polynomials::{Polynomials, overflow, span};
use super::row_sums::RowsShape;
use super::settings::{Fitted, WhyNotFree, settle_auto};
use crate::error::{Error, Result};
use crate::linalg;
use crate::linalg::factor::{Matrix, Side, Svd, product, stacked, triangle};
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::partition::Executor;
use crate::problem::{Loss, SmoothLoss};
use crate::tuning::MAX_STEPS_TO_SEPARATE;

/// Mean loss below which data count as separated.
const MAX_LOSS_OF_SEPARATED_DATA: f64 = 1e-12;

/// Sums over the samples for the polynomials: R with RᵀR = PᵀWP, and ΦWP.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct FirstSums {
    /// R, upper triangular, with at most as many rows as columns; empty if there were no samples.
    triangle: Matrix,
    /// ΦWP, bases × polynomials.
    cross: Matrix,
}

impl FirstSums {
    /// Those of a block: `phi` bases × samples and `polynomials` polynomials × samples, both times √w.
    pub fn of(phi: &Matrix, polynomials: &Matrix) -> Self {
        let cross = product(Side::Plain(phi), Side::Transposed(polynomials));
        FirstSums { triangle: triangle(polynomials.transposed()), cross }
    }

    /// Adds those of other samples.
    pub fn add(&mut self, other: FirstSums) {
        if self.triangle.values().is_empty() {
            *self = other;
        } else if !other.triangle.values().is_empty() {
            self.triangle = triangle(stacked(&self.triangle, &other.triangle));
            linalg::add(self.cross.values_mut(), other.cross.values());
        }
    }
}

/// The results of the first sums, including the treatment of the polynomials.
#[derive(Clone, Debug)]
pub(crate) struct Settled {
    basis: Svd,
    /// F U of the features F and the polynomials' span U.
    pub cross: Matrix,
    total: f64,
    /// S of the penalized polynomials Sᵀp.
    pub penalized: Matrix,
    /// T of the unpenalized features Tᵀp.
    pub columns: Matrix,
    /// Whether these are all the polynomials, which are then projected out of the penalized features.
    pub is_free: bool,
    polynomials: Polynomials,
    why: Option<WhyNotFree>,
}

impl Settled {
    /// Resolves `auto` like the in-memory fit, for `n` samples of weight above 0 whose sum is `total`, with the weights
    /// of the polynomials if they are penalized; `separates` returns whether free ones, the columns of T, separate a
    /// problem ([`rows_separate`]).
    pub fn new(
        sums: &FirstSums,
        feature_map: &FeatureMap,
        (n, total): (usize, f64),
        (requested, spreads): (Polynomials, &[f64]),
        separates: impl FnOnce(&Matrix) -> Result<bool>,
    ) -> Result<Self> {
        let (n_bases, m, cross) = (feature_map.n_bases(), sums.triangle.n_cols(), sums.cross.values());
        if cross.len() != n_bases * m {
            let (found, expected) = (format!("{} numbers", cross.len()), format!("{n_bases} bases × {m} polynomials"));
            return Err(Error::shape("sums over the samples", found, expected));
        }
        let basis = span(&sums.triangle)?;
        // F U = L⁻¹(I − QQᵀ) ΦWP · V diag(s)⁻¹.
        let mut cross = Matrix::from_columns(cross.to_vec(), n_bases, m);
        feature_map.penalize(&mut cross);
        let (free, _) = unpenalized(Polynomials::Free, &basis.s, &basis.v, total);
        let cross = product(Side::Plain(&cross), Side::Plain(&free));
        let (polynomials, why) = settle_auto(requested, n, basis.s.len(), || separates(&free))?;
        let penalized = penalized(polynomials, spreads);
        let (columns, is_free) = unpenalized(polynomials, &basis.s, &basis.v, total);
        Ok(Settled { basis, cross, total, penalized, columns, is_free, polynomials, why })
    }

    /// Of plain features with the constant as the only polynomial, which is not penalized, or with none: from the
    /// features' mean over samples of this total weight.
    pub fn of_plain(mean: &[f64], total: f64, has_intercept: bool) -> Self {
        let (root, columns) =
            (total.sqrt(), Matrix::from_columns(vec![1.0; usize::from(has_intercept)], 1, usize::from(has_intercept)));
        let one = |value| Matrix::from_columns(vec![value], 1, 1);
        Settled {
            basis: Svd { u: Matrix::zeros(0, 1), s: vec![root], v: one(1.0) },
            cross: Matrix::from_columns(mean.iter().map(|mean| root * mean).collect(), mean.len(), 1),
            total,
            penalized: Matrix::zeros(1, 0),
            columns,
            is_free: false,
            polynomials: if has_intercept { Polynomials::Constant } else { Polynomials::None },
            why: None,
        }
    }

    /// Rank of the polynomials at the samples.
    pub fn rank(&self) -> usize {
        self.basis.s.len()
    }

    /// Number of penalized features.
    pub fn n_penalized(&self) -> usize {
        self.cross.n_rows() + self.penalized.n_cols()
    }

    /// Number of unpenalized features.
    pub fn n_free(&self) -> usize {
        self.columns.n_cols()
    }

    /// Σ over the samples of the squares of their penalized polynomials, from PᵀWP = V diag(s²) Vᵀ.
    fn penalized_squares(&self) -> f64 {
        let along = product(Side::Transposed(&self.basis.v), Side::Plain(&self.penalized));
        let one = |col: usize| along.col(col).iter().zip(&self.basis.s).map(|(x, s)| x * x * s * s).sum::<f64>();
        (0..along.n_cols()).map(one).sum()
    }

    /// The bases' feature map with the chosen polynomials.
    pub fn feature_map(&self, feature_map: FeatureMap) -> FeatureMap {
        let cross = self.is_free.then(|| self.cross.clone());
        FeatureMap { penalized: self.penalized.clone(), columns: self.columns.clone(), cross, ..feature_map }
    }
}

/// T of the unpenalized features Tᵀp, for √W P = U diag(s) Vᵀ; and whether these are all the polynomials, which are
/// then projected out of the penalized features.
fn unpenalized(polynomials: Polynomials, s: &[f64], v: &Matrix, total: f64) -> (Matrix, bool) {
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
fn penalized(polynomials: Polynomials, spreads: &[f64]) -> Matrix {
    let columns: Vec<usize> = match polynomials {
        Polynomials::Penalized => (0..spreads.len()).filter(|&k| spreads[k] > 0.0).collect(),
        _ => Vec::new(),
    };
    let mut out = Matrix::zeros(spreads.len(), columns.len());
    columns.iter().enumerate().for_each(|(at, &k)| out.set(k, at, spreads[k].sqrt()));
    out
}

/// Whether the unpenalized features of rows alone separate a problem; `total` is the sum of all weights.
///
/// # Errors
/// Errors of the rows; [`Error::Cancelled`].
pub(crate) fn rows_separate(
    (rows, shape): (&mut impl Executor<BasisRows>, RowsShape),
    total: f64,
    (pool, monitor): (&Pool, &Monitor<'_>),
) -> Result<bool> {
    let starts = vec![0.0; shape.width() * shape.n_problems];
    let losses = vec![SmoothLoss::new(Loss::SquaredHinge); shape.n_problems];
    let mut batched_newton = BatchedNewton::new((rows, shape), losses, pool)?;
    let enough = MAX_LOSS_OF_SEPARATED_DATA * total;
    let stop = Stop { max_steps: MAX_STEPS_TO_SEPARATE, tol: 0.0 };
    batched_newton.enough = Enough::Loss(enough);
    let ended = batched_newton.minimize(Lambdas::new(0.0, 1.0), &starts, stop, monitor)?;
    Ok(ended.is_some() && batched_newton.sums.iter().any(|sums| sums.loss <= enough))
}

/// The fit over rows, wherever they are, whose features were computed by the map with the settled polynomials.
pub(crate) fn fit_rows(
    (rows, shape): (&mut impl Executor<BasisRows>, RowsShape),
    (settled, feature_map): (&Settled, &FeatureMap),
    mut log: Option<Log<'_>>,
    run: Run<'_>,
) -> Result<Fitted> {
    let losses = run.settings.losses.of_problems(shape.n_problems);
    let mut batched_newton = BatchedNewton::new((rows, shape), losses, run.pool)?;
    if run.settings.losses.losses[0].loss != Loss::SquaredHinge {
        // Unpenalized features have norm 1 over all rows, or are the constant alone.
        let of_norm_1 = 1.0 / settled.total.sqrt();
        let is_constant = settled.columns.n_cols() == 1;
        batched_newton.column = if is_constant { settled.columns.at(0, 0) } else { of_norm_1 };
    }
    let (flat, unit) = match log.as_ref().and_then(|log| log.record.unit) {
        Some(known) => known,
        None => {
            let all = batched_newton.begin()?;
            // The features' part along the polynomials.
            let along: f64 = settled.cross.values().iter().map(|x| x * x).sum();
            let trace = all - settled.penalized_squares();
            // Compared with all squares, since the result of a subtraction has at least their rounding errors.
            let (spread, squares) = if settled.is_free { (trace, all + along) } else { (trace - along, all) };
            if !spread.is_finite() {
                return Err(overflow());
            }
            // Whether nothing is left for the kernel, and the mean of its projected diagonal.
            let flat = spread <= 1e-12 * squares;
            (flat, if flat { 1.0 } else { spread / settled.total })
        }
    };
    if let Some(log) = &mut log {
        log.record.unit = Some((flat, unit));
    }
    let unit = unit * run.settings.typical_weight;
    let mut visits = BasisVisits { batched_newton, run, log, fold_points: Vec::new() };
    let origins = visits.origins();
    let mut outcome = walk(&mut visits, &origins, (run.settings, unit), run.monitor)?;
    if run.settings.is_by_folds() {
        let lambda = outcome.best.point.lambda;
        visits.solve_selected(Lambdas::new(lambda * unit, lambda), &mut outcome.best)?;
        let selected = outcome.path.iter_mut().filter(|point| point.lambda == lambda);
        selected.for_each(|point| point.clone_from(&outcome.best.point));
    }
    let (alpha, beta) =
        outcome.coefficients(|point| feature_map.coefficients(&[&point.coefficients[..], &point.free].concat()));
    let Settled { polynomials, why, .. } = *settled;
    Ok(Fitted { alpha, beta, polynomials, why, rank: settled.rank(), flat, outcome })
}
