//! Weights of the columns of a table: how much a fitted function changes along each of them.
//!
//! The function is a kernel SVM on standardized columns, with the kernel of least leave-one-out loss: minus the distance,
//! which has no length scale, the Laplacian or the Gaussian. A column counts in proportion to the root of the mean squared
//! derivative along it, and the fit is repeated on the weighted columns (Radhakrishnan, Beaglehole, Pandit & Belkin,
//! *Mechanism for feature learning in neural networks and backpropagation-free machine learning models*, Science 383,
//! 2024). Unlike the correlation of a column with the classes, derivatives show what columns do together. Columns with
//! heavy tails are ranked first. Columns that indicate the categories of one variable share a weight. The weights are a
//! proposal: kernels with them are candidates like others.
//!
//! Next to its fit a round takes n·m·d·k flops for n samples, m of them with a coefficient, d columns and k functions.

use std::ops::Range;

use super::column_weights::{standardized, weight_numbers};
use super::subset::{Judge, Subset};
use crate::data::{AnySamples, DenseMatrix, Labels, Training, Vectors};
use crate::descriptor::{Descriptor as _, NormalScores};
use crate::error::{Error, Result};
use crate::linalg::factor::Matrix;
use crate::model::weighted_gram;
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::parameters::List;
use crate::problem::{Intercept, OneVsRest};
use crate::similarity::ConditionalKernel;
use crate::solve::Status;
use crate::solve::thin_plate::{FitSettings, PathOptions, Point, Problems, Run, fit_exact, settings_of};
use crate::tuning::{
    COLUMN_WEIGHT_FLOOR, LAMBDA_PATH_LOWEST, MAX_CLASSES_OF_WEIGHT_KERNELS, MAX_IDLE_ROUNDS, MAX_WEIGHT_ROUNDS,
    MIN_COLUMN_WEIGHT_GAIN, MIN_ROUND_GAIN, MIN_ROWS_PER_COLUMN, MIN_ROWS_TO_WEIGH,
};

/// Rows whose derivatives one thread computes at a time.
const CHUNK_ROWS: usize = 64;

/// The weights of the columns, the largest of them 1; none where they do not save a part of the loss of samples that did
/// not make them, for tables of few rows for their columns, and for samples that are no table.
///
/// # Errors
/// [`Error::Cancelled`].
pub(super) fn column_weights(subset: &Subset<'_>, monitor: &Monitor<'_>) -> Result<Option<List>> {
    let (Judge::Labels(labels), Some(matrix)) = (&subset.judge, subset.table()) else { return Ok(None) };
    let numbers = weight_numbers(matrix);
    let n_weights = numbers.last().map_or(0, |last| last + 1);
    if n_weights < 2 || matrix.n_rows < MIN_ROWS_TO_WEIGH.max(MIN_ROWS_PER_COLUMN * n_weights) {
        return Ok(None);
    }
    let rows = match subset.is_ranked() {
        true => standardized(&normal_scores(matrix, &subset.weights, monitor)?, &subset.weights)?,
        false => standardized(matrix, &subset.weights)?,
    };
    let (weights, units) = (subset.weights.clone(), subset.units.clone());
    let all = Table { rows, numbers: &numbers, labels: labels.clone(), weights, units, pool: &subset.pool, monitor };
    let found = all.save_of_others().and_then(|saves| if saves { all.learned(&all.plain_fit()?) } else { Ok(None) });
    let found = match found {
        Err(error @ Error::Cancelled { .. }) => return Err(error),
        // Without time, and where no such function can be fitted, there are other candidates.
        found => found.ok().flatten(),
    };
    let rounded = |weight: f64| ((1000.0 * weight).round() / 1000.0) as f32;
    Ok(found.map(|weights| List(weights.into_iter().map(rounded).collect())))
}

/// The rows with the normal scores of each column.
fn normal_scores(matrix: &DenseMatrix<f32>, weights: &[f64], monitor: &Monitor<'_>) -> Result<DenseMatrix<f32>> {
    let samples = AnySamples::Vectors(Vectors::Dense(matrix.clone()));
    let mut scores = NormalScores::default();
    scores.fit(&Training { samples: &samples, weights, threads: 1, monitor })?;
    let AnySamples::Vectors(vectors) = scores.describe(samples)? else { unreachable!("scores are vectors") };
    vectors.into_dense()
}

