//! Newton's method as the final stage of a power mean fit where coordinate descent is slow.
//!
//! If C is large for the data and there are many samples per feature, coordinate descent takes thousands of epochs.
//! With a symmetric map the problem is a linear SVM on φ(x) with features · nodes coordinates, so Newton's method in
//! the primal continues from the weights that descent has reached. Leave-one-out decision values by one Newton step from
//! the solution of all rows calibrate probabilities.

use crate::error::{Error, Result};
use crate::expansion::{explicit, explicit_bytes};
use crate::linalg::factor::{Cholesky, Matrix, add_gram};
use crate::model::PowerMeanParams;
use crate::monitor::{Monitor, Stopped};
use crate::par::Pool;
use crate::problem::{Block, BlockObjective, HeldOutRows, Intercept, LinearProblem, Loss, Objective};
use crate::solve::dual::{DualProblem, DualSolution};
use crate::solve::newton::{self, NewtonSettings, NewtonStart};
use crate::solve::{DescentSettings, ProblemReport, Status};
use crate::tuning::{
    EXPECTED_NEWTON_STEPS, MAX_HESSIAN_COORDINATES, MAX_HESSIAN_NUMBERS, MAX_PRIMAL_BYTES, MIN_ROWS_PER_COORDINATE,
    PRIMAL_EPOCHS, PRIMAL_EPOCHS_IF_WIDE, PRIMAL_HELD_OUT_TOL, PRODUCTS_PER_NONZERO,
};

impl PowerMeanParams {
    /// The settings of the descent, with fewer epochs if Newton's method can take over.
    pub(crate) fn limit(&self, problem: &DualProblem<'_>, settings: DescentSettings) -> DescentSettings {
        let able = problem.map.is_symmetric()
            && problem.loss == Loss::SquaredHinge
            && explicit_bytes(problem.rows, problem.map) as u64 <= MAX_PRIMAL_BYTES;
        if !able {
            return settings;
        }
        let n_coordinates = problem.rows.n_features() * problem.map.n_nodes();
        let patience = patience(n_coordinates, problem.rows.n_rows(), problem.rows.n_nonzero());
        DescentSettings { max_epochs: settings.max_epochs.min(patience), ..settings }
    }

    /// Whether the descent was cut short without converging.
    pub(crate) fn wants_primal(&self, problem: &DualProblem<'_>, solution: &DualSolution, epochs: u32) -> bool {
        epochs < self.max_epochs
            && problem.rows.n_nonzero() > 0
            && solution.problems.iter().any(|problem| problem.status == Status::IterationLimit)
    }

    /// Solves the problems, starting from the weights of `solution`; the decision values of held-out rows are by
    /// leave-one-out in closed form, or if that is slow by a fit without each set. `shares` are those of a single sample
    /// in the weight of each row.
    ///
    /// # Errors
    /// [`Error::TooShort`] if a time limit passed, which leaves `solution` as it was.
    pub(crate) fn finish_in_primal(
        &self,
        problem: &DualProblem<'_>,
        solution: &mut DualSolution,
        (held_out, shares): (&[HeldOutRows], &[f64]),
        monitor: &Monitor<'_>,
    ) -> Result<()> {
        if monitor.ask() == Err(Stopped::TimeLimit) {
            return Err(Error::TooShort { stage: "solve", needs: 0.0 });
        }
        let phi = explicit(problem.rows, problem.map);
        let n_problems = problem.targets.n_problems();
        let (d, loss) = (phi.n_cols, Loss::SquaredHinge);
        let block = Block::from(phi.view()?);
        let (targets, costs) = (problem.targets, problem.costs);
        let all = LinearProblem { targets, costs, loss, intercept: Intercept::None };
        let rows = BlockObjective::new(block, all, self.threads)?.monitored(*monitor);
        let start = transposed(&solution.weights, d, n_problems);
        let start = NewtonStart { weights: &start, intercepts: &vec![0.0; n_problems] };
        let settings = NewtonSettings {
            tol: self.tol,
            max_iter: self.max_epochs - solution.problems.iter().map(|problem| problem.iterations).max().unwrap_or(0),
            threads: self.threads,
            ..NewtonSettings::default()
        };
        let solved = newton::solve(&mut Objective::in_memory(rows), &settings, Some(start), monitor)?;
        let solved_rows = SolvedRows { phi: block, problem: all, weights: &solved.weights };
        let rows: Vec<usize> = held_out.iter().flat_map(HeldOutRows::rows).collect();
        let loo_values = solved_rows.leave_one_out(&rows, shares, &Pool::new(self.threads)?);
        let sets = if loo_values.is_some() { &[] } else { held_out };
        solution.held_out = loo_values.unwrap_or_else(|| vec![Vec::new(); n_problems]);
        for set in sets {
            let costs = set.rest(problem.costs.to_vec());
            let rest = LinearProblem { costs: &costs, ..all };
            let rest = BlockObjective::new(block, rest, self.threads)?.monitored(*monitor);
            let mut rest = Objective::in_memory(rest);
            // From 0: at the solution the gap may be below this already, with weights that know the rows.
            let settings = NewtonSettings { tol: self.tol.max(PRIMAL_HELD_OUT_TOL), ..settings };
            let without = newton::solve(&mut rest, &settings, None, &monitor.without_progress())?;
            for (weights, values) in without.weights.chunks_exact(d).zip(&mut solution.held_out) {
                values.extend(set.rows().map(|row| block.dot(row, weights) as f32));
            }
            if monitor.ask().is_err() {
                solution.held_out.clear();
                break;
            }
        }
        solution.weights = transposed(&solved.weights, n_problems, d);
        for (problem, solved) in solution.problems.iter_mut().zip(solved.problems) {
            *problem = ProblemReport { iterations: problem.iterations + solved.iterations, ..solved };
        }
        Ok(())
    }
}

