//! The smoothing spline.

use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use widemargin::data::Targets;
use widemargin::model::{AnyModel, CChoice, SPLINE_EXACT_UP_TO, ThinPlateRegressorParams};
use widemargin::similarity::ConditionalKernel;

use crate::compared::{Fitted, compared};
use crate::convert::Common;
use crate::errors::raise;
use crate::model::Model;
use crate::samples::{Place, PySamples};
use crate::thin_plate::AUTO_BASES;
use crate::work::conduct;

/// Trains a smoothing spline; with the kernel "auto" that of the largest leave-one-out R².
#[pyfunction]
#[pyo3(signature = (samples, targets, weights, *, kernel, C, standardize, n_basis, auto_basis, basis, common))]
#[expect(non_snake_case, reason = "C is the parameter's name")]
#[expect(clippy::too_many_arguments, reason = "they are the estimator's parameters, passed by name")]
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
