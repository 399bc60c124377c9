//! What `evaluate` counts and stores of samples, block by block.

use widemargin::data::{Label, Labels};
use widemargin::select::Evaluation;

/// Decision values that are stored without being requested: 40 MB.
const MAX_STORED: usize = 10_000_000;

/// What was counted and stored of the samples.
pub struct Scored {
    evaluation: Evaluation,
    /// None once there are too many.
    stored: Option<Stored>,
}

/// Labels, weights and decision values of all samples.
pub type OfAll = (Labels, Option<Vec<f64>>, Vec<f32>);

impl Scored {
    /// Of no samples yet.
    pub fn new() -> Self {
        Scored { evaluation: Evaluation::default(), stored: Some(Stored::default()) }
    }

    /// Adds some samples: the prediction of each and its decision values, which are stored beyond the limit if they must.
    pub fn add<'a>(
        &mut self,
        labels: &Labels,
        predicted: impl Fn(usize) -> &'a Label,
        weights: Option<&[f64]>,
        values: &[f32],
        must_store: bool,
    ) {
        for row in 0..labels.len() {
            self.evaluation.add_weighted(labels.get(row), predicted(row), weights.map_or(1.0, |weights| weights[row]));
        }
        if let Some(stored) = &mut self.stored {
            stored.labels.extend((0..labels.len()).map(|row| labels.get(row).clone()));
            stored.values.extend_from_slice(values);
            stored.weights.extend(weights.into_iter().flatten());
        }
        if !must_store && self.stored.as_ref().is_some_and(|stored| stored.values.len() > MAX_STORED) {
            self.stored = None;
        }
    }

    /// What was counted, and what was stored of samples with weights or without.
    pub fn split(self) -> (Evaluation, Option<OfAll>) {
        let of_all = |stored: Stored| {
            let weights = (!stored.weights.is_empty()).then_some(stored.weights);
            (Labels::new(stored.labels), weights, stored.values)
        };
        (self.evaluation, self.stored.map(of_all))
    }
}

#[derive(Default)]
struct Stored {
    labels: Vec<Label>,
    values: Vec<f32>,
    /// As many as samples, or none.
    weights: Vec<f64>,
}
