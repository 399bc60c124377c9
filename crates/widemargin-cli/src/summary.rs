//! A trained model: written to its file, and summarized in a few lines.

use std::path::Path;
use std::sync::atomic::Ordering;

use clap::Args;
use indicatif::{DecimalBytes, HumanCount};
use serde_json::{Value, json};
use widemargin::data::{AnySamples, Rows as _, Source as _};
use widemargin::model::AnyModel;
use widemargin::problem::Loss;
use widemargin::solve::{EstimateMethod, Report, Status};
use widemargin_io::{Samples, Store, Table};

use crate::cancel::CANCELLED;
use crate::context::Context;
use crate::model::{json_of, named, size_of_file};
use crate::output::joined;
use crate::readable::{plain, wrapped};
use crate::report::{Failure, cancelled};

/// What becomes of a fit that is stopped.
#[derive(Clone, Copy, Debug, Args)]
pub struct Stopping {
    /// Write the model of a stopped fit even if it is of a subset only
    ///
    /// A fit is stopped by --time-limit, or by a signal such as Ctrl-C. Without this option, a model that was fitted to
    /// a subset of the samples is not written, and an existing model file is left unchanged.
    #[arg(long)]
    keep_partial: bool,
}

impl Stopping {
    /// Refuses to write the model of a fit that was stopped, unless partial models are wanted.
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

/// A fitted model, and the training data of its summary.
pub struct Fitted {
    model: AnyModel,
    n_samples: usize,
    kind: &'static str,
    /// `None` for samples on disk, which are not counted.
    n_nonzero: Option<u64>,
    /// The size of the data in the summary.
    extent: String,
}

impl Fitted {
    /// A model of a table in memory.
    pub fn of(model: AnyModel, table: &Table) -> widemargin::Result<Self> {
        let model = named(model, table)?;
        let (samples, n_features) = (&table.samples, model.n_features());
        let n_nonzero = n_features.map(|_| count_nonzeros(samples)).transpose()?;
        let extent = extent(samples, n_features.unwrap_or(0), n_nonzero.unwrap_or(0));
        Ok(Fitted { model, n_samples: samples.n_rows(), kind: samples.kind(), n_nonzero, extent })
    }

    /// A model of vectors on disk, which are not counted.
    pub fn on_disk(model: AnyModel, store: &Store) -> widemargin::Result<Self> {
        let (n_samples, n_features) = (store.n_samples(), HumanCount(store.n_features() as u64));
        let (n, bytes) = (HumanCount(n_samples as u64), DecimalBytes(store.bytes()));
        let extent = format!("{n} samples, {n_features} features, {bytes} on disk");
        Ok(Fitted { model: named(model, store.outline())?, n_samples, kind: "vectors", n_nonzero: None, extent })
    }

    /// Writes the model to its file, whole or not at all, and prints the warnings of its fit.
    pub fn write(&self, context: &Context, output: &Path, stopping: Stopping) -> Result<(), Failure> {
        let report = self.model.report();
        stopping.check(output, report)?;
        context.bar.say(format!("writing {}", output.display()));
        self.model.save(output)?;
        context.bar.hide();
        report.warnings.iter().for_each(|warning| context.warn(warning));
        Ok(())
    }

    /// The summary of the model that was written, as `--json` prints it; reading the samples took `seconds_read`.
    pub fn json(&self, context: &Context, output: &Path, seconds_read: f64, parameters: Value) -> Value {
        let more = json!({
            "n_samples": self.n_samples,
            "samples": self.kind,
            "n_nonzero": self.n_nonzero,
            "parameters": parameters,
            "chosen": self.model.parameters(),
            "seconds_read": seconds_read,
            "seconds": context.seconds(),
        });
        joined(json_of(&self.model, output), more)
    }

