//! The error of a fit on new samples, estimated from decision values of samples that refits did not see.

use serde::{Deserialize, Serialize};

use crate::data::Label;
use crate::problem::{HeldOutScores, OneVsRest};
use crate::tuning::{MIN_HELD_OUT_COVERAGE, MIN_INDEPENDENT_SAMPLES};

/// The method by which an error was estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum EstimateMethod {
    /// Leave-one-out: each sample by a fit without it.
    LeaveOneOut,
    /// Samples held out of a second fit.
    HeldOut,
    /// Five-fold cross-validation: each fifth of the samples by a fit without it.
    Folds,
}

impl EstimateMethod {
    /// The method in words, such as `leave-one-out error`.
    #[doc(hidden)]
    pub fn named(self) -> &'static str {
        match self {
            EstimateMethod::LeaveOneOut => "leave-one-out error",
            EstimateMethod::HeldOut => "error on held-out samples",
            EstimateMethod::Folds => "error in five folds",
        }
    }
}

/// The estimated error of a classifier on new samples like the training samples. It ignores class weights: samples
/// count by their own weights, as in the accuracy on a test set.
///
/// Leave-one-out is biased near chance: without a sample its class is smaller, so that a nearly constant model predicts
/// another class for it. With two classes of equal size, it would be wrong for every sample, but right for half of new
/// samples. A leave-one-out error is therefore scaled to be at most that of predictions that do not depend on the sample
/// but have the same shares of classes, by the weights of the fit: predictions that are worse depend on the sample because
/// it was left out. If class weights make several classes the largest, it is unknown which of them a constant model
/// predicts; the standard error includes this uncertainty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorEstimate {
    /// The method.
    pub method: EstimateMethod,
    /// The fraction of misclassified samples; for multilabel targets, of wrong labels.
    pub error: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// The number of samples of the estimate, duplicates included.
    pub n_samples: usize,
    /// For multilabel targets, the error of each label.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub label_errors: Vec<f64>,
}

impl ErrorEstimate {
    /// From held-out scores, and whether it is better than a constant by the weights of the fit. `population` has the
    /// weight of each class among all samples; it is ignored for multilabel targets. None without scores, or if too many
    /// classes have none.
    pub(crate) fn of(
        scores: &HeldOutScores,
        targets: OneVsRest<'_>,
        population: &[f64],
        method: EstimateMethod,
    ) -> Option<(Self, bool)> {
        let (targets, k) = (targets.with_codes(&scores.codes), targets.n_problems());
        let n = scores.codes.len();
        if n == 0 || scores.values.len() != n * k || scores.values.iter().any(|value| value.is_nan()) {
            return None;
        }
        let factors = if targets.is_multilabel() { None } else { Some(class_factors(scores, population)?) };
        let weight = |row: usize| {
            scores.weights[row] * factors.as_ref().map_or(1.0, |factors| factors[scores.codes[row] as usize])
        };
        let row_scores = |row: usize| &scores.values[row * k..(row + 1) * k];
        // Relative to the largest, so that no square is beyond the range of numbers.
        let largest = (0..n).map(weight).fold(0.0, f64::max);
        let weights: Vec<f64> = (0..n).map(|row| weight(row) / largest).collect();
        // The share of a row's known labels, which is 1 of classes, and of those that are wrong.
        let known: Vec<f64> = (0..n).map(|row| targets.n_known(row) / targets.n_known_at_most()).collect();
        let mistakes: Vec<f64> =
            (0..n).map(|row| targets.n_wrong(row, row_scores(row)) / targets.n_known_at_most()).collect();
        let total: f64 = weights.iter().zip(&known).map(|(weight, known)| weight * known).sum();
        let error = mistakes.iter().zip(&weights).map(|(mistake, weight)| mistake * weight).sum::<f64>() / total;
        // A row that stands for several independent samples has a smaller share of the variance.
        let squares = |row: usize| weights[row] * weights[row] / scores.counts[row];
        let spread = (0..n).map(|row| squares(row) * (mistakes[row] - error * known[row]).powi(2));
        let n_effective = total * total / (0..n).map(squares).sum::<f64>();
        let spread = spread.sum::<f64>().sqrt() / total;
        let mut counts = targets.label_counts(&weights, |problem, row| row_scores(row)[problem]);
        let (mut bounded, mut unknown) = (error, 0.0);
        let excess = (!targets.is_multilabel()).then(|| {
            let predicted: Vec<usize> = (0..n).map(|row| OneVsRest::decide(row_scores(row))).collect();
            Excess::of(scores, (&predicted, &mistakes), population)
        });
        if method == EstimateMethod::LeaveOneOut {
            if let Some(excess) = &excess {
                (bounded, unknown) = (error * (1.0 - excess.share), excess.standard_error);
            } else if targets.is_even() {
                for ([wrong, all], constant) in counts.iter_mut().zip(targets.constant_errors(&weights)) {
                    *wrong = wrong.min(constant * *all);
                }
                let [wrong, all] = counts.iter().fold([0.0, 0.0], |sums, one| [sums[0] + one[0], sums[1] + one[1]]);
                bounded = error.min(wrong / all);
            }
        }
        let estimate = ErrorEstimate {
            method,
            error: bounded,
            standard_error: spread.max(least_standard_error(bounded, n_effective)).hypot(unknown),
            n_samples: scores.counts.iter().sum::<f64>().round() as usize,
            label_errors: counts.iter().map(|[wrong, all]| wrong / all).collect(),
        };
        Some((estimate, excess.is_some_and(|excess| excess.beats_constant)))
    }

