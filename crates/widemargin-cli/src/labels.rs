//! Whether labels are classes, or a column was taken for them that holds something else.

use std::collections::BTreeSet;

use indicatif::HumanCount;
use widemargin::data::{Label, Labels};
use widemargin_io::{Samples, Table};

use crate::args::Input;
use crate::context::Context;
use crate::report::{Failure, shown};

/// Samples below which each may have a class of its own: a trial of a few rows.
const FEW: usize = 10;

/// Samples from which on many classes are worth a warning.
const MANY: usize = 20;

/// Checks that the labels to train with are classes.
///
/// Refused are labels that all differ, and numbers with fractions: all of them where the column was not
/// named by the user, else where most of them differ. Images are labeled by folders, or in their files, and are not
/// looked at.
pub fn check_labels(context: &Context, input: &Input, table: &Table) -> Result<(), Failure> {
    let Some(labels) = &table.labels else { return Ok(()) };
    if matches!(&table.samples, Samples::Other(samples) if samples.kind() == "images") {
        return Ok(());
    }
    let n = labels.len();
    let distinct = labels.codes().iter().collect::<BTreeSet<_>>().len();
    let fraction = with_fraction(labels);
    let are_most_different = n >= FEW && 2 * distinct > n;
    let is_chosen_by_us = input.label.is_none() && table.label_column.is_some();
    let file = shown(&input.data);
    let (taken, has) = match &table.label_column {
        Some(column) if input.label.is_none() => (format!("column {column} was taken for the labels and"), "has"),
        Some(column) => (format!("column {column}, the labels,"), "has"),
        None => ("the labels".to_owned(), "have"),
    };
    let help = match &table.label_column {
        Some(_) if is_chosen_by_us && !are_most_different => {
            "name the column of the labels with --label NAME or NUMBER, this one too if its numbers are classes"
        }
        Some(_) => "name the column of the labels with --label NAME or NUMBER (1 is the first column, -1 the last)",
        None => "labels are classes, and each class has several samples",
    };
    let refused = |what: String| Err(Failure::input(format!("{file}: {taken} {has} {what}")).help(help));
    if let Some(fraction) = fraction
        && (is_chosen_by_us || are_most_different)
    {
        return refused(format!("numbers with fractions, such as {fraction}: they are no classes"));
    }
    if n >= FEW && distinct == n {
        return refused(format!("another value in each of {} rows: they are no classes", HumanCount(n as u64)));
    }
    if n >= MANY && 2 * distinct > n {
        let (distinct, n) = (HumanCount(distinct as u64), HumanCount(n as u64));
        let where_from = table.label_column.as_ref().map(|column| format!(" in column {column}")).unwrap_or_default();
        context.warn(&format!("{distinct} different labels{where_from} for {n} samples: are they classes?"));
    }
    Ok(())
}

/// Classes that are listed with their counts.
const LISTED: usize = 8;

/// How many samples each class has, in a line.
pub fn describe_classes(labels: &Labels) -> String {
    let (classes, mut counts) = (labels.classes(), vec![0_u64; labels.classes().len()]);
    labels.codes().iter().for_each(|&code| counts[code as usize] += 1);
    let listed =
        classes.iter().zip(&counts).take(LISTED).map(|(class, count)| format!("{class} ({})", HumanCount(*count)));
    let more = if classes.len() > LISTED { ", …" } else { "" };
    format!("{} classes: {}{more}", classes.len(), listed.collect::<Vec<_>>().join(", "))
}

/// A label with a fraction, where all labels are numbers.
pub fn with_fraction(labels: &Labels) -> Option<&str> {
    let mut found = None;
    for label in labels.classes() {
        match label {
            Label::Integer(_) => {}
            Label::Text(text) => match text.parse::<f64>() {
                Ok(number) if number.is_finite() && number.fract() != 0.0 => found = Some(text.as_str()),
                Ok(number) if number.is_finite() => {}
                _ => return None,
            },
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_have_fractions() {
        let labels = |labels: &[&str]| Labels::new(labels.iter().map(|text| Label::parse(text)));
        for right in [&["1.0", "2.0"][..], &["a", "0.5"], &["1", "nan", "0.5"], &["1e300", "2"]] {
            assert_eq!(with_fraction(&labels(right)), None, "{right:?}");
        }
        assert_eq!(with_fraction(&labels(&["1", "2.5", "1e300"])), Some("2.5"));
    }
}
