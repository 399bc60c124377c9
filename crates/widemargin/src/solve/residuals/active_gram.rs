//! Sums over the rows where a loss curves, kept while these change.

use super::feature_rows::FeatureRows;
use crate::error::Result;
use crate::linalg::factor::{Cholesky, Matrix, add_scaled, dot};
use crate::monitor::Monitor;
use crate::par::Pool;

/// Σ v (φ, 1)(φ, 1)ᵀ over the active rows.
pub(super) struct ActiveGram {
    is_active: Vec<bool>,
    /// The lower triangle of Σ v φφᵀ, row-major.
    lower: Vec<f64>,
    /// Σ v φ.
    column: Vec<f64>,
    /// Σ v.
    corner: f64,
}

/// The factor of I + κ Σ v φφᵀ, of the features less their mean over the active rows if there is an intercept.
pub(super) struct Factor {
    cholesky: Cholesky,
    /// The mean, and κ Σ v; none if the intercept does not move.
    free: Option<(Vec<f64>, f64)>,
}

impl ActiveGram {
    /// Without active rows.
    pub fn new(rows: &FeatureRows<'_>) -> Self {
        let d = rows.n_features();
        ActiveGram { is_active: vec![false; rows.len()], lower: vec![0.0; d * d], column: vec![0.0; d], corner: 0.0 }
    }

    /// Makes these rows the active ones, by the rows that changed if they are fewer.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn set(
        &mut self,
        is_active: Vec<bool>,
        rows: &FeatureRows<'_>,
        weights: &[f64],
        pool: &Pool,
        monitor: &Monitor<'_>,
    ) -> Result<()> {
        let changed = |to: bool| -> Vec<usize> {
            (0..is_active.len()).filter(|&row| is_active[row] == to && self.is_active[row] != to).collect()
        };
        let (added, removed) = (changed(true), changed(false));
        if added.len() + removed.len() >= is_active.iter().filter(|active| **active).count() {
            *self = ActiveGram::new(rows);
            let all: Vec<usize> = (0..is_active.len()).filter(|&row| is_active[row]).collect();
            self.change(&all, 1.0, rows, weights, pool, monitor)?;
        } else {
            self.change(&added, 1.0, rows, weights, pool, monitor)?;
            self.change(&removed, -1.0, rows, weights, pool, monitor)?;
        }
        self.is_active = is_active;
        Ok(())
    }

    /// Forgets all rows, and with them the rounding of those that were removed.
    pub fn clear(&mut self, rows: &FeatureRows<'_>) {
        *self = ActiveGram::new(rows);
    }

    fn change(
        &mut self,
        changed: &[usize],
        sign: f64,
        rows: &FeatureRows<'_>,
        weights: &[f64],
        pool: &Pool,
        monitor: &Monitor<'_>,
    ) -> Result<()> {
        if changed.is_empty() {
            return Ok(());
        }
        let more = rows.gram(changed, weights, pool, monitor)?;
        add_scaled(&mut self.lower, sign, &more);
        let mut row = vec![0.0; rows.n_features()];
        for &at in changed {
            rows.fill(at, &mut row);
            add_scaled(&mut self.column, sign * weights[at], &row);
            self.corner += sign * weights[at];
        }
        Ok(())
    }

    /// The factor for κ; `None` if rounding made the matrix indefinite.
    pub fn factor(&self, kappa: f64, has_intercept: bool) -> Option<Factor> {
        let d = self.column.len();
        let is_free = has_intercept && self.is_active.iter().any(|active| *active);
        let free = is_free
            .then(|| (self.column.iter().map(|sum| sum / self.corner).collect::<Vec<f64>>(), kappa * self.corner));
        let mut matrix = Matrix::zeros(d, d);
        for i in 0..d {
            for j in 0..=i {
                let mut value = self.lower[i * d + j];
                if let Some((mean, _)) = &free {
                    value -= self.column[i] * mean[j];
                }
                matrix.set(i, j, kappa * value + f64::from(u8::from(i == j)));
            }
        }
        Some(Factor { cholesky: Cholesky::new(matrix)?, free })
    }
}

impl Factor {
    /// The solution of a Newton system with the gradient of the weights and of the intercept: minus the Hessian's inverse
    /// times it.
    pub fn direction(&self, gradient: &[f64], of_intercept: f64) -> (Vec<f64>, f64) {
        let mut right = gradient.iter().map(|g| -g).collect::<Vec<f64>>();
        if let Some((mean, _)) = &self.free {
            add_scaled(&mut right, of_intercept, mean);
        }
        let mut side = Matrix::from_columns(right, gradient.len(), 1);
        self.cholesky.solve_lower(&mut side);
        self.cholesky.solve_lower_transposed(&mut side);
        let direction = side.into_values();
        let turn = match &self.free {
            Some((mean, corner)) => -of_intercept / corner - dot(mean, &direction),
            None => 0.0,
        };
        (direction, turn)
    }

    /// (φ, 1)ᵀ H⁻¹ (φ, 1) of some rows, which are given as columns and overwritten.
    pub fn leverages(&self, mut columns: Matrix) -> Vec<f64> {
        if let Some((mean, _)) = &self.free {
            (0..columns.n_cols()).for_each(|at| add_scaled(columns.col_mut(at), -1.0, mean));
        }
        self.cholesky.solve_lower(&mut columns);
        let of_intercept = self.free.as_ref().map_or(0.0, |(_, corner)| 1.0 / corner);
        (0..columns.n_cols()).map(|at| dot(columns.col(at), columns.col(at)) + of_intercept).collect()
    }
}
