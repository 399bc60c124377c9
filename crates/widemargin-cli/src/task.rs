//! Whether a model is trained for classes, for numbers or for one class, and the numbers.

use std::collections::BTreeSet;
use std::path::Path;

use clap::ValueEnum;
use indicatif::HumanCount;
use widemargin::Result;
use widemargin::data::{Label, Labels, Targets};
use widemargin::model::Regressor;
use widemargin::monitor::Monitor;
use widemargin::problem::RegressionLoss;
use widemargin::select::RegressionScoring;
use widemargin_io::Table;

use crate::args::Input;
use crate::context::Context;
use crate::labels::{check_labels, with_fraction};
use crate::report::{Failure, in_file, shown};
use crate::training_data::Data;

/// What a model predicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TaskName {
    /// The class of a sample.
    Classification,
    /// A number.
    Regression,
    /// Whether a sample is like those of the training.
    OneClass,
}

/// A fit of a regression model.
pub struct Regression {
    /// Samples and their targets.
    #[expect(clippy::type_complexity, reason = "it is named here only")]
    pub fit: Box<dyn Fn(Data<'_>, &Targets, &Monitor<'_>) -> Result<Box<dyn Regressor>>>,
    /// The score that suits its loss.
    pub scoring: RegressionScoring,
}

impl Regression {
    /// The model of a whole table, with the names or the words of its columns; `file` is where the table is from.
    pub fn model(
        &self,
        (file, table): (&Path, &Table),
        targets: &Targets,
        monitor: &Monitor<'_>,
    ) -> std::result::Result<Box<dyn Regressor>, Failure> {
        let samples = Data::Samples(&table.samples, table.weights.as_deref());
        let model = (self.fit)(samples, targets, monitor).map_err(|error| in_file(error, file, table, 0))?;
        let model = match &table.columns {
            Some(columns) => {
                let model = model.with_table_columns(Some(columns.clone()))?;
                model.with_remarks(columns.told(), Vec::new())
            }
            None => model.with_feature_names(table.feature_names.clone())?,
        };
        Ok(model.with_column_roles(table.roles.clone())?)
    }

    /// The refusal of a method that has none.
    pub fn none_of(method: &str) -> Failure {
        Failure::input(format!("--task regression: {method} predicts classes"))
            .help("basis-expansion and thin-plate train regression models")
    }

    /// Refuses flags of classes, each with whether it was given.
    pub fn check(flags: &[(&str, bool)]) -> std::result::Result<(), Failure> {
        match flags.iter().find(|(_, is_given)| *is_given) {
            Some((flag, _)) => {
                let help = match *flag {
                    "--loss" => format!("losses of numbers are {}", RegressionLoss::NAMES.join(", ")),
                    _ => "leave it out".into(),
                };
                Err(Failure::input(format!("{flag} is of classes, and not of --task regression")).help(help))
            }
            None => Ok(()),
        }
    }
}

/// Values beyond which whole numbers may be no classes, and how many rows each then has at least if they are.
const FEW_VALUES: usize = 10;
const ROWS_A_CLASS: usize = 4;

/// Checks that labels to train a classifier with are classes: asks for the task where they could be numbers to predict as
/// well, and the method predicts these.
pub fn check_classes(
    context: &Context,
    task: Option<TaskName>,
    regresses: bool,
    input: &Input,
    table: &Table,
) -> std::result::Result<(), Failure> {
    match (task, &table.labels) {
        (Some(_), _) => Ok(()),
        (None, Some(labels)) if regresses => {
            let told = check_labels(context, input, table);
            let Some(found) = could_be_numbers(labels) else { return told };
            let message = told.err().map(|failure| failure.message).unwrap_or_else(|| {
                let taken = table.label_column.as_ref().map_or_else(
                    || "the labels have".to_owned(),
                    |column| match input.label {
                        None => format!("column {column} was taken for the labels and has"),
                        Some(_) => format!("column {column}, the labels, has"),
                    },
                );
                format!("{}: {taken} {found}: are they classes, or numbers to predict?", shown(&input.data))
            });
            let name = if table.label_column.is_some() {
                "; or name the column of the labels with --label NAME or NUMBER"
            } else {
                ""
            };
            Err(Failure::input(message)
                .help(format!("say which: --task regression predicts numbers, --task classification classes{name}")))
        }
        _ => check_labels(context, input, table),
    }
}

/// What tells that labels may be numbers to predict: fractions, or many different whole numbers for their rows.
fn could_be_numbers(labels: &Labels) -> Option<String> {
    if let Some(fraction) = with_fraction(labels) {
        return Some(format!("numbers with fractions, such as {fraction}"));
    }
    let n = labels.len();
    let distinct = labels.codes().iter().collect::<BTreeSet<_>>().len();
    let are_whole = labels.classes().iter().all(|label| number(label).is_some());
    (are_whole && distinct > FEW_VALUES && ROWS_A_CLASS * distinct > n).then(|| {
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

/// The labels as targets; `first` is the number of their first sample.
///
/// # Errors
/// A label that is no number, or none that is finite.
pub fn targets_of(labels: &Labels, file: &Path, first: u64) -> std::result::Result<Vec<f64>, Failure> {
    let one = |row: usize| {
        let label = labels.get(row);
        number(label).ok_or_else(|| {
            let at = first + row as u64;
            let is_number = label.to_string().parse::<f64>().is_ok();
            let problem = if is_number { "is no finite number" } else { "is no number" };
            let failure = format!("{}: sample {at} (0 is the first) has the target '{label}', which {problem}", shown(file));
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
        assert!(refused(&["1", "cat"]).contains("sample 11") && refused(&["1", "cat"]).contains("is no number"));
        assert!(refused(&["inf"]).contains("no finite number") && refused(&["nan"]).contains("no finite number"));
    }
}
