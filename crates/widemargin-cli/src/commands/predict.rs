//! `widemargin predict`: prints one label or number per line.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use widemargin::Error;
use widemargin::model::{AnyModel, Regressor};
use widemargin::problem::OneVsRest;

use crate::args::Input;
use crate::context::Context;
use crate::label_column::label_column;
use crate::model::load_any_for;
use crate::output::{Output, check_output};
use crate::report::{Failure, shown};
use crate::stream::{predict, score};
use crate::takes::Takes;

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
        let model = match load_any_for(&self.model, &self.input, context)? {
            AnyModel::Classifier(model) => model,
            AnyModel::Regressor(model) => return self.numbers(context, &*model),
        };
        if self.probabilities && model.calibration().is_none() {
            let failure = Failure::input(format!("{}: {}", shown(&self.model), Error::NotCalibrated));
            return Err(failure.help("train it again with this version"));
        }
        let label = label_column(&self.input, &Takes::from(&*model))?;
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

    /// Prints the targets of each sample, separated by tabs.
    fn numbers(&self, context: &Context, model: &dyn Regressor) -> Result<(), Failure> {
        if let Some(flag) =
            [("--scores", self.scores), ("--probabilities", self.probabilities)].iter().find(|one| one.1)
        {
            let failure = Failure::input(format!(
                "{}: {} is of classes, and the model predicts numbers",
                shown(&self.model),
                flag.0
            ));
            return Err(failure.help("leave it out: the numbers are printed"));
        }
        let label = label_column(&self.input, &Takes::from(model))?;
        let mut output = Output::open(self.output.as_deref())?;
        let mut text = Vec::new();
        predict(context, model, &self.input, label, |block, found| {
            let samples = block.table.ids.as_ref().or(block.table.files.as_ref());
            text.clear();
            for (row, targets) in found.values.chunks(found.n_cols).enumerate() {
                let name = samples.map(|samples| samples[row].clone());
                let fields: Vec<String> = name.into_iter().chain(targets.iter().map(f64::to_string)).collect();
                text.extend_from_slice(fields.join("\t").as_bytes());
                text.push(b'\n');
            }
            output.write(&text)
        })?;
        output.finish()
    }
}
