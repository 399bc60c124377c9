//! `widemargin predict`: prints a label or number for each sample; of an outlier detector 1, or -1 for outliers.

use std::fmt::{Display, LowerExp};
use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use widemargin::data::{Label, SamplesView};
use widemargin::model::AnyModel;
use widemargin::monitor::Monitor;
use widemargin::{Error, Result};
use widemargin_io::Block;

use crate::args::Input;
use crate::context::Context;
use crate::model::{label_column, load_for};
use crate::output::{Output, check_output};
use crate::report::{Failure, refused, shown};
use crate::stream::through;

/// Arguments of `predict`.
#[derive(Debug, Args)]
pub struct Predict {
    /// Model file
    model: PathBuf,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// csv, with a header, or jsonl [default: lines without a header]
    ///
    /// By default, the fields of a line are separated by tabs.
    #[arg(long, value_name = "FORMAT", hide_possible_values = true)]
    output_format: Option<Lines>,
    /// Also print the decision values
    ///
    /// There is one value for two classes (above 0 predicts the second), otherwise one per class. For an outlier
    /// detector, it is the score minus the threshold (below 0 for outliers).
    #[arg(long)]
    scores: bool,
    /// Also print the probability of each class
    #[arg(long, conflicts_with = "scores")]
    probabilities: bool,
    #[command(flatten)]
    input: Input,
}

/// How predictions are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Lines {
    Csv,
    Jsonl,
}

/// Values of rows, row-major.
enum Values<'a> {
    Texts(&'a [String]),
    Labels(Vec<&'a Label>),
    Narrow(Vec<f32>),
    Wide(Vec<f64>),
}

impl Values<'_> {
    /// Writes a value as a field of a line. Writing to memory cannot fail.
    fn write(&self, at: usize, separator: u8, text: &mut Vec<u8>) {
        match self {
            Values::Texts(texts) => quoted(&texts[at], separator, text),
            Values::Labels(labels) => match labels[at] {
                Label::Text(label) => quoted(label, separator, text),
                Label::Integer(number) => drop(write!(text, "{number}")),
            },
            Values::Narrow(numbers) => shortest(text, numbers[at]),
            Values::Wide(numbers) => shortest(text, numbers[at]),
        }
    }

    fn json(&self, at: usize) -> Value {
        let number = |number: f64| match number.fract() == 0.0 && number.abs() < 1e15 {
            true => Value::from(number as i64),
            false => number.into(),
        };
        match self {
            Values::Texts(texts) => json!(texts[at]),
            Values::Labels(labels) => json!(labels[at]),
            Values::Narrow(scores) => number(scores[at].to_string().parse().unwrap_or(f64::from(scores[at]))),
            Values::Wide(numbers) => number(numbers[at]),
        }
    }
}

/// What is predicted of some rows: the names of columns, and their values.
type Columns<'a> = (Vec<String>, Values<'a>);

impl Predict {
    /// Runs the command.
    pub fn run(mut self, context: &Context) -> std::result::Result<(), Failure> {
        self.input.skip_labels = true;
        if let Some(output) = &self.output {
            check_output(output, Some(&self.input), Some(&self.model))?;
        }
        let model = load_for(&self.model, &self.input)?;
        self.check(&model)?;
        self.input.label = Some(label_column(&self.input, &*model)?);
        let output = Output::open(self.output.as_deref())?;
        let mut out = Writer { lines: self.output_format, output, text: Vec::new(), has_head: false };
        let of = |view: &SamplesView<'_>, threads: usize, monitor: &Monitor<'_>| {
            self.predicted(&model, view, threads, monitor)
        };
        through(context, &*model, &self.input, of, |block, found| out.write(block, found))?;
        out.output.finish()
    }

