//! `widemargin train`: trains a model on a file of labelled samples.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, Command, Subcommand};
use indicatif::DecimalBytes;
use serde_json::{Value, json};
use widemargin::Result;
use widemargin::model::Classifier;
use widemargin_io::Table;

use crate::args::Input;
use crate::auto::AutoArgs;
use crate::commands::choice::{Choice, Chosen, Task};
use crate::context::Context;
use crate::details::findings;
use crate::labels::check_labels;
use crate::method::{Data, Method};
use crate::model::{report_json, stages};
use crate::output::{check_model_file, print_json};
use crate::report::{Failure, in_file};
use crate::resources::{Folders, Memory, OnDisk};
use crate::samples::{count_nonzeros, extent};

/// Arguments of `train`.
#[derive(Debug, Args)]
pub struct Train {
    #[command(subcommand)]
    method: Trainable,
}

/// A method, or the one that suits the samples.
#[derive(Debug, Subcommand)]
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
        let (files, point) = (self, method.single(&context.common, self.memory.memory)?);
        let (data, output) = (&files.input.data, &files.output);
        check_model_file(output, &files.input)?;
        files.folders.check(&files.input)?;
        let started = Instant::now();
        let sink = |progress| context.bar.fit("", progress);
        let monitor = context.monitor(&sink);
        let in_blocks = M::fits_blocks(&point.params) && files.folders.ask_for_blocks(files.memory);
        let (model, samples, seconds_read) = if in_blocks {
            let on_disk = OnDisk::open(context, data, &files.input.options(), files.memory, (&files.folders, output))?;
            let seconds = started.elapsed().as_secs_f64();
            check_labels(context, &files.input, on_disk.outline())?;
            let model = on_disk
                .fit::<M>(data, &monitor, &point.params)?
                .with_feature_names(on_disk.outline().feature_names.clone())?;
            let n_samples = on_disk.n_samples();
            (model, Trained { n_samples, kind: "vectors", n_nonzero: None, extent: on_disk.extent() }, seconds)
        } else {
            let (table, seconds) = context.read(data, &files.input.options())?;
            check_labels(context, &files.input, &table)?;
            let model = M::fit(&point.params, Data::Samples(&table.samples), table.require_labels(data)?, &monitor);
            let model = model.map_err(|error| in_file(error, data, &table, 0))?;
            let model = model.with_feature_names(table.feature_names.clone())?;
            let samples = Trained::of(&table, &*model)?;
            (model, samples, seconds)
        };
        context.bar.say(format!("writing {}", output.display()));
        model.save(output)?;
        context.bar.hide();
        let summary = Summary { model: &*model, samples, seconds_read, output };
        for warning in &model.report().warnings {
            context.note(&format!("warning: {warning}"));
        }
        if files.json {
            return print_json(&summary.json(point.json));
        }
        context.note(&summary.summary());
        Ok(())
    }
}

/// The training data.
struct Trained {
    n_samples: usize,
    kind: &'static str,
    /// `None` for samples on disk, which are not counted.
    n_nonzero: Option<u64>,
    /// The size of the data in the summary.
    extent: String,
}

impl Trained {
    fn of(table: &Table, model: &dyn Classifier) -> Result<Self> {
        let n_features = model.n_features();
        Ok(Trained {
            n_samples: table.samples.n_rows(),
            kind: table.samples.kind(),
            n_nonzero: n_features.map(|_| count_nonzeros(&table.samples)).transpose()?,
            extent: extent(&table.samples, n_features.unwrap_or(0))?,
        })
    }
}

struct Summary<'a> {
    model: &'a dyn Classifier,
    samples: Trained,
    seconds_read: f64,
    output: &'a Path,
}

impl Summary<'_> {
    fn json(&self, parameters: Value) -> Value {
        json!({
            "method": self.model.method(),
            "model": self.output.display().to_string(),
            "n_samples": self.samples.n_samples,
            "samples": self.samples.kind,
            "n_features": self.model.n_features(),
            "n_nonzero": self.samples.n_nonzero,
            "classes": self.model.classes(),
            "parameters": parameters,
            "report": report_json(self.model.report()),
            "seconds_read": self.seconds_read,
            "model_bytes": self.size(),
        })
    }

    fn summary(&self) -> String {
        let report = self.model.report();
        let notes: String = report.notes.iter().map(|note| format!("{note}\n")).collect();
        format!(
            "{}, {} classes\n\
             {} after {} {}, largest relative duality gap {:.1e}\n{}{notes}\
             {:.2} s: read {:.2}, {}\n\
             {}: {}",
            self.samples.extent,
            self.model.classes().len(),
            report.status.as_str(),
            report.max_iterations(),
            self.model.iterations(),
            report.gap(),
            findings(self.model).map(|line| line + "\n").unwrap_or_default(),
            self.seconds_read + report.seconds(),
            self.seconds_read,
            stages(report),
            self.output.display(),
            DecimalBytes(self.size()),
        )
    }

    fn size(&self) -> u64 {
        std::fs::metadata(self.output).map_or(0, |file| file.len())
    }
}
