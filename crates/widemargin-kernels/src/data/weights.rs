//! Sample weights and class weights.

use std::collections::BTreeMap;

use super::{Label, Labels};
use crate::error::{Error, Result};

/// The weights of the classes.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ClassWeight {
    /// Equal weights.
    #[default]
    Uniform,
    /// n / (number of classes · samples of the class), so that all classes have the same total weight.
    Balanced,
    /// A factor per class; other classes have the factor 1.
    PerClass(BTreeMap<Label, f64>),
}

/// The weight of each sample: the caller's (1 by default) times that of its class.
///
/// With multilabel targets, the weights of classes differ from label to label: they are not part of these.
///
/// Weight k is equivalent to k copies of the sample, weight 0 to leaving it out; `Balanced` therefore counts samples by
/// their weight.
///
/// # Errors
/// [`Error::Shape`] if the numbers of weights and samples differ, [`Error::Weight`] for a negative or non-finite
/// weight, [`Error::NoSamples`] if every weight is 0, [`Error::OneClass`] if all samples with a weight above 0 are of
/// one class, [`Error::Parameter`] for multilabel targets with a label that is the same for all samples.
#[doc(hidden)]
pub fn effective_weights(
    labels: &Labels,
    sample_weight: Option<&[f64]>,
    class_weight: &ClassWeight,
) -> Result<Vec<f64>> {
    let mut weights = check_weights(labels.len(), sample_weight)?;
    if labels.is_multilabel() {
        labels.check_sets(&mut weights, class_weight)?;
        check_two_classes(labels, &weights)?;
        return Ok(weights);
    }
    let factors = class_factors(labels, &weights, class_weight)?;
    for (weight, &code) in weights.iter_mut().zip(labels.codes()) {
        *weight *= factors[code as usize];
    }
    // The product of two finite factors may overflow.
    if let Some(row) = weights.iter().position(|w| !w.is_finite()) {
        let (factor, label) = (factors[labels.codes()[row] as usize], &labels.classes()[labels.codes()[row] as usize]);
        let expected = "the weight of a sample times that of its class must be within double precision";
        return Err(Error::parameter("class_weight", format!("{factor:e} for {label}"), expected));
    }
    check_two_classes(labels, &weights)?;
    Ok(weights)
}

/// The weights of `n` samples, 1 by default.
///
/// # Errors
/// [`Error::Shape`] for another number of them; [`Error::Weight`] for one that is negative or not finite.
pub(super) fn check_weights(n: usize, sample_weight: Option<&[f64]>) -> Result<Vec<f64>> {
    let weights = match sample_weight {
        None => vec![1.0; n],
        Some(weights) if weights.len() == n => weights.to_vec(),
        Some(weights) => {
            let found = format!("{} weights", weights.len());
            return Err(Error::shape("sample weights", found, format!("{n}, one a sample")));
        }
    };
    match weights.iter().position(|w| !w.is_finite() || *w < 0.0) {
        Some(row) => Err(Error::Weight { row, value: weights[row] }),
        None => Ok(weights),
    }
}

/// The sample at each of these ascending places of the cumulated weights, so that a weight is a number of copies.
#[doc(hidden)]
pub fn samples_at(weights: impl Fn(usize) -> f64, n: usize, places: impl Iterator<Item = f64>) -> Vec<usize> {
    let (mut at, mut end) = (0, weights(0));
    let sample = |place: f64| {
        while end <= place && at + 1 < n {
            at += 1;
            end += weights(at);
        }
        at
    };
    places.map(sample).collect()
}

/// Checks that an objective C Σ weight · loss, summed over the problems of `n_classes` classes, does not overflow.
///
/// # Errors
/// [`Error::Parameter`] if C times the sum of the weights does.
#[doc(hidden)]
pub fn check_costs(c: f64, weights: &[f64], n_classes: usize) -> Result<()> {
    let total: f64 = weights.iter().sum();
    // Losses are about 1 at the start, and a few times that on the way.
    if (c * total * 16.0 * n_classes.max(1) as f64).is_finite() {
        return Ok(());
    }
    Err(Error::parameter(
        "C",
        format!("{c:e}"),
        format!(
            "C times the sum of the weights, which is {total:e}, must be within double precision: use a smaller C, \
             sample weights or class weights"
        ),
    ))
}

