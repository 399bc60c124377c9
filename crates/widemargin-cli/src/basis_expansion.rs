//! The models of a basis expansion of a choice of parameters.

use widemargin::Error;
use widemargin::data::{AnySamples, Source, Targets};
use widemargin::expansion::Normalization;
use widemargin::model::{
    BasisExpansionOneClassParams, BasisExpansionParams, BasisExpansionRegressorParams, CChoice, OneClass, Regressor,
};
use widemargin::monitor::Monitor;
use widemargin::problem::{Intercept, Loss};
use widemargin::select::{RegressionScoring, RegressionSearch, SimilaritySearch};
use widemargin::similarity::{AdditiveKernel, AnySimilarity};

use crate::args::Common;
use crate::class_weight::class_weight;
use crate::fit::{Data, Fit, with};
use crate::options::{Choice, split_spec};
use crate::parameters::C;
use crate::report::{Failure, in_option};

/// The similarity until that of the option, or of a search, takes its place.
const REPLACED: AdditiveKernel = AdditiveKernel::Chi2;

/// The fit of a classifier.
pub fn classes(choice: &Choice, common: &Common) -> Result<Fit, Failure> {
    type Params = BasisExpansionParams<AdditiveKernel>;
    let specs = similarities(choice)?;
    let normalization: Option<Normalization> = choice.get("normalization")?;
    let (n_basis, loss) = (choice.whole("n-basis")?, choice.read("loss", loss_of_classes)?);
    let params = Params::new(REPLACED)
        .max_basis(choice.whole("max-basis")?)
        .class_weight(class_weight(choice)?)
        .seed(common.seed)
        .threads(common.threads);
    let params = params.c(choice.get::<CChoice>(C)?.unwrap_or_default());
    let params = with(params, n_basis, Params::n_basis);
    let params = with(params, choice.get("basis")?, Params::basis);
    let params = with(params, normalization, Params::normalization);
    let params = with(params, loss, |params, loss| params.loss(loss));
    let params = with(params, choice.get("penalty")?, Params::penalty);
    let params = with(params, choice.read("intercept", intercept)?, Params::intercept);
    let params = with(params, choice.number("tol")?, Params::tol);
    let params = with(params, choice.whole("max-iter")?, Params::max_iter);
    match &specs[..] {
        [] => params.check()?,
        specs => params.clone().with_similarity(AnySimilarity::new(specs)?).check()?,
    }
    let counts = n_basis.is_none() && params.can_count_bases();
    let search = SimilaritySearch::of(&params, &specs, normalization, counts).choosing_loss(&params, loss.is_none());
    Ok(Fit::Classes(Box::new(move |data, labels, monitor| {
        let search = |samples: &dyn Source<Samples = AnySamples>, weights| {
            let found = search.choose(samples, labels, weights, monitor)?;
            Ok::<_, Error>((found.apply(params.clone())?, found.summary()))
        };
        let (model, note) = match data {
            Data::Samples(samples, weights) => {
                let view = samples.view()?;
                let (params, note) = search(&view, weights)?;
                (params.fit_with(&view, labels, weights, monitor)?, note)
            }
            Data::Store(store, resources) => {
                let (params, note) = search(store, None)?;
                (params.fit_blocks(store, labels, None, resources, monitor)?, note)
            }
        };
        Ok(Box::new(model.with_notes(note)))
    })))
}

/// The fit of a regression model.
pub fn numbers(choice: &Choice, common: &Common) -> Result<Fit, Failure> {
    type Params = BasisExpansionRegressorParams<AdditiveKernel>;
    let specs = similarities(choice)?;
    let normalization: Option<Normalization> = choice.get("normalization")?;
    let loss = choice.read("loss", loss_of_numbers)?.unwrap_or_default();
    let params = Params::new(REPLACED).loss(loss).seed(common.seed).threads(common.threads);
    let params = params.c(choice.get::<CChoice>(C)?.unwrap_or_default());
    let params = with(params, choice.whole("n-basis")?, Params::n_basis);
    let params = with(params, choice.get("basis")?, Params::basis);
    let params = with(params, normalization, Params::normalization);
    let params = with(params, choice.read("intercept", intercept)?, |p, one| p.intercept(one == Intercept::Free));
    params.check()?;
    let search = RegressionSearch::of(&params, &specs, normalization);
    let fit = move |data: Data<'_>, targets: &Targets, monitor: &Monitor<'_>| {
        let search = |samples: &dyn Source<Samples = AnySamples>, weights| {
            let found = search.choose(samples, targets, weights, monitor)?;
            Ok::<_, Error>((found.apply(params.clone())?, found.summary()))
        };
        let (model, note) = match data {
            Data::Samples(samples, weights) => {
                let view = samples.view()?;
                let (params, note) = search(&view, weights)?;
                (params.fit_with(&view, targets, weights, monitor)?, note)
            }
            Data::Store(store, resources) => {
                let (params, note) = search(store, None)?;
                (params.fit_blocks(store, targets, None, resources, monitor)?, note)
            }
        };
        Ok(Box::new(model.with_notes(note)) as Box<dyn Regressor>)
    };
    Ok(Fit::Numbers(Box::new(fit), RegressionScoring::of_loss(loss)))
}

