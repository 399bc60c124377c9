//! `widemargin explain`: why one sample is predicted as it is.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use widemargin::data::Label;
use widemargin::model::{AnyModel, Explanation, Term, TermSource};
use widemargin::similarity::{Comparison, PathStep, Pieces};

use crate::args::Input;
use crate::context::Context;
use crate::details::sample_text;
use crate::model::{label_column, load_for, read_for};
use crate::output::{print, print_json};
use crate::report::{Failure, in_file, refused};
use crate::text_table::{beginning, fixed, text_table};

/// Arguments of `explain`.
#[derive(Debug, Args)]
pub struct Explain {
    /// Model file
    model: PathBuf,
    /// Number of the sample to explain, counted from 1
    #[arg(long, value_name = "N")]
    row: usize,
    /// Class or label to explain [default: the predicted one]
    ///
    /// For a multilabel model, the default is the label with the largest decision value.
    #[arg(long, value_name = "NAME")]
    class: Option<String>,
    /// Print one JSON object with all terms; rows are counted from 0
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    input: Input,
}

/// Terms that are printed: those that say most for or against the class.
const TERMS: usize = 10;

impl Explain {
    /// Runs the command.
    pub fn run(mut self, context: &Context) -> Result<(), Failure> {
        let model = load_for(&self.model, &self.input)?;
        self.input.label = Some(label_column(&self.input, &*model)?);
        let file = &self.input.data;
        let table = read_for(&model, &self.input, context)?;
        context.bar.hide();
        let (samples, n) = (table.samples.view()?, table.samples.n_rows());
        let Some(row) = self.row.checked_sub(1).filter(|row| *row < n) else {
            let failure = format!("--row {}: there are {n} samples, and the first is 1", self.row);
            return refused(failure, format!("pass a number from 1 to {n}"));
        };
        let class = match (self.class.as_deref(), &model) {
            (None, _) => None,
            (Some(name), AnyModel::Classifier(model)) => Some(position(name, model.classes())?),
            _ => return refused("--class: the model has no classes", "leave it out"),
        };
        let explanation =
            model.explain(&samples, row, class, TERMS).map_err(|error| in_file(error, file, &table, 0))?;
        if self.json {
            let mut object = json!(explanation);
            object["row"] = json!(row);
            object["predicted"] = match (explanation.is_of_values, explanation.multilabel) {
                (true, _) => json!(explanation.decision_values),
                (_, true) => json!(explanation.predicted_labels()),
                (_, false) => json!(explanation.classes[explanation.predicted]),
            };
            object["explained"] = json!(explanation.classes[explanation.explained]);
            return print_json(&object);
        }
        print(&text(&explanation, &table.place(row), &model))
    }
}

/// The position of a class by its name.
fn position(name: &str, classes: &[Label]) -> Result<usize, Failure> {
    classes.iter().position(|class| class.to_string() == name).ok_or_else(|| {
        let failure = Failure::input(format!("--class {name}: the model does not know it"));
        failure.help(format!("it knows {}", beginning(classes, 20)))
    })
}

/// What a column is called.
fn column_name(model: &AnyModel, column: usize) -> String {
    model
        .feature_names()
        .and_then(|names| names.get(column).cloned())
        .unwrap_or_else(|| format!("column {}", column + 1))
}

/// The prediction, and the decision value of the class that is explained.
fn predicted_text(explanation: &Explanation, place: &str) -> String {
    let class = explanation.explained;
    let predicted: Vec<String> = explanation.predicted_labels().into_iter().map(ToString::to_string).collect();
    let mut out =
        format!("{place}: {}", if predicted.is_empty() { "no label".to_owned() } else { predicted.join(", ") });
    if explanation.multilabel || class != explanation.predicted {
        out += &format!("\n\nexplained: {}", explanation.classes[class]);
    }
    if let Some(probabilities) = &explanation.probabilities {
        out += &format!(", probability {:.4}", probabilities[class]);
    }
    out + &format!("\n\ndecision value for it {:.6}\n", explanation.decision_value(class))
}

