//! A warm start of the solver: the solution of an earlier fit.

use crate::solve::newton::NewtonStart;

/// A warm start.
#[derive(Clone)]
pub(crate) struct Start {
    /// `[problem][feature]`.
    pub weights: Vec<f32>,
    pub intercepts: Vec<f64>,
    /// Dual variables, `[problem][row]`, if that fit was on the same rows and found them.
    pub alphas: Vec<f32>,
}

impl Start {
    /// A solution in double precision, without dual variables; weights are `[problem][feature]`.
    pub fn of_problems(weights: &[Vec<f64>], intercepts: Vec<f64>) -> Self {
        let weights = weights.iter().flatten().map(|&weight| weight as f32).collect();
        Start { weights, intercepts, alphas: Vec::new() }
    }

    /// The start of Newton's method.
    pub fn newton(&self) -> NewtonStart<'_> {
        NewtonStart { weights: &self.weights, intercepts: &self.intercepts }
    }
}
