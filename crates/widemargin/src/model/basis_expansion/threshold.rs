//! The threshold of an outlier detector, from leave-one-out scores.

use crate::tuning::MIN_THRESHOLD_SAMPLES;

/// Parts of a sample that are rounding.
const SAMPLE_ROUNDING: f64 = 1e-9;

/// The score that a new one is below with this probability, from the leave-one-out scores of samples that are no bases,
/// with weights `others`: of n of them, by weight, the (n + 1)·share-th.
pub(super) fn threshold(scores: &[f64], weights: &[f64], others: &[f64], share: f64) -> f64 {
    let with = |weights: &[f64]| {
        let pairs = scores.iter().copied().zip(weights.iter().copied());
        pairs.filter(|(_, weight)| *weight > 0.0).collect::<Vec<_>>()
    };
    let few = others.iter().sum::<f64>() < MIN_THRESHOLD_SAMPLES as f64;
    quantile(with(if few { weights } else { others }), share)
}

/// The quantile of scores with weights: a weight of k counts as k scores.
fn quantile(mut scores: Vec<(f64, f64)>, share: f64) -> f64 {
    scores.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = scores.iter().map(|(_, weight)| weight).sum();
    let (wanted, mut below) = (share * (total + 1.0) - SAMPLE_ROUNDING, 0.0);
    let reaches = |(_, weight): &&(f64, f64)| {
        below += weight;
        below >= wanted
    };
    scores.iter().find(reaches).or(scores.last()).map_or(0.0, |(score, _)| *score)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_copies() {
        let ones = |scores: &[f64]| scores.iter().map(|score| (*score, 1.0)).collect::<Vec<_>>();
        let scores: Vec<f64> = (0..19).rev().map(f64::from).collect();
        // Of 19 scores the first, the second and the tenth.
        for (share, expected) in [(0.05, 0.0), (0.1, 1.0), (0.5, 9.0), (1e-6, 0.0), (0.999, 18.0)] {
            assert_eq!(quantile(ones(&scores), share), expected, "{share}");
        }
        let weighted = vec![(2.0, 3.0), (1.0, 2.0), (5.0, 4.0)];
        let copies = [2.0, 5.0, 1.0, 5.0, 2.0, 5.0, 1.0, 5.0, 2.0];
        for share in [0.05, 0.1, 0.2, 0.21, 0.3, 0.5, 0.51, 0.9] {
            assert_eq!(quantile(weighted.clone(), share), quantile(ones(&copies), share), "{share}");
        }
    }

    #[test]
    fn bases_count_only_where_there_are_few_others() {
        let scores: Vec<f64> = (0..40).map(f64::from).collect();
        let others = |weight: f64| (0..40).map(|at| if at < 20 { 0.0 } else { weight }).collect::<Vec<f64>>();
        assert_eq!(threshold(&scores, &[1.0; 40], &others(1.0), 0.1), 22.0);
        assert_eq!(threshold(&scores[..39], &[1.0; 39], &others(1.0)[..39], 0.1), 3.0);
        // Those without weight do not count at all.
        let (mut weights, mut others) = (vec![2.0; 40], others(2.0));
        (weights[20], others[20]) = (0.0, 0.0);
        assert_eq!(threshold(&scores, &weights, &others, 0.1), 22.0);
    }
}
