//! A trained thin plate SVM.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::spline::{CHUNK_ROWS, Spline};
use super::spline_model::{SplineModel, SplineTask};
use crate::data::{Label, Rows, SamplesView};
use crate::error::{Error, Result};
use crate::linalg::factor::dot;
use crate::macros::getters;
use crate::model::file::{Array, Reader, array, by_name};
use crate::model::origin::Origin;
use crate::model::{Classifier, Scores};
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::problem::Loss;
use crate::solve::Report;
use crate::solve::thin_plate::{PathPoint, Polynomials};

/// A trained thin plate SVM: f(x) = Σ α_i φ(‖x − x_i‖) + Σ β_m p_m(x) for each two-class problem.
pub type ThinPlateSvc = SplineModel<SplineClassification>;

/// The task of a thin plate SVM.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SplineClassification {
    #[serde(with = "by_name")]
    pub(crate) loss: Loss,
    #[serde(rename = "C")]
    pub(crate) c: f64,
    pub(crate) lambda: f64,
    pub(crate) polynomials: Polynomials,
    pub(crate) rank: usize,
    pub(crate) classes: Vec<Label>,
    /// Empty if C was selected for each class.
    pub(crate) path: Vec<PathPoint>,
    /// One per class, if C was selected for each class; else empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) per_class: Vec<ClassPath>,
    /// Problems × training samples of weight above 0.
    #[serde(skip)]
    pub(crate) loo_values: Vec<f64>,
}

/// The selection for one class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassPath {
    /// C of the problem of the class.
    #[serde(rename = "C")]
    pub c: f64,
    /// λ = 1/(2C) in scale-free units.
    pub lambda: f64,
    /// How the polynomials were treated.
    pub polynomials: Polynomials,
    /// The results at every evaluated C, by descending λ.
    pub path: Vec<PathPoint>,
}

impl SplineTask for SplineClassification {
    const METHOD: &'static str = "thin-plate";
    const NAME: &'static str = "the thin plate SVM";
    const MIN_DEGREE: Option<u32> = None;

    fn check(&self, reader: &Reader<'_>, origin: &Origin) -> Result<usize> {
        let (n, n_classes) = (self.per_class.len(), self.classes.len());
        reader.require(n == 0 || n == n_classes, format_args!("{n} values of C for {n_classes} classes"))?;
        reader.n_problems(&self.classes, origin)
    }

    fn classes(&self) -> Option<&[Label]> {
        Some(&self.classes)
    }

    fn array(&self, k: usize) -> Option<Array<'_>> {
        Some(array("loo_values", vec![k, self.loo_values.len() / k], &self.loo_values))
    }

    fn read(&mut self, reader: &Reader<'_>, k: usize) -> Result<()> {
        self.loo_values = reader.tensor("loo_values", &[k, reader.size("loo_values", 1)])?;
        Ok(())
    }

    fn parameters(&self, n_polynomials: usize, report: &Report) -> Value {
        let chosen = self.path.iter().find(|point| point.c == self.c);
        json!({
            "loss": self.loss.name(),
            "C": self.c,
            "C_by_leave_one_out": self.path.len() > 1 || !self.per_class.is_empty(),
            "C_per_class": self.per_class.iter().map(|one| one.c).collect::<Vec<f64>>(),
            "lambda": self.lambda,
            "polynomials": self.polynomials.to_string(),
            "n_polynomials": n_polynomials,
            "rank": self.rank,
            "n_support": report.n_support.iter().map(|&n| u64::from(n)).sum::<u64>(),
            "loo_squared_hinge": chosen.and_then(|point| point.loo_squared_hinge),
            "loo_error": chosen.and_then(|point| point.loo_error),
            "loo_exact": chosen.is_some_and(|point| point.loo_exact),
            "fold_error": chosen.and_then(|point| point.fold_error),
        })
    }

    fn of_picked(&mut self) {
        self.loo_values = Vec::new();
    }
}

impl ThinPlateSvc {
    /// Decision values of the samples in double precision, row-major, samples × problems, computed by `threads`
    /// threads, 0 meaning one per core.
    ///
    /// # Errors
    /// As for [`ThinPlateSvc::decision_function`].
    #[doc(hidden)]
    pub fn decision_values(&self, samples: &impl Rows, threads: usize) -> Result<Vec<f64>> {
        self.spline.values(samples, threads, &Monitor::none())
    }

