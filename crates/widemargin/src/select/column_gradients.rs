//! Weights of the columns of a table: how much a fitted function changes along each of them.
//!
//! The function is a kernel SVM on standardized columns, with the kernel of least leave-one-out loss: minus the distance,
//! which has no length scale, the Laplacian or the Gaussian. A column counts in proportion to the root of the mean squared
//! derivative along it, and the fit is repeated on the weighted columns (Radhakrishnan, Beaglehole, Pandit & Belkin,
//! *Mechanism for feature learning in neural networks and backpropagation-free machine learning models*, Science 383,
//! 2024). Unlike the correlation of a column with the classes, derivatives show what columns do together. The weights
//! are a proposal: kernels with them are candidates like others.
//!
//! Next to its fit a round takes n·B·d·k flops for n samples, B bases, d columns and k functions.

use std::ops::Range;

use super::column_weights::standardized;
use super::subset::{Judge, Subset};
use crate::data::{DenseView, Labels};
use crate::error::{Error, Result};
use crate::model::{Standardize, ThinPlateParams};
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::parameters::List;
use crate::similarity::ConditionalKernel;
use crate::solve::thin_plate::PathOptions;
use crate::tuning::{
    COLUMN_WEIGHT_FLOOR, MAX_CLASSES_OF_WEIGHT_KERNELS, MAX_IDLE_ROUNDS, MAX_WEIGHT_ROUNDS, MIN_COLUMN_WEIGHT_GAIN,
    MIN_ROUND_GAIN, MIN_ROWS_PER_COLUMN, MIN_ROWS_TO_WEIGH,
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
    let (n, d) = (matrix.n_rows, matrix.n_cols);
    if d < 2 || n < MIN_ROWS_TO_WEIGH.max(MIN_ROWS_PER_COLUMN * d) {
        return Ok(None);
    }
    let rows = standardized(matrix, &subset.weights)?;
    let weights = subset.weights.clone();
    let all = Table { rows, labels: labels.clone(), weights, threads: subset.threads(), pool: &subset.pool, monitor };
    let found = all.save_of_others().and_then(|saves| if saves { all.learned() } else { Ok(None) });
    let found = match found {
        Err(error @ Error::Cancelled { .. }) => return Err(error),
        // Without time, and where no such function can be fitted, there are other candidates.
        found => found.ok().flatten(),
    };
    let rounded = |weight: f64| ((1000.0 * weight).round() / 1000.0) as f32;
    Ok(found.map(|weights| List(weights.into_iter().map(rounded).collect())))
}

/// Samples in standardized columns.
struct Table<'a> {
    /// Row-major.
    rows: Vec<f64>,
    labels: Labels,
    weights: Vec<f64>,
    threads: usize,
    pool: &'a Pool,
    monitor: &'a Monitor<'a>,
}

