//! Sums over the rows where a loss curves, updated as these rows change.

use super::factor::Factor;
use super::residual_sums::{Change, Products};
use crate::error::Result;
use crate::linalg::factor::Matrix;

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
