//! `widemargin report`: a page on a model.

use std::path::PathBuf;

use clap::{ArgMatches, Args, Command, FromArgMatches};
use widemargin_report::Report;

use crate::args::Input;
use crate::context::Context;
use crate::label_scores::{labels_of_model, no_labels};
use crate::model::{load, load_for, read_for};
use crate::output::{Output, check_folder, check_output};
use crate::report::{Failure, in_file, shown};

/// Arguments of `report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// The model file
    model: PathBuf,
    #[command(flatten)]
    input: OptionalInput,
    /// The HTML file to write: one file without requests to others, for screens and paper
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// Labeled samples to measure the model on, or none.
#[derive(Clone, Debug)]
struct OptionalInput(Option<Input>);

impl Args for OptionalInput {
    fn augment_args(command: Command) -> Command {
        // In an update nothing is required.
        Input::augment_args_for_update(command).mut_arg("data", |data| {
            data.help("Labeled samples to measure the model on, such as those that training did not see")
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for OptionalInput {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let is_given = matches.contains_id("data");
        Ok(OptionalInput(if is_given { Some(Input::from_arg_matches(matches)?) } else { None }))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl ReportArgs {
    /// Runs the command.
    pub fn run(self, context: &Context) -> Result<(), Failure> {
        let title = shown(&self.model).to_string();
        let (threads, sink) = (context.common.threads, |_| ());
        let monitor = context.monitor(&sink);
        let html = match &self.input.0 {
            None => {
                check_folder(&self.output)?;
                widemargin::output::check(&self.output, &[("the model", &self.model)])?;
                let model = load(&self.model)?;
                Report { model: &*model, title, data: None }.html(threads, &monitor)?
            }
            Some(input) => {
                check_output(&self.output, input, Some(&self.model))?;
                let model = load_for(&self.model, input)?;
                let table = read_for(&*model, input, input.label.clone().unwrap_or_default(), context)?;
                let file = &input.data;
                let labels = match (model.is_multilabel(), &table.indicators) {
                    (true, Some(several)) => labels_of_model(several, model.classes(), input)?,
                    (true, None) => return Err(no_labels(input)),
                    (false, _) => table.require_labels(file)?.as_classes(model.classes()),
                };
                let view = table.samples.view()?;
                let name = shown(file).to_string();
                context.bar.say(format!("{name}: measuring"));
                let data = Some((&view, &labels, table.weights.as_deref(), name));
                Report { model: &*model, title, data }
                    .html(threads, &monitor)
                    .map_err(|error| in_file(error, file, &table, 0))?
            }
        };
        context.bar.hide();
        let mut output = Output::open(Some(&self.output))?;
        output.write(html.as_bytes())?;
        output.finish()?;
        context.note(&format!("{}: the report", self.output.display()));
        Ok(())
    }
}
