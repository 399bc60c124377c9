//! The fit of a choice of parameters, for each method and task.

use std::borrow::Cow;
use std::slice::from_ref;

use widemargin::data::{Labels, Resources, SamplesView, Targets};
use widemargin::model::{
    AnyModel, BasisExpansionOneClassParams, BasisExpansionParams, BasisExpansionRegressorParams, CChoice, EXACT_UP_TO,
    PowerMeanParams, SPLINE_EXACT_UP_TO, Standardize, ThinPlateParams, ThinPlateRegressorParams,
};
use widemargin::monitor::Monitor;
use widemargin::problem::Intercept;
use widemargin::select::{
    AutoMethod, AutoParams, RegressionScoring, SimilaritySearch, outlier_similarity, uneven_columns,
};
use widemargin::similarity::{AdditiveKernel, AnySimilarity, ConditionalKernel, ScalarKernel};
use widemargin::{Error, Result};
use widemargin_io::{Samples, Store};

use crate::args::Common;
use crate::options::Choice;
use crate::parameters::{C, Method, Task};
use crate::report::{Failure, in_option};
use crate::samples::rows;
use crate::values::{LossOfTargets, Nodes, parameter};

/// The samples of a fit.
#[derive(Clone, Copy)]
pub enum Data<'a> {
    /// In memory, with their weights if they have some.
    Samples(&'a Samples, Option<&'a [f64]>),
    /// On the disk, and what there is to work with.
    Store(&'a Store, &'a Resources<'a>),
}

/// What is to be predicted.
pub enum Answers<'a> {
    Classes(Cow<'a, Labels>),
    Numbers(Targets),
    /// Outliers are detected without labels.
    None,
}

impl Answers<'_> {
    /// Those of some rows.
    pub fn select(&self, rows: &[usize]) -> Answers<'static> {
        match self {
            Answers::Classes(labels) => Answers::Classes(Cow::Owned(labels.select(rows))),
            Answers::Numbers(targets) => Answers::Numbers(targets.of_rows(rows)),
            Answers::None => Answers::None,
        }
    }

    fn classes(&self) -> &Labels {
        match self {
            Answers::Classes(labels) => labels,
            _ => unreachable!("a classifier is fitted to classes"),
        }
    }

    fn numbers(&self) -> &Targets {
        match self {
            Answers::Numbers(targets) => targets,
            _ => unreachable!("a regression model is fitted to numbers"),
        }
    }
}