    fn predicted<'m>(
        &self,
        model: &'m AnyModel,
        view: &SamplesView<'_>,
        threads: usize,
        monitor: &Monitor<'_>,
    ) -> Result<Vec<Columns<'m>>> {
        let one = |name: &str| vec![name.to_owned()];
        let mut columns = Vec::new();
        match model {
            AnyModel::Classifier(model) => {
                let (classes, is_multilabel) = (model.classes(), model.is_multilabel());
                let each = |what: &str| classes.iter().map(|class| format!("{what}_{class}")).collect::<Vec<_>>();
                let scores = model.decision_function(view, threads, monitor)?;
                columns.push(match is_multilabel {
                    true => {
                        let answers = scores.values().iter().map(|value| f64::from(u8::from(*value > 0.0)));
                        (each("prediction"), Values::Wide(answers.collect()))
                    }
                    false => (one("prediction"), Values::Labels(scores.decide(classes))),
                });
                if let Some(calibration) = model.calibration().filter(|_| self.probabilities) {
                    let values: Vec<f64> = scores.values().iter().map(|&score| f64::from(score)).collect();
                    let probabilities = match is_multilabel {
                        true => calibration.of_labels(&values, false),
                        false => calibration.probabilities(&values, classes.len()),
                    };
                    columns.push((each("probability"), Values::Wide(probabilities)));
                }
                if self.scores {
                    let is_one = classes.len() == 2 && !is_multilabel;
                    let names = if is_one { one("score") } else { each("score") };
                    columns.push((names, Values::Narrow(scores.values().to_vec())));
                }
            }
            AnyModel::Regressor(model) => {
                let names = match model.n_outputs() {
                    1 => one("prediction"),
                    n => (1..=n).map(|output| format!("prediction_{output}")).collect(),
                };
                columns.push((names, Values::Wide(model.predict(view, threads, monitor)?.values)));
            }
            AnyModel::OneClass(model) => {
                let values = model.decision_function(view, threads, monitor)?;
                let signs = values.iter().map(|value| if *value < 0.0 { -1.0 } else { 1.0 });
                columns.push((one("prediction"), Values::Wide(signs.collect())));
                if self.scores {
                    columns.push((one("score"), Values::Wide(values)));
                }
            }
        }
        Ok(columns)
    }

    /// Refuses options that the model has nothing for.
    fn check(&self, model: &AnyModel) -> std::result::Result<(), Failure> {
        let refused = |what: &str, help: &str| refused(format!("{}: {what}", shown(&self.model)), help);
        match model {
            AnyModel::Classifier(model) if self.probabilities && model.calibration().is_none() => {
                refused(&Error::NotCalibrated.to_string(), "train it again with this version")
            }
            AnyModel::Regressor(_) if self.scores || self.probabilities => {
                let option = if self.scores { "--scores" } else { "--probabilities" };
                let what = format!("{option} is for classes, and this is a regression model");
                refused(&what, "leave it out: the numbers are printed")
            }
            AnyModel::OneClass(_) if self.probabilities => {
                let help = "--scores prints decision values, below 0 for outliers";
                refused("--probabilities is for classes, the model detects outliers", help)
            }
            _ => Ok(()),
        }
    }
}

/// Lines of predictions on their way out.
struct Writer {
    lines: Option<Lines>,
    output: Output,
    text: Vec<u8>,
    has_head: bool,
}

impl Writer {
    /// Writes the lines of a block: of each row what names it, and what is predicted of it.
    fn write(&mut self, block: &Block, found: &[Columns<'_>]) -> std::result::Result<(), Failure> {
        let ids = block.table.ids.as_ref().or(block.table.files.as_ref());
        let ids = ids.map(|ids| (vec!["id".to_owned()], Values::Texts(ids)));
        let columns = || ids.iter().chain(found);
        let names: Vec<&String> = columns().flat_map(|(names, _)| names).collect();
        for row in 0..block.table.samples.n_rows() {
            self.text.clear();
            let of_row = |n: usize| row * n..(row + 1) * n;
            let fields = columns().flat_map(|(names, values)| of_row(names.len()).map(move |at| (values, at)));
            match self.lines {
                Some(Lines::Jsonl) => {
                    let values = fields.map(|(values, at)| values.json(at));
                    let named = names.iter().map(|name| (*name).clone()).zip(values);
                    drop(writeln!(self.text, "{}", Value::Object(named.collect())));
                }
                Some(Lines::Csv) => {
                    if !std::mem::replace(&mut self.has_head, true) {
                        separated(&mut self.text, b',', names.iter(), |name, text| quoted(name, b',', text));
                    }
                    separated(&mut self.text, b',', fields, |(values, at), text| values.write(at, b',', text));
                }
                None => separated(&mut self.text, b'\t', fields, |(values, at), text| values.write(at, b'\t', text)),
            }
            self.output.write(&self.text)?;
        }
        Ok(())
    }
}

/// Writes fields as a line.
fn separated<T>(text: &mut Vec<u8>, separator: u8, fields: impl Iterator<Item = T>, write: impl Fn(T, &mut Vec<u8>)) {
    for (at, field) in fields.enumerate() {
        if at > 0 {
            text.push(separator);
        }
        write(field, text);
    }
    text.push(b'\n');
}

/// Text as a field: in quotes, which are doubled inside, where it would otherwise end a field or a line.
fn quoted(field: &str, separator: u8, text: &mut Vec<u8>) {
    if field.contains([char::from(separator), '\n', '\r', '"']) {
        drop(write!(text, "\"{}\"", field.replace('"', "\"\"")));
    } else {
        text.extend_from_slice(field.as_bytes());
    }
}

/// The shortest text that is read as the same number. Writing to memory cannot fail.
fn shortest(out: &mut Vec<u8>, number: impl Into<f64> + Display + LowerExp + Copy) {
    drop(match number.into().abs() {
        0.0 | 1e-5..1e16 => write!(out, "{number}"),
        _ => write!(out, "{number:e}"),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_the_same() {
        let text = |write: &dyn Fn(&mut Vec<u8>)| {
            let mut out = Vec::new();
            write(&mut out);
            String::from_utf8(out).unwrap()
        };
        for (number, expected) in [
            (0.1, "0.1"),
            (1.0, "1"),
            (1_700_000_430.25, "1700000430.25"),
            (3.831_580_959_390_972e-5, "0.00003831580959390972"),
            (1e-7, "1e-7"),
        ] {
            assert_eq!(text(&|out| shortest(out, number)), expected);
        }
        assert_eq!(text(&|out| shortest(out, 0.1_f32)), "0.1");
        assert_eq!(text(&|out| shortest(out, f32::MIN_POSITIVE)), "1.1754944e-38");
    }
}