/// Samples in standardized columns.
struct Table<'a> {
    /// Row-major.
    rows: Vec<f64>,
    /// The number of the weight of each column.
    numbers: &'a [usize],
    labels: Labels,
    weights: Vec<f64>,
    /// The part of each weight that leave-one-out removes.
    units: Vec<f64>,
    pool: &'a Pool,
    monitor: &'a Monitor<'a>,
}

/// Functions f_k(x) = Σ α_ki k(x, x_i) + constant.
struct Fitted {
    kernel: ConditionalKernel,
    /// `[function][sample]`.
    coefficients: Vec<Vec<f64>>,
    /// The mean leave-one-out squared hinge.
    loss: f64,
    solution: Solution,
}

/// The λ of a fit, in scale-free units, and where its problems were solved.
#[derive(Clone)]
struct Solution {
    lambda: f64,
    points: Vec<Point>,
}

impl Table<'_> {
    fn n_columns(&self) -> usize {
        self.rows.len() / self.labels.len()
    }

    fn has_many_classes(&self) -> bool {
        self.labels.classes().len() > MAX_CLASSES_OF_WEIGHT_KERNELS
    }

    /// Some of the samples.
    fn of_rows(&self, some: &[usize]) -> Self {
        let d = self.n_columns();
        Table {
            rows: some.iter().flat_map(|&row| &self.rows[row * d..(row + 1) * d]).copied().collect(),
            labels: self.labels.present(some),
            weights: some.iter().map(|&row| self.weights[row]).collect(),
            units: some.iter().map(|&row| self.units[row]).collect(),
            ..*self
        }
    }

    /// Whether weights that one half of the samples makes save enough of the loss of the other.
    fn save_of_others(&self) -> Result<bool> {
        let halves = [0, 1].map(|first| self.of_rows(&(first..self.labels.len()).step_by(2).collect::<Vec<usize>>()));
        let plain = [halves[0].plain_fit()?, halves[1].plain_fit()?];
        let mut weighted = 0.0;
        for (half, other) in [(0, 1), (1, 0)] {
            weighted += match halves[half].learned(&plain[half])? {
                Some(weights) => halves[other].fit(&weights, ConditionalKernel::Distance, None)?.loss,
                None => plain[other].loss,
            };
        }
        Ok(weighted < (plain[0].loss + plain[1].loss) * (1.0 - MIN_COLUMN_WEIGHT_GAIN))
    }

    /// The fit with minus the distance, without weights.
    fn plain_fit(&self) -> Result<Fitted> {
        self.fit(&vec![1.0; self.n_columns()], ConditionalKernel::Distance, None)
    }

    /// The weights with the least leave-one-out loss of some rounds; none where that is least without weights.
    fn learned(&self, plain: &Fitted) -> Result<Option<Vec<f64>>> {
        let (mut weights, mut solutions) = (vec![1.0; self.n_columns()], [Some(plain.solution.clone()), None, None]);
        let (mut best, mut least, mut n_idle) = (None, f64::INFINITY, 0);
        for round in 0..=MAX_WEIGHT_ROUNDS {
            let fitted = self.best_fit(&weights, &mut solutions)?;
            let gain = if best.is_none() { 0.0 } else { MIN_ROUND_GAIN };
            if fitted.loss < least * (1.0 - gain) {
                (least, n_idle) = (fitted.loss, 0);
                best = (round > 0).then(|| weights.clone());
            } else {
                n_idle += 1;
                if n_idle == MAX_IDLE_ROUNDS || self.has_many_classes() {
                    break;
                }
            }
            // Along the columns before they were weighted.
            let mut slopes = self.slopes(&weights, &fitted)?;
            self.share(&mut slopes);
            let changes: Vec<f64> = slopes.iter().zip(&weights).map(|(slope, weight)| slope.sqrt() * weight).collect();
            let most = changes.iter().copied().fold(0.0, f64::max);
            if !(most > 0.0 && most.is_finite()) {
                break;
            }
            let weight = |change: &f64| (change / most + COLUMN_WEIGHT_FLOOR) / (1.0 + COLUMN_WEIGHT_FLOOR);
            weights = changes.iter().map(weight).collect();
        }
        Ok(best)
    }

    /// Replaces the numbers of columns that share a weight by their mean.
    fn share(&self, mut of_columns: &mut [f64]) {
        for same in self.numbers.chunk_by(|a, b| a == b) {
            let (of_weight, others) = of_columns.split_at_mut(same.len());
            of_weight.fill(of_weight.iter().sum::<f64>() / same.len() as f64);
            of_columns = others;
        }
    }

    fn weighted(&self, weights: &[f64]) -> Vec<f64> {
        self.rows.iter().zip(weights.iter().cycle()).map(|(x, weight)| x * weight).collect()
    }

    /// The fit with the least loss of those with each kernel on weighted columns; with many classes of that with minus the
    /// distance. A kernel continues from its last solution.
    fn best_fit(&self, weights: &[f64], solutions: &mut [Option<Solution>; 3]) -> Result<Fitted> {
        // The mean distance and the mean squared distance are multiples of these sums.
        let (sum, squares) = (weights.iter().sum::<f64>(), weights.iter().map(|weight| weight * weight).sum::<f64>());
        let kernels = [
            ConditionalKernel::Distance,
            ConditionalKernel::Laplacian { gamma: 1.0 / sum },
            ConditionalKernel::Rbf { gamma: 1.0 / squares },
        ];
        let n_kernels = if self.has_many_classes() { 1 } else { kernels.len() };
        let mut best: Option<Fitted> = None;
        for (kernel, last) in kernels.into_iter().zip(solutions).take(n_kernels) {
            let fitted = self.fit(weights, kernel, last.take())?;
            *last = Some(fitted.solution.clone());
            if best.as_ref().is_none_or(|best| fitted.loss < best.loss) {
                best = Some(fitted);
            }
        }
        best.ok_or(Error::TooShort { stage: "similarity search", needs: 0.0 })
    }

    /// The fit on weighted columns at the best λ of a path, which begins at the last solution if there is one.
    fn fit(&self, weights: &[f64], kernel: ConditionalKernel, last: Option<Solution>) -> Result<Fitted> {
        let path = PathOptions { near: last.as_ref().map(|last| last.lambda), ..PathOptions::default() };
        let problems = Problems { targets: OneVsRest::of(&self.labels), weights: &self.weights, units: &self.units };
        let monitor = &self.monitor.without_progress();
        let (roots, rows) = (problems.roots(), self.weighted(weights));
        let gram = weighted_gram(kernel, &rows, weights.len(), &roots, self.pool, monitor)?;
        let settings = FitSettings {
            start: last.map_or_else(Vec::new, |last| last.points),
            lowest: LAMBDA_PATH_LOWEST,
            ..settings_of(Intercept::Free, path, &problems)
        };
        let constant = Matrix::from_columns(roots, self.labels.len(), 1);
        let run = Run { settings: &settings, pool: self.pool, monitor };
        let fitted = fit_exact(gram, (&constant, &[0.0]), &problems, run)?;
        let best = fitted.outcome.best;
        let too_short = || Error::TooShort { stage: "similarity search", needs: 0.0 };
        let loss = best.point.loo_squared_hinge.filter(|_| !best.has(Status::TimeLimit)).ok_or_else(too_short)?;
        let points = best.solutions.into_iter().map(|solution| solution.point).collect();
        let solution = Solution { lambda: best.point.lambda, points };
        Ok(Fitted { kernel, coefficients: fitted.alpha, loss, solution })
    }

    /// Σ_k (∂f_k/∂x_j)² of each weighted column j, summed over the samples.
    fn slopes(&self, weights: &[f64], fitted: &Fitted) -> Result<Vec<f64>> {
        let (d, rows, coefficients) = (weights.len(), self.weighted(weights), &fitted.coefficients);
        let is_basis = |at: &usize| coefficients.iter().any(|of_function| of_function[*at] != 0.0);
        let bases: Vec<usize> = (0..self.labels.len()).filter(is_basis).collect();
        let of_rows = |range: Range<usize>| {
            let (mut sums, mut difference) = (vec![0.0; d], vec![0.0; d]);
            let mut slopes = vec![0.0; coefficients.len() * d];
            for row in range {
                slopes.fill(0.0);
                let x = &rows[row * d..(row + 1) * d];
                for &basis in &bases {
                    let z = &rows[basis * d..(basis + 1) * d];
                    difference.iter_mut().zip(x).zip(z).for_each(|((to, x), z)| *to = x - z);
                    let steepness = steepness(fitted.kernel, &mut difference);
                    for (slopes, of_function) in slopes.chunks_mut(d).zip(coefficients) {
                        let factor = of_function[basis] * steepness;
                        slopes.iter_mut().zip(&difference).for_each(|(slope, x)| *slope -= factor * x);
                    }
                }
                for slopes in slopes.chunks(d) {
                    sums.iter_mut().zip(slopes).for_each(|(sum, slope)| *sum += self.weights[row] * slope * slope);
                }
            }
            Ok::<_, Error>(sums)
        };
        let mut all = vec![0.0; d];
        self.pool.fold_chunks(self.labels.len(), CHUNK_ROWS, of_rows, |sums| {
            all.iter_mut().zip(sums).for_each(|(all, sum)| *all += sum);
            Ok::<_, Error>(())
        })?;
        Ok(all)
    }
}

