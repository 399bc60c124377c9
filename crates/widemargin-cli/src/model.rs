//! A trained model of any method, as commands take and tell it.

use std::path::Path;

use serde_json::{Value, json};
use widemargin::model::{AnyModel, Classifier};
use widemargin::solve::Report;
use widemargin_io::{Format, LabelColumn, ReadOptions, Table};

use crate::args::Input;
use crate::context::Context;
use crate::report::{Failure, shown};
use crate::stream::put_in_order;
use crate::takes::Takes;

/// A model, whatever its method.
pub type Model = Box<dyn Classifier>;

/// Reads the file of a classifier for samples that are to be read; refused are those whose format holds another kind than
/// it takes.
pub fn load_for(path: &Path, input: &Input) -> Result<Model, Failure> {
    let model = load(path)?;
    check_kind(model.kind(), &Takes::from(&*model), input)?;
    Ok(model)
}

/// The same of any model.
pub fn load_any_for(path: &Path, input: &Input) -> Result<AnyModel, Failure> {
    let model = AnyModel::load(path)?;
    let takes = match &model {
        AnyModel::Classifier(model) => Takes::from(&**model),
        AnyModel::Regressor(model) => Takes::from(&**model),
        AnyModel::OneClass(model) => Takes::from(&**model),
    };
    check_kind(model.kind(), &takes, input)?;
    Ok(model)
}

/// Refuses files of another kind of samples than a model takes.
fn check_kind(wanted: &str, takes: &Takes<'_>, input: &Input) -> Result<(), Failure> {
    let format = input.format_for(takes).map_or_else(|| Format::from_path(&input.data), Ok)?;
    let held = format.kind();
    // What an archive holds, its arrays tell; rows of an array are series of one length.
    let may_hold = format == Format::Npz && ["time series", "images"].contains(&wanted)
        || wanted == "time series" && format == Format::Npy;
    if wanted == held || may_hold {
        return Ok(());
    }
    let message = format!("{}: the model takes {wanted}, and {format} holds {held}", shown(&input.data));
    let formats = match wanted {
        "strings" => "--format strings",
        "time series" => "--format ucr or ts",
        "images" => "--format images or npz",
        _ => "--format libsvm, csv, tsv, npy or npz",
    };
    Err(Failure::input(message).help(format!("if the file does hold {wanted}, say how: {formats}")))
}

/// Reads all samples for a model, with labels from a column; the columns of features are then in the model's order.
pub fn read_for(
    model: &dyn Classifier,
    input: &Input,
    label: LabelColumn,
    context: &Context,
) -> Result<Table, Failure> {
    let file = &input.data;
    let takes = Takes::from(model);
    let options = ReadOptions { label, n_features: model.n_features(), ..input.options_for(&takes) };
    let (mut table, _) = context.read(file, &options)?;
    put_in_order(&mut table, &takes, file)?;
    Ok(table)
}

/// Reads the file of a classifier; what the user should know of it is a line on standard error.
pub fn load(path: &Path) -> Result<Model, Failure> {
    match AnyModel::load(path)? {
        AnyModel::Classifier(model) => Ok(model),
        AnyModel::Regressor(_) => {
            Err(without_classes(path, "a regression model")
                .help("predict, evaluate and inspect take regression models"))
        }
        AnyModel::OneClass(_) => Err(without_classes(path, "a model of one class")
            .help("predict, evaluate and inspect take models of one class")),
    }
}

fn without_classes(path: &Path, what: &str) -> Failure {
    Failure::input(format!("{}: {what} has no classes, which this command tells of", shown(path)))
}

/// The model of a table, with what the table says of its columns.
pub fn named(model: Model, table: &Table) -> widemargin::Result<Model> {
    let model = match &table.columns {
        Some(columns) => model.with_table_columns(Some(columns.clone()))?.with_remarks(columns.told(), Vec::new()),
        None => model.with_feature_names(table.feature_names.clone())?,
    };
    model.with_column_roles(table.roles.clone())
}

/// The stages of a fit and their seconds.
pub fn stages(report: &Report) -> String {
    let stages: Vec<_> = report.stages.iter().map(|stage| format!("{} {:.2}", stage.name, stage.seconds)).collect();
    stages.join(", ")
}

/// A report as `--json` prints it; without seconds for a model that was loaded.
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
        "seconds_total": (!report.stages.is_empty()).then(|| report.seconds()),
        "notes": report.notes,
        "warnings": report.warnings,
        "library": report.library,
    })
}
