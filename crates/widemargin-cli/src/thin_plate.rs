//! The thin plate SVM and the smoothing spline of a choice of parameters.

use widemargin::Error;
use widemargin::data::Targets;
use widemargin::model::{
    CChoice, EXACT_UP_TO, SPLINE_EXACT_UP_TO, Standardize, ThinPlateBasis, ThinPlateParams, ThinPlateRegressorParams,
};
use widemargin::monitor::Monitor;
use widemargin::select::RegressionScoring;
use widemargin::similarity::ConditionalKernel;

use crate::args::Common;
use crate::class_weight::class_weight;
use crate::fit::{Data, Fit, with};
use crate::options::Choice;
use crate::parameters::C;
use crate::report::Failure;
use crate::samples::rows;

/// The fit of a classifier, within `memory` bytes.
pub fn classes(choice: &Choice, common: &Common, memory: Option<u64>) -> Result<Fit, Failure> {
    let params = ThinPlateParams::new(ConditionalKernel::THIN_PLATE)
        .class_weight(class_weight(choice)?)
        .seed(common.seed)
        .threads(common.threads);
    let params = match choice.get("kernel")? {
        None => params.kernel_auto(),
        Some(kernel) => params.kernel(kernel),
    };
    let params = match choice.text(C) {
        Some("auto-per-class") => params.c_auto_per_class(),
        _ => params.c(choice.get::<CChoice>(C)?.unwrap_or_default()),
    };
    let params = match n_basis(choice)? {
        None => params.exact_up_to(EXACT_UP_TO),
        Some(n_basis) => params.n_basis(n_basis),
    };
    let params = with(params, choice.get::<ThinPlateBasis>("basis")?, ThinPlateParams::basis);
    let params = with(params, choice.get("polynomials")?, ThinPlateParams::polynomials);
    let params = params.standardize(choice.get("standardize")?.unwrap_or(Standardize::Auto));
    let params = with(params, choice.number("tol")?, ThinPlateParams::tol);
    let params = with(params, choice.whole("max-iter")?, ThinPlateParams::max_steps);
    let params = with(params, memory, ThinPlateParams::memory_limit);
    params.check()?;
    Ok(Fit::Classes(Box::new(move |data, labels, monitor| {
        Ok(Box::new(match data {
            Data::Samples(samples, weights) => params.fit_with(&rows(samples)?, labels, weights, monitor)?,
            Data::Store(store, resources) => params.clone().fit_blocks(store, labels, None, resources, monitor)?,
        }))
    })))
}

/// The fit of a regression model, within `memory` bytes.
pub fn numbers(choice: &Choice, common: &Common, memory: Option<u64>) -> Result<Fit, Failure> {
    type Params = ThinPlateRegressorParams;
    let params = Params::new(ConditionalKernel::Distance).seed(common.seed).threads(common.threads);
    let params = match choice.get("kernel")? {
        None => params.kernel_auto(),
        Some(kernel) => params.kernel(kernel),
    };
    if choice.text(C) == Some("auto-per-class") {
        return Err(Failure::input("-C auto-per-class applies to --task classification").help("leave it out"));
    }
    let params = params.c(choice.get::<CChoice>(C)?.unwrap_or_default());
    let params = match n_basis(choice)? {
        None => params.exact_up_to(SPLINE_EXACT_UP_TO),
        Some(n_basis) => params.n_basis(n_basis),
    };
    let params = with(params, choice.get("basis")?, Params::basis);
    let params = params.standardize(choice.get("standardize")?.unwrap_or(Standardize::Auto));
    let params = with(params, memory, Params::memory_limit);
    params.check()?;
    let fit = move |data: Data<'_>, targets: &Targets, monitor: &Monitor<'_>| {
        Ok(Box::new(match data {
            Data::Samples(samples, weights) => params.fit_with(&rows(samples)?, targets, weights, monitor)?,
            Data::Store(store, resources) => params.fit_blocks(store, targets, None, resources, monitor)?,
        }) as Box<dyn widemargin::model::Regressor>)
    };
    Ok(Fit::Numbers(Box::new(fit), RegressionScoring::R2))
}

/// The number of bases where it is passed; none is the exact solver.
fn n_basis(choice: &Choice) -> Result<Option<Option<usize>>, Failure> {
    choice.read("n-basis", |text| match text {
        "none" => Ok(None),
        _ => text.parse().map(Some).map_err(|_| Error::Parameter {
            name: "n_basis",
            value: text.to_owned(),
            expected: "auto, none or a whole number above 0".into(),
        }),
    })
}

/// Whether samples in blocks can be fitted: those of the exact solver are all in memory.
pub fn fits_blocks(choice: &Choice) -> bool {
    choice.text("n-basis").is_some_and(|text| text != "none")
}
