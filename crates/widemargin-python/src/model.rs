//! A trained model: a classifier, a regression model or an outlier detector, of any method, or an expansion.

use numpy::{PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use widemargin::Error;
use widemargin::data::AnySamples;
use widemargin::expansion::BasisExpansion;
use widemargin::model::{AnyModel, Classifier, FileMetadata, bases_arrays};
use widemargin::similarity::AnySimilarity;

use crate::convert::{Features, Matrix, Target, array, arrays, labeled, shaped};
use crate::errors::raise;
use crate::python_similarity::{Similarities, combined};
use crate::samples::PySamples;
use crate::work::Patience;

/// A trained classifier, regression model or outlier detector, or an expansion.
#[pyclass(frozen, module = "widemargin._core")]
pub(crate) struct Model(pub Trained);

/// The kinds of models.
pub(crate) enum Trained {
    Any(AnyModel),
    Expansion(BasisExpansion<AnySimilarity>),
}

/// The method of an expansion.
const EXPANSION: &str = "expansion";

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

    fn bases(&self) -> Option<&AnySamples> {
        match &self.0 {
            Trained::Any(model) => model.bases(),
            Trained::Expansion(expansion) => Some(expansion.bases()),
        }
    }

    /// Whether some similarities are Python's: neither these nor the bases are in the model's bytes.
    pub fn is_python(&self) -> bool {
        matches!(self.bases(), Some(AnySamples::Own(_)))
    }
}

/// The expansion of a model with built-in similarities.
pub(crate) fn ours(model: &Model) -> PyResult<&BasisExpansion<AnySimilarity>> {
    match &model.0 {
        Trained::Expansion(expansion) if !model.is_python() => Ok(expansion),
        _ => Err(PyTypeError::new_err("workers of a cluster accept only expansions of built-in similarities")),
    }
}

#[pymethods]
impl Model {
    /// Without Python similarities the bytes are a model file; with them, the similarities and the bases are needed.
    #[staticmethod]
    #[pyo3(signature = (data, parts = None))]
    fn from_bytes(data: &[u8], parts: Option<(Similarities, PySamples<'_>)>) -> PyResult<Self> {
        let is_expansion = FileMetadata::of_bytes(data).map_err(raise)?.method == EXPANSION;
        let parts = parts.map(|(similarities, bases)| Ok::<_, PyErr>((combined(similarities)?, bases.owned()?)));
        let restored = match (parts.transpose()?, is_expansion) {
            (None, true) => BasisExpansion::from_bytes(data).map(Trained::Expansion),
            (None, false) => AnyModel::from_bytes(data).map(Trained::Any),
            (Some((similarity, bases)), true) => {
                BasisExpansion::from_bytes_with(data, similarity, bases).map(Trained::Expansion)
            }
            (Some((similarity, bases)), false) => AnyModel::from_bytes_with(data, similarity, bases).map(Trained::Any),
        };
        restored.map(Model).map_err(raise)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = match &self.0 {
            Trained::Any(model) => model.to_bytes(),
            Trained::Expansion(model) => model.to_bytes(),
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
        };
        header.map_err(raise)
    }

    /// The arrays of the file except those of the bases, without a copy.
    fn arrays<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        arrays(slf, |model| match &model.0 {
            Trained::Any(model) => Ok(model.arrays()),
            Trained::Expansion(model) => Ok(model.arrays()),
        })
    }

    /// The arrays of the bases, if they are in the file.
    fn bases_arrays<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        arrays(slf, |model| model.bases().map_or_else(|| Ok(Vec::new()), bases_arrays))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        if slf.get().is_python() {
            let problem = "a model with Python similarities is pickled with its estimator only";
            return Err(PyTypeError::new_err(problem));
        }
        Ok((slf.get_type().getattr("from_bytes")?, (slf.get().to_bytes(slf.py())?,)))
    }

    /// The predictions for samples: the decision values of a classifier, the targets of a regression model, or the
    /// scores of an outlier detector, in one column.
    fn predict<'py>(&self, py: Python<'py>, samples: PySamples<'_>, threads: usize) -> PyResult<Matrix<'py, f64>> {
        let Trained::Any(model) = &self.0 else {
            return Err(PyTypeError::new_err("an expansion has no predictions"));
        };
        let (values, n_cols) = samples.conduct(py, &Patience::default(), |view, monitor| match model {
            AnyModel::Classifier(model) => Ok((model.decision_values(view, threads, monitor)?, model.n_problems())),
            AnyModel::Regressor(model) => Ok((model.predict(view, threads, monitor)?.values, model.n_outputs())),
            AnyModel::OneClass(model) => Ok((model.scores(view, threads, monitor)?, 1)),
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
        samples: PySamples<'_>,
        target: Target<'_>,
        threads: usize,
    ) -> PyResult<Matrix<'py, f64>> {
        let (labels, weights) = labeled(&target)?;
        let model = self.classifier("dual variables")?;
        let found = samples.conduct(py, &Patience::default(), |view, monitor| {
            model.dual_variables(view, &labels, weights, threads, monitor)
        });
        array(py, found?)
    }

    /// The features of samples.
    fn transform<'py>(&self, py: Python<'py>, samples: PySamples<'_>, threads: usize) -> PyResult<Matrix<'py, f32>> {
        let Trained::Expansion(expansion) = &self.0 else {
            return Err(PyTypeError::new_err("only an expansion has features"));
        };
        let features = samples
            .conduct(py, &Patience::default(), |view, monitor| expansion.transform_with(view, threads, monitor))?;
        array(py, features)
    }
}
