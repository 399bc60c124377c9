//! The sums and steps of a fit on bases over distributed samples.

use serde::{Deserialize, Serialize};

use super::basis_fit::{penalized, unit_of, unpenalized};
use super::basis_visits::BasisVisits;
use super::batched_newton::BatchedNewton;
use super::feature_map::FeatureMap;
use super::log::Log;
use super::newton::{Lambdas, Stop};
use super::path::{Run, walk};
use super::polynomials::{Polynomials, span};
use super::row_sums::RowSums;
use super::settings::{Fitted, WhyNotFree, settle_auto};
use crate::error::{Error, Result};
use crate::linalg::factor::{Matrix, Side, Svd, product, stacked, triangle};
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::tuning::MAX_STEPS_TO_SEPARATE;

/// Mean loss below which data count as separated.
const MAX_LOSS_OF_SEPARATED_DATA: f64 = 1e-12;

/// Sums over the samples for the polynomials: R with RᵀR = PᵀWP, and ΦWP.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FirstSums {
    /// Number of columns of R: the polynomials.
    pub n_polynomials: usize,
    /// R, column-major, upper triangular, with at most as many rows as columns.
    pub triangle: Vec<f64>,
    /// ΦWP, column-major, bases × polynomials; empty if there were no samples.
    pub cross: Vec<f64>,
}

impl FirstSums {
    /// Merges both.
    #[must_use]
    pub fn merged(&self, other: &FirstSums) -> FirstSums {
        if self.cross.is_empty() && self.triangle.is_empty() {
            return other.clone();
        }
        let both = stacked(&self.matrix(), &other.matrix());
        let cross = match other.cross.is_empty() {
            true => self.cross.clone(),
            false => self.cross.iter().zip(&other.cross).map(|(a, b)| a + b).collect(),
        };
        FirstSums { triangle: triangle(both).into_values(), cross, ..*self }
    }

    fn matrix(&self) -> Matrix {
        let m = self.n_polynomials;
        Matrix::from_columns(self.triangle.clone(), self.triangle.len().checked_div(m).unwrap_or(0), m)
    }

    fn cross(&self, n_bases: usize) -> Result<Matrix> {
        let m = self.n_polynomials;
        if self.cross.len() != n_bases * m {
            let (found, expected) =
                (format!("{} numbers", self.cross.len()), format!("{n_bases} bases × {m} polynomials"));
            return Err(Error::shape("sums over the samples", found, expected));
        }
        Ok(Matrix::from_columns(self.cross.clone(), n_bases, m))
    }
}

/// For a block: `phi` bases × samples and `polynomials` polynomials × samples, both times √w.
pub(crate) fn first_sums(phi: &Matrix, polynomials: &Matrix) -> FirstSums {
    FirstSums {
        n_polynomials: polynomials.n_rows(),
        triangle: triangle(polynomials.transposed()).into_values(),
        cross: product(Side::Plain(phi), Side::Transposed(polynomials)).into_values(),
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
        let basis = span(&sums.matrix())?;
        // F U = L⁻¹(I − QQᵀ) ΦWP · V diag(s)⁻¹.
        let mut cross = sums.cross(feature_map.n_bases())?;
        feature_map.penalize(&mut cross);
        let (free, _) = unpenalized(Polynomials::Free, &basis.s, &basis.v, total);
        let cross = product(Side::Plain(&cross), Side::Plain(&free));
        let (polynomials, why) = settle_auto(requested, n, basis.s.len(), || separates(&free))?;
        let penalized = penalized(polynomials, spreads);
        let (columns, is_free) = unpenalized(polynomials, &basis.s, &basis.v, total);
        Ok(Settled { basis, cross, total, penalized, columns, is_free, polynomials, why })
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

/// Whether the unpenalized features of rows alone separate a problem; `total` is the sum of all weights.
///
/// # Errors
/// Errors of the rows; [`Error::Cancelled`].
pub fn rows_separate(rows: &mut dyn RowSums, total: f64, threads: usize, monitor: &Monitor<'_>) -> Result<bool> {
    let shape = rows.shape();
    let starts = vec![0.0; shape.width() * shape.n_problems];
    let pool = Pool::new(threads)?;
    let mut batched_newton = BatchedNewton::new(rows, &pool);
    let enough = MAX_LOSS_OF_SEPARATED_DATA * total;
    let stop = Stop { max_steps: MAX_STEPS_TO_SEPARATE, tol: 0.0 };
    let ended = batched_newton.minimize(Lambdas::new(0.0, 1.0), &starts, stop, Some(enough), monitor)?;
    Ok(ended.is_some() && batched_newton.sums.iter().any(|sums| sums.loss <= enough))
}

/// The fit over rows, wherever they are, whose features were computed by the map with the settled polynomials.
pub(crate) fn fit_rows(
    rows: &mut dyn RowSums,
    (settled, feature_map): (&Settled, &FeatureMap),
    mut log: Option<Log<'_>>,
    run: Run<'_>,
) -> Result<Fitted> {
    let mut batched_newton = BatchedNewton::new(rows, run.pool);
    let (flat, unit) = match log.as_ref().and_then(|log| log.record.unit) {
        Some(known) => known,
        None => {
            let all = batched_newton.begin()?;
            // The features' part along the polynomials.
            let along: f64 = settled.cross.values().iter().map(|x| x * x).sum();
            let trace = all - settled.penalized_squares();
            // Compared with all squares, since the result of a subtraction has at least their rounding errors.
            let (spread, squares) = if settled.is_free { (trace, all + along) } else { (trace - along, all) };
            unit_of(spread, squares, settled.total)?
        }
    };
    if let Some(log) = &mut log {
        log.record.unit = Some((flat, unit));
    }
    let unit = unit * run.settings.typical_weight;
    let mut visits = BasisVisits { batched_newton, run, log };
    let origins = visits.origins();
    let outcome = walk(&mut visits, &origins, (run.settings, unit), run.monitor)?;
    let (alpha, beta) =
        outcome.coefficients(|point| feature_map.coefficients(&[&point.coefficients[..], &point.free].concat()));
    let Settled { polynomials, why, .. } = *settled;
    Ok(Fitted { alpha, beta, polynomials, why, rank: settled.rank(), flat, outcome })
}
