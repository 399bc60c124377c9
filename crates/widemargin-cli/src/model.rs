//! A trained model of any method, read from its file.

use std::path::Path;

use serde_json::{Value, json};
use widemargin::data::Label;
use widemargin::model::{BasisExpansionSvc, FileFacts, PowerMeanSvc, Scores, ThinPlateSvc};
use widemargin::monitor::Monitor;
use widemargin::similarity::AnySimilarity;
use widemargin::solve::Report;
use widemargin::{Error, Result};
use widemargin_io::Samples;

use crate::basis_expansion_machine as basis_expansion;
use crate::context::Context;
use crate::report::shown;
use crate::samples::{with_rows, with_source};
use crate::thin_plate_machine as thin_plate;

/// A model, whatever its method.
#[derive(Debug)]
pub enum Model {
    /// The basis expansion SVM.
    BasisExpansion(BasisExpansionSvc<AnySimilarity>),
    /// The power mean SVM.
    PowerMean(PowerMeanSvc),
    /// The thin plate SVM.
    ThinPlate(ThinPlateSvc),
}

impl Model {
    /// Reads a model file; what the user should know of it is a line on standard error.
    pub fn load(path: &Path, context: &Context) -> Result<Self> {
        let facts = FileFacts::of(path)?;
        let model = Model::of_method(path, &facts.method)?;
        if let Some(remark) = facts.remark() {
            context.note(&format!("warning: {}: {remark}", shown(path)));
        }
        Ok(model)
    }

    fn of_method(path: &Path, method: &str) -> Result<Self> {
        match method {
            "basis-expansion" => Ok(Model::BasisExpansion(BasisExpansionSvc::load(path)?)),
            "power-mean" => Ok(Model::PowerMean(PowerMeanSvc::load(path)?)),
            "thin-plate" => Ok(Model::ThinPlate(ThinPlateSvc::load(path)?)),
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
            Model::BasisExpansion(model) => model.save(path),
            Model::PowerMean(model) => model.save(path),
            Model::ThinPlate(model) => model.save(path),
        }
    }

    /// Decision values of samples; the watch is told how many are done, and may cancel.
    pub fn decision_function(&self, samples: &Samples, threads: usize, monitor: &Monitor<'_>) -> Result<Scores> {
        match self {
            Model::BasisExpansion(model) => {
                basis_expansion::check_size(model, samples)?;
                with_source!(samples, |source| model.decision_function_with(source, threads, monitor))
            }
            Model::PowerMean(model) => {
                with_rows!(samples, |view| model.decision_function_with(&view, threads, monitor))
            }
            Model::ThinPlate(model) => {
                with_rows!(samples, |view| model.decision_function_with(&view, threads, monitor))
            }
        }
    }

    /// The method, as `train` names it.
    pub fn method(&self) -> &'static str {
        match self {
            Model::BasisExpansion(_) => "basis-expansion",
            Model::PowerMean(_) => "power-mean",
            Model::ThinPlate(_) => "thin-plate",
        }
    }

    /// The classes.
    pub fn classes(&self) -> &[Label] {
        match self {
            Model::BasisExpansion(model) => model.classes(),
            Model::PowerMean(model) => model.classes(),
            Model::ThinPlate(model) => model.classes(),
        }
    }

    /// Number of features it was trained with; none where its samples are no vectors.
    pub fn n_features(&self) -> Option<usize> {
        match self {
            Model::BasisExpansion(model) => basis_expansion::n_features(model),
            Model::PowerMean(model) => Some(model.n_features()),
            Model::ThinPlate(model) => Some(model.n_features()),
        }
    }

    /// The names of its features, where the training samples had names.
    pub fn feature_names(&self) -> Option<&[String]> {
        match self {
            Model::BasisExpansion(model) => model.feature_names(),
            Model::PowerMean(model) => model.feature_names(),
            Model::ThinPlate(model) => model.feature_names(),
        }
    }

    /// The model with the names of its features.
    pub fn named(self, names: Option<Vec<String>>) -> Result<Self> {
        Ok(match self {
            Model::BasisExpansion(model) => Model::BasisExpansion(model.with_feature_names(names)?),
            Model::PowerMean(model) => Model::PowerMean(model.with_feature_names(names)?),
            Model::ThinPlate(model) => Model::ThinPlate(model.with_feature_names(names)?),
        })
    }

    /// The kind of samples it takes, as messages name it.
    pub fn kind(&self) -> &'static str {
        match self {
            Model::BasisExpansion(model) => model.kind(),
            Model::PowerMean(_) | Model::ThinPlate(_) => "vectors",
        }
    }

    /// The length of all series it holds, where it holds series and all have one.
    pub fn series_length(&self) -> Option<usize> {
        match self {
            Model::BasisExpansion(model) => basis_expansion::series_length(model),
            _ => None,
        }
    }

    /// The account of the fit.
    pub fn report(&self) -> &Report {
        match self {
            Model::BasisExpansion(model) => model.report(),
            Model::PowerMean(model) => model.report(),
            Model::ThinPlate(model) => model.report(),
        }
    }

    /// What the method keeps of itself, by name.
    pub fn parameters(&self) -> Value {
        match self {
            Model::BasisExpansion(model) => basis_expansion::parameters(model),
            Model::PowerMean(model) => json!({
                "kernel": model.map().kernel().to_string(),
                "C": model.c(),
                "loss": model.loss().to_string(),
                "approximation": model.map().approximation().to_string(),
                "n_nodes": model.map().n_nodes(),
                "nodes": model.map().nodes(),
                "scale": model.scaling().is_some(),
            }),
            Model::ThinPlate(model) => thin_plate::parameters(model),
        }
    }

    /// Number of weights.
    pub fn n_weights(&self) -> usize {
        match self {
            Model::BasisExpansion(model) => model.weights().len(),
            Model::PowerMean(model) => model.weights().len(),
            Model::ThinPlate(model) => model.bases().len() + model.coefficients().len() + model.polynomial().len(),
        }
    }

    /// What the solver's iterations are called.
    pub fn iterations(&self) -> &'static str {
        match self {
            Model::BasisExpansion(_) => "Newton steps",
            Model::PowerMean(_) => "epochs",
            Model::ThinPlate(_) => "Newton steps",
        }
    }

    /// What the method found out on its own, in a line; none where it did not.
    pub fn findings(&self) -> Option<String> {
        match self {
            Model::BasisExpansion(_) => None,
            Model::PowerMean(_) => None,
            Model::ThinPlate(model) => Some(thin_plate::findings(model)),
        }
    }

    /// What `inspect` tells at length, such as the path to the solution: its name, its JSON, and text below the other
    /// lines.
    pub fn history(&self) -> Option<(&'static str, Value, String)> {
        match self {
            Model::BasisExpansion(model) => {
                let (json, table) = basis_expansion::bases(model);
                Some(("bases", json, table))
            }
            Model::PowerMean(_) => None,
            Model::ThinPlate(model) => Some(("path", json!(model.path()), thin_plate::path_table(model))),
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
