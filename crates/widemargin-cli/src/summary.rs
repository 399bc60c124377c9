//! A trained model: written to its file, and what is told of it.

use std::path::Path;
use std::sync::atomic::Ordering;

use clap::Args;
use indicatif::DecimalBytes;
use serde_json::{Value, json};
use widemargin::model::{Classifier, OneClass, Regressor};
use widemargin::problem::RegressionLoss;
use widemargin::solve::Report;
use widemargin_io::Table;

use crate::cancel::CANCELLED;
use crate::context::Context;
use crate::details::findings;
use crate::model::{report_json, stages};
use crate::readable::{beginning, rounded};
use crate::report::{Failure, cancelled};
use crate::samples::{count_nonzeros, extent};

/// What becomes of a fit that is stopped.
#[derive(Clone, Copy, Debug, Args)]
pub struct Stopping {
    /// Write the model of a fit that was stopped before it had used all samples, if there is one: by --time-limit, or by
    /// a signal such as Ctrl-C. Otherwise nothing is written, and a model file that is there already is left as it is
    #[arg(long)]
    keep_partial: bool,
}

impl Stopping {
    /// Refuses to write the model of a fit that was stopped, unless it is to be kept.
    fn check(self, output: &Path, report: &Report) -> Result<(), Failure> {
        if self.keep_partial {
            return Ok(());
        }
        if CANCELLED.load(Ordering::SeqCst) {
            return Err(cancelled());
        }
        if report.is_partial() {
            let why = report.warnings.join("; ");
            let failure = Failure::work(format!("{}: the model was not written: {why}", output.display()));
            return Err(failure.help("allow more time, or pass --keep-partial to write such a model"));
        }
        Ok(())
    }
}

/// The training data.
pub struct Trained {
    n_samples: usize,
    kind: &'static str,
    /// `None` for samples on disk, which are not counted.
    n_nonzero: Option<u64>,
    /// The size of the data in the summary.
    extent: String,
}

impl Trained {
    /// A table that is in memory.
    pub fn of(table: &Table, model: &dyn Classifier) -> widemargin::Result<Self> {
        Trained::with_features(table, model.n_features())
    }

    /// The same for a regression model.
    pub fn numbers_of(table: &Table, model: &dyn Regressor) -> widemargin::Result<Self> {
        Trained::with_features(table, model.n_features())
    }

    /// The same for a model of one class.
    pub fn one_class_of(table: &Table, model: &dyn OneClass) -> widemargin::Result<Self> {
        Trained::with_features(table, model.n_features())
    }

    fn with_features(table: &Table, n_features: Option<usize>) -> widemargin::Result<Self> {
        Ok(Trained {
            n_samples: table.samples.n_rows(),
            kind: table.samples.kind(),
            n_nonzero: n_features.map(|_| count_nonzeros(&table.samples)).transpose()?,
            extent: extent(&table.samples, n_features.unwrap_or(0))?,
        })
    }

    /// Vectors on disk, which are not counted.
    pub fn on_disk(n_samples: usize, extent: String) -> Self {
        Trained { n_samples, kind: "vectors", n_nonzero: None, extent }
    }

    /// What is told of models of classes and of numbers alike.
    fn json(&self, (method, output): (&str, &Path), report: &Report, (seconds_read, seconds): (f64, f64)) -> Value {
        json!({
            "method": method,
            "model": output.display().to_string(),
            "n_samples": self.n_samples,
            "samples": self.kind,
            "n_nonzero": self.n_nonzero,
            "report": report_json(report),
            "seconds_read": seconds_read,
            "seconds": seconds,
            "model_bytes": size_of_file(output),
        })
    }
}

/// What is told of a trained model.
pub struct Summary<'a> {
    model: &'a dyn Classifier,
    samples: Trained,
    /// Seconds to read the samples, and of everything.
    seconds: (f64, f64),
    output: &'a Path,
}

impl<'a> Summary<'a> {
    /// Writes the model to its file, whole or not at all, and prints the warnings of its fit.
    pub fn of_written(
        context: &Context,
        model: &'a dyn Classifier,
        samples: Trained,
        seconds_read: f64,
        (output, stopping): (&'a Path, Stopping),
    ) -> Result<Self, Failure> {
        write(context, (output, stopping), model.report(), |output| model.save(output))?;
        Ok(Summary { model, samples, seconds: (seconds_read, context.seconds()), output })
    }

    /// As `--json` prints it.
    pub fn json(&self, parameters: Value) -> Value {
        let model = self.model;
        let mut json = self.samples.json((model.method(), self.output), model.report(), self.seconds);
        json["n_features"] = json!(model.n_features());
        json["classes"] = json!(model.classes());
        json["parameters"] = parameters;
        json
    }

    /// As text, on standard error.
    pub fn summary(&self) -> String {
        let report = self.model.report();
        let notes = notes(report);
        format!(
            "{}, {} classes\n\
             {} after {} {}, largest relative duality gap {:.1e}\n{}{notes}{}",
            self.samples.extent,
            self.model.classes().len(),
            report.status.as_str(),
            report.max_iterations(),
            self.model.iterations(),
            report.gap(),
            findings(self.model).map(|line| line + "\n").unwrap_or_default(),
            ending(report, self.seconds, self.output),
        )
    }
}

/// What is told of a trained regression model.
pub struct RegressionSummary<'a> {
    model: &'a dyn Regressor,
    samples: Trained,
    /// Seconds to read the samples, and of everything.
    seconds: (f64, f64),
    output: &'a Path,
}

