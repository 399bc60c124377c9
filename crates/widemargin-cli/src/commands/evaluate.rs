//! `widemargin evaluate`: evaluates a model on labelled samples.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use indicatif::HumanCount;
use serde_json::{Map, json};
use widemargin::Result;
use widemargin::data::Labels;
use widemargin::model::Classifier;
use widemargin::select::{Evaluation, Scoring};

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
    /// More scores, as scikit-learn defines them, separated by commas: accuracy, balanced-accuracy, f1-macro, roc-auc,
    /// average-precision. Decision values of all samples are kept for the last two
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    scoring: Vec<Scoring>,
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
        let keeps_values = self.scoring.iter().any(|scoring| scoring.needs_decision_values());
        let (mut all_labels, mut values) = (Vec::new(), Vec::new());
        let label = self.input.label.clone().unwrap_or_default();
        score(context, &*model, &self.input, label, |block, scores| {
            let labels = block.table.require_labels(&self.input.data)?;
            for (row, predicted) in scores.decide(model.classes()).into_iter().enumerate() {
                evaluation.add(labels.get(row), predicted);
            }
            if keeps_values {
                all_labels.extend((0..labels.len()).map(|row| labels.get(row).clone()));
                values.extend_from_slice(scores.values());
            }
            Ok(())
        })?;
        let seconds = start.elapsed().as_secs_f64();
        let labels = Labels::new(all_labels);
        let score = |&scoring: &Scoring| match scoring.of_evaluation(&evaluation) {
            Some(score) => Ok((scoring, score)),
            None => scoring.score(&labels, None, model.classes(), &values).map(|score| (scoring, score)),
        };
        let scores = self.scoring.iter().map(score).collect::<Result<Vec<_>>>()?;
        self.tell(context, &*model, &evaluation, &scores, seconds)
    }

    fn tell(
        &self,
        context: &Context,
        model: &dyn Classifier,
        evaluation: &Evaluation,
        asked: &[(Scoring, f64)],
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
                "balanced_accuracy": evaluation.balanced_accuracy(),
                "f1_macro": evaluation.f1_macro(),
                "scores": asked.iter().map(|(name, score)| (name.to_string(), json!(score))).collect::<Map<_, _>>(),
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
        let asked: Vec<_> = asked.iter().map(|(name, score)| format!("{name} {:.2} %\n", 100.0 * score)).collect();
        print(&format!(
            "{}\n{}balanced accuracy {:.2} %, F1 {:.2} % (means of the classes)\n\
             accuracy {:.2} % of {} samples; {seconds:.2} s, {} rows/s\n",
            text_table(&["label", "support", "precision %", "recall %"], &rows),
            asked.concat(),
            100.0 * evaluation.balanced_accuracy(),
            100.0 * evaluation.f1_macro(),
            100.0 * evaluation.accuracy(),
            HumanCount(evaluation.n_samples()),
            HumanCount(rate as u64),
        ))
    }
}
