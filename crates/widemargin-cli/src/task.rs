//! What is to be predicted: classes, numbers or nothing but outliers, from the labels of a table.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;

use indicatif::HumanCount;
use widemargin::data::{Label, Labels, Targets};
use widemargin::select::{Answers, Method, Task};
use widemargin_io::{Indicators, Table};

use crate::args::Input;
use crate::context::Context;
use crate::parameters::tasks_of;
use crate::report::{Failure, refused, shown};
use crate::text_table::{beginning, list};

/// What a method is to predict of a table's samples, by the task that is passed; nothing for outlier detection.
pub fn answers<'a>(
    context: &Context,
    task: Option<Task>,
    method: Method,
    input: &Input,
    table: &'a Table,
) -> Result<Option<Answers<'a>>, Failure> {
    let file = &input.data;
    match task {
        Some(Task::Regression) => {
            let targets = Targets::single(targets_of(table.require_labels(file)?, file, 0)?)?;
            return Ok(Some(Answers::Targets(Cow::Owned(targets))));
        }
        Some(Task::OutlierDetection) => {
            note_labels(context, input, table);
            return Ok(None);
        }
        Some(Task::Classification) => {}
        None => check_classes(context, method, input, table)?,
    }
    Ok(Some(Answers::Labels(table.any_labels(file)?)))
}

/// The label of a table, in a line.
pub fn described(table: &Table, answers: Option<&Answers<'_>>) -> Option<String> {
    let column = |what: &str| match &table.label_column {
        Some(column) => format!("label: column {column}, {what}"),
        None => format!("label: {what}"),
    };
    Some(match answers? {
        Answers::Labels(labels) if table.labels.is_none() => format!("labels: {}", list(labels.classes(), ", ")),
        Answers::Labels(labels) => column(&describe_classes(labels)),
        Answers::Targets(_) => column("numbers"),
    })
}

/// Classes that are listed with their counts.
const LISTED: usize = 8;

/// How many samples each class has, in a line.
fn describe_classes(labels: &Labels) -> String {
    let (classes, mut counts) = (labels.classes(), vec![0_u64; labels.classes().len()]);
    labels.codes().iter().for_each(|&code| counts[code as usize] += 1);
    let listed = classes.iter().zip(&counts).map(|(class, count)| format!("{class} ({})", HumanCount(*count)));
    format!("{} classes: {}", classes.len(), beginning(listed, LISTED))
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

/// Samples below which each may have a class of its own: a trial of a few rows.
const MIN_LABELED_ROWS: usize = 10;

/// Samples from which on many classes are worth a warning.
const MIN_WARNING_ROWS: usize = 20;

/// Values beyond which whole numbers may be no classes, and how many rows each then has at least if they are.
const MIN_TARGET_VALUES: usize = 10;
const MIN_ROWS_PER_CLASS: usize = 4;

/// Checks that labels to train a classifier with are classes.
///
/// Refused are labels that all differ, and numbers with fractions: all of them where the column was not named by the
/// user, else where most of them differ. Where the method is one of regression too, the task is asked for if they could
/// be meant. Images are labeled by folders, or in their files, and are not looked at.
fn check_classes(context: &Context, method: Method, input: &Input, table: &Table) -> Result<(), Failure> {
    let Some(labels) = table.labels.as_ref().filter(|_| table.samples.kind() != "images") else { return Ok(()) };
    let (n, distinct) = (labels.len(), n_distinct(labels));
    let is_chosen_by_us = input.label.is_none() && table.label_column.is_some();
    let are_most_different = n >= MIN_LABELED_ROWS && 2 * distinct > n;
    let chosen = match &table.label_column {
        Some(column) if is_chosen_by_us => format!("column {column} was taken for the label and has"),
        Some(column) => format!("column {column}, the label, has"),
        None => "the labels have".to_owned(),
    };
    let problem = match with_fraction(labels).filter(|_| is_chosen_by_us || are_most_different) {
        Some(fraction) => Some(format!("numbers with fractions, such as {fraction}: they are no classes")),
        None if n >= MIN_LABELED_ROWS && distinct == n => {
            Some(format!("another value in each of {} rows: they are no classes", HumanCount(n as u64)))
        }
        None => None,
    };
    let file = shown(&input.data);
    if let Some(numbers) = could_be_numbers(labels).filter(|_| tasks_of(method).any(|task| task == Task::Regression)) {
        let problem = problem.unwrap_or_else(|| format!("{numbers}: are they classes, or numbers to predict?"));
        let name = table.label_column.as_ref().map_or("", |_| "; or name the label column with --label NAME or NUMBER");
        let help = format!("say which: --task regression for numbers, --task classification for classes{name}");
        return refused(format!("{file}: {chosen} {problem}"), help);
    }
    if let Some(problem) = problem {
        let help = match &table.label_column {
            Some(_) if is_chosen_by_us && !are_most_different => {
                "name the column of the labels with --label NAME or NUMBER, this one too if its numbers are classes"
            }
            Some(_) => "name the column of the labels with --label NAME or NUMBER (1 is the first column, -1 the last)",
            None => "labels are classes, and each class has several samples",
        };
        return refused(format!("{file}: {chosen} {problem}"), help);
    }
    if n >= MIN_WARNING_ROWS && are_most_different {
        let (distinct, n) = (HumanCount(distinct as u64), HumanCount(n as u64));
        let where_from = table.label_column.as_ref().map(|column| format!(" in column {column}")).unwrap_or_default();
        context.warn(&format!("{distinct} different labels{where_from} for {n} samples: are they classes?"));
    }
    Ok(())
}

fn n_distinct(labels: &Labels) -> usize {
    labels.codes().iter().collect::<BTreeSet<_>>().len()
}

/// Why labels may be numbers to predict: fractions, or many different whole numbers for their rows.
fn could_be_numbers(labels: &Labels) -> Option<String> {
    if let Some(fraction) = with_fraction(labels) {
        return Some(format!("numbers with fractions, such as {fraction}"));
    }
    let (n, distinct) = (labels.len(), n_distinct(labels));
    let are_whole = labels.classes().iter().all(|label| number(label).is_some());
    (are_whole && distinct > MIN_TARGET_VALUES && MIN_ROWS_PER_CLASS * distinct > n)
        .then(|| format!("{} different numbers in {} rows", HumanCount(distinct as u64), HumanCount(n as u64)))
}

/// A label with a fraction, where all labels are numbers.
fn with_fraction(labels: &Labels) -> Option<&Label> {
    let numbers = labels.classes().iter().map(|label| Some((label, number(label)?)));
    let numbers = numbers.collect::<Option<Vec<_>>>()?;
    numbers.into_iter().rev().find(|(_, number)| number.fract() != 0.0).map(|(label, _)| label)
}

/// The finite number that a label is.
fn number(label: &Label) -> Option<f64> {
    match label {
        Label::Integer(value) => Some(*value as f64),
        Label::Text(text) => widemargin_io::number(text).filter(|value| value.is_finite()),
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
                false if label.to_string().contains(',') => {
                    "if the comma is a decimal mark, pass --decimal ,; if it separates thousands, --decimal ."
                }
                false => "targets of a regression are numbers: name their column with --label, or leave --task out for classes",
            };
            Failure::input(failure).help(help)
        })
    };
    (0..labels.len()).map(one).collect()
}

