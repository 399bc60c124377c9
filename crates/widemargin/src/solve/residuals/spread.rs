//! Weighted quantiles, and the spread of values with a minority of outliers.

/// The factor that makes the median absolute deviation of normal values their standard deviation, and the one for the
/// mean absolute deviation.
const OF_MEDIAN: f64 = 1.482_602_218_505_602;
const OF_MEAN: f64 = 1.253_314_137_315_5;

/// The least value up to which there is the part `q` of the weight; 0 without weight.
pub(super) fn quantile(values: impl Iterator<Item = f64>, weights: &[f64], q: f64) -> f64 {
    let mut sorted: Vec<(f64, f64)> = values.zip(weights.iter().copied()).filter(|(_, weight)| *weight > 0.0).collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let wanted = q * sorted.iter().map(|(_, weight)| weight).sum::<f64>();
    let mut sum = 0.0;
    for (value, weight) in &sorted {
        sum += weight;
        if sum >= wanted {
            return *value;
        }
    }
    sorted.last().map_or(0.0, |(value, _)| *value)
}

/// 1.4826 times the median absolute deviation from the median; where more than half of the values are equal, 1.2533
/// times the mean absolute deviation.
pub(super) fn spread(values: &[f64], weights: &[f64]) -> f64 {
    let median = quantile(values.iter().copied(), weights, 0.5);
    let deviations = || values.iter().map(|value| (value - median).abs());
    let of_median = OF_MEDIAN * quantile(deviations(), weights, 0.5);
    if of_median > 0.0 {
        return of_median;
    }
    let total: f64 = weights.iter().sum();
    OF_MEAN * deviations().zip(weights).map(|(deviation, weight)| weight / total * deviation).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weight_is_a_number_of_copies() {
        let (values, weights) = ([3.0, -1.0, 10.0, 4.0, 7.0], [2.0, 1.0, 3.0, 0.0, 1.0]);
        let copies = [3.0, 3.0, -1.0, 10.0, 10.0, 10.0, 7.0];
        for q in [0.01, 0.2, 0.5, 0.9] {
            let expected = quantile(copies.into_iter(), &[1.0; 7], q);
            assert_eq!(quantile(values.into_iter(), &weights, q), expected, "{q}");
        }
        assert_eq!(spread(&values, &weights), spread(&copies, &[1.0; 7]));
        // The median is 7, and the absolute deviations 4, 4, 8, 3, 3, 3, 0 have the median 3.
        assert!((spread(&copies, &[1.0; 7]) - 3.0 * OF_MEDIAN).abs() < 1e-12);
        assert!((spread(&[1.0, 1.0, 1.0, 5.0], &[1.0; 4]) - OF_MEAN).abs() < 1e-12);
        assert_eq!(spread(&[2.0; 3], &[1.0; 3]), 0.0);
    }
}
