//! A trained model of any method, read from its file.

use std::path::Path;

use serde_json::{Value, json};
use widemargin::data::Label;
use widemargin::model::{BasisExpansionSvc, FileFacts, PowerMeanSvc, Scores, ThinPlateSvc};
use widemargin::similarity::AnySimilarity;
use widemargin::solve::Report;
use widemargin::watch::Watch;
use widemargin::{Error, Result};
use widemargin_io::Samples;

use crate::basis_expansion_machine as basis_expansion;
use crate::context::Context;
use crate::report::shown;
use crate::samples::{with_rows, with_source};
use crate::thin_plate_machine as thin_plate;

/// A model, whatever its method.
#[derive(Debug)]
pub enum Machine {
    /// The basis expansion SVM.
    BasisExpansion(BasisExpansionSvc<AnySimilarity>),
    /// The power mean SVM.
    PowerMean(PowerMeanSvc),
    /// The thin plate SVM.
    ThinPlate(ThinPlateSvc),
}

impl Machine {
    /// Reads a model file; what the user should know of it is a line on standard error.
    pub fn load(path: &Path, context: &Context) -> Result<Self> {
        let facts = FileFacts::of(path)?;
        let machine = Machine::of_method(path, &facts.method)?;
        if let Some(remark) = facts.remark() {
            context.note(&format!("warning: {}: {remark}", shown(path)));
        }
        Ok(machine)
    }

    fn of_method(path: &Path, method: &str) -> Result<Self> {
        match method {
            "basis-expansion" => Ok(Machine::BasisExpansion(BasisExpansionSvc::load(path)?)),
            "power-mean" => Ok(Machine::PowerMean(PowerMeanSvc::load(path)?)),
            "thin-plate" => Ok(Machine::ThinPlate(ThinPlateSvc::load(path)?)),
            "expansion" => Err(Error::ModelFile {
                path: path.to_owned(),
                problem: "it holds an expansion alone, which is no classifier".into(),
            }),
            other => Err(Error::ModelFile {
                path: path.to_owned(),
                problem: format!("it holds a model of '{other}', which this version does not know"),
            }),
        }
    }

    /// Writes the model file.
    pub fn save(&self, path: &Path) -> Result<()> {
        match self {
            Machine::BasisExpansion(model) => model.save(path),
            Machine::PowerMean(model) => model.save(path),
            Machine::ThinPlate(model) => model.save(path),
        }
    }

    /// Decision values of samples; the watch is told how many are done, and may cancel.
    pub fn decision_function(&self, samples: &Samples, threads: usize, watch: &Watch<'_>) -> Result<Scores> {
        match self {
            Machine::BasisExpansion(model) => {
                basis_expansion::check_size(model, samples)?;
                with_source!(samples, |source| model.decision_function_with(source, threads, watch))
            }
            Machine::PowerMean(model) => {
                with_rows!(samples, |view| model.decision_function_with(&view, threads, watch))
            }
            Machine::ThinPlate(model) => {
                with_rows!(samples, |view| model.decision_function_with(&view, threads, watch))
            }
        }
    }

    /// The method, as `train` names it.
    pub fn method(&self) -> &'static str {
        match self {
            Machine::BasisExpansion(_) => "basis-expansion",
            Machine::PowerMean(_) => "power-mean",
            Machine::ThinPlate(_) => "thin-plate",
        }
    }

    /// The classes.
    pub fn classes(&self) -> &[Label] {
        match self {
            Machine::BasisExpansion(model) => model.classes(),
            Machine::PowerMean(model) => model.classes(),
            Machine::ThinPlate(model) => model.classes(),
        }
    }

    /// Number of features it was trained with; none where its samples are no vectors.
    pub fn n_features(&self) -> Option<usize> {
        match self {
            Machine::BasisExpansion(model) => basis_expansion::n_features(model),
            Machine::PowerMean(model) => Some(model.n_features()),
            Machine::ThinPlate(model) => Some(model.n_features()),
        }
    }

    /// The names of its features, where the training samples had names.
    pub fn feature_names(&self) -> Option<&[String]> {
        match self {
            Machine::BasisExpansion(model) => model.feature_names(),
            Machine::PowerMean(model) => model.feature_names(),
            Machine::ThinPlate(model) => model.feature_names(),
        }
    }

    /// The model with the names of its features.
    pub fn named(self, names: Option<Vec<String>>) -> Result<Self> {
        Ok(match self {
            Machine::BasisExpansion(model) => Machine::BasisExpansion(model.with_feature_names(names)?),
            Machine::PowerMean(model) => Machine::PowerMean(model.with_feature_names(names)?),
            Machine::ThinPlate(model) => Machine::ThinPlate(model.with_feature_names(names)?),
        })
    }

    /// The kind of samples it takes, as messages name it.
    pub fn kind(&self) -> &'static str {
        match self {
            Machine::BasisExpansion(model) => model.kind(),
            Machine::PowerMean(_) | Machine::ThinPlate(_) => "vectors",
        }
    }

    /// The length of all series it holds, where it holds series and all have one.
    pub fn series_length(&self) -> Option<usize> {
        match self {
            Machine::BasisExpansion(model) => basis_expansion::series_length(model),
            _ => None,
        }
    }

    /// The account of the fit.
    pub fn report(&self) -> &Report {
        match self {
            Machine::BasisExpansion(model) => model.report(),
            Machine::PowerMean(model) => model.report(),
            Machine::ThinPlate(model) => model.report(),
        }
    }

    /// What the method keeps of itself, by name.
    pub fn parameters(&self) -> Value {
        match self {
            Machine::BasisExpansion(model) => basis_expansion::parameters(model),
            Machine::PowerMean(model) => json!({
                "kernel": model.map().kernel().to_string(),
                "C": model.c(),
                "loss": model.loss().to_string(),
                "approximation": model.map().approximation().to_string(),
                "n_nodes": model.map().n_nodes(),
                "nodes": model.map().nodes(),
                "scale": model.scaling().is_some(),
            }),
            Machine::ThinPlate(model) => thin_plate::parameters(model),
        }
    }

    /// Number of weights.
    pub fn n_weights(&self) -> usize {
        match self {
            Machine::BasisExpansion(model) => model.weights().len(),
            Machine::PowerMean(model) => model.weights().len(),
            Machine::ThinPlate(model) => model.bases().len() + model.coefficients().len() + model.polynomial().len(),
        }
    }

    /// What the solver's iterations are called.
    pub fn iterations(&self) -> &'static str {
        match self {
            Machine::BasisExpansion(_) => "Newton steps",
            Machine::PowerMean(_) => "epochs",
            Machine::ThinPlate(_) => "Newton steps",
        }
    }

    /// What the method found out on its own, in a line; none where it did not.
    pub fn findings(&self) -> Option<String> {
        match self {
            Machine::BasisExpansion(_) => None,
            Machine::PowerMean(_) => None,
            Machine::ThinPlate(model) => Some(thin_plate::findings(model)),
        }
    }

    /// What `inspect` tells at length, such as the path to the solution: its name, its JSON, and text below the other
    /// lines.
    pub fn history(&self) -> Option<(&'static str, Value, String)> {
        match self {
            Machine::BasisExpansion(model) => {
                let (json, table) = basis_expansion::bases(model);
                Some(("bases", json, table))
            }
            Machine::PowerMean(_) => None,
            Machine::ThinPlate(model) => Some(("path", json!(model.path()), thin_plate::path_table(model))),
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
        "notes": report.notes,
        "warnings": report.warnings,
        "library": report.library,
    })
}