    /// Decision values of the samples, computed by `threads` threads, 0 meaning one per core.
    ///
    /// # Errors
    /// [`Error::FeatureCount`] for more features than in training (for dense samples: a different number),
    /// [`Error::Value`] for a non-finite value.
    pub fn decision_function(&self, samples: &impl Rows, threads: usize) -> Result<Scores> {
        Ok(self.scores(self.decision_values(samples, threads)?))
    }

    fn scores(&self, values: Vec<f64>) -> Scores {
        Scores::new(values.into_iter().map(|value| value as f32).collect(), self.n_problems())
    }

    /// The predicted label of each sample.
    ///
    /// # Errors
    /// As for [`ThinPlateSvc::decision_function`].
    pub fn predict(&self, samples: &impl Rows, threads: usize) -> Result<Vec<&Label>> {
        Ok(self.decision_function(samples, threads)?.decide(&self.task.classes))
    }

    /// The selected point of the path.
    pub fn chosen(&self) -> Option<&PathPoint> {
        self.task.path.iter().find(|point| point.c == self.task.c)
    }

    getters! {
        task =>
        /// The results at every evaluated C, by descending λ.
        path: &[PathPoint];
        /// The classes, in the order of the decision values' columns.
        classes: &[Label];
        /// The selection for each class, if C was selected for each class
        /// ([`ThinPlateParams::c_auto_per_class`](crate::model::ThinPlateParams::c_auto_per_class)); else empty.
        per_class: &[ClassPath];
        /// The C of the model, selected or fixed; the geometric mean of those of [`ThinPlateSvc::per_class`].
        hidden copy c: f64;
        /// λ = 1/(2C) in scale-free units: relative to the mean diagonal of the projected kernel.
        hidden copy lambda: f64;
        /// How the polynomials were treated; never [`Polynomials::Auto`].
        hidden copy polynomials: Polynomials;
        /// Rank of the polynomials at the training samples.
        hidden copy rank: usize;
        /// The decision value of each training sample when it is left out, assuming that no other sample then crosses the
        /// margin: problems × samples (those of weight above 0); empty if the fit did not converge, or was on some of the
        /// samples for a time limit. The error is instead
        /// estimated by refits, in which others may cross: `estimate` of the report.
        hidden loo_values: &[f64];
    }

    pub(crate) fn n_problems(&self) -> usize {
        self.spline.n_functions
    }
}

impl Classifier for ThinPlateSvc {
    fn classes(&self) -> &[Label] {
        &self.task.classes
    }

    fn c(&self, problem: usize) -> f64 {
        self.task.per_class.get(problem).map_or(self.task.c, |of_class| of_class.c)
    }

    fn loss(&self) -> Loss {
        self.task.loss
    }

    /// αᵀΦα, the squared seminorm of the part of f that is not polynomial; its reciprocal is the margin of a kernel SVM.
    fn squared_norms(&self, threads: usize) -> Result<Vec<f64>> {
        let (n, d, k) = (self.n_bases(), self.n_features(), self.n_problems());
        let Spline { basis, coefficients, .. } = &self.spline;
        let pool = Pool::new(if n <= CHUNK_ROWS { 1 } else { threads })?;
        let chunk = |at: usize| {
            let rows = at * CHUNK_ROWS..((at + 1) * CHUNK_ROWS).min(n);
            let block = basis.block(&basis.bases[rows.start * d..rows.end * d]);
            let of_problem = |problem: usize| {
                let alpha = &coefficients[problem * n..(problem + 1) * n];
                let here = rows.clone().zip(block.chunks(n.max(1)));
                here.map(|(row, similar)| alpha[row] * dot(alpha, similar)).sum::<f64>()
            };
            Ok::<_, Error>((0..k).map(of_problem).collect::<Vec<f64>>())
        };
        let parts = pool.try_map(n.div_ceil(CHUNK_ROWS), chunk)?;
        // Rounding may leave a little below 0.
        Ok((0..k).map(|problem| parts.iter().map(|part| part[problem]).sum::<f64>().max(0.0)).collect())
    }

    fn decision_function(&self, samples: &SamplesView<'_>, threads: usize, monitor: &Monitor<'_>) -> Result<Scores> {
        Ok(self.scores(Classifier::decision_values(self, samples, threads, monitor)?))
    }

    fn decision_values(&self, samples: &SamplesView<'_>, threads: usize, monitor: &Monitor<'_>) -> Result<Vec<f64>> {
        self.spline.values(&samples.rows(SplineClassification::NAME)?, threads, monitor)
    }
}
