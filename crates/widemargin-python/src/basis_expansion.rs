//! The basis expansion SVM, with built-in similarities, Python similarities, or both.

use numpy::{PyArray2, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use widemargin::Result;
use widemargin::basis::BasisChoice;
use widemargin::data::ClassWeight;
use widemargin::expansion::Normalization;
use widemargin::model::{BasisExpansionParams, BasisExpansionSvc};
use widemargin::problem::{AnyLoss, Intercept};
use widemargin::similarity::{AnySimilarity, Similarity};

use crate::convert::{self, Class, Factors, reduced, shaped};
use crate::errors::raise;
use crate::python_similarity::{CompositeSamples, CompositeSimilarity, Objects, PythonSimilarity, Sequence, State};
use crate::samples::{Given, with_source};
use crate::work::{Patience, ToCaller, conduct};

/// A function and its name.
pub type PythonCall = (Py<PyAny>, String);

/// A sequence, its length, and the function that selects from it.
pub type PythonObjects = (Py<PyAny>, usize, Py<PyAny>);

/// A trained basis expansion SVM.
#[pyclass(frozen, module = "widemargin._core")]
pub(crate) struct BasisExpansionModel(Model);

enum Model {
    Ours(BasisExpansionSvc<AnySimilarity>),
    Composite(BasisExpansionSvc<CompositeSimilarity>),
}

impl Model {
    /// Weights and intercepts.
    fn solution(&self) -> (Vec<f32>, Vec<f64>) {
        match self {
            Model::Ours(model) => (model.weights().to_vec(), model.intercepts().to_vec()),
            Model::Composite(model) => (model.weights().to_vec(), model.intercepts().to_vec()),
        }
    }
}

impl BasisExpansionModel {
    /// Wraps a model with built-in similarities only.
    pub fn ours(model: BasisExpansionSvc<AnySimilarity>) -> Self {
        BasisExpansionModel(Model::Ours(model))
    }
}

/// Settings common to all similarities.
struct Settings {
    n_basis: usize,
    basis: BasisChoice,
    normalization: Normalization,
    c: f64,
    intercept: Intercept,
    loss: AnyLoss,
    class_weight: ClassWeight,
    tol: f64,
    max_iter: Option<u32>,
    /// Weights and intercepts of an earlier model.
    start: Option<(Vec<f32>, Vec<f64>)>,
    seed: u64,
    threads: usize,
}

impl Settings {
    fn params<S: Similarity>(self, similarity: S) -> BasisExpansionParams<S> {
        let params = BasisExpansionParams::new(similarity)
            .n_basis(self.n_basis)
            .basis(self.basis)
            .normalization(self.normalization)
            .c(self.c)
            .intercept(self.intercept)
            .loss(self.loss)
            .class_weight(self.class_weight)
            .tol(self.tol)
            .seed(self.seed)
            .threads(self.threads);
        let params = match self.max_iter {
            Some(max_iter) => params.max_iter(max_iter),
            None => params,
        };
        match self.start {
            Some((weights, intercepts)) => params.start(weights, intercepts),
            None => params,
        }
    }
}

/// How bases are selected: by name, or the rows themselves.
pub fn basis_choice(name: &str, rows: Option<PyReadonlyArray1<'_, i64>>) -> PyResult<BasisChoice> {
    match convert::rows(rows)? {
        Some(rows) => Ok(BasisChoice::Given(rows)),
        None => name.parse().map_err(raise),
    }
}

/// Samples for Python similarities, and for built-in ones if there are any.
pub fn both(
    samples: Option<Given<'_>>,
    objects: Option<PythonObjects>,
) -> PyResult<impl FnOnce(&ToCaller) -> CompositeSamples> {
    let objects = objects.ok_or_else(|| PyValueError::new_err("calls need objects to compare"))?;
    let (ours, whole) = (samples.map(|samples| samples.owned()).transpose()?, Sequence::new(objects));
    Ok(move |to_caller: &ToCaller| CompositeSamples { ours, objects: Objects::new(whole, to_caller) })
}

/// Samples that the built-in similarities need.
pub fn needed<'py>(samples: Option<Given<'py>>) -> PyResult<Given<'py>> {
    samples.ok_or_else(|| PyValueError::new_err("no samples were given"))
}