    /// The same as text, on standard error: the data, the selected parameters, the estimated score, and the model file.
    pub fn summary(&self, context: &Context, output: &Path) -> String {
        let expected = expected(&self.model).unwrap_or_else(|| "not estimated: the notes of `inspect` say why".into());
        let mut lines = vec![
            format!("data: {}", self.extent),
            format!("model: {}", chosen(&self.model)),
            format!("expected: {expected}"),
        ];
        let report = self.model.report();
        if report.status != Status::Converged {
            lines.push(format!("status: {}", report.status.as_str()));
        }
        let (name, size) = (output.display(), DecimalBytes(size_of_file(output)));
        lines.push(format!("{name}: {size}, after {:.2} s; details: widemargin inspect {name}", context.seconds()));
        lines.iter().map(|line| wrapped(line, INDENT)).collect::<Vec<_>>().join("\n")
    }
}

/// How many samples there are and how large: the line of a summary.
fn extent(samples: &Samples, n_features: usize, n_nonzero: u64) -> String {
    let n = HumanCount(samples.n_rows() as u64);
    match samples {
        Samples::Other(AnySamples::Images(images)) => {
            let (height, width) = (images.height(), images.width());
            let color = if images.channels() == 1 { "gray" } else { "color" };
            format!("{n} images, {height} × {width} pixels, {color}")
        }
        Samples::Other(samples) => format!("{n} {}", samples.kind()),
        _ => format!("{n} samples, {} features, {} non-zeros", HumanCount(n_features as u64), HumanCount(n_nonzero)),
    }
}

/// Number of non-zeros; 0 where the samples are no vectors.
fn count_nonzeros(samples: &Samples) -> widemargin::Result<u64> {
    if let Samples::Other(_) = samples {
        return Ok(0);
    }
    let (view, mut n) = (samples.view()?.rows("a count of non-zeros")?, 0);
    (0..view.n_rows()).for_each(|row| view.for_each_nonzero(row, |_, _| n += 1));
    Ok(n)
}

/// The parameters of a model that its summary shows.
const SHOWN: [&str; 9] =
    ["similarity", "normalization", "kernel", "C", "n_basis", "n_bases", "n_nodes", "loss", "threshold"];

/// Blanks before what continues a line.
const INDENT: usize = 4;

/// The selected parameters, in one line.
fn chosen(model: &AnyModel) -> String {
    let parameters = json!(model.parameters());
    let of = |name: &&str| Some(format!("{name} = {}", plain(parameters.get(name).filter(|value| !value.is_null())?)));
    [model.method().to_owned()].into_iter().chain(SHOWN.iter().filter_map(of)).collect::<Vec<_>>().join(", ")
}

fn name_of(method: EstimateMethod) -> &'static str {
    match method {
        EstimateMethod::HeldOut => "held-out samples",
        EstimateMethod::Folds => "five folds",
        _ => "leave-one-out",
    }
}

/// What is expected of a model on new samples, by samples that were left out of its fit.
pub fn expected(model: &AnyModel) -> Option<String> {
    match model {
        AnyModel::Classifier(model) => {
            let estimate = model.report().estimate.as_ref()?;
            Some(format!("accuracy {:.2} % ({})", 100.0 * (1.0 - estimate.error), name_of(estimate.method)))
        }
        AnyModel::Regressor(model) => {
            let numbers = |numbers: &[f64]| numbers.iter().map(|x| format!("{x:.4e}")).collect::<Vec<_>>().join(", ");
            if let Some(point) = model.chosen() {
                let (r2, errors) = (point.loo_r2, numbers(&point.loo_rmse));
                let how = name_of(point.method);
                return Some(format!("R² {r2:.4}, root mean squared error {errors} ({how})"));
            }
            let point = model.chosen_loss()?;
            let how = match model.loss() {
                Loss::Quantile { .. } => "folds",
                _ => "leave-one-out",
            };
            let (loss, d2, losses) = (model.loss().name(), point.d2, numbers(&point.loss));
            Some(format!("D² {d2:.4}, mean {loss} loss {losses} ({how})"))
        }
        AnyModel::OneClass(model) => {
            Some(format!("{} % of usual samples below the threshold (leave-one-out)", 100.0 * model.quantile()))
        }
    }
}