/// The indicators, samples × labels, in the order of the model's labels. Their column is that of the name, or of the
/// place where a matrix has no names; where samples list their labels, a label that none has is 0.
pub fn in_order(several: &Indicators, names: &[Label], input: &Input) -> Result<Vec<f64>, Failure> {
    let are_numbers = several.names.iter().enumerate().all(|(at, name)| *name == Label::Integer(at as i64));
    if are_numbers && several.names.len() == names.len() {
        return Ok(several.values.clone());
    }
    let place = |name: &Label| match several.names.iter().position(|known| known.class_among(names) == Some(name)) {
        None if !several.are_listed => refused(
            format!("{}: there is no label '{name}', which the model predicts", shown(&input.data)),
            "give the columns of all labels of the model",
        ),
        place => Ok(place),
    };
    let order = names.iter().map(place).collect::<Result<Vec<_>, _>>()?;
    let row = |row: &[f64]| order.iter().map(|at| at.map_or(0.0, |at| row[at])).collect::<Vec<_>>();
    Ok(several.values.chunks(several.names.len().max(1)).flat_map(row).collect())
}

/// The indicators of samples, which a multilabel model is evaluated on.
///
/// # Errors
/// Samples without the labels that the model predicts.
pub fn require_indicators<'a>(several: &'a Option<Indicators>, input: &Input) -> Result<&'a Indicators, Failure> {
    several.as_ref().ok_or_else(|| {
        let data = shown(&input.data);
        let failure = format!("{data}: the model is multilabel, and the samples have none of its labels");
        Failure::input(failure)
            .help("name their columns with --label A,B or their file with --label-file, as in training")
    })
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

    #[test]
    fn only_numbers_have_fractions() {
        for right in [&["1.0", "2.0"][..], &["a", "0.5"], &["1", "nan", "0.5"], &["1e300", "2"]] {
            assert_eq!(with_fraction(&labels(right)), None, "{right:?}");
        }
        assert_eq!(with_fraction(&labels(&["1", "2.5", "1e300"])), Some(&"2.5".into()));
    }
}
