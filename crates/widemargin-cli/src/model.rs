//! A trained model of any kind, as commands read and describe it.

use std::path::Path;

use serde_json::{Value, json};
use widemargin::data::{AnySamples, column_order};
use widemargin::model::{AnyModel, Model};
use widemargin::solve::Report;
use widemargin_io::{Block, Blocks, Format, LabelColumn, ReadOptions, Samples, Table};

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
        "strings" if input.data.as_os_str() == "-" => {
            "--format strings, with --delimiter , or tab if they are in columns"
        }
        "strings" => "--format strings",
        "time series" => "--format ucr or ts",
        "images" => "--format images or npz",
        _ => "--format libsvm, csv, tsv, npy or npz",
    };
    Err(Failure::input(message).help(format!("if the file does hold {wanted}, say how: {formats}")))
}

/// The column of labels, which is skipped.
///
/// By default: in LIBSVM text a first word that is not a pair; in CSV the reader knows the model's columns from others; in
/// Parquet the column that training would use, unless the file has the model's columns only if that column is included. A series begins with a label, unless it is as
/// long as all series of the model only with it. For strings, other columns are ignored.
pub fn label_column(input: &Input, model: &dyn Model) -> Result<LabelColumn, Failure> {
    if let Some(label) = &input.label {
        return Ok(label.clone());
    }
    let data = input.data.as_path();
    Ok(match input.format_for(model).map_or_else(|| Format::from_path(data), Ok)? {
        Format::Libsvm | Format::Strings => LabelColumn::None,
        // Only a regular file can be inspected and then read from its start.
        Format::Parquet | Format::Ucr
            if (data.is_file() || data.is_dir()) && has_only_features(input, model) == Some(true) =>
        {
            LabelColumn::None
        }
        _ => LabelColumn::Auto,
    })
}

/// Whether the columns of a file are those of the model, or series as long as its; unknown of a file that is not numeric:
/// a column of text is the label, or an error that is reported later.
fn has_only_features(input: &Input, model: &dyn Model) -> Option<bool> {
    let options = ReadOptions { label: LabelColumn::None, block_bytes: Some(1), ..input.options() };
    let mut block = Block::default();
    Blocks::open(&input.data, &options).ok()?.read_into(&mut block).ok().filter(|has_rows| *has_rows)?;
    Some(match (&block.table.feature_names, model.feature_names(), &block.table.samples) {
        (Some(names), Some(trained), _) => column_order(trained, names).is_ok(),
        (_, _, Samples::Other(AnySamples::Series(series))) => Some(series.length(0)) == series_length(model),
        (_, _, vectors) => Some(vectors.n_cols()) == model.n_features(),
    })
}

/// The length of all series that a model holds, where it holds series and all have one.
fn series_length(model: &dyn Model) -> Option<usize> {
    let Some(AnySamples::Series(series)) = model.bases() else { return None };
    let mut lengths = series.lengths().into_iter();
    let first = lengths.next()?;
    lengths.all(|length| length == first).then_some(first)
}

/// Reads all samples for a model; the columns of features are then in the model's order.
pub fn read_for(model: &AnyModel, input: &Input, context: &Context) -> Result<Table, Failure> {
    let file = &input.data;
    let options = ReadOptions { n_features: model.n_features(), ..input.options_for(&**model) };
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
    let more = json!({
        // These are left out of model files where they are empty.
        "estimate": report.estimate,
        "notes": report.notes,
        "library": report.library,
        "epochs": report.max_iterations(),
        "gap": report.gap(),
        "seconds": seconds,
        "seconds_total": (!report.stages.is_empty()).then(|| report.seconds()),
    });
    joined(json!(report), more)
}
