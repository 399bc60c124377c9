//! A trained model of any kind, as commands read and describe it.

use std::path::Path;

use serde_json::{Value, json};
use widemargin::model::AnyModel;
use widemargin::solve::Report;
use widemargin_io::{Format, LabelColumn, ReadOptions, Table};

use crate::args::Input;
use crate::context::Context;
use crate::output::joined;
use crate::report::{Failure, shown};
use crate::stream::put_in_order;

/// Reads a model for samples that are to be read; refused are those whose format holds another kind than it takes.
pub fn load_for(path: &Path, input: &Input) -> Result<AnyModel, Failure> {
    let model = AnyModel::load(path)?;
    let wanted = model.kind();
    let format = input.format_for(&*model).map_or_else(|| Format::from_path(&input.data), Ok)?;
    let found = format.kind();
    // What an archive holds, its arrays tell; rows of an array are series of one length.
    let may_hold = format == Format::Npz && ["time series", "images"].contains(&wanted)
        || wanted == "time series" && format == Format::Npy;
    if wanted == found || may_hold {
        return Ok(model);
    }
    let message = format!("{}: the model takes {wanted}, and {format} holds {found}", shown(&input.data));
    let formats = match wanted {
        "strings" => "--format strings",
        "time series" => "--format ucr or ts",
        "images" => "--format images or npz",
        _ => "--format libsvm, csv, tsv, npy or npz",
    };
    Err(Failure::input(message).help(format!("if the file does hold {wanted}, say how: {formats}")))
}

/// Reads all samples for a model, with labels from a column; the columns of features are then in the model's order.
pub fn read_for(model: &AnyModel, input: &Input, label: LabelColumn, context: &Context) -> Result<Table, Failure> {
    let file = &input.data;
    let options = ReadOptions { label, n_features: model.n_features(), ..input.options_for(&**model) };
    let (mut table, _) = context.read(file, &options)?;
    put_in_order(&mut table, &**model, file)?;
    Ok(table)
}

/// The model of a table, with what the table says of its columns.
pub fn named(mut model: AnyModel, table: &Table) -> widemargin::Result<AnyModel> {
    match &table.columns {
        Some(columns) => {
            model.set_table_columns(Some(columns.clone()))?;
            model.add_remarks(columns.notes(), Vec::new());
        }
        None => model.set_feature_names(table.feature_names.clone())?,
    }
    model.set_column_roles(table.roles.clone())?;
    model.origin_mut().notation = table.notation;
    Ok(model)
}

/// What `--json` prints of every model.
pub fn json_of(model: &AnyModel, path: &Path) -> Value {
    let mut object = json!({
        "model": path.display().to_string(),
        "method": model.method(),
        "n_features": model.n_features(),
        "report": report_json(model.report()),
        "model_bytes": size_of_file(path),
    });
    match model {
        AnyModel::Classifier(model) => object["classes"] = json!(model.classes()),
        AnyModel::Regressor(model) => object["n_outputs"] = json!(model.n_outputs()),
        AnyModel::OneClass(_) => {}
    }
    object
}

/// Number of bytes.
pub fn size_of_file(file: &Path) -> u64 {
    std::fs::metadata(file).map_or(0, |file| file.len())
}

/// A report as `--json` prints it; without seconds for a model that was loaded.
fn report_json(report: &Report) -> Value {
    let seconds: serde_json::Map<_, _> =
        report.stages.iter().map(|stage| (stage.name.clone(), stage.seconds.into())).collect();
    // These are left out of model files where they are empty.
    let own = json!({ "estimate": report.estimate, "notes": report.notes, "library": report.library });
    let computed = json!({
        "epochs": report.max_iterations(),
        "gap": report.gap(),
        "seconds": seconds,
        "seconds_total": (!report.stages.is_empty()).then(|| report.seconds()),
    });
    joined(joined(json!(report), own), computed)
}
