//! Dual variables of the training samples, from a model and its decision values.
//!
//! At the optimum of ½‖f‖² + Σ c_i loss(y_i f(x_i)) the dual variable of sample i is α_i = −c_i loss'(y_i f(x_i)), and
//! f = Σ α_i y_i k(x_i, ·): the representer theorem. A smooth loss gives it at any margin; the hinge at every margin
//! but 1, where the support vectors are.

use super::origin::TrainingSettings;
use crate::data::{ClassWeight, DenseMatrix, Label, Labels, effective_weights};
use crate::error::{Error, Result};
use crate::problem::{Loss, OneVsRest};

/// The labels in terms of a model's classes.
///
/// # Errors
/// [`Error::Shape`] for another number of labels than samples, [`Error::Parameter`] for a label that is not among the
/// classes.
pub(crate) fn in_classes(labels: &Labels, classes: &[Label], n_samples: usize) -> Result<Labels> {
    if labels.len() != n_samples {
        let (found, expected) = (format!("{} labels", labels.len()), format!("{n_samples}, one a sample"));
        return Err(Error::shape("labels", found, expected));
    }
    if labels.is_multilabel() {
        if labels.classes() == classes {
            return Ok(labels.clone());
        }
        return Err(Error::shape("labels", "other labels", "those that the model was trained with, in their order"));
    }
    let code = |label: &Label| {
        let known = classes.iter().position(|class| class == label);
        known
            .map(|code| code as u32)
            .ok_or_else(|| Error::parameter("label", label, "one of the classes that the model was trained with"))
    };
    let own: Vec<u32> = labels.classes().iter().map(code).collect::<Result<_>>()?;
    let codes = labels.codes().iter().map(|&code| own[code as usize]).collect();
    Labels::from_codes(classes.to_vec(), codes)
}

/// The labels in terms of a model's classes, and C times the weight of each sample, including class weights.
///
/// # Errors
/// As for [`in_classes`]; those of invalid weights.
pub(crate) fn costs(
    c: f64,
    labels: &Labels,
    classes: &[Label],
    n_samples: usize,
    (sample_weight, training): (Option<&[f64]>, Option<&TrainingSettings>),
) -> Result<(Labels, Vec<f64>)> {
    let labels = in_classes(labels, classes, n_samples)?;
    let class_weight = training.map_or(&ClassWeight::Uniform, |training| &training.class_weight);
    let weights = effective_weights(&labels, sample_weight, class_weight)?;
    let labels = labels.balanced(class_weight, &weights);
    Ok((labels, weights.into_iter().map(|weight| c * weight).collect()))
}

/// The dual variables, samples × problems, at decision values (row-major).
pub(crate) fn of_smooth(loss: Loss, labels: &Labels, costs: &[f64], decision: &[f64]) -> DenseMatrix<f64> {
    let targets = OneVsRest::of(labels);
    let (n_rows, n_cols) = (labels.len(), targets.n_problems());
    let at = |(at, value): (usize, &f64)| {
        let (row, problem) = (at / n_cols, at % n_cols);
        let sign = targets.sign(row, problem);
        costs[row] * targets.weight(row, problem) * sign * loss.at(sign, *value).dual
    };
    DenseMatrix { values: decision.iter().enumerate().map(at).collect(), n_rows, n_cols }
}
