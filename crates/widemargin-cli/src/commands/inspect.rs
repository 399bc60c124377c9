//! `widemargin inspect`: shows what a model file contains, and how far its similarity is from being a kernel.

use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::{DecimalBytes, HumanCount};
use serde_json::{Value, json};
use widemargin::basis::{self, BasisChoice};
use widemargin::data::{Labels, Samples as _, Source, Training};
use widemargin::expansion::{Negative, Spectrum, spectrum};
use widemargin::model::{AnyModel, BasisExpansionSvc, Classifier};
use widemargin::similarity::AnySimilarity;
use widemargin::solve::CalibratedOn;
use widemargin_io::Table;

use crate::args::Input;
use crate::context::Context;
use crate::details::{basis_expansion, details};
use crate::model::{json_of, load_for, read_for, size_of_file};
use crate::output::{print, print_json};
use crate::readable::{plain, rounded, wrapped};
use crate::report::{Failure, in_file, in_whole};
use crate::summary::expected;
use crate::text_table::{beginning, percent, text_table};

const SPECTRUM: &str = "Compute the negative eigenvalues of the similarity on samples";
const LONG_SPECTRUM: &str = "Compute the negative eigenvalues of the model's similarity on these samples, at most 1000 of \
                             them. A similarity without negative eigenvalues is a kernel";

/// Arguments of `inspect`.
#[derive(Debug, Args)]
#[command(mut_arg("data", |data| data.required(false).long("spectrum").help(SPECTRUM).long_help(LONG_SPECTRUM)))]
pub struct Inspect {
    /// Model file
    model: PathBuf,
    /// Print one JSON object instead of lines; rows are counted from 0
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    spectrum: Option<Input>,
}

impl Inspect {
    /// Runs the command.
    pub fn run(self, context: &Context) -> Result<(), Failure> {
        if let Some(input) = &self.spectrum {
            return measure_spectrum(context, &self.model, input, self.json);
        }
        let model = AnyModel::load(&self.model)?;
        match self.json {
            true => print_json(&self.json_of(&model)),
            false => print(&text(&model, size_of_file(&self.model))),
        }
    }

    fn json_of(&self, model: &AnyModel) -> Value {
        let mut object = json_of(model, &self.model);
        object["parameters"] = json!(model.parameters());
        object["feature_names"] = json!(model.feature_names());
        object["n_weights"] = json!(model.n_weights());
        if let importances @ [_, ..] = &*model.column_importances() {
            object["column_importances"] = json!(importances);
        }
        match model {
            AnyModel::Classifier(model) => {
                object["margins"] = json!(margins(&**model));
                object["calibration"] = json!(model.calibration());
                if let Some((name, json, _)) = details(&**model) {
                    object[name] = json;
                }
            }
            AnyModel::Regressor(model) => {
                // Of the squared error, or of another.
                object["path"] = match model.loss_path() {
                    [] => json!(model.path()),
                    path => json!(path),
                };
            }
            AnyModel::OneClass(model) => object["n_samples"] = json!(model.loo_scores().len()),
        }
        object
    }
}

/// Names and numbers that a line lists.
const NAMES: usize = 20;

fn text(model: &AnyModel, size: u64) -> String {
    let (report, mut lines) = (model.report(), vec![("method".to_owned(), model.method().to_owned())]);
    let mut add = |name: &str, value: String| lines.push((name.to_owned(), value));
    if let Value::Object(parameters) = json!(model.parameters()) {
        let is_set = |value: &Value| !value.is_null() && value.as_array().is_none_or(|values| !values.is_empty());
        parameters.iter().filter(|(_, value)| is_set(value)).for_each(|(name, value)| add(name, plain(value)));
    }
    model.n_features().into_iter().for_each(|n| add("features", HumanCount(n as u64).to_string()));
    model.feature_names().into_iter().for_each(|names| add("columns", beginning(names, NAMES)));
    let importances: Vec<String> =
        model.column_importances().iter().map(|(name, share)| format!("{name} {}", percent(Some(*share)))).collect();
    if !importances.is_empty() {
        add("column importance, %", beginning(&importances, NAMES));
    }
    match model {
        AnyModel::Classifier(model) => {
            add("classes", format!("{}: {}", model.classes().len(), beginning(model.classes(), NAMES)));
        }
        AnyModel::Regressor(model) => add("targets", model.n_outputs().to_string()),
        AnyModel::OneClass(model) => {
            add("samples trained on", HumanCount(model.loo_scores().len() as u64).to_string());
        }
    }
    add("weights", format!("{} in a file of {}", HumanCount(model.n_weights() as u64), DecimalBytes(size)));
    if let AnyModel::Classifier(model) = model {
        let (steps, iterations) = (report.max_iterations(), model.iterations());
        add("training", format!("{} after {steps} {iterations}", report.status.as_str()));
        add("gap", format!("{:.1e} relative duality gap, objective {:.6e}", report.gap(), report.objective));
        if let Some(margins) = margins(&**model) {
            add("margins", beginning(margins.iter().map(|margin| format!("{margin:.4e}")), NAMES));
        }
        add("probabilities", probabilities(&**model));
    }
    expected(model).into_iter().for_each(|expected| add("expected", expected));
    report.notes.iter().for_each(|note| add("note", rounded(note)));
    report.warnings.iter().for_each(|warning| add("warning", warning.clone()));
    let width = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let line = |(name, value): &(String, String)| format!("{name:<width$}  {}\n", wrapped(value, width + 2));
    let mut text: String = lines.iter().map(line).collect();
    if let AnyModel::Classifier(model) = model
        && let Some((_, _, table)) = details(&**model)
    {
        text += &format!("\n{table}");
    }
    text
}

