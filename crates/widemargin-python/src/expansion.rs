//! The features of the basis expansion alone.

use numpy::{PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use widemargin::Result;
use widemargin::data::{Label, Labels};
use widemargin::expansion::BasisExpansion;
use widemargin::model::{Assembled, BasisExpansionParams, BasisExpansionSvc, Expanded, bases_arrays};
use widemargin::similarity::{AdditiveKernel, AnySimilarity, Similarity};
use widemargin::solve::Stage;

use crate::basis_expansion::basis_choice;
use crate::convert::{Asked, Class, array, arrays, reduced};
use crate::errors::raise;
use crate::model::Model;
use crate::python_similarity::{CompositeSimilarity, PythonCall, PythonObjects, State, both};
use crate::remote_objective::Solution;
use crate::samples::{Given, needed};
use crate::work::{Patience, conduct};

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
    #[pyo3(signature = (samples, objects, codes, n_classes, *, similarity, calls, n_basis, basis, basis_rows,
        normalization, seed, threads, monitor))]
    #[expect(clippy::too_many_arguments, reason = "they are the transformer's parameters, passed by name")]
    fn fit<'py>(
        py: Python<'py>,
        samples: Option<Given<'_>>,
        objects: Option<PythonObjects>,
        codes: Option<PyReadonlyArray1<'_, u32>>,
        n_classes: usize,
        similarity: Vec<String>,
        calls: Vec<PythonCall>,
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
        if calls.is_empty() {
            let params = params.with_similarity(AnySimilarity::new(&similarity).map_err(raise)?);
            let samples = needed(samples)?;
            let view = samples.view()?;
            let expanded = conduct(py, &patience, |monitor, _| params.expand(&view, labels.as_ref(), monitor))?;
            return finished(py, expanded, Expansion::Ours);
        }
        let params = params.with_similarity(CompositeSimilarity::new(&similarity, calls).map_err(raise)?);
        let source = both(samples, objects)?;
        let expanded =
            conduct(py, &patience, |monitor, to_caller| params.expand(&source(to_caller), labels.as_ref(), monitor))?;
        // It does not hold on to all training samples.
        let bases = expanded.expansion.bases().alone(py)?;
        let expansion = expanded.expansion.with_bases(bases).map_err(raise)?;
        finished(py, Expanded { expansion, ..expanded }, Expansion::Composite)
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
        let expansion = match calls {
            None => Expansion::Ours(BasisExpansion::from_bytes(data).map_err(raise)?),
            Some(calls) => {
                let similarity = CompositeSimilarity::restored(similarity, calls, state).map_err(raise)?;
                let bases = both(samples, objects)?;
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
        samples: Option<Given<'_>>,
        objects: Option<PythonObjects>,
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
                let source = both(samples, objects)?;
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

    /// A classifier of this expansion, with a normalization and weights computed elsewhere.
    #[pyo3(signature = (solution, classes, *, normalization, centre, factors, C, basis, basis_rows, loss, intercept,
        stages, warnings, training, feature_names = None))]
    #[expect(non_snake_case, reason = "C is the parameter's name")]
    #[expect(clippy::too_many_arguments, reason = "they are what a machine is made of, passed by name")]
    fn assemble(
        &self,
        solution: PyRef<'_, Solution>,
        classes: Vec<Class>,
        normalization: &str,
        centre: Option<PyReadonlyArray1<'_, f32>>,
        factors: Vec<Vec<f32>>,
        C: f64,
        basis: String,
        basis_rows: Vec<usize>,
        loss: &str,
        intercept: &str,
        stages: Vec<(String, f64)>,
        warnings: Vec<String>,
        training: Asked,
        feature_names: Option<Vec<String>>,
    ) -> PyResult<Model> {
        let Expansion::Ours(expansion) = &self.expansion else {
            let problem = "a similarity that is Python's is not one that a cluster's workers can be given";
            return Err(pyo3::exceptions::PyTypeError::new_err(problem));
        };
        let classes: Vec<Label> = classes.into_iter().map(Label::from).collect();
        let training = training.settings(&classes)?;
        let stages = stages.into_iter().map(|(name, seconds)| Stage { name, seconds }).collect();
        let mut report = solution.solution.report(stages, &solution.settings);
        report.warnings.extend(warnings);
        let parts = Assembled {
            basis,
            basis_rows,
            c: C,
            loss: loss.parse().map_err(raise)?,
            intercept: intercept.parse().map_err(raise)?,
            classes,
            weights: solution.solution.weights.clone(),
            intercepts: solution.solution.intercepts.clone(),
            report,
        };
        let mut expansion = expansion.clone();
        if let Some(centre) = centre {
            let normalization = normalization.parse().map_err(raise)?;
            expansion = expansion.with_affine(normalization, centre.as_slice()?, &factors).map_err(raise)?;
        }
        let model = BasisExpansionSvc::assembled(expansion, parts).map_err(raise)?.with_training(training);
        Model::fitted(model, feature_names).map_err(raise)
    }

    /// The first column of each part and the one after its last.
    #[getter]
    fn part_columns(&self) -> Vec<(usize, usize)> {
        fn columns<S: Similarity>(expansion: &BasisExpansion<S>) -> Vec<(usize, usize)> {
            (0..).map_while(|part| expansion.part_columns(part)).map(|columns| (columns.start, columns.end)).collect()
        }
        match &self.expansion {
            Expansion::Ours(expansion) => columns(expansion),
            Expansion::Composite(expansion) => columns(expansion),
        }
    }
}
