//! A trained basis expansion SVM.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::expand::Expansion;
use super::expansion_model::{ExpansionModel, ExpansionTask};
use crate::data::{DenseMatrix, Label, Labels, SamplesView, Source};
use crate::error::{Error, Result, require};
use crate::expansion::BasisExpansion;
use crate::macros::getters;
use crate::model::dual_variables::{costs, in_classes, of_smooth};
use crate::model::explanation::Decided;
use crate::model::file::{Array, Reader, array, by_name};
use crate::model::on_workers::{BroughtRows, Preparation, Solved, WeightedLabels, solve};
use crate::model::origin::Origin;
use crate::model::{Classifier, Model, Scores};
use crate::monitor::Monitor;
use crate::partition::Workers;
use crate::problem::{Intercept, LinearProblem, Loss, OneVsRest, Penalty};
use crate::similarity::Similarity;
use crate::solve::dual::linear;
use crate::solve::newton::{NewtonSettings, NewtonSolution};
use crate::solve::thin_plate::PathPoint;
use crate::solve::{Calibration, DescentSettings};

/// A basis expansion SVM. It stores its bases, and compares samples with them only.
pub type BasisExpansionSvc<S> = ExpansionModel<S, Classification>;

/// The task of a basis expansion SVM.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Classification {
    #[serde(with = "by_name")]
    pub(crate) loss: Loss,
    /// Absent for `l2`.
    #[serde(with = "by_name", default, skip_serializing_if = "is_l2")]
    pub(crate) penalty: Penalty,
    #[serde(rename = "C")]
    pub(crate) c: f64,
    /// By descending λ; empty for a fixed C.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) path: Vec<PathPoint>,
    #[serde(with = "by_name")]
    pub(crate) intercept: Intercept,
    pub(crate) classes: Vec<Label>,
    /// `[problem][feature]`.
    #[serde(skip)]
    pub(crate) weights: Vec<f32>,
    #[serde(skip)]
    pub(crate) intercepts: Vec<f64>,
}

fn is_l2(penalty: &Penalty) -> bool {
    *penalty == Penalty::L2
}

impl Classification {
    /// A solution, with the path by which C was selected.
    pub(super) fn new(
        labels: &Labels,
        (loss, penalty, intercept): (Loss, Penalty, Intercept),
        (c, path): (f64, Vec<PathPoint>),
        (weights, intercepts): (Vec<f32>, Vec<f64>),
    ) -> Self {
        Classification { loss, penalty, c, path, intercept, classes: labels.classes().to_vec(), weights, intercepts }
    }
}

impl ExpansionTask for Classification {
    const METHOD: &'static str = "basis-expansion";
    type Weight = f32;

    fn weights(&self) -> &[f32] {
        &self.weights
    }

    fn n_problems(&self) -> usize {
        self.intercepts.len()
    }

    fn decide<S: Similarity>(model: &BasisExpansionSvc<S>, sample: &S::Samples) -> Result<Decided> {
        let scores = model.decision_function_with(sample, 1, &Monitor::none())?;
        Ok(Decided {
            classes: model.task.classes.clone(),
            is_of_values: false,
            values: scores.values().iter().map(|&value| f64::from(value)).collect(),
            intercepts: model.task.intercepts.clone(),
        })
    }

    fn arrays(&self, n_features: usize) -> [Array<'_>; 2] {
        let k = self.n_problems();
        [array("weights", vec![k, n_features], &self.weights), array("intercepts", vec![k], &self.intercepts)]
    }

    fn read(&mut self, reader: &Reader<'_>, origin: &Origin, n_features: usize) -> Result<()> {
        let k = reader.n_problems(&self.classes, origin)?;
        self.weights = reader.tensor("weights", &[k, n_features])?;
        self.intercepts = reader.tensor("intercepts", &[k])?;
        Ok(())
    }

    fn parameters(&self) -> Value {
        json!({
            "C": self.c,
            "loss": self.loss.to_string(),
            "penalty": self.penalty.to_string(),
            "intercept": self.intercept.to_string(),
        })
    }
}

impl<S: Similarity> BasisExpansionSvc<S> {
    /// Decision values of samples: one column for two classes (values above 0 predict the second), otherwise one per
    /// class.
    ///
    /// Uses `threads` threads, 0 meaning one per core; the values do not depend on it.
    ///
    /// # Errors
    /// Errors of the similarity; [`Error::Similarity`] for a non-finite value, naming the
    /// pair.
    pub fn decision_function(&self, samples: &dyn Source<Samples = S::Samples>, threads: usize) -> Result<Scores> {
        self.decision_function_with(samples, threads, &Monitor::none())
    }