#[pymethods]
impl BasisExpansionModel {
    #[staticmethod]
    #[pyo3(signature = (samples, objects, classes, codes, sample_weight, *, similarity, calls, n_basis, basis,
        basis_rows, normalization, C, intercept, loss, class_weight, tol, max_iter, seed, threads, time_limit, monitor,
        start = None, feature_names = None))]
    #[expect(non_snake_case, reason = "C is the parameter's name")]
    #[expect(clippy::too_many_arguments, reason = "they are the estimator's parameters, passed by name")]
    fn fit(
        py: Python<'_>,
        samples: Option<Given<'_>>,
        objects: Option<PythonObjects>,
        classes: Vec<Class>,
        codes: PyReadonlyArray1<'_, u32>,
        sample_weight: Option<PyReadonlyArray1<'_, f64>>,
        similarity: Vec<String>,
        calls: Vec<PythonCall>,
        n_basis: usize,
        basis: &str,
        basis_rows: Option<PyReadonlyArray1<'_, i64>>,
        normalization: &str,
        C: f64,
        intercept: &str,
        loss: &str,
        class_weight: Option<Factors>,
        tol: f64,
        max_iter: Option<u32>,
        seed: u64,
        threads: usize,
        time_limit: Option<f64>,
        monitor: Option<Bound<'_, PyAny>>,
        start: Option<PyRef<'_, BasisExpansionModel>>,
        feature_names: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let labels = convert::labels(classes, &codes)?;
        let weights = sample_weight.as_ref().map(|weights| weights.as_slice()).transpose()?;
        let settings = Settings {
            n_basis,
            basis: basis_choice(basis, basis_rows)?,
            normalization: normalization.parse().map_err(raise)?,
            c: C,
            intercept: intercept.parse().map_err(raise)?,
            loss: loss.parse().map_err(raise)?,
            class_weight: convert::class_weight(class_weight, &labels)?,
            tol,
            max_iter,
            start: start.map(|earlier| earlier.0.solution()),
            seed,
            threads,
        };
        let patience = Patience::new(time_limit, monitor)?;
        if calls.is_empty() {
            let params = settings.params(AnySimilarity::new(&similarity).map_err(raise)?);
            let samples = needed(samples)?;
            let fitted = with_source!(&samples, source => {
                conduct(py, &patience, |monitor, _| {
                    params.fit_with(source, &labels, weights, monitor)?.with_feature_names(feature_names)
                })
            });
            return Ok(BasisExpansionModel(Model::Ours(fitted?)));
        }
        let params =
            settings.params(CompositeSimilarity::new(&similarity, PythonSimilarity::many(calls)).map_err(raise)?);
        let source = both(samples, objects)?;
        let fitted = conduct(py, &patience, |monitor, to_caller| {
            params.fit_with(&source(to_caller), &labels, weights, monitor)?.with_feature_names(feature_names)
        })?;
        Ok(BasisExpansionModel(Model::Composite(fitted)))
    }

    #[staticmethod]
    #[pyo3(signature = (data, similarity = None, calls = None, objects = None, samples = None, state = None))]
    fn from_bytes(
        py: Python<'_>,
        data: &[u8],
        similarity: Option<Vec<String>>,
        calls: Option<Vec<PythonCall>>,
        objects: Option<PythonObjects>,
        samples: Option<Given<'_>>,
        state: Option<State>,
    ) -> PyResult<Self> {
        let Some(calls) = calls else {
            let model = BasisExpansionSvc::<AnySimilarity>::from_bytes(data).map_err(raise)?;
            return Ok(BasisExpansionModel(Model::Ours(model)));
        };
        let similarity =
            CompositeSimilarity::new(&similarity.unwrap_or_default(), PythonSimilarity::many(calls)).map_err(raise)?;
        let similarity = similarity.restored(&state.unwrap_or_default()).map_err(raise)?;
        let bases = both(samples, objects)?;
        let restored = conduct(py, &Patience::default(), |_, to_caller| {
            BasisExpansionSvc::from_bytes_with(data, similarity, bases(to_caller))
        })?;
        Ok(BasisExpansionModel(Model::Composite(restored)))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes: Result<Vec<u8>> = match &self.0 {
            Model::Ours(model) => model.to_bytes(),
            Model::Composite(model) => model.to_bytes_without_bases(),
        };
        Ok(PyBytes::new(py, &bytes.map_err(raise)?))
    }

    fn state(&self) -> State {
        match &self.0 {
            Model::Ours(_) => State::new(),
            Model::Composite(model) => model.expansion().similarity().state(),
        }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        if let Model::Composite(_) = slf.get().0 {
            let problem = "a machine whose similarity is Python's is pickled with its estimator only";
            return Err(pyo3::exceptions::PyTypeError::new_err(problem));
        }
        reduced(slf.as_any(), slf.get().to_bytes(slf.py())?)
    }

    fn decision_function<'py>(
        &self,
        py: Python<'py>,
        samples: Option<Given<'_>>,
        objects: Option<PythonObjects>,
        threads: usize,
        monitor: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let patience = Patience::new(None, monitor)?;
        let scores = match &self.0 {
            Model::Ours(model) => {
                let samples = needed(samples)?;
                with_source!(&samples, source => {
                    conduct(py, &patience, |monitor, _| model.decision_function_with(source, threads, monitor))
                })?
            }
            Model::Composite(model) => {
                let source = both(samples, objects)?;
                conduct(py, &patience, |monitor, to_caller| {
                    model.decision_function_with(&source(to_caller), threads, monitor)
                })?
            }
        };
        shaped(py, scores.values().to_vec(), scores.n_rows(), scores.n_cols())
    }
}
