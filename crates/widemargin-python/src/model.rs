//! A trained model: a classifier, a regression model or a one-class model, of any method, or an expansion.

use numpy::{PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use widemargin::data::SamplesView;
use widemargin::expansion::BasisExpansion;
use widemargin::model::{AnyModel, Array, Classifier, FileMetadata, bases_arrays};
use widemargin::monitor::Monitor;
use widemargin::similarity::{AnySimilarity, Similarity};
use widemargin::{Error, Result};

use crate::convert::{Features, Matrix, Target, array, arrays, labeled, shaped};
use crate::errors::raise;
use crate::python_similarity::{Collected, CompositeSimilarity, PythonParts, State, both, on_samples};
use crate::work::{Patience, conduct};

/// A trained classifier, regression model or one-class model, or an expansion.
#[pyclass(frozen, module = "widemargin._core")]
pub(crate) struct Model(pub Trained);

/// The kinds of models; the composite expansion has Python similarities.
pub(crate) enum Trained {
    Any(AnyModel),
    Expansion(BasisExpansion<AnySimilarity>),
    CompositeExpansion(BasisExpansion<CompositeSimilarity>),
}

/// The method of an expansion.
const EXPANSION: &str = "expansion";

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

    /// The model, which must be a classifier to have what was asked for.
    fn classifier(&self, what: &str) -> PyResult<&dyn Classifier> {
        match &self.0 {
            Trained::Any(AnyModel::Classifier(model)) => Ok(&**model),
            _ => Err(PyTypeError::new_err(format!("only a classifier has {what}"))),
        }
    }

    /// Its similarities, if some are Python's.
    pub fn composite(&self) -> Option<&CompositeSimilarity> {
        match &self.0 {
            Trained::Any(model) => model.similarity()?.downcast_ref(),
            Trained::Expansion(_) => None,
            Trained::CompositeExpansion(expansion) => Some(expansion.similarity()),
        }
    }

    /// What `work` makes of samples for a model.
    pub fn on_samples<T: Send>(
        &self,
        py: Python<'_>,
        samples: Collected<'_>,
        work: impl FnOnce(&SamplesView<'_>, &Monitor<'_>) -> Result<T> + Send,
    ) -> PyResult<T> {
        on_samples(py, &Patience::default(), samples, self.composite().is_some(), work)
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
        let method = FileMetadata::of_bytes(data).map_err(raise)?.method;
        let Some((similarities, bases, state)) = parts else {
            let restored = match &method[..] {
                EXPANSION => BasisExpansion::from_bytes(data).map(Trained::Expansion),
                _ => AnyModel::from_bytes(data).map(Trained::Any),
            };
            return restored.map(Model).map_err(raise);
        };
        let (similarity, bases) = (CompositeSimilarity::restored(similarities, &state).map_err(raise)?, both(bases)?);
        let restored = conduct(py, &Patience::default(), |_, to_caller| {
            Ok(match &method[..] {
                EXPANSION => {
                    let expansion = BasisExpansion::from_bytes_with(data, similarity, bases(to_caller))?;
                    Trained::CompositeExpansion(expansion)
                }
                _ => Trained::Any(AnyModel::from_bytes_with(data, similarity, bases(to_caller))?),
            })
        })?;
        Ok(Model(restored))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = match &self.0 {
            Trained::Any(model) => model.to_bytes(),
            Trained::Expansion(model) => model.to_bytes(),
            Trained::CompositeExpansion(model) => model.to_bytes_without_bases(),
        };
        Ok(PyBytes::new(py, &bytes.map_err(raise)?))
    }

    /// The stages of the fit and their seconds; model files do not contain them.
    fn stages(&self) -> Vec<(String, f64)> {
        let Trained::Any(model) = &self.0 else { return Vec::new() };
        model.report().stages.iter().map(|stage| (stage.name.to_string(), stage.seconds)).collect()
    }

    fn header(&self) -> PyResult<String> {
        let header = match &self.0 {
            Trained::Any(model) => model.header(),
            Trained::Expansion(model) => model.header(),
            Trained::CompositeExpansion(model) => model.header(),
        };
        header.map_err(raise)
    }

    /// The arrays of the file except those of the bases, without a copy.
    fn arrays<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        arrays(slf, |model| match &model.0 {
            Trained::Any(model) => Ok(model.arrays()),
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
        self.composite().map_or_else(State::new, CompositeSimilarity::state)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        if slf.get().composite().is_some() {
            let problem = "a model with Python similarities is pickled with its estimator only";
            return Err(PyTypeError::new_err(problem));
        }
        Ok((slf.get_type().getattr("from_bytes")?, (slf.get().to_bytes(slf.py())?,)))
    }

    /// The predictions for samples: the decision values of a classifier, the targets of a regression model, or the
    /// scores of a one-class model, in one column.
    fn predict<'py>(&self, py: Python<'py>, samples: Collected<'_>, threads: usize) -> PyResult<Matrix<'py, f64>> {
        let Trained::Any(model) = &self.0 else {
            return Err(PyTypeError::new_err("an expansion has no predictions"));
        };
        let (values, n_cols) = self.on_samples(py, samples, |view, monitor| match model {
            AnyModel::Classifier(model) => Ok((model.decision_values(view, threads, monitor)?, model.n_problems())),
            AnyModel::Regressor(model) => Ok((model.predict(view, threads, monitor)?.values, model.n_outputs())),
            AnyModel::OneClass(model) => Ok((model.score_samples(view, threads, monitor)?, 1)),
        })?;
        let n_rows = values.len() / n_cols;
        shaped(py, values, n_rows, n_cols)
    }

    /// The probabilities of the classes for decision values of shape (samples, problems), or their logarithms.
    #[pyo3(signature = (values, *, logarithm))]
    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        values: PyReadonlyArray2<'py, f64>,
        logarithm: bool,
    ) -> PyResult<Matrix<'py, f64>> {
        let model = self.classifier("probabilities")?;
        let (n_classes, is_multilabel) = (model.classes().len(), model.is_multilabel());
        let calibration = model.calibration().ok_or(Error::NotCalibrated).map_err(raise)?;
        let (n_rows, values) = (values.shape()[0], values.as_slice()?);
        let found = match (is_multilabel, logarithm) {
            (true, _) => calibration.of_labels(values, logarithm),
            (false, true) => calibration.log_probabilities(values, n_classes),
            (false, false) => calibration.probabilities(values, n_classes),
        };
        shaped(py, found, n_rows, n_classes)
    }

    /// ‖f‖² of each two-class problem.
    fn squared_norms(&self, threads: usize) -> PyResult<Vec<f64>> {
        self.classifier("norms")?.squared_norms(threads).map_err(raise)
    }

    /// The dual variables of the training samples: samples × problems.
    fn dual_variables<'py>(
        &self,
        py: Python<'py>,
        samples: Collected<'_>,
        target: Target<'_>,
        threads: usize,
    ) -> PyResult<Matrix<'py, f64>> {
        let (labels, weights) = labeled(&target)?;
        let model = self.classifier("dual variables")?;
        let found = self
            .on_samples(py, samples, |view, monitor| model.dual_variables(view, &labels, weights, threads, monitor))?;
        array(py, found)
    }

    /// The features of samples.
    fn transform<'py>(&self, py: Python<'py>, samples: Collected<'_>, threads: usize) -> PyResult<Matrix<'py, f32>> {
        let features = match &self.0 {
            Trained::Any(_) => return Err(PyTypeError::new_err("only an expansion has features")),
            Trained::Expansion(expansion) => {
                self.on_samples(py, samples, |view, monitor| expansion.transform_with(view, threads, monitor))?
            }
            Trained::CompositeExpansion(expansion) => self.on_samples(py, samples, |view, monitor| {
                expansion.transform_with(CompositeSimilarity::source(view)?, threads, monitor)
            })?,
        };
        array(py, features)
    }
}