fn text(explanation: &Explanation, place: &str, model: &AnyModel) -> String {
    let class = explanation.explained;
    let mut out = if explanation.is_of_values {
        format!("{place}: {} {:.6}\n", explanation.classes[class], explanation.decision_value(class))
    } else {
        predicted_text(explanation, place)
    };
    let order = explanation.strongest(class);
    let (shown, rest) = order.split_at(TERMS.min(order.len()));
    let for_class = |at: &usize| explanation.contribution(&explanation.terms[*at], class);
    let row = |at: &usize| {
        let term = &explanation.terms[*at];
        let weight = fixed(explanation.weight(term, class), 4);
        let reference = if term.reference == 0.0 { String::new() } else { format!("{:.4}", term.reference) };
        vec![
            source_text(term, model),
            explanation.parts[term.part].clone(),
            format!("{:.4}", term.value),
            reference,
            weight,
            format!("{:+.6}", for_class(at)),
        ]
    };
    let mut rows: Vec<Vec<String>> = shown.iter().map(row).collect();
    let line = |name: String, value: f64| {
        let mut cells = vec![String::new(); 6];
        (cells[0], cells[5]) = (name, format!("{value:+.6}"));
        cells
    };
    if !rest.is_empty() {
        let (pro, contra): (Vec<f64>, Vec<f64>) = rest.iter().map(for_class).partition(|value| *value > 0.0);
        let (up, down) = if explanation.is_of_values { ("that raise", "that lower") } else { ("for", "against") };
        rows.push(line(format!("{} more {up} it", pro.len()), pro.iter().sum()));
        rows.push(line(format!("{} more {down} it", contra.len()), contra.iter().sum()));
    }
    if explanation.intercept(class) != 0.0 {
        rows.push(line("intercept".into(), explanation.intercept(class)));
    }
    out += &text_table(&["", "similarity", "value", "mean", "weight", "contribution"], rows);
    for at in shown {
        if let Some(comparison) = &explanation.terms[*at].comparison {
            let source = source_text(&explanation.terms[*at], model);
            out += &format!("\n{source}: {}\n", comparison_text(comparison, model));
        }
    }
    out
}

/// The name of a term.
fn source_text(term: &Term, model: &AnyModel) -> String {
    match &term.source {
        TermSource::Basis { index, row } => {
            let row = row.map_or(String::new(), |row| format!(" (training row {})", row + 1));
            let sample = model.bases().and_then(|bases| sample_text(bases, *index));
            let sample = sample.map_or(String::new(), |text| format!(": {text}"));
            format!("basis {}{row}{sample}", index + 1)
        }
        TermSource::Column { name: Some(name), .. } => name.clone(),
        TermSource::Column { index, .. } => column_name(model, *index),
        TermSource::Polynomial { name } => name.clone(),
        _ => String::new(),
    }
}

/// Pieces that are printed of a comparison.
const PIECES: usize = 8;

fn comparison_text(comparison: &Comparison, model: &AnyModel) -> String {
    let head = format!("{} {:.4}", comparison.quantity, comparison.total);
    let largest = |mut all: Vec<(String, f64)>| {
        all.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        beginning(all.iter().map(|(name, share)| format!("{name} {share:.4}")), PIECES)
    };
    let pieces = match &comparison.pieces {
        Pieces::Columns { columns, shares } => {
            let names = columns.iter().map(|column| column_name(model, *column));
            largest(names.zip(shares.iter().copied()).collect())
        }
        Pieces::Terms { terms, shares } => {
            largest(terms.iter().map(|term| format!("'{term}'")).zip(shares.iter().copied()).collect())
        }
        Pieces::Cells { cells, .. } => {
            let name = |cell: &[usize; 2]| format!("({}, {})", cell[0] + 1, cell[1] + 1);
            let names = cells.iter().map(|cell| match &cell.sample {
                Some(sample) if *sample == cell.basis => name(sample),
                Some(sample) => format!("{} at {}", name(&cell.basis), name(sample)),
                None => format!("{} outside", name(&cell.basis)),
            });
            largest(names.zip(cells.iter().map(|cell| cell.share)).collect())
        }
        Pieces::TimeSteps { path } | Pieces::Characters { path } => {
            let number = |at: Option<usize>| at.map_or("-".to_owned(), |at| (at + 1).to_string());
            let name = |step: &PathStep| format!("{}~{}", number(step.basis), number(step.sample));
            largest(path.iter().map(|step| (name(step), step.share)).collect())
        }
        Pieces::Bits { both, basis, sample } => {
            format!("{} of both, {} of the basis alone, {} of the sample alone", both.len(), basis.len(), sample.len())
        }
        _ => String::new(),
    };
    format!("{head}; {pieces}")
}
