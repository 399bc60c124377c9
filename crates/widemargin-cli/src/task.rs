//! What is to be predicted: classes, numbers or nothing but outliers, from the labels of a table.

use std::collections::BTreeSet;
use std::path::Path;

use indicatif::HumanCount;
use widemargin::data::{Label, Labels, Targets};
use widemargin_io::Table;

use crate::args::Input;
use crate::context::Context;
use crate::fit::Answers;
use crate::labels::{check_labels, describe_classes, with_fraction};
use crate::parameters::{Method, Task};
use crate::report::{Failure, shown};

/// What a method is to predict of a table's samples, by the task that is passed.
pub fn answers<'a>(
    context: &Context,
    task: Option<Task>,
    method: Method,
    input: &Input,
    table: &'a Table,
) -> Result<Answers<'a>, Failure> {
    let file = &input.data;
    match task {
        Some(Task::Regression) => {
            Ok(Answers::Numbers(Targets::single(targets_of(table.require_labels(file)?, file, 0)?)?))
        }
        Some(Task::OutlierDetection) => {
            note_labels(context, input, table);
            Ok(Answers::None)
        }
        Some(Task::Classification) => Ok(Answers::Classes(table.any_labels(file)?)),
        None => {
            check_classes(context, method, input, table)?;
            Ok(Answers::Classes(table.any_labels(file)?))
        }
    }
}

/// The label of a table, in a line.
pub fn described(table: &Table, answers: &Answers<'_>) -> Option<String> {
    let column = |what: &str| match &table.label_column {
        Some(column) => format!("label: column {column}, {what}"),
        None => format!("label: {what}"),
    };
    match answers {
        Answers::Classes(labels) => match &table.labels {
            Some(_) => Some(column(&describe_classes(labels))),
            None => Some(format!(
                "labels: {}",
                labels.classes().iter().map(Label::to_string).collect::<Vec<_>>().join(", ")
            )),
        },
        Answers::Numbers(_) => Some(column("numbers")),
        Answers::None => None,
    }
}

/// Notes that labels, if there are any, are left aside.
fn note_labels(context: &Context, input: &Input, table: &Table) {
    if table.labels.is_none() && table.indicators.is_none() {
        return;
    }
    let which = match &table.label_column {
        Some(column) if input.label.is_none() => {
            format!("column {column} is taken for the label and left aside (--label none makes it a feature)")
        }
        Some(column) => format!("column {column}, the label, is left aside"),
        None => "the labels are left aside".to_owned(),
    };
    context.note(&format!("note: {}: {which}", shown(&input.data)));
}

/// Values beyond which whole numbers may be no classes, and how many rows each then has at least if they are.
const FEW_VALUES: usize = 10;
const ROWS_PER_CLASS: usize = 4;

/// Checks that labels to train a classifier with are classes: asks for the task where they could be numbers to predict as
/// well, and the method predicts these.
fn check_classes(context: &Context, method: Method, input: &Input, table: &Table) -> Result<(), Failure> {
    let checked = check_labels(context, input, table);
    let found = table.labels.as_ref().filter(|_| method.tasks().contains(&Task::Regression)).and_then(could_be_numbers);
    let Some(found) = found else { return checked };
    let message = checked.err().map(|failure| failure.message).unwrap_or_else(|| {
        let taken = table.label_column.as_ref().map_or_else(
            || "the labels have".to_owned(),
            |column| match input.label {
                None => format!("column {column} was taken for the label and has"),
                Some(_) => format!("column {column}, the label, has"),
            },
        );
        format!("{}: {taken} {found}: are they classes, or numbers to predict?", shown(&input.data))
    });
    let name = match table.label_column {
        Some(_) => "; or name the label column with --label NAME or NUMBER",
        None => "",
    };
    Err(Failure::input(message)
        .help(format!("say which: --task regression for numbers, --task classification for classes{name}")))
}

/// Why labels may be numbers to predict: fractions, or many different whole numbers for their rows.
fn could_be_numbers(labels: &Labels) -> Option<String> {
    if let Some(fraction) = with_fraction(labels) {
        return Some(format!("numbers with fractions, such as {fraction}"));
    }
    let n = labels.len();
    let distinct = labels.codes().iter().collect::<BTreeSet<_>>().len();
    let are_whole = labels.classes().iter().all(|label| number(label).is_some());
    (are_whole && distinct > FEW_VALUES && ROWS_PER_CLASS * distinct > n).then(|| {
        let (distinct, n) = (HumanCount(distinct as u64), HumanCount(n as u64));
        format!("{distinct} different numbers in {n} rows")
    })
}

/// The finite number that a label is.
fn number(label: &Label) -> Option<f64> {
    match label {
        Label::Integer(value) => Some(*value as f64),
        Label::Text(text) => text.parse().ok().filter(|value: &f64| value.is_finite()),
    }
}

/// The labels as targets; `first` samples of the file came before.
///
/// # Errors
/// A label that is no number, or none that is finite.
pub fn targets_of(labels: &Labels, file: &Path, first: u64) -> Result<Vec<f64>, Failure> {
    let one = |row: usize| {
        let label = labels.get(row);
        number(label).ok_or_else(|| {
            let at = first + row as u64 + 1;
            let is_number = label.to_string().parse::<f64>().is_ok();
            let problem = if is_number { "is no finite number" } else { "is no number" };
            let failure = format!("{}: sample {at} has the target '{label}', which {problem}", shown(file));
            let help = match is_number {
                true => "leave the sample out, or give it a number",
                false => "targets of a regression are numbers: name their column with --label, or leave --task out for classes",
            };
            Failure::input(failure).help(help)
        })
    };
    (0..labels.len()).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(texts: &[&str]) -> Labels {
        Labels::new(texts.iter().map(|text| Label::parse(text)))
    }

    #[test]
    fn fractions_and_many_whole_numbers_may_be_targets() {
        assert_eq!(could_be_numbers(&labels(&["a", "0.5"])), None);
        assert_eq!(could_be_numbers(&labels(&["1", "2", "3"])), None);
        assert!(could_be_numbers(&labels(&["1", "2.5"])).unwrap().contains("2.5"));
        let of = |n: usize, distinct: usize| {
            Labels::new((0..n).map(|row| Label::Integer((row % distinct) as i64)).collect::<Vec<_>>())
        };
        assert!(could_be_numbers(&of(40, 11)).unwrap().contains("11 different"));
        assert_eq!(could_be_numbers(&of(44, 11)), None);
        assert_eq!(could_be_numbers(&of(10, 10)), None);
    }

    #[test]
    fn targets_are_finite_numbers() {
        let file = Path::new("data.csv");
        assert_eq!(targets_of(&labels(&["1", "-2.5e3"]), file, 0).unwrap(), [1.0, -2500.0]);
        let refused = |texts: &[&str]| targets_of(&labels(texts), file, 10).unwrap_err().message;
        assert!(refused(&["1", "cat"]).contains("sample 12") && refused(&["1", "cat"]).contains("is no number"));
        assert!(refused(&["inf"]).contains("no finite number") && refused(&["nan"]).contains("no finite number"));
    }
}
