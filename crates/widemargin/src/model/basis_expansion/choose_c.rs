//! C by leave-one-out in closed form, on some thousand samples if there are more.
//!
//! For the squared hinge, the decision value of a sample that the fit did not see follows from the solution with it
//! (`solve/thin_plate/given_features.rs`). C keeps its meaning with the number of samples: it is the weight of each.

use super::hessian_rows::choose_hessian_rows;
use super::start::Start;
use crate::data::{DenseView, Labels, Rows};
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
    let (codes, n_classes) = (labels.codes(), labels.classes().len());
    let rows = choose_hessian_rows(labels, weights, SAMPLES_TO_CHOOSE.min(weights.len()), seed);
    let note = (rows.len() < weights.len()).then(|| format!("C was selected on {} of the samples", rows.len()));
    let part = |all: &[f64]| -> Vec<f64> { rows.iter().map(|&row| all[row]).collect() };
    let part_of_phi: Vec<f32> = rows.iter().flat_map(|&row| phi.row(row)).copied().collect();
    let codes: Vec<u32> = rows.iter().map(|&row| codes[row]).collect();
    let weights = part(weights);
    // Leave-one-out removes one copy, whose weight is that of its class.
    let units: Vec<f64> = weights.iter().zip(part(copies)).map(|(weight, copies)| weight / copies.max(1.0)).collect();
    let problems = Problems { codes: &codes, n_classes, weights: &weights, units: &units };
    let pool = Pool::new(threads)?;
    let view = DenseView::new(&part_of_phi, rows.len(), phi.n_cols())?;
    let mut class_weights = vec![0.0; n_classes];
    codes.iter().zip(&weights).for_each(|(&code, weight)| class_weights[code as usize] += weight);
    let OnFeatures { weights, intercepts, outcome } = fit_given(view, &problems, intercept, &pool, monitor)?;
    let warning = outcome.best.point.no_better_than_the_largest_class(&class_weights);
    let start = Start { weights: weights.iter().flatten().map(|&weight| weight as f32).collect(), intercepts };
    Ok(ChosenC { c: outcome.best.point.c, path: outcome.path, start: Some(start), note, warning })
}