/// Functions f_k(x) = Σ α_kb k(x, z_b) + constant.
struct Fitted {
    kernel: ConditionalKernel,
    /// Row-major.
    bases: Vec<f64>,
    /// `[function][basis]`.
    coefficients: Vec<f64>,
    lambda: f64,
    /// The mean leave-one-out squared hinge.
    loss: f64,
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
            ..*self
        }
    }

    /// Whether weights that one half of the samples makes save enough of the loss of the other.
    fn save_of_others(&self) -> Result<bool> {
        let halves = [0, 1].map(|first| self.of_rows(&(first..self.labels.len()).step_by(2).collect::<Vec<usize>>()));
        let (mut weighted, mut plain) = (0.0, 0.0);
        for (half, other) in halves.iter().zip(halves.iter().rev()) {
            let loss_with =
                |weights: &[f64]| Ok::<_, Error>(other.fit(weights, ConditionalKernel::Distance, None)?.loss);
            let loss = loss_with(&vec![1.0; self.n_columns()])?;
            plain += loss;
            weighted += half.learned()?.map_or(Ok(loss), |weights| loss_with(&weights))?;
        }
        Ok(weighted < plain * (1.0 - MIN_COLUMN_WEIGHT_GAIN))
    }

    /// The weights with the least leave-one-out loss of some rounds; none where that is least without weights.
    fn learned(&self) -> Result<Option<Vec<f64>>> {
        let (mut weights, mut lambdas) = (vec![1.0; self.n_columns()], [None; 3]);
        let (mut best, mut least, mut n_idle) = (None, f64::INFINITY, 0);
        for round in 0..=MAX_WEIGHT_ROUNDS {
            let fitted = self.best_fit(&weights, &mut lambdas)?;
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
            let slopes = self.slopes(&weights, &fitted)?;
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

    fn weighted(&self, weights: &[f64]) -> Vec<f64> {
        self.rows.iter().zip(weights.iter().cycle()).map(|(x, weight)| x * weight).collect()
    }

    /// The fit with the least loss of those with each kernel on weighted columns; with many classes of that with minus the
    /// distance. A kernel stays at the λ of its first path.
    fn best_fit(&self, weights: &[f64], lambdas: &mut [Option<f64>; 3]) -> Result<Fitted> {
        // The mean distance and the mean squared distance are multiples of these sums.
        let (sum, squares) = (weights.iter().sum::<f64>(), weights.iter().map(|weight| weight * weight).sum::<f64>());
        let kernels = [
            ConditionalKernel::Distance,
            ConditionalKernel::Laplacian { gamma: 1.0 / sum },
            ConditionalKernel::Rbf { gamma: 1.0 / squares },
        ];
        let n_kernels = if self.has_many_classes() { 1 } else { kernels.len() };
        let mut best: Option<Fitted> = None;
        for (kernel, lambda) in kernels.into_iter().zip(lambdas).take(n_kernels) {
            let fitted = self.fit(weights, kernel, *lambda)?;
            lambda.get_or_insert(fitted.lambda);
            if best.as_ref().is_none_or(|best| fitted.loss < best.loss) {
                best = Some(fitted);
            }
        }
        best.ok_or(Error::TooShort { stage: "similarity search", needs: 0.0 })
    }

    /// The fit on weighted columns, at a λ or at that of a path.
    fn fit(&self, weights: &[f64], kernel: ConditionalKernel, lambda: Option<f64>) -> Result<Fitted> {
        let params = ThinPlateParams::new(kernel).standardize(Standardize::No);
        let path = PathOptions { near: lambda, stays: lambda.is_some(), ..PathOptions::default() };
        let params = params.with(|task| task.path = path);
        let (rows, n) = (self.weighted(weights), self.labels.len());
        let view = DenseView::new(&rows, n, weights.len())?;
        let monitor = self.monitor.without_progress();
        let model = params.threads(self.threads).fit_with(&view, &self.labels, Some(&self.weights), &monitor)?;
        let loss = model.chosen().and_then(|point| point.loo_squared_hinge).filter(|_| !model.report().is_partial());
        let too_short = || Error::TooShort { stage: "similarity search", needs: 0.0 };
        Ok(Fitted {
            kernel,
            bases: model.bases().to_vec(),
            coefficients: model.coefficients().to_vec(),
            lambda: model.lambda(),
            loss: loss.ok_or_else(too_short)?,
        })
    }

    /// Σ_k (∂f_k/∂x_j)² of each weighted column j, summed over the samples.
    fn slopes(&self, weights: &[f64], fitted: &Fitted) -> Result<Vec<f64>> {
        let (d, n_bases) = (weights.len(), fitted.bases.len() / weights.len());
        let (rows, n_functions) = (self.weighted(weights), fitted.coefficients.len() / n_bases.max(1));
        let of_rows = |range: Range<usize>| {
            let (mut sums, mut difference) = (vec![0.0; d], vec![0.0; d]);
            let mut slopes = vec![0.0; n_functions * d];
            for row in range {
                slopes.fill(0.0);
                let x = &rows[row * d..(row + 1) * d];
                for (at, z) in fitted.bases.chunks(d).enumerate() {
                    difference.iter_mut().zip(x).zip(z).for_each(|((to, x), z)| *to = x - z);
                    let steepness = steepness(fitted.kernel, &mut difference);
                    for (function, slopes) in slopes.chunks_mut(d).enumerate() {
                        let factor = fitted.coefficients[function * n_bases + at] * steepness;
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
    use super::super::subset::{All, Answers, Settings};
    use super::*;
    use crate::data::{AnySamples, ClassWeight, DenseMatrix, Vectors};
    use crate::draw::mixed;
    use crate::problem::Intercept;

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
        let settings = Settings { intercept: Intercept::Free, class_weight: ClassWeight::Uniform, seed: 0, threads: 1 };
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
        let table = Table { rows, labels, weights, threads: 1, pool: &pool, monitor: &monitor };
        let of_columns = [1.0, 0.5, 0.1];
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
                fitted.bases.chunks(3).zip(&fitted.coefficients).map(|(z, alpha)| alpha * at(z)).sum()
            };
            for (column, found) in found.into_iter().enumerate() {
                let slope = |x: &[f64]| {
                    let moved = |by: f64| {
                        let mut x = x.to_vec();
                        x[column] += by;
                        value(&x)
                    };
                    // A sample that is a basis is at the tip of a cone, whose own slope is none: both sides cancel.
                    (moved(1e-6) - moved(-1e-6)) / 2e-6
                };
                let expected: f64 = table.weighted(&of_columns).chunks(3).map(|x| slope(x).powi(2)).sum();
                assert!((found - expected).abs() < 1e-4 * expected, "{column}: {found} instead of {expected}");
            }
        }
    }
}