    /// The same with a monitor, which receives progress and may cancel (time limits are ignored).
    ///
    /// # Errors
    /// As for [`BasisExpansionSvc::decision_function`]; [`Error::Cancelled`].
    pub(crate) fn decision_function_with(
        &self,
        samples: &dyn Source<Samples = S::Samples>,
        threads: usize,
        monitor: &Monitor<'_>,
    ) -> Result<Scores> {
        let k = self.task.intercepts.len();
        let decide = || self.expansion.has_decision().then(|| self.expansion.decision(&self.task.weights, k));
        let decision = self.decision.get_or_init(decide).as_ref();
        let mut values = self.products((decision, &self.task.weights), samples, threads, monitor)?;
        for row in values.chunks_mut(k) {
            row.iter_mut().zip(&self.task.intercepts).for_each(|(score, b)| *score = (f64::from(*score) + b) as f32);
        }
        Ok(Scores::new(values, k))
    }

    /// The predicted class of each sample.
    ///
    /// # Errors
    /// As for [`BasisExpansionSvc::decision_function`].
    pub fn predict(&self, samples: &dyn Source<Samples = S::Samples>, threads: usize) -> Result<Vec<&Label>> {
        let expected = "of a multiclass model: this one is multilabel, whose decision values show by their \
                        sign which a sample has";
        require(!self.origin.multilabel, "predict", "the class of each sample", expected)?;
        Ok(self.decision_function(samples, threads)?.decide(&self.task.classes))
    }

    /// The geometric margin 1/‖w‖ of each two-class problem: the distance from the boundary, in the normalized feature
    /// space, of points with decision values of ±1. Infinite if all weights are 0.
    ///
    /// It is a distance between features φ(x), not between samples, in the unit of the normalization (for `mean-norm`,
    /// the mean distance of a sample from the center). ‖w‖ does not include the intercept, penalized or not: it shifts
    /// the boundary and does not rotate it.
    pub fn margins(&self) -> Vec<f64> {
        self.norms().into_iter().map(|norm| 1.0 / norm).collect()
    }

    /// The signed distance y·f(x)/‖w‖ of each sample from the boundary of each two-class problem in the normalized
    /// feature space: samples × problems, above 0 for correctly classified samples.
    ///
    /// `labels` has one label per sample; y is 1 in the problem of the sample's class and −1 in the others (for two
    /// classes, 1 for the second). If all weights are 0 the distance is infinite with the sign of y·f(x), or 0.
    ///
    /// # Errors
    /// As for [`BasisExpansionSvc::decision_function`]; [`Error::Shape`] if the numbers of labels and
    /// samples differ;
    /// [`Error::Parameter`] for a label that is not one of the trained classes.
    pub fn sample_margins(
        &self,
        samples: &dyn Source<Samples = S::Samples>,
        labels: &Labels,
        threads: usize,
    ) -> Result<DenseMatrix<f64>> {
        let n_rows = samples.n_samples();
        let labels = in_classes(labels, &self.task.classes, n_rows)?;
        let (targets, norms) = (OneVsRest::of(&labels), self.norms());
        let scores = self.decision_function(samples, threads)?;
        let n_cols = norms.len();
        let margin = |(at, score): (usize, &f32)| {
            let (row, problem) = (at / n_cols, at % n_cols);
            let signed = targets.sign(row, problem) * f64::from(*score);
            if signed == 0.0 { 0.0 } else { signed / norms[problem] }
        };
        let values = scores.values().iter().enumerate().map(margin).collect();
        Ok(DenseMatrix { values, n_rows, n_cols })
    }

    /// ‖w‖ of each problem.
    fn norms(&self) -> Vec<f64> {
        self.squared_norms().into_iter().map(f64::sqrt).collect()
    }

    getters! {
        task =>
        /// The classes, in the order of the decision values' columns.
        classes: &[Label];
        /// The weights, `[problem][feature]`.
        weights: &[f32];
        /// The intercepts, one per problem.
        intercepts: &[f64];
        /// The weight C of the losses, fixed or selected.
        hidden copy c: f64;
        /// The results at every evaluated C, by descending λ; empty for a fixed C.
        path: &[PathPoint];
        /// The loss.
        hidden copy loss: Loss;
        /// The penalty.
        hidden copy penalty: Penalty;
        /// How the intercept is treated.
        hidden copy intercept: Intercept;
    }
}

