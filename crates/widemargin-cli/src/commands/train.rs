//! `widemargin train`: trains a model on a file of labeled samples.

use std::path::PathBuf;
use std::time::Instant;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, Subcommand};
use widemargin::data::Targets;
use widemargin_io::Table;

use crate::args::Input;
use crate::auto::AutoArgs;
use crate::commands::choice::{Choice, Chosen, Task};
use crate::context::Context;
use crate::labels::describe_labels;
use crate::method::{Method, Point};
use crate::model::named;
use crate::one_class::{OneClassFit, tell_of_labels};
use crate::output::{check_model_file, print_json};
use crate::report::{Failure, in_file};
use crate::resources::{Folders, Memory, OnDisk};
use crate::summary::{OneClassSummary, RegressionSummary, Stopping, Summary, Trained};
use crate::task::{Regression, TaskName, check_classes, targets_of};
use crate::training_data::Data;

/// A method with its options, or the one that suits the samples.
#[derive(Debug, Subcommand)]
#[expect(clippy::large_enum_variant, reason = "there is one, of one command")]
pub enum Train {
    /// Whichever method suits the samples, with nothing to choose: `train DATA` is `train auto DATA`
    Auto(Chosen<Files, AutoArgs>),
    #[command(flatten)]
    Method(Choice<Files>),
}

/// The arguments of `train`: those of a subcommand, or of `auto` without its name.
#[derive(Debug)]
pub struct TrainArgs(Train);