/// A fit whose parameters are already checked.
pub type Fit = Box<dyn Fn(Data<'_>, &Answers<'_>, &Monitor<'_>) -> Result<AnyModel>>;

/// The similarity until that of the option, or of a search, takes its place.
const REPLACED: AdditiveKernel = AdditiveKernel::Chi2;

/// Parameters of a method with the options and settings that were passed: by their names, or by another that is written
/// behind the method which sets them, with their type where it is open.
macro_rules! with_options {
    ($choice:ident, $common:ident, $params:expr, $($set:ident $(: $type:ty)? $(= $name:literal)?),+ $(,)?) => {{
        let params = $params.seed($common.seed).threads($common.threads);
        $(let params = match $choice.get$(::<$type>)?([$($name,)? stringify!($set)][0])? {
            Some(value) => params.$set(value),
            None => params,
        };)+
        params
    }};
}

/// The model of samples that are in memory, as `$view` shows them, or on the disk.
macro_rules! fitted {
    ($params:expr, $view:expr, $data:expr, $answers:expr, $monitor:expr) => {
        match $data {
            Data::Samples(samples, weights) => $params.fit_with(&$view(samples)?, $answers, weights, $monitor)?,
            Data::Store(store, resources) => $params.fit_blocks(store, $answers, None, resources, $monitor)?,
        }
    };
}

/// The choice of a search, and the same with its similarity.
macro_rules! searched {
    ($search:expr, $params:expr, $data:expr, $answers:expr, $monitor:expr) => {{
        let found = match $data {
            Data::Samples(samples, weights) => $search.choose(&samples.view()?, $answers, weights, $monitor)?,
            Data::Store(store, _) => $search.choose(store, $answers, None, $monitor)?,
        };
        let params = $params.clone().with_choice(&found)?;
        let model = fitted!(params, Samples::view, $data, $answers, $monitor).with_notes(found.summary());
        (found, model)
    }};
}

/// The fit of a choice, within `memory` bytes.
pub fn fit_of(choice: &Choice, common: &Common, memory: Option<u64>) -> Result<Fit, Failure> {
    match (choice.method, choice.task) {
        (Method::Auto, Task::Classification) => auto(choice, common),
        (Method::PowerMean, _) => power_mean(choice, common),
        (Method::ThinPlate, Task::Regression) => spline(choice, common, memory),
        (Method::ThinPlate, _) => thin_plate(choice, common, memory),
        (_, Task::Classification) => basis_expansion(choice, common),
        (_, Task::Regression) => regression(choice, common),
        (_, Task::OutlierDetection) => outliers(choice, common),
    }
}

/// The score that suits the loss of a regression.
pub fn scoring_of(choice: &Choice) -> Result<RegressionScoring, Failure> {
    let loss = if choice.task == Task::Regression { choice.get::<LossOfTargets>("loss")? } else { None };
    Ok(loss.map_or(RegressionScoring::R2, |loss| RegressionScoring::of_loss(loss.0)))
}

fn auto(choice: &Choice, common: &Common) -> Result<Fit, Failure> {
    let params = AutoParams {
        methods: choice.get("methods")?.unwrap_or_else(|| AutoMethod::ALL.to_vec()),
        scoring: choice.get("scoring")?,
        class_weight: choice.get("class_weight")?.unwrap_or_default(),
        seed: common.seed,
        threads: common.threads,
    };
    Ok(Box::new(move |data, answers, monitor| {
        Ok(AnyModel::Classifier(fitted!(params, Samples::view, data, answers.classes(), monitor).model))
    }))
}

fn power_mean(choice: &Choice, common: &Common) -> Result<Fit, Failure> {
    let params = with_options!(
        choice, common, PowerMeanParams::auto().c(CChoice::Auto),
        kernel: ScalarKernel, c: CChoice = "C", loss, approximation, scale, class_weight, tol, max_epochs = "max_iter",
    );
    let params = match choice.get("nodes")? {
        None => params,
        Some(Nodes::Number(number)) => params.n_nodes(number),
        Some(Nodes::At(nodes)) => params.nodes(nodes),
    };
    params.check()?;
    Ok(Box::new(move |data, answers, monitor| {
        Ok(AnyModel::Classifier(Box::new(fitted!(params, rows, data, answers.classes(), monitor))))
    }))
}

/// Where the exact solver gives way to bases, unless their number was passed.
fn exact_up_to(choice: &Choice, n_samples: usize) -> usize {
    if choice.text("n_basis").is_some() { usize::MAX } else { n_samples }
}

fn thin_plate(choice: &Choice, common: &Common, memory: Option<u64>) -> Result<Fit, Failure> {
    let params = ThinPlateParams::new(ConditionalKernel::THIN_PLATE).kernel_auto().standardize(Standardize::Auto);
    let params = params.exact_up_to(exact_up_to(choice, EXACT_UP_TO));
    let params = with_options!(
        choice,
        common,
        params,
        kernel,
        n_basis,
        basis,
        polynomials,
        standardize,
        class_weight,
        tol,
        max_steps = "max_iter",
    );
    let params = match choice.text(C) {
        Some("auto-per-class") => params.c_auto_per_class(),
        _ => params.c(choice.get::<CChoice>(C)?.unwrap_or_default()),
    };
    let params = memory.into_iter().fold(params, ThinPlateParams::memory_limit);
    params.check()?;
    Ok(Box::new(move |data, answers, monitor| {
        Ok(AnyModel::Classifier(Box::new(fitted!(params.clone(), rows, data, answers.classes(), monitor))))
    }))
}

fn spline(choice: &Choice, common: &Common, memory: Option<u64>) -> Result<Fit, Failure> {
    if choice.text(C) == Some("auto-per-class") {
        return Err(Failure::input("-C auto-per-class applies to --task classification").help("leave it out"));
    }
    let params =
        ThinPlateRegressorParams::new(ConditionalKernel::Distance).kernel_auto().standardize(Standardize::Auto);
    let params = params.exact_up_to(exact_up_to(choice, SPLINE_EXACT_UP_TO));
    let params = with_options!(choice, common, params, kernel, c: CChoice = "C", n_basis, basis, standardize);
    let params = memory.into_iter().fold(params, ThinPlateRegressorParams::memory_limit);
    params.check()?;
    Ok(Box::new(move |data, answers, monitor| {
        Ok(AnyModel::Regressor(Box::new(fitted!(params, rows, data, answers.numbers(), monitor))))
    }))
}

fn basis_expansion(choice: &Choice, common: &Common) -> Result<Fit, Failure> {
    let (specs, normalization) = (similarities(choice)?, choice.get("normalization")?);
    let params = with_options!(
        choice, common, BasisExpansionParams::new(REPLACED).c(CChoice::Auto),
        c: CChoice = "C", n_basis, basis, normalization, loss, penalty, intercept, max_basis, class_weight, tol,
        max_iter,
    );
    match &specs[..] {
        [] => params.check()?,
        specs => params.clone().with_similarity(AnySimilarity::new(specs)?).check()?,
    }
    let counts = choice.text("n_basis").is_none() && params.can_count_bases();
    let search = SimilaritySearch::of(&params, &specs, normalization, counts);
    let search = search.choosing_loss(&params, choice.text("loss").is_none());
    Ok(Box::new(move |data, answers, monitor| {
        Ok(AnyModel::Classifier(Box::new(searched!(search, params, data, answers.classes(), monitor).1)))
    }))
}

fn regression(choice: &Choice, common: &Common) -> Result<Fit, Failure> {
    let (specs, normalization) = (similarities(choice)?, choice.get("normalization")?);
    let params = BasisExpansionRegressorParams::new(REPLACED).c(CChoice::Auto);
    let params = params.intercept(choice.get("intercept")?.unwrap_or(Intercept::Free) == Intercept::Free);
    let params = with_options!(choice, common, params, c: CChoice = "C", n_basis, basis, normalization);
    let params = match choice.get("loss")? {
        Some(LossOfTargets(loss)) => params.loss(loss),
        None => params,
    };
    params.check()?;
    let search = SimilaritySearch::of_regression(&params, &specs, normalization);
    Ok(Box::new(move |data, answers, monitor| {
        let (found, model) = searched!(search, params, data, answers.numbers(), monitor);
        Ok(AnyModel::Regressor(Box::new(match data {
            Data::Samples(samples, weights) => {
                let answers = (answers.numbers(), weights);
                search.confirmed((&params, &found), model, &samples.view()?, answers, monitor)?
            }
            Data::Store(..) => model,
        })))
    }))
}

fn outliers(choice: &Choice, common: &Common) -> Result<Fit, Failure> {
    let specs = similarities(choice)?;
    let params = with_options!(
        choice,
        common,
        BasisExpansionOneClassParams::new(REPLACED),
        n_basis,
        basis,
        normalization,
        quantile = "contamination",
        shrinkage,
    );
    params.check().map_err(|error| match error {
        Error::Parameter { name: "quantile", value, expected } => parameter("contamination", &value, expected),
        error => error,
    })?;
    Ok(Box::new(move |data, _, monitor| {
        let Data::Samples(samples, weights) = data else {
            unreachable!("samples in blocks are refused for outlier detection")
        };
        let view = samples.view()?;
        let specs = if specs.is_empty() { vec![usual_similarity(&view, weights)?.to_owned()] } else { specs.clone() };
        let similarity = AnySimilarity::new(&specs)?;
        let warning = uneven_columns(&view, weights, &similarity)?;
        let model = params.clone().with_similarity(similarity).fit_with(&view, weights, monitor)?;
        Ok(AnyModel::OneClass(Box::new(model.with_warnings(warning))))
    }))
}

/// The similarities of the option, checked before any sample is read; none is a search.
fn similarities(choice: &Choice) -> Result<Vec<String>, Failure> {
    let specs = choice.similarities();
    for spec in &specs {
        AnySimilarity::new(from_ref(spec)).map_err(|error| in_option(error, ("similarity", "--similarity"), spec))?;
    }
    if !specs.is_empty() {
        AnySimilarity::new(&specs)?;
    }
    Ok(specs)
}

/// The similarity of vectors where none is given; there are no labels by which to choose another.
fn usual_similarity(samples: &SamplesView<'_>, weights: Option<&[f64]>) -> Result<&'static str> {
    outlier_similarity(samples, weights)?.ok_or_else(|| {
        let expected = format!("one of {}: there are no labels by which to choose it", samples.kind());
        parameter("similarity", "auto", expected)
    })
}

/// Whether samples in blocks can be fitted: the exact solver of thin plate models holds all in memory.
pub fn fits_blocks(choice: &Choice) -> bool {
    choice.method != Method::ThinPlate || choice.text("n_basis").is_some_and(|text| text != "none")
}