fn class_factors(labels: &Labels, weights: &[f64], class_weight: &ClassWeight) -> Result<Vec<f64>> {
    let classes = labels.classes();
    match class_weight {
        ClassWeight::Uniform => Ok(vec![1.0; classes.len()]),
        ClassWeight::Balanced => {
            let totals = labels.class_weights(weights);
            let all: f64 = totals.iter().sum();
            let share = all / totals.iter().filter(|t| **t > 0.0).count().max(1) as f64;
            Ok(totals.iter().map(|t| if *t > 0.0 { share / t } else { 0.0 }).collect())
        }
        ClassWeight::PerClass(map) => {
            for (label, &weight) in map {
                let known = classes.contains(label);
                if !(known && weight.is_finite() && weight >= 0.0) {
                    let wrong = match known {
                        true => "a weight is finite and at least 0".to_owned(),
                        false => format!("no sample has this label; the labels are {}", some_of(classes)),
                    };
                    return Err(Error::parameter("class_weight", format!("{label}: {weight}"), wrong));
                }
            }
            Ok(classes.iter().map(|label| map.get(label).copied().unwrap_or(1.0)).collect())
        }
    }
}

/// Labels for a message: all of them if there are few.
fn some_of(classes: &[Label]) -> String {
    let shown: Vec<String> = classes.iter().take(12).map(ToString::to_string).collect();
    shown.join(", ") + if classes.len() > shown.len() { ", …" } else { "" }
}

fn check_two_classes(labels: &Labels, weights: &[f64]) -> Result<()> {
    let mut counted = labels.codes().iter().zip(weights).filter(|(_, w)| **w > 0.0).map(|(code, _)| *code);
    let Some(first) = counted.next() else {
        return Err(Error::NoSamples(": all sample weights are zero"));
    };
    let rest: Vec<u32> = counted.collect();
    if !labels.is_multilabel() && rest.iter().all(|code| *code == first) {
        let label = labels.classes()[first as usize].to_string();
        return Err(Error::OneClass { label, n_samples: rest.len() + 1 });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn balanced_classes_weigh_the_same_in_total() {
        let labels = Labels::new([0i64, 0, 0, 1]);
        let weights = effective_weights(&labels, None, &ClassWeight::Balanced).unwrap();
        assert!((weights[..3].iter().sum::<f64>() - weights[3]).abs() < 1e-12);
        // A copy and a weight of two are the same thing.
        let doubled = effective_weights(&labels, Some(&[1.0, 1.0, 2.0, 1.0]), &ClassWeight::Balanced).unwrap();
        let copied = Labels::new([0i64, 0, 0, 0, 1]);
        let copied = effective_weights(&copied, None, &ClassWeight::Balanced).unwrap();
        assert_eq!(doubled[2], copied[2] + copied[3]);
        assert_eq!(doubled[3], copied[4]);
    }

    #[test]
    fn accepts_costs_within_double_precision_and_no_others() {
        assert!(check_costs(1e300, &[1.0; 10], 3).is_ok());
        assert!(check_costs(1e-300, &[1e300; 10], 3).is_ok());
        for (c, weight) in [(1e300, 1e10), (1.0, 1e308), (1e154, 1e154)] {
            let error = check_costs(c, &[weight; 10], 3).unwrap_err().to_string();
            assert!(error.contains("C times the sum of the weights"), "{error}");
        }
    }

    #[test]
    fn errors_name_bad_weights() {
        let labels = Labels::new([0i64, 1]);
        let uniform = ClassWeight::Uniform;
        assert!(matches!(effective_weights(&labels, Some(&[1.0]), &uniform), Err(Error::Shape { .. })));
        assert!(matches!(effective_weights(&labels, Some(&[1.0, -1.0]), &uniform), Err(Error::Weight { row: 1, .. })));
        assert!(matches!(effective_weights(&labels, Some(&[0.0, 0.0]), &uniform), Err(Error::NoSamples(_))));
        assert!(matches!(effective_weights(&labels, Some(&[1.0, 0.0]), &uniform), Err(Error::OneClass { .. })));
        let large = ClassWeight::PerClass([(Label::Integer(0), 1e200)].into());
        let error = effective_weights(&labels, Some(&[1e200, 1.0]), &large).unwrap_err().to_string();
        assert!(error.starts_with("class_weight = 1e200 for 0 is not allowed"), "{error}");
        assert!(effective_weights(&labels, Some(&[1e308, 1.7e308]), &ClassWeight::Balanced).is_err());
        let unknown = ClassWeight::PerClass([(Label::Integer(5), 1.0)].into());
        assert!(effective_weights(&labels, None, &unknown).unwrap_err().to_string().contains("class_weight = 5"));
    }
}
