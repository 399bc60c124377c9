//! All problems at one λ with the exact solver, independently.

use super::block_sums::RowData;
use super::exact::Exact;
use super::exact_newton::{Solution, minimize};
use super::leave_one_out::{Converged, closed_form, refitted};
use super::newton::{Lambdas, Stop};
use super::path::{Candidate, Problems, Refits, Run, Solved, Visit};
use super::row_sums::LeaveOneOutSums;
use super::system::{Part, Point, Target};
use crate::error::Result;
use crate::monitor::{Progress, Stopped};
use crate::problem::Loss;
use crate::solve::Status;
use crate::tuning::{MAX_REFITTED_SAMPLES, N_FOLDS};

/// Constants for all λ.
pub(super) struct ExactVisits<'a> {
    system: &'a Exact,
    problems: &'a Problems<'a>,
    run: Run<'a>,
    signs: Vec<Vec<f64>>,
    roots: Vec<f64>,
    /// The samples' weights in each problem, where these differ.
    weights: Option<Vec<Vec<f64>>>,
}

impl<'a> ExactVisits<'a> {
    pub fn new(system: &'a Exact, problems: &'a Problems<'a>, run: Run<'a>) -> Self {
        let (targets, n) = (problems.targets, problems.weights.len());
        let k = targets.n_problems();
        let signs = (0..k).map(|problem| (0..n).map(|i| targets.sign(i, problem)).collect()).collect();
        let of_problem = |problem: usize| (0..n).map(|i| targets.weight(i, problem)).collect();
        let weights = (!targets.is_even()).then(|| (0..k).map(of_problem).collect());
        ExactVisits { system, problems, run, signs, roots: problems.roots(), weights }
    }

    fn target(&self, problem: usize) -> Target<'_> {
        let weights = self.weights.as_ref().map(|weights| &weights[problem][..]);
        let is_two_sided = self.run.settings.losses.losses[0].loss == Loss::SquaredError;
        Target { signs: &self.signs[problem], roots: &self.roots, weights, part: Part::ALL, is_two_sided }
    }

    fn solve(&self, problem: usize, lambdas: Lambdas, start: &Point) -> Result<Option<Solution>> {
        let (target, Run { settings, monitor, .. }) = (self.target(problem), self.run);
        // A problem not started in time keeps its point. The first always gets a step: with two classes it is the only
        // one.
        let late = problem > 0 && matches!(monitor.ask(), Err(Stopped::TimeLimit));
        let stop = if late { Stop { max_steps: 0, ..settings.stop } } else { settings.stop };
        let mut solution = minimize(self.system, lambdas, target, start, stop, monitor)?;
        if let Some((solved, _)) = solution.as_mut().filter(|_| late) {
            solved.status = Status::TimeLimit;
        }
        Ok(solution)
    }

    /// A converged problem.
    fn converged<'s>(&'s self, problem: usize, lambdas: Lambdas, solution: &'s Solution) -> Option<Converged<'s>> {
        Converged::new(self.system, lambdas.last, self.target(problem), self.problems.units, solution)
    }

    /// Sums over all samples, each by a fit without its fold, from the solutions with it: where the closed form is
    /// undetermined. None if a fit does not converge.
    fn folds(&self, lambdas: Lambdas, solutions: &[Solved]) -> Result<Option<LeaveOneOutSums>> {
        let (n, Run { settings, pool, monitor }) = (self.roots.len(), self.run);
        let targets = self.problems.targets.into();
        let row_data = RowData { targets, roots: &self.roots, units: self.problems.units };
        let mut sums = LeaveOneOutSums::default();
        for fold in 0..N_FOLDS {
            monitor.tell(Progress { stage: "folds", done: fold.into(), total: N_FOLDS.into(), gap: None });
            let shares: Vec<f64> = (0..n).map(|row| row_data.share_in(fold, row)).collect();
            let one = |problem: usize| -> Result<_> {
                monitor.go_on("folds")?;
                let whole = self.target(problem);
                let weights: Vec<f64> = (0..n).map(|row| whole.weight(row) * (1.0 - shares[row])).collect();
                let target = Target { weights: Some(&weights), ..whole };
                let fit = |start: &Point| minimize(self.system, lambdas, target, start, settings.stop, monitor);
                let found = fit(&solutions[problem].point)?;
                let is_open = |(_, factor): &Solution| {
                    factor.as_ref().is_some_and(|factor| factor.reduced.s.len() < self.system.unpenalized.n_cols())
                };
                // Where samples leave the polynomials open, the solution depends on the start, which knows the fold.
                if found.as_ref().is_some_and(is_open) { fit(&self.system.origin()) } else { Ok(found) }
            };
            let solved: Vec<Option<Solution>> = pool.try_map(solutions.len(), one)?;
            let Some(solved) = solved.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
            if solved.iter().any(|(solved, _)| solved.status != Status::Converged) {
                return Ok(None);
            }
            for row in (0..n).filter(|&row| shares[row] > 0.0) {
                let values = solved.iter().map(|(solved, _)| solved.point.scores[row] / self.roots[row]);
                sums.add((row_data, &[]), (row, shares[row]), values);
            }
        }
        Ok(Some(sums))
    }
}

