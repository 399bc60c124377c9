//! What Newton's method is asked, where it starts, and how it ended.

use super::certificate;
use crate::solve::{Report, Stage, Status};

/// When the solver stops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewtonSettings {
    /// Relative duality gap, (objective − dual) / objective, at which a problem is solved; in (0, 1). Scores are
    /// single precision: below about 1e-6 the gap may not be reached.
    pub tol: f64,
    /// The most Newton steps. A problem whose gap has not fallen in ten steps, because arithmetic allows no more,
    /// also ends as if they had run out.
    pub max_iter: u32,
    /// Which preconditioner.
    pub preconditioner: Preconditioning,
    /// Threads that factor the preconditioner, 0 meaning one a core; those of the passes are the objective's.
    pub threads: usize,
}

impl Default for NewtonSettings {
    fn default() -> Self {
        NewtonSettings { tol: 1e-3, max_iter: 100, preconditioner: Preconditioning::Auto, threads: 0 }
    }
}

/// Which matrix stands for the Hessian in conjugate gradients. It changes speed only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Preconditioning {
    /// The factored Gram matrix once products have cost as much as it would, or at once where it is cheap.
    #[default]
    Auto,
    /// Always the factored Gram matrix, up to 16,384 features (which take 2 GiB); beyond, the diagonal.
    Gram,
    /// Always the Hessian's diagonal.
    Diagonal,
}

/// Where to start.
#[derive(Clone, Copy, Debug)]
pub struct NewtonStart<'a> {
    /// `[problem][feature]`.
    pub weights: &'a [f32],
    /// One a problem.
    pub intercepts: &'a [f64],
}

/// The solved problems. All vectors but `weights` have one element a problem.
#[derive(Clone, Debug, PartialEq)]
pub struct NewtonSolution {
    /// `[problem][feature]`.
    pub weights: Vec<f32>,
    /// 0 where there is no intercept.
    pub intercepts: Vec<f64>,
    /// Newton steps.
    pub iterations: Vec<u32>,
    /// Hessian products.
    pub products: Vec<u32>,
    /// How each problem ended.
    pub status: Vec<Status>,
    /// Objectives ½‖w‖² + Σ c loss, at exactly these weights; scores being single precision, to about 1e-6 of
    /// the value at moderate C and 1e-5 where weights are large.
    pub primal: Vec<f64>,
    /// Lower bounds of the minimum: the best dual objectives met.
    pub dual: Vec<f64>,
    /// Rows with a dual variable above 0.
    pub n_support: Vec<u32>,
    /// Passes over Φ for Hessian products; each served all problems then unsolved.
    pub passes: u32,
    /// Gram matrices factored.
    pub n_factors: u32,
}

impl NewtonSolution {
    /// Relative duality gap of one problem: (objective − minimum) / objective is at most this.
    pub fn gap(&self, k: usize) -> f64 {
        certificate::relative_gap(self.primal[k], self.dual[k])
    }

    /// The account of the fit, with a warning where a problem did not converge.
    pub fn report(&self, stages: Vec<Stage>, settings: &NewtonSettings) -> Report {
        let gaps = (0..self.primal.len()).map(|k| self.gap(k)).collect();
        let (iterations, objectives) = (self.iterations.clone(), (&self.primal[..], &self.dual[..]));
        let mut report = Report::of(&self.status, iterations, objectives, gaps, self.n_support.clone(), stages);
        let at_limit = format!("after {} Newton steps (raise max_iter or tol)", report.max_iterations());
        report.warn_unless_converged(&at_limit, Some(settings.tol));
        report
    }
}
