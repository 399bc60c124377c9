//! Sums over the rows of a fit.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::linalg::factor::dot;
use crate::tuning::POWER_ITERATIONS;

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
