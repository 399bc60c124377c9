//! Conversion of samples from Python: `_core.pyi` lists the forms.

use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray4, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use widemargin::data::{AnySamples, BitSets, Grids, Images, Series};

use crate::errors::raise;

/// The three arrays of a CSR matrix.
pub struct Csr<'py, T: numpy::Element> {
    pub data: PyReadonlyArray1<'py, T>,
    pub indices: PyReadonlyArray1<'py, i32>,
    pub indptr: PyReadonlyArray1<'py, i64>,
    pub n_cols: usize,
}

/// Samples; vectors are borrowed, others owned.
pub enum Given<'py> {
    Dense32(PyReadonlyArray2<'py, f32>),
    Dense64(PyReadonlyArray2<'py, f64>),
    Sparse32(Csr<'py, f32>),
    Sparse64(Csr<'py, f64>),
    Other(AnySamples),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Given<'py> {
    type Error = PyErr;

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(dense) = given.extract() {
            return Ok(Given::Dense32(dense));
        }
        if let Ok(dense) = given.extract() {
            return Ok(Given::Dense64(dense));
        }
        let parts = given.cast::<PyTuple>()?;
        let form: String = parts.get_item(0)?.extract()?;
        let other = match form.as_str() {
            "csr" => return csr(&parts),
            "images" => images(&parts.get_item(1)?)?,
            "grids" => {
                let cells: PyReadonlyArray4<'_, f32> = parts.get_item(1)?.extract()?;
                let (values, shape) = (cells.as_slice()?.to_vec(), cells.shape());
                AnySamples::Grids(Grids::new(values, shape[1], shape[2], shape[3]).map_err(raise)?)
            }
            "series" => {
                let values: PyReadonlyArray2<'_, f32> = parts.get_item(1)?.extract()?;
                let lengths: PyReadonlyArray1<'_, i64> = parts.get_item(2)?.extract()?;
                let lengths: Vec<usize> = lengths.as_slice()?.iter().map(|&length| length.max(0) as usize).collect();
                let series = Series::new(values.as_slice()?.to_vec(), &lengths, values.shape()[1]);
                AnySamples::Series(series.map_err(raise)?)
            }
            "strings" => AnySamples::Strings(parts.get_item(1)?.extract()?),
            "bits" => {
                let words: PyReadonlyArray2<'_, u64> = parts.get_item(1)?.extract()?;
                let n_bits: usize = parts.get_item(2)?.extract()?;
                let sets = BitSets::new(words.as_slice()?.to_vec(), words.shape()[0], n_bits);
                AnySamples::BitSets(sets.map_err(raise)?)
            }
            other => return Err(PyTypeError::new_err(format!("samples of an unknown form '{other}'"))),
        };
        Ok(Given::Other(other))
    }
}

fn csr<'py>(parts: &Bound<'py, PyTuple>) -> PyResult<Given<'py>> {
    let (data, indices) = (parts.get_item(1)?, parts.get_item(2)?.extract()?);
    let (indptr, n_cols) = (parts.get_item(3)?.extract()?, parts.get_item(4)?.extract()?);
    if let Ok(data) = data.extract() {
        return Ok(Given::Sparse32(Csr { data, indices, indptr, n_cols }));
    }
    let data = data.extract()?;
    Ok(Given::Sparse64(Csr { data, indices, indptr, n_cols }))
}

/// Pixels (n, height, width, channels) as images.
pub fn images(pixels: &Bound<'_, PyAny>) -> PyResult<AnySamples> {
    let pixels: PyReadonlyArray4<'_, u8> = pixels.extract()?;
    let shape = pixels.shape();
    let images = Images::new(pixels.as_slice()?.to_vec(), shape[1], shape[2], shape[3]);
    Ok(AnySamples::Images(images.map_err(raise)?))
}

/// Runs `$body` with `$view` as the view of the given vectors; samples of another kind are an error.
macro_rules! with_rows {
    ($given:expr, $method:literal, $view:ident => $body:expr) => {
        match $given {
            $crate::samples::Given::Dense32(array) => $crate::samples::with_dense!(array, $view => $body),
            $crate::samples::Given::Dense64(array) => $crate::samples::with_dense!(array, $view => $body),
            $crate::samples::Given::Sparse32(csr) => $crate::samples::with_csr!(csr, $view => $body),
            $crate::samples::Given::Sparse64(csr) => $crate::samples::with_csr!(csr, $view => $body),
            $crate::samples::Given::Other(other) => {
                let (given, method) = (other.kind(), $method.to_owned());
                Err($crate::errors::raise(widemargin::Error::Kind { given, method, wanted: "vectors" }))
            }
        }
    };
}

/// Runs `$body` with `$source` as a source of samples of any kind.
macro_rules! with_source {
    ($given:expr, $source:ident => $body:expr) => {
        match $given {
            $crate::samples::Given::Dense32(array) => $crate::samples::with_dense!(array, view => {
                let $source = &widemargin::data::VectorSource(&view);
                $body
            }),
            $crate::samples::Given::Dense64(array) => $crate::samples::with_dense!(array, view => {
                let $source = &widemargin::data::VectorSource(&view);
                $body
            }),
            $crate::samples::Given::Sparse32(csr) => $crate::samples::with_csr!(csr, view => {
                let $source = &widemargin::data::VectorSource(&view);
                $body
            }),
            $crate::samples::Given::Sparse64(csr) => $crate::samples::with_csr!(csr, view => {
                let $source = &widemargin::data::VectorSource(&view);
                $body
            }),
            $crate::samples::Given::Other(any) => {
                let $source = any;
                $body
            }
        }
    };
}

macro_rules! with_dense {
    ($array:expr, $view:ident => $body:expr) => {{
        use numpy::PyUntypedArrayMethods as _;
        let shape = $array.shape();
        let view = widemargin::data::DenseView::new($array.as_slice()?, shape[0], shape[1]);
        let $view = view.map_err($crate::errors::raise)?;
        $body
    }};
}

macro_rules! with_csr {
    ($csr:expr, $view:ident => $body:expr) => {{
        let (indptr, indices, data) = ($csr.indptr.as_slice()?, $csr.indices.as_slice()?, $csr.data.as_slice()?);
        let view = widemargin::data::CsrView::new(indptr, indices, data, $csr.n_cols);
        let $view = view.map_err($crate::errors::raise)?;
        $body
    }};
}

pub(crate) use {with_csr, with_dense, with_rows, with_source};

impl Given<'_> {
    /// The samples as an owned collection of any kind.
    pub fn owned(&self) -> PyResult<AnySamples> {
        use widemargin::data::Source;
        with_source!(self, source => source.chunk(0..source.n_samples()).map_err(raise))
    }
}
