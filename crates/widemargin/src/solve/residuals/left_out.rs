//! Residuals of left-out samples by one Newton step from the solution.
//!
//! Without one copy of sample i, of weight u, the gradient at the solution is C u loss′(r_i)(φ_i, 1), and with the others
//! curving as they do, the Hessian lacks C u loss″(r_i)(φ_i, 1)(φ_i, 1)ᵀ. With the leverage l = (φ_i, 1)ᵀH⁻¹(φ_i, 1) the
//! residual of the refit is r_i + C u loss′ l / (1 − C u loss″ l): exact where the refit moves no other sample over a corner
//! of the loss, and for the squared loss always.

use super::loss::Rounded;
use super::newton::{State, Task};
use crate::error::Result;

/// A sample with 1 − C u loss″ l below this is met whatever the others say: leave-one-out says nothing there.
const LOST: f64 = 1e-9;

/// The residual of each row by the fit without one copy of it, whose weight is its `unit`; infinite where leave-one-out
/// says nothing. The state is at the solution of a loss that is not rounded.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
pub(super) fn left_out(
    task: &Task<'_>,
    rounded: Rounded,
    c: f64,
    units: &[f64],
    state: &mut State,
) -> Result<Vec<f64>> {
    let residuals = task.residuals(&state.point);
    let at = |row: usize| rounded.at(residuals[row], 0.0);
    let is_active = (0..residuals.len()).map(|row| task.weights[row] > 0.0 && at(row).curvature > 0.0).collect();
    let Some(factor) = task.factor(rounded, c, is_active, state)? else {
        return Ok(vec![f64::INFINITY; residuals.len()]);
    };
    // Those that do not pull are not missed.
    let pulling: Vec<usize> = (0..residuals.len()).filter(|&row| at(row).pull != 0.0).collect();
    let leverages = task.rows.leverages(&factor, &pulling, task.pool, task.monitor)?;
    let mut left = residuals.clone();
    for (&row, leverage) in pulling.iter().zip(leverages) {
        let (at, weight) = (at(row), c * units[row] * leverage);
        let kept = 1.0 - weight * at.curvature;
        left[row] = if kept > LOST { residuals[row] + weight * at.pull / kept } else { f64::INFINITY };
    }
    Ok(left)
}
