//! `widemargin evaluate` for a model of one class, on samples whose labels are 1 and -1.

use std::time::Instant;

use widemargin::data::Label;
use widemargin::model::OneClass;
use widemargin::select::Scoring;

use crate::args::Input;
use crate::context::Context;
use crate::one_class::answers;
use crate::report::{Failure, shown};
use crate::scored::Scored;
use crate::stream::decide;

/// Refuses scores of probabilities.
pub fn check_scoring(scoring: &[Scoring]) -> Result<(), Failure> {
    match scoring.iter().find(|scoring| scoring.needs_probabilities()) {
        Some(scoring) => {
            let failure = format!("--scoring {scoring} is of probabilities, which a model of one class has none of");
            Err(Failure::input(failure).help("name one of decision values, such as roc-auc or average-precision"))
        }
        None => Ok(()),
    }
}

/// Compares what is told of samples with their labels; also how many seconds it took.
pub fn score_one_class(
    context: &Context,
    model: &dyn OneClass,
    input: &Input,
    must_keep: bool,
) -> Result<(Scored, f64), Failure> {
    let (start, answers) = (Instant::now(), answers());
    let mut scored = Scored::new();
    decide(context, model, input, input.label.clone().unwrap_or_default(), |block, values| {
        let labels = block.table.require_labels(&input.data)?.as_classes(&answers);
        if let Some(row) = (0..labels.len()).find(|&row| !answers.contains(labels.get(row))) {
            return Err(unknown(input, labels.get(row), block.first_row + row));
        }
        let told = |row: usize| &answers[usize::from(values[row] >= 0.0)];
        let narrow: Vec<f32> = values.iter().map(|value| *value as f32).collect();
        scored.add(&labels, told, block.table.weights.as_deref(), &narrow, must_keep);
        Ok(())
    })?;
    Ok((scored, start.elapsed().as_secs_f64()))
}

fn unknown(input: &Input, label: &Label, row: usize) -> Failure {
    let failure = format!("{}: sample {row} (0 is the first) has the label '{label}'", shown(&input.data));
    Failure::input(failure)
        .help("a model of one class is evaluated on labels 1, like the training samples, and -1, outliers")
}
