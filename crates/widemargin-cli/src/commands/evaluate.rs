//! `widemargin evaluate`: evaluates a model on labelled samples.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use indicatif::HumanCount;
use serde_json::json;
use widemargin::model::Classifier;
use widemargin::select::Evaluation;

use crate::args::Input;
use crate::context::Context;
use crate::model::load_for;
use crate::output::{print, print_json};
use crate::report::Failure;
use crate::stream::score;
use crate::text_table::text_table;

/// Arguments of `evaluate`.
#[derive(Debug, Args)]
pub struct Evaluate {
    /// The model file
    model: PathBuf,
    #[command(flatten)]
    input: Input,
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
}

impl Evaluate {
    /// Runs the command.
    pub fn run(self, context: &Context) -> Result<(), Failure> {
        let model = load_for(&self.model, &self.input, context)?;
        let start = Instant::now();
        let mut evaluation = Evaluation::default();
        let label = self.input.label.clone().unwrap_or_default();
        score(context, &*model, &self.input, label, |block, scores| {
            let labels = block.table.require_labels(&self.input.data)?;
            for (row, predicted) in scores.decide(model.classes()).into_iter().enumerate() {
                evaluation.add(labels.get(row), predicted);
            }
            Ok(())
        })?;
        let seconds = start.elapsed().as_secs_f64();
        self.tell(context, &*model, &evaluation, seconds)
    }

    fn tell(
        &self,
        context: &Context,
        model: &dyn Classifier,
        evaluation: &Evaluation,
        seconds: f64,
    ) -> Result<(), Failure> {
        let scores = evaluation.class_scores();
        let unknown: Vec<_> = scores.iter().filter(|score| !model.classes().contains(&score.label)).collect();
        let n_unknown: u64 = unknown.iter().map(|score| score.support).sum();
        if let Some(first) = unknown.first() {
            context.note(&format!(
                "warning: {n_unknown} samples have a label that the model does not know, such as '{}'",
                first.label
            ));
        }
        let rate = evaluation.n_samples() as f64 / seconds;
        if self.json {
            return print_json(&json!({
                "model": self.model.display().to_string(),
                "method": model.method(),
                "n_samples": evaluation.n_samples(),
                "n_unknown": n_unknown,
                "accuracy": evaluation.accuracy(),
                "classes": scores,
                "seconds": seconds,
                "rows_per_second": rate,
            }));
        }
        let percent = |ratio: Option<f64>| ratio.map_or("-".into(), |ratio| format!("{:.2}", 100.0 * ratio));
        let rows: Vec<_> = scores
            .iter()
            .map(|score| {
                let support = HumanCount(score.support).to_string();
                vec![score.label.to_string(), support, percent(score.precision), percent(score.recall)]
            })
            .collect();
        print(&format!(
            "{}\naccuracy {:.2} % of {} samples; {seconds:.2} s, {} rows/s\n",
            text_table(&["label", "support", "precision %", "recall %"], &rows),
            100.0 * evaluation.accuracy(),
            HumanCount(evaluation.n_samples()),
            HumanCount(rate as u64),
        ))
    }
}
