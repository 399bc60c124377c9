//! The linear SVM on the features of an expansion: its solver by loss and penalty.

use super::start::Start;
use crate::data::{CsrMatrix, DenseView, Labels, Vectors};
use crate::error::Result;
use crate::monitor::Monitor;
use crate::problem::{Block, Intercept, LinearObjective, LinearProblem, Loss, OneVsRest, Penalty};
use crate::solve::dual::DualSettings;
use crate::solve::dual::linear::{self, LinearDual};
use crate::solve::l1::{self, L1Settings};
use crate::solve::newton::{self, NewtonSettings, NewtonSolution};
use crate::solve::{ProblemReport, Report};
use crate::tuning::SPARSE_EPOCHS;

/// The linear SVM on the features.
#[derive(Clone)]
pub(super) struct Solver {
    pub loss: Loss,
    pub penalty: Penalty,
    pub intercept: Intercept,
    pub tol: f64,
    pub max_iter: Option<u32>,
    pub start: Option<Start>,
    pub seed: u64,
    pub threads: usize,
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

impl Solution {
    /// Where another fit on the same rows can start.
    pub fn into_start(self) -> Start {
        Start { weights: self.weights, intercepts: self.intercepts, alphas: self.alphas }
    }
}

/// The end of a descent in the dual.
enum Descended {
    Solved(Box<Solution>),
    /// Where Newton's method goes on.
    On(Start),
}

impl Solver {
    pub fn solve(&self, phi: &Vectors, labels: &Labels, costs: &[f64], monitor: &Monitor<'_>) -> Result<Solution> {
        let (loss, intercept) = (self.loss, self.intercept);
        let problem = LinearProblem { targets: OneVsRest::of(labels), costs, loss, intercept };
        let (threads, tol) = (self.threads, self.tol);
        if self.penalty == Penalty::L1 {
            return self.solve_l1(phi.dense()?.view()?, problem, monitor);
        }
        if !loss.is_smooth() {
            return self.solve_dual(phi.dense()?.view()?, problem, monitor);
        }
        let default = NewtonSettings::default();
        let max_iter = self.max_iter.unwrap_or(default.max_iter);
        let settings = NewtonSettings { tol, max_iter, threads, ..default };
        let mut objective = LinearObjective::new(&[Block::of(phi)?], problem, threads)?;
        let mut descended = None;
        if let (Vectors::Sparse(rows), Loss::SquaredHinge) = (phi, loss)
            && self.max_iter.is_none_or(|most| most >= SPARSE_EPOCHS)
            && problem.targets.is_even()
        {
            match self.descend(rows, problem, monitor)? {
                Some(Descended::Solved(solution)) => return Ok(*solution),
                Some(Descended::On(start)) => descended = Some(start),
                None => {}
            }
        }
        let start = descended.as_ref().or(self.start.as_ref()).map(Start::newton);
        let solution = newton::solve(&mut objective, &settings, start, monitor)?;
        let report = solution.report(Vec::new(), &settings);
        let NewtonSolution { weights, intercepts, .. } = solution;
        Ok(Solution { weights, intercepts, intercept, report, alphas: Vec::new() })
    }

    /// Descends in the dual, from 0 or from the dual variables of the start; nothing if the start has none.
    fn descend(
        &self,
        rows: &CsrMatrix<f32>,
        problem: LinearProblem<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Option<Descended>> {
        let alphas = match &self.start {
            None => None,
            Some(start) if start.alphas.is_empty() => return Ok(None),
            Some(start) => Some(&start.alphas[..]),
        };
        let intercept = self.intercept;
        let settings =
            DualSettings { tol: self.tol, max_epochs: SPARSE_EPOCHS, seed: self.seed, threads: self.threads };
        let solved = LinearDual { features: rows, problem }.solve_sparse(alphas, &settings, monitor)?;
        let report = solved.report(Vec::new(), &settings);
        let is_solved = solved.is_solved();
        let (weights, intercepts) = (solved.weights, solved.intercepts);
        if !is_solved {
            return Ok(Some(Descended::On(Start { weights, intercepts, alphas: Vec::new() })));
        }
        let alphas = solved.alphas.iter().map(|alpha| *alpha as f32).collect();
        Ok(Some(Descended::Solved(Box::new(Solution { weights, intercepts, intercept, report, alphas }))))
    }

    fn solve_l1(
        &self,
        rows: DenseView<'_, f32>,
        problem: LinearProblem<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Solution> {
        let default = L1Settings::default();
        let max_epochs = self.max_iter.unwrap_or(default.max_epochs);
        let settings = L1Settings { tol: self.tol, max_epochs, threads: self.threads };
        // A penalized intercept would be one more weight to be made 0.
        let intercept = if self.intercept == Intercept::None { Intercept::None } else { Intercept::Free };
        let problem = LinearProblem { loss: Loss::SquaredHinge, intercept, ..problem };
        let solved = l1::solve(&rows, problem, &settings, monitor)?;
        let problems: Vec<ProblemReport> = solved.iter().map(|solution| solution.report).collect();
        let mut report = Report::of_solver(&problems, Vec::new(), "passes (raise max_iter)", Some(self.tol));
        report.notes.push("n_support counts the weights that are not 0".into());
        let weights = solved.iter().flat_map(|solution| solution.weights.iter().map(|w| *w as f32)).collect();
        let intercepts = solved.iter().map(|solution| solution.intercept).collect();
        Ok(Solution { weights, intercepts, intercept, report, alphas: Vec::new() })
    }

    fn solve_dual(
        &self,
        rows: DenseView<'_, f32>,
        problem: LinearProblem<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<Solution> {
        let default = DualSettings::default();
        let max_epochs = self.max_iter.unwrap_or(default.max_epochs);
        let (tol, seed, threads) = (self.tol, self.seed, self.threads);
        let settings = DualSettings { tol, max_epochs, seed, threads };
        let solution = linear::solve(rows, problem, &settings, monitor)?;
        let report = solution.report(Vec::new(), &settings);
        let (weights, intercepts) = (solution.weights, solution.intercepts);
        Ok(Solution { weights, intercepts, intercept: self.intercept, report, alphas: Vec::new() })
    }
}
