//! The folds of a cross-validation, and what is wrong with them.

use std::path::{Path, PathBuf};

use clap::Args;
use widemargin::data::{FoldClasses, Labels, grouped_folds, stratified_folds};
use widemargin::select::{RegressionScoring, Scoring};
use widemargin_io::{LabelColumn, read_groups};

use crate::context::Context;
use crate::report::{Failure, shown};

/// How samples are divided.
#[derive(Clone, Debug, Args)]
pub struct FoldArgs {
    /// Number of folds
    #[arg(long, default_value_t = 5, value_name = "N")]
    pub folds: usize,
    /// Column of groups, which are never split between folds
    ///
    /// The column of a CSV or TSV file, by name or number, that contains the group of each sample, such as a person. It
    /// is not used as a feature.
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true, conflicts_with = "group_file")]
    pub group: Option<LabelColumn>,
    /// File with the group of each sample, one name per line
    ///
    /// The file has no header, and the order of the samples.
    #[arg(long, value_name = "FILE")]
    pub group_file: Option<PathBuf>,
}

/// The fold of each sample.
pub struct Folds {
    /// From 0.
    pub of: Vec<usize>,
    /// Number of groups, where there are some.
    pub n_groups: Option<usize>,
}

impl FoldArgs {
    /// Divides the `n` samples of a file: by their groups, if there are some, and balanced in classes, if there are labels;
    /// a class that some folds are without is a warning.
    pub fn folds(
        &self,
        context: &Context,
        file: &Path,
        n: usize,
        labels: Option<&Labels>,
        column: Option<&Labels>,
    ) -> Result<Folds, Failure> {
        let seed = context.common.seed;
        let groups = self.group_file.as_ref().map(|groups| self.read(groups, file, n)).transpose()?;
        let groups = groups.or_else(|| column.cloned());
        // With one class for all, there is nothing but the sizes to balance.
        let classes = labels.cloned().unwrap_or_else(|| Labels::new(vec![0i64; n]));
        let of = match &groups {
            Some(groups) => grouped_folds(&classes, groups, self.folds, seed)?,
            None => stratified_folds(&classes, self.folds, seed)?,
        };
        if labels.is_some() {
            let classes = FoldClasses::new(&classes, groups.as_ref(), &of);
            if let Some((problem, help)) = classes.one_class_left() {
                return Err(Failure::input(format!("{}: {problem}", shown(file))).help(help));
            }
            classes.warnings().into_iter().for_each(|line| context.warn(&line));
        }
        Ok(Folds { of, n_groups: groups.map(|groups| groups.classes().len()) })
    }

    fn read(&self, groups: &Path, file: &Path, n: usize) -> Result<Labels, Failure> {
        if groups.as_os_str() == "-" {
            return Err(Failure::input("--group-file is not read from standard input").help("write them to a file"));
        }
        let read = read_groups(groups)?;
        if read.len() == n {
            return Ok(read);
        }
        let (groups, file, found) = (shown(groups), shown(file), read.len());
        let failure = Failure::input(format!("{groups}: groups of {found} samples, and {file} has {n}"));
        Err(failure.help("the file has the group of one sample on each line, without a header"))
    }
}

impl Folds {
    fn n_folds(&self) -> usize {
        self.of.iter().max().map_or(0, |last| last + 1)
    }

    /// The rows of a fold, and all others.
    fn rows(&self, fold: usize) -> (Vec<usize>, Vec<usize>) {
        (0..self.of.len()).partition(|&row| self.of[row] == fold)
    }

    /// Refuses a score of numbers that folds have too few samples for.
    pub fn check_sizes(&self, scoring: RegressionScoring) -> Result<(), Failure> {
        let n_folds = self.n_folds();
        match (0..n_folds).find(|&fold| scoring == RegressionScoring::R2 && self.rows(fold).0.len() < 2) {
            None => Ok(()),
            Some(fold) => {
                let failure = format!("fold {} of {n_folds} has one sample, and {scoring} takes two", fold + 1);
                Err(Failure::input(failure).help("ask for fewer --folds, or take --scoring neg-mean-absolute-error"))
            }
        }
    }

    /// Refuses a score that is not defined for a fold.
    pub fn check_scoring(&self, scoring: Scoring, labels: &Labels) -> Result<(), Failure> {
        let all: Vec<usize> = (0..labels.len()).collect();
        scoring.check(labels, labels.select(&all).classes())?;
        let n_folds = self.n_folds();
        (0..n_folds).try_for_each(|fold| {
            let (test, train) = self.rows(fold);
            scoring.check(&labels.select(&test), labels.select(&train).classes()).map_err(|error| {
                let failure = Failure::input(format!("fold {} of {n_folds}: {error}", fold + 1));
                failure.help("ask for fewer --folds, or take --scoring balanced-accuracy")
            })
        })
    }
}
