//! Leave-one-out residuals by one Newton step from the solution.
//!
//! Without one copy of sample i, of weight u, the gradient at the solution is C u loss′(r_i)(φ_i, 1), and with the
//! others curving as they do, the Hessian lacks C u loss″(r_i)(φ_i, 1)(φ_i, 1)ᵀ. With the leverage l = (φ_i,
//! 1)ᵀH⁻¹(φ_i, 1) the residual of the refit is r_i + C u loss′ l / (1 − C u loss″ l): exact where the refit moves no
//! other sample over a corner of the loss, and for the squared loss always.

use super::loss::Rounded;
use super::newton::{State, Task};
use crate::error::Result;
use crate::tuning::MIN_RESIDUAL_LEVERAGE;

impl Task<'_, '_> {
    /// The residual of each row by the fit without one copy of it, whose weight is its `unit`; infinite where leave-one-out
    /// is undetermined. The state is at the solution of a loss that is not rounded.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn leave_one_out(&self, rounded: Rounded, c: f64, units: &[f64], state: &mut State) -> Result<Vec<f64>> {
        let residuals = self.residuals(&state.point);
        let at = |row: usize| rounded.at(residuals[row], 0.0);
        let is_active = (0..residuals.len()).map(|row| self.weights[row] > 0.0 && at(row).curvature > 0.0).collect();
        let Some(factor) = self.factor(rounded, c, is_active, state)? else {
            return Ok(vec![f64::INFINITY; residuals.len()]);
        };
        // Without a sample that is no support vector the solution is the same.
        let support: Vec<usize> = (0..residuals.len()).filter(|&row| at(row).dual != 0.0).collect();
        let leverages = self.rows.leverages(&factor, &support, self.monitor)?;
        let mut left = residuals.clone();
        for (&row, leverage) in support.iter().zip(leverages) {
            let (at, weight) = (at(row), c * units[row] * leverage);
            let rest = 1.0 - weight * at.curvature;
            left[row] =
                if rest > MIN_RESIDUAL_LEVERAGE { residuals[row] + weight * at.dual / rest } else { f64::INFINITY };
        }
        Ok(left)
    }
}
