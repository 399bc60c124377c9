//! The linear SVM on the features of an expansion: its solver by loss and penalty.

use crate::data::{DenseView, Labels, Vectors};
use crate::error::Result;
use crate::monitor::Monitor;
use crate::problem::{Block, BlockObjective, Intercept, LinearProblem, Loss, Objective, OneVsRest, Penalty};
use crate::solve::dual::linear;
use crate::solve::l1;
use crate::solve::newton::{self, NewtonSettings, NewtonSolution, NewtonStart};
use crate::solve::{DescentSettings, ProblemReport, Report};
use crate::tuning::SPARSE_EPOCHS;

/// The linear SVM on the features.
#[derive(Clone)]
pub(super) struct Solver {
    pub loss: Loss,
    pub penalty: Penalty,
    pub intercept: Intercept,
    /// Whether the features are centered on the samples.
    pub is_centered: bool,
    pub tol: f64,
    pub max_iter: Option<u32>,
    pub start: Option<Start>,
    pub seed: u64,
    pub threads: usize,
}

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

/// The solution, as stored in the model.
pub(super) struct Solution {
    /// `[problem][feature]`.
    pub weights: Vec<f32>,
    pub intercepts: Vec<f64>,
    /// The intercept's treatment in the problem solved.
    pub intercept: Intercept,
    pub report: Report,
    /// Dual variables, `[problem][row]`; empty where the solver has none.
    pub alphas: Vec<f32>,
}

impl Solver {
    /// Whether a fit without a sample still depends on its features: centered features sum to 0, so that those of the other
    /// samples determine them, unless a free intercept absorbs the shift.
    pub fn depends_on_left_out(&self) -> bool {
        self.is_centered && self.intercept != Intercept::Free
    }

    /// The intercept of fits that are compared by leave-one-out.
    pub fn compared_intercept(&self) -> Intercept {
        if self.is_centered { Intercept::Free } else { self.intercept }
    }

    /// The settings of Newton's method.
    pub fn newton(&self) -> NewtonSettings {
        let default = NewtonSettings::default();
        let max_iter = self.max_iter.unwrap_or(default.max_iter);
        NewtonSettings { tol: self.tol, max_iter, threads: self.threads, ..default }
    }

    /// The settings of coordinate descent.
    fn descent(&self) -> DescentSettings {
        let max_epochs = self.max_iter.unwrap_or(DescentSettings::default().max_epochs);
        DescentSettings { tol: self.tol, max_epochs, seed: self.seed, threads: self.threads }
    }

    pub fn solve(&self, phi: &Vectors, labels: &Labels, costs: &[f64], monitor: &Monitor<'_>) -> Result<Solution> {
        let (loss, intercept, threads) = (self.loss, self.intercept, self.threads);
        let problem = LinearProblem { targets: OneVsRest::of(labels), costs, loss, intercept };
        if self.penalty == Penalty::L1 {
            return self.solve_l1(phi.dense()?.view()?, problem, monitor);
        }
        if !loss.is_smooth() {
            let settings = self.descent();
            let solved = linear::solve(phi.dense()?.view()?, problem, &settings, monitor)?;
            let report = solved.report(Vec::new(), &settings);
            let (weights, intercepts) = (solved.weights, solved.intercepts);
            return Ok(Solution { weights, intercepts, intercept, report, alphas: Vec::new() });
        }
        let settings = self.newton();
        let mut objective = Objective::in_memory(BlockObjective::new(Block::of(phi)?, problem, threads)?);
        let mut descended = None;
        // Sparse rows descend in the dual first, from 0 or from known dual variables.
        if let (Vectors::Sparse(rows), Loss::SquaredHinge) = (phi, loss)
            && self.max_iter.is_none_or(|most| most >= SPARSE_EPOCHS)
            && problem.targets.is_even()
            && self.start.as_ref().is_none_or(|start| !start.alphas.is_empty())
        {
            let settings = DescentSettings { max_epochs: SPARSE_EPOCHS, ..self.descent() };
            let alphas = self.start.as_ref().map(|start| &start.alphas[..]);
            let solved = linear::solve_sparse(rows, problem, alphas, &settings, monitor)?;
            let report = solved.is_solved().then(|| solved.report(Vec::new(), &settings));
            let (weights, intercepts) = (solved.weights, solved.intercepts);
            if let Some(report) = report {
                let alphas = solved.alphas.iter().map(|alpha| *alpha as f32).collect();
                return Ok(Solution { weights, intercepts, intercept, report, alphas });
            }
            descended = Some(Start { weights, intercepts, alphas: Vec::new() });
        }
        let start = descended.as_ref().or(self.start.as_ref()).map(Start::newton);
        let solution = newton::solve(&mut objective, &settings, start, monitor)?;
        let report = solution.report(Vec::new(), &settings);
        let NewtonSolution { weights, intercepts, .. } = solution;
        Ok(Solution { weights, intercepts, intercept, report, alphas: Vec::new() })
    }

    fn solve_l1(
        &self,
        rows: DenseView<'_, f32>,
        problem: LinearProblem<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Solution> {
        // A penalized intercept would be one more weight to be made 0.
        let intercept = if self.intercept == Intercept::None { Intercept::None } else { Intercept::Free };
        let problem = LinearProblem { loss: Loss::SquaredHinge, intercept, ..problem };
        let solved = l1::solve(&rows, problem, &self.descent(), monitor)?;
        let problems: Vec<ProblemReport> = solved.iter().map(|solution| solution.report).collect();
        let mut report = Report::of_solver(&problems, Vec::new(), "passes (raise max_iter)", Some(self.tol));
        report.notes.push("n_support counts the weights that are not 0".into());
        let weights = solved.iter().flat_map(|solution| solution.weights.iter().map(|w| *w as f32)).collect();
        let intercepts = solved.iter().map(|solution| solution.intercept).collect();
        Ok(Solution { weights, intercepts, intercept, report, alphas: Vec::new() })
    }
}
