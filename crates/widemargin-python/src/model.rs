//! A trained classifier of any method.

use std::any::Any;

use numpy::PyArray2;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use widemargin::Result;
use widemargin::model::{BasisExpansionSvc, Classifier, bases_arrays};
use widemargin::similarity::{AnySimilarity, Similarity};

use crate::convert::{arrays, reduced, shaped};
use crate::errors::raise;
use crate::python_similarity::{Collected, CompositeSimilarity, PythonParts, State, both, needed};
use crate::work::{Patience, conduct};

/// A trained classifier.
#[pyclass(frozen, module = "widemargin._core")]
pub(crate) struct Model(Trained);

enum Trained {
    Any(Box<dyn Classifier>),
    /// With similarities that are Python's.
    Composite(Box<BasisExpansionSvc<CompositeSimilarity>>),
}

impl Model {
    /// Of a fit, whose model must be one that can be written; with the names of its features.
    pub fn fitted(model: impl Classifier, feature_names: Option<Vec<String>>) -> Result<Self> {
        model.check_finite()?;
        Ok(Model(Trained::Any((Box::new(model) as Box<dyn Classifier>).with_feature_names(feature_names)?)))
    }

    /// The same of similarities that are Python's; it does not hold on to all training samples.
    pub fn composite(
        py: Python<'_>,
        model: BasisExpansionSvc<CompositeSimilarity>,
        feature_names: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let bases = model.expansion().bases().alone(py)?;
        let named = model.check_finite().and_then(|()| model.with_bases(bases)?.with_feature_names(feature_names));
        named.map(|model| Model(Trained::Composite(Box::new(model)))).map_err(raise)
    }

    /// Weights and intercepts of a basis expansion SVM, to begin with.
    pub fn start(&self) -> Option<(Vec<f32>, Vec<f64>)> {
        fn solution<S: Similarity>(model: &BasisExpansionSvc<S>) -> (Vec<f32>, Vec<f64>) {
            (model.weights().to_vec(), model.intercepts().to_vec())
        }
        match &self.0 {
            Trained::Any(model) => (&**model as &dyn Any).downcast_ref().map(solution::<AnySimilarity>),
            Trained::Composite(model) => Some(solution(&**model)),
        }
    }
}

#[pymethods]
impl Model {
    /// Without Python's parts the bytes are a model file.
    #[staticmethod]
    #[pyo3(signature = (data, parts = None))]
    fn from_bytes(py: Python<'_>, data: &[u8], parts: Option<PythonParts<'_>>) -> PyResult<Self> {
        let Some((similarities, bases, state)) = parts else {
            return widemargin::model::from_bytes(data).map(|model| Model(Trained::Any(model))).map_err(raise);
        };
        let (similarity, bases) = (CompositeSimilarity::restored(similarities, &state).map_err(raise)?, both(bases)?);
        let restored = conduct(py, &Patience::default(), |_, to_caller| {
            BasisExpansionSvc::from_bytes_with(data, similarity, bases(to_caller))
        })?;
        Ok(Model(Trained::Composite(Box::new(restored))))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = match &self.0 {
            Trained::Any(model) => model.to_bytes(),
            Trained::Composite(model) => model.to_bytes_without_bases(),
        };
        Ok(PyBytes::new(py, &bytes.map_err(raise)?))
    }

    fn header(&self) -> PyResult<String> {
        let header = match &self.0 {
            Trained::Any(model) => model.header(),
            Trained::Composite(model) => model.header_without_bases(),
        };
        header.map_err(raise)
    }

    /// The arrays of the file but those of the bases, without a copy.
    fn arrays<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        arrays(slf, |model| {
            Ok(match &model.0 {
                Trained::Any(model) => model.arrays(),
                Trained::Composite(model) => model.arrays(),
            })
        })
    }

    /// Those of the bases, where they are in the file.
    fn bases_arrays<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        arrays(slf, |model| match &model.0 {
            Trained::Any(model) => model.bases().map_or(Ok(Vec::new()), bases_arrays),
            Trained::Composite(_) => Ok(Vec::new()),
        })
    }

    fn state(&self) -> State {
        match &self.0 {
            Trained::Any(_) => State::new(),
            Trained::Composite(model) => model.expansion().similarity().state(),
        }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        if let Trained::Composite(_) = slf.get().0 {
            return Err(PyTypeError::new_err(
                "a model whose similarity is Python's is pickled with its estimator only",
            ));
        }
        reduced(slf.as_any(), slf.get().to_bytes(slf.py())?)
    }

    #[pyo3(signature = (samples, threads, monitor = None))]
    fn decision_function<'py>(
        &self,
        py: Python<'py>,
        samples: Collected<'_>,
        threads: usize,
        monitor: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let patience = Patience::new(None, monitor)?;
        let (values, n_classes) = match &self.0 {
            Trained::Any(model) => {
                let samples = needed(samples)?;
                let view = samples.view()?;
                let values = conduct(py, &patience, |monitor, _| model.decision_values(&view, threads, monitor))?;
                (values, model.classes().len())
            }
            Trained::Composite(model) => {
                let source = both(samples)?;
                let scores = conduct(py, &patience, |monitor, to_caller| {
                    model.decision_function_with(&source(to_caller), threads, monitor)
                })?;
                (scores.values().iter().map(|&score| f64::from(score)).collect(), model.classes().len())
            }
        };
        let n_cols = if n_classes == 2 { 1 } else { n_classes };
        let n_rows = values.len() / n_cols;
        shaped(py, values, n_rows, n_cols)
    }
}