    /// The same from the weight of the wrong and of all samples of each class, or of each label, in fits without each
    /// fold of `n_samples` samples.
    pub(crate) fn of_folds(
        groups: &[[f64; 2]],
        is_multilabel: bool,
        population: &[f64],
        n_samples: f64,
    ) -> Option<(Self, bool)> {
        let (mut wrong, mut total) = (0.0, 0.0);
        let of_fit = groups.iter().fold([0.0, 0.0], |sums, [mistakes, all]| [sums[0] + mistakes, sums[1] + all]);
        let largest = groups.iter().map(|[_, all]| *all).fold(0.0, f64::max);
        for (at, [mistakes, all]) in groups.iter().enumerate().filter(|(_, [_, all])| *all > 0.0) {
            let weight = if is_multilabel { *all } else { *population.get(at)? };
            wrong += weight * mistakes / all;
            total += weight;
        }
        let error = (total > 0.0).then(|| wrong / total)?;
        let label_errors =
            if is_multilabel { groups.iter().map(|[wrong, all]| wrong / all).collect() } else { Vec::new() };
        let standard_error = least_standard_error(error, n_samples);
        let n_samples = n_samples.round() as usize;
        let estimate = ErrorEstimate { method: EstimateMethod::Folds, error, standard_error, n_samples, label_errors };
        Some((estimate, is_below(of_fit[0], of_fit[1] - largest)))
    }

    /// A warning if the estimate is no better than always predicting the largest class; `population` has the weights of
    /// the classes. A model that is better than a constant by the weights of the fit has more errors because these count
    /// less.
    pub(crate) fn chance_warning(&self, population: &[f64], beats_constant: bool) -> Option<String> {
        let others = chance_error(population);
        // If all other classes have weight 0, there is nothing to compare with.
        if others <= 0.0 || beats_constant || is_below(self.error, others) {
            return None;
        }
        Some(format!(
            "no better than always predicting the largest class: the {} is {:.2} %, that of the largest class {:.2} %",
            self.method.named(),
            100.0 * self.error,
            100.0 * others,
        ))
    }

