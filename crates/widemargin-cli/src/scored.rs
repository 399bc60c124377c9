//! What `evaluate` counts and keeps of samples, block by block.

use widemargin::data::{Label, Labels};
use widemargin::select::Evaluation;

/// Decision values that are kept without being asked for: 40 MB.
const KEPT: usize = 10_000_000;

/// What was counted and kept of the samples.
pub struct Scored {
    evaluation: Evaluation,
    /// None once there are too many.
    kept: Option<Kept>,
}

/// Labels, weights and decision values of all samples.
pub type OfAll = (Labels, Option<Vec<f64>>, Vec<f32>);

impl Scored {
    /// Of no samples yet.
    pub fn new() -> Self {
        Scored { evaluation: Evaluation::default(), kept: Some(Kept::default()) }
    }

    /// Adds some samples: what each is told to be, and its decision values, which are kept beyond what is usual if they must.
    pub fn add<'a>(
        &mut self,
        labels: &Labels,
        told: impl Fn(usize) -> &'a Label,
        weights: Option<&[f64]>,
        values: &[f32],
        must_keep: bool,
    ) {
        for row in 0..labels.len() {
            self.evaluation.add_weighted(labels.get(row), told(row), weights.map_or(1.0, |weights| weights[row]));
        }
        if let Some(kept) = &mut self.kept {
            kept.labels.extend((0..labels.len()).map(|row| labels.get(row).clone()));
            kept.values.extend_from_slice(values);
            kept.weights.extend(weights.into_iter().flatten());
        }
        if !must_keep && self.kept.as_ref().is_some_and(|kept| kept.values.len() > KEPT) {
            self.kept = None;
        }
    }

    /// What was counted, and what was kept of samples with weights or without.
    pub fn split(self) -> (Evaluation, Option<OfAll>) {
        let of_all = |kept: Kept| {
            let weights = (!kept.weights.is_empty()).then_some(kept.weights);
            (Labels::new(kept.labels), weights, kept.values)
        };
        (self.evaluation, self.kept.map(of_all))
    }
}

#[derive(Default)]
struct Kept {
    labels: Vec<Label>,
    values: Vec<f32>,
    /// As many as samples, or none.
    weights: Vec<f64>,
}
