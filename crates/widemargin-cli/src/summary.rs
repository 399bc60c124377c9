//! A trained model: written to its file, and what is told of it.

use std::path::Path;

use indicatif::DecimalBytes;
use serde_json::{Value, json};
use widemargin::Result;
use widemargin::model::{Classifier, OneClass, Regressor};
use widemargin::problem::RegressionLoss;
use widemargin::solve::Report;
use widemargin_io::Table;

use crate::context::Context;
use crate::details::findings;
use crate::model::{report_json, stages};
use crate::samples::{count_nonzeros, extent};

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
    pub fn of(table: &Table, model: &dyn Classifier) -> Result<Self> {
        Trained::with_features(table, model.n_features())
    }

    /// The same for a regression model.
    pub fn numbers_of(table: &Table, model: &dyn Regressor) -> Result<Self> {
        Trained::with_features(table, model.n_features())
    }

    /// The same for a model of one class.
    pub fn one_class_of(table: &Table, model: &dyn OneClass) -> Result<Self> {
        Trained::with_features(table, model.n_features())
    }

    fn with_features(table: &Table, n_features: Option<usize>) -> Result<Self> {
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
    fn json(&self, (method, output): (&str, &Path), report: &Report, seconds_read: f64) -> Value {
        json!({
            "method": method,
            "model": output.display().to_string(),
            "n_samples": self.n_samples,
            "samples": self.kind,
            "n_nonzero": self.n_nonzero,
            "report": report_json(report),
            "seconds_read": seconds_read,
            "model_bytes": size_of_file(output),
        })
    }
}

/// What is told of a trained model.
pub struct Summary<'a> {
    model: &'a dyn Classifier,
    samples: Trained,
    seconds_read: f64,
    output: &'a Path,
}

impl<'a> Summary<'a> {
    /// Writes the model to its file, whole or not at all, and prints the warnings of its fit.
    pub fn of_written(
        context: &Context,
        model: &'a dyn Classifier,
        samples: Trained,
        seconds_read: f64,
        output: &'a Path,
    ) -> Result<Self> {
        write(context, output, model.report(), |output| model.save(output))?;
        Ok(Summary { model, samples, seconds_read, output })
    }

    /// As `--json` prints it.
    pub fn json(&self, parameters: Value) -> Value {
        let model = self.model;
        let mut json = self.samples.json((model.method(), self.output), model.report(), self.seconds_read);
        json["n_features"] = json!(model.n_features());
        json["classes"] = json!(model.classes());
        json["parameters"] = parameters;
        json
    }

    /// As text, on standard error.
    pub fn summary(&self) -> String {
        let report = self.model.report();
        let notes: String = report.notes.iter().map(|note| format!("{note}\n")).collect();
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
            ending(report, self.seconds_read, self.output),
        )
    }
}

/// What is told of a trained regression model.
pub struct RegressionSummary<'a> {
    model: &'a dyn Regressor,
    samples: Trained,
    seconds_read: f64,
    output: &'a Path,
}

impl<'a> RegressionSummary<'a> {
    /// Writes the model to its file, whole or not at all, and prints the warnings of its fit.
    pub fn of_written(
        context: &Context,
        model: &'a dyn Regressor,
        samples: Trained,
        seconds_read: f64,
        output: &'a Path,
    ) -> Result<Self> {
        write(context, output, model.report(), |output| model.save(output))?;
        Ok(RegressionSummary { model, samples, seconds_read, output })
    }

    /// As `--json` prints it.
    pub fn json(&self, parameters: &Value) -> Value {
        let model = self.model;
        let mut json = self.samples.json((model.method(), self.output), model.report(), self.seconds_read);
        json["n_features"] = json!(model.n_features());
        json["n_outputs"] = json!(model.n_outputs());
        json["parameters"] = parameters.clone();
        json["chosen"] = json!(model.parameters());
        json
    }

    /// As text, on standard error.
    pub fn summary(&self) -> String {
        let report = self.model.report();
        let notes: String = report.notes.iter().map(|note| format!("{note}\n")).collect();
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
        let end = ending(report, self.seconds_read, self.output);
        format!("{}, regression\n{found}{notes}{end}", self.samples.extent)
    }
}

/// What is told of a trained model of one class.
pub struct OneClassSummary<'a> {
    model: &'a dyn OneClass,
    samples: Trained,
    seconds_read: f64,
    output: &'a Path,
}

impl<'a> OneClassSummary<'a> {
    /// Writes the model to its file, whole or not at all, and prints the warnings of its fit.
    pub fn of_written(
        context: &Context,
        model: &'a dyn OneClass,
        samples: Trained,
        seconds_read: f64,
        output: &'a Path,
    ) -> Result<Self> {
        write(context, output, model.report(), |output| model.save(output))?;
        Ok(OneClassSummary { model, samples, seconds_read, output })
    }

    /// As `--json` prints it.
    pub fn json(&self, parameters: &Value) -> Value {
        let model = self.model;
        let mut json = self.samples.json((model.method(), self.output), model.report(), self.seconds_read);
        json["n_features"] = json!(model.n_features());
        json["parameters"] = parameters.clone();
        json["chosen"] = json!(model.parameters());
        json
    }

    /// As text, on standard error.
    pub fn summary(&self) -> String {
        let report = self.model.report();
        let notes: String = report.notes.iter().map(|note| format!("{note}\n")).collect();
        let (threshold, quantile) = (self.model.threshold(), self.model.quantile());
        let found = format!("outliers score below {threshold:.4}, as {quantile} of left-out samples do\n");
        let end = ending(report, self.seconds_read, self.output);
        format!("{}, one class\n{found}{notes}{end}", self.samples.extent)
    }
}

/// The last lines of a summary: seconds and the file.
fn ending(report: &Report, seconds_read: f64, output: &Path) -> String {
    let seconds = seconds_read + report.seconds();
    let size = DecimalBytes(size_of_file(output));
    format!("{seconds:.2} s: read {seconds_read:.2}, {}\n{}: {size}", stages(report), output.display())
}

/// Writes a model to its file, and prints the warnings of its fit.
fn write(context: &Context, output: &Path, report: &Report, save: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    context.bar.say(format!("writing {}", output.display()));
    save(output)?;
    context.bar.hide();
    for warning in &report.warnings {
        context.note(&format!("warning: {warning}"));
    }
    Ok(())
}

fn size_of_file(file: &Path) -> u64 {
    std::fs::metadata(file).map_or(0, |file| file.len())
}
