//! All problems at one λ with the exact solver, independently.

use super::block_sums::RowData;
use super::exact::Exact;
use super::exact_newton::{Solution, minimize};
use super::leave_one_out::{Converged, closed_form, refitted};
use super::newton::{Lambdas, Stop};
use super::path::{Candidate, FitSettings, Problems, Refits, Solved, Visit};
use super::row_sums::LeaveOneOutSums;
use super::system::{Part, Point, Target};
use crate::error::Result;
use crate::monitor::{Monitor, Progress, Stopped};
use crate::par::Pool;
use crate::solve::Status;
use crate::tuning::{MAX_REFITTED_SAMPLES, N_FOLDS};

/// Constants for all λ.
pub(super) struct ExactVisits<'a> {
    system: &'a Exact,
    problems: &'a Problems<'a>,
    settings: &'a FitSettings,
    /// trace(G)/n.
    unit: f64,
    signs: Vec<Vec<f64>>,
    roots: Vec<f64>,
    /// The samples' weights in each problem, where these differ.
    weights: Option<Vec<Vec<f64>>>,
    pool: &'a Pool,
    monitor: &'a Monitor<'a>,
}

impl<'a> ExactVisits<'a> {
    pub fn new(
        system: &'a Exact,
        problems: &'a Problems<'a>,
        (settings, unit): (&'a FitSettings, f64),
        pool: &'a Pool,
        monitor: &'a Monitor<'a>,
    ) -> Self {
        let (targets, n) = (problems.targets, problems.weights.len());
        let k = targets.n_problems();
        let signs = (0..k).map(|problem| (0..n).map(|i| targets.sign(i, problem)).collect()).collect();
        let roots = problems.roots();
        let of_problem = |problem: usize| (0..n).map(|i| targets.weight(i, problem)).collect();
        let weights = (!targets.is_even()).then(|| (0..k).map(of_problem).collect());
        ExactVisits { system, problems, settings, unit, signs, roots, weights, pool, monitor }
    }

    fn target(&self, problem: usize) -> Target<'_> {
        let weights = self.weights.as_ref().map(|weights| &weights[problem][..]);
        Target { signs: &self.signs[problem], roots: &self.roots, weights, part: Part::ALL }
    }

    /// The dual objective at λ|a_i| made feasible: 2λ Σ y_i a_i √w_i − λ aᵀKa − λ² Σ a_i²/r_i, times C.
    fn dual(&self, lambda: f64, target: Target<'_>, solution: &Solution) -> f64 {
        if solution.status != Status::Converged {
            // Not feasible: only the trivial bound 0 is known.
            return 0.0;
        }
        let point = &solution.point;
        let mut sum = -lambda * self.system.inner(point, point);
        for (i, ((a, sign), root)) in point.coefficients.iter().zip(target.signs).zip(target.roots).enumerate() {
            if target.has(i) {
                let a = a * sign;
                sum += lambda * (2.0 * a * root - target.noise(lambda, i) * a * a);
            }
        }
        0.5 / lambda * sum
    }
}

impl ExactVisits<'_> {
    /// Solves one problem at λ in true and in scale-free units.
    fn solve(&self, problem: usize, (true_lambda, lambda): (f64, f64), start: &Point) -> Result<Option<Solution>> {
        let target = self.target(problem);
        let lambdas = Lambdas::new(true_lambda, lambda);
        // A problem not started in time keeps its point. The first always gets a step: with two classes it is the only
        // one.
        let late = problem > 0 && matches!(self.monitor.ask(), Err(Stopped::TimeLimit));
        let stop = if late { Stop { max_steps: 0, ..self.settings.stop } } else { self.settings.stop };
        let mut solution = minimize(self.system, lambdas, target, start, stop, self.monitor)?;
        if let Some(solution) = solution.as_mut().filter(|_| late) {
            solution.status = Status::TimeLimit;
        }
        Ok(solution)
    }

    /// Leave-one-out decision values of a problem by one of the estimates.
    fn loo_values(
        &self,
        problem: usize,
        true_lambda: f64,
        solution: &Solution,
        estimate: fn(&Converged<'_>) -> Option<Vec<f64>>,
    ) -> Option<Vec<f64>> {
        let target = self.target(problem);
        estimate(&Converged::new(self.system, true_lambda, target, self.problems.units, solution)?)
    }

    /// Sums over all samples, each by a fit without its fold, from the solutions with it: where the closed form is
    /// undetermined. None if a fit does not converge.
    fn folds(&self, (true_lambda, lambda): (f64, f64), solutions: &[Solved]) -> Result<Option<LeaveOneOutSums>> {
        let (n, lambdas) = (self.roots.len(), Lambdas::new(true_lambda, lambda));
        let row_data = RowData { targets: self.problems.targets, roots: &self.roots, units: self.problems.units };
        let mut sums = LeaveOneOutSums::default();
        for fold in 0..N_FOLDS {
            self.monitor.tell(Progress { stage: "folds", done: fold.into(), total: N_FOLDS.into(), gap: None });
            let shares: Vec<f64> = (0..n).map(|row| row_data.share_in(fold, row)).collect();
            let one = |problem: usize| -> Result<_> {
                self.monitor.go_on("folds")?;
                let whole = self.target(problem);
                let weights: Vec<f64> = (0..n).map(|row| whole.weight(row) * (1.0 - shares[row])).collect();
                let target = Target { weights: Some(&weights), ..whole };
                let (start, stop) = (&solutions[problem].point, self.settings.stop);
                minimize(self.system, lambdas, target, start, stop, self.monitor)
            };
            let solved: Vec<Option<Solution>> = self.pool.try_map(solutions.len(), one)?;
            let Some(solved) = solved.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
            if solved.iter().any(|solution| solution.status != Status::Converged) {
                return Ok(None);
            }
            for row in (0..n).filter(|&row| shares[row] > 0.0) {
                let value = |solution: &Solution| solution.point.scores[row] / self.roots[row];
                let values: Vec<f64> = solved.iter().map(value).collect();
                sums.add(row_data, (row, shares[row]), &values);
            }
        }
        Ok(Some(sums))
    }
}