/// The fit of an outlier detector.
pub fn outliers(choice: &Choice, common: &Common) -> Result<Fit, Failure> {
    type Params = BasisExpansionOneClassParams<AdditiveKernel>;
    let specs = similarities(choice)?;
    let params = Params::new(REPLACED).seed(common.seed).threads(common.threads);
    let params = with(params, choice.whole("n-basis")?, Params::n_basis);
    let params = with(params, choice.get("basis")?, Params::basis);
    let params = with(params, choice.get("normalization")?, Params::normalization);
    let params = with(params, choice.number("contamination")?, Params::quantile);
    let params = with(params, choice.number("shrinkage")?, Params::shrinkage);
    params.check().map_err(|error| match error {
        Error::Parameter { name: "quantile", value, expected } => {
            Error::Parameter { name: "contamination", value, expected }
        }
        error => error,
    })?;
    Ok(Fit::Outliers(Box::new(move |data, monitor| {
        let Data::Samples(samples, weights) = data else {
            unreachable!("samples in blocks are refused for outlier detection")
        };
        let view = samples.view()?;
        let similarity = AnySimilarity::new(&specs_or_default(&specs, view.kind())?)?;
        let model = params.clone().with_similarity(similarity).fit_with(&view, weights, monitor)?;
        Ok(Box::new(model) as Box<dyn OneClass>)
    })))
}

/// The similarities of the option, checked before any sample is read; none is a search.
fn similarities(choice: &Choice) -> Result<Vec<String>, Failure> {
    let specs = choice.similarities();
    for spec in &specs {
        AnySimilarity::new(std::slice::from_ref(spec))
            .map_err(|error| in_option(error, ("similarity", "--similarity"), spec))?;
    }
    if !specs.is_empty() {
        AnySimilarity::new(&specs)?;
    }
    Ok(specs)
}

/// The similarities, or rbf of vectors: there are no labels by which to choose.
fn specs_or_default(specs: &[String], kind: &'static str) -> Result<Vec<String>, Error> {
    match (specs, kind) {
        ([_, ..], _) => Ok(specs.to_vec()),
        ([], "vectors") => Ok(vec!["rbf".into()]),
        ([], kind) => {
            let expected = format!("one of {kind}: there are no labels by which to choose it");
            Err(Error::Parameter { name: "similarity", value: "auto".into(), expected })
        }
    }
}

fn intercept(text: &str) -> Result<Intercept, Error> {
    match text {
        "free" => Ok(Intercept::Free),
        "none" => Ok(Intercept::None),
        _ => Err(Error::Parameter { name: "intercept", value: text.to_owned(), expected: "free or none".into() }),
    }
}

fn loss_of_classes(text: &str) -> Result<Loss, Error> {
    let name = text.split(':').next().unwrap_or(text);
    text.parse().map_err(|error| match Loss::OF_TARGETS.contains(&name) {
        true => of_task("regression", text),
        false => error,
    })
}

/// A loss with its parameter: `huber:epsilon=0.5`.
fn loss_of_numbers(text: &str) -> Result<Loss, Error> {
    let wrong = |expected: String| Error::Parameter { name: "loss", value: text.to_owned(), expected };
    let (name, pairs) = split_spec(text).map_err(wrong)?;
    let (mut epsilon, mut quantile) = (None, None);
    for (key, value) in pairs {
        let number = || value.parse().map_err(|_| wrong(format!("{key} is a number")));
        match key {
            "epsilon" if value == "auto" => {}
            "epsilon" => epsilon = Some(number()?),
            "quantile" => quantile = Some(number()?),
            _ => return Err(wrong("its parameters are epsilon and quantile".into())),
        }
    }
    Loss::of_targets(name, epsilon, quantile).map_err(|error| match name.parse::<Loss>() {
        Ok(_) if !Loss::OF_TARGETS.contains(&name) => of_task("classification", name),
        _ => error,
    })
}

/// The refusal of a loss of another task.
fn of_task(task: &str, loss: &str) -> Error {
    Error::Parameter { name: "loss", value: loss.to_owned(), expected: format!("it applies to --task {task}") }
}
