//! The features of the basis expansion alone.

use std::sync::Arc;

use numpy::{PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use widemargin::Result;
use widemargin::data::{Label, Labels};
use widemargin::expansion::{BasisExpansion, FeatureRows, Normalization};
use widemargin::model::{Assembled, BasisExpansionParams, BasisExpansionSvc, Expanded, bases_arrays};
use widemargin::partition::Remote;
use widemargin::similarity::{AdditiveKernel, AnySimilarity, Similarity};

use crate::basis_expansion::basis_choice;
use crate::convert::{Common, array, arrays, reduced};
use crate::errors::raise;
use crate::model::Model;
use crate::python_similarity::{Collected, CompositeSimilarity, PythonParts, Similarities, State, both, needed};
use crate::remote::{Brought, Solved, minimise};
use crate::weighted_labels::WeightedLabels;
use crate::work::{Patience, conduct};
use crate::workers::PythonWorkers;

/// A fitted expansion.
#[pyclass(frozen, module = "widemargin._core")]
pub(crate) struct ExpansionModel {
    expansion: Expansion,
    #[pyo3(get)]
    basis_rows: Vec<usize>,
    #[pyo3(get)]
    warnings: Vec<String>,
}

enum Expansion {
    Ours(BasisExpansion<AnySimilarity>),
    Composite(BasisExpansion<CompositeSimilarity>),
}

type WithFeatures<'py> = (ExpansionModel, Bound<'py, PyArray2<f32>>);

fn finished<'py, S: Similarity>(
    py: Python<'py>,
    expanded: Expanded<S>,
    kind: fn(BasisExpansion<S>) -> Expansion,
) -> PyResult<WithFeatures<'py>> {
    let Expanded { expansion, features, basis_rows, warnings } = expanded;
    Ok((ExpansionModel { expansion: kind(expansion), basis_rows, warnings }, array(py, features)?))
}

