//! The end of a power mean fit where coordinate descent is slow.
//!
//! Once C is large for the data and the samples are many for the features, coordinate descent takes thousands
//! of epochs. On a symmetric map the problem is a linear SVM on φ(x) with features · nodes coordinates, so
//! Newton's method in the primal goes on from the weights that descent has reached.

use crate::error::Result;
use crate::expansion::{explicit, explicit_bytes};
use crate::problem::{Block, Intercept, LinearObjective, Loss, SmoothLoss};
use crate::solve::Status;
use crate::solve::dual::{DualProblem, DualSettings, DualSolution};
use crate::solve::newton::{self, NewtonSettings, NewtonStart};
use crate::watch::Watch;

/// Epochs of coordinate descent before Newton's method takes over: well-behaved problems end long before.
const EPOCHS: u32 = 100;

/// The same where coordinates are not few for the rows: descent gets there, and a Newton step is dear.
const EPOCHS_IF_WIDE: u32 = 300;

/// Rows a coordinate from which coordinates are few.
const FEW: usize = 4;

/// φ(x) written out takes 8 bytes a coordinate: beyond this, descent goes on by itself.
const MOST_BYTES: usize = 4 << 30;

/// What the finish needs to know of the parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct PrimalFinish {
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
        let few = n_coordinates.saturating_mul(FEW) <= problem.rows.n_rows();
        let patience = if few { EPOCHS } else { EPOCHS_IF_WIDE };
        DualSettings { max_epochs: settings.max_epochs.min(patience), ..settings }
    }

    /// Whether the descent ended early, and unsolved.
    pub fn is_wanted(&self, problem: &DualProblem<'_>, solution: &DualSolution, epochs: u32) -> bool {
        epochs < self.max_epochs && problem.rows.n_nonzero() > 0 && solution.status.contains(&Status::IterationLimit)
    }

    /// Solves the problems to the end, from the weights of `solution`.
    pub fn run(&self, problem: &DualProblem<'_>, solution: &mut DualSolution, watch: &Watch<'_>) -> Result<()> {
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
        let solved = newton::solve(&mut objective, &settings, Some(start), watch)?;
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

/// Rows × columns into columns × rows.
pub(super) fn transposed(matrix: &[f32], rows: usize, cols: usize) -> Vec<f32> {
    (0..cols).flat_map(|col| (0..rows).map(move |row| matrix[row * cols + col])).collect()
}
