//! `widemargin predict`: prints one label per line.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use widemargin::Error;
use widemargin::data::{AnySamples, column_order};
use widemargin::model::Classifier;
use widemargin::problem::OneVsRest;
use widemargin_io::{Block, Blocks, Format, LabelColumn, ReadOptions, Samples};

use crate::args::Input;
use crate::context::Context;
use crate::model::load_for;
use crate::output::{Output, check_output};
use crate::report::{Failure, shown};
use crate::stream::score;

/// Arguments of `predict`.
#[derive(Debug, Args)]
pub struct Predict {
    /// The model file
    model: PathBuf,
    #[command(flatten)]
    input: Input,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Also print the decision values, separated by tabs: one for two classes (above 0 predicts the second), otherwise
    /// Also print the decision values, separated by tabs: one for two classes (above 0 predicts the second), otherwise
    /// one per class
    #[arg(long)]
    scores: bool,
    /// Also print the probability of each class, separated by tabs, in the order of the classes that `inspect` prints
    #[arg(long, conflicts_with = "scores")]
    probabilities: bool,
}

impl Predict {
    /// Runs the command.
    pub fn run(self, context: &Context) -> Result<(), Failure> {
        if let Some(output) = &self.output {
            check_output(output, &self.input, Some(&self.model))?;
        }
        let model = load_for(&self.model, &self.input, context)?;
        if self.probabilities && model.calibration().is_none() {
            let failure = Failure::input(format!("{}: {}", shown(&self.model), Error::NotCalibrated));
            return Err(failure.help("train it again with this version"));
        }
        let label = label_column(&self.input, &*model)?;
        let mut output = Output::open(self.output.as_deref())?;
        let names: Vec<String> = model.classes().iter().map(ToString::to_string).collect();
        let mut text = Vec::new();
        score(context, &*model, &self.input, label, |block, scores| {
            let samples = block.table.ids.as_ref().or(block.table.files.as_ref());
            text.clear();
            let calibration = model.calibration().filter(|_| self.probabilities);
            let is_several = model.has_several_labels();
            let probabilities = calibration.map(|calibration| {
                let values: Vec<f64> = scores.values().iter().map(|&score| f64::from(score)).collect();
                if is_several {
                    return calibration.of_labels(&values, false);
                }
                calibration.probabilities(&values, names.len())
            });
            for row in 0..scores.n_rows() {
                let values = scores.row(row);
                if let Some(samples) = samples {
                    text.extend_from_slice(samples[row].as_bytes());
                    text.push(b'\t');
                }
                if is_several {
                    let has: Vec<&str> = values.iter().map(|value| if *value > 0.0 { "1" } else { "0" }).collect();
                    text.extend_from_slice(has.join("\t").as_bytes());
                } else {
                    text.extend_from_slice(names[OneVsRest::decide(values)].as_bytes());
                }
                if self.scores {
                    // Writing to memory cannot fail.
                    values.iter().for_each(|value| drop(write!(text, "\t{value}")));
                }
                if let Some(all) = &probabilities {
                    let of_row = &all[row * names.len()..(row + 1) * names.len()];
                    of_row.iter().for_each(|value| drop(write!(text, "\t{value}")));
                }
                text.push(b'\n');
            }
            output.write(&text)
        })?;
        output.finish()
    }
}

/// The column of labels, which is skipped.
///
/// By default: in LIBSVM text a first word that is not a pair; in a table the column that training would use, unless
/// the table has the model's columns only if that column is included. A series begins with a label, unless it is as
/// long as all series of the model only with it. For strings, other columns are ignored.
fn label_column(input: &Input, model: &dyn Classifier) -> Result<LabelColumn, Failure> {
    if let Some(label) = &input.label {
        return Ok(label.clone());
    }
    if model.table_columns().is_some() {
        // The reader knows the model's columns from others.
        return Ok(LabelColumn::Auto);
    }
    let data = input.data.as_path();
    match input.format.map_or_else(|| Format::from_path(data), Ok)? {
        Format::Libsvm | Format::Strings => Ok(LabelColumn::None),
        // Only a regular file can be inspected and then read from its start.
        Format::Csv | Format::Tsv | Format::Parquet if data.is_file() || data.is_dir() => {
            guess(data, &input.options(), model)
        }
        Format::Ucr if data.is_file() => guess(data, &input.options(), model),
        _ => Ok(LabelColumn::Auto),
    }
}

fn guess(data: &Path, options: &ReadOptions, model: &dyn Classifier) -> Result<LabelColumn, Failure> {
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
fn series_length(model: &dyn Classifier) -> Option<usize> {
    let Some(AnySamples::Series(series)) = model.bases() else { return None };
    let mut lengths = series.lengths().into_iter();
    let first = lengths.next()?;
    lengths.all(|length| length == first).then_some(first)
}
