//! One-vs-rest targets: one problem per class, or a single one for two classes.

/// The sign of each sample in each two-class problem.
#[derive(Clone, Copy, Debug)]
pub struct OneVsRest<'a> {
    codes: &'a [u32],
    n_classes: usize,
}

impl<'a> OneVsRest<'a> {
    /// Targets for samples with the classes `codes`, each below `n_classes` (at least 2).
    pub fn new(codes: &'a [u32], n_classes: usize) -> Self {
        OneVsRest { codes, n_classes }
    }

    /// Number of samples.
    pub fn n_samples(&self) -> usize {
        self.codes.len()
    }

    /// The targets of some of the samples.
    pub(crate) fn part(&self, rows: std::ops::Range<usize>) -> Self {
        OneVsRest { codes: &self.codes[rows], n_classes: self.n_classes }
    }

    /// The class of a sample.
    pub fn code(&self, row: usize) -> u32 {
        self.codes[row]
    }

    /// Number of two-class problems: one for two classes (its positive side is the second class, as in scikit-learn),
    /// otherwise one per class.
    pub fn n_problems(&self) -> usize {
        n_problems(self.n_classes)
    }

    /// The problem in which sample `row` is positive, if any.
    #[inline]
    pub fn positive_problem(&self, row: usize) -> Option<usize> {
        let code = self.codes[row] as usize;
        if self.n_classes > 2 { Some(code) } else { (code == 1).then_some(0) }
    }

    /// +1 or −1: the sign of sample `row` in a problem.
    #[inline]
    pub fn sign(&self, row: usize, problem: usize) -> f64 {
        if self.positive_problem(row) == Some(problem) { 1.0 } else { -1.0 }
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
