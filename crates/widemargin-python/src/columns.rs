//! The columns of data frames as features.

use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use widemargin_io::{FrameCells, FrameColumn, FrameProblem, encode_frame, learn_frame};

use crate::convert::{Matrix, array, table_columns};

/// The cells of a column: numbers, or texts, with whether they are categories.
#[derive(FromPyObject)]
pub(crate) enum Cells<'py> {
    #[pyo3(transparent)]
    Numbers(PyReadonlyArray1<'py, f64>),
    Texts(Vec<Option<String>>, bool),
}

fn frame<'a>(columns: &'a [(String, Cells<'_>)]) -> PyResult<Vec<FrameColumn<'a>>> {
    let cells = |cells: &'a Cells<'_>| {
        PyResult::Ok(match cells {
            Cells::Numbers(numbers) => FrameCells::Numbers(numbers.as_slice()?),
            Cells::Texts(texts, false) => FrameCells::Texts(texts),
            Cells::Texts(texts, true) => FrameCells::Categories(texts),
        })
    };
    columns.iter().map(|(name, of)| Ok(FrameColumn { name: name.clone(), cells: cells(of)? })).collect()
}

fn refused(problem: FrameProblem) -> PyErr {
    PyValueError::new_err(problem.to_string())
}

/// The types and categories of a frame's columns, as JSON, and the features of its rows.
#[pyfunction]
#[pyo3(signature = (columns, weights = None))]
pub(crate) fn learn_columns<'py>(
    py: Python<'py>,
    columns: Vec<(String, Cells<'py>)>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
) -> PyResult<(String, Matrix<'py, f64>)> {
    let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
    let (encoder, features) = learn_frame(&frame(&columns)?, weights).map_err(refused)?;
    let json = serde_json::to_string(&encoder).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok((json, array(py, features)?))
}

/// The median of numbers, where a weight k counts as k numbers.
#[pyfunction]
#[pyo3(signature = (numbers, weights = None))]
pub(crate) fn median(numbers: PyReadonlyArray1<'_, f64>, weights: Option<PyReadonlyArray1<'_, f64>>) -> PyResult<f64> {
    let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
    Ok(widemargin_io::median(numbers.as_slice()?.to_vec(), weights))
}

/// The importance of each column of a table for similarities with these specs; None if none has column weights.
#[pyfunction]
#[pyo3(signature = (similarities, encoder = None))]
pub(crate) fn feature_importances(similarities: Vec<String>, encoder: Option<&str>) -> PyResult<Option<Vec<f64>>> {
    let columns = encoder.map(table_columns).transpose()?;
    Ok(widemargin::model::feature_importances(&similarities, columns.as_ref()))
}

/// The features of the rows of a frame under a learned encoder, and remarks.
#[pyfunction]
pub(crate) fn encode_columns<'py>(
    py: Python<'py>,
    encoder: &str,
    columns: Vec<(String, Cells<'py>)>,
) -> PyResult<(Matrix<'py, f64>, Vec<String>)> {
    let (features, remarks) = encode_frame(&table_columns(encoder)?, &frame(&columns)?).map_err(refused)?;
    Ok((array(py, features)?, remarks))
}
