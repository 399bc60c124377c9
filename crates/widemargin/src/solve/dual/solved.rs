//! The result of a two-class problem.

use super::certificate::Certificate;
use crate::solve::Status;

/// One solved two-class problem.
#[derive(Clone, Debug)]
pub(super) struct Solved {
    /// m numbers per feature: `weights[feature * m + node]`.
    pub weights: Vec<f32>,
    /// Empty if not requested.
    pub alphas: Vec<f32>,
    pub n_support: u32,
    pub epochs: u32,
    pub status: Status,
    pub certificate: Certificate,
    /// The decision values of the rows held out, if any were.
    pub held_out: Vec<f32>,
}

impl Solved {
    /// A problem that the time limit left unstarted: all weights are 0, and the gap is known without reading the rows.
    pub fn unbegun(n_weights: usize, certificate: Certificate) -> Self {
        let (weights, alphas, status) = (vec![0.0; n_weights], Vec::new(), Status::TimeLimit);
        Solved { weights, alphas, n_support: 0, epochs: 0, status, certificate, held_out: Vec::new() }
    }

    /// Counts the support vectors; keeps the dual variables only if requested. They are one number per row and problem:
    /// with many classes they would take most of the memory.
    pub fn counted(self, keep_alphas: bool) -> Self {
        let n_support = self.alphas.iter().filter(|alpha| **alpha > 0.0).count() as u32;
        Solved { n_support, alphas: if keep_alphas { self.alphas } else { Vec::new() }, ..self }
    }
}