    /// The same for multilabel targets: those labels whose error is no better than always giving the more frequent
    /// answer, whose errors are `constant`.
    pub(crate) fn constant_warning(&self, labels: &[Label], constant: &[f64]) -> Option<String> {
        let is_useless = |(_, (error, constant)): &(&Label, (&f64, &f64))| **error >= **constant - 1e-12;
        let useless: Vec<String> = labels
            .iter()
            .zip(self.label_errors.iter().zip(constant))
            .filter(is_useless)
            .map(|(label, (error, constant))| {
                format!("{label} ({:.2} %, that of the more frequent answer {:.2} %)", 100.0 * error, 100.0 * constant)
            })
            .collect();
        (!useless.is_empty()).then(|| {
            let (named, useless) = (self.method.named(), useless.join(", "));
            format!("no better than always the more frequent answer: by the {named}, the labels {useless}")
        })
    }
}

/// How much of a leave-one-out error is beyond that of predictions that do not depend on the sample.
struct Excess {
    /// Its share of the error.
    share: f64,
    /// What is not known of the error without it: which class is predicted.
    standard_error: f64,
    /// Whether there are fewer mistakes.
    beats_constant: bool,
}

impl Excess {
    /// From the predictions and the mistakes of all samples, by the weights of the fit. `population` has the weights of
    /// the classes without class weights.
    fn of(scores: &HeldOutScores, (predicted, mistakes): (&[usize], &[f64]), population: &[f64]) -> Self {
        let (mut totals, mut of_predicted) = (vec![0.0; population.len()], vec![0.0; population.len().max(2)]);
        let (mut wrong, mut largest) = (0.0, 0.0f64);
        for (row, (&code, weight)) in scores.codes.iter().zip(&scores.weights).enumerate() {
            totals[code as usize] += weight;
            of_predicted[predicted[row]] += weight;
            wrong += weight * mistakes[row];
            largest = largest.max(weight / scores.counts[row]);
        }
        let (total, most) = totals.iter().fold((0.0, 0.0f64), |(sum, most), weight| (sum + weight, most.max(*weight)));
        let hits: f64 = totals.iter().zip(&of_predicted).map(|(of_class, predicted)| of_class * predicted).sum();
        let chance = 1.0 - hits / (total * total);
        let share = if wrong > 0.0 { (1.0 - chance * total / wrong).max(0.0) } else { 0.0 };
        // Classes that are the largest without a sample of another.
        let largest_ones = || population.iter().zip(&totals).filter(|(_, weight)| **weight >= most - largest);
        let (n, sum) = largest_ones().fold((0.0, 0.0), |(n, sum), (all, _)| (n + 1.0, sum + all));
        let squares: f64 = largest_ones().map(|(all, _)| (all - sum / n).powi(2)).sum();
        let spread = (squares / n).sqrt() / population.iter().sum::<f64>();
        let beats_constant = is_below(wrong, total - most);
        Excess { share, standard_error: spread * share * total / most, beats_constant }
    }
}

fn is_below(error: f64, constant: f64) -> bool {
    error < constant * (1.0 - 1e-12)
}

/// The error of always predicting the largest class, from the weights of the classes.
fn chance_error(population: &[f64]) -> f64 {
    1.0 - population.iter().copied().fold(0.0, f64::max) / population.iter().sum::<f64>()
}

/// The factor of the weights of each class, so that classes count as in the population; none if the classes that
/// have scores are too small a part of it.
fn class_factors(scores: &HeldOutScores, population: &[f64]) -> Option<Vec<f64>> {
    let mut covered_weights = vec![0.0; population.len()];
    for (&code, weight) in scores.codes.iter().zip(&scores.weights) {
        *covered_weights.get_mut(code as usize)? += weight;
    }
    let covered: f64 =
        population.iter().zip(&covered_weights).filter(|(_, weight)| **weight > 0.0).map(|(all, _)| all).sum();
    let factor = |(all, weight): (&f64, &f64)| if *weight > 0.0 { all / weight } else { 0.0 };
    let is_enough = covered > 0.0 && covered >= MIN_HELD_OUT_COVERAGE * population.iter().sum::<f64>();
    is_enough.then(|| population.iter().zip(&covered_weights).map(factor).collect())
}

