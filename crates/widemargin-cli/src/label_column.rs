//! Which column of a file has labels, where a model only predicts.

use std::path::Path;

use widemargin::data::{AnySamples, column_order};
use widemargin::model::Model;
use widemargin_io::{Block, Blocks, Format, LabelColumn, ReadOptions, Samples};

use crate::args::Input;
use crate::report::Failure;

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
    match input.format_for(model).map_or_else(|| Format::from_path(data), Ok)? {
        Format::Libsvm | Format::Strings => Ok(LabelColumn::None),
        // Only a regular file can be inspected and then read from its start.
        Format::Parquet if data.is_file() || data.is_dir() => guess(data, &input.options(), model),
        Format::Ucr if data.is_file() => guess(data, &input.options(), model),
        _ => Ok(LabelColumn::Auto),
    }
}

fn guess(data: &Path, options: &ReadOptions, model: &dyn Model) -> Result<LabelColumn, Failure> {
    let options = ReadOptions { label: LabelColumn::None, block_bytes: Some(1), ..options.clone() };
    // Text in a column is not numeric: it is the label, or an error that is reported later.
    let Ok(mut blocks) = Blocks::open(data, &options) else { return Ok(LabelColumn::Auto) };
    let mut block = Block::default();
    if !matches!(blocks.read_into(&mut block), Ok(true)) {
        return Ok(LabelColumn::Auto);
    }
    if let (Some(names), Some(trained)) = (&block.table.feature_names, model.feature_names()) {
        let all_known = column_order(trained, names).is_ok();
        return Ok(if all_known { LabelColumn::None } else { LabelColumn::Auto });
    }
    let (found, trained) = match &block.table.samples {
        Samples::Other(AnySamples::Series(series)) => (Some(series.length(0)), series_length(model)),
        vectors => (Some(vectors.n_cols()), model.n_features()),
    };
    Ok(if found == trained { LabelColumn::None } else { LabelColumn::Auto })
}

/// The length of all series that a model holds, where it holds series and all have one.
fn series_length(model: &dyn Model) -> Option<usize> {
    let Some(AnySamples::Series(series)) = model.bases() else { return None };
    let mut lengths = series.lengths().into_iter();
    let first = lengths.next()?;
    lengths.all(|length| length == first).then_some(first)
}
