//! Bases of samples that workers hold, and the features on them.

use serde::{Deserialize, Serialize};

use super::bases::{Placed, SAMPLES_PER_BASIS, ThinPlateBasis, choose};
use super::kernel_blocks::dense_rows;
use super::spline_basis::{SplineBasis, first_sums, lifted};
use super::stream::{ColumnMoments, draw_rows};
use crate::data::Rows;
use crate::error::{Error, Result};
use crate::linalg::factor::Matrix;
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::partition::{Kind, Query, SampleRows, part_query};
use crate::solve::thin_plate::{FeatureMap, FirstSums, Settled};
use crate::tuning::FIRST_SAMPLES_PER_BASIS;

part_query! {
    /// [`ColumnMoments::of`] as a query.
    pub(crate) SampleRows: ColumnSumsOf "column_sums" {} -> ColumnMoments {}
    |_, part, _| ColumnMoments::of(&part.rows(), part.weights), |_, total, next| total.merge(&next)
}

part_query! {
    /// [`first_sums`] as a query.
    pub(crate) SampleRows: FirstSumsOf "first_sums" {
        /// The basis, as bytes that any machine makes it of.
        plan: Vec<u8>
    } -> FirstSums {}
    |query, part, _| SplineBasis::from_bytes(&query.plan)?.on_part(&part.rows(), part.weights, first_sums),
    |_, total, next| total.add(next)
}

/// The rows of weight above 0 that bases are chosen among, ascending: the first few a basis for `index`, since
/// some may be equal, else `SAMPLES_PER_BASIS` drawn for each.
pub fn basis_candidates(weights: &[f64], choice: ThinPlateBasis, n_basis: usize, seed: u64) -> Vec<usize> {
    match choice {
        ThinPlateBasis::Index => {
            let present = (0..weights.len()).filter(|&row| weights[row] > 0.0);
            present.take(n_basis.saturating_mul(FIRST_SAMPLES_PER_BASIS)).collect()
        }
        _ => draw_rows(weights, n_basis.saturating_mul(SAMPLES_PER_BASIS), seed),
    }
}

/// Selects at most `n_basis` distinct bases among some samples, all of weight above 0: row-major, and the indices
/// of these samples (empty for k-means).
///
/// # Errors
/// [`Error::Value`] for a non-finite number.
pub fn choose_bases(
    samples: &impl Rows,
    weights: &[f64],
    choice: ThinPlateBasis,
    n_basis: usize,
    seed: u64,
    threads: usize,
) -> Result<(Vec<f64>, Vec<usize>)> {
    let all: Vec<usize> = (0..samples.n_rows()).collect();
    let rows = dense_rows(samples, &all, samples.n_cols())?;
    let placed = Placed { rows: &rows, n_features: samples.n_cols(), weights, first_come: &all };
    choose(choice, n_basis, placed, seed, &Pool::new(threads)?)
}

/// A kernel on bases, with its polynomials and the map to features.
#[derive(Clone, Debug)]
pub struct BasisPlan {
    pub(super) basis: SplineBasis,
    pub(super) feature_map: FeatureMap,
}

/// The coefficients that turn kernel values and polynomials of samples into features.
#[derive(Clone, Debug)]
pub struct PartLift {
    /// Number of penalized features, which come first: the bases and the penalized polynomials.
    pub n_penalized: usize,
    /// S of the penalized polynomials Sᵀp, column-major.
    pub penalized: Vec<f64>,
    /// T of the unpenalized features Tᵀp, column-major.
    pub columns: Vec<f64>,
    /// The multiples of each unpenalized feature that are subtracted from the others, column-major, or none of them;
    /// `None` for the unpenalized features alone.
    pub cross: Option<Vec<f64>>,
}

impl BasisPlan {
    /// About bases³ / 3 flops.
    ///
    /// # Errors
    /// [`Error::Parameter`] where the kernel or its polynomials cannot be used on these bases.
    pub(super) fn new(basis: SplineBasis) -> Result<Self> {
        let feature_map = basis.feature_map(&Pool::new(1)?, &Monitor::none())?;
        Ok(BasisPlan { basis, feature_map })
    }

    /// As bytes, for another machine.
    ///
    /// # Errors
    /// None that is known.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.basis.to_bytes()
    }

    /// The plan of these bytes.
    ///
    /// # Errors
    /// [`Error::Parameter`] for bytes that are no plan, or of bases that the kernel cannot be used on.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        BasisPlan::new(SplineBasis::from_bytes(bytes)?)
    }

    /// The features of the samples of weight above 0, times √w, penalized ones first: row-major.
    ///
    /// # Errors
    /// [`Error::Value`] for a non-finite number, [`Error::Shape`] for coefficients of another plan.
    pub fn features(&self, samples: &impl Rows, weights: &[f64], lift: &PartLift) -> Result<Vec<f64>> {
        let (penalized, columns) =
            (self.columns("penalized", &lift.penalized)?, self.columns("columns", &lift.columns)?);
        let (b, q) = (self.basis.n_bases(), columns.n_cols());
        let map = match &lift.cross {
            None => self.feature_map.only_polynomials(columns),
            Some(cross) if !cross.is_empty() && cross.len() != b * q => {
                return Err(misfit("cross", cross.len(), b * q));
            }
            Some(cross) => {
                let cross = (!cross.is_empty()).then(|| Matrix::from_columns(cross.clone(), b, q));
                FeatureMap { penalized, columns, cross, ..self.feature_map.clone() }
            }
        };
        self.basis.on_part(samples, weights, |raw, rows| lifted(raw, rows, &map))
    }

    fn columns(&self, what: &str, columns: &[f64]) -> Result<Matrix> {
        let m = self.basis.space.n_monomials();
        let q = columns.len().checked_div(m).unwrap_or(0);
        if m * q != columns.len() {
            return Err(misfit(what, columns.len(), m * q));
        }
        Ok(Matrix::from_columns(columns.to_vec(), m, q))
    }
}

impl PartLift {
    /// That of the settled polynomials.
    pub(super) fn of(settled: &Settled) -> Self {
        PartLift {
            n_penalized: settled.n_penalized(),
            penalized: settled.penalized.values().to_vec(),
            columns: settled.columns.values().to_vec(),
            cross: Some(if settled.is_free { settled.cross.values().to_vec() } else { Vec::new() }),
        }
    }
}

fn misfit(what: &str, found: usize, expected: usize) -> Error {
    Error::shape(what, format!("{found} numbers"), expected.to_string())
}
