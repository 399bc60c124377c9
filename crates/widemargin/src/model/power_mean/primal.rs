//! Newton's method as the final stage of a power mean fit where coordinate descent is slow.
//!
//! If C is large for the data and there are many samples per feature, coordinate descent takes thousands of epochs.
//! With a symmetric map the problem is a linear SVM on φ(x) with features · nodes coordinates, so Newton's method in
//! the primal continues from the weights that descent has reached.

use super::leave_one_out::SolvedRows;
use crate::error::{Error, Result};
use crate::expansion::{explicit, explicit_bytes};
use crate::model::PowerMeanParams;
use crate::monitor::{Monitor, Stopped};
use crate::par::Pool;
use crate::problem::{Block, HeldOutRows, Intercept, LinearObjective, LinearProblem, Loss};
use crate::solve::dual::{DualProblem, DualSettings, DualSolution};
use crate::solve::newton::{self, NewtonSettings, NewtonStart};
use crate::solve::{ProblemReport, Status};
use crate::tuning::{
    EXPECTED_NEWTON_STEPS, MAX_PRIMAL_BYTES, MIN_ROWS_PER_COORDINATE, PRIMAL_EPOCHS, PRIMAL_EPOCHS_IF_WIDE,
    PRIMAL_HELD_OUT_TOL, PRODUCTS_PER_NONZERO,
};

impl PowerMeanParams {
    /// The settings of the descent, with fewer epochs if Newton's method can take over.
    pub(crate) fn limit(&self, problem: &DualProblem<'_>, settings: DualSettings) -> DualSettings {
        let able = problem.map.is_symmetric()
            && problem.loss == Loss::SquaredHinge
            && explicit_bytes(problem.rows, problem.map) as u64 <= MAX_PRIMAL_BYTES;
        if !able {
            return settings;
        }
        let n_coordinates = problem.rows.n_features() * problem.map.n_nodes();
        let patience = patience(n_coordinates, problem.rows.n_rows(), problem.rows.n_nonzero());
        DualSettings { max_epochs: settings.max_epochs.min(patience), ..settings }
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
        let (blocks, targets) = ([block], problem.targets);
        let all = LinearProblem { targets, costs: problem.costs, loss, intercept: Intercept::None };
        let mut objective = LinearObjective::new(&blocks, all, self.threads)?.monitored(*monitor);
        let start = transposed(&solution.weights, d, n_problems);
        let start = NewtonStart { weights: &start, intercepts: &vec![0.0; n_problems] };
        let settings = NewtonSettings {
            tol: self.tol,
            max_iter: self.max_epochs - solution.problems.iter().map(|problem| problem.iterations).max().unwrap_or(0),
            threads: self.threads,
            ..NewtonSettings::default()
        };
        let solved = newton::solve(&mut objective, &settings, Some(start), monitor)?;
        let solved_rows = SolvedRows {
            phi: block,
            n_coordinates: d,
            targets: problem.targets,
            costs: problem.costs,
            weights: &solved.weights,
        };
        let rows: Vec<usize> = held_out.iter().flat_map(HeldOutRows::rows).collect();
        let loo_values = solved_rows.leave_one_out(&rows, shares, &Pool::new(self.threads)?)?;
        let sets = if loo_values.is_some() { &[] } else { held_out };
        solution.held_out = loo_values.unwrap_or_else(|| vec![Vec::new(); n_problems]);
        for set in sets {
            let costs = set.rest(problem.costs.to_vec());
            let rest = LinearProblem { costs: &costs, ..all };
            let mut rest = LinearObjective::new(&blocks, rest, self.threads)?.monitored(*monitor);
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

    #[test]
    fn descent_has_as_long_as_newtons_method_would_take() {
        assert_eq!(patience(100, 1000, 100_000), PRIMAL_EPOCHS);
        assert_eq!(patience(50, 100, 5000), PRIMAL_EPOCHS_IF_WIDE);
        assert!(patience(5000, 10_000, 2_270_000) > 4000);
        assert_eq!(patience(1 << 40, 1, 0), u32::MAX);
    }
}
