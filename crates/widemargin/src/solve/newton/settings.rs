//! Settings, starting point and result of Newton's method.

use super::certificate;
use crate::solve::{Report, Stage, Status};

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

/// The solved problems. All vectors except `weights` have one element per problem.
#[derive(Clone, Debug, PartialEq)]
pub struct NewtonSolution {
    /// `[problem][feature]`.
    pub weights: Vec<f32>,
    /// 0 if there is no intercept.
    pub intercepts: Vec<f64>,
    /// Newton steps.
    pub iterations: Vec<u32>,
    /// Hessian products.
    pub products: Vec<u32>,
    /// How each problem ended.
    pub status: Vec<Status>,
    /// Objectives ½‖w‖² + Σ c loss, at exactly these weights; with single-precision scores, accurate to about 1e-6
    /// relative at moderate C and 1e-5 with large weights.
    pub primal: Vec<f64>,
    /// Lower bounds on the minimum: the best dual objectives found.
    pub dual: Vec<f64>,
    /// Rows with a dual variable above 0.
    pub n_support: Vec<u32>,
    /// Passes over Φ for Hessian products; each serves all unsolved problems.
    pub passes: u32,
    /// Gram matrices factored.
    pub n_factors: u32,
}

impl NewtonSolution {
    /// Relative duality gap of one problem, an upper bound on (objective − minimum) / objective.
    pub fn gap(&self, k: usize) -> f64 {
        certificate::relative_gap(self.primal[k], self.dual[k])
    }

    /// The report of the fit, with a warning if a problem did not converge.
    pub fn report(&self, stages: Vec<Stage>, settings: &NewtonSettings) -> Report {
        let gaps = (0..self.primal.len()).map(|k| self.gap(k)).collect();
        let (iterations, objectives) = (self.iterations.clone(), (&self.primal[..], &self.dual[..]));
        let mut report = Report::of(&self.status, iterations, objectives, gaps, self.n_support.clone(), stages);
        let at_limit = format!("after {} Newton steps (raise max_iter or tol)", report.max_iterations());
        report.warn_unless_converged(&at_limit, Some(settings.tol));
        report
    }
}
