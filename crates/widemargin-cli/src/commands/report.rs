//! `widemargin report`: a page on a model.

use std::path::PathBuf;

use clap::Args;
use widemargin::data::Targets;
use widemargin::model::AnyModel;
use widemargin_report::{OneClassReport, RegressionReport, Report};

use crate::args::Input;
use crate::context::Context;
use crate::label_scores::{labels_of_model, require_indicators};
use crate::model::{load_for, read_for};
use crate::output::{check_folder, check_output, write_text};
use crate::report::{Failure, in_file, shown};
use crate::task::targets_of;

/// Arguments of `report`.
#[derive(Debug, Args)]
#[command(mut_arg("data", |data| data.required(false).help("Labeled samples on which the model is measured")))]
pub struct ReportArgs {
    /// Model file
    model: PathBuf,
    /// HTML file to write
    ///
    /// One file without requests to others, for screens and paper.
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
        let html = match &self.input {
            None => {
                check_folder(&self.output)?;
                widemargin::output::check(&self.output, &[("the model", &self.model)])?;
                let model = AnyModel::load(&self.model)?;
                match &model {
                    AnyModel::Classifier(model) => {
                        Report { model: &**model, title, data: None }.html(threads, &monitor)
                    }
                    AnyModel::Regressor(model) => {
                        RegressionReport { model: &**model, title, data: None }.html(threads, &monitor)
                    }
                    AnyModel::OneClass(model) => {
                        OneClassReport { model: &**model, title, data: None }.html(threads, &monitor)
                    }
                }?
            }
            Some(input) => {
                check_output(&self.output, input, Some(&self.model))?;
                let any = load_for(&self.model, input)?;
                let file = &input.data;
                let table = read_for(&any, input, input.label.clone().unwrap_or_default(), context)?;
                let (view, name, weights) = (table.samples.view()?, shown(file).to_string(), table.weights.as_deref());
                context.bar.say(format!("{name}: measuring"));
                let html = match &any {
                    AnyModel::Classifier(model) => {
                        let names = model.classes();
                        let labels = match model.is_multilabel() {
                            true => labels_of_model(require_indicators(&table.indicators, input)?, names, input)?,
                            false => table.require_labels(file)?.as_classes(names),
                        };
                        let data = Some(((&view, &labels, weights), name));
                        Report { model: &**model, title, data }.html(threads, &monitor)
                    }
                    AnyModel::Regressor(model) => {
                        let targets = Targets::single(targets_of(table.require_labels(file)?, file, 0)?)?;
                        let data = Some((&view, &targets, weights, name));
                        RegressionReport { model: &**model, title, data }.html(threads, &monitor)
                    }
                    AnyModel::OneClass(model) => {
                        OneClassReport { model: &**model, title, data: Some((&view, name)) }.html(threads, &monitor)
                    }
                };
                html.map_err(|error| in_file(error, file, &table, 0))?
            }
        };
        context.bar.hide();
        write_text(Some(&self.output), &html)?;
        context.note(&format!("{}: the report", self.output.display()));
        Ok(())
    }
}