impl<'a> RegressionSummary<'a> {
    /// Writes the model to its file, whole or not at all, and prints the warnings of its fit.
    pub fn of_written(
        context: &Context,
        model: &'a dyn Regressor,
        samples: Trained,
        seconds_read: f64,
        (output, stopping): (&'a Path, Stopping),
    ) -> Result<Self, Failure> {
        write(context, (output, stopping), model.report(), |output| model.save(output))?;
        Ok(RegressionSummary { model, samples, seconds: (seconds_read, context.seconds()), output })
    }

    /// As `--json` prints it.
    pub fn json(&self, parameters: &Value) -> Value {
        let model = self.model;
        let mut json = self.samples.json((model.method(), self.output), model.report(), self.seconds);
        json["n_features"] = json!(model.n_features());
        json["n_outputs"] = json!(model.n_outputs());
        json["parameters"] = parameters.clone();
        json["chosen"] = json!(model.parameters());
        json
    }

    /// As text, on standard error.
    pub fn summary(&self) -> String {
        let report = self.model.report();
        let notes = notes(report);
        let c = self.model.c();
        let numbers = |numbers: &[f64]| numbers.iter().map(|x| format!("{x:.4e}")).collect::<Vec<_>>().join(", ");
        let found = match (self.model.chosen(), self.model.chosen_loss()) {
            (Some(point), _) => {
                let (r2, errors) = (point.loo_r2, numbers(&point.loo_rmse));
                format!("C = {c:.4e}; of left-out samples R² {r2:.4}, root mean squared error {errors}\n")
            }
            (None, Some(point)) => {
                let whose = match self.model.loss() {
                    RegressionLoss::Quantile { .. } => "left-out folds",
                    _ => "left-out samples",
                };
                let (loss, d2, losses) = (self.model.loss().name(), point.d2, numbers(&point.loss));
                format!("C = {c:.4e}; of {whose} D² {d2:.4}, mean {loss} loss {losses}\n")
            }
            (None, None) => format!("C = {c:.4e}; leave-one-out says nothing\n"),
        };
        let end = ending(report, self.seconds, self.output);
        format!("{}, regression\n{found}{notes}{end}", self.samples.extent)
    }
}

/// What is told of a trained model of one class.
pub struct OneClassSummary<'a> {
    model: &'a dyn OneClass,
    samples: Trained,
    /// Seconds to read the samples, and of everything.
    seconds: (f64, f64),
    output: &'a Path,
}

impl<'a> OneClassSummary<'a> {
    /// Writes the model to its file, whole or not at all, and prints the warnings of its fit.
    pub fn of_written(
        context: &Context,
        model: &'a dyn OneClass,
        samples: Trained,
        seconds_read: f64,
        (output, stopping): (&'a Path, Stopping),
    ) -> Result<Self, Failure> {
        write(context, (output, stopping), model.report(), |output| model.save(output))?;
        Ok(OneClassSummary { model, samples, seconds: (seconds_read, context.seconds()), output })
    }

    /// As `--json` prints it.
    pub fn json(&self, parameters: &Value) -> Value {
        let model = self.model;
        let mut json = self.samples.json((model.method(), self.output), model.report(), self.seconds);
        json["n_features"] = json!(model.n_features());
        json["parameters"] = parameters.clone();
        json["chosen"] = json!(model.parameters());
        json
    }

    /// As text, on standard error.
    pub fn summary(&self) -> String {
        let report = self.model.report();
        let notes = notes(report);
        let (threshold, quantile) = (self.model.threshold(), self.model.quantile());
        let found = format!("outliers score below {threshold:.4}, as {quantile} of left-out samples do\n");
        let end = ending(report, self.seconds, self.output);
        format!("{}, one class\n{found}{notes}{end}", self.samples.extent)
    }
}

/// Notes of a fit, a line each; `inspect` prints them whole.
fn notes(report: &Report) -> String {
    report.notes.iter().map(|note| beginning(&rounded(note)) + "\n").collect()
}

/// The last lines of a summary: seconds and the file.
fn ending(report: &Report, (seconds_read, seconds): (f64, f64), output: &Path) -> String {
    // What no stage counts, such as the choice of parameters on a part of the samples.
    let others = seconds - seconds_read - report.seconds();
    let others = if others >= 0.01 { format!(", search and others {others:.2}") } else { String::new() };
    let size = DecimalBytes(size_of_file(output));
    format!("{seconds:.2} s: read {seconds_read:.2}, {}{others}\n{}: {size}", stages(report), output.display())
}

/// Writes a model to its file, and prints the warnings of its fit.
fn write(
    context: &Context,
    (output, stopping): (&Path, Stopping),
    report: &Report,
    save: impl FnOnce(&Path) -> widemargin::Result<()>,
) -> Result<(), Failure> {
    stopping.check(output, report)?;
    context.bar.say(format!("writing {}", output.display()));
    save(output)?;
    context.bar.hide();
    for warning in &report.warnings {
        context.warn(warning);
    }
    Ok(())
}

fn size_of_file(file: &Path) -> u64 {
    std::fs::metadata(file).map_or(0, |file| file.len())
}
