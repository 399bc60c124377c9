//! The solver's interface to the rows, wherever they are.

use serde::{Deserialize, Serialize};

use super::factor::Factor;
use crate::error::Result;
use crate::linalg::factor::dot;
use crate::monitor::Monitor;
use crate::tuning::POWER_ITERATIONS;

/// Rows of features less their weighted mean. Numbers of the rows stay with the solver, in the order of the rows.
///
/// Errors are those of the holder of the rows, and [`Error::Cancelled`](crate::Error::Cancelled).
pub(crate) trait ResidualRows {
    /// Number of rows.
    fn n_rows(&self) -> usize;

    /// Number of features.
    fn n_features(&self) -> usize;

    /// The product of every row with `weights`.
    fn times(&self, weights: &[f64], monitor: &Monitor<'_>) -> Result<Vec<f64>>;

    /// Changes sums over some rows.
    fn add_products(&self, change: Change<'_>, monitor: &Monitor<'_>) -> Result<()>;

    /// The sum of the rows, each times its number, and the change, in a single pass.
    fn transposed_times_and_products(
        &self,
        numbers: &[f64],
        change: Change<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Vec<f64>>;

    /// How large Σ v φφᵀ is.
    fn extent(&self, weights: &[f64], monitor: &Monitor<'_>) -> Result<Extent>;

    /// (φ, 1)ᵀ H⁻¹ (φ, 1) of some rows, in ascending order, with the factor of H.
    fn leverages(&self, factor: &Factor, rows: &[usize], monitor: &Monitor<'_>) -> Result<Vec<f64>>;

    /// The contribution of centering to the intercept.
    fn shift(&self, weights: &[f64]) -> f64;
}

/// Sums over rows.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Products {
    /// The lower triangle of Σ v φφᵀ, row-major.
    pub lower: Vec<f64>,
    /// Σ v φ.
    pub column: Vec<f64>,
}

impl Products {
    /// Of no rows.
    pub fn of(n_features: usize) -> Self {
        Products { lower: vec![0.0; n_features * n_features], column: vec![0.0; n_features] }
    }
}

/// Rows that are added to sums, and rows that are subtracted.
pub(crate) struct Change<'a> {
    pub sums: &'a mut Products,
    /// Ascending.
    pub added: &'a [usize],
    /// Ascending.
    pub removed: &'a [usize],
    /// v, of all rows.
    pub weights: &'a [f64],
}

/// How large Σ v φφᵀ is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    pub trace: f64,
    /// The largest eigenvalue, roughly.
    pub largest: f64,
}

impl Extent {
    /// Of the diagonal of a matrix G, and of xᵀGx and Gx for any x.
    ///
    /// # Errors
    /// Those of the products.
    pub fn new(diagonal: Vec<f64>, mut times: impl FnMut(&[f64]) -> Result<(f64, Vec<f64>)>) -> Result<Self> {
        let trace = diagonal.iter().sum::<f64>();
        let (mut largest, mut direction) = (0.0f64, diagonal);
        if trace.is_nan() || trace <= 0.0 {
            return Ok(Extent { trace, largest });
        }
        for _ in 0..POWER_ITERATIONS {
            let norm = dot(&direction, &direction).sqrt();
            direction.iter_mut().for_each(|x| *x /= norm);
            let (quotient, next) = times(&direction)?;
            largest = largest.max(quotient);
            direction = next;
            if dot(&direction, &direction) == 0.0 {
                break;
            }
        }
        Ok(Extent { trace, largest })
    }
}
