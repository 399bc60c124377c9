//! `widemargin spectrum`: measures how far a similarity is from being a kernel.

use clap::Args;
use serde_json::{Value, json};
use widemargin::basis::{self, BasisChoice};
use widemargin::data::{AnySamples, Labels, Samples as _, Source, Training};
use widemargin::expansion::{Negative, Spectrum, spectrum_with};
use widemargin::similarity::{AnySimilarity, Similarity};

use crate::args::Input;
use crate::context::Context;
use crate::output::{print, print_json};
use crate::report::{Failure, in_file};
use crate::samples::{FOR_VECTORS, any_samples, check_specs, default_similarity, in_whole, with_names};
use crate::text_table::text_table;

const SIMILARITY: &str = "Similarity, such as hog:cell=4/deformable:rigid=2,local=1; may be given several times. \
                          [default: by what the samples are]";

/// Arguments of `spectrum`.
#[derive(Debug, Args)]
pub struct SpectrumArgs {
    #[command(flatten)]
    input: Input,
    #[arg(long, value_name = "SPEC", help = SIMILARITY, long_help = with_names(SIMILARITY))]
    similarity: Vec<String>,
    /// Number of samples to compare, evenly spaced in each class (in the file, if there are no labels)
    #[arg(long, default_value_t = 1000, value_name = "N")]
    n_basis: usize,
    /// Print one JSON object, with all eigenvalues, instead of a table
    #[arg(long)]
    json: bool,
}

impl SpectrumArgs {
    /// Runs the command.
    pub fn run(self, context: &Context) -> Result<(), Failure> {
        let file = &self.input.data;
        let trial = if self.similarity.is_empty() { vec![FOR_VECTORS.to_owned()] } else { self.similarity.clone() };
        check_specs(&trial)?;
        let (table, _) = context.read(file, &self.input.options_to_learn())?;
        let n = table.samples.n_rows();
        let specs = match self.similarity.is_empty() {
            true => vec![default_similarity(&table.samples).to_owned()],
            false => self.similarity.clone(),
        };
        let labels = table.labels.clone().unwrap_or_else(|| Labels::new(vec![0i64; n]));
        let told = |error| in_file(error, file, &table, 0);
        let samples = any_samples(&table.samples).map_err(told)?;
        let spectra = self.spectra(context, &specs, &samples, &labels).map_err(told)?;
        context.bar.hide();
        let size = self.n_basis.min(n);
        if self.json {
            let of = |negative: Negative| json!({ "ratio": negative.ratio, "energy": negative.energy });
            let part = |spectrum: &Spectrum| {
                json!({
                    "similarity": spectrum.similarity,
                    "asymmetry": spectrum.asymmetry,
                    "n_complex": spectrum.n_complex(),
                    "rounding": spectrum.rounding,
                    "negative": { "symmetric_part": of(spectrum.negative()), "raw": of(spectrum.negative_raw()) },
                    "eigenvalues": { "symmetric_part": spectrum.symmetric, "raw": spectrum.raw },
                })
            };
            let parts: Vec<Value> = spectra.iter().map(part).collect();
            return print_json(&json!({ "n_samples": size, "similarities": parts }));
        }
        let percent = |share: f64| format!("{:.2}", 100.0 * share);
        let row = |spectrum: &Spectrum| {
            let (part, raw) = (spectrum.negative(), spectrum.negative_raw());
            vec![
                spectrum.similarity.clone(),
                percent(part.ratio),
                percent(part.energy),
                percent(raw.ratio),
                percent(raw.energy),
                spectrum.n_complex().to_string(),
            ]
        };
        let rows: Vec<_> = spectra.iter().map(row).collect();
        let heads = ["similarity", "negative %", "energy %", "raw: negative %", "energy %", "complex"];
        let verdict = if spectra.iter().all(Spectrum::is_kernel) {
            "no eigenvalue is negative beyond rounding: on these samples it is a kernel"
        } else {
            "negative: share of the eigenvalues of the symmetric part; energy: their absolute sum over the sum of the \
             positive ones; raw: of the real parts of the matrix as it is"
        };
        print(&format!("{}\n{size} samples; {verdict}\n", text_table(&heads, &rows)))
    }

    fn spectra(
        &self,
        context: &Context,
        specs: &[String],
        samples: &AnySamples,
        labels: &Labels,
    ) -> widemargin::Result<Vec<Spectrum>> {
        let mut similarity = AnySimilarity::new(specs)?;
        let weights = vec![1.0; samples.len()];
        let sink = |progress| context.bar.fit("", progress);
        let monitor = context.monitor(&sink);
        let source: &dyn Source<Samples = AnySamples> = samples;
        let training =
            Training { samples: source, weights: &weights, threads: context.common.threads, monitor: &monitor };
        similarity.fit(&training)?;
        let n_classes = labels.classes().len();
        let chosen =
            basis::choose(&BasisChoice::Index, self.n_basis, labels.codes(), n_classes, 0, &similarity, &training)?;
        spectrum_with(&similarity, &source.select(&chosen.rows)?, context.common.threads, &monitor)
            .map_err(|error| in_whole(error, &chosen.rows))
    }
}