#[pymethods]
impl ExpansionModel {
    #[staticmethod]
    #[pyo3(signature = (samples, codes, n_classes, *, similarity, n_basis, basis, basis_rows,
        normalization, seed, threads, monitor))]
    #[expect(clippy::too_many_arguments, reason = "they are the transformer's parameters, passed by name")]
    fn fit<'py>(
        py: Python<'py>,
        samples: Collected<'_>,
        codes: Option<PyReadonlyArray1<'_, u32>>,
        n_classes: usize,
        similarity: Similarities,
        n_basis: usize,
        basis: &str,
        basis_rows: Option<PyReadonlyArray1<'_, i64>>,
        normalization: &str,
        seed: u64,
        threads: usize,
        monitor: Option<Bound<'_, PyAny>>,
    ) -> PyResult<WithFeatures<'py>> {
        let labels = match codes {
            None => None,
            Some(codes) => {
                let classes = (0..n_classes as i64).map(Label::Integer).collect();
                Some(Labels::from_codes(classes, codes.as_slice()?.to_vec()).map_err(raise)?)
            }
        };
        // Another similarity takes the place of this one.
        let params = BasisExpansionParams::new(AdditiveKernel::Chi2)
            .n_basis(n_basis)
            .basis(basis_choice(basis, basis_rows)?)
            .normalization(normalization.parse().map_err(raise)?)
            .seed(seed)
            .threads(threads);
        let patience = Patience::new(None, monitor)?;
        if similarity.1.is_empty() {
            let params = params.with_similarity(AnySimilarity::new(&similarity.0).map_err(raise)?);
            let samples = needed(samples)?;
            let view = samples.view()?;
            let expanded = conduct(py, &patience, |monitor, _| params.expand(&view, labels.as_ref(), monitor))?;
            return finished(py, expanded, Expansion::Ours);
        }
        let params = params.with_similarity(CompositeSimilarity::new(similarity).map_err(raise)?);
        let source = both(samples)?;
        let expanded =
            conduct(py, &patience, |monitor, to_caller| params.expand(&source(to_caller), labels.as_ref(), monitor))?;
        // It does not hold on to all training samples.
        let bases = expanded.expansion.bases().alone(py)?;
        let expansion = expanded.expansion.with_bases(bases).map_err(raise)?;
        finished(py, Expanded { expansion, ..expanded }, Expansion::Composite)
    }

    #[staticmethod]
    #[pyo3(signature = (data, parts = None))]
    fn from_bytes(py: Python<'_>, data: &[u8], parts: Option<PythonParts<'_>>) -> PyResult<Self> {
        let expansion = match parts {
            None => Expansion::Ours(BasisExpansion::from_bytes(data).map_err(raise)?),
            Some((similarities, bases, state)) => {
                let similarity = CompositeSimilarity::restored(similarities, &state).map_err(raise)?;
                let bases = both(bases)?;
                Expansion::Composite(conduct(py, &Patience::default(), |_, to_caller| {
                    BasisExpansion::from_bytes_with(data, similarity, bases(to_caller))
                })?)
            }
        };
        Ok(ExpansionModel { expansion, basis_rows: Vec::new(), warnings: Vec::new() })
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes: Result<Vec<u8>> = match &self.expansion {
            Expansion::Ours(expansion) => expansion.to_bytes(),
            Expansion::Composite(expansion) => expansion.to_bytes_without_bases(),
        };
        Ok(PyBytes::new(py, &bytes.map_err(raise)?))
    }

    fn header(&self) -> PyResult<String> {
        match &self.expansion {
            Expansion::Ours(expansion) => expansion.header(),
            Expansion::Composite(expansion) => expansion.header_without_bases(),
        }
        .map_err(raise)
    }

    /// The arrays of the file but those of the bases, without a copy.
    fn arrays<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        arrays(slf, |model| {
            Ok(match &model.expansion {
                Expansion::Ours(expansion) => expansion.arrays(),
                Expansion::Composite(_) => Vec::new(),
            })
        })
    }

    /// Those of the bases, where they are in the file.
    fn bases_arrays<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        arrays(slf, |model| match &model.expansion {
            Expansion::Ours(expansion) => bases_arrays(expansion.bases()),
            Expansion::Composite(_) => Ok(Vec::new()),
        })
    }

    fn state(&self) -> State {
        match &self.expansion {
            Expansion::Ours(_) => State::new(),
            Expansion::Composite(expansion) => expansion.similarity().state(),
        }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        if let Expansion::Composite(_) = slf.get().expansion {
            let problem = "an expansion whose similarity is Python's is pickled with its transformer only";
            return Err(pyo3::exceptions::PyTypeError::new_err(problem));
        }
        reduced(slf.as_any(), slf.get().to_bytes(slf.py())?)
    }

    fn transform<'py>(
        &self,
        py: Python<'py>,
        samples: Collected<'_>,
        threads: usize,
        monitor: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let patience = Patience::new(None, monitor)?;
        let features = match &self.expansion {
            Expansion::Ours(expansion) => {
                let samples = needed(samples)?;
                let view = samples.view()?;
                conduct(py, &patience, |monitor, _| expansion.transform_with(&view, threads, monitor))?
            }
            Expansion::Composite(expansion) => {
                let source = both(samples)?;
                conduct(py, &patience, |monitor, to_caller| {
                    expansion.transform_with(&source(to_caller), threads, monitor)
                })?
            }
        };
        array(py, features)
    }

    #[getter]
    fn similarity(&self) -> Vec<String> {
        fn parts(similarity: &impl Similarity) -> Vec<String> {
            (0..similarity.n_parts()).map(|part| similarity.part(part)).collect()
        }
        match &self.expansion {
            Expansion::Ours(expansion) => parts(expansion.similarity()),
            Expansion::Composite(expansion) => parts(expansion.similarity()),
        }
    }

    #[getter]
    fn n_features(&self) -> usize {
        match &self.expansion {
            Expansion::Ours(expansion) => expansion.n_features(),
            Expansion::Composite(expansion) => expansion.n_features(),
        }
    }

    /// The same expansion with a normalization that is learned from the features that `rows` stands for.
    fn normalised(
        &self,
        py: Python<'_>,
        normalization: &str,
        rows: Py<PyAny>,
        labels: PyRef<'_, WeightedLabels>,
    ) -> PyResult<Self> {
        let (expansion, rows) = (self.ours()?.clone(), Arc::new(rows));
        let (normalization, total) = (normalization.parse().map_err(raise)?, labels.total());
        let expansion = conduct(py, &Patience::default(), |monitor, to_caller| {
            let mut rows = Remote::<FeatureRows, _>::new(PythonWorkers::new(&rows, to_caller));
            expansion.normalised(normalization, &mut rows, total, monitor)
        })?;
        Ok(ExpansionModel { expansion: Expansion::Ours(expansion), basis_rows: Vec::new(), warnings: Vec::new() })
    }

    /// A classifier of this expansion, trained on the features that `rows` stands for.
    #[pyo3(signature = (rows, labels, brought, *, C, basis, basis_rows, stages, common))]
    #[expect(non_snake_case, reason = "C is the parameter's name")]
    #[expect(clippy::too_many_arguments, reason = "they are what a machine is made of, passed by name")]
    fn fit_remote(
        &self,
        py: Python<'_>,
        rows: Py<PyAny>,
        labels: PyRef<'_, WeightedLabels>,
        brought: Option<Brought<'_>>,
        C: f64,
        basis: String,
        basis_rows: Vec<usize>,
        stages: Vec<(String, f64)>,
        common: Common<'_>,
    ) -> PyResult<Model> {
        let Solved { solution, shape, report } = minimise(py, rows, &labels, brought, C, &common, stages)?;
        let parts = Assembled {
            basis,
            basis_rows,
            c: C,
            loss: shape.loss.into(),
            intercept: shape.intercept,
            classes: labels.labels.classes().to_vec(),
            weights: solution.weights,
            intercepts: solution.intercepts,
            report,
        };
        let model = BasisExpansionSvc::assembled(self.ours()?.clone(), parts).map_err(raise)?;
        Model::fitted(model.with_training(labels.training(&common)), common.feature_names).map_err(raise)
    }
}

impl ExpansionModel {
    /// Whether its normalization is learned from samples, rather than from the bases alone.
    pub fn is_learned(&self) -> bool {
        let normalization = match &self.expansion {
            Expansion::Ours(expansion) => expansion.normalization(),
            Expansion::Composite(expansion) => expansion.normalization(),
        };
        matches!(normalization, Normalization::MeanNorm | Normalization::ZScore)
    }

    /// Normalises features in place, which were made before the normalization was learned.
    pub fn apply_in_place(&self, rows: &mut [f32]) {
        match &self.expansion {
            Expansion::Ours(expansion) => expansion.apply_in_place(rows),
            Expansion::Composite(expansion) => expansion.apply_in_place(rows),
        }
    }

    /// That of the library's similarities.
    fn ours(&self) -> PyResult<&BasisExpansion<AnySimilarity>> {
        match &self.expansion {
            Expansion::Ours(expansion) => Ok(expansion),
            Expansion::Composite(_) => {
                let problem = "a similarity that is Python's is not one that a cluster's workers can be given";
                Err(pyo3::exceptions::PyTypeError::new_err(problem))
            }
        }
    }
}
