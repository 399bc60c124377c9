//! Normal scores of columns: the rank of a value among those of the training samples, as a quantile of the normal
//! distribution. Unlike a z-score it depends on the order of the values only, so that a few extreme ones do not
//! determine the scale of a column.

use super::Descriptor;
use super::row::DescriptorRow;
use super::scaling::{dense_of_any, dense_rows};
use crate::data::{AnySamples, DenseMatrix, Kind, Samples, Training, Vectors, samples_at};
use crate::error::{Error, Result};

pub(crate) const NORMAL_SCORES: DescriptorRow = DescriptorRow {
    name: "normal-scores",
    class: "NormalScores",
    samples: &["vectors"],
    parameters: &[],
    usual: "laplacian",
    build: |step| NORMAL_SCORES.arguments(step).map(|_| vec![Box::new(NormalScores::default()) as _]),
};

/// The training samples whose values represent the distribution of each column.
const N_RANKED: usize = 1000;

/// The names of the arrays in model files.
const STATE: [&str; 5] = ["center", "center_low", "ends", "values", "scores"];

/// Normal scores of the columns of vectors, learned from the training samples: linear between the values of up to 1,000
/// samples, which are spread evenly over the cumulated weights, and constant beyond the least and the largest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NormalScores {
    /// What is subtracted from each column, in two parts: 0 unless it is far from 0.
    center: Vec<f32>,
    center_low: Vec<f32>,
    /// The end of each column in `values` and `scores`.
    ends: Vec<f32>,
    /// The distinct values of each column, ascending.
    values: Vec<f32>,
    /// Their scores.
    scores: Vec<f32>,
}

/// The quantile of the normal distribution, but for an error below 0.005 up to a magnitude of 2.5 and 0.08 up to 3.3
/// (Joiner & Rosenblatt, *Some properties of the range in samples from Tukey's symmetric lambda distributions*, 1971).
fn normal_quantile(p: f64) -> f64 {
    4.91 * (p.powf(0.14) - (1.0 - p).powf(0.14))
}

/// The distinct values of a column, ascending, and the normal quantile of the mean rank of each, from pairs of a value
/// and its weight.
fn ranked(mut column: Vec<(f32, f64)>) -> (Vec<f32>, Vec<f32>) {
    column.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let (total, mut below) = (column.iter().map(|(_, weight)| weight).sum::<f64>(), 0.0);
    let of_equal = column.chunk_by(|a, b| a.0 == b.0).map(|equal| {
        let weight = equal.iter().map(|(_, weight)| weight).sum::<f64>();
        let rank = below + 0.5 * weight;
        below += weight;
        (equal[0].0, normal_quantile((rank / total).min(1.0)) as f32)
    });
    of_equal.unzip()
}

impl NormalScores {
    /// Replaces values, less their offsets, by scores.
    fn apply(&self, matrix: &mut DenseMatrix<f32>, offset: impl Fn(usize) -> f64) -> Result<()> {
        let (found, trained) = (matrix.n_cols, self.ends.len());
        if found != trained {
            return Err(Error::FeatureCount { found, trained, hint: ": they were ranked with as many" });
        }
        let mut first = 0;
        for (column, end) in self.ends.iter().map(|&end| end as usize).enumerate() {
            let (values, scores) = (&self.values[first..end], &self.scores[first..end]);
            let moved = offset(column) - f64::from(self.center[column]) - f64::from(self.center_low[column]);
            for x in matrix.values.iter_mut().skip(column).step_by(found) {
                *x = interpolated(values, scores, (f64::from(*x) + moved) as f32);
            }
            first = end;
        }
        Ok(())
    }
}

/// The score of a value, linear between those of its neighbors.
fn interpolated(values: &[f32], scores: &[f32], x: f32) -> f32 {
    let above = values.partition_point(|value| *value < x);
    if above == 0 || above == values.len() {
        return scores[above.min(values.len() - 1)];
    }
    let share =
        (f64::from(x) - f64::from(values[above - 1])) / (f64::from(values[above]) - f64::from(values[above - 1]));
    scores[above - 1] + share as f32 * (scores[above] - scores[above - 1])
}

impl Descriptor for NormalScores {
    fn spec(&self) -> String {
        NORMAL_SCORES.name.into()
    }

