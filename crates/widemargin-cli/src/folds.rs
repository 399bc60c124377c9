//! The folds of a cross-validation, and what is wrong with them.

use std::path::{Path, PathBuf};

use clap::Args;
use widemargin::data::{Labels, grouped_folds, n_folds_of_classes, stratified_folds};
use widemargin::select::Scoring;
use widemargin_io::read_groups;

use crate::context::Context;
use crate::report::{Failure, shown};

/// Classes that a message names.
const NAMED: usize = 3;

/// How samples are divided.
#[derive(Clone, Debug, Args)]
pub struct FoldArgs {
    /// Number of folds
    #[arg(long, default_value_t = 5, value_name = "N")]
    pub folds: usize,
    /// A text file with the group of each sample, one name a line in the order of the samples and no header: samples of
    /// one group, such as those of one person, are never divided between folds. Of a CSV file with a header the third
    /// column is such a file by `tail -n +2 data.csv | cut -d, -f3`; the column itself is then to be left out of the data
    #[arg(long, value_name = "FILE")]
    pub groups: Option<PathBuf>,
}

/// The fold of each sample.
pub struct Folds {
    /// From 0.
    pub of: Vec<usize>,
    /// Number of groups, where there are some.
    pub n_groups: Option<usize>,
}

impl FoldArgs {
    /// Divides the samples of a file, balanced in classes; a class that some folds are without is a warning.
    pub fn folds(&self, context: &Context, file: &Path, labels: &Labels) -> Result<Folds, Failure> {
        let seed = context.common.seed;
        let groups = self.groups.as_ref().map(|groups| self.read(groups, file, labels.len())).transpose()?;
        let of = match &groups {
            Some(groups) => grouped_folds(labels, groups, self.folds, seed)?,
            None => stratified_folds(labels, self.folds, seed)?,
        };
        self.check_classes(context, file, labels, groups.as_ref(), &of)?;
        Ok(Folds { of, n_groups: groups.map(|groups| groups.classes().len()) })
    }

    fn read(&self, groups: &Path, file: &Path, n: usize) -> Result<Labels, Failure> {
        if groups.as_os_str() == "-" {
            return Err(Failure::input("--groups is not read from standard input").help("write them to a file"));
        }
        let read = read_groups(groups)?;
        if read.len() == n {
            return Ok(read);
        }
        let (groups, file, found) = (shown(groups), shown(file), read.len());
        let failure = Failure::input(format!("{groups}: groups of {found} samples, and {file} has {n}"));
        Err(failure.help("the file has the group of one sample on each line, without a header"))
    }

    /// Refuses folds that leave samples of one class to train on; warns of classes that some folds are without.
    fn check_classes(
        &self,
        context: &Context,
        file: &Path,
        labels: &Labels,
        groups: Option<&Labels>,
        folds: &[usize],
    ) -> Result<(), Failure> {
        let classes = labels.classes();
        let n_with = n_folds_of_classes(labels, folds);
        let n_present = n_with.iter().filter(|n| **n > 0).count();
        let untrained: Vec<usize> = (0..classes.len()).filter(|&class| n_with[class] == 1).collect();
        let why = |class: usize| {
            let rows: Vec<usize> = (0..labels.len()).filter(|&row| labels.codes()[row] as usize == class).collect();
            match groups {
                Some(groups) if rows.iter().any(|&row| groups.codes()[row] != groups.codes()[rows[0]]) => {
                    format!("the groups of class '{}' are all in one fold", classes[class])
                }
                Some(groups) => {
                    format!("all samples of class '{}' are in group '{}'", classes[class], groups.get(rows[0]))
                }
                None => format!("class '{}' has one sample", classes[class]),
            }
        };
        let what = if groups.is_some() { "samples of other groups" } else { "samples" };
        let remedy = format!("bring {what} of the class, or leave it out");
        // Without the classes of a fold's own, one is left.
        let fold_of = |class: usize| (0..labels.len()).find(|&row| labels.codes()[row] as usize == class);
        let alone = |&class: &usize| {
            let fold = fold_of(class).map(|row| folds[row]);
            let lost = untrained.iter().filter(|&&other| fold_of(other).map(|row| folds[row]) == fold).count();
            n_present - lost < 2
        };
        let name = file.display();
        if let Some(&class) = untrained.iter().find(|class| alone(class)) {
            let failure = Failure::input(format!("{name}: {}: a fold leaves one class to train on", why(class)));
            return Err(failure.help(remedy));
        }
        if !untrained.is_empty() {
            let named: Vec<String> = untrained.iter().take(NAMED).map(|&class| why(class)).collect();
            context.note(&format!(
                "warning: {}{}: no fold tests the class and leaves samples of it to train on; {remedy}",
                named.join(", "),
                and_more(untrained.len()),
            ));
        }
        let rare: Vec<usize> = (0..classes.len()).filter(|&class| (2..self.folds).contains(&n_with[class])).collect();
        if let Some(fewest) = rare.iter().map(|&class| n_with[class]).min() {
            let class = |&class: &usize| match groups {
                Some(_) => format!("samples of class '{}' are in {} folds", classes[class], n_with[class]),
                None => format!("class '{}' has {} samples", classes[class], n_with[class]),
            };
            let named: Vec<String> = rare.iter().take(NAMED).map(class).collect();
            context.note(&format!(
                "warning: {}{}: not each of {} folds tests all classes; with --folds {fewest} each can",
                named.join(", "),
                and_more(rare.len()),
                self.folds,
            ));
        }
        Ok(())
    }
}

impl Folds {
    /// Refuses a score that is not defined for a fold.
    pub fn check_scoring(&self, scoring: Scoring, labels: &Labels) -> Result<(), Failure> {
        let all: Vec<usize> = (0..labels.len()).collect();
        scoring.check(labels, labels.select(&all).classes())?;
        let n_folds = self.of.iter().max().map_or(0, |last| last + 1);
        for fold in 0..n_folds {
            let (test, train): (Vec<usize>, Vec<usize>) = (0..self.of.len()).partition(|&row| self.of[row] == fold);
            scoring.check(&labels.select(&test), labels.select(&train).classes()).map_err(|error| {
                let failure = Failure::input(format!("fold {} of {n_folds}: {error}", fold + 1));
                failure.help("ask for fewer --folds, or take --scoring balanced-accuracy")
            })?;
        }
        Ok(())
    }
}

fn and_more(n: usize) -> String {
    if n > NAMED { format!(" and {} classes more", n - NAMED) } else { String::new() }
}
