//! The targets of the two-class problems: one problem per class, or a single one for two classes; for multilabel
//! targets, one problem per label, each with weights of its own, 0 for a sample whose label is unknown.

use std::borrow::Cow;

use crate::data::Labels;

/// The sign of each sample in each two-class problem, and its weight there in units of the sample's.
#[derive(Clone, Copy, Debug)]
pub struct OneVsRest<'a> {
    codes: &'a [u32],
    n_classes: usize,
    /// Signed weights of sets of labels, sets × labels, for multilabel targets.
    sets: Option<&'a [f64]>,
}

impl<'a> OneVsRest<'a> {
    /// Targets for samples with the classes `codes`, each below `n_classes` (at least 2).
    pub fn new(codes: &'a [u32], n_classes: usize) -> Self {
        OneVsRest { codes, n_classes, sets: None }
    }

    /// Multiclass or multilabel targets.
    pub fn of(labels: &'a Labels) -> Self {
        let sets = labels.signed_sets();
        OneVsRest { codes: labels.codes(), n_classes: labels.classes().len(), sets }
    }

    /// Multilabel targets: the set of each sample as an index, and the signed weights of the sets, sets × labels.
    pub fn several(codes: &'a [u32], n_labels: usize, sets: &'a [f64]) -> Self {
        OneVsRest { codes, n_classes: n_labels, sets: Some(sets) }
    }

