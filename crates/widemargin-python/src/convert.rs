//! Conversion of labels, weights and names.

use std::collections::BTreeMap;

use numpy::{PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use widemargin::data::{ClassWeight, DenseMatrix, Label, Labels};
use widemargin::model::TrainingSettings;

use crate::errors::raise;

/// A class label: an integer or a string.
#[derive(FromPyObject)]
pub(crate) enum Class {
    #[pyo3(transparent)]
    Integer(i64),
    #[pyo3(transparent)]
    Text(String),
}

impl From<Class> for Label {
    fn from(class: Class) -> Self {
        match class {
            Class::Integer(integer) => Label::Integer(integer),
            Class::Text(text) => Label::Text(text),
        }
    }
}

/// The labels of samples: the ordered classes, and the class index of each sample.
pub(crate) fn labels(classes: Vec<Class>, codes: &PyReadonlyArray1<'_, u32>) -> PyResult<Labels> {
    let classes = classes.into_iter().map(Label::from).collect();
    Labels::from_codes(classes, codes.as_slice()?.to_vec()).map_err(raise)
}

/// `None`, "balanced", or one factor per class in order.
#[derive(FromPyObject)]
pub(crate) enum Factors {
    #[pyo3(transparent)]
    Named(String),
    #[pyo3(transparent)]
    PerClass(Vec<f64>),
}

/// The class weights.
pub(crate) fn class_weight(factors: Option<Factors>, labels: &Labels) -> PyResult<ClassWeight> {
    match factors {
        None => Ok(ClassWeight::Uniform),
        Some(Factors::Named(name)) if name == "balanced" => Ok(ClassWeight::Balanced),
        Some(Factors::Named(name)) => {
            Err(PyValueError::new_err(format!("class_weight = '{name}': 'balanced' or factors")))
        }
        Some(Factors::PerClass(factors)) => {
            Ok(ClassWeight::PerClass(labels.classes().iter().cloned().zip(factors).collect::<BTreeMap<_, _>>()))
        }
    }
}

/// Training parameters of a distributed fit, to be stored in the model.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Asked {
    tol: f64,
    max_iter: u32,
    seed: u64,
    class_weight: Option<Factors>,
}

impl Asked {
    /// The training settings for a model with these classes.
    pub fn settings(self, classes: &[Label]) -> PyResult<TrainingSettings> {
        let labels = Labels::from_codes(classes.to_vec(), Vec::new()).map_err(raise)?;
        let class_weight = class_weight(self.class_weight, &labels)?;
        let Asked { tol, max_iter, seed, .. } = self;
        Ok(TrainingSettings { class_weight, tol, max_iter, seed, ..TrainingSettings::default() })
    }
}

/// Row numbers, from 0.
pub fn rows(rows: Option<PyReadonlyArray1<'_, i64>>) -> PyResult<Option<Vec<usize>>> {
    // A negative number is mapped to one out of range, which the library reports.
    let row = |&row: &i64| usize::try_from(row).unwrap_or(usize::MAX);
    rows.map(|rows| Ok(rows.as_slice()?.iter().map(row).collect())).transpose()
}

/// Converts a matrix to an array.
pub fn array(py: Python<'_>, matrix: DenseMatrix<f32>) -> PyResult<Bound<'_, PyArray2<f32>>> {
    shaped(py, matrix.values, matrix.n_rows, matrix.n_cols)
}

/// Converts row-major values to an array.
pub fn shaped<T: numpy::Element>(
    py: Python<'_>,
    values: Vec<T>,
    n_rows: usize,
    n_cols: usize,
) -> PyResult<Bound<'_, PyArray2<T>>> {
    numpy::PyArray1::from_vec(py, values).reshape([n_rows, n_cols])
}

/// The arguments for unpickling a model: its class's `from_bytes`, and the bytes.
pub fn reduced<'py>(
    model: &Bound<'py, PyAny>,
    bytes: Bound<'py, PyBytes>,
) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
    Ok((model.get_type().getattr("from_bytes")?, (bytes,)))
}
