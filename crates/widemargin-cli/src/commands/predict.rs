//! `widemargin predict`: prints one label or number per line; of a model of one class 1, or -1 for outliers.

use std::borrow::Cow;
use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use widemargin::Error;
use widemargin::model::{AnyModel, OneClass, Regressor};
use widemargin::problem::OneVsRest;
use widemargin_io::Block;

use crate::args::Input;
use crate::context::Context;
use crate::label_column::label_column;
use crate::model::load_any_for;
use crate::output::{Output, check_output};
use crate::report::{Failure, shown};
use crate::stream::{decide, predict, score};
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
    /// one per class; of a model of one class the score less its threshold (below 0 for outliers)
    #[arg(long)]
    scores: bool,
    /// Also print the probability of each class, separated by tabs, in the order of the classes that `inspect` prints
    #[arg(long, conflicts_with = "scores")]
    probabilities: bool,
}

impl Predict {
    /// Runs the command.
    pub fn run(mut self, context: &Context) -> Result<(), Failure> {
        self.input.skip_labels = true;
        if let Some(output) = &self.output {
            check_output(output, &self.input, Some(&self.model))?;
        }
        let model = match load_any_for(&self.model, &self.input)? {
            AnyModel::Classifier(model) => model,
            AnyModel::Regressor(model) => return self.numbers(context, &*model),
            AnyModel::OneClass(model) => return self.one_class(context, &*model),
        };
        if self.probabilities && model.calibration().is_none() {
            let failure = Failure::input(format!("{}: {}", shown(&self.model), Error::NotCalibrated));
            return Err(failure.help("train it again with this version"));
        }
        let label = label_column(&self.input, &Takes::from(&*model))?;
        let mut output = Output::open(self.output.as_deref())?;
        let names: Vec<String> = model.classes().iter().map(|class| field(&class.to_string()).into_owned()).collect();
        let mut text = Vec::new();
        score(context, &*model, &self.input, label, |block, scores| {
            let samples = block.table.ids.as_ref().or(block.table.files.as_ref());
            text.clear();
            let calibration = model.calibration().filter(|_| self.probabilities);
            let is_several = model.is_multilabel();
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
                    text.extend_from_slice(field(&samples[row]).as_bytes());
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
        predict(context, model, &self.input, label, |block, found| {
            let rows = found.values.chunks(found.n_cols);
            write_rows(&mut output, block, rows.map(|targets| targets.iter().map(f64::to_string).collect()))
        })?;
        output.finish()
    }

    /// Prints 1 for samples like those of the training, -1 for outliers.
    fn one_class(&self, context: &Context, model: &dyn OneClass) -> Result<(), Failure> {
        if self.probabilities {
            let failure = format!("{}: --probabilities is of classes, and the model has one", shown(&self.model));
            return Err(Failure::input(failure).help("--scores prints decision values, below 0 for outliers"));
        }
        let label = label_column(&self.input, &Takes::from(model))?;
        let mut output = Output::open(self.output.as_deref())?;
        decide(context, model, &self.input, label, |block, values| {
            let row = |value: &f64| {
                let told = if *value < 0.0 { "-1" } else { "1" };
                [told.to_owned()].into_iter().chain(self.scores.then(|| value.to_string())).collect()
            };
            write_rows(&mut output, block, values.iter().map(row))
        })?;
        output.finish()
    }
}

/// Text as a field between tabs: in quotes, which are doubled inside, where it would otherwise end a field or a line.
fn field(text: &str) -> Cow<'_, str> {
    match text.contains(['\t', '\n', '\r', '"']) {
        true => Cow::Owned(format!("\"{}\"", text.replace('"', "\"\""))),
        false => Cow::Borrowed(text),
    }
}

/// Writes a line a sample: its name, where it has one, and fields, with tabs between.
fn write_rows(output: &mut Output, block: &Block, rows: impl Iterator<Item = Vec<String>>) -> Result<(), Failure> {
    let (samples, mut text) = (block.table.ids.as_ref().or(block.table.files.as_ref()), Vec::new());
    for (row, told) in rows.enumerate() {
        let name = samples.map(|samples| field(&samples[row]).into_owned());
        let fields: Vec<String> = name.into_iter().chain(told).collect();
        text.extend_from_slice(fields.join("\t").as_bytes());
        text.push(b'\n');
    }
    output.write(&text)
}
