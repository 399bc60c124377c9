//! A trained model: a classifier, a regression model or a one-class model, of any method, or an expansion.

use numpy::{PyArray1, PyArray2, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use widemargin::expansion::BasisExpansion;
use widemargin::model::{
    AnyModel, Array, BasisExpansionOneClass, BasisExpansionRegressor, BasisExpansionSvc, FileMetadata, bases_arrays,
};
use widemargin::select::ExpansionModel;
use widemargin::similarity::AnySimilarity;
use widemargin::solve::Calibration;
use widemargin::{Error, Result};

use crate::convert::{Features, Target, array, arrays, labeled, shaped};
use crate::errors::raise;
use crate::python_similarity::{Collected, CompositeSimilarity, PythonParts, State, both, on_objects, on_view};
use crate::work::{Patience, conduct};

/// A trained classifier, regression model or one-class model, or an expansion.
#[pyclass(frozen, module = "widemargin._core")]
pub(crate) struct Model(pub Trained);

/// The kinds of models; the composite ones have Python similarities.
pub(crate) enum Trained {
    Any(AnyModel),
    Composite(CompositeModel),
    Expansion(BasisExpansion<AnySimilarity>),
    CompositeExpansion(BasisExpansion<CompositeSimilarity>),
}

/// A model with Python similarities.
pub(crate) type CompositeModel = ExpansionModel<CompositeSimilarity>;

/// Evaluates an expression on a model with Python similarities, whatever its task.
macro_rules! on_composite {
    ($model:expr, $each:ident => $body:expr) => {
        match $model {
            $crate::model::CompositeModel::Classifier($each) => $body,
            $crate::model::CompositeModel::Regressor($each) => $body,
            $crate::model::CompositeModel::OneClass($each) => $body,
        }
    };
}
pub(crate) use on_composite;

/// The methods of regression and one-class models with Python similarities.
const REGRESSION: &str = "basis-expansion-regression";
const ONE_CLASS: &str = "basis-expansion-one-class";

/// The bytes of an expansion with Python similarities contain neither arrays nor bases.
fn no_arrays<'a>() -> Result<Vec<Array<'a>>> {
    Ok(Vec::new())
}

impl Model {
    /// The result of a fit, checked to be finite; with the names of its features.
    pub fn fitted(mut model: AnyModel, features: Option<Features>) -> PyResult<Self> {
        let named = model.check_finite().and_then(|()| match features {
            None => model.set_feature_names(None),
            Some(Features::Names(names)) => model.set_feature_names(Some(names)),
            Some(Features::Columns(columns)) => model.set_table_columns(Some(columns)),
        });
        named.map(|()| Model(Trained::Any(model))).map_err(raise)
    }

    /// The same with Python similarities; only the bases are stored, not all training samples.
    pub fn composite(py: Python<'_>, model: CompositeModel, features: Option<Features>) -> PyResult<Self> {
        macro_rules! named {
            ($task:ident, $model:ident) => {{
                let bases = $model.expansion().bases().alone(py)?;
                let named = $model.check_finite().and_then(|()| match ($model.with_bases(bases)?, features) {
                    (model, None) => model.with_feature_names(None),
                    (model, Some(Features::Names(names))) => model.with_feature_names(Some(names)),
                    (model, Some(Features::Columns(columns))) => model.with_table_columns(Some(columns)),
                });
                CompositeModel::$task(Box::new(named.map_err(raise)?))
            }};
        }
        Ok(Model(Trained::Composite(match model {
            CompositeModel::Classifier(model) => named!(Classifier, model),
            CompositeModel::Regressor(model) => named!(Regressor, model),
            CompositeModel::OneClass(model) => named!(OneClass, model),
        })))
    }
}

/// The expansion of a model with built-in similarities.
pub(crate) fn ours(model: &Model) -> PyResult<&BasisExpansion<AnySimilarity>> {
    match &model.0 {
        Trained::Expansion(expansion) => Ok(expansion),
        _ => Err(PyTypeError::new_err("workers of a cluster accept only expansions of built-in similarities")),
    }
}

#[pymethods]
impl Model {
    /// Without Python parts the bytes are a model file.
    #[staticmethod]
    #[pyo3(signature = (data, parts = None))]
    fn from_bytes(py: Python<'_>, data: &[u8], parts: Option<PythonParts<'_>>) -> PyResult<Self> {
        let Some((similarities, bases, state)) = parts else {
            return AnyModel::from_bytes(data).map(|model| Model(Trained::Any(model))).map_err(raise);
        };
        let (similarity, bases) = (CompositeSimilarity::restored(similarities, &state).map_err(raise)?, both(bases)?);
        let method = FileMetadata::of_bytes(data).map_err(raise)?.method;
        let restored = conduct(py, &Patience::default(), |_, to_caller| {
            let bases = bases(to_caller);
            Ok(match &method[..] {
                REGRESSION => CompositeModel::Regressor(Box::new(BasisExpansionRegressor::from_bytes_with(
                    data, similarity, bases,
                )?)),
                ONE_CLASS => CompositeModel::OneClass(Box::new(BasisExpansionOneClass::from_bytes_with(
                    data, similarity, bases,
                )?)),
                _ => CompositeModel::Classifier(Box::new(BasisExpansionSvc::from_bytes_with(data, similarity, bases)?)),
            })
        })?;
        Ok(Model(Trained::Composite(restored)))
    }

    /// The same for an expansion.
    #[staticmethod]
    #[pyo3(signature = (data, parts = None))]
    fn expansion_from_bytes(py: Python<'_>, data: &[u8], parts: Option<PythonParts<'_>>) -> PyResult<Self> {
        let Some((similarities, bases, state)) = parts else {
            return BasisExpansion::from_bytes(data).map(|model| Model(Trained::Expansion(model))).map_err(raise);
        };
        let (similarity, bases) = (CompositeSimilarity::restored(similarities, &state).map_err(raise)?, both(bases)?);
        let restored = conduct(py, &Patience::default(), |_, to_caller| {
            BasisExpansion::from_bytes_with(data, similarity, bases(to_caller))
        })?;
        Ok(Model(Trained::CompositeExpansion(restored)))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = match &self.0 {
            Trained::Any(model) => model.to_bytes(),
            Trained::Composite(model) => on_composite!(model, model => model.to_bytes_without_bases()),
            Trained::Expansion(model) => model.to_bytes(),
            Trained::CompositeExpansion(model) => model.to_bytes_without_bases(),
        };
        Ok(PyBytes::new(py, &bytes.map_err(raise)?))
    }

    /// The stages of the fit and their seconds; model files do not contain them.
    fn stages(&self) -> Vec<(String, f64)> {
        let report = match &self.0 {
            Trained::Any(model) => model.report(),
            Trained::Composite(model) => on_composite!(model, model => model.report()),
            Trained::Expansion(_) | Trained::CompositeExpansion(_) => return Vec::new(),
        };
        report.stages.iter().map(|stage| (stage.name.to_string(), stage.seconds)).collect()
    }

    fn header(&self) -> PyResult<String> {
        let header = match &self.0 {
            Trained::Any(model) => model.header(),
            Trained::Composite(model) => on_composite!(model, model => model.header_without_bases()),
            Trained::Expansion(model) => model.header(),
            Trained::CompositeExpansion(model) => model.header_without_bases(),
        };
        header.map_err(raise)
    }

    /// The arrays of the file except those of the bases, without a copy.
    fn arrays<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        arrays(slf, |model| match &model.0 {
            Trained::Any(model) => Ok(model.arrays()),
            Trained::Composite(model) => Ok(on_composite!(model, model => model.arrays())),
            Trained::Expansion(model) => Ok(model.arrays()),
            Trained::CompositeExpansion(_) => no_arrays(),
        })
    }

    /// The arrays of the bases, if they are in the file.
    fn bases_arrays<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        arrays(slf, |model| match &model.0 {
            Trained::Any(model) => model.bases().map_or_else(no_arrays, bases_arrays),
            Trained::Expansion(model) => bases_arrays(model.bases()),
            _ => no_arrays(),
        })
    }

    fn state(&self) -> State {
        match &self.0 {
            Trained::Composite(model) => on_composite!(model, model => model.expansion().similarity().state()),
            Trained::CompositeExpansion(model) => model.similarity().state(),
            _ => State::new(),
        }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let reader = match slf.get().0 {
            Trained::Any(_) => "from_bytes",
            Trained::Expansion(_) => "expansion_from_bytes",
            _ => {
                let problem = "a model with Python similarities is pickled with its estimator only";
                return Err(PyTypeError::new_err(problem));
            }
        };
        Ok((slf.get_type().getattr(reader)?, (slf.get().to_bytes(slf.py())?,)))
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
        let (values, (n_classes, is_multilabel)) = match &self.0 {
            Trained::Any(AnyModel::Classifier(model)) => {
                let values =
                    on_view(py, &patience, samples, |view, monitor| model.decision_values(view, threads, monitor))?;
                (values, (model.classes().len(), model.is_multilabel()))
            }
            Trained::Composite(CompositeModel::Classifier(model)) => {
                let scores = on_objects(py, &patience, samples, |objects, monitor| {
                    model.decision_function_with(objects, threads, monitor)
                })?;
                let values = scores.values().iter().map(|&score| f64::from(score)).collect();
                (values, (model.classes().len(), model.is_multilabel()))
            }
            _ => return Err(PyTypeError::new_err("only a classifier has decision values")),
        };
        let n_cols = if n_classes == 2 && !is_multilabel { 1 } else { n_classes };
        let n_rows = values.len() / n_cols;
        shaped(py, values, n_rows, n_cols)
    }

    /// The targets that a regression model predicts: samples × outputs.
    #[pyo3(signature = (samples, threads, monitor = None))]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        samples: Collected<'_>,
        threads: usize,
        monitor: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let patience = Patience::new(None, monitor)?;
        let found = match &self.0 {
            Trained::Any(AnyModel::Regressor(model)) => {
                on_view(py, &patience, samples, |view, monitor| model.predict(view, threads, monitor))?
            }
            Trained::Composite(CompositeModel::Regressor(model)) => {
                on_objects(py, &patience, samples, |objects, monitor| model.predict_with(objects, threads, monitor))?
            }
            _ => return Err(PyTypeError::new_err("only a regression model predicts targets")),
        };
        shaped(py, found.values, found.n_rows, found.n_cols)
    }

    /// The score of each sample under a one-class model.
    #[pyo3(signature = (samples, threads, monitor = None))]
    fn score_samples<'py>(
        &self,
        py: Python<'py>,
        samples: Collected<'_>,
        threads: usize,
        monitor: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let patience = Patience::new(None, monitor)?;
        let scores = match &self.0 {
            Trained::Any(AnyModel::OneClass(model)) => {
                on_view(py, &patience, samples, |view, monitor| model.score_samples(view, threads, monitor))?
            }
            Trained::Composite(CompositeModel::OneClass(model)) => {
                on_objects(py, &patience, samples, |objects, monitor| {
                    model.score_samples_with(objects, threads, monitor)
                })?
            }
            _ => return Err(PyTypeError::new_err("only a one-class model has scores of samples")),
        };
        Ok(PyArray1::from_vec(py, scores))
    }

    /// The probabilities of the classes for decision values of shape (samples, problems), or their logarithms.
    #[pyo3(signature = (values, *, logarithm))]
    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        values: PyReadonlyArray2<'py, f64>,
        logarithm: bool,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (calibration, n_classes, is_multilabel) = match &self.0 {
            Trained::Any(AnyModel::Classifier(model)) => {
                (model.calibration(), model.classes().len(), model.is_multilabel())
            }
            Trained::Composite(CompositeModel::Classifier(model)) => {
                (model.calibration(), model.classes().len(), model.is_multilabel())
            }
            _ => return Err(PyTypeError::new_err("only a classifier has probabilities")),
        };
        let calibration = calibration.ok_or(Error::NotCalibrated).map_err(raise)?;
        let found = if logarithm { Calibration::log_probabilities } else { Calibration::probabilities };
        let n_rows = values.shape()[0];
        if is_multilabel {
            return shaped(py, calibration.of_labels(values.as_slice()?, logarithm), n_rows, n_classes);
        }
        shaped(py, found(calibration, values.as_slice()?, n_classes), n_rows, n_classes)
    }

    /// ‖f‖² of each two-class problem.
    fn squared_norms(&self, threads: usize) -> PyResult<Vec<f64>> {
        match &self.0 {
            Trained::Any(AnyModel::Classifier(model)) => model.squared_norms(threads).map_err(raise),
            Trained::Composite(CompositeModel::Classifier(model)) => Ok(model.squared_norms()),
            _ => Err(PyTypeError::new_err("only a classifier has norms")),
        }
    }

    /// The dual variables of the training samples: samples × problems.
    #[pyo3(signature = (samples, target, threads, monitor = None))]
    fn dual_variables<'py>(
        &self,
        py: Python<'py>,
        samples: Collected<'_>,
        target: Target<'_>,
        threads: usize,
        monitor: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let patience = Patience::new(None, monitor)?;
        let (labels, weights) = labeled(&target)?;
        let found = match &self.0 {
            Trained::Any(AnyModel::Classifier(model)) => on_view(py, &patience, samples, |view, monitor| {
                model.dual_variables(view, &labels, weights, threads, monitor)
            })?,
            Trained::Composite(CompositeModel::Classifier(model)) => {
                on_objects(py, &patience, samples, |objects, monitor| {
                    model.dual_variables(objects, &labels, weights, threads, monitor)
                })?
            }
            _ => return Err(PyTypeError::new_err("only a classifier has dual variables")),
        };
        shaped(py, found.values, found.n_rows, found.n_cols)
    }

    /// The features of samples.
    #[pyo3(signature = (samples, threads, monitor = None))]
    fn transform<'py>(
        &self,
        py: Python<'py>,
        samples: Collected<'_>,
        threads: usize,
        monitor: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let patience = Patience::new(None, monitor)?;
        let features = match &self.0 {
            Trained::Expansion(expansion) => {
                on_view(py, &patience, samples, |view, monitor| expansion.transform_with(view, threads, monitor))?
            }
            Trained::CompositeExpansion(expansion) => on_objects(py, &patience, samples, |objects, monitor| {
                expansion.transform_with(objects, threads, monitor)
            })?,
            _ => return Err(PyTypeError::new_err("only an expansion has features")),
        };
        array(py, features)
    }
}
