//! Cross-validation of any fit and score function.

use crate::error::Result;

/// The score of each fold.
#[derive(Clone, Debug, PartialEq)]
pub struct CrossValidation {
    /// One score per fold.
    pub scores: Vec<f64>,
}

impl CrossValidation {
    /// Mean score.
    pub fn mean(&self) -> f64 {
        self.scores.iter().sum::<f64>() / self.scores.len() as f64
    }

    /// Sample standard deviation of the scores over the folds (with divisor folds − 1).
    pub fn standard_deviation(&self) -> f64 {
        let mean = self.mean();
        let squares: f64 = self.scores.iter().map(|score| (score - mean).powi(2)).sum();
        (squares / (self.scores.len() - 1) as f64).sqrt()
    }
}

/// Calls `fit_and_score(train_rows, test_rows)` for each fold, in ascending order; `folds` has the fold of each sample, as
/// [`stratified_folds`](crate::data::stratified_folds) and [`grouped_folds`](crate::data::grouped_folds) give them.
///
/// # Errors
/// Those of `fit_and_score`.
pub fn cross_validate(
    folds: &[usize],
    mut fit_and_score: impl FnMut(&[usize], &[usize]) -> Result<f64>,
) -> Result<CrossValidation> {
    let n_folds = folds.iter().max().map_or(0, |last| last + 1);
    let mut scores = Vec::with_capacity(n_folds);
    for fold in 0..n_folds {
        let (test, train): (Vec<usize>, Vec<usize>) = (0..folds.len()).partition(|&row| folds[row] == fold);
        scores.push(fit_and_score(&train, &test)?);
    }
    Ok(CrossValidation { scores })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Labels, stratified_folds};

    #[test]
    fn every_row_is_tested_once_and_trained_on_in_all_other_folds() {
        let labels = Labels::new((0..20i64).map(|i| i % 2));
        let (mut tested, mut trained) = (vec![0; 20], vec![0; 20]);
        let cv = cross_validate(&stratified_folds(&labels, 4, 3).unwrap(), |train, test| {
            test.iter().for_each(|&row| tested[row] += 1);
            train.iter().for_each(|&row| trained[row] += 1);
            Ok(test.len() as f64)
        })
        .unwrap();
        assert_eq!((tested, trained), (vec![1; 20], vec![3; 20]));
        assert_eq!((cv.mean(), cv.standard_deviation()), (5.0, 0.0));
    }
}