/// A squared hinge SVM without an intercept, solved.
struct SolvedRows<'a> {
    phi: Block<'a>,
    problem: LinearProblem<'a>,
    /// `[problem][coordinate]`.
    weights: &'a [f32],
}

impl SolvedRows<'_> {
    /// The decision values of some rows, `[problem][row]`, each from the fit without this share of its weight; none if
    /// other ways are faster.
    ///
    /// With the Hessian H = I + Σ 2c φφᵀ over the rows within the margin and h = 2c φᵀH⁻¹φ times the share, a row within
    /// the margin gets y − (y − f)/(1 − h), which is exact where its absence moves no other row over the margin; any
    /// other row gets f, which is exact. n d² + d³/3 flops a problem for n rows within the margin and d coordinates.
    fn leave_one_out(&self, rows: &[usize], shares: &[f64], pool: &Pool) -> Option<Vec<Vec<f32>>> {
        let (n, d) = (self.phi.n_rows(), self.phi.n_features());
        if d > MAX_HESSIAN_COORDINATES || n.saturating_mul(d) > MAX_HESSIAN_NUMBERS {
            return None;
        }
        let of_problem = |(problem, weights)| self.of_problem(problem, weights, (rows, shares), pool);
        self.weights.chunks_exact(d).enumerate().map(of_problem).collect()
    }

    fn of_problem(
        &self,
        problem: usize,
        weights: &[f32],
        (rows, shares): (&[usize], &[f64]),
        pool: &Pool,
    ) -> Option<Vec<f32>> {
        let (d, targets) = (self.phi.n_features(), self.problem.targets);
        let costs = targets.costs(self.problem.costs, problem);
        let values: Vec<f64> = (0..costs.len()).map(|row| self.phi.dot(row, weights)).collect();
        let is_within = |row: &usize| costs[*row] > 0.0 && targets.sign(*row, problem) * values[*row] < 1.0;
        let within: Vec<usize> = (0..costs.len()).filter(is_within).collect();
        // Columns are rows of the problem, each times √(2c).
        let mut scaled = vec![0.0f32; d * within.len()];
        for (at, &row) in within.iter().enumerate() {
            let root = (2.0 * costs[row]).sqrt();
            self.phi.for_each_nonzero(row, |coordinate, x| {
                scaled[coordinate * within.len() + at] = (root * x) as f32;
            });
        }
        let mut hessian = Matrix::zeros(d, d);
        if !within.is_empty() {
            add_gram(&mut hessian, &scaled, &vec![1.0; d], pool);
        }
        (0..d).for_each(|at| hessian.set(at, at, hessian.at(at, at) + 1.0));
        let factor = Cholesky::new(hessian)?;
        let places: Vec<Option<usize>> = rows.iter().map(|row| within.binary_search(row).ok()).collect();
        let inside: Vec<usize> = places.iter().flatten().copied().collect();
        let columns = inside.iter().flat_map(|&at| (0..d).map(move |c| (c, at)));
        let columns = columns.map(|(coordinate, at)| f64::from(scaled[coordinate * within.len() + at])).collect();
        let mut solved = Matrix::from_columns(columns, d, inside.len());
        factor.solve_lower(&mut solved);
        let mut leverages = (0..inside.len()).map(|at| solved.col(at).iter().map(|x| x * x).sum::<f64>());
        let value = |(&row, place): (&usize, &Option<usize>)| {
            let Some(leverage) = place.and_then(|_| leverages.next()) else { return values[row] as f32 };
            let y = targets.sign(row, problem);
            (y - (y - values[row]) / (1.0 - shares[row] * leverage).max(f64::EPSILON)) as f32
        };
        Some(rows.iter().zip(&places).map(value).collect())
    }
}

