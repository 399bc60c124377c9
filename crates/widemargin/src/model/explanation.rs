//! Explanations of predictions: the terms whose sum is a decision value.

use std::ops::Range;

use serde::Serialize;

use super::origin::Origin;
use crate::data::Label;
use crate::error::{Result, require};
use crate::problem::OneVsRest;
use crate::similarity::Comparison;
use crate::solve::Calibration;

/// The decision value of one sample as a sum of terms.
///
/// For each two-class problem k, decision value k = intercept k + Σ over terms of their contribution to k, to rounding.
/// The terms depend on the method:
///
/// - basis expansion: the similarities to the bases, and columns of features. φ is linear in the similarities, so that
///   the normalization is in the weights, Mw for a map φ = Mᵀ(s − c): contribution = weight · (value − reference),
///   where the reference is the mean similarity over the training samples that the normalization subtracts, or 0.
///   Operations of a descriptor or a similarity on each sample alone, such as the division of `tfidf` by the norm, are
///   in its value.
/// - thin plate: the kernel's values at the support samples or bases, and the polynomials, whose constant is the
///   intercept.
/// - power mean: the columns. The kernel is additive, so that a column contributes g_j(x_j), which is not linear in
///   x_j: there are no weights. Columns that are 0 contribute nothing and are omitted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// The method, as model files name it.
    pub method: &'static str,
    /// The classes; with two, positive contributions are in favor of the second. For multilabel models, the labels.
    pub classes: Vec<Label>,
    /// Whether the model is multilabel, with a problem for each label: a sample has the labels with decision values
    /// above 0.
    pub multilabel: bool,
    /// Whether the decision values are the predictions (numbers, or the score of an outlier detector), and the classes
    /// their names.
    pub is_of_values: bool,
    /// The position of the predicted class; for multilabel models, of the label with the largest decision value.
    pub predicted: usize,
    /// The position of the class or label whose terms have details: the predicted one unless another was requested.
    pub explained: usize,
    /// The decision value of each two-class problem.
    pub decision_values: Vec<f64>,
    /// The probability of each class, if the model is calibrated.
    pub probabilities: Option<Vec<f64>>,
    /// The intercept of each problem.
    pub intercepts: Vec<f64>,
    /// The similarities or the kernel, to which terms refer by position.
    pub parts: Vec<String>,
    /// The terms whose sum is the decision values.
    pub terms: Vec<Term>,
}

/// A term of decision values.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Term {
    /// The position in [`Explanation::parts`].
    pub part: usize,
    /// The meaning of the value.
    #[serde(flatten)]
    pub source: TermSource,
    /// The similarity, the feature or the monomial.
    pub value: f64,
    /// The reference of the value.
    pub reference: f64,
    /// The weight in each problem; empty where contributions are not linear in the value.
    pub weights: Vec<f64>,
    /// The contribution to each decision value: weight · (value − reference).
    pub contributions: Vec<f64>,
    /// The parts of the similarity, for the strongest terms and similarities that support it.
    pub comparison: Option<Comparison>,
}

/// The meaning of a term's value.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum TermSource {
    /// The similarity to a basis.
    Basis {
        /// Its position among the bases of the model.
        index: usize,
        /// Its row among the training samples, where the model knows it.
        row: Option<usize>,
    },
    /// A feature of the sample itself.
    Column {
        /// Its position among the features of its part.
        index: usize,
        /// Its name or term, where it is known.
        name: Option<String>,
    },
    /// A polynomial of the features.
    Polynomial {
        /// Such as `width · height`, of centered and scaled columns.
        name: String,
    },
}

impl Explanation {
    /// The contribution of a term to the decision value of the class at this position; for the first of two classes,
    /// the sign is reversed.
    pub fn contribution(&self, term: &Term, class: usize) -> f64 {
        self.for_class(&term.contributions, class)
    }

    /// The decision value of a class, in the same sense.
    pub fn decision_value(&self, class: usize) -> f64 {
        self.for_class(&self.decision_values, class)
    }

