//! The threshold of an outlier detector, from leave-one-out scores.

use crate::tuning::MIN_THRESHOLD_SAMPLES;

/// Parts of a sample that are rounding.
const SAMPLE_ROUNDING: f64 = 1e-9;

/// The score that a new one is below with this probability, from the leave-one-out scores of samples that are no bases,
/// with weights `others`: of n of them, by weight, the (n + 1)·share-th. `units` are the weights of single samples.
pub(super) fn threshold(scores: &[f64], (weights, units): (&[f64], &[f64]), others: &[f64], share: f64) -> f64 {
    let with = |weights: &[f64]| {
        let pairs = scores.iter().copied().zip(weights.iter().copied());
        pairs.filter(|(_, weight)| *weight > 0.0).collect::<Vec<_>>()
    };
    let unit = units.iter().sum::<f64>() / units.iter().filter(|unit| **unit > 0.0).count().max(1) as f64;
    let few = others.iter().sum::<f64>() < MIN_THRESHOLD_SAMPLES as f64 * unit;
    quantile(with(if few { weights } else { others }), unit, share)
}

/// The quantile of scores with weights: a weight of k units counts as k scores.
fn quantile(mut scores: Vec<(f64, f64)>, unit: f64, share: f64) -> f64 {
    scores.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = scores.iter().map(|(_, weight)| weight).sum();
    let (wanted, mut below) = (share * (total + unit) - SAMPLE_ROUNDING * unit, 0.0);
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
            assert_eq!(quantile(ones(&scores), 1.0, share), expected, "{share}");
        }
        let weighted = vec![(2.0, 3.0), (1.0, 2.0), (5.0, 4.0)];
        let copies = [2.0, 5.0, 1.0, 5.0, 2.0, 5.0, 1.0, 5.0, 2.0];
        for share in [0.05, 0.1, 0.2, 0.21, 0.3, 0.5, 0.51, 0.9] {
            assert_eq!(quantile(weighted.clone(), 1.0, share), quantile(ones(&copies), 1.0, share), "{share}");
            let parts = weighted.iter().map(|(score, weight)| (*score, weight / 9.0)).collect();
            assert_eq!(quantile(parts, 1.0 / 9.0, share), quantile(ones(&copies), 1.0, share), "{share}");
        }
    }

    #[test]
    fn bases_count_only_where_there_are_few_others() {
        let scores: Vec<f64> = (0..40).map(f64::from).collect();
        let others = |weight: f64| (0..40).map(|at| if at < 20 { 0.0 } else { weight }).collect::<Vec<f64>>();
        assert_eq!(threshold(&scores, (&[1.0; 40], &[1.0; 40]), &others(1.0), 0.1), 22.0);
        assert_eq!(threshold(&scores[..39], (&[1.0; 39], &[1.0; 39]), &others(1.0)[..39], 0.1), 3.0);
        // Those without weight do not count at all.
        let (mut weights, mut others) = (vec![2.0; 40], others(2.0));
        (weights[20], others[20]) = (0.0, 0.0);
        assert_eq!(threshold(&scores, (&weights, &[1.0; 40]), &others, 0.1), 22.0);
    }
}