/// The number of samples of equal weight whose mean varies as much as that of these rows, which stand for independent
/// samples of weight `units` each; those with a unit of 0 are not left out.
pub(crate) fn effective_number(weights: &[f64], units: &[f64]) -> f64 {
    let total: f64 = weights.iter().zip(units).filter(|(_, unit)| **unit > 0.0).map(|(weight, _)| weight).sum();
    total * total / weights.iter().zip(units).map(|(weight, unit)| weight * unit).sum::<f64>()
}

/// The standard error of 1 − loss / reference, the mean over the outputs whose reference is above 0, from the weighted
/// means of the losses and of their squares. Losses of the outputs of one sample may be dependent: their errors add up.
/// For few samples it is at least the largest that a squared correlation ρ² can have, 2ρ (1 − ρ²)/√n at ρ² = 1/3.
pub(crate) fn explained_standard_error(moments: &[[f64; 2]], references: &[f64], n_effective: f64) -> f64 {
    let varying = || moments.iter().zip(references).filter(|(_, reference)| **reference > 0.0);
    let error = |([mean, squares], reference): (&[f64; 2], &f64)| {
        ((squares - mean * mean).max(0.0) / n_effective).sqrt() / reference
    };
    let mean = varying().map(error).sum::<f64>() / varying().count().max(1) as f64;
    if n_effective < MIN_INDEPENDENT_SAMPLES {
        mean.max(LARGEST_ERROR_OF_R2 / (n_effective + 2.0).sqrt())
    } else {
        mean
    }
}

/// 4/√27, for one sample.
const LARGEST_ERROR_OF_R2: f64 = 0.769_800_358_919_501;