    /// The intercept of a class, in the same sense.
    pub fn intercept(&self, class: usize) -> f64 {
        self.for_class(&self.intercepts, class)
    }

    /// The weight of a term in the decision value of a class, in the same sense; `None` if contributions are not linear
    /// in the value.
    pub fn weight(&self, term: &Term, class: usize) -> Option<f64> {
        (!term.weights.is_empty()).then(|| self.for_class(&term.weights, class))
    }

    /// The predicted labels of the sample; for multiclass models, the predicted class.
    pub fn predicted_labels(&self) -> Vec<&Label> {
        if !self.multilabel {
            return self.classes.get(self.predicted).into_iter().collect();
        }
        self.classes
            .iter()
            .zip(&self.decision_values)
            .filter(|(_, value)| **value > 0.0)
            .map(|(label, _)| label)
            .collect()
    }

    fn for_class(&self, of_problems: &[f64], class: usize) -> f64 {
        match of_problems {
            [one] if class == 0 && !self.multilabel && !self.is_of_values => -one,
            [one] => *one,
            all => all.get(class).copied().unwrap_or(0.0),
        }
    }

    /// Positions of the terms in descending order of their absolute contributions to a class.
    pub fn strongest(&self, class: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.terms.len()).collect();
        let size = |at: &usize| self.contribution(&self.terms[*at], class).abs();
        order.sort_by(|a, b| size(b).total_cmp(&size(a)));
        order
    }
}

/// The row of samples to explain, as a range.
pub(super) fn checked_row(row: usize, n_samples: usize) -> Result<Range<usize>> {
    let expected = format!("0 to {}: there are {n_samples} samples", n_samples.saturating_sub(1));
    require(row < n_samples, "row", row, &expected).map(|()| row..row + 1)
}

/// The decision values of a sample, and what they are of.
#[derive(Debug)]
pub struct Decided {
    /// Classes, labels, or the names of numbers.
    pub classes: Vec<Label>,
    /// Whether the values are the predictions.
    pub is_of_values: bool,
    pub values: Vec<f64>,
    pub intercepts: Vec<f64>,
}

impl Decided {
    /// The outputs of a regression.
    pub fn outputs(values: Vec<f64>, intercepts: Vec<f64>) -> Self {
        let name = |output: usize| format!("target {output}").as_str().into();
        let classes = if values.len() == 1 { vec!["target".into()] } else { (0..values.len()).map(name).collect() };
        Decided { classes, is_of_values: true, values, intercepts }
    }

    /// The explanation by these terms.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) for a class that is not there.
    pub(super) fn explanation(
        self,
        method: &'static str,
        origin: &Origin,
        class: Option<usize>,
        parts: Vec<String>,
        terms: Vec<Term>,
    ) -> Result<Explanation> {
        let Decided { classes, is_of_values, values, intercepts } = self;
        let of_class = class.map_or_else(String::new, |class| class.to_string());
        let expected = format!("a position among {} classes or outputs", classes.len());
        require(class.is_none_or(|class| class < classes.len()), "class", of_class, &expected)?;
        let single: Vec<f32> = values.iter().map(|&value| value as f32).collect();
        let multilabel = origin.multilabel;
        // Of one label its decision value does not choose between two.
        let predicted = if classes.len() == 1 || is_of_values { 0 } else { OneVsRest::decide(&single) };
        let probabilities = |calibration: &Calibration| match multilabel {
            true => calibration.of_labels(&values, false),
            false => calibration.probabilities(&values, classes.len()),
        };
        let explained = class.unwrap_or(predicted);
        Ok(Explanation {
            method,
            multilabel,
            is_of_values,
            // The prediction of one of several outputs is that output's.
            predicted: if is_of_values { explained } else { predicted },
            explained,
            probabilities: origin.calibration.as_ref().map(probabilities),
            classes,
            decision_values: values,
            intercepts,
            parts,
            terms,
        })
    }
}
