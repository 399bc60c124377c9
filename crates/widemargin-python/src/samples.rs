//! Conversion of samples from Python: `_core.pyi` lists the forms.

use std::sync::Arc;

use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray4, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use widemargin::Result;
use widemargin::data::{
    AnyRows, AnySamples, BitSets, CsrView, DenseView, Element, Grids, Images, OwnSamples, SamplesView, Series, Source,
};
use widemargin::monitor::Monitor;
use widemargin::select;

use crate::errors::raise;
use crate::python_similarity::{Sequence, connect};
use crate::store::Store;
use crate::work::{Patience, conduct};

/// The three arrays of a CSR matrix.
pub struct Csr<'py, T: numpy::Element> {
    pub data: PyReadonlyArray1<'py, T>,
    pub indices: PyReadonlyArray1<'py, u32>,
    pub indptr: PyReadonlyArray1<'py, usize>,
    pub n_cols: usize,
}

/// Where the samples of a fit are.
pub enum Place<'a> {
    Memory(SamplesView<'a>),
    Files(&'a Store),
}

impl Place<'_> {
    /// What `work` makes of the samples.
    pub fn with<T>(&self, work: impl FnOnce(select::Place<'_>) -> T) -> T {
        match self {
            Place::Memory(view) => work(select::Place::Memory(view)),
            Place::Files(store) => work(select::Place::Blocks(&store.samples, &store.resources())),
        }
    }
}

/// Samples; vectors are borrowed, others owned.
pub enum PySamples<'py> {
    Dense32(PyReadonlyArray2<'py, f32>),
    Dense64(PyReadonlyArray2<'py, f64>),
    Sparse32(Csr<'py, f32>),
    Sparse64(Csr<'py, f64>),
    Other(AnySamples),
    Files(Bound<'py, Store>),
}

impl<'a, 'py> FromPyObject<'a, 'py> for PySamples<'py> {
    type Error = PyErr;

    fn extract(argument: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(dense) = argument.extract() {
            return Ok(PySamples::Dense32(dense));
        }
        if let Ok(dense) = argument.extract() {
            return Ok(PySamples::Dense64(dense));
        }
        if let Ok(store) = argument.cast::<Store>() {
            return Ok(PySamples::Files(store.to_owned()));
        }
        let parts = argument.cast::<PyTuple>()?;
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
            "objects" => {
                type Parts<'py> = (String, Option<PySamples<'py>>, Py<PyAny>, usize, Py<PyAny>, Vec<u128>);
                let (_, built_in, sequence, n, pick, fingerprints): Parts<'_> = parts.extract()?;
                let built_in = built_in.map(|samples| samples.owned().map(Arc::new)).transpose()?;
                let (whole, fingerprints) = (Sequence::new(sequence, pick), fingerprints.into());
                AnySamples::Own(OwnSamples { whole, rows: None, n, fingerprints, built_in })
            }
            other => return Err(PyTypeError::new_err(format!("samples of an unknown form '{other}'"))),
        };
        Ok(PySamples::Other(other))
    }
}

fn csr<'py>(parts: &Bound<'py, PyTuple>) -> PyResult<PySamples<'py>> {
    let (data, indices) = (parts.get_item(1)?, parts.get_item(2)?.extract()?);
    let (indptr, n_cols) = (parts.get_item(3)?.extract()?, parts.get_item(4)?.extract()?);
    if let Ok(data) = data.extract() {
        return Ok(PySamples::Sparse32(Csr { data, indices, indptr, n_cols }));
    }
    let data = data.extract()?;
    Ok(PySamples::Sparse64(Csr { data, indices, indptr, n_cols }))
}

/// Pixels (n, height, width, channels) as images.
pub fn images(pixels: &Bound<'_, PyAny>) -> PyResult<AnySamples> {
    let pixels: PyReadonlyArray4<'_, u8> = pixels.extract()?;
    let shape = pixels.shape();
    let images = Images::new(pixels.as_slice()?.to_vec(), shape[1], shape[2], shape[3]);
    Ok(AnySamples::Images(images.map_err(raise)?))
}

pub fn dense<'a, T: Element + numpy::Element>(array: &'a PyReadonlyArray2<'_, T>) -> PyResult<DenseView<'a, T>> {
    let shape = array.shape();
    DenseView::new(array.as_slice()?, shape[0], shape[1]).map_err(raise)
}

fn sparse<'a, T: Element + numpy::Element>(csr: &'a Csr<'_, T>) -> PyResult<CsrView<'a, T>> {
    let (indptr, indices, data) = (csr.indptr.as_slice()?, csr.indices.as_slice()?, csr.data.as_slice()?);
    CsrView::new(indptr, indices, data, csr.n_cols).map_err(raise)
}

impl PySamples<'_> {
    /// The view that every method of the library accepts.
    pub fn view(&self) -> PyResult<SamplesView<'_>> {
        Ok(match self {
            PySamples::Dense32(array) => dense(array)?.into(),
            PySamples::Dense64(array) => dense(array)?.into(),
            PySamples::Sparse32(csr) => sparse(csr)?.into(),
            PySamples::Sparse64(csr) => sparse(csr)?.into(),
            PySamples::Other(other) => other.into(),
            PySamples::Files(_) => return Err(PyTypeError::new_err("samples in files are not in memory")),
        })
    }

    /// Where the samples are.
    pub fn place(&self) -> PyResult<Place<'_>> {
        match self {
            PySamples::Files(store) => Ok(Place::Files(store.get())),
            _ => self.view().map(Place::Memory),
        }
    }

    /// The same as rows of numbers, for a method on vectors.
    pub fn rows(&self, method: &str) -> PyResult<AnyRows<'_>> {
        self.view()?.rows(method).map_err(raise)
    }

    /// The samples owned, as similarities of any kind compare them.
    pub fn owned(self) -> PyResult<AnySamples> {
        if let PySamples::Other(samples) = self {
            return Ok(samples);
        }
        let view = self.view()?;
        view.chunk(0..view.n_samples()).map_err(raise)
    }

    /// What `work` makes of the samples.
    pub fn conduct<T: Send>(
        &self,
        py: Python<'_>,
        patience: &Patience<'_>,
        work: impl FnOnce(&SamplesView<'_>, &Monitor<'_>) -> Result<T> + Send,
    ) -> PyResult<T> {
        let view = self.view()?;
        conduct(py, patience, |monitor, to_caller| {
            if let SamplesView::Other(samples) = view {
                connect(samples, to_caller);
            }
            work(&view, monitor)
        })
    }
}
