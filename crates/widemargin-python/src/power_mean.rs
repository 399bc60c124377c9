//! The power mean SVM.

use numpy::{PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use widemargin::data::Label;
use widemargin::descriptor::FeatureMax;
use widemargin::expansion::AdditiveMap;
use widemargin::model::{PowerMeanParams, PowerMeanParts, PowerMeanSvc};
use widemargin::problem::Loss;
use widemargin::similarity::AdditiveKernel;
use widemargin::solve::Stage;

use crate::convert::{self, Asked, Class, Factors, reduced, shaped};
use crate::errors::raise;
use crate::remote_objective::Solution;
use crate::samples::{Given, with_rows};
use crate::work::{Patience, conduct};

/// A trained power mean SVM.
#[pyclass(frozen, module = "widemargin._core")]
pub(crate) struct PowerMeanModel(PowerMeanSvc);

#[pymethods]
impl PowerMeanModel {
    #[staticmethod]
    #[pyo3(signature = (samples, classes, codes, sample_weight, *, kernel, loss, C, approximation, n_nodes, nodes,
        scale, class_weight, tol, max_iter, seed, threads, time_limit, monitor,
        shrinking = true, feature_names = None))]
    #[expect(non_snake_case, reason = "C is the parameter's name")]
    #[expect(clippy::too_many_arguments, reason = "they are the estimator's parameters, passed by name")]
    fn fit(
        py: Python<'_>,
        samples: Given<'_>,
        classes: Vec<Class>,
        codes: PyReadonlyArray1<'_, u32>,
        sample_weight: Option<PyReadonlyArray1<'_, f64>>,
        kernel: &str,
        loss: &str,
        C: f64,
        approximation: &str,
        n_nodes: usize,
        nodes: Option<Vec<f64>>,
        scale: bool,
        class_weight: Option<Factors>,
        tol: f64,
        max_iter: u32,
        seed: u64,
        threads: usize,
        time_limit: Option<f64>,
        monitor: Option<Bound<'_, PyAny>>,
        shrinking: bool,
        feature_names: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let labels = convert::labels(classes, &codes)?;
        let weights = sample_weight.as_ref().map(|weights| weights.as_slice()).transpose()?;
        let kernel: AdditiveKernel = kernel.parse().map_err(raise)?;
        let mut params = PowerMeanParams::new(kernel)
            .loss(loss.parse().map_err(raise)?)
            .c(C)
            .approximation(approximation.parse().map_err(raise)?)
            .n_nodes(n_nodes)
            .scale(scale)
            .class_weight(convert::class_weight(class_weight, &labels)?)
            .tol(tol)
            .max_epochs(max_iter)
            .shrinking(shrinking)
            .seed(seed)
            .threads(threads);
        if let Some(nodes) = nodes {
            params = params.nodes(nodes);
        }
        let patience = Patience::new(time_limit, monitor)?;
        with_rows!(&samples, "the power mean SVM", view => {
            conduct(py, &patience, |monitor, _| {
                params.fit_with(&view, &labels, weights, monitor)?.with_feature_names(feature_names)
            })
            .map(PowerMeanModel)
        })
    }

    /// A classifier with weights computed elsewhere, on `explicit` features.
    #[staticmethod]
    #[pyo3(signature = (solution, classes, *, kernel, nodes, factors, n_features, C, stages,
        training, feature_names = None))]
    #[expect(non_snake_case, reason = "C is the parameter's name")]
    #[expect(clippy::too_many_arguments, reason = "they are what a machine is made of, passed by name")]
    fn assemble(
        solution: PyRef<'_, Solution>,
        classes: Vec<Class>,
        kernel: &str,
        nodes: Vec<f64>,
        factors: Option<Vec<f64>>,
        n_features: usize,
        C: f64,
        stages: Vec<(String, f64)>,
        training: Asked,
        feature_names: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let classes: Vec<Label> = classes.into_iter().map(Label::from).collect();
        let training = training.settings(&classes)?;
        let stages = stages.into_iter().map(|(name, seconds)| Stage { name, seconds }).collect();
        let parts = PowerMeanParts {
            map: AdditiveMap::nystrom(kernel.parse().map_err(raise)?, &nodes).map_err(raise)?,
            loss: Loss::SquaredHinge,
            c: C,
            scaling: factors.map(FeatureMax::from_factors),
            n_features,
            classes,
            weights: solution.solution.weights.clone(),
            report: solution.solution.report(stages, &solution.settings),
        };
        let model = PowerMeanSvc::assembled(parts).map_err(raise)?.with_training(training);
        model.with_feature_names(feature_names).map(PowerMeanModel).map_err(raise)
    }

    #[staticmethod]
    fn from_bytes(data: &[u8]) -> PyResult<Self> {
        PowerMeanSvc::from_bytes(data).map(PowerMeanModel).map_err(raise)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.0.to_bytes().map_err(raise)?))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        reduced(slf.as_any(), slf.get().to_bytes(slf.py())?)
    }

    fn decision_function<'py>(
        &self,
        py: Python<'py>,
        samples: Given<'_>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let scores = with_rows!(&samples, "the power mean SVM", view => {
            conduct(py, &Patience::default(), |_, _| self.0.decision_function(&view, threads))
        })?;
        shaped(py, scores.values().to_vec(), scores.n_rows(), scores.n_cols())
    }
}