#[doc(hidden)]
impl<S: Similarity> BasisExpansionSvc<S> {
    /// Trains on the features of an expansion that workers hold, with the classes, costs, loss and intercept that they
    /// have. Equal samples are not merged. Without features of some rows in this process (`brought`), workers compute
    /// the Hessian's products too.
    ///
    /// # Errors
    /// An error of the workers; [`Error::Cancelled`].
    pub fn of_workers(
        expansion: BasisExpansion<S>,
        workers: impl Workers,
        labeled: WeightedLabels<'_>,
        brought: Option<BroughtRows<'_>>,
        preparation: Preparation,
        (c, settings): (f64, &NewtonSettings),
        monitor: &Monitor<'_>,
    ) -> Result<Self> {
        let (made, training, clock) = Expansion::on_workers(expansion, preparation, monitor);
        let Solved { solution, shape, mut report, calibration } =
            solve(workers, labeled, brought, (c, settings), clock.stages, monitor)?;
        let NewtonSolution { weights, intercepts, .. } = solution;
        let (d, k) = (made.expansion.n_features(), OneVsRest::of(labeled.labels).n_problems());
        if weights.len() != k * d || intercepts.len() != k {
            return Err(Error::shape(
                "parts of a machine",
                format!("{} weights and {} intercepts", weights.len(), intercepts.len()),
                format!("{} and {k}: {k} problems of {d} features", k * d),
            ));
        }
        let kind = (shape.loss, Penalty::L2, shape.intercept);
        let task = Classification::new(labeled.labels, kind, (c, Vec::new()), (weights, intercepts));
        let stages = std::mem::take(&mut report.stages);
        Ok(made.model(task, report, (training, stages)).labeled(labeled.labels, calibration))
    }

    /// The same model of samples with these labels.
    pub(super) fn labeled(mut self, labels: &Labels, calibration: Calibration) -> Self {
        self.origin = self.origin.labeled(labels).calibrated(calibration);
        self
    }

    /// ‖w‖² of each two-class problem, the reciprocal of the margin of the paper (eq. 8 and 10).
    pub fn squared_norms(&self) -> Vec<f64> {
        let d = self.expansion.n_features();
        let squared = |k: usize| self.task.weights[k * d..(k + 1) * d].iter().map(|w| f64::from(*w).powi(2)).sum();
        (0..self.task.intercepts.len()).map(squared).collect()
    }

    /// The norm of the weights of each basis over all problems and parts; `None` if the normalization mixes the bases,
    /// or for precomputed similarities to bases that the model does not store.
    pub fn weights_of_bases(&self) -> Option<Vec<f64>> {
        let (expansion, n) = (&self.expansion, self.n_bases());
        if expansion.n_columns() != n || !expansion.normalization().has_feature_per_basis() {
            return None;
        }
        Some(expansion.squares_of_bases(&self.task.weights).into_iter().map(f64::sqrt).collect())
    }

    /// The selected point of the path; `None` for a fixed C.
    pub fn chosen(&self) -> Option<&PathPoint> {
        self.task.path.iter().find(|point| point.c == self.task.c)
    }
}

impl<S: Similarity> Classifier for BasisExpansionSvc<S> {
    fn classes(&self) -> &[Label] {
        &self.task.classes
    }

    fn c(&self, _problem: usize) -> f64 {
        self.task.c
    }

    fn loss(&self) -> Loss {
        self.task.loss
    }

    fn squared_norms(&self, _threads: usize) -> Result<Vec<f64>> {
        Ok(Self::squared_norms(self))
    }

    /// With the hinge loss they do not follow from the decision values, and the dual problem is solved again.
    fn dual_variables(
        &self,
        samples: &SamplesView<'_>,
        labels: &Labels,
        sample_weight: Option<&[f64]>,
        threads: usize,
        monitor: &Monitor<'_>,
    ) -> Result<DenseMatrix<f64>> {
        self.check_samples(samples)?;
        let samples = S::source(samples)?;
        let expected = "l2: with an L1 penalty the weights are not a sum of the samples' features";
        require(self.task.penalty != Penalty::L1, "penalty", self.task.penalty, expected)?;
        let training = self.origin.training.as_ref();
        let (labels, costs) =
            costs(self.task.c, labels, &self.task.classes, samples.n_samples(), (sample_weight, training))?;
        if self.task.loss.is_smooth() {
            let scores = self.decision_function_with(samples, threads, monitor)?;
            let values: Vec<f64> = scores.values().iter().map(|&score| f64::from(score)).collect();
            return Ok(of_smooth(self.task.loss, &labels, &costs, &values));
        }
        let phi = self.expansion.transform_with(samples, threads, monitor)?;
        let targets = OneVsRest::of(&labels);
        let default = DescentSettings { threads, ..DescentSettings::default() };
        let settings = training.map_or(default, |training| DescentSettings {
            tol: training.tol,
            max_epochs: training.max_iter,
            seed: training.seed,
            ..default
        });
        let problem = LinearProblem { targets, costs: &costs, loss: Loss::Hinge, intercept: self.task.intercept };
        let alphas = linear::solve(phi.view()?, problem, &settings, monitor)?.alphas;
        let (n_rows, n_cols) = (phi.n_rows, targets.n_problems());
        let values = (0..n_rows * n_cols).map(|at| alphas[at % n_cols * n_rows + at / n_cols]).collect();
        Ok(DenseMatrix { values, n_rows, n_cols })
    }

    fn decision_function(&self, samples: &SamplesView<'_>, threads: usize, monitor: &Monitor<'_>) -> Result<Scores> {
        self.check_samples(samples)?;
        self.decision_function_with(S::source(samples)?, threads, monitor)
    }
}
