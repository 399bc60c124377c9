//! Functions without a model: names, blocks, spectra and selection.

use std::sync::Arc;

use numpy::{Complex64, PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use widemargin::Result;
use widemargin::basis;
use widemargin::data::{AnySamples, Rows, Samples, Training};
use widemargin::expansion::{self, BasisExpansion, Spectrum};
use widemargin::monitor::Monitor;
use widemargin::similarity::{AnySimilarity, Similarity, Spec};

use crate::convert;
use crate::errors::raise;
use crate::expansion::basis_choice;
use crate::python_similarity::{Similarities, combined, connect};
use crate::samples::{PySamples, images};
use crate::work::{Patience, conduct};

/// The version of the library.
#[pyfunction]
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// The JSON header of a model file's bytes, with verified checksum and field types.
#[pyfunction]
pub fn header_of(data: &[u8]) -> PyResult<String> {
    widemargin::model::header_of_bytes(data).map_err(raise)
}

/// The bytes of a model file with one more tensor of bytes.
#[pyfunction]
pub fn with_payload<'py>(py: Python<'py>, data: &[u8], name: &str, payload: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    Ok(PyBytes::new(py, &widemargin::model::with_payload(data, name, payload).map_err(raise)?))
}

/// The bytes added by `with_payload`; `None` if there are none of this name.
#[pyfunction]
pub fn payload<'py>(py: Python<'py>, data: &[u8], name: &str) -> PyResult<Option<Bound<'py, PyBytes>>> {
    let found = widemargin::model::payload(data, name).map_err(raise)?;
    Ok(found.map(|bytes| PyBytes::new(py, &bytes)))
}

/// The spec in canonical form.
#[pyfunction]
pub fn canonical(spec: &str) -> PyResult<String> {
    let checked = AnySimilarity::new(&[spec]).and_then(|_| spec.parse::<Spec>());
    checked.map(|spec| spec.to_string()).map_err(raise)
}

/// The kinds of samples accepted by all the similarities.
#[pyfunction]
pub fn accepted_kinds(specs: Vec<String>) -> PyResult<Vec<&'static str>> {
    AnySimilarity::new(&specs).map(|similarity| similarity.takes()).map_err(raise)
}

/// Rows that become bases, among samples of these weights; only k-medoids compares the samples.
#[pyfunction]
pub(crate) fn choose_bases<'py>(
    py: Python<'py>,
    similarity: Similarities,
    samples: PySamples<'_>,
    codes: PyReadonlyArray1<'_, u32>,
    weights: PyReadonlyArray1<'_, f64>,
    n_basis: usize,
    basis: &str,
    basis_rows: Option<PyReadonlyArray1<'_, i64>>,
    seed: u64,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let (similarity, samples, choice) = (combined(similarity)?, samples.owned()?, basis_choice(basis, basis_rows)?);
    let (codes, weights) = (codes.as_slice()?, weights.as_slice()?);
    let n_classes = codes.iter().max().map_or(0, |&code| code as usize + 1);
    let bases = conduct(py, &Patience::default(), |monitor, to_caller| {
        connect(&samples, to_caller);
        let training = Training { samples: &samples, weights, threads: 1, monitor };
        basis::choose(&choice, n_basis, codes, n_classes, seed, &similarity, &training)
    })?;
    Ok(convert::row_numbers(py, bases.rows))
}

/// Bases, and the indices of these samples.
type ThinPlateBases<'py> = (convert::Matrix<'py, f64>, Bound<'py, PyArray1<i64>>);

/// Bases (bases, features) and the indices of these samples, empty if they are means.
#[pyfunction]
pub fn choose_thin_plate_bases<'py>(
    py: Python<'py>,
    samples: PySamples<'_>,
    weights: PyReadonlyArray1<'_, f64>,
    basis: &str,
    n_basis: usize,
    seed: u64,
    threads: usize,
) -> PyResult<ThinPlateBases<'py>> {
    let (weights, choice) = (weights.as_slice()?, basis.parse().map_err(raise)?);
    let view = samples.rows("the thin plate SVM")?;
    let (bases, rows) = conduct(py, &Patience::default(), |_, _| {
        widemargin::model::choose_bases(&view, weights, choice, n_basis, seed, threads)
    })?;
    let d = Rows::n_cols(&view);
    let n = bases.len() / d.max(1);
    Ok((convert::shaped(py, bases, n, d)?, convert::row_numbers(py, rows)))
}

