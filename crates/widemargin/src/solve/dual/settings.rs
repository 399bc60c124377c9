//! When the solvers stop.

/// Settings of the solvers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DualSettings {
    /// Relative duality gap, (objective − dual) / objective, at which a problem is solved; in (0, 1).
    pub tol: f64,
    /// The maximum number of passes over the rows; at least 1.
    pub max_epochs: u32,
    /// Seed of the order of the rows.
    pub seed: u64,
    /// Number of threads, 0 meaning one per core. Results do not depend on it.
    pub threads: usize,
}

impl Default for DualSettings {
    fn default() -> Self {
        DualSettings { tol: 1e-3, max_epochs: 1000, seed: 0, threads: 0 }
    }
}
