//! C by leave-one-out in closed form, on some thousand samples if there are more.
//!
//! For the squared hinge, the decision value of a sample that the fit did not see follows from the solution with it
//! (`solve/thin_plate/given_features.rs`). C keeps its meaning with the number of samples: it is the weight of each.

use super::hessian_rows::choose_hessian_rows;
use super::start::Start;
use crate::data::{DenseView, Labels, Rows, check_costs};
use crate::error::Result;
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::problem::Intercept;
use crate::solve::thin_plate::{OnFeatures, PathPoint, Problems, fit_given};

/// Samples on which C is selected: the standard error of an accuracy of 90 % is .4 points there, that of a difference
/// between two values of C much less.
pub(super) const SAMPLES_TO_CHOOSE: usize = 4000;

/// The samples with their labels and weights.
#[derive(Clone, Copy)]
pub(super) struct Chosen<'a> {
    pub labels: &'a Labels,
    /// Effective weights.
    pub weights: &'a [f64],
    /// How many samples each one stands for.
    pub copies: &'a [f64],
}

/// C, and what follows from its selection.
pub(super) struct ChosenC {
    pub c: f64,
    pub path: Vec<PathPoint>,
    /// A warm start for the fit on all samples.
    pub start: Option<Start>,
    pub note: Option<String>,
    pub warning: Option<String>,
}

impl ChosenC {
    /// A C that is given, with the caller's warm start.
    pub fn given(c: f64, start: Option<Start>) -> Self {
        ChosenC { c, path: Vec::new(), start, note: None, warning: None }
    }

    /// The cost of each sample's loss.
    ///
    /// # Errors
    /// As for [`check_costs`].
    pub fn costs(&self, weights: &[f64], n_classes: usize) -> Result<Vec<f64>> {
        check_costs(self.c, weights, n_classes)?;
        Ok(weights.iter().map(|weight| self.c * weight).collect())
    }
}

/// The C with the least mean leave-one-out squared hinge.
pub(super) fn choose_c(
    phi: DenseView<'_, f32>,
    samples: Chosen<'_>,
    intercept: Intercept,
    seed: u64,
    threads: usize,
    monitor: &Monitor<'_>,
) -> Result<ChosenC> {
    let Chosen { labels, weights, copies } = samples;
    let rows = choose_hessian_rows(labels, weights, SAMPLES_TO_CHOOSE.min(weights.len()), seed);
    let is_part = rows.len() < weights.len();
    let note = is_part.then(|| format!("C was selected on {} of the samples", rows.len()));
    let of_rows = |all: &[f64]| -> Vec<f64> { rows.iter().map(|&row| all[row]).collect() };
    let codes = rows.iter().map(|&row| labels.codes()[row]).collect();
    let labels = Labels::from_codes(labels.classes().to_vec(), codes)?;
    let (weights, copies) = (of_rows(weights), of_rows(copies));
    // Leave-one-out removes one copy, whose weight is that of its class.
    let units: Vec<f64> = weights.iter().zip(&copies).map(|(weight, copies)| weight / copies.max(1.0)).collect();
    let problems =
        Problems { codes: labels.codes(), n_classes: labels.classes().len(), weights: &weights, units: &units };
    let class_weights = labels.class_weights(&weights);
    let copied: Vec<f32> = if is_part { rows.iter().flat_map(|&row| phi.row(row)).copied().collect() } else { vec![] };
    let phi = if is_part { DenseView::new(&copied, rows.len(), phi.n_cols())? } else { phi };
    let OnFeatures { weights, intercepts, outcome } =
        fit_given(phi, &problems, intercept, &Pool::new(threads)?, monitor)?;
    let warning = outcome.best.point.no_better_than_the_largest_class(&class_weights);
    let start = Start { weights: weights.iter().flatten().map(|&weight| weight as f32).collect(), intercepts };
    Ok(ChosenC { c: outcome.best.point.c, path: outcome.path, start: Some(start), note, warning })
}
