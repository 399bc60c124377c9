//! The labels or targets of all samples on a cluster, and their weights.

use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use widemargin::data::{ClassWeight, Label, Labels, check_costs, effective_weights};
use widemargin::model::{self, PartedTargets, TrainingSettings};

use crate::convert::{self, Common, Factors, Target, labeled};
use crate::errors::raise;

/// The labels and weights of all samples, in their order; multilabel targets have signed weights for each label.
#[pyclass(frozen, module = "widemargin._core")]
pub(crate) struct WeightedLabels {
    pub labels: Labels,
    /// Sample weights times class weights.
    pub weights: Vec<f64>,
    /// Sample weights alone.
    pub sample_weights: Vec<f64>,
    class_weight: ClassWeight,
}

impl WeightedLabels {
    /// The same as the library's fits on workers take it.
    pub fn of_all(&self) -> model::WeightedLabels<'_> {
        let WeightedLabels { labels, weights, sample_weights, .. } = self;
        model::WeightedLabels { labels, weights, sample_weights }
    }

    /// The parameters that a fitted model stores.
    pub fn training(&self, common: &Common<'_>) -> TrainingSettings {
        let Common { tol, max_iter, seed, .. } = *common;
        TrainingSettings { class_weight: self.class_weight.clone(), tol, max_iter, seed, ..TrainingSettings::default() }
    }
}

#[pymethods]
impl WeightedLabels {
    #[new]
    fn new(target: Target<'_>, class_weight: Option<Factors>, C: f64) -> PyResult<Self> {
        let (labels, sample_weights) = labeled(&target)?;
        let class_weight = convert::class_weight(class_weight.as_ref(), &labels)?;
        let weights = effective_weights(&labels, sample_weights, &class_weight).map_err(raise)?;
        check_costs(C, &weights, labels.classes().len()).map_err(raise)?;
        let labels = labels.balanced(&class_weight, &weights);
        let sample_weights = sample_weights.map_or_else(|| vec![1.0; weights.len()], <[f64]>::to_vec);
        Ok(WeightedLabels { labels, weights, sample_weights, class_weight })
    }

    /// The class of each sample, or its set of labels.
    #[getter]
    fn codes<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        PyArray1::from_slice(py, self.labels.codes())
    }

    /// The class of each sample, or the rarest of its labels: the strata for drawing samples.
    #[getter]
    fn strata<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        PyArray1::from_vec(py, self.labels.strata().0)
    }

    /// The signed weights of the labels of each set, sets × labels; `None` where samples have one class.
    #[getter]
    fn sets<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let Some(sets) = self.labels.signed_sets() else { return Ok(None) };
        let k = self.labels.classes().len();
        convert::shaped(py, sets.to_vec(), sets.len() / k, k).map(Some)
    }

    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.weights)
    }

    /// The part of each weight that leave-one-out removes: all of it, since equal samples are not merged.
    #[getter]
    fn units<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.weights(py)
    }

    /// The weights of the samples alone.
    #[getter]
    fn sample_weights<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.sample_weights)
    }

    /// `n_wanted` rows of weight above 0, to be copied to the client.
    fn some_rows<'py>(&self, py: Python<'py>, n_wanted: usize, seed: u64) -> Bound<'py, PyArray1<i64>> {
        let n_wanted = n_wanted.min(self.weights.len());
        convert::row_numbers(py, model::choose_rows(&self.labels, &self.weights, n_wanted, seed))
    }

    /// Rows to be copied to the client for the Hessian; `None` if there are fewer than `fewest` rows or the copy is not
    /// worth its cost.
    fn brought_rows<'py>(
        &self,
        py: Python<'py>,
        n_features: usize,
        fewest: usize,
    ) -> Option<Bound<'py, PyArray1<i64>>> {
        let rows = model::brought_rows(&self.labels, &self.weights, n_features, fewest)?;
        Some(convert::row_numbers(py, rows))
    }
}

/// The targets and weights of all samples, in their order.
#[pyclass(frozen, module = "widemargin._core")]
pub(crate) struct WeightedTargets(pub PartedTargets);

#[pymethods]
impl WeightedTargets {
    #[new]
    fn new(
        targets: PyReadonlyArray2<'_, f64>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        has_intercept: bool,
    ) -> PyResult<Self> {
        let targets = convert::numbers(&targets)?;
        let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
        PartedTargets::new(&targets, weights, has_intercept).map(WeightedTargets).map_err(raise)
    }

    /// The targets with mean 0, if there is an intercept, and a largest magnitude of 1.
    #[getter]
    fn standard<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let values = self.0.values().to_vec();
        convert::shaped(py, values, self.0.weights().len(), self.0.n_outputs())
    }

    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.0.weights())
    }

    #[getter]
    fn units<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.0.units())
    }

    /// `n_wanted` rows of weight above 0, to be copied to the client.
    fn some_rows<'py>(&self, py: Python<'py>, n_wanted: usize, seed: u64) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let n = self.0.weights().len();
        let one_class = Labels::from_codes(vec![Label::Integer(0)], vec![0; n]).map_err(raise)?;
        Ok(convert::row_numbers(py, model::choose_rows(&one_class, self.0.weights(), n_wanted.min(n), seed)))
    }
}

/// Rows from which bases are selected, among samples of these weights.
#[pyfunction]
pub(crate) fn basis_candidates<'py>(
    py: Python<'py>,
    weights: PyReadonlyArray1<'_, f64>,
    basis: &str,
    n_basis: usize,
    seed: u64,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let choice = basis.parse().map_err(raise)?;
    Ok(convert::row_numbers(py, model::basis_candidates(weights.as_slice()?, choice, n_basis, seed)))
}
