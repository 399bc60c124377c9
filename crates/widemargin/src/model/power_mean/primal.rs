//! The end of a power mean fit where coordinate descent is slow.
//!
//! Once C is large for the data and the samples are many for the features, coordinate descent takes thousands
//! of epochs. On a symmetric map the problem is a linear SVM on φ(x) with features · nodes coordinates, so
//! Newton's method in the primal goes on from the weights that descent has reached.

use crate::error::Result;
use crate::expansion::{explicit, explicit_bytes};
use crate::monitor::Monitor;
use crate::problem::{Block, Intercept, LinearObjective, Loss, SmoothLoss};
use crate::solve::Status;
use crate::solve::dual::{DualProblem, DualSettings, DualSolution};
use crate::solve::newton::{self, NewtonSettings, NewtonStart};

/// Epochs of coordinate descent before Newton's method takes over: well-behaved problems end long before.
const EPOCHS: u32 = 100;

/// The least where coordinates are not few for the rows: descent gets there, and a Newton step is dear. Where many
/// coordinates are mostly 0 it is so dear that descent takes thousands of epochs in the time: 10,000 rows of 5,000 words,
/// far from scale, needed 317 epochs or 1.7 s, and 700 Newton steps in 400 s did not get there.
const EPOCHS_IF_WIDE: u32 = 300;

/// Rows a coordinate from which coordinates are few.
const FEW: usize = 4;

/// Newton steps that a problem is expected to take.
const NEWTON_STEPS: f64 = 20.0;

/// Multiply-adds of a matrix product in the time that descent takes for one non-zero of one problem, half a nanosecond.
const NONZERO: f64 = 40.0;

/// φ(x) written out takes 8 bytes a coordinate: beyond this, descent goes on by itself.
const MOST_BYTES: usize = 4 << 30;

/// What the finish needs to know of the parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PrimalFinish {
    pub tol: f64,
    pub max_epochs: u32,
    pub threads: usize,
}

impl PrimalFinish {
    /// The settings of the descent: fewer epochs where Newton's method can take over.
    pub fn limit(&self, problem: &DualProblem<'_>, settings: DualSettings) -> DualSettings {
        let able = problem.map.is_symmetric()
            && problem.loss == Loss::SquaredHinge
            && explicit_bytes(problem.rows, problem.map) <= MOST_BYTES;
        if !able {
            return settings;
        }
        let n_coordinates = problem.rows.n_features() * problem.map.n_nodes();
        let patience = patience(n_coordinates, problem.rows.n_rows(), problem.rows.n_nonzero());
        DualSettings { max_epochs: settings.max_epochs.min(patience), ..settings }
    }

    /// Whether the descent ended early, and unsolved.
    pub fn is_wanted(&self, problem: &DualProblem<'_>, solution: &DualSolution, epochs: u32) -> bool {
        epochs < self.max_epochs && problem.rows.n_nonzero() > 0 && solution.status.contains(&Status::IterationLimit)
    }

    /// Solves the problems to the end, from the weights of `solution`.
    pub fn run(&self, problem: &DualProblem<'_>, solution: &mut DualSolution, monitor: &Monitor<'_>) -> Result<()> {
        let phi = explicit(problem.rows, problem.map);
        let n_problems = problem.targets.n_problems();
        let (d, loss) = (phi.n_cols, SmoothLoss::SquaredHinge);
        let block = Block::from(phi.view()?);
        let mut objective =
            LinearObjective::new(&[block], problem.targets, problem.costs, loss, Intercept::None, self.threads)?;
        let start = transposed(&solution.weights, d, n_problems);
        let start = NewtonStart { weights: &start, intercepts: &vec![0.0; n_problems] };
        let settings = NewtonSettings {
            tol: self.tol,
            max_iter: self.max_epochs - solution.epochs.iter().copied().max().unwrap_or(0),
            threads: self.threads,
            ..NewtonSettings::default()
        };
        let solved = newton::solve(&mut objective, &settings, Some(start), monitor)?;
        solution.weights = transposed(&solved.weights, n_problems, d);
        for k in 0..n_problems {
            solution.epochs[k] += solved.iterations[k];
            solution.status[k] = solved.status[k];
            solution.primal[k] = solved.primal[k];
            solution.dual[k] = solved.dual[k];
            solution.n_support[k] = solved.n_support[k];
        }
        Ok(())
    }
}

/// Epochs of descent before Newton's method: where coordinates are many, as many as take the time of its steps, of
/// which each factors a matrix of coordinates² or does work of that order.
fn patience(n_coordinates: usize, n_rows: usize, n_nonzero: usize) -> u32 {
    if n_coordinates.saturating_mul(FEW) <= n_rows {
        return EPOCHS;
    }
    let newton = NEWTON_STEPS * (n_coordinates as f64).powi(3) / 6.0;
    // The cast saturates.
    EPOCHS_IF_WIDE.max((newton / (NONZERO * n_nonzero.max(1) as f64)) as u32)
}

/// Rows × columns into columns × rows.
pub(crate) fn transposed(matrix: &[f32], rows: usize, cols: usize) -> Vec<f32> {
    (0..cols).flat_map(|col| (0..rows).map(move |row| matrix[row * cols + col])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descent_has_as_long_as_newtons_method_would_take() {
        assert_eq!(patience(100, 1000, 100_000), EPOCHS);
        assert_eq!(patience(50, 100, 5000), EPOCHS_IF_WIDE);
        assert!(patience(5000, 10_000, 2_270_000) > 4000);
        assert_eq!(patience(1 << 40, 1, 0), u32::MAX);
    }
}
