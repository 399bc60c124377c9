//! Newton's method in the primal, all one-vs-rest problems at once.
//!
//! Every step solves (I + Σ_i c_i loss″_i φ_i φ_iᵀ)·d = −∇ by conjugate gradients and goes along d to the minimum.
//! What is shared between the problems makes it fast: a pass over Φ serves all that are not solved yet, and one
//! Cholesky factor of I + Σ_i h_i φ_i φ_iᵀ preconditions them all. At w = 0 that factor is the Hessian itself, so
//! the first step of squared hinge is the ridge regression on the labels; where few rows leave the margin it stays
//! close to the Hessian, and a handful of products suffice. At a large C a problem whose active rows are few has its own
//! Hessian inverted through them, and the first steps are taken on a path over C that ends there.
//!
//! Generalised Newton for squared hinge: Keerthi and DeCoste, *A modified finite Newton method*, JMLR 6 (2005);
//! conjugate gradients on sums over rows: Lin, Weng and Keerthi, *Trust region Newton method*, JMLR 9 (2008).
//!
//! A problem is solved when its duality gap says so (`certificate.rs`): the reported gap bounds how far the
//! objective is from its minimum.

mod certificate;
mod conjugate;
mod descent;
mod few_rows;
mod line_search;
mod preconditioner;
mod step;

use crate::error::{Error, Result};
use crate::problem::Objective;
use crate::solve::{Report, Stage, Status, library};
use crate::watch::Watch;

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
        let worst = |a: Status, b: Status| if a == Status::Converged { b } else { a };
        let mut report = Report {
            status: self.status.iter().copied().fold(Status::Converged, worst),
            iterations: self.iterations.clone(),
            objective: self.primal.iter().sum(),
            dual_objective: self.dual.iter().sum(),
            gaps: (0..self.primal.len()).map(|k| self.gap(k)).collect(),
            n_support: self.n_support.clone(),
            stages,
            notes: Vec::new(),
            warnings: Vec::new(),
            library: library(),
        };
        let at_limit = format!("after {} Newton steps (raise max_iter or tol)", report.max_iterations());
        report.warn_unless_converged(&at_limit, Some(settings.tol));
        report
    }
}

/// Minimises every problem of `objective`, from `start` or from 0.
///
/// # Errors
/// [`Error::Parameter`] for settings outside their domain, [`Error::Shape`] for a start that does not fit,
/// [`Error::Cancelled`] where the watch says so (a time limit is a status instead), and what the objective meets.
pub fn solve(
    objective: &mut impl Objective,
    settings: &NewtonSettings,
    start: Option<NewtonStart<'_>>,
    watch: &Watch<'_>,
) -> Result<NewtonSolution> {
    let wrong = |name, value: String, expected: &str| Err(Error::Parameter { name, value, expected: expected.into() });
    if !(settings.tol > 0.0 && settings.tol < 1.0) {
        return wrong("tol", settings.tol.to_string(), "a relative duality gap between 0 and 1, such as 0.001");
    }
    if settings.max_iter == 0 {
        return wrong("max_iter", "0".into(), "at least 1");
    }
    let shape = objective.shape();
    if let Some(start) = start {
        let (found, right) = (start.weights.len(), shape.n_problems * shape.n_features);
        if found != right || start.intercepts.len() != shape.n_problems {
            return Err(Error::Shape {
                what: "start".into(),
                found: format!("{found} weights and {} intercepts", start.intercepts.len()),
                expected: format!("{right} weights (problems × features) and {} intercepts", shape.n_problems),
            });
        }
    }
    descent::run(objective, settings, start, watch)
}
