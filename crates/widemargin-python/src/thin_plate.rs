//! The thin plate SVM.

use numpy::{PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use widemargin::model::{CChoice, ThinPlateParams, ThinPlateSvc};
use widemargin::similarity::ConditionalKernel;

use crate::convert::{self, Class, Factors, reduced, shaped};
use crate::errors::raise;
use crate::samples::{Given, with_rows};
use crate::work::{Patience, conduct};

/// A trained thin plate SVM.
#[pyclass(frozen, module = "widemargin._core")]
pub(crate) struct ThinPlateModel(pub ThinPlateSvc);

#[pymethods]
impl ThinPlateModel {
    #[staticmethod]
    #[pyo3(signature = (samples, classes, codes, sample_weight, *, kernel, C, null_space, standardize, n_basis,
        exact_up_to, basis, class_weight, tol, max_iter, seed, threads, time_limit, monitor, feature_names = None))]
    #[expect(non_snake_case, reason = "C is the parameter's name")]
    #[expect(clippy::too_many_arguments, reason = "they are the estimator's parameters, passed by name")]
    fn fit(
        py: Python<'_>,
        samples: Given<'_>,
        classes: Vec<Class>,
        codes: PyReadonlyArray1<'_, u32>,
        sample_weight: Option<PyReadonlyArray1<'_, f64>>,
        kernel: &str,
        C: Option<f64>,
        null_space: &str,
        standardize: &str,
        n_basis: Option<usize>,
        exact_up_to: Option<usize>,
        basis: &str,
        class_weight: Option<Factors>,
        tol: f64,
        max_iter: u32,
        seed: u64,
        threads: usize,
        time_limit: Option<f64>,
        monitor: Option<Bound<'_, PyAny>>,
        feature_names: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let labels = convert::labels(classes, &codes)?;
        let weights = sample_weight.as_ref().map(|weights| weights.as_slice()).transpose()?;
        let kernel: ConditionalKernel = kernel.parse().map_err(raise)?;
        let params = ThinPlateParams::new(kernel)
            .c(C.map_or(CChoice::Auto, CChoice::Value))
            .null_space(null_space.parse().map_err(raise)?)
            .standardize(standardize.parse().map_err(raise)?)
            .n_basis(n_basis)
            .exact_up_to(exact_up_to.unwrap_or(usize::MAX))
            .landmarks(basis.parse().map_err(raise)?)
            .class_weight(convert::class_weight(class_weight, &labels)?)
            .tol(tol)
            .max_steps(max_iter)
            .seed(seed)
            .threads(threads);
        let patience = Patience::new(time_limit, monitor)?;
        with_rows!(&samples, "the thin plate SVM", view => {
            conduct(py, &patience, |monitor, _| {
                params.fit_with(&view, &labels, weights, monitor)?.with_feature_names(feature_names)
            })
            .map(ThinPlateModel)
        })
    }

    #[staticmethod]
    fn from_bytes(data: &[u8]) -> PyResult<Self> {
        ThinPlateSvc::from_bytes(data).map(ThinPlateModel).map_err(raise)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.0.to_bytes().map_err(raise)?))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        reduced(slf.as_any(), slf.get().to_bytes(slf.py())?)
    }

    fn decision_function<'py>(
        &self,
        py: Python<'py>,
        samples: Given<'_>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let values = with_rows!(&samples, "the thin plate SVM", view => {
            conduct(py, &Patience::default(), |monitor, _| self.0.decision_values_with(&view, threads, monitor))
        })?;
        let n_classes = self.0.classes().len();
        let n_cols = if n_classes == 2 { 1 } else { n_classes };
        shaped(py, values.clone(), values.len() / n_cols, n_cols)
    }
}
