//! `widemargin train`: trains a model on a file of labelled samples.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, Command, Subcommand};
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
use crate::summary::{OneClassSummary, RegressionSummary, Summary, Trained};
use crate::task::{Regression, TaskName, check_classes, targets_of};
use crate::training_data::Data;

/// Arguments of `train`.
#[derive(Debug, Args)]
pub struct Train {
    #[command(subcommand)]
    method: Trainable,
}

/// A method, or the one that suits the samples.
#[derive(Debug, Subcommand)]
#[expect(clippy::large_enum_variant, reason = "there is one, of one command")]
enum Trainable {
    /// Whichever method suits the samples, with nothing to choose: `train DATA` is `train auto DATA`
    Auto(Chosen<Files, AutoArgs>),
    #[command(flatten)]
    Method(Choice<Files>),
}

/// The command line in which `train DATA` is `train auto DATA`; `program` has all commands.
pub fn with_auto(mut words: Vec<OsString>, program: &Command) -> Vec<OsString> {
    // The first word that is a command is the command: others may be files of that name.
    let is_command = |word: &OsString| program.find_subcommand(word).is_some();
    let Some(at) = words.iter().position(is_command).filter(|&at| words[at] == "train") else { return words };
    let Some(train) = program.find_subcommand("train") else { return words };
    let names_a_method = |place: usize| {
        let word = &words[place];
        let is_help = ["help", "-h", "--help"].iter().any(|help| word == help);
        // What `--methods` takes is no subcommand.
        (is_help || train.find_subcommand(word).is_some()) && words[place - 1] != "--methods"
    };
    if at + 1 < words.len() && !(at + 1..words.len()).any(names_a_method) {
        words.insert(at + 1, "auto".into());
    }
    words
}

#[derive(Debug, Args)]
struct Files {
    #[command(flatten)]
    input: Input,
    /// The model file to write
    #[arg(short, long, value_name = "MODEL")]
    output: PathBuf,
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

impl Train {
    /// Runs the command.
    pub fn run(self, context: &Context) -> Result<(), Failure> {
        match self.method {
            Trainable::Auto(auto) => auto.run(context),
            Trainable::Method(method) => method.run(context),
        }
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
        let (model, samples, seconds_read) = if in_blocks {
            files.input.check_blocks()?;
            let on_disk = OnDisk::open(context, data, &files.input.options(), files.memory, (&files.folders, output))?;
            let seconds = started.elapsed().as_secs_f64();
            check_classes(context, files.task, M::REGRESSES, &files.input, on_disk.outline())?;
            describe_labels(context, on_disk.outline());
            let model = on_disk
                .fit::<M>(data, &monitor, &point.params)?
                .with_feature_names(on_disk.outline().feature_names.clone())?;
            let n_samples = on_disk.n_samples();
            (model, Trained::on_disk(n_samples, on_disk.extent()), seconds)
        } else {
            let (table, seconds) = context.read(data, &files.input.options_to_learn())?;
            check_classes(context, files.task, M::REGRESSES, &files.input, &table)?;
            describe_labels(context, &table);
            let samples = Data::Samples(&table.samples, table.weights.as_deref());
            let labels = table.one_or_several_labels(data)?;
            let model = M::fit(&point.params, samples, &labels, &monitor);
            let model = named(model.map_err(|error| in_file(error, data, &table, 0))?, &table)?;
            let samples = Trained::of(&table, &*model)?;
            (model, samples, seconds)
        };
        let summary = Summary::of_written(context, &*model, samples, seconds_read, output)?;
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
        let summary = OneClassSummary::of_written(context, &*model, samples, seconds_read, output)?;
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
            (model, Trained::on_disk(on_disk.n_samples(), on_disk.extent()), seconds)
        } else {
            let (table, seconds) = context.read(data, &self.input.options_to_learn())?;
            let model = regression.model((data, &table), &targets(&table)?, &monitor)?;
            let samples = Trained::numbers_of(&table, &*model)?;
            (model, samples, seconds)
        };
        let summary = RegressionSummary::of_written(context, &*model, samples, seconds_read, output)?;
        if self.json {
            return print_json(&summary.json(&point.json));
        }
        context.note(&summary.summary());
        Ok(())
    }
}