/// On what they are calibrated, if they are.
fn probabilities(model: &dyn Classifier) -> String {
    let Some(calibration) = model.calibration() else { return "none: train again to have them".into() };
    let on = calibration.on();
    if on == CalibratedOn::Nothing {
        return "not calibrated: there are no held-out decision values".into();
    }
    let slopes: Vec<String> = calibration.slopes().iter().map(|slope| format!("{slope:.3}")).collect();
    let n = HumanCount(calibration.n_samples() as u64);
    format!("calibrated on {n} {on} decision values, slopes {}", slopes.join(", "))
}

/// 1/‖f‖² of each two-class problem, where the model has such a norm that is above 0.
fn margins(model: &dyn Classifier) -> Option<Vec<f64>> {
    let norms = model.squared_norms(0).ok()?;
    norms.iter().all(|norm| *norm > 0.0).then(|| norms.iter().map(|norm| 1.0 / norm).collect())
}

/// Samples whose similarities are measured, evenly spaced in each class (in the file, if there are no labels).
const MAX_COMPARED_SAMPLES: usize = 1000;

/// Prints the negative eigenvalues of the similarities of a model on samples.
fn measure_spectrum(context: &Context, path: &Path, input: &Input, as_json: bool) -> Result<(), Failure> {
    let model = load_for(path, input)?;
    let model_of_bases = basis_expansion(path, &model)?;
    let table = read_for(&model, input, context)?;
    let spectra = spectra(context, model_of_bases, &table);
    let spectra = spectra.map_err(|error| in_file(error, &input.data, &table, 0))?;
    context.bar.hide();
    let size = MAX_COMPARED_SAMPLES.min(table.samples.n_rows());
    if as_json {
        let parts: Vec<Value> = spectra.iter().map(spectrum_json).collect();
        return print_json(&json!({ "n_samples": size, "similarities": parts }));
    }
    let row = |spectrum: &Spectrum| {
        let (part, raw) = (spectrum.negative(), spectrum.negative_raw());
        let shares = [part.ratio, part.energy, raw.ratio, raw.energy].map(|share| percent(Some(share)));
        [spectrum.similarity.clone()].into_iter().chain(shares).chain([spectrum.n_complex().to_string()]).collect()
    };
    let heads = ["similarity", "negative %", "energy %", "raw: negative %", "energy %", "complex"];
    let verdict = if spectra.iter().all(Spectrum::is_kernel) {
        "no eigenvalue is negative beyond rounding: on these samples it is a kernel"
    } else {
        "negative: share of the eigenvalues of the symmetric part; energy: their absolute sum over the sum of the \
         positive ones; raw: of the real parts of the matrix as it is"
    };
    print(&format!("{}\n{size} samples; {verdict}\n", text_table(&heads, spectra.iter().map(row))))
}

fn spectrum_json(spectrum: &Spectrum) -> Value {
    let of = |negative: Negative| json!({ "ratio": negative.ratio, "energy": negative.energy });
    json!({
        "similarity": spectrum.similarity,
        "asymmetry": spectrum.asymmetry,
        "n_complex": spectrum.n_complex(),
        "rounding": spectrum.rounding,
        "negative": { "symmetric_part": of(spectrum.negative()), "raw": of(spectrum.negative_raw()) },
        "eigenvalues": { "symmetric_part": spectrum.symmetric, "raw": spectrum.raw },
    })
}

fn spectra(
    context: &Context,
    model: &BasisExpansionSvc<AnySimilarity>,
    table: &Table,
) -> widemargin::Result<Vec<Spectrum>> {
    let view = table.samples.view()?;
    let (samples, similarity) = (view.chunk(0..view.n_samples())?, model.expansion().similarity());
    let labels = table.labels.clone().unwrap_or_else(|| Labels::new(vec![0i64; samples.len()]));
    let weights = vec![1.0; samples.len()];
    let sink = |progress| context.bar.fit("", progress);
    let (monitor, threads) = (context.monitor(&sink), context.common.threads);
    let training = Training { samples: &samples, weights: &weights, threads, monitor: &monitor };
    let n_classes = labels.classes().len();
    let chosen =
        basis::choose(&BasisChoice::Index, MAX_COMPARED_SAMPLES, labels.codes(), n_classes, 0, similarity, &training)?;
    spectrum(model.expansion().share_similarity(), &Source::select(&samples, &chosen.rows)?, threads, &monitor)
        .map_err(|error| in_whole(error, &chosen.rows))
}