/// Turns a difference from a basis into a direction and returns a factor: the kernel's gradient is minus their product.
fn steepness(kernel: ConditionalKernel, difference: &mut [f64]) -> f64 {
    let squared = difference.iter().map(|x| x * x).sum::<f64>();
    match kernel {
        ConditionalKernel::Laplacian { gamma } => {
            let distance = difference.iter().map(|x| x.abs()).sum::<f64>();
            difference.iter_mut().filter(|x| **x != 0.0).for_each(|x| *x = x.signum());
            gamma * (-gamma * distance).exp()
        }
        ConditionalKernel::Rbf { gamma } => 2.0 * gamma * (-gamma * squared).exp(),
        _ if squared > 0.0 => squared.sqrt().recip(),
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::candidate::SimilaritySearch;
    use super::super::subset::{All, Answers};
    use super::*;
    use crate::draw::mixed;

    fn number(at: usize) -> f64 {
        (mixed(at as u64 + 1) >> 11) as f64 / (1u64 << 53) as f64 * 3.4 - 1.7
    }

    /// Columns: the first two decide together, neither does alone.
    fn case(n: usize, d: usize) -> (DenseMatrix<f32>, Labels) {
        let values: Vec<f32> = (0..n * d).map(|at| number(at) as f32).collect();
        let labels = Labels::new(values.chunks(d).map(|row| i64::from(row[0] * row[1] > 0.0)));
        (DenseMatrix { values, n_rows: n, n_cols: d }, labels)
    }

    fn weights_of(matrix: DenseMatrix<f32>, labels: &Labels) -> Option<Vec<f32>> {
        let settings = SimilaritySearch { threads: 1, ..SimilaritySearch::default() };
        let (samples, ones) = (AnySamples::Vectors(Vectors::Dense(matrix)), vec![1.0; labels.len()]);
        let monitor = Monitor::none();
        let all = All::new(&samples, &Answers::from(labels), (&ones, None), &settings, &monitor).unwrap();
        let subset = Subset::of(&all, labels.len()).unwrap();
        column_weights(&subset, &monitor).unwrap().map(|List(weights)| weights)
    }

    #[test]
    fn columns_that_decide_together_count_and_others_hardly() {
        let (matrix, labels) = case(500, 8);
        let weights = weights_of(matrix, &labels).unwrap();
        assert!(weights[..2].iter().all(|weight| *weight > 0.7), "{weights:?}");
        assert!(weights[2..].iter().all(|weight| *weight < 0.2), "{weights:?}");
    }

    #[test]
    fn a_wave_counts_where_minus_the_distance_smooths_over_it() {
        let (matrix, _) = case(700, 12);
        let rows = matrix.values.chunks(12);
        let labels = Labels::new(
            rows.map(|row| i64::from((2.3 * row[0]).sin() + 1.4 * row[1] * row[1] + 1.4 * row[2] * row[3] > 1.3)),
        );
        let weights = weights_of(matrix, &labels).unwrap();
        assert!(weights[..4].iter().all(|weight| *weight > 0.4), "{weights:?}");
        assert!(weights[4..].iter().all(|weight| *weight < 0.15), "{weights:?}");
    }

    #[test]
    fn categories_of_a_variable_share_a_weight() {
        // Four variables of three categories, a number, and two flags that are rarely 1; the first two variables decide
        // together.
        let of_row = |row: usize| {
            let categories: Vec<u64> = (0..4).map(|at| mixed((8 * row + at) as u64) % 3).collect();
            let indicators = categories.iter().flat_map(|of| (0..3).map(move |at| f32::from(u8::from(*of == at))));
            let flags = [row.is_multiple_of(17), row.is_multiple_of(19)].map(|flag| f32::from(u8::from(flag)));
            let columns: Vec<f32> = indicators.chain([number(row) as f32]).chain(flags).collect();
            (columns, i64::from((categories[0] + categories[1]).is_multiple_of(3)))
        };
        let (rows, labels): (Vec<_>, Vec<_>) = (0..600).map(of_row).unzip();
        let matrix = DenseMatrix { values: rows.concat(), n_rows: 600, n_cols: 15 };
        assert_eq!(weight_numbers(&matrix), [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 5, 6]);
        let weights = weights_of(matrix, &Labels::new(labels)).unwrap();
        let of_variables: Vec<f32> = weights.chunks(3).map(|of| of[0]).collect();
        assert!(weights[..12].chunks(3).all(|of| of.iter().all(|weight| *weight == of[0])), "{weights:?}");
        assert!(of_variables[..2].iter().all(|weight| *weight > 0.7), "{weights:?}");
        assert!(of_variables[2..4].iter().all(|weight| *weight < 0.2), "{weights:?}");
    }

    #[test]
    fn there_are_none_of_noise_and_of_few_rows_for_the_columns() {
        let (matrix, labels) = case(299, 8);
        assert_eq!(weights_of(matrix, &labels), None);
        let (matrix, labels) = case(400, 41);
        assert_eq!(weights_of(matrix, &labels), None);
        let (matrix, _) = case(400, 8);
        let noise = Labels::new((0..400).map(|row| i64::from(number(7919 * row + 5) > 0.0)));
        assert_eq!(weights_of(matrix, &noise), None);
    }

    #[test]
    fn slopes_are_those_of_differences() {
        let (matrix, labels) = case(60, 3);
        let (weights, pool, monitor) = (vec![1.0; 60], Pool::new(1).unwrap(), Monitor::none());
        let rows = standardized(&matrix, &weights).unwrap();
        let numbers = &[0, 1, 2];
        let table = Table { rows, numbers, labels, units: weights.clone(), weights, pool: &pool, monitor: &monitor };
        let of_columns = [1.0, 0.5, 0.1];
        let samples = table.weighted(&of_columns);
        let kernels = [
            ConditionalKernel::Distance,
            ConditionalKernel::Laplacian { gamma: 0.7 },
            ConditionalKernel::Rbf { gamma: 0.7 },
        ];
        for kernel in kernels {
            let fitted = table.fit(&of_columns, kernel, None).unwrap();
            let found = table.slopes(&of_columns, &fitted).unwrap();
            let value = |x: &[f64]| -> f64 {
                let at = |z: &[f64]| {
                    let differences = x.iter().zip(z).map(|(x, z)| x - z);
                    let squared = differences.clone().map(|x| x * x).sum::<f64>();
                    match kernel {
                        ConditionalKernel::Laplacian { gamma } => {
                            (-gamma * differences.map(f64::abs).sum::<f64>()).exp()
                        }
                        ConditionalKernel::Rbf { gamma } => (-gamma * squared).exp(),
                        _ => -squared.sqrt(),
                    }
                };
                samples.chunks(3).zip(&fitted.coefficients[0]).map(|(z, alpha)| alpha * at(z)).sum()
            };
            for (column, found) in found.into_iter().enumerate() {
                let slope = |x: &[f64]| {
                    let moved = |by: f64| {
                        let mut x = x.to_vec();
                        x[column] += by;
                        value(&x)
                    };
                    // A sample is at the tip of its own cone, whose slope is none: both sides cancel.
                    (moved(1e-6) - moved(-1e-6)) / 2e-6
                };
                let expected: f64 = samples.chunks(3).map(|x| slope(x).powi(2)).sum();
                assert!((found - expected).abs() < 1e-4 * expected, "{column}: {found} instead of {expected}");
            }
        }
    }
}