impl FromArgMatches for TrainArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let Some(method) = matches.subcommand_name() else {
            return Chosen::from_arg_matches(matches).map(|auto| TrainArgs(Train::Auto(auto)));
        };
        let auto = Chosen::<Files, AutoArgs>::augment_args(Command::new("train"));
        let is_passed = |arg: &&Arg| matches.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine);
        match auto.get_arguments().find(is_passed) {
            None => Train::from_arg_matches(matches).map(TrainArgs),
            Some(arg) => {
                let told = format!("the method comes first: `train {method}`, then {arg} and others\n");
                Err(clap::Error::raw(ErrorKind::ArgumentConflict, told))
            }
        }
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for TrainArgs {
    fn augment_args(command: Command) -> Command {
        let command = Train::augment_subcommands(Chosen::<Files, AutoArgs>::augment_args(command));
        command.subcommand_required(false).arg_required_else_help(true).subcommand_negates_reqs(true)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// The samples of a fit and its results.
#[derive(Debug, Args)]
pub struct Files {
    #[command(flatten)]
    input: Input,
    /// The model file to write
    #[arg(short, long, value_name = "MODEL")]
    output: PathBuf,
    #[command(flatten)]
    stopping: Stopping,
    #[command(flatten)]
    memory: Memory,
    #[command(flatten)]
    folders: Folders,
    /// Whether labels are classes or numbers to predict; one-class leaves them aside and learns to tell samples that are
    /// unlike those of the file. Without it they are classes, and labels that may be either are refused: numbers with
    /// fractions, or many different ones. basis-expansion and thin-plate predict numbers, basis-expansion learns one class
    #[arg(long, value_name = "TASK")]
    task: Option<TaskName>,
    /// Print one JSON object instead of a summary
    #[arg(long)]
    json: bool,
}

impl TrainArgs {
    /// Runs the command.
    pub fn run(self, context: &Context) -> Result<(), Failure> {
        match self.0 {
            Train::Auto(auto) => auto.run(context),
            Train::Method(method) => method.run(context),
        }?;
        context.check_interrupted()
    }
}

impl Task for Files {
    /// Common to all methods: check, read, fit, save, report.
    fn run<M: Method>(&self, method: &M, context: &Context) -> Result<(), Failure> {
        if self.task == Some(TaskName::OneClass) {
            method.check_single()?;
            return self.run_one_class(&method.one_class(&context.common)?, context);
        }
        let (files, point) = (self, method.single(&context.common, self.memory.memory)?);
        let (data, output) = (&files.input.data, &files.output);
        check_model_file(output, &files.input)?;
        files.folders.check(&files.input)?;
        if files.task == Some(TaskName::Regression) {
            let mut regressions = method.regressions(&context.common, files.memory.memory)?;
            if regressions.len() > 1 {
                let failure = format!("{} combinations of values given, `train` takes one", regressions.len());
                let help = format!("`widemargin cv {}` searches lists of values", M::NAME);
                return Err(Failure::input(failure).help(help));
            }
            let regression = regressions.swap_remove(0);
            let in_blocks = M::fits_blocks(&point.params) && files.folders.ask_for_blocks(files.memory);
            return files.run_regression(&regression, in_blocks, context);
        }
        method.check_classes()?;
        let started = Instant::now();
        let sink = |progress| context.bar.fit("", progress);
        let monitor = context.monitor(&sink);
        let in_blocks = M::fits_blocks(&point.params) && files.folders.ask_for_blocks(files.memory);
        let (model, samples, described, seconds_read) = if in_blocks {
            files.input.check_blocks()?;
            let on_disk = OnDisk::open(context, data, &files.input.options(), files.memory, (&files.folders, output))?;
            let seconds = started.elapsed().as_secs_f64();
            check_classes(context, files.task, M::REGRESSES, &files.input, on_disk.outline())?;
            let described = describe_labels(on_disk.outline());
            let model = on_disk
                .fit::<M>(data, &monitor, &point.params)?
                .with_feature_names(on_disk.outline().feature_names.clone())?
                .with_column_roles(on_disk.outline().roles.clone())?;
            let n_samples = on_disk.n_samples();
            (model, Trained::on_disk(n_samples, on_disk.extent()), described, seconds)
        } else {
            let (table, seconds) = context.read(data, &files.input.options_to_learn())?;
            check_classes(context, files.task, M::REGRESSES, &files.input, &table)?;
            let samples = Data::Samples(&table.samples, table.weights.as_deref());
            let labels = table.any_labels(data)?;
            let model = M::fit(&point.params, samples, &labels, &monitor);
            let model = named(model.map_err(|error| in_file(error, data, &table, 0))?, &table)?;
            let samples = Trained::of(&table, &*model)?;
            (model, samples, describe_labels(&table), seconds)
        };
        let summary = Summary::of_written(context, &*model, samples, seconds_read, (output, self.stopping))?;
        if let Some(classes) = described {
            context.note(&classes);
        }
        if files.json {
            return print_json(&summary.json(point.json));
        }
        context.note(&summary.summary());
        Ok(())
    }
}

impl Files {
    /// Of a model of one class: read, fit, save, report.
    fn run_one_class(&self, point: &Point<OneClassFit>, context: &Context) -> Result<(), Failure> {
        let (data, output) = (&self.input.data, &self.output);
        check_model_file(output, &self.input)?;
        self.folders.check(&self.input)?;
        if self.folders.ask_for_blocks(self.memory) {
            let failure = Failure::input("--task one-class holds all samples in memory");
            return Err(failure.help("leave --memory out, or train on a part of the samples"));
        }
        let sink = |progress| context.bar.fit("", progress);
        let monitor = context.monitor(&sink);
        let (table, seconds_read) = context.read(data, &self.input.options_to_learn())?;
        tell_of_labels(context, &self.input, &table);
        let model = point.params.model((data, &table), &monitor)?;
        let samples = Trained::one_class_of(&table, &*model)?;
        let summary = OneClassSummary::of_written(context, &*model, samples, seconds_read, (output, self.stopping))?;
        if self.json {
            return print_json(&summary.json(&point.json));
        }
        context.note(&summary.summary());
        Ok(())
    }

    /// Common to all regression models: read, fit, save, report.
    fn run_regression(&self, point: &Point<Regression>, in_blocks: bool, context: &Context) -> Result<(), Failure> {
        let (data, output, regression) = (&self.input.data, &self.output, &point.params);
        let started = Instant::now();
        let sink = |progress| context.bar.fit("", progress);
        let monitor = context.monitor(&sink);
        let targets =
            |table: &Table| Ok::<_, Failure>(Targets::single(targets_of(table.require_labels(data)?, data, 0)?)?);
        let (model, samples, seconds_read) = if in_blocks {
            self.input.check_blocks()?;
            let on_disk = OnDisk::open(context, data, &self.input.options(), self.memory, (&self.folders, output))?;
            let seconds = started.elapsed().as_secs_f64();
            let targets = targets(on_disk.outline())?;
            let model = on_disk.with_samples(data, |samples| (regression.fit)(samples, &targets, &monitor))?;
            let model = model.with_feature_names(on_disk.outline().feature_names.clone())?;
            let model = model.with_column_roles(on_disk.outline().roles.clone())?;
            (model, Trained::on_disk(on_disk.n_samples(), on_disk.extent()), seconds)
        } else {
            let (table, seconds) = context.read(data, &self.input.options_to_learn())?;
            let model = regression.model((data, &table), &targets(&table)?, &monitor)?;
            let samples = Trained::numbers_of(&table, &*model)?;
            (model, samples, seconds)
        };
        let summary = RegressionSummary::of_written(context, &*model, samples, seconds_read, (output, self.stopping))?;
        if self.json {
            return print_json(&summary.json(&point.json));
        }
        context.note(&summary.summary());
        Ok(())
    }
}
