//! The steps of a distributed power mean fit: a worker's share, and merging.

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use widemargin::descriptor::{FeatureMax, largest_values};
use widemargin::expansion::{self, AdditiveMap, Explicit, explicit_block};
use widemargin::similarity::AdditiveKernel;

use crate::convert;
use crate::errors::raise;
use crate::samples::{Given, with_rows};
use crate::work::{Patience, conduct};

/// Values, counts, and whether the values are rounded.
type Counts<'py> = (Bound<'py, PyArray1<f32>>, Bound<'py, PyArray1<f64>>, bool);
type CountsIn<'py> = (PyReadonlyArray1<'py, f32>, PyReadonlyArray1<'py, f64>, bool);

fn counts<'py>(py: Python<'py>, found: expansion::ValueCounts) -> Counts<'py> {
    (PyArray1::from_vec(py, found.values), PyArray1::from_vec(py, found.counts), found.rounded)
}

/// The indices of the samples of weight above 0.
fn present(weights: &[f64]) -> Vec<usize> {
    (0..weights.len()).filter(|&row| weights[row] > 0.0).collect()
}

/// The largest value of each feature among the samples of weight above 0.
#[pyfunction]
pub(crate) fn largest<'py>(
    py: Python<'py>,
    samples: Given<'_>,
    weights: PyReadonlyArray1<'_, f64>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let rows = present(weights.as_slice()?);
    let found = with_rows!(&samples, "the power mean SVM", view => {
        conduct(py, &Patience::default(), |_, _| largest_values(&view, &rows))
    })?;
    Ok(PyArray1::from_vec(py, found))
}

/// The factors that scale features with these largest values.
#[pyfunction]
pub(crate) fn factors_of<'py>(
    py: Python<'py>,
    largest: PyReadonlyArray1<'_, f64>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    Ok(PyArray1::from_slice(py, FeatureMax::from_largest(largest.as_slice()?).factors()))
}

/// How often each value occurs among the samples of weight above 0.
#[pyfunction]
pub(crate) fn value_counts<'py>(
    py: Python<'py>,
    samples: Given<'_>,
    weights: PyReadonlyArray1<'_, f64>,
    factors: Option<PyReadonlyArray1<'_, f64>>,
) -> PyResult<Counts<'py>> {
    let weights = weights.as_slice()?;
    let factors = factors.as_ref().map(|factors| factors.as_slice()).transpose()?;
    let found = with_rows!(&samples, "the power mean SVM", view => {
        conduct(py, &Patience::default(), |_, _| expansion::ValueCounts::of(&view, weights, factors))
    })?;
    Ok(counts(py, found))
}

/// Merges two of them.
#[pyfunction]
pub(crate) fn merged_counts<'py>(py: Python<'py>, a: CountsIn<'_>, b: CountsIn<'_>) -> PyResult<Counts<'py>> {
    let read = |(values, counts, rounded): &CountsIn<'_>| -> PyResult<expansion::ValueCounts> {
        Ok(expansion::ValueCounts {
            values: values.as_slice()?.to_vec(),
            counts: counts.as_slice()?.to_vec(),
            rounded: *rounded,
        })
    };
    Ok(counts(py, read(&a)?.merged(&read(&b)?)))
}

/// The nodes of a kernel for values with these counts, as stored by the map.
#[pyfunction]
pub(crate) fn choose_nodes<'py>(
    py: Python<'py>,
    kernel: &str,
    values: PyReadonlyArray1<'_, f32>,
    counts: PyReadonlyArray1<'_, f64>,
    n_nodes: usize,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let kernel: AdditiveKernel = kernel.parse().map_err(raise)?;
    let mut nodes = expansion::choose_nodes(kernel, values.as_slice()?, counts.as_slice()?, n_nodes);
    if nodes.is_empty() {
        // Every sample is empty: any node will do.
        nodes.push(1.0);
    }
    Ok(PyArray1::from_slice(py, AdditiveMap::nystrom(kernel, &nodes).map_err(raise)?.nodes()))
}

/// Explicit v(x) of the samples of weight above 0, as an argument of `RowSums`.
#[pyfunction]
pub(crate) fn explicit<'py>(
    py: Python<'py>,
    samples: Given<'_>,
    weights: PyReadonlyArray1<'_, f64>,
    factors: Option<PyReadonlyArray1<'_, f64>>,
    kernel: &str,
    nodes: Vec<f64>,
) -> PyResult<Bound<'py, PyAny>> {
    let map = AdditiveMap::nystrom(kernel.parse().map_err(raise)?, &nodes).map_err(raise)?;
    let rows = present(weights.as_slice()?);
    let factors = factors.as_ref().map(|factors| factors.as_slice()).transpose()?;
    let block = with_rows!(&samples, "the power mean SVM", view => {
        conduct(py, &Patience::default(), |_, _| explicit_block(&view, &rows, factors, &map))
    })?;
    match block {
        Explicit::Dense(matrix) => Ok(convert::array(py, matrix)?.into_any()),
        Explicit::Sparse(matrix) => {
            let (indptr, indices) = (PyArray1::from_vec(py, matrix.indptr), PyArray1::from_vec(py, matrix.indices));
            let parts = (indptr, indices, PyArray1::from_vec(py, matrix.values), matrix.n_cols);
            Ok(parts.into_pyobject(py)?.into_any())
        }
    }
}
