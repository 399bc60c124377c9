//! `widemargin report`: a page on a model.

use std::borrow::Cow;
use std::path::PathBuf;

use clap::Args;
use widemargin::data::{Labels, Targets};
use widemargin::model::AnyModel;
use widemargin::select::Answers;
use widemargin_report::{Measurement, report_html};

use crate::args::Input;
use crate::context::Context;
use crate::model::{load_for, read_for};
use crate::output::{check_output, write_text};
use crate::report::{Failure, in_file, shown};
use crate::task::{in_order, require_indicators, targets_of};

/// Arguments of `report`.
#[derive(Debug, Args)]
#[command(mut_arg("data", |data| data.required(false).help("Labeled samples on which the model is evaluated")))]
pub struct ReportArgs {
    /// Model file
    model: PathBuf,
    /// HTML file to write
    ///
    /// The page is self-contained, for screens and for printing.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    input: Option<Input>,
}

impl ReportArgs {
    /// Runs the command.
    pub fn run(self, context: &Context) -> Result<(), Failure> {
        let title = shown(&self.model).to_string();
        let (threads, sink) = (context.common.threads, |_| ());
        let monitor = context.monitor(&sink);
        check_output(&self.output, self.input.as_ref(), Some(&self.model))?;
        let html = match &self.input {
            None => report_html(&AnyModel::load(&self.model)?, title, None, threads, &monitor)?,
            Some(input) => {
                let model = load_for(&self.model, input)?;
                let file = &input.data;
                let table = read_for(&model, input, context)?;
                let answers = match &model {
                    AnyModel::Classifier(model) => {
                        let names = model.classes();
                        let labels = if model.is_multilabel() {
                            let indicators = require_indicators(&table.indicators, input)?;
                            Labels::multilabel(names.to_vec(), &in_order(indicators, names, input)?)?
                        } else {
                            table.require_labels(file)?.as_classes(names)
                        };
                        Some(Answers::Labels(Cow::Owned(labels)))
                    }
                    AnyModel::Regressor(_) => {
                        let targets = Targets::single(targets_of(table.require_labels(file)?, file, 0)?)?;
                        Some(Answers::Targets(Cow::Owned(targets)))
                    }
                    AnyModel::OneClass(_) => None,
                };
                let (view, name) = (table.samples.view()?, shown(file).to_string());
                context.bar.say(format!("{name}: measuring"));
                let (answers, weights) = (answers.as_ref(), table.weights.as_deref());
                let data = Measurement { samples: &view, answers, weights, name };
                let html = report_html(&model, title, Some(data), threads, &monitor);
                html.map_err(|error| in_file(error, file, &table, 0))?
            }
        };
        context.bar.hide();
        write_text(Some(&self.output), &html)?;
        context.note(&format!("{}: the report", self.output.display()));
        Ok(())
    }
}