/// The least standard error of a share in n samples: by Laplace's rule, so that it is above 0 even without a mistake.
/// For few samples it is the largest that a share can have, since fits without each of them are not independent.
fn least_standard_error(error: f64, n: f64) -> f64 {
    let smoothed = if n < MIN_INDEPENDENT_SAMPLES { 0.5 } else { (error * n + 1.0) / (n + 2.0) };
    (smoothed * (1.0 - smoothed) / (n + 2.0)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two classes; each element is the class, the decision value and the weight.
    fn scores(rows: &[(u32, f64, f64)]) -> HeldOutScores {
        HeldOutScores {
            values: rows.iter().map(|row| row.1).collect(),
            codes: rows.iter().map(|row| row.0).collect(),
            weights: rows.iter().map(|row| row.2).collect(),
            counts: vec![1.0; rows.len()],
        }
    }

    fn estimate(scores: &HeldOutScores, population: &[f64]) -> Option<ErrorEstimate> {
        Some(ErrorEstimate::of(scores, OneVsRest::new(&[], 2), population, EstimateMethod::HeldOut)?.0)
    }

    #[test]
    fn classes_count_as_in_the_population() {
        // Half of class 1 is wrong; it is a tenth of the population, half of the scores, and has a class weight of 5.
        let rows = [(0, -1.0, 1.0), (0, -2.0, 1.0), (1, 1.0, 5.0), (1, -1.0, 5.0)];
        let found = estimate(&scores(&rows), &[9.0, 1.0]).unwrap();
        assert!((found.error - 0.05).abs() < 1e-12, "{found:?}");
        assert_eq!(found.n_samples, 4);
    }

    #[test]
    fn without_scores_of_a_large_class_there_is_no_estimate() {
        let rows = [(0, -1.0, 1.0), (0, 2.0, 1.0)];
        assert_eq!(estimate(&scores(&rows), &[5.0, 5.0]), None);
        assert_eq!(estimate(&HeldOutScores::default(), &[5.0, 5.0]), None);
        assert_eq!(estimate(&scores(&rows), &[95.0, 5.0]).map(|found| found.error), Some(0.5));
        assert_eq!(estimate(&scores(&[(0, f64::NAN, 1.0)]), &[1.0, 0.0]), None);
    }

    #[test]
    fn leave_one_out_is_no_worse_than_chance() {
        // A constant model of two classes of equal size: without a sample, the other class is the larger one.
        let rows: Vec<_> = (0..200).map(|row| (row % 2, if row % 2 == 0 { 0.01 } else { -0.01 }, 1.0)).collect();
        let of = |rows: &[(u32, f64, f64)], population: &[f64], method| {
            ErrorEstimate::of(&scores(rows), OneVsRest::new(&[], 2), population, method).unwrap()
        };
        let (found, beats_constant) = of(&rows, &[100.0, 100.0], EstimateMethod::LeaveOneOut);
        assert!((found.error - 0.5).abs() < 1e-12 && (found.standard_error - 0.035).abs() < 1e-3, "{found:?}");
        assert!(found.chance_warning(&[100.0, 100.0], beats_constant).is_some());
        // Held-out samples are not biased.
        assert_eq!(of(&rows, &[100.0, 100.0], EstimateMethod::HeldOut).0.error, 1.0);
    }

    #[test]
    fn with_class_weights_it_is_not_known_which_class_a_constant_model_predicts() {
        // Nine tenths are of class 0, and class weights make both classes equal.
        let rows: Vec<_> = (0..200).map(|row| if row % 10 == 0 { (1, -0.01, 9.0) } else { (0, 0.01, 1.0) }).collect();
        let of = |rows: &[(u32, f64, f64)]| {
            let of_classes = OneVsRest::new(&[], 2);
            ErrorEstimate::of(&scores(rows), of_classes, &[180.0, 20.0], EstimateMethod::LeaveOneOut).unwrap()
        };
        let (found, beats_constant) = of(&rows);
        assert!(found.chance_warning(&[180.0, 20.0], beats_constant).is_some());
        assert!((found.error - 0.5).abs() < 1e-12 && (found.standard_error - 0.4).abs() < 0.01, "{found:?}");
        // A model that is right for the smaller class is better than chance, though more often wrong than right.
        let right = |(at, row): (usize, &(u32, f64, f64))| {
            let is_second = row.0 == 1 || at % 3 != 0;
            (row.0, if is_second { 1.0 } else { -1.0 }, row.2)
        };
        let right: Vec<_> = rows.iter().enumerate().map(right).collect();
        let (found, beats_constant) = of(&right);
        assert_eq!(found.chance_warning(&[180.0, 20.0], beats_constant), None);
        assert!((found.error - 0.6).abs() < 0.01 && found.standard_error < 0.04, "{found:?}");
    }

    #[test]
    fn the_standard_error_is_that_of_a_share() {
        let rows: Vec<_> = (0..400).map(|row| (0, if row % 10 == 0 { 1.0 } else { -1.0 }, 3.0)).collect();
        let found = estimate(&scores(&rows), &[1200.0, 0.0]).unwrap();
        assert!((found.standard_error / (0.1 * 0.9 / 400.0f64).sqrt() - 1.0).abs() < 0.02, "{found:?}");
        // Each row stands for four samples.
        let counted = HeldOutScores { counts: vec![4.0; 400], ..scores(&rows) };
        let of_copies = estimate(&counted, &[1200.0, 0.0]).unwrap();
        assert!((of_copies.standard_error / found.standard_error - 0.5).abs() < 0.01);
        assert_eq!(of_copies.n_samples, 1600);
        let perfect = estimate(&scores(&rows[1..9]), &[9.0, 0.0]).unwrap();
        assert!(perfect.error == 0.0 && perfect.standard_error > 0.05);
    }

    #[test]
    fn folds_count_classes_as_in_the_population() {
        let (found, _) = ErrorEstimate::of_folds(&[[1.0, 10.0], [50.0, 100.0]], false, &[90.0, 10.0], 20.0).unwrap();
        assert!((found.error - 0.14).abs() < 1e-12);
        let (several, _) = ErrorEstimate::of_folds(&[[1.0, 10.0], [3.0, 30.0]], true, &[], 20.0).unwrap();
        assert!((several.error - 0.1).abs() < 1e-12);
        assert_eq!(several.label_errors, [0.1, 0.1]);
    }
}
