//! The targets of all problems of a fit.

use super::OneVsRest;

/// Classes or labels, one versus the rest, or the numbers of outputs.
#[derive(Clone, Copy, Debug)]
pub enum ProblemTargets<'a> {
    /// +1 or −1 for each class or label.
    Classes(OneVsRest<'a>),
    /// Numbers.
    Outputs {
        /// Samples × outputs, row-major.
        values: &'a [f64],
        /// Numbers of a sample.
        n_outputs: usize,
    },
}

impl<'a> From<OneVsRest<'a>> for ProblemTargets<'a> {
    fn from(targets: OneVsRest<'a>) -> Self {
        ProblemTargets::Classes(targets)
    }
}

impl ProblemTargets<'_> {
    /// Number of samples.
    pub(crate) fn n_samples(&self) -> usize {
        match self {
            ProblemTargets::Classes(targets) => targets.n_samples(),
            ProblemTargets::Outputs { values, n_outputs } => values.len() / n_outputs.max(&1),
        }
    }

    /// Number of problems.
    pub(crate) fn n_problems(&self) -> usize {
        match self {
            ProblemTargets::Classes(targets) => targets.n_problems(),
            ProblemTargets::Outputs { n_outputs, .. } => *n_outputs,
        }
    }

    /// The target of a sample in a problem.
    pub(crate) fn value(&self, row: usize, problem: usize) -> f64 {
        match self {
            ProblemTargets::Classes(targets) => targets.sign(row, problem),
            ProblemTargets::Outputs { values, n_outputs } => values[row * n_outputs + problem],
        }
    }

    /// The weight of a sample in a problem, in units of the sample's.
    pub(crate) fn weight(&self, row: usize, problem: usize) -> f64 {
        match self {
            ProblemTargets::Classes(targets) => targets.weight(row, problem),
            ProblemTargets::Outputs { .. } => 1.0,
        }
    }

    /// Whether the Hessians of all problems are the same at 0, where each row has a loss that curves: of classes that
    /// weigh every sample the same.
    pub(crate) fn share_first_hessian(&self) -> bool {
        matches!(self, ProblemTargets::Classes(targets) if targets.is_even())
    }

    /// The same with equal weights in all problems, and other signs, where weights differ.
    pub(crate) fn evenly(self) -> Self {
        match self {
            ProblemTargets::Classes(targets) => ProblemTargets::Classes(targets.evenly()),
            outputs => outputs,
        }
    }
}