/// Epochs of descent before Newton's method: with many coordinates, as many as take the time of its steps, since each
/// step factors a matrix of size coordinates² or does comparable work.
fn patience(n_coordinates: usize, n_rows: usize, n_nonzero: usize) -> u32 {
    if n_coordinates.saturating_mul(MIN_ROWS_PER_COORDINATE) <= n_rows {
        return PRIMAL_EPOCHS;
    }
    let newton = EXPECTED_NEWTON_STEPS * (n_coordinates as f64).powi(3) / 6.0;
    // The cast saturates.
    PRIMAL_EPOCHS_IF_WIDE.max((newton / (PRODUCTS_PER_NONZERO * n_nonzero.max(1) as f64)) as u32)
}

/// Transposes a rows × columns matrix.
pub(crate) fn transposed(matrix: &[f32], rows: usize, cols: usize) -> Vec<f32> {
    (0..cols).flat_map(|col| (0..rows).map(move |row| matrix[row * cols + col])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::DenseView;
    use crate::problem::OneVsRest;

    /// Numbers from −1 to 1.
    fn numbers(n: usize) -> Vec<f32> {
        let mut state = 7u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
        };
        (0..n).map(|_| next()).collect()
    }

    #[test]
    fn loo_values_equal_refits() {
        let (n, d, classes) = (120, 6, 3);
        let values = numbers(n * d);
        let view = DenseView::new(&values, n, d).unwrap();
        let class = |row: usize| {
            let x = &values[row * d..];
            if x[0] + 0.5 * x[1] > 0.3 { 0 } else { 1 + u32::from(x[2] > 0.2 * x[3]) }
        };
        let codes: Vec<u32> = (0..n).map(class).collect();
        let targets = OneVsRest::new(&codes, classes);
        let phi = Block::from(view);
        let solve = |costs: &[f64]| {
            let (loss, intercept) = (Loss::SquaredHinge, Intercept::None);
            let problem = LinearProblem { targets, costs, loss, intercept };
            let mut objective = Objective::in_memory(BlockObjective::new(phi, problem, 1).unwrap());
            let settings = NewtonSettings { tol: 1e-8, threads: 1, ..NewtonSettings::default() };
            newton::solve(&mut objective, &settings, None, &Monitor::none()).unwrap().weights
        };
        for cost in [0.05, 1.0, 20.0] {
            let costs: Vec<f64> = (0..n).map(|row| cost * [1.0, 2.0, 0.5][row % 3]).collect();
            let weights = solve(&costs);
            let (loss, intercept) = (Loss::SquaredHinge, Intercept::None);
            let problem = LinearProblem { targets, costs: &costs, loss, intercept };
            let solved = SolvedRows { phi, problem, weights: &weights };
            let rows: Vec<usize> = (0..20).chain(50..70).collect();
            // Of some rows one of four samples is left out.
            let shares: Vec<f64> = (0..n).map(|row| if row % 4 == 0 { 0.25 } else { 1.0 }).collect();
            let found = solved.leave_one_out(&rows, &shares, &Pool::new(1).unwrap()).unwrap();
            let (mut away, mut moved) = (0.0, 0.0);
            for (at, &row) in rows.iter().enumerate() {
                let mut rest = costs.clone();
                rest[row] *= 1.0 - shares[row];
                let without = solve(&rest);
                for problem in 0..classes {
                    let value = |weights: &[f32]| phi.dot(row, &weights[problem * d..][..d]);
                    let (truth, before, loo_value) = (value(&without), value(&weights), f64::from(found[problem][at]));
                    away += (loo_value - truth).powi(2);
                    moved += (before - truth).powi(2);
                    if targets.sign(row, problem) * before > 1.0 {
                        assert!((loo_value - truth).abs() < 1e-3, "{cost}, row {row}: {loo_value} {truth}");
                    }
                }
            }
            assert!(moved > 1e-3 && away < 0.02 * moved, "{cost}: {away} of {moved}");
        }
    }

    #[test]
    fn descent_has_as_long_as_newtons_method_would_take() {
        assert_eq!(patience(100, 1000, 100_000), PRIMAL_EPOCHS);
        assert_eq!(patience(50, 100, 5000), PRIMAL_EPOCHS_IF_WIDE);
        assert!(patience(5000, 10_000, 2_270_000) > 4000);
        assert_eq!(patience(1 << 40, 1, 0), u32::MAX);
    }
}
