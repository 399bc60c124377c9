//! Conversion of labels, weights and names.

use std::borrow::Cow;
use std::collections::BTreeMap;

use numpy::ndarray::{ArrayD, ArrayViewD, IxDyn};
use numpy::{
    PyArray1, PyArray2, PyArrayDyn, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::PyClass;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pyclass::boolean_struct::True;
use pyo3::types::{PyDict, PyTuple};
use widemargin::data::{ClassWeight, DenseMatrix, Label, Labels, TableColumns, Targets};
use widemargin::model::{Array, Numbers};
use widemargin::select::Answers;
use widemargin::solve::Stage;
use widemargin::solve::newton::NewtonSettings;

use crate::errors::raise;
use crate::work::Patience;

/// A class label: an integer or a string.
#[derive(FromPyObject, IntoPyObject)]
pub(crate) enum Class {
    #[pyo3(transparent)]
    Integer(i64),
    #[pyo3(transparent)]
    Text(String),
}

impl From<&Class> for Label {
    fn from(class: &Class) -> Self {
        match class {
            Class::Integer(integer) => Label::Integer(*integer),
            Class::Text(text) => Label::Text(text.clone()),
        }
    }
}

impl From<&Label> for Class {
    fn from(label: &Label) -> Self {
        match label {
            Label::Integer(integer) => Class::Integer(*integer),
            Label::Text(text) => Class::Text(text.clone()),
        }
    }
}

/// The class index of each sample, or its multilabel indicators.
#[derive(FromPyObject)]
pub(crate) enum TargetValues<'py> {
    #[pyo3(transparent)]
    Codes(PyReadonlyArray1<'py, u32>),
    #[pyo3(transparent)]
    Multilabel(PyReadonlyArray2<'py, f64>),
}

/// The target of a fit: the ordered classes or labels, those of each sample, and the weights of the samples.
pub(crate) type Target<'py> = (Vec<Class>, TargetValues<'py>, Option<PyReadonlyArray1<'py, f64>>);

/// The labels of a target, and its weights.
pub(crate) fn labeled<'a>((classes, values, weights): &'a Target<'_>) -> PyResult<(Labels, Option<&'a [f64]>)> {
    let classes = classes.iter().map(Label::from).collect();
    let labels = match values {
        TargetValues::Codes(codes) => Labels::from_codes(classes, codes.as_slice()?.to_vec()),
        TargetValues::Multilabel(values) => Labels::multilabel(classes, values.as_slice()?),
    };
    let labels = labels.map_err(raise)?;
    Ok((labels, weights.as_ref().map(|weights| weights.as_slice()).transpose()?))
}

/// The target of a fit or a report: classes or labels, targets with weights, or weights alone.
#[derive(FromPyObject)]
pub(crate) enum Measure<'py> {
    #[pyo3(transparent)]
    Labels(Target<'py>),
    #[pyo3(transparent)]
    Targets((PyReadonlyArray2<'py, f64>, Option<PyReadonlyArray1<'py, f64>>)),
    #[pyo3(transparent)]
    Weights(PyReadonlyArray1<'py, f64>),
}

/// Labels or targets, and the weights of the samples.
pub(crate) type Answered<'a> = (Option<Answers<'a>>, Option<&'a [f64]>);

impl Measure<'_> {
    pub fn answers(&self) -> PyResult<Answered<'_>> {
        match self {
            Measure::Labels(target) => {
                let (labels, weights) = labeled(target)?;
                Ok((Some(Answers::Labels(Cow::Owned(labels))), weights))
            }
            Measure::Targets((targets, weights)) => {
                let answers = Answers::Targets(Cow::Owned(numbers(targets)?));
                Ok((Some(answers), weights.as_ref().map(|weights| weights.as_slice()).transpose()?))
            }
            Measure::Weights(weights) => Ok((None, Some(weights.as_slice()?))),
        }
    }
}

/// The targets of a regression, samples × outputs.
pub(crate) fn numbers(targets: &PyReadonlyArray2<'_, f64>) -> PyResult<Targets> {
    Targets::new(targets.as_slice()?.to_vec(), targets.shape()[1]).map_err(raise)
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
pub(crate) fn class_weight(factors: Option<&Factors>, labels: &Labels) -> PyResult<ClassWeight> {
    match factors {
        None => Ok(ClassWeight::Uniform),
        Some(Factors::Named(name)) if name == "balanced" => Ok(ClassWeight::Balanced),
        Some(Factors::Named(name)) => {
            Err(PyValueError::new_err(format!("class_weight = '{name}': 'balanced' or factors")))
        }
        Some(Factors::PerClass(factors)) => {
            let factors = factors.iter().copied();
            Ok(ClassWeight::PerClass(labels.classes().iter().cloned().zip(factors).collect::<BTreeMap<_, _>>()))
        }
    }
}

/// The names of the features, or the columns of a table that become the features, as JSON.
#[derive(FromPyObject)]
pub(crate) enum Features {
    #[pyo3(transparent)]
    Names(Vec<String>),
    #[pyo3(transparent)]
    Columns(#[pyo3(from_py_with = columns_of)] TableColumns),
}

fn columns_of(json: &Bound<'_, PyAny>) -> PyResult<TableColumns> {
    table_columns(json.extract()?)
}

/// The arguments that the fits of all methods share.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Common<'py> {
    pub class_weight: Option<Factors>,
    pub tol: f64,
    pub max_iter: u32,
    pub seed: u64,
    pub threads: usize,
    pub time_limit: Option<f64>,
    pub monitor: Option<Bound<'py, PyAny>>,
    pub features: Option<Features>,
}

impl<'py> Common<'py> {
    /// The time limit and the monitor.
    pub fn patience(&self) -> Patience<'py> {
        Patience { time_limit: self.time_limit, monitor: self.monitor.clone(), wants_best: false }
    }

    /// The settings of Newton's method.
    pub fn newton(&self) -> NewtonSettings {
        let Common { tol, max_iter, threads, .. } = *self;
        NewtonSettings { tol, max_iter, threads, ..NewtonSettings::default() }
    }
}

