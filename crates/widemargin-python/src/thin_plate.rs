//! The thin plate SVM and the smoothing spline.

use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use widemargin::data::Targets;
use widemargin::model::{
    AUTO_KERNELS, AnyModel, CChoice, EXACT_UP_TO, SPLINE_EXACT_UP_TO, ThinPlateParams, ThinPlateRegressorParams,
};
use widemargin::similarity::ConditionalKernel;

use crate::compared::{Fitted, compared};
use crate::convert::{self, Common, Target, labeled};
use crate::errors::raise;
use crate::model::Model;
use crate::samples::{Place, PySamples};
use crate::work::conduct;

/// The default number of bases of a fit on samples in files.
const AUTO_BASES: usize = 1000;

/// Trains a thin plate SVM; with the kernel "auto" that of the smallest leave-one-out loss.
#[pyfunction]
#[pyo3(signature = (samples, target, *, kernel, C, per_class, polynomials, standardize,
    n_basis, auto_basis, basis, common))]
pub(crate) fn fit_thin_plate(
    py: Python<'_>,
    samples: PySamples<'_>,
    target: Target<'_>,
    kernel: &str,
    C: Option<f64>,
    per_class: bool,
    polynomials: &str,
    standardize: &str,
    n_basis: Option<usize>,
    auto_basis: bool,
    basis: &str,
    common: Common<'_>,
) -> PyResult<Fitted> {
    let (labels, weights) = labeled(&target)?;
    let (chooses, name) = (kernel == "auto", if kernel == "auto" { "distance" } else { kernel });
    let kernel: ConditionalKernel = name.parse().map_err(raise)?;
    let params = ThinPlateParams::new(kernel).c(C.map_or(CChoice::Auto, CChoice::Value));
    let params = if per_class { params.c_auto_per_class() } else { params }
        .polynomials(polynomials.parse().map_err(raise)?)
        .standardize(standardize.parse().map_err(raise)?)
        .n_basis(n_basis)
        .exact_up_to(if auto_basis { EXACT_UP_TO } else { usize::MAX })
        .basis(basis.parse().map_err(raise)?)
        .class_weight(convert::class_weight(common.class_weight.as_ref(), &labels)?)
        .tol(common.tol)
        .max_steps(common.max_iter)
        .seed(common.seed)
        .threads(common.threads);
    let patience = common.patience()?;
    let place = samples.place()?;
    let (model, tried) = conduct(py, &patience, |monitor, _| match &place {
        Place::Files(store) => {
            let params = if chooses { params.kernel_auto() } else { params };
            let params = params.n_basis(n_basis.or(auto_basis.then_some(AUTO_BASES)));
            Ok((params.fit_blocks(&store.samples, &labels, weights, &store.resources(), monitor)?, Vec::new()))
        }
        Place::Memory(view) => {
            let rows = view.rows("the thin plate SVM")?;
            match chooses {
                true => params.fit_best(&AUTO_KERNELS, &rows, &labels, weights, monitor),
                false => Ok((params.fit_with(&rows, &labels, weights, monitor)?, Vec::new())),
            }
        }
    })?;
    Ok((Model::fitted(AnyModel::Classifier(Box::new(model)), common.features)?, compared(tried)))
}

/// Trains a smoothing spline; with the kernel "auto" that of the largest leave-one-out R².
#[pyfunction]
#[pyo3(signature = (samples, targets, weights, *, kernel, C, standardize, n_basis, auto_basis, basis, common))]
pub(crate) fn fit_thin_plate_regressor(
    py: Python<'_>,
    samples: PySamples<'_>,
    targets: PyReadonlyArray2<'_, f64>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    kernel: &str,
    C: Option<f64>,
    standardize: &str,
    n_basis: Option<usize>,
    auto_basis: bool,
    basis: &str,
    common: Common<'_>,
) -> PyResult<Fitted> {
    let targets = Targets::new(targets.as_slice()?.to_vec(), targets.shape()[1]).map_err(raise)?;
    let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
    let params = ThinPlateRegressorParams::new(ConditionalKernel::Distance)
        .c(C.map_or(CChoice::Auto, CChoice::Value))
        .standardize(standardize.parse().map_err(raise)?)
        .n_basis(n_basis)
        .exact_up_to(if auto_basis { SPLINE_EXACT_UP_TO } else { usize::MAX })
        .basis(basis.parse().map_err(raise)?)
        .seed(common.seed)
        .threads(common.threads);
    let params = match kernel {
        "auto" => params.kernel_auto(),
        named => params.kernel(named.parse().map_err(raise)?),
    };
    let patience = common.patience()?;
    let place = samples.place()?;
    let (model, tried) = conduct(py, &patience, |monitor, _| match &place {
        Place::Files(store) => {
            let params = params.n_basis(n_basis.or(auto_basis.then_some(AUTO_BASES)));
            Ok((params.fit_blocks(&store.samples, &targets, weights, &store.resources(), monitor)?, Vec::new()))
        }
        Place::Memory(view) => params.fit_tried(&view.rows("the smoothing spline")?, &targets, weights, monitor),
    })?;
    Ok((Model::fitted(AnyModel::Regressor(Box::new(model)), common.features)?, compared(tried)))
}