/// A similarity, fitted to samples.
fn fitted(
    mut similarity: AnySimilarity,
    samples: &AnySamples,
    threads: usize,
    monitor: &Monitor<'_>,
) -> Result<Arc<AnySimilarity>> {
    let weights = vec![1.0; samples.len()];
    similarity.fit(&Training { samples, weights: &weights, threads, monitor })?;
    Ok(Arc::new(similarity))
}

/// (samples, parts · bases): the parts of a sample are concatenated.
#[pyfunction]
pub fn pairwise<'py>(
    py: Python<'py>,
    similarity: Similarities,
    samples: PySamples<'_>,
    bases: PySamples<'_>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let (similarity, bases) = (combined(similarity)?, bases.owned()?);
    let (n_samples, n_parts, values) = samples.conduct(py, &Patience::default(), |view, monitor| {
        let similarity = fitted(similarity, &bases, threads, monitor)?;
        let n_parts = similarity.n_parts();
        let rows = BasisExpansion::raw(similarity, bases)?.transform_with(view, threads, monitor)?;
        Ok((rows.n_rows, n_parts, rows.values))
    })?;
    let n_bases = values.len() / (n_samples * n_parts).max(1);
    let rows = PyArray1::from_vec(py, values).reshape([n_samples, n_parts, n_bases])?;
    let parts = rows.permute(Some([1, 0, 2]))?;
    parts.call_method1("copy", ("C",))
}

/// The spectra of the similarities, one per part.
#[pyfunction]
pub fn spectrum<'py>(
    py: Python<'py>,
    similarity: Similarities,
    samples: PySamples<'_>,
    threads: usize,
) -> PyResult<Vec<SpectrumFields<'py>>> {
    let (similarity, samples) = (combined(similarity)?, samples.owned()?);
    let spectra = conduct(py, &Patience::default(), |monitor, to_caller| {
        connect(&samples, to_caller);
        expansion::spectrum(fitted(similarity, &samples, threads, monitor)?, &samples, threads, monitor)
    })?;
    let fields = |spectrum: Spectrum| {
        let negative = spectrum.negative();
        SpectrumFields {
            asymmetry: spectrum.asymmetry,
            rounding: spectrum.rounding,
            negative_ratio: negative.ratio,
            negative_energy: negative.energy,
            raw_eigenvalues: PyArray1::from_iter(py, spectrum.raw.iter().map(|(re, im)| Complex64::new(*re, *im))),
            eigenvalues: PyArray1::from_vec(py, spectrum.symmetric),
            similarity: spectrum.similarity,
        }
    };
    Ok(spectra.into_iter().map(fields).collect())
}

/// The spectrum of a part: the fields of Python's `Spectrum`.
#[derive(IntoPyObject)]
pub struct SpectrumFields<'py> {
    similarity: String,
    asymmetry: f64,
    rounding: f64,
    negative_ratio: f64,
    negative_energy: f64,
    eigenvalues: Bound<'py, PyArray1<f64>>,
    raw_eigenvalues: Bound<'py, PyArray1<Complex64>>,
}

/// HOG cells of images (n, height, width, channels): one row per image.
#[pyfunction]
pub fn hog<'py>(
    py: Python<'py>,
    pixels: &Bound<'py, PyAny>,
    cell_size: usize,
    threads: usize,
) -> PyResult<convert::Matrix<'py, f32>> {
    let images = images(pixels)?;
    let spec = format!("hog:cell={cell_size},scale=none/linear");
    let described =
        conduct(py, &Patience::default(), |_, _| expansion::describe(&AnySimilarity::new(&[spec])?, &images, threads))?;
    convert::array(py, described)
}