/// The stages of a fit and their seconds.
pub(crate) fn stages(stages: Vec<(String, f64)>) -> Vec<Stage> {
    stages.into_iter().map(|(name, seconds)| Stage { name, seconds }).collect()
}

/// Row numbers, from 0.
pub fn rows(rows: &PyReadonlyArray1<'_, i64>) -> PyResult<Vec<usize>> {
    // A negative number is mapped to one out of range, which the library reports.
    Ok(rows.as_slice()?.iter().map(|&row| usize::try_from(row).unwrap_or(usize::MAX)).collect())
}

/// Row numbers, from 0, as an array.
pub fn row_numbers(py: Python<'_>, rows: Vec<usize>) -> Bound<'_, PyArray1<i64>> {
    PyArray1::from_iter(py, rows.into_iter().map(|row| row as i64))
}

/// An array of two dimensions.
pub type Matrix<'py, T> = Bound<'py, PyArray2<T>>;

/// Converts a matrix to an array.
pub fn array<T: numpy::Element>(py: Python<'_>, matrix: DenseMatrix<T>) -> PyResult<Matrix<'_, T>> {
    shaped(py, matrix.values, matrix.n_rows, matrix.n_cols)
}

/// The columns of a table from their JSON.
pub fn table_columns(json: &str) -> PyResult<TableColumns> {
    serde_json::from_str(json).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Converts row-major values to an array.
pub fn shaped<T: numpy::Element>(
    py: Python<'_>,
    values: Vec<T>,
    n_rows: usize,
    n_cols: usize,
) -> PyResult<Matrix<'_, T>> {
    PyArray1::from_vec(py, values).reshape([n_rows, n_cols])
}

/// The arrays of an object, by name: read-only views of its memory, which keep it alive. Arrays that `of` computes are
/// moved.
pub fn arrays<'py, T: PyClass<Frozen = True> + Sync>(
    owner: &Bound<'py, T>,
    of: for<'a> fn(&'a T) -> widemargin::Result<Vec<Array<'a>>>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(owner.py());
    for Array { name, shape, numbers } in of(owner.get()).map_err(raise)? {
        let array = match numbers {
            Numbers::F32(numbers) => numpy_array(owner, &shape, numbers)?,
            Numbers::F64(numbers) => numpy_array(owner, &shape, numbers)?,
            Numbers::U8(numbers) => numpy_array(owner, &shape, numbers)?,
            Numbers::U32(numbers) => numpy_array(owner, &shape, numbers)?,
            Numbers::U64(numbers) => numpy_array(owner, &shape, numbers)?,
        };
        dict.set_item(name, array)?;
    }
    Ok(dict)
}

/// One of them: a view of `owner` if its numbers are borrowed.
fn numpy_array<'py, T: numpy::Element + Clone, O>(
    owner: &Bound<'py, O>,
    shape: &[usize],
    numbers: Cow<'_, [T]>,
) -> PyResult<Bound<'py, PyAny>> {
    let wrong = |error: numpy::ndarray::ShapeError| PyValueError::new_err(error.to_string());
    let array = match numbers {
        Cow::Owned(numbers) => {
            let array = ArrayD::from_shape_vec(IxDyn(shape), numbers).map_err(wrong)?;
            PyArrayDyn::from_owned_array(owner.py(), array)
        }
        Cow::Borrowed(numbers) => {
            let view = ArrayViewD::from_shape(IxDyn(shape), numbers).map_err(wrong)?;
            // SAFETY: `arrays` borrows the numbers from the frozen object `owner`, which never changes and which the
            // array keeps alive; below, the array becomes read-only.
            unsafe { PyArrayDyn::borrow_from_array(&view, owner.clone().into_any()) }
        }
    };
    array.call_method1("setflags", (false,))?;
    Ok(array.into_any())
}

/// An array, or the arrays of a tuple, C-contiguous and aligned; arrays from another worker may be neither.
pub fn contiguous<'py>(array: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    if let Ok(parts) = array.cast::<PyTuple>() {
        let parts = parts.iter().map(|part| if part.hasattr("dtype")? { contiguous(&part) } else { Ok(part) });
        return Ok(PyTuple::new(py, parts.collect::<PyResult<Vec<_>>>()?)?.into_any());
    }
    let options = PyDict::new(py);
    options.set_item("requirements", ["C", "A"])?;
    py.import("numpy")?.call_method("require", (array,), Some(&options))
}

/// The numbers of an array of one dimension.
pub fn vector<T: numpy::Element + Copy>(array: &Bound<'_, PyAny>) -> PyResult<Vec<T>> {
    Ok(contiguous(array)?.extract::<PyReadonlyArray1<'_, T>>()?.as_slice()?.to_vec())
}

/// The numbers of an array of two dimensions, row-major, and the number of its columns.
pub fn matrix(array: &Bound<'_, PyAny>) -> PyResult<(Vec<f64>, usize)> {
    let array = contiguous(array)?.extract::<PyReadonlyArray2<'_, f64>>()?;
    Ok((array.as_slice()?.to_vec(), array.shape()[1]))
}
