//! The factor of a Hessian.

use serde::{Deserialize, Serialize};

use crate::linalg::factor::{Cholesky, Matrix, add_scaled, dot};

/// The factor of I + κ Σ v φφᵀ, of the features less their mean over the active rows if there is an intercept.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Factor {
    cholesky: Cholesky,
    /// The mean, and κ Σ v; none if the intercept does not move.
    free: Option<(Vec<f64>, f64)>,
}

impl Factor {
    /// The factor of the matrix, and the unpenalized part: the mean over the active rows and κ Σ v. `None` if rounding
    /// made it indefinite.
    pub fn new(matrix: Matrix, free: Option<(Vec<f64>, f64)>) -> Option<Self> {
        Some(Factor { cholesky: Cholesky::new(matrix)?, free })
    }

    /// The solution of a Newton system with the gradient of the weights and of the intercept: minus the Hessian's
    /// inverse times it.
    pub fn direction(&self, gradient: &[f64], of_intercept: f64) -> (Vec<f64>, f64) {
        let mut right = gradient.iter().map(|g| -g).collect::<Vec<f64>>();
        if let Some((mean, _)) = &self.free {
            add_scaled(&mut right, of_intercept, mean);
        }
        let direction = self.cholesky.solve(right);
        let turn = match &self.free {
            Some((mean, corner)) => -of_intercept / corner - dot(mean, &direction),
            None => 0.0,
        };
        (direction, turn)
    }

    /// (φ, 1)ᵀ H⁻¹ (φ, 1) of some rows, which are passed as columns and overwritten.
    pub fn leverages(&self, mut columns: Matrix) -> Vec<f64> {
        if let Some((mean, _)) = &self.free {
            (0..columns.n_cols()).for_each(|at| add_scaled(columns.col_mut(at), -1.0, mean));
        }
        self.cholesky.solve_lower(&mut columns);
        let of_intercept = self.free.as_ref().map_or(0.0, |(_, corner)| 1.0 / corner);
        (0..columns.n_cols()).map(|at| dot(columns.col(at), columns.col(at)) + of_intercept).collect()
    }
}
