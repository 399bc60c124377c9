//! Sums over the rows where a loss curves, updated as these rows change, and the factor of the Hessian.

use serde::{Deserialize, Serialize};

use super::residual_sums::{Change, Products};
use crate::error::Result;
use crate::linalg::factor::{Cholesky, Matrix, add_scaled, dot};

/// Σ v (φ, 1)(φ, 1)ᵀ over the active rows.
pub(super) struct ActiveGram {
    is_active: Vec<bool>,
    sums: Products,
    /// Σ v.
    corner: f64,
}

impl ActiveGram {
    /// Without active rows.
    pub fn new(n_rows: usize, n_features: usize) -> Self {
        ActiveGram { is_active: vec![false; n_rows], sums: Products::of(n_features), corner: 0.0 }
    }

    /// Makes these rows the active ones. `add` changes the sums by the rows that changed, or by all if they are fewer.
    ///
    /// # Errors
    /// Those of `add`.
    pub fn set<T>(
        &mut self,
        is_active: Vec<bool>,
        weights: &[f64],
        add: impl FnOnce(Change<'_>) -> Result<T>,
    ) -> Result<T> {
        let active = || (0..is_active.len()).filter(|&row| is_active[row]);
        let mut rows: Vec<usize> = (0..is_active.len()).filter(|&row| is_active[row] != self.is_active[row]).collect();
        if rows.len() >= active().count() {
            self.clear();
            rows = active().collect();
        }
        let coefficient = |&row: &usize| if is_active[row] { weights[row] } else { -weights[row] };
        let coefficients: Vec<f64> = rows.iter().map(coefficient).collect();
        let found = add(Change { sums: &mut self.sums, rows: &rows, coefficients: &coefficients })?;
        let (added, removed): (Vec<f64>, Vec<f64>) = coefficients.into_iter().partition(|v| *v > 0.0);
        added.iter().chain(&removed).for_each(|v| self.corner += v);
        self.is_active = is_active;
        Ok(found)
    }

    /// Forgets all rows, and with them the rounding of those that were removed.
    pub fn clear(&mut self) {
        *self = ActiveGram::new(self.is_active.len(), self.sums.column.len());
    }

    /// The factor for κ; `None` if rounding made the matrix indefinite.
    pub fn factor(&self, kappa: f64, has_intercept: bool) -> Option<Factor> {
        let d = self.sums.column.len();
        let is_free = has_intercept && self.is_active.iter().any(|active| *active);
        let free = is_free
            .then(|| (self.sums.column.iter().map(|sum| sum / self.corner).collect::<Vec<f64>>(), kappa * self.corner));
        let mut matrix = Matrix::zeros(d, d);
        for i in 0..d {
            for j in 0..=i {
                let mut value = self.sums.lower[i * d + j];
                if let Some((mean, _)) = &free {
                    value -= self.sums.column[i] * mean[j];
                }
                matrix.set(i, j, kappa * value + f64::from(u8::from(i == j)));
            }
        }
        Factor::new(matrix, free)
    }
}

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