impl Visit for ExactVisits<'_> {
    fn visit(&mut self, lambdas: Lambdas, starts: &[Point]) -> Result<Option<Candidate>> {
        let one = |problem: usize| -> Result<_> {
            let Some(solution) = self.solve(problem, lambdas, &starts[problem])? else { return Ok(None) };
            let values = self.converged(problem, lambdas, &solution).and_then(|at| closed_form(&at));
            Ok(Some((solution.0, values)))
        };
        let solved: Vec<Option<_>> = self.run.pool.try_map(starts.len(), one)?;
        let Some(solved) = solved.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
        let (solutions, values): (Vec<Solved>, Vec<Option<Vec<f64>>>) = solved.into_iter().unzip();
        let loo_values: Vec<Vec<f64>> = values.into_iter().collect::<Option<_>>().unwrap_or_default();
        let sums = (!loo_values.is_empty()).then(|| LeaveOneOutSums::of(&loo_values, self.problems));
        let candidate = Candidate::new(lambdas, solutions, loo_values, sums.as_ref());
        if sums.is_none() && candidate.is_converged() && self.run.settings.path.confirms {
            // The samples inside the margin do not determine the polynomials without one of them.
            if let Some(sums) = self.folds(lambdas, &candidate.solutions)? {
                let candidate = Candidate::new(lambdas, candidate.solutions, Vec::new(), Some(&sums));
                return Ok(Some(Candidate { some: sums.some, fold_sums: sums.of_groups, ..candidate }));
            }
        }
        Ok(Some(candidate))
    }

    fn confirm(&mut self, lambdas: Lambdas, candidate: &Candidate) -> Result<Option<Refits>> {
        let Run { pool, monitor, .. } = self.run;
        if self.roots.len() > MAX_REFITTED_SAMPLES {
            return Ok(None);
        }
        monitor.tell(Progress { stage: "leave one out", done: 0, total: 0, gap: None });
        let one = |problem: usize| -> Result<_> {
            monitor.go_on("leave one out")?;
            // A step from the solution recomputes its factorization.
            let start = &candidate.solutions[problem].point;
            let Some(solution) = self.solve(problem, lambdas, start)? else { return Ok(None) };
            Ok(self.converged(problem, lambdas, &solution).and_then(|at| refitted(&at)))
        };
        let values: Vec<Option<Vec<f64>>> = pool.try_map(candidate.solutions.len(), one)?;
        Ok(match values.into_iter().collect::<Option<Vec<Vec<f64>>>>() {
            Some(values) => {
                let sums = LeaveOneOutSums::of(&values, self.problems);
                Some(Refits::OfSamples(values, sums))
            }
            None => self.folds(lambdas, &candidate.solutions)?.map(Refits::OfFolds),
        })
    }
}