    fn takes(&self) -> &'static [&'static str] {
        &[Vectors::NAME]
    }

    fn keeps_columns(&self) -> bool {
        true
    }

    fn fit(&mut self, training: &Training<'_, AnySamples>) -> Result<()> {
        training.go_on("describe")?;
        let weights = training.weights;
        let mut rows: Vec<(usize, f64)> =
            weights.iter().copied().enumerate().filter(|(_, weight)| *weight > 0.0).collect();
        if rows.len() > N_RANKED {
            let step = weights.iter().sum::<f64>() / N_RANKED as f64;
            let places = (0..N_RANKED).map(|at| (at as f64 + 0.5) * step);
            let all = samples_at(|row| weights[row], weights.len(), places);
            rows = all.chunk_by(|a, b| a == b).map(|equal| (equal[0], equal.len() as f64)).collect();
        }
        let selected: Vec<usize> = rows.iter().map(|(row, _)| *row).collect();
        let samples = training.samples.select(&selected)?;
        let offset = |column: usize| samples.offsets().map_or(0.0, |offsets| offsets[column]);
        let matrix = dense_of_any(&samples)?;
        *self = NormalScores::default();
        for column in 0..matrix.n_cols {
            let value = |at: usize| matrix.values[at * matrix.n_cols + column];
            let (values, scores) = ranked(rows.iter().enumerate().map(|(at, row)| (value(at), row.1)).collect());
            self.center.push(offset(column) as f32);
            self.center_low.push((offset(column) - f64::from(offset(column) as f32)) as f32);
            self.values.extend(values);
            self.scores.extend(scores);
            self.ends.push(self.values.len() as f32);
        }
        Ok(())
    }

    fn describe(&self, samples: AnySamples) -> Result<AnySamples> {
        let (mut matrix, offsets) = dense_rows(samples, self.ends.len(), |met| {
            Error::similarity(self.spec(), format!("it ranks the columns of vectors, not {}", met.kind()))
        })?;
        self.apply(&mut matrix, |column| offsets.as_ref().map_or(0.0, |offsets| offsets[column]))?;
        Ok(AnySamples::Vectors(Vectors::Dense(matrix)))
    }

    fn state(&self) -> Vec<(&'static str, &[f32])> {
        let arrays = [&self.center, &self.center_low, &self.ends, &self.values, &self.scores];
        STATE.into_iter().zip(arrays.map(Vec::as_slice)).collect()
    }

    fn restore(&mut self, state: &mut dyn FnMut(&str) -> Result<Vec<f32>>) -> Result<()> {
        let mut arrays = [const { Vec::new() }; STATE.len()];
        for (array, name) in arrays.iter_mut().zip(STATE) {
            *array = state(name)?;
        }
        let [center, center_low, ends, values, scores] = arrays;
        let is_column = |pair: &[f32]| pair[0] < pair[1];
        let bounds: Vec<f32> = std::iter::once(0.0).chain(ends.iter().copied()).collect();
        let are_columns = bounds.windows(2).all(is_column) && bounds[ends.len()] as usize == values.len();
        if !are_columns || values.len() != scores.len() || [center.len(), center_low.len()] != [ends.len(); 2] {
            let found = format!("{} values and {} scores of {} columns", values.len(), scores.len(), ends.len());
            return Err(Error::shape(
                "state of 'normal-scores'",
                found,
                "the same number of both, in order of columns",
            ));
        }
        *self = NormalScores { center, center_low, ends, values, scores };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor::Monitor;

    fn fitted(rows: &DenseMatrix<f32>, weights: &[f64]) -> NormalScores {
        let samples = AnySamples::Vectors(Vectors::Dense(rows.clone()));
        let mut scores = NormalScores::default();
        scores.fit(&Training { samples: &samples, weights, threads: 1, monitor: &Monitor::none() }).unwrap();
        scores
    }

    fn described(scores: &NormalScores, rows: &DenseMatrix<f32>) -> Vec<f32> {
        let described = scores.describe(AnySamples::Vectors(Vectors::Dense(rows.clone()))).unwrap();
        let AnySamples::Vectors(Vectors::Dense(matrix)) = described else { panic!("dense vectors") };
        matrix.values
    }

    fn column(values: &[f32]) -> DenseMatrix<f32> {
        DenseMatrix { values: values.to_vec(), n_rows: values.len(), n_cols: 1 }
    }

    #[test]
    fn ranks_become_normal_quantiles() {
        for (p, quantile, tol) in
            [(0.5, 0.0, 1e-9), (0.841_344_7, 1.0, 5e-3), (0.006_209_7, -2.5, 5e-3), (0.001_349_9, -3.0, 0.05)]
        {
            assert!((normal_quantile(p) - quantile).abs() < tol, "{p}: {}", normal_quantile(p));
        }
        // 4 of 8, 2 of 8 and the rest: mean ranks 2, 5 and 7.
        let rows = column(&[3.0, 1e6, 1.0, 1.0, 1.0, 3.0, 1.0, 1e9]);
        let scores = fitted(&rows, &[1.0; 8]);
        let expected = [2.0f64, 5.0, 6.5, 7.5].map(|rank| normal_quantile(rank / 8.0) as f32);
        assert_eq!(described(&scores, &column(&[1.0, 3.0, 1e6, 1e9])), expected);
        let between = described(&scores, &column(&[2.0, -5.0, 1e12]));
        assert!((between[0] - 0.5 * (expected[0] + expected[1])).abs() < 1e-6);
        assert_eq!(between[1..], [expected[0], expected[3]]);
    }

    #[test]
    fn they_depend_on_the_order_of_values_only_and_weights_count() {
        let values: Vec<f32> = (0..50).map(|at| (at * 37 % 50) as f32 - 20.0).collect();
        let cubes: Vec<f32> = values.iter().map(|x| x * x * x).collect();
        let ones = vec![1.0; 50];
        let of = |values: &[f32]| described(&fitted(&column(values), &ones), &column(values));
        assert_eq!(of(&values), of(&cubes));
        let weights: Vec<f64> = (0..50).map(|at| f64::from(at % 3)).collect();
        let copies = values.iter().zip(&weights).flat_map(|(&x, &weight)| vec![x; weight as usize]);
        let copies = column(&copies.collect::<Vec<f32>>());
        let by_copies = described(&fitted(&copies, &vec![1.0; copies.n_rows]), &column(&values));
        let by_weights = described(&fitted(&column(&values), &weights), &column(&values));
        assert_eq!(by_copies, by_weights);
        // Of more samples than are ranked, nearly the same.
        let many: Vec<f32> = (0..3000).map(|at| values[at % 50]).collect();
        let by_many = described(&fitted(&column(&many), &vec![1.0; 3000]), &column(&values));
        let most = by_many.iter().zip(of(&values)).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(most < 0.1, "{most}");
    }
}
