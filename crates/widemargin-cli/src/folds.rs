//! The folds of a cross-validation, and what is wrong with them.

use std::path::{Path, PathBuf};

use clap::Args;
use widemargin::data::{FoldClasses, Labels, grouped_folds, stratified_folds};
use widemargin::select::{Answers, Scoring};
use widemargin_io::{LabelColumn, Table, read_groups};

use crate::context::Context;
use crate::report::{Failure, in_file, refused, shown};

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
    /// Divides the samples of a file: by their groups, if there are some, and balanced in classes, if there are labels;
    /// a class that some folds are without is a warning. The score is defined for all folds.
    pub fn folds(
        &self,
        context: &Context,
        (file, table): (&Path, &Table),
        answers: &Answers<'_>,
        scoring: Scoring,
    ) -> Result<Folds, Failure> {
        let (n, seed) = (table.samples.n_rows(), context.common.seed);
        let labels = match answers {
            Answers::Labels(labels) if table.indicators.is_none() => Some(&**labels),
            _ => None,
        };
        labels.map_or(Ok(()), |labels| labels.check(n)).map_err(|error| in_file(error, file, table, 0))?;
        let groups = self.group_file.as_ref().map(|groups| self.read(groups, file, n)).transpose()?;
        let groups = groups.or_else(|| table.groups.clone());
        // With one class for all, there is nothing but the sizes to balance.
        let classes = labels.cloned().unwrap_or_else(|| Labels::new(vec![0i64; n]));
        let of = match &groups {
            Some(groups) => grouped_folds(&classes, groups, self.folds, seed)?,
            None => stratified_folds(&classes, self.folds, seed)?,
        };
        if labels.is_some() {
            let classes = FoldClasses::new(&classes, groups.as_ref(), &of);
            if let Some((problem, help)) = classes.one_class_left() {
                return refused(format!("{}: {problem}", shown(file)), help);
            }
            classes.warnings().into_iter().for_each(|line| context.warn(&line));
        }
        let folds = Folds { of, n_groups: groups.map(|groups| groups.classes().len()) };
        folds.check(scoring, answers)?;
        Ok(folds)
    }

    fn read(&self, groups: &Path, file: &Path, n: usize) -> Result<Labels, Failure> {
        if groups.as_os_str() == "-" {
            return refused("--group-file is not read from standard input", "write them to a file");
        }
        let read = read_groups(groups)?;
        if read.len() == n {
            return Ok(read);
        }
        let (groups, file, found) = (shown(groups), shown(file), read.len());
        let failure = format!("{groups}: groups of {found} samples, and {file} has {n}");
        refused(failure, "the file has the group of one sample on each line, without a header")
    }
}

impl Folds {
    /// Refuses a score that is not defined for the labels, or for a fold.
    fn check(&self, scoring: Scoring, answers: &Answers<'_>) -> Result<(), Failure> {
        if let Answers::Labels(labels) = answers {
            let all: Vec<usize> = (0..labels.len()).collect();
            scoring.check(labels, labels.select(&all).classes())?;
        }
        let n_folds = self.of.iter().max().map_or(0, |last| last + 1);
        for fold in 0..n_folds {
            let (test, train): (Vec<_>, Vec<_>) = (0..self.of.len()).partition(|&row| self.of[row] == fold);
            let name = format!("fold {} of {n_folds}", fold + 1);
            if let Answers::Labels(labels) = answers {
                let checked = scoring.check(&labels.select(&test), labels.select(&train).classes());
                let help = "ask for fewer --folds, or take --scoring balanced-accuracy";
                checked.or_else(|error| refused(format!("{name}: {error}"), help))?;
            } else if scoring == Scoring::R2 && test.len() < 2 {
                let help = "ask for fewer --folds, or take --scoring neg-mean-absolute-error";
                return refused(format!("{name} has one sample, and {scoring} takes two"), help);
            }
        }
        Ok(())
    }
}
