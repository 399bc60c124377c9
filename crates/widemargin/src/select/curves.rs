//! The receiver operating characteristic and the precision-recall curve of decision values, and the areas under them.

/// The weights of the samples with one decision value.
struct Tie {
    positive: f64,
    negative: f64,
}

/// Two-class samples by descending decision value, those with the same value together.
pub struct Ranking(Vec<Tie>);

impl std::fmt::Debug for Ranking {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ranking").field("n_values", &self.0.len()).finish()
    }
}

impl Ranking {
    /// Of the decision value or the probability of each sample, whether it is of the positive class, and its weight;
    /// samples of weight 0 do not count. The values must not be NaN.
    pub fn new<V: Into<f64>>(samples: impl IntoIterator<Item = (V, bool, f64)>) -> Self {
        let samples = samples.into_iter().map(|(value, side, weight)| (value.into(), side, weight));
        let mut ranked: Vec<(f64, bool, f64)> = samples.filter(|sample| sample.2 > 0.0).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        let tie = |same: &[(f64, bool, f64)]| {
            let weight = |side: bool| same.iter().filter(|sample| sample.1 == side).map(|sample| sample.2).sum();
            Tie { positive: weight(true), negative: weight(false) }
        };
        Ranking(ranked.chunk_by(|a, b| a.0 == b.0).map(tie).collect())
    }

    /// Weights of positives and negatives down to each value, beginning with none.
    fn cumulated(&self) -> Vec<(f64, f64)> {
        let mut all = vec![(0.0, 0.0)];
        let mut sums = (0.0, 0.0);
        for tie in &self.0 {
            sums = (sums.0 + tie.positive, sums.1 + tie.negative);
            all.push(sums);
        }
        all
    }

    /// The area under the receiver operating characteristic: the probability that a positive sample has a larger value
    /// than a negative one, with ½ for equal ones. NaN without positives or negatives.
    pub fn roc_auc(&self) -> f64 {
        let (mut above, mut negatives, mut area) = (0.0, 0.0, 0.0);
        for tie in &self.0 {
            area += tie.negative * (above + 0.5 * tie.positive);
            above += tie.positive;
            negatives += tie.negative;
        }
        area / (above * negatives)
    }

    /// Σ (Rᵢ − Rᵢ₋₁) Pᵢ over the distinct values in descending order, with precision P and recall R. NaN without
    /// positives.
    pub fn average_precision(&self) -> f64 {
        let (mut positives, mut all, mut sum) = (0.0, 0.0, 0.0);
        for tie in &self.0 {
            positives += tie.positive;
            all += tie.positive + tie.negative;
            sum += tie.positive * positives / all;
        }
        sum / positives
    }

    /// Points (false positive rate, true positive rate), from (0, 0) to (1, 1), one for each distinct value. NaN
    /// without positives or negatives.
    pub fn roc_curve(&self) -> Vec<(f64, f64)> {
        let all = self.cumulated();
        let (positives, negatives) = *all.last().expect("it begins with a point");
        all.iter().map(|(right, wrong)| (wrong / negatives, right / positives)).collect()
    }

    /// Points (recall, precision), from (0, 1), one for each distinct value in descending order. NaN without positives.
    pub fn precision_recall_curve(&self) -> Vec<(f64, f64)> {
        let all = self.cumulated();
        let positives = all.last().expect("it begins with a point").0;
        let point = |(right, wrong): &(f64, f64)| (right / positives, right / (right + wrong));
        [(0.0, 1.0)].into_iter().chain(all[1..].iter().map(point)).collect()
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
}
