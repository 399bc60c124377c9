//! The interface of classifiers of all methods.

use super::Scores;
use super::dual_variables::{costs, of_smooth};
use super::interface::Model;
use crate::data::{DenseMatrix, Label, Labels, SamplesView};
use crate::error::{Error, Result, require};
use crate::monitor::Monitor;
use crate::problem::{Loss, n_problems};
use crate::solve::Calibration;

/// A trained classifier of any method.
pub trait Classifier: Model {
    /// The classes, in the order of the decision values' columns.
    fn classes(&self) -> &[Label];

    /// The kind of the report's iterations.
    #[doc(hidden)]
    fn iterations(&self) -> &'static str {
        "Newton steps"
    }

    /// Number of columns of the decision values, of a two-class problem each: 1 for two classes, otherwise one per class
    /// or label.
    #[doc(hidden)]
    fn n_problems(&self) -> usize {
        if self.is_multilabel() { self.classes().len() } else { n_problems(self.classes().len()) }
    }

    /// Decision values of samples: one column for two classes (above 0 predicts the second), otherwise one per class.
    ///
    /// Uses `threads` threads, 0 meaning one per core; the values do not depend on it. The number of finished samples
    /// is reported to the monitor, which may cancel (a time limit is ignored).
    ///
    /// # Errors
    /// Samples of another kind or shape, and values that cannot be used, with their names and the expected values;
    /// [`Error::Cancelled`].
    fn decision_function(&self, samples: &SamplesView<'_>, threads: usize, monitor: &Monitor<'_>) -> Result<Scores>;

    /// The same, row-major, in the precision in which the method computes them.
    ///
    /// # Errors
    /// As for [`Classifier::decision_function`].
    #[doc(hidden)]
    fn decision_values(&self, samples: &SamplesView<'_>, threads: usize, monitor: &Monitor<'_>) -> Result<Vec<f64>> {
        let scores = self.decision_function(samples, threads, monitor)?;
        Ok(scores.values().iter().map(|&score| f64::from(score)).collect())
    }

    /// The predicted class of each sample.
    ///
    /// # Errors
    /// As for [`Classifier::decision_function`].
    fn predict(&self, samples: &SamplesView<'_>, threads: usize, monitor: &Monitor<'_>) -> Result<Vec<&Label>> {
        let expected = "predict_labels: the model is multilabel, without a single class per sample";
        require(!self.is_multilabel(), "predict", "the class of each sample", expected)?;
        Ok(self.decision_function(samples, threads, monitor)?.decide(self.classes()))
    }

    /// Whether the model is multilabel: the labels then are the classes, each with a decision value, above 0 where the
    /// sample has it.
    fn is_multilabel(&self) -> bool {
        self.origin().multilabel
    }

    /// The predicted labels of a multilabel model, samples × labels: 1 or 0.
    ///
    /// # Errors
    /// As for [`Classifier::decision_function`]; [`Error::Parameter`] for a multiclass model.
    fn predict_labels(
        &self,
        samples: &SamplesView<'_>,
        threads: usize,
        monitor: &Monitor<'_>,
    ) -> Result<DenseMatrix<u8>> {
        require(self.is_multilabel(), "predict_labels", "labels", "predict: samples have one class each")?;
        let scores = self.decision_function(samples, threads, monitor)?;
        let values = scores.values().iter().map(|&score| u8::from(score > 0.0)).collect();
        Ok(DenseMatrix { values, n_rows: scores.n_rows(), n_cols: scores.n_cols() })
    }

    /// How decision values become probabilities; none in files of versions that had no probabilities.
    fn calibration(&self) -> Option<&Calibration> {
        self.origin().calibration.as_ref()
    }

    /// The probability of each class, samples × classes. The most probable class of a sample is the predicted one. Of a
    /// multilabel model the probability of each label: above ½ where it is predicted.
    ///
    /// With class weights they are the probabilities in the classes as weighted, as predictions are.
    ///
    /// # Errors
    /// As for [`Classifier::decision_function`]; [`Error::NotCalibrated`] for a model without calibration.
    fn predict_proba(
        &self,
        samples: &SamplesView<'_>,
        threads: usize,
        monitor: &Monitor<'_>,
    ) -> Result<DenseMatrix<f64>> {
        let calibration = self.calibration().ok_or(Error::NotCalibrated)?;
        let values = self.decision_values(samples, threads, monitor)?;
        let (n_rows, n_cols) = (values.len() / self.n_problems(), self.classes().len());
        let values = match self.is_multilabel() {
            true => calibration.of_labels(&values, false),
            false => calibration.probabilities(&values, n_cols),
        };
        Ok(DenseMatrix { values, n_rows, n_cols })
    }

    /// The weight C of the losses of one two-class problem.
    fn c(&self, problem: usize) -> f64;

    /// The loss.
    fn loss(&self) -> Loss;

    /// ‖f‖² of each two-class problem in the space of its features; its reciprocal is the margin of Aghazadeh and
    /// Carlsson (eq. 8 to 10); for a thin plate SVM it is that of a kernel SVM.
    ///
    /// # Errors [`Error::Parameter`] for a power mean SVM with the polynomial approximation, which has no such space;
    /// [`Error::Threads`].
    #[doc(hidden)]
    fn squared_norms(&self, threads: usize) -> Result<Vec<f64>>;

    /// The dual variables α of the training samples, samples × problems: f = Σ α_i y_i k(x_i, ·). `labels` and
    /// `sample_weight` are those of the fit.
    ///
    /// # Errors
    /// As for [`Classifier::decision_function`]; invalid labels and weights; [`Error::Parameter`] for a power mean SVM
    /// with the hinge loss, whose dual variables do not follow from the decision values.
    #[doc(hidden)]
    fn dual_variables(
        &self,
        samples: &SamplesView<'_>,
        labels: &Labels,
        sample_weight: Option<&[f64]>,
        threads: usize,
        monitor: &Monitor<'_>,
    ) -> Result<DenseMatrix<f64>> {
        let loss = self.loss();
        let expected = "squared-hinge: at a margin of 1 the dual variables of the hinge do not follow from the \
                        decision values";
        require(loss.is_smooth(), "loss", loss, expected)?;
        let values = self.decision_values(samples, threads, monitor)?;
        let n_rows = values.len() / self.n_problems();
        let (labels, costs) = costs(1.0, labels, self.classes(), n_rows, (sample_weight, self.training()))?;
        let mut alphas = of_smooth(loss, &labels, &costs, &values);
        let n_problems = alphas.n_cols;
        alphas.values.iter_mut().enumerate().for_each(|(at, alpha)| *alpha *= self.c(at % n_problems));
        Ok(alphas)
    }
}
