//! `widemargin inspect --spectrum`: how far the similarity of a model is from being a kernel.

use std::path::Path;

use serde_json::{Value, json};
use widemargin::Result;
use widemargin::basis::{self, BasisChoice};
use widemargin::data::{Labels, Samples as _, Source, Training};
use widemargin::expansion::{Negative, Spectrum, spectrum};
use widemargin::model::BasisExpansionSvc;
use widemargin::similarity::AnySimilarity;
use widemargin_io::Table;

use crate::args::Input;
use crate::context::Context;
use crate::details::{basis_expansion, no_basis_expansion};
use crate::model::{load_for, read_for};
use crate::output::{print, print_json};
use crate::report::{Failure, in_file};
use crate::samples::{any_samples, in_whole};
use crate::text_table::{percent, text_table};

/// Samples whose similarities are measured, evenly spaced in each class (in the file, if there are no labels).
const MAX_COMPARED_SAMPLES: usize = 1000;

/// Prints the negative eigenvalues of the similarities of a model on samples.
pub fn run(context: &Context, path: &Path, input: &Input, as_json: bool) -> std::result::Result<(), Failure> {
    let model = load_for(path, input)?;
    let Some(model_of_bases) = basis_expansion(&model) else { return Err(no_basis_expansion(path, &model)) };
    let table = read_for(&model, input, input.label.clone().unwrap_or_default(), context)?;
    let spectra = spectra(context, model_of_bases, &table);
    let spectra = spectra.map_err(|error| in_file(error, &input.data, &table, 0))?;
    context.bar.hide();
    let size = MAX_COMPARED_SAMPLES.min(table.samples.n_rows());
    if as_json {
        let parts: Vec<Value> = spectra.iter().map(json_of).collect();
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

fn json_of(spectrum: &Spectrum) -> Value {
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

fn spectra(context: &Context, model: &BasisExpansionSvc<AnySimilarity>, table: &Table) -> Result<Vec<Spectrum>> {
    let (samples, similarity) = (any_samples(&table.samples)?, model.expansion().similarity());
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