impl Visit for ExactVisits<'_> {
    fn visit(&mut self, lambda: f64, starts: &[Point], done: u64) -> Result<Option<Candidate>> {
        self.monitor.tell(Progress { stage: "solve", done, total: 0, gap: None });
        let true_lambda = lambda * self.unit;
        let one = |problem: usize| -> Result<_> {
            let Some(solution) = self.solve(problem, (true_lambda, lambda), &starts[problem])? else { return Ok(None) };
            let values = self.loo_values(problem, true_lambda, &solution, closed_form);
            let target = self.target(problem);
            let dual = self.dual(true_lambda, target, &solution);
            let Solution { point, n_inside, steps, status, objective, .. } = solution;
            Ok(Some((Solved { point, n_inside: n_inside as u64, steps, status, objective, dual }, values)))
        };
        let solved: Vec<Option<_>> = self.pool.try_map(starts.len(), one)?;
        let Some(solved) = solved.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
        let (solutions, values): (Vec<Solved>, Vec<Option<Vec<f64>>>) = solved.into_iter().unzip();
        let loo_values: Vec<Vec<f64>> = values.into_iter().collect::<Option<_>>().unwrap_or_default();
        let sums = (!loo_values.is_empty()).then(|| LeaveOneOutSums::of(&loo_values, self.problems));
        let is_solved = solutions.iter().all(|solution| solution.status == Status::Converged);
        if sums.is_none() && is_solved && self.settings.confirms {
            // The samples inside the margin do not determine the polynomials without one of them.
            if let Some(sums) = self.folds((true_lambda, lambda), &solutions)? {
                let candidate = Candidate::new(true_lambda, lambda, solutions, Vec::new(), Some(&sums));
                return Ok(Some(Candidate { some: sums.some, fold_sums: sums.of_groups, ..candidate }));
            }
        }
        Ok(Some(Candidate::new(true_lambda, lambda, solutions, loo_values, sums.as_ref())))
    }

    fn confirm(&mut self, candidate: &Candidate) -> Result<Option<Refits>> {
        if self.roots.len() > MAX_REFITTED_SAMPLES {
            return Ok(None);
        }
        self.monitor.tell(Progress { stage: "leave one out", done: 0, total: 0, gap: None });
        let lambda = candidate.point.lambda;
        let true_lambda = lambda * self.unit;
        let one = |problem: usize| -> Result<_> {
            self.monitor.go_on("leave one out")?;
            // A step from the solution recomputes its factorization.
            let start = &candidate.solutions[problem].point;
            let Some(solution) = self.solve(problem, (true_lambda, lambda), start)? else { return Ok(None) };
            Ok(self.loo_values(problem, true_lambda, &solution, refitted))
        };
        let values: Vec<Option<Vec<f64>>> = self.pool.try_map(candidate.solutions.len(), one)?;
        Ok(match values.into_iter().collect::<Option<Vec<Vec<f64>>>>() {
            Some(values) => {
                let sums = LeaveOneOutSums::of(&values, self.problems);
                Some(Refits::OfSamples(values, sums))
            }
            None => self.folds((true_lambda, lambda), &candidate.solutions)?.map(Refits::OfFolds),
        })
    }
}
