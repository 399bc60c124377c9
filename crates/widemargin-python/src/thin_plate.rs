//! The thin plate SVM.

use pyo3::prelude::*;
use widemargin::model::{CChoice, ThinPlateParams};
use widemargin::similarity::ConditionalKernel;

use crate::convert::{self, Common, Target, labelled};
use crate::errors::raise;
use crate::model::Model;
use crate::samples::Given;
use crate::work::conduct;

/// Trains a thin plate SVM.
#[pyfunction]
#[pyo3(signature = (samples, target, *, kernel, C, per_class, null_space, standardize,
    n_basis, basis, common))]
#[expect(non_snake_case, reason = "C is the parameter's name")]
#[expect(clippy::too_many_arguments, reason = "they are the estimator's parameters, passed by name")]
pub(crate) fn fit_thin_plate(
    py: Python<'_>,
    samples: Given<'_>,
    target: Target<'_>,
    kernel: &str,
    C: Option<f64>,
    per_class: bool,
    null_space: &str,
    standardize: &str,
    n_basis: Option<usize>,
    basis: &str,
    common: Common<'_>,
) -> PyResult<Model> {
    let (labels, weights) = labelled(&target)?;
    let kernel: ConditionalKernel = kernel.parse().map_err(raise)?;
    let params = ThinPlateParams::new(kernel)
        .c(C.map_or(CChoice::Auto, CChoice::Value))
        .per_class(per_class)
        .null_space(null_space.parse().map_err(raise)?)
        .standardize(standardize.parse().map_err(raise)?)
        .n_basis(n_basis)
        .exact_up_to(usize::MAX)
        .landmarks(basis.parse().map_err(raise)?)
        .class_weight(convert::class_weight(common.class_weight.as_ref(), &labels)?)
        .tol(common.tol)
        .max_steps(common.max_iter)
        .seed(common.seed)
        .threads(common.threads);
    let rows = samples.rows("the thin plate SVM")?;
    let model = conduct(py, &common.patience()?, |monitor, _| params.fit_with(&rows, &labels, weights, monitor))?;
    Model::fitted(model, common.feature_names).map_err(raise)
}
