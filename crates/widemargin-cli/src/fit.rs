//! The estimator of a choice of parameters.

use std::collections::BTreeMap;
use std::slice::from_ref;

use widemargin::data::{ClassWeight, Label};
use widemargin::model::AnyModel;
use widemargin::monitor::Monitor;
use widemargin::problem::Loss;
use widemargin::select::{Answers, Estimator, Method, PER_CLASS, Place, Scoring, Task, loss_of_targets};
use widemargin::similarity::AnySimilarity;
use widemargin::{Error, Result};
use widemargin_io::Table;

use crate::args::Common;
use crate::options::Choice;
use crate::parameters::{C, name_of};
use crate::report::{Failure, in_option, refused};

/// The estimator of a choice, within `memory` bytes; its parameters are checked.
pub fn estimator_of(choice: &Choice, common: &Common, memory: Option<u64>) -> Result<Estimator, Failure> {
    if (choice.method, choice.task) == (Method::ThinPlate, Task::Regression) && choice.text(C) == Some(PER_CLASS) {
        return Err(Failure::input("-C auto-per-class applies to --task classification").help("leave it out"));
    }
    let similarities = similarities(choice)?;
    if similarities.iter().any(|spec| spec.starts_with("precomputed")) && choice.text("n-basis").is_some() {
        return refused("--n-basis: every column is a basis with --similarity precomputed", "leave it out");
    }
    let mut estimator = Estimator::new(choice.method, choice.task)?.similarity(similarities);
    estimator.set("seed", &common.seed.to_string())?;
    estimator.set("threads", &common.threads.to_string())?;
    if let Some(memory) = memory.filter(|_| estimator.names().contains(&"memory_limit")) {
        estimator.set("memory_limit", &memory.to_string())?;
    }
    for (option, text) in choice.values().filter(|(option, _)| *option != "similarity") {
        let set = match option {
            "class-weight" => class_weight(text).map(|weights| estimator = estimator.clone().class_weight(weights)),
            _ => check_loss(option, choice.task, text).and_then(|()| estimator.set(&option.replace('-', "_"), text)),
        };
        set.map_err(|error| in_option(error, (option, &name_of(option)), text))?;
    }
    estimator.check()?;
    Ok(estimator)
}

/// The model of samples; a method for vectors that gets others names the one for all.
pub fn fit(
    estimator: &Estimator,
    samples: Place<'_>,
    answers: Option<&Answers<'_>>,
    weights: Option<&[f64]>,
    monitor: &Monitor<'_>,
) -> Result<AnyModel> {
    estimator.fit(samples, answers, weights, monitor).map(|(model, _)| model).map_err(|error| match error {
        Error::Kind { found, method, wanted: "vectors" } if method.starts_with("the ") => {
            Error::Kind { found, method: "this method".into(), wanted: "vectors (basis-expansion takes all)" }
        }
        error => error,
    })
}

/// The score that suits the loss of a regression.
pub fn scoring_of(choice: &Choice) -> Result<Scoring> {
    let text = if choice.task == Task::Regression { choice.text("loss") } else { None };
    let loss = text.map(loss_of_targets).transpose()?;
    Ok(loss.map_or(Scoring::R2, Scoring::of_loss))
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

/// Refuses a table with missing values for similarities of series: they would be replaced by medians, which are no ends
/// of series.
pub fn check_series(choice: &Choice, table: &Table) -> Result<(), Failure> {
    let specs = choice.similarities();
    let has_missing = table.columns.as_ref().is_some_and(|columns| columns.0.iter().any(|column| column.has_missing));
    if has_missing && !specs.is_empty() && AnySimilarity::new(&specs)?.takes().first() == Some(&"time series") {
        let message =
            "values are missing in this table, and the rows are compared as series, which have no missing values";
        let help = "write series of unequal lengths as a .ts file, or as lines without a header, the label first \
                    (--format ucr); fill missing values within a series first";
        return refused(message, help);
    }
    Ok(())
}

/// Whether samples in blocks can be fitted: the exact solver of thin plate models holds all in memory.
pub fn fits_blocks(choice: &Choice) -> bool {
    choice.method != Method::ThinPlate || choice.text("n-basis").is_some_and(|text| text != "none")
}

/// Refuses a loss of another task.
fn check_loss(option: &str, task: Task, text: &str) -> Result<()> {
    let name = text.split(':').next().unwrap_or(text);
    let is_of_targets = Loss::OF_TARGETS.contains(&name);
    match (option, task) {
        ("loss", Task::Classification) if is_of_targets && text.parse::<Loss>().is_err() => {
            Err(Error::parameter("loss", text, "it applies to --task regression"))
        }
        ("loss", Task::Regression) if !is_of_targets && name.parse::<Loss>().is_ok() => {
            Err(Error::parameter("loss", name, "it applies to --task classification"))
        }
        _ => Ok(()),
    }
}

/// `balanced` or LABEL:WEIGHT,...
fn class_weight(text: &str) -> Result<ClassWeight> {
    if text == "balanced" {
        return Ok(ClassWeight::Balanced);
    }
    let mut weights = BTreeMap::new();
    for pair in text.split(',') {
        let parsed = pair.rsplit_once(':').and_then(|(label, weight)| Some((label, weight.parse::<f64>().ok()?)));
        let Some((label, weight)) = parsed else {
            let expected = format!("'{pair}' is not LABEL:WEIGHT; `balanced` is the other choice");
            return Err(Error::parameter("class_weight", text, expected));
        };
        if weights.insert(Label::parse(label), weight).is_some() {
            return Err(Error::parameter("class_weight", text, format!("the label '{label}' occurs twice")));
        }
    }
    Ok(ClassWeight::PerClass(weights))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_weights_are_read() {
        assert_eq!(class_weight("balanced").unwrap(), ClassWeight::Balanced);
        let expected = ClassWeight::PerClass([(Label::Integer(-1), 2.0), ("a:b".into(), 0.5)].into());
        assert_eq!(class_weight("-1:2,a:b:0.5").unwrap(), expected);
        for wrong in ["", "1", "1:x", "1:2,", "1:2,1:3", "1:2,+1:3"] {
            assert!(class_weight(wrong).is_err(), "{wrong}");
        }
    }
}
