//! When coordinate descent stops.

use crate::error::{Result, require, require_gap};

/// Settings of coordinate descent, in the dual or by weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DescentSettings {
    /// Relative duality gap, (objective − dual) / objective, at which a problem is solved; in (0, 1).
    pub tol: f64,
    /// The maximum number of passes over the rows, or the features; at least 1.
    pub max_epochs: u32,
    /// Seed of the order of the rows; features have none.
    pub seed: u64,
    /// Number of threads, 0 meaning one per core. Results do not depend on it.
    pub threads: usize,
}

impl Default for DescentSettings {
    fn default() -> Self {
        DescentSettings { tol: 1e-3, max_epochs: 1000, seed: 0, threads: 0 }
    }
}

impl DescentSettings {
    /// Refuses values that cannot be.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter).
    pub(super) fn check(&self) -> Result<()> {
        require_gap(self.tol, "0.001")?;
        require(self.max_epochs > 0, "max_iter", "0", "at least 1")
    }
}
