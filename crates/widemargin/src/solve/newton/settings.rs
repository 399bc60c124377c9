//! Settings, starting point and result of Newton's method.

use crate::solve::{ProblemReport, Report, Stage};

/// The stopping rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewtonSettings {
    /// Relative duality gap, (objective − dual) / objective, at which a problem is solved; in (0, 1). Scores are single
    /// precision: a gap below about 1e-6 may not be reached.
    pub tol: f64,
    /// The maximum number of Newton steps. A problem whose gap has not fallen in ten steps, because of rounding, ends
    /// with the same status.
    pub max_iter: u32,
    /// The preconditioner.
    pub preconditioner: Preconditioning,
    /// Threads for factoring the preconditioner, 0 meaning one per core; the objective has its own number for passes.
    pub threads: usize,
}

impl Default for NewtonSettings {
    fn default() -> Self {
        NewtonSettings { tol: 1e-3, max_iter: 100, preconditioner: Preconditioning::Auto, threads: 0 }
    }
}

/// The preconditioner of conjugate gradients. It affects speed only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Preconditioning {
    /// The factored Gram matrix once products have cost as much as it would, or at once if it is cheap.
    #[default]
    Auto,
    /// Always the factored Gram matrix, up to 16,384 features (which take 2 GiB); for more, the diagonal.
    Gram,
    /// Always the Hessian's diagonal.
    Diagonal,
}

/// The starting point.
#[derive(Clone, Copy, Debug)]
pub struct NewtonStart<'a> {
    /// `[problem][feature]`.
    pub weights: &'a [f32],
    /// One per problem.
    pub intercepts: &'a [f64],
}

/// The solved problems.
#[derive(Clone, Debug, PartialEq)]
pub struct NewtonSolution {
    /// `[problem][feature]`.
    pub weights: Vec<f32>,
    /// One per problem; 0 if there is no intercept.
    pub intercepts: Vec<f64>,
    /// Of each problem. Objectives are ½‖w‖² + Σ c loss at exactly these weights; with single-precision scores, accurate
    /// to about 1e-6 relative at moderate C and 1e-5 with large weights.
    pub problems: Vec<ProblemReport>,
    /// Passes over Φ for Hessian products; each serves all unsolved problems.
    pub passes: u32,
    /// Gram matrices factored.
    pub n_factors: u32,
}

impl NewtonSolution {
    /// The start of another fit.
    pub fn start(&self) -> NewtonStart<'_> {
        NewtonStart { weights: &self.weights, intercepts: &self.intercepts }
    }

    /// The report of the fit, with a warning if a problem did not converge.
    pub fn report(&self, stages: Vec<Stage>, settings: &NewtonSettings) -> Report {
        Report::of_solver(&self.problems, stages, "Newton steps (raise max_iter or tol)", Some(settings.tol))
    }
}
