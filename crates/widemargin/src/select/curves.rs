//! The receiver operating characteristic and the precision-recall curve of decision values, and the areas under them.

/// Two-class samples by descending decision value: the weights of positives and negatives down to each value, beginning
/// with none.
pub struct Ranking(Vec<(f64, f64)>);

impl std::fmt::Debug for Ranking {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ranking").field("n_values", &(self.0.len() - 1)).finish()
    }
}

impl Ranking {
    /// Of the decision value or the probability of each sample, whether it is of the positive class, and its weight;
    /// samples of weight 0 do not count. The values must not be NaN.
    pub fn new<V: Into<f64>>(samples: impl IntoIterator<Item = (V, bool, f64)>) -> Self {
        let samples = samples.into_iter().map(|(value, side, weight)| (value.into(), side, weight));
        let mut ranked: Vec<(f64, bool, f64)> = samples.filter(|sample| sample.2 > 0.0).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        let (mut all, mut sums) = (vec![(0.0, 0.0)], (0.0, 0.0));
        for same in ranked.chunk_by(|a, b| a.0 == b.0) {
            let weight = |side: bool| same.iter().filter(|sample| sample.1 == side).map(|sample| sample.2).sum::<f64>();
            sums = (sums.0 + weight(true), sums.1 + weight(false));
            all.push(sums);
        }
        Ranking(all)
    }

    /// The weights of all positives and negatives.
    fn totals(&self) -> (f64, f64) {
        *self.0.last().expect("it begins with a point")
    }

    /// The area under the receiver operating characteristic: the probability that a positive sample has a larger value
    /// than a negative one, with ties counted as ½. NaN without positives or negatives.
    pub fn roc_auc(&self) -> f64 {
        let (positives, negatives) = self.totals();
        let area = |ends: &[(f64, f64)]| (ends[1].1 - ends[0].1) * 0.5 * (ends[0].0 + ends[1].0);
        self.0.windows(2).map(area).sum::<f64>() / (positives * negatives)
    }

    /// Σ (Rᵢ − Rᵢ₋₁) Pᵢ over the distinct values in descending order, with precision P and recall R. NaN without
    /// positives.
    pub fn average_precision(&self) -> f64 {
        let share = |ends: &[(f64, f64)]| (ends[1].0 - ends[0].0) * ends[1].0 / (ends[1].0 + ends[1].1);
        self.0.windows(2).map(share).sum::<f64>() / self.totals().0
    }

    /// Points (false positive rate, true positive rate), from (0, 0) to (1, 1), one for each distinct value. NaN
    /// without positives or negatives.
    pub fn roc_curve(&self) -> Vec<(f64, f64)> {
        let (positives, negatives) = self.totals();
        self.0.iter().map(|(right, wrong)| (wrong / negatives, right / positives)).collect()
    }

    /// Points (recall, precision), from (0, 1), one for each distinct value in descending order. NaN without positives.
    pub fn precision_recall_curve(&self) -> Vec<(f64, f64)> {
        let point = |(right, wrong): &(f64, f64)| (right / self.totals().0, right / (right + wrong));
        [(0.0, 1.0)].into_iter().chain(self.0[1..].iter().map(point)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_of_a_small_example() {
        let values = [(0.1, false), (0.4, false), (0.35, true), (0.8, true)];
        let ranking = Ranking::new(values.map(|(value, side)| (value, side, 1.0)));
        assert_eq!(ranking.roc_curve(), [(0.0, 0.0), (0.0, 0.5), (0.5, 0.5), (0.5, 1.0), (1.0, 1.0)]);
        let expected = [(0.0, 1.0), (0.5, 1.0), (0.5, 0.5), (1.0, 2.0 / 3.0), (1.0, 0.5)];
        assert_eq!(ranking.precision_recall_curve(), expected);
    }

    #[test]
    fn the_areas_are_those_under_the_curves() {
        let sample = |i: usize| (((i * 37) % 11) as f32, (i * i) % 7 < 3, (i % 4) as f64);
        let ranking = Ranking::new((0..80).map(sample));
        let roc = ranking.roc_curve();
        let area: f64 = roc.windows(2).map(|w| (w[1].0 - w[0].0) * 0.5 * (w[0].1 + w[1].1)).sum();
        assert!((area - ranking.roc_auc()).abs() < 1e-12);
        let points = ranking.precision_recall_curve();
        let area: f64 = points.windows(2).map(|w| (w[1].0 - w[0].0) * w[1].1).sum();
        assert!((area - ranking.average_precision()).abs() < 1e-12);
    }

    /// By the definition of both: pairs of a positive and a negative sample, and precisions down to each value.
    #[test]
    fn areas_with_ties_and_weights_are_those_of_the_definitions() {
        for seed in 1..40usize {
            let n = 5 + seed % 30;
            let value = |i: usize| ((i * seed * 7 + i * i) % 5) as f64 / 4.0 - 0.5;
            let weight = |i: usize| ((i * 3 + seed) % 4) as f64 / 2.0;
            let side = |i: usize| i == 0 || (i > 1 && (i * seed).is_multiple_of(3));
            let weights = [1.0, 1.0].into_iter().chain((2..n).map(weight)).collect::<Vec<f64>>();
            let ranking = Ranking::new((0..n).map(|i| (value(i), side(i), weights[i])));
            let [positives, negatives] =
                [true, false].map(|of| (0..n).filter(|&i| side(i) == of).collect::<Vec<usize>>());
            let total = |rows: &[usize]| rows.iter().map(|&i| weights[i]).sum::<f64>();
            let (mut pairs, mut precisions) = (0.0, 0.0);
            for &i in &positives {
                let above = |j: usize| if value(i) > value(j) { 1.0 } else { 0.5 * f64::from(value(i) == value(j)) };
                pairs += negatives.iter().map(|&j| weights[i] * weights[j] * above(j)).sum::<f64>();
                let at_least =
                    |rows: &[usize]| rows.iter().filter(|&&j| value(j) >= value(i)).map(|&j| weights[j]).sum::<f64>();
                precisions +=
                    weights[i] * at_least(&positives) / (at_least(&positives) + at_least(&negatives)).max(1e-9);
            }
            let area = pairs / (total(&positives) * total(&negatives));
            assert!((ranking.roc_auc() - area).abs() < 1e-12, "{seed}: {} {area}", ranking.roc_auc());
            let average = precisions / total(&positives);
            assert!((ranking.average_precision() - average).abs() < 1e-12, "{seed}");
        }
    }
}
