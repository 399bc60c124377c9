//! Multilabel targets: for each label whether the sample has it, does not have it, or whether that is unknown.
//!
//! Samples with equal labels share a *set*. The code of a sample is the number of its set, so that everything that
//! merges, orders or counts samples by their code works for sets as it does for classes. A solver sees signed weights
//! only: above 0 where the sample has the label, below 0 where it has it not, 0 where it is unknown, which leaves the
//! sample out of the label's problem.

/// The distinct rows of an indicator matrix, as signed weights.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelSets {
    /// Sets × labels.
    pub signed: Vec<f64>,
    pub n_labels: usize,
}

impl LabelSets {
    /// Number of sets.
    pub fn len(&self) -> usize {
        self.signed.len() / self.n_labels
    }

    /// The signed weights of one set.
    pub fn of(&self, code: u32) -> &[f64] {
        &self.signed[code as usize * self.n_labels..][..self.n_labels]
    }

    /// For each label the weights of the samples that have it not, and of those that have it.
    pub fn totals(&self, codes: &[u32], weights: &[f64]) -> Vec<[f64; 2]> {
        let mut totals = vec![[0.0; 2]; self.n_labels];
        for (&code, weight) in codes.iter().zip(weights) {
            for (total, signed) in totals.iter_mut().zip(self.of(code)) {
                if *signed != 0.0 {
                    total[usize::from(*signed > 0.0)] += weight;
                }
            }
        }
        totals
    }
}
