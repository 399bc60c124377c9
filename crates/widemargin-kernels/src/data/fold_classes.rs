//! Classes that some folds of a cross-validation are without.

use std::collections::BTreeSet;

use super::Labels;

/// Classes that a message names.
const NAMED: usize = 3;

/// The folds in which each class has samples.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct FoldClasses<'a> {
    labels: &'a Labels,
    groups: Option<&'a Labels>,
    n_folds: usize,
    /// The folds of each class.
    folds_of: Vec<BTreeSet<usize>>,
}

impl<'a> FoldClasses<'a> {
    /// Looks at `folds`, which has the fold of each sample: those of [`stratified_folds`](super::stratified_folds), or,
    /// with the group of each sample, of [`grouped_folds`](super::grouped_folds).
    pub fn new(labels: &'a Labels, groups: Option<&'a Labels>, folds: &[usize]) -> Self {
        let mut folds_of = vec![BTreeSet::new(); labels.classes().len()];
        labels.codes().iter().zip(folds).for_each(|(&class, &fold)| {
            folds_of[class as usize].insert(fold);
        });
        let n_folds = folds.iter().max().map_or(0, |last| last + 1);
        FoldClasses { labels, groups, n_folds, folds_of }
    }

    /// The number of folds that have samples of each class.
    pub fn n_folds(&self) -> Vec<usize> {
        self.folds_of.iter().map(BTreeSet::len).collect()
    }

    /// If a fold leaves only one class to train on: the reason, and the remedy.
    pub fn one_class_left(&self) -> Option<(String, String)> {
        let n_present = self.folds_of.iter().filter(|folds| !folds.is_empty()).count();
        let untrained = self.untrained();
        let alone = |class: &&usize| {
            let n_missing = untrained.iter().filter(|&&other| self.folds_of[other] == self.folds_of[**class]).count();
            n_present < n_missing + 2
        };
        let &class = untrained.iter().find(alone)?;
        Some((format!("{}: a fold leaves one class to train on", self.why(class)), self.remedy()))
    }

    /// A line about the classes that a fold tests without samples of them to train on, and one about those that some
    /// folds do not test.
    pub fn warnings(&self) -> Vec<String> {
        let (classes, mut lines) = (self.labels.classes(), Vec::new());
        let untrained = self.untrained();
        if !untrained.is_empty() {
            let named = self.named(&untrained, |class| self.why(class));
            let remedy = self.remedy();
            lines.push(format!("{named}: no fold tests the class and leaves samples of it to train on; {remedy}"));
        }
        let n_with = self.n_folds();
        let rare: Vec<usize> = (0..classes.len()).filter(|&class| (2..self.n_folds).contains(&n_with[class])).collect();
        if let Some(fewest) = rare.iter().map(|&class| n_with[class]).min() {
            let named = self.named(&rare, |class| match self.groups {
                Some(_) => format!("samples of class '{}' are in {} folds", classes[class], n_with[class]),
                None => format!("class '{}' has {} samples", classes[class], n_with[class]),
            });
            let n = self.n_folds;
            lines.push(format!("{named}: not each of {n} folds tests all classes; with {fewest} folds each can"));
        }
        lines
    }

    /// The classes that only one fold has.
    fn untrained(&self) -> Vec<usize> {
        (0..self.folds_of.len()).filter(|&class| self.folds_of[class].len() == 1).collect()
    }

    /// Why only one fold has a class.
    fn why(&self, class: usize) -> String {
        let label = &self.labels.classes()[class];
        let Some(groups) = self.groups else { return format!("class '{label}' has one sample") };
        let of_class = |&row: &usize| self.labels.codes()[row] as usize == class;
        let names: BTreeSet<_> = (0..groups.len()).filter(of_class).map(|row| groups.get(row)).collect();
        match (names.first(), names.len()) {
            (Some(name), 1) => format!("all samples of class '{label}' are in group '{name}'"),
            _ => format!("the groups of class '{label}' are all in one fold"),
        }
    }

    fn remedy(&self) -> String {
        let missing = if self.groups.is_some() { "samples of other groups" } else { "samples" };
        format!("bring {missing} of the class, or leave it out")
    }

    /// A description of each of the first classes, and the number of the others.
    fn named(&self, classes: &[usize], describe: impl Fn(usize) -> String) -> String {
        let first: Vec<String> = classes.iter().take(NAMED).map(|&class| describe(class)).collect();
        let more = classes.len().saturating_sub(NAMED);
        let rest = if more > 0 { format!(" and {more} classes more") } else { String::new() };
        format!("{}{rest}", first.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_rare_classes_are_counted() {
        let labels = Labels::new([1i64, 1, 1, 2, 2, 2, 3, 4, 5, 6, 7]);
        let folds = [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1];
        let classes = FoldClasses::new(&labels, None, &folds);
        assert_eq!(classes.n_folds(), [3, 3, 1, 1, 1, 1, 1]);
        let warnings = classes.warnings();
        assert_eq!(warnings.len(), 1);
        let first = "class '3' has one sample, class '4' has one sample, class '5' has one sample and 2 classes more: ";
        assert!(warnings[0].starts_with(first), "{}", warnings[0]);
        assert!(classes.one_class_left().is_none());
    }

    #[test]
    fn classes_that_leave_together_leave_one() {
        // Fold 0 has all samples of two of three classes.
        let labels = Labels::new([1i64, 2, 3, 3, 3]);
        let (reason, _) = FoldClasses::new(&labels, None, &[0, 0, 0, 1, 2]).one_class_left().unwrap();
        assert!(reason.starts_with("class '1' has one sample: "), "{reason}");
        assert!(FoldClasses::new(&labels, None, &[0, 1, 0, 1, 2]).one_class_left().is_none());
    }

    #[test]
    fn classes_without_samples_are_not_missed() {
        let labels = Labels::from_codes(vec!["a".into(), "b".into(), "c".into()], vec![0, 2, 0, 2]).unwrap();
        let classes = FoldClasses::new(&labels, None, &[0, 0, 1, 1]);
        assert!(classes.warnings().is_empty() && classes.one_class_left().is_none());
    }
}
