//! Dual variables of the training samples, from a model and its decision values.
//!
//! At the optimum of ½‖f‖² + Σ c_i loss(y_i f(x_i)) the dual variable of sample i is α_i = −c_i loss'(y_i f(x_i)), and
//! f = Σ α_i y_i k(x_i, ·): the representer theorem. A smooth loss gives it at any margin; the hinge at every margin but
//! 1, where the support vectors are.

use crate::data::{ClassWeight, DenseMatrix, Label, Labels, effective_weights};
use crate::error::{Error, Result};
use crate::problem::{OneVsRest, SmoothLoss};

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

/// C times the weight of each sample, of which those of the classes are part.
pub(crate) fn costs(
    c: f64,
    labels: &Labels,
    sample_weight: Option<&[f64]>,
    class_weight: Option<&ClassWeight>,
) -> Result<Vec<f64>> {
    let weights = effective_weights(labels, sample_weight, class_weight.unwrap_or(&ClassWeight::Uniform))?;
    Ok(weights.into_iter().map(|weight| c * weight).collect())
}

/// The dual variables, samples × problems, at decision values (row-major).
pub(crate) fn of_smooth(loss: SmoothLoss, labels: &Labels, costs: &[f64], decision: &[f64]) -> DenseMatrix<f64> {
    let targets = OneVsRest::new(labels.codes(), labels.classes().len());
    let (n_rows, n_cols) = (labels.len(), targets.n_problems());
    let at = |(at, value): (usize, &f64)| {
        let (row, problem) = (at / n_cols, at % n_cols);
        costs[row] * loss.at(targets.sign(row, problem) * value).pull
    };
    DenseMatrix { values: decision.iter().enumerate().map(at).collect(), n_rows, n_cols }
}
