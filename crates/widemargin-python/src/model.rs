//! A trained model: a classifier, a regression model or a one-class model, of any method, or an expansion.

use numpy::{PyArray1, PyArray2, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use widemargin::expansion::BasisExpansion;
use widemargin::model::{
    AnyModel, Array, BasisExpansionOneClass, BasisExpansionRegressor, BasisExpansionSvc, Classifier, OneClass,
    Regressor, bases_arrays, method_of_bytes,
};
use widemargin::similarity::AnySimilarity;
use widemargin::solve::Calibration;
use widemargin::{Error, Result};

use crate::convert::{Features, Target, array, arrays, labeled, of_features, set_features, shaped};
use crate::errors::raise;
use crate::python_similarity::{Collected, CompositeSimilarity, PythonParts, State, both, needed};
use crate::work::{Patience, conduct};

/// A trained classifier, regression model or one-class model, or an expansion.
#[pyclass(frozen, module = "widemargin._core")]
pub(crate) struct Model(pub Trained);

/// The kinds of models; the composite ones have Python similarities.
pub(crate) enum Trained {
    Any(Box<dyn Classifier>),
    Composite(Box<BasisExpansionSvc<CompositeSimilarity>>),
    Regressor(Box<dyn Regressor>),
    CompositeRegressor(Box<BasisExpansionRegressor<CompositeSimilarity>>),
    OneClass(Box<dyn OneClass>),
    CompositeOneClass(Box<BasisExpansionOneClass<CompositeSimilarity>>),
    Expansion(BasisExpansion<AnySimilarity>),
    CompositeExpansion(BasisExpansion<CompositeSimilarity>),
}

/// The methods of regression and one-class models with Python similarities.
const REGRESSION: &str = "basis-expansion-regression";
const ONE_CLASS: &str = "basis-expansion-one-class";

/// The bytes of an expansion with Python similarities contain neither arrays nor bases.
fn no_arrays<'a>() -> Result<Vec<Array<'a>>> {
    Ok(Vec::new())
}

impl Model {
    /// The result of a fit, checked to be finite; with the names of its features.
    pub fn fitted(model: impl Classifier, features: Option<Features>) -> Result<Self> {
        Self::of(Box::new(model), features)
    }

    /// The same for a model of any method.
    pub fn of(mut model: Box<dyn Classifier>, features: Option<Features>) -> Result<Self> {
        model.check_finite()?;
        set_features(&mut *model, features)?;
        Ok(Model(Trained::Any(model)))
    }

    /// The same with Python similarities; only the bases are stored, not all training samples.
    pub fn composite(
        py: Python<'_>,
        model: BasisExpansionSvc<CompositeSimilarity>,
        features: Option<Features>,
    ) -> PyResult<Self> {
        let bases = model.expansion().bases().alone(py)?;
        let named = model.check_finite().and_then(|()| of_features!(model.with_bases(bases)?, features));
        named.map(|model| Model(Trained::Composite(Box::new(model)))).map_err(raise)
    }

    /// The result of a regression fit, as in [`Model::fitted`].
    pub fn regressor(mut model: impl Regressor, features: Option<Features>) -> Result<Self> {
        model.check_finite()?;
        set_features(&mut model, features)?;
        Ok(Model(Trained::Regressor(Box::new(model))))
    }

    /// The same with Python similarities; only the bases are stored, not all training samples.
    pub fn composite_regressor(
        py: Python<'_>,
        model: BasisExpansionRegressor<CompositeSimilarity>,
        features: Option<Features>,
    ) -> PyResult<Self> {
        let bases = model.expansion().bases().alone(py)?;
        let named = model.check_finite().and_then(|()| of_features!(model.with_bases(bases)?, features));
        named.map(|model| Model(Trained::CompositeRegressor(Box::new(model)))).map_err(raise)
    }

    /// The result of a one-class fit, as in [`Model::fitted`].
    pub fn one_class(mut model: impl OneClass, features: Option<Features>) -> Result<Self> {
        model.check_finite()?;
        set_features(&mut model, features)?;
        Ok(Model(Trained::OneClass(Box::new(model))))
    }

    /// The same with Python similarities; only the bases are stored, not all training samples.
    pub fn composite_one_class(
        py: Python<'_>,
        model: BasisExpansionOneClass<CompositeSimilarity>,
        features: Option<Features>,
    ) -> PyResult<Self> {
        let bases = model.expansion().bases().alone(py)?;
        let named = model.check_finite().and_then(|()| of_features!(model.with_bases(bases)?, features));
        named.map(|model| Model(Trained::CompositeOneClass(Box::new(model)))).map_err(raise)
    }
}

#[pymethods]
impl Model {
    /// Without Python parts the bytes are a model file.
    #[staticmethod]
    #[pyo3(signature = (data, parts = None))]
    fn from_bytes(py: Python<'_>, data: &[u8], parts: Option<PythonParts<'_>>) -> PyResult<Self> {
        let Some((similarities, bases, state)) = parts else {
            return match AnyModel::from_bytes(data).map_err(raise)? {
                AnyModel::Classifier(model) => Ok(Model(Trained::Any(model))),
                AnyModel::Regressor(model) => Ok(Model(Trained::Regressor(model))),
                AnyModel::OneClass(model) => Ok(Model(Trained::OneClass(model))),
            };
        };
        let (similarity, bases) = (CompositeSimilarity::restored(similarities, &state).map_err(raise)?, both(bases)?);
        let method = method_of_bytes(data).map_err(raise)?;
        let restored = conduct(py, &Patience::default(), |_, to_caller| {
            let bases = bases(to_caller);
            Ok(match &method[..] {
                REGRESSION => Trained::CompositeRegressor(Box::new(BasisExpansionRegressor::from_bytes_with(
                    data, similarity, bases,
                )?)),
                ONE_CLASS => Trained::CompositeOneClass(Box::new(BasisExpansionOneClass::from_bytes_with(
                    data, similarity, bases,
                )?)),
                _ => Trained::Composite(Box::new(BasisExpansionSvc::from_bytes_with(data, similarity, bases)?)),
            })
        })?;
        Ok(Model(restored))
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
            Trained::Composite(model) => model.to_bytes_without_bases(),
            Trained::Regressor(model) => model.to_bytes(),
            Trained::CompositeRegressor(model) => model.to_bytes_without_bases(),
            Trained::OneClass(model) => model.to_bytes(),
            Trained::CompositeOneClass(model) => model.to_bytes_without_bases(),
            Trained::Expansion(model) => model.to_bytes(),
            Trained::CompositeExpansion(model) => model.to_bytes_without_bases(),
        };
        Ok(PyBytes::new(py, &bytes.map_err(raise)?))
    }

    /// The stages of the fit and their seconds; model files do not contain them.
    fn stages(&self) -> Vec<(String, f64)> {
        let report = match &self.0 {
            Trained::Any(model) => model.report(),
            Trained::Composite(model) => model.report(),
            Trained::Regressor(model) => model.report(),
            Trained::CompositeRegressor(model) => model.report(),
            Trained::OneClass(model) => model.report(),
            Trained::CompositeOneClass(model) => model.report(),
            Trained::Expansion(_) | Trained::CompositeExpansion(_) => return Vec::new(),
        };
        report.stages.iter().map(|stage| (stage.name.to_string(), stage.seconds)).collect()
    }

    fn header(&self) -> PyResult<String> {
        let header = match &self.0 {
            Trained::Any(model) => model.header(),
            Trained::Composite(model) => model.header_without_bases(),
            Trained::Regressor(model) => model.header(),
            Trained::CompositeRegressor(model) => model.header_without_bases(),
            Trained::OneClass(model) => model.header(),
            Trained::CompositeOneClass(model) => model.header_without_bases(),
            Trained::Expansion(model) => model.header(),
            Trained::CompositeExpansion(model) => model.header_without_bases(),
        };
        header.map_err(raise)
    }

    /// The arrays of the file except those of the bases, without a copy.
    fn arrays<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        arrays(slf, |model| match &model.0 {
            Trained::Any(model) => Ok(model.arrays()),
            Trained::Composite(model) => Ok(model.arrays()),
            Trained::Regressor(model) => Ok(model.arrays()),
            Trained::CompositeRegressor(model) => Ok(model.arrays()),
            Trained::OneClass(model) => Ok(model.arrays()),
            Trained::CompositeOneClass(model) => Ok(model.arrays()),
            Trained::Expansion(model) => Ok(model.arrays()),
            Trained::CompositeExpansion(_) => no_arrays(),
        })
    }

    /// The arrays of the bases, if they are in the file.
    fn bases_arrays<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        arrays(slf, |model| match &model.0 {
            Trained::Any(model) => model.bases().map_or_else(no_arrays, bases_arrays),
            Trained::Regressor(model) => model.bases().map_or_else(no_arrays, bases_arrays),
            Trained::OneClass(model) => model.bases().map_or_else(no_arrays, bases_arrays),
            Trained::Expansion(model) => bases_arrays(model.bases()),
            _ => no_arrays(),
        })
    }

    fn state(&self) -> State {
        match &self.0 {
            Trained::Composite(model) => model.expansion().similarity().state(),
            Trained::CompositeRegressor(model) => model.expansion().similarity().state(),
            Trained::CompositeOneClass(model) => model.expansion().similarity().state(),
            Trained::CompositeExpansion(model) => model.similarity().state(),
            _ => State::new(),
        }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let reader = match slf.get().0 {
            Trained::Any(_) | Trained::Regressor(_) | Trained::OneClass(_) => "from_bytes",
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
            Trained::Any(model) => {
                let samples = needed(samples)?;
                let view = samples.view()?;
                let values = conduct(py, &patience, |monitor, _| model.decision_values(&view, threads, monitor))?;
                (values, (model.classes().len(), model.is_multilabel()))
            }
            Trained::Composite(model) => {
                let source = both(samples)?;
                let scores = conduct(py, &patience, |monitor, to_caller| {
                    model.decision_function_with(&source(to_caller), threads, monitor)
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
            Trained::Regressor(model) => {
                let samples = needed(samples)?;
                let view = samples.view()?;
                conduct(py, &patience, |monitor, _| model.predict(&view, threads, monitor))?
            }
            Trained::CompositeRegressor(model) => {
                let source = both(samples)?;
                conduct(py, &patience, |monitor, to_caller| model.predict_with(&source(to_caller), threads, monitor))?
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
            Trained::OneClass(model) => {
                let samples = needed(samples)?;
                let view = samples.view()?;
                conduct(py, &patience, |monitor, _| model.score_samples(&view, threads, monitor))?
            }
            Trained::CompositeOneClass(model) => {
                let source = both(samples)?;
                conduct(py, &patience, |monitor, to_caller| {
                    model.score_samples_with(&source(to_caller), threads, monitor)
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
            Trained::Any(model) => (model.calibration(), model.classes().len(), model.is_multilabel()),
            Trained::Composite(model) => (model.calibration(), model.classes().len(), model.is_multilabel()),
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
            Trained::Any(model) => model.squared_norms(threads).map_err(raise),
            Trained::Composite(model) => Ok(model.squared_norms()),
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
            Trained::Any(model) => {
                let samples = needed(samples)?;
                let view = samples.view()?;
                conduct(py, &patience, |monitor, _| model.dual_variables(&view, &labels, weights, threads, monitor))?
            }
            Trained::Composite(model) => {
                let source = both(samples)?;
                conduct(py, &patience, |monitor, to_caller| {
                    model.dual_variables(&source(to_caller), &labels, weights, threads, monitor)
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
                let samples = needed(samples)?;
                let view = samples.view()?;
                conduct(py, &patience, |monitor, _| expansion.transform_with(&view, threads, monitor))?
            }
            Trained::CompositeExpansion(expansion) => {
                let source = both(samples)?;
                conduct(py, &patience, |monitor, to_caller| {
                    expansion.transform_with(&source(to_caller), threads, monitor)
                })?
            }
            _ => return Err(PyTypeError::new_err("only an expansion has features")),
        };
        array(py, features)
    }
}