    /// The same of other samples, with these codes.
    pub fn with_codes<'b>(&self, codes: &'b [u32]) -> OneVsRest<'b>
    where
        'a: 'b,
    {
        OneVsRest { codes, ..*self }
    }

    /// The codes of all samples: of classes, or of sets of labels.
    pub(crate) fn codes(&self) -> &'a [u32] {
        self.codes
    }

    /// Number of classes, or of labels.
    pub(crate) fn n_classes(&self) -> usize {
        self.n_classes
    }

    /// Whether the targets are multilabel.
    pub(crate) fn is_multilabel(&self) -> bool {
        self.sets.is_some()
    }

    /// Number of samples.
    pub fn n_samples(&self) -> usize {
        self.codes.len()
    }

    /// The targets of some of the samples.
    pub(crate) fn part(&self, rows: std::ops::Range<usize>) -> Self {
        self.with_codes(&self.codes[rows])
    }

    /// The class of a sample, or its set of labels.
    pub fn code(&self, row: usize) -> u32 {
        self.codes[row]
    }

    /// Number of two-class problems: one for two classes (its positive side is the second class, as in scikit-learn),
    /// otherwise one per class; one per label where samples have several.
    pub fn n_problems(&self) -> usize {
        if self.sets.is_some() { self.n_classes } else { n_problems(self.n_classes) }
    }

    /// Of classes, the problem in which sample `row` is positive, if any.
    pub(crate) fn positive_problem(&self, row: usize) -> Option<usize> {
        let code = self.codes[row] as usize;
        if self.n_classes > 2 { Some(code) } else { (code == 1).then_some(0) }
    }

    /// The signed weight of sample `row` in a multilabel problem.
    fn signed(&self, sets: &[f64], row: usize, problem: usize) -> f64 {
        sets[self.codes[row] as usize * self.n_classes + problem]
    }

    /// +1 or −1: the sign of sample `row` in a problem; −1 where its label is unknown.
    pub fn sign(&self, row: usize, problem: usize) -> f64 {
        let is_positive = match self.sets {
            None => self.positive_problem(row) == Some(problem),
            Some(sets) => self.signed(sets, row, problem) > 0.0,
        };
        if is_positive { 1.0 } else { -1.0 }
    }

    /// The weight of sample `row` in a problem, in units of the sample's weight: 1 for classes, 0 where the label is
    /// unknown.
    pub fn weight(&self, row: usize, problem: usize) -> f64 {
        self.sets.map_or(1.0, |sets| self.signed(sets, row, problem).abs())
    }

    /// The same with equal weights in all problems, and other signs, where weights differ.
    pub(crate) fn evenly(&self) -> OneVsRest<'a> {
        if self.is_even() { *self } else { OneVsRest { sets: None, ..*self } }
    }

    /// Whether all problems weigh every sample the same.
    pub(crate) fn is_even(&self) -> bool {
        self.sets.is_none_or(|sets| sets.iter().all(|signed| signed.abs() == 1.0))
    }

    /// The costs of the samples in a problem, of those of the samples.
    pub(crate) fn costs<'c>(&self, costs: &'c [f64], problem: usize) -> Cow<'c, [f64]> {
        if self.is_even() {
            return Cow::Borrowed(costs);
        }
        Cow::Owned(costs.iter().enumerate().map(|(row, cost)| cost * self.weight(row, problem)).collect())
    }

    /// How wrong the scores of a sample are (one per problem): of classes 0 or 1, of multilabel targets the weight of
    /// the labels on the wrong side, divided by their number.
    pub(crate) fn mistakes(&self, row: usize, scores: &[f64]) -> f64 {
        if self.sets.is_none() {
            return f64::from(u8::from(OneVsRest::decide(scores) != self.codes[row] as usize));
        }
        self.wrong_weights(row, scores).sum::<f64>() / self.n_classes as f64
    }

    /// The weights of the labels whose scores have the wrong sign.
    fn wrong_weights(&self, row: usize, scores: &[f64]) -> impl Iterator<Item = f64> {
        let wrong =
            (0..scores.len()).filter(move |&problem| (scores[problem] > 0.0) != (self.sign(row, problem) > 0.0));
        wrong.map(move |problem| self.weight(row, problem))
    }

    /// The number of labels of a sample that are known: 1 of classes, at most [`OneVsRest::n_known_at_most`].
    pub(crate) fn n_known(&self, row: usize) -> f64 {
        if self.sets.is_none() {
            return 1.0;
        }
        (0..self.n_classes).filter(|&problem| self.weight(row, problem) > 0.0).count() as f64
    }

    /// The number of labels, 1 of classes.
    pub(crate) fn n_known_at_most(&self) -> f64 {
        if self.sets.is_none() { 1.0 } else { self.n_classes as f64 }
    }

    /// How many of the known labels the scores of a sample (one per problem) have wrong: of classes 0 or 1.
    pub(crate) fn n_wrong(&self, row: usize, scores: &[f64]) -> f64 {
        if self.sets.is_none() {
            return self.mistakes(row, scores);
        }
        self.wrong_weights(row, scores).filter(|weight| *weight > 0.0).count() as f64
    }

    /// The weight of a sample, averaged over the problems.
    pub(crate) fn mean_weight(&self, row: usize) -> f64 {
        if self.sets.is_none() {
            return 1.0;
        }
        (0..self.n_classes).map(|problem| self.weight(row, problem)).sum::<f64>() / self.n_classes as f64
    }

    /// The sum of the samples' weights, averaged over the problems.
    pub fn total(&self, weights: &[f64]) -> f64 {
        weights.iter().enumerate().map(|(row, weight)| weight * self.mean_weight(row)).sum()
    }

    /// For each label of multilabel targets the weight of the samples whose value `value(problem, row)` is on the wrong
    /// side, and of all samples whose label is known, whatever their weight in its problem; empty for classes.
    pub(crate) fn label_counts(&self, weights: &[f64], value: impl Fn(usize, usize) -> f64) -> Vec<[f64; 2]> {
        let of_problem = |problem: usize| {
            let mut sums = [0.0; 2];
            for (row, weight) in weights.iter().enumerate().filter(|(row, _)| self.weight(*row, problem) > 0.0) {
                sums[1] += weight;
                sums[0] += if (value(problem, row) > 0.0) == (self.sign(row, problem) > 0.0) { 0.0 } else { *weight };
            }
            sums
        };
        if self.sets.is_none() { Vec::new() } else { (0..self.n_classes).map(of_problem).collect() }
    }

    /// The share of each problem's weight that always answering the more frequent side has wrong.
    pub fn constant_errors(&self, weights: &[f64]) -> Vec<f64> {
        let of_problem = |problem: usize| {
            let mut sides = [0.0; 2];
            for (row, weight) in weights.iter().enumerate() {
                sides[usize::from(self.sign(row, problem) > 0.0)] += weight * self.weight(row, problem);
            }
            sides[0].min(sides[1]) / (sides[0] + sides[1])
        };
        (0..self.n_problems()).map(of_problem).collect()
    }

    /// The class predicted by the scores of one sample (one per problem); the first wins a tie.
    pub fn decide<T: PartialOrd + Default + Copy>(scores: &[T]) -> usize {
        if let [score] = scores {
            return usize::from(*score > T::default());
        }
        let mut best = 0;
        for (class, score) in scores.iter().enumerate().skip(1) {
            if *score > scores[best] {
                best = class;
            }
        }
        best
    }
}

/// Number of two-class problems for `n_classes` classes.
pub(crate) fn n_problems(n_classes: usize) -> usize {
    if n_classes > 2 { n_classes } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_classes_make_one_problem() {
        let two = OneVsRest::new(&[0, 1], 2);
        assert_eq!((two.n_problems(), two.sign(0, 0), two.sign(1, 0)), (1, -1.0, 1.0));
        let three = OneVsRest::new(&[0, 2], 3);
        assert_eq!((three.n_problems(), three.sign(1, 2), three.sign(1, 0)), (3, 1.0, -1.0));
        assert_eq!(OneVsRest::decide(&[-0.5]), 0);
        assert_eq!(OneVsRest::decide(&[0.5]), 1);
        assert_eq!(OneVsRest::decide(&[0.1, 0.7, 0.7]), 1);
    }
}
