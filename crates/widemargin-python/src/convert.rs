//! Labels, weights and names, in and out.

use std::collections::BTreeMap;

use numpy::{PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use widemargin::data::{ClassWeight, DenseMatrix, Label, Labels};
use widemargin::model::TrainingSettings;

use crate::errors::raise;

/// A class: an integer or a text.
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

/// The labels of samples: their classes in order, and the number of each sample's class.
pub(crate) fn labels(classes: Vec<Class>, codes: &PyReadonlyArray1<'_, u32>) -> PyResult<Labels> {
    let classes = classes.into_iter().map(Label::from).collect();
    Labels::from_codes(classes, codes.as_slice()?.to_vec()).map_err(raise)
}

/// `None`, "balanced", or a factor a class in the order of the classes.
#[derive(FromPyObject)]
pub(crate) enum Factors {
    #[pyo3(transparent)]
    Named(String),
    #[pyo3(transparent)]
    PerClass(Vec<f64>),
}

/// How much each class counts.
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

/// What a fit on several machines was asked, for the model to say.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Asked {
    tol: f64,
    max_iter: u32,
    seed: u64,
    class_weight: Option<Factors>,
}

impl Asked {
    /// The same for a model of these classes.
    pub fn settings(self, classes: &[Label]) -> PyResult<TrainingSettings> {
        let labels = Labels::from_codes(classes.to_vec(), Vec::new()).map_err(raise)?;
        let class_weight = class_weight(self.class_weight, &labels)?;
        let Asked { tol, max_iter, seed, .. } = self;
        Ok(TrainingSettings { class_weight, tol, max_iter, seed, ..TrainingSettings::default() })
    }
}

/// Rows given as numbers from 0.
pub fn rows(rows: Option<PyReadonlyArray1<'_, i64>>) -> PyResult<Option<Vec<usize>>> {
    // A negative number becomes one that no sample has, which the library names.
    let row = |&row: &i64| usize::try_from(row).unwrap_or(usize::MAX);
    rows.map(|rows| Ok(rows.as_slice()?.iter().map(row).collect())).transpose()
}

/// A matrix as an array.
pub fn array(py: Python<'_>, matrix: DenseMatrix<f32>) -> PyResult<Bound<'_, PyArray2<f32>>> {
    shaped(py, matrix.values, matrix.n_rows, matrix.n_cols)
}

/// Row-major values as an array.
pub fn shaped<T: numpy::Element>(
    py: Python<'_>,
    values: Vec<T>,
    n_rows: usize,
    n_cols: usize,
) -> PyResult<Bound<'_, PyArray2<T>>> {
    numpy::PyArray1::from_vec(py, values).reshape([n_rows, n_cols])
}

/// What pickle makes a machine of again: its class's `from_bytes`, and the bytes.
pub fn reduced<'py>(
    model: &Bound<'py, PyAny>,
    bytes: Bound<'py, PyBytes>,
) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
    Ok((model.get_type().getattr("from_bytes")?, (bytes,)))
}
