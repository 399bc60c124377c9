//! A trained model of any method, read from its file.

use std::path::Path;

use serde_json::{Value, json};
use widemargin::data::{Label, Rows};
use widemargin::model::{PowerMeanSvc, Scores, method_of};
use widemargin::solve::Report;
use widemargin::{Error, Result};

/// A model, whatever its method.
#[derive(Debug)]
pub enum Machine {
    /// The power mean SVM.
    PowerMean(PowerMeanSvc),
}

impl Machine {
    /// Reads a model file.
    pub fn load(path: &Path) -> Result<Self> {
        match method_of(path)?.as_str() {
            "power-mean" => Ok(Machine::PowerMean(PowerMeanSvc::load(path)?)),
            other => Err(Error::ModelFile {
                path: path.to_owned(),
                problem: format!("it holds a model of '{other}', which this version does not know"),
            }),
        }
    }

    /// Writes the model file.
    pub fn save(&self, path: &Path) -> Result<()> {
        match self {
            Machine::PowerMean(model) => model.save(path),
        }
    }

    /// Decision values of samples.
    pub fn decision_function(&self, samples: &impl Rows, threads: usize) -> Result<Scores> {
        match self {
            Machine::PowerMean(model) => model.decision_function(samples, threads),
        }
    }

    /// The method, as `train` names it.
    pub fn method(&self) -> &'static str {
        match self {
            Machine::PowerMean(_) => "power-mean",
        }
    }

    /// The classes.
    pub fn classes(&self) -> &[Label] {
        match self {
            Machine::PowerMean(model) => model.classes(),
        }
    }

    /// Number of features it was trained with.
    pub fn n_features(&self) -> usize {
        match self {
            Machine::PowerMean(model) => model.n_features(),
        }
    }

    /// The account of the fit.
    pub fn report(&self) -> &Report {
        match self {
            Machine::PowerMean(model) => model.report(),
        }
    }

    /// What the method keeps of itself, by name.
    pub fn parameters(&self) -> Value {
        match self {
            Machine::PowerMean(model) => json!({
                "kernel": model.map().kernel().to_string(),
                "C": model.c(),
                "loss": model.loss().to_string(),
                "approximation": model.map().approximation().to_string(),
                "n_nodes": model.map().n_nodes(),
                "nodes": model.map().nodes(),
                "scale": model.scaling().is_some(),
            }),
        }
    }

    /// Number of weights.
    pub fn n_weights(&self) -> usize {
        match self {
            Machine::PowerMean(model) => model.weights().len(),
        }
    }
}

/// A report as `--json` prints it.
pub fn report_json(report: &Report) -> Value {
    let seconds: serde_json::Map<_, _> =
        report.stages.iter().map(|stage| (stage.name.clone(), stage.seconds.into())).collect();
    json!({
        "status": report.status,
        "iterations": report.iterations,
        "epochs": report.max_iterations(),
        "objective": report.objective,
        "dual_objective": report.dual_objective,
        "gap": report.gap(),
        "gaps": report.gaps,
        "n_support": report.n_support,
        "seconds": seconds,
        "seconds_total": report.seconds(),
        "warnings": report.warnings,
    })
}
