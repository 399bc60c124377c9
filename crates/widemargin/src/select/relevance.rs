//! The relevance of each column of a table for the class: weights for a similarity that counts all columns alike.
//!
//! η², the correlation ratio, is the share of a column's variance that lies between the classes: a column of noise has
//! (k − 1) / (n − 1) of n samples in k classes, which is subtracted (Kelley, An unbiased correlation ratio measure,
//! 1935).

use crate::data::{DenseMatrix, Labels};
use crate::tuning::RELEVANCE_FLOOR;

/// The weight √(η² + 0.02) of each column, the largest of them 1, with two decimals.
pub(super) fn column_weights(samples: &DenseMatrix<f32>, labels: &Labels, weights: &[f64]) -> Vec<f32> {
    let ratios = correlation_ratios(samples, labels, weights);
    let roots: Vec<f64> = ratios.into_iter().map(|ratio| (ratio + RELEVANCE_FLOOR).sqrt()).collect();
    let most = roots.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    roots.into_iter().map(|root| ((100.0 * root / most).round() / 100.0) as f32).collect()
}

/// η² of each column without its bias, at least 0; 0 where a column is constant. n·(d + k) flops of n samples, d
/// columns and k classes.
fn correlation_ratios(samples: &DenseMatrix<f32>, labels: &Labels, weights: &[f64]) -> Vec<f64> {
    // For multilabel targets the groups are of samples with the same rarest label.
    let labels = &*labels.as_strata();
    let (n_columns, n_classes) = (samples.n_cols, labels.classes().len());
    let mut of_class = vec![0.0; n_classes];
    let (mut sums, mut squares) = (vec![0.0; n_classes * n_columns], vec![0.0; n_columns]);
    let total: f64 = weights.iter().sum();
    let rows = || samples.values.chunks(n_columns.max(1)).zip(labels.codes()).zip(weights);
    let mut centers = vec![0.0; n_columns];
    for ((row, _), weight) in rows() {
        centers.iter_mut().zip(row).for_each(|(mean, &x)| *mean += weight * f64::from(x) / total);
    }
    for ((row, &code), weight) in rows() {
        of_class[code as usize] += weight;
        let sums = &mut sums[code as usize * n_columns..][..n_columns];
        for (((sum, square), mean), &x) in sums.iter_mut().zip(&mut squares).zip(&centers).zip(row) {
            let centered = f64::from(x) - mean;
            *sum += weight * centered;
            *square += weight * centered * centered;
        }
    }
    let n = weights.iter().filter(|weight| **weight > 0.0).count() as f64;
    let k = of_class.iter().filter(|weight| **weight > 0.0).count() as f64;
    let ratio = |column: usize| {
        let between: f64 = (0..n_classes)
            .filter(|&class| of_class[class] > 0.0)
            .map(|class| sums[class * n_columns + column].powi(2) / of_class[class])
            .sum();
        let within = 1.0 - between / squares[column].max(f64::MIN_POSITIVE);
        if squares[column] > 0.0 && n > k { (1.0 - within * (n - 1.0) / (n - k)).max(0.0) } else { 0.0 }
    };
    (0..n_columns).map(ratio).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(columns: &[&dyn Fn(usize) -> f32], n: usize) -> DenseMatrix<f32> {
        let values = (0..n).flat_map(|i| columns.iter().map(move |column| column(i))).collect();
        DenseMatrix { values, n_rows: n, n_cols: columns.len() }
    }

    #[test]
    fn ratios_are_shares_of_the_variance_between_classes() {
        let samples =
            table(&[&|i| (i % 2) as f32, &|i| (i / 2 % 2) as f32, &|_| 7.0, &|i| (i % 2 + i / 2 % 2) as f32], 8);
        let labels = Labels::new((0..8).map(|i| i % 2));
        let ratios = correlation_ratios(&samples, &labels, &[1.0; 8]);
        // Half of the variance of the last column is between the classes: 1 − ½ · 7/6.
        let expected = [1.0, 0.0, 0.0, 1.0 - 0.5 * 7.0 / 6.0];
        for (found, expected) in ratios.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{ratios:?}");
        }
    }

    #[test]
    fn units_do_not_matter_and_samples_without_weight_are_absent() {
        let samples = table(&[&|i| (i * i % 7) as f32, &|i| 1e4 + 100.0 * (i * i % 7) as f32], 20);
        let labels = Labels::new((0..20).map(|i| i % 3));
        let weights: Vec<f64> = (0..20).map(|i| if i < 15 { 1.0 } else { 0.0 }).collect();
        let found = column_weights(&samples, &labels, &weights);
        assert_eq!(found[0], found[1]);
        let fewer = DenseMatrix { values: samples.values[..30].to_vec(), n_rows: 15, n_cols: 2 };
        assert_eq!(found, column_weights(&fewer, &Labels::new((0..15).map(|i| i % 3)), &weights[..15]));
    }

    #[test]
    fn columns_of_noise_weigh_little() {
        let noise = |i: usize| ((i * 7919 + 13) * 104_729 % 10_007) as f32;
        let samples = table(&[&|i| (i % 2) as f32 + noise(i) / 1e4, &|i| noise(i + 500)], 400);
        let found = column_weights(&samples, &Labels::new((0..400).map(|i| i % 2)), &[1.0; 400]);
        assert_eq!(found[0], 1.0);
        assert!(found[1] < 0.25, "{found:?}");
    }
}
