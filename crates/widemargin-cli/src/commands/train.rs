//! `widemargin train`: a file of labelled samples into a model file.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use widemargin::Result;
use widemargin_io::Table;

use crate::args::Input;
use crate::basis_expansion::BasisExpansionArgs;
use crate::context::Context;
use crate::machine::{Machine, report_json};
use crate::method::{Method, Point};
use crate::output::{check_model_file, print_json};
use crate::power_mean::PowerMeanArgs;
use crate::report::{Failure, in_file};
use crate::samples::{count_nonzeros, extent, kind};
use crate::text_table::bytes;
use crate::thin_plate::ThinPlateArgs;

/// Arguments of `train`.
#[derive(Debug, Args)]
pub struct Train {
    #[command(subcommand)]
    method: Choice,
}

#[derive(Debug, Subcommand)]
enum Choice {
    /// Basis expansion SVM: any similarity, on a few bases
    BasisExpansion(Task<BasisExpansionArgs>),
    /// Power mean SVM: additive kernels on histograms, features of at least 0
    PowerMean(Task<PowerMeanArgs>),
    /// Thin plate SVM: nothing to tune, for a few to some thousand columns of numbers
    ThinPlate(Task<ThinPlateArgs>),
}

#[derive(Debug, Args)]
struct Task<M: Args> {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    method: M,
}

#[derive(Debug, Args)]
struct Files {
    #[command(flatten)]
    input: Input,
    /// The model file to write
    #[arg(short, long, value_name = "MODEL")]
    output: PathBuf,
    /// Print one JSON object instead of a summary
    #[arg(long)]
    json: bool,
}

impl Train {
    /// Runs the command.
    pub fn run(self, context: &Context) -> Result<(), Failure> {
        match self.method {
            Choice::BasisExpansion(task) => task.run(context),
            Choice::PowerMean(task) => task.run(context),
            Choice::ThinPlate(task) => task.run(context),
        }
    }
}

impl<M: Method> Task<M> {
    fn run(self, context: &Context) -> Result<(), Failure> {
        train(context, &self.files, self.method.single(&context.common)?)
    }
}

/// What all methods have in common: check, read, fit, save, tell.
fn train(context: &Context, files: &Files, point: Point) -> Result<(), Failure> {
    let (data, output) = (&files.input.data, &files.output);
    check_model_file(output)?;
    if let (Ok(from), Ok(to)) = (data.canonicalize(), output.canonicalize())
        && from == to
    {
        return Err(Failure::input(format!("{}: is the data itself", output.display())));
    }
    let (table, seconds_read) = context.read(data, &files.input.options())?;
    let labels = table.require_labels(data)?;
    let sink = |progress| context.bar.fit("", progress);
    let machine = (point.fit)(&table.samples, labels, &context.watch(&sink));
    let machine = machine.map_err(|error| in_file(error, data, &table, 0))?;
    context.bar.say(format!("writing {}", output.display()));
    machine.save(output)?;
    context.bar.hide();
    let told = Told { machine: &machine, table: &table, seconds_read, output };
    for warning in &machine.report().warnings {
        context.note(&format!("warning: {warning}"));
    }
    if files.json {
        return print_json(&told.json(point.json)?);
    }
    context.note(&told.summary()?);
    Ok(())
}

struct Told<'a> {
    machine: &'a Machine,
    table: &'a Table,
    seconds_read: f64,
    output: &'a Path,
}

impl Told<'_> {
    fn json(&self, parameters: Value) -> Result<Value> {
        Ok(json!({
            "method": self.machine.method(),
            "model": self.output.display().to_string(),
            "n_samples": self.table.samples.n_rows(),
            "samples": kind(&self.table.samples),
            "n_features": self.machine.n_features(),
            "n_nonzero": self.machine.n_features().map(|_| count_nonzeros(&self.table.samples)).transpose()?,
            "classes": self.machine.classes(),
            "parameters": parameters,
            "report": report_json(self.machine.report()),
            "seconds_read": self.seconds_read,
            "model_bytes": self.size(),
        }))
    }

    fn summary(&self) -> Result<String> {
        let report = self.machine.report();
        let stages: Vec<_> = report.stages.iter().map(|s| format!("{} {:.2}", s.name, s.seconds)).collect();
        Ok(format!(
            "{}, {} classes\n\
             {} after {} {}, largest relative duality gap {:.1e}\n{}\
             {:.2} s: read {:.2}, {}\n\
             {}: {}",
            extent(&self.table.samples, self.machine.n_features().unwrap_or(0))?,
            self.machine.classes().len(),
            report.status.as_str(),
            report.max_iterations(),
            self.machine.iterations(),
            report.gap(),
            self.machine.findings().map(|line| line + "\n").unwrap_or_default(),
            self.seconds_read + report.seconds(),
            self.seconds_read,
            stages.join(", "),
            self.output.display(),
            bytes(self.size()),
        ))
    }

    fn size(&self) -> u64 {
        std::fs::metadata(self.output).map_or(0, |file| file.len())
    }
}
