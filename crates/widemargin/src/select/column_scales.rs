//! How much each column of a table counts in a kernel, by the marginal likelihood of a Gaussian process.
//!
//! Of k(x, y) = exp(−Σ s_c d(x_c, y_c)) with d the squared or the absolute difference, and noise of variance η/w on a
//! sample of weight w, both times an amplitude that is best in closed form, the scales s and η that make the targets
//! most likely are found along the gradient (Rasmussen & Williams, *Gaussian Processes for Machine Learning*, 2006,
//! section 5.4: automatic relevance determination), by resilient propagation (Riedmiller & Braun, *A direct adaptive
//! method for faster backpropagation learning: the RPROP algorithm*, ICNN 1993) on logarithms within bounds: it follows
//! the signs of the slopes, each with a step of its own, which grows until the sign changes. The result is a proposal:
//! the caller judges it by the gain of its likelihood over one scale of all columns, and by the leave-one-out error.
//!
//! A step takes n³ flops for the Cholesky factor, its inverse and the inverse matrix, and some 6 n² flops a column for
//! the kernel and the gradient: 70 MFLOP at 400 samples.

use crate::error::Result;
use crate::linalg::factor::{Cholesky, Matrix, Side, dot, product};
use crate::tuning::{LIKELIHOOD_PATIENCE, MIN_LIKELIHOOD_GAIN, NOISE_RANGE, SCALE_RANGE};

/// The difference of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Difference {
    Squared,
    Absolute,
}

/// Samples in standardized columns with their targets.
pub(super) struct Table<'a> {
    /// Samples × columns.
    pub columns: &'a Matrix,
    /// Samples × outputs, each with mean 0.
    pub targets: &'a Matrix,
    /// Of the samples.
    pub weights: &'a [f64],
    pub difference: Difference,
}

/// Scales of the columns and last the variance of the noise in units of the amplitude, with −log of their likelihood but
/// for a constant.
#[derive(Clone, Debug)]
pub(super) struct Likely {
    pub scales: Vec<f64>,
    pub cost: f64,
}

/// The first step of the logarithm of a scale, and the largest.
const LOG_STEPS: (f64, f64) = (0.3, 3.0);

/// The factors by which a step grows while its slope has the same sign, and shrinks beyond a minimum.
const STEP_FACTORS: (f64, f64) = (1.2, 0.5);

impl Table<'_> {
    /// The most likely scales and noise, where neighboring columns of the same number share a scale, after at most `most`
    /// evaluations of the likelihood from `start`; `None` where targets are constant or the matrix at the start is not
    /// definite.
    ///
    /// # Errors
    /// Those of `go_on`, which is called before each evaluation.
    pub fn likely(
        &self,
        start: &[f64],
        numbers: &[usize],
        most: usize,
        mut go_on: impl FnMut() -> Result<()>,
    ) -> Result<Option<Likely>> {
        let d = start.len() - 1;
        let largest = start[..d].iter().copied().fold(0.0, f64::max);
        if !(largest > 0.0 && largest.is_finite()) {
            return Ok(None);
        }
        let within = |at: usize, x: f64| {
            let (low, high) = if at == d { NOISE_RANGE } else { (largest * SCALE_RANGE.0, largest * SCALE_RANGE.1) };
            x.clamp(low.ln(), high.ln())
        };
        let mut x: Vec<f64> = start.iter().enumerate().map(|(at, scale)| within(at, scale.ln())).collect();
        let (mut steps, mut before) = (vec![LOG_STEPS.0; x.len()], vec![0.0; x.len()]);
        let mut best: Option<(Vec<f64>, f64)> = None;
        let (mut goal, mut patience) = (f64::INFINITY, LIKELIHOOD_PATIENCE);
        for _ in 0..most {
            go_on()?;
            let Some((value, mut gradient)) = self.cost(&x) else {
                let Some((known, _)) = &best else { break };
                x.clone_from(known);
                steps.iter_mut().for_each(|step| *step *= STEP_FACTORS.1);
                before.fill(0.0);
                continue;
            };
            if best.as_ref().is_none_or(|(_, least)| value < *least) {
                best = Some((x.clone(), value));
            }
            if value < goal {
                (goal, patience) = (value - MIN_LIKELIHOOD_GAIN, LIKELIHOOD_PATIENCE);
            } else if patience == 0 {
                break;
            } else {
                patience -= 1;
            }
            let mut slopes = &mut gradient[..d];
            for same in numbers.chunk_by(|a, b| a == b) {
                let (of_scale, others) = slopes.split_at_mut(same.len());
                of_scale.fill(of_scale.iter().sum());
                slopes = others;
            }
            for (at, (slope, before)) in gradient.iter().zip(&mut before).enumerate() {
                let is_beyond = slope * *before < 0.0;
                if is_beyond {
                    steps[at] *= STEP_FACTORS.1;
                } else if *before != 0.0 {
                    steps[at] = LOG_STEPS.1.min(steps[at] * STEP_FACTORS.0);
                }
                // Beyond a minimum it stays for one evaluation.
                *before = if is_beyond { 0.0 } else { *slope };
                if *before != 0.0 {
                    x[at] = within(at, x[at] - before.signum() * steps[at]);
                }
            }
        }
        Ok(best.map(|(x, cost)| Likely { scales: x.into_iter().map(f64::exp).collect(), cost }))
    }

    /// −log of the likelihood but for a constant, and its gradient, at logarithms of scales and of η; none where the
    /// matrix is not definite.
    ///
    /// With B = K + η W⁻¹ and α = B⁻¹y of each of k outputs: k/2 log |B| + n/2 Σ log yᵀα, whose derivative by B is
    /// G = k/2 B⁻¹ − n/2 Σ ααᵀ / yᵀα.
    fn cost(&self, logs: &[f64]) -> Option<(f64, Vec<f64>)> {
        let (n, scales) = (self.weights.len(), logs.iter().map(|log| log.exp()).collect::<Vec<f64>>());
        let (noise, scales) = scales.split_last()?;
        let mut kernel = Matrix::zeros(n, n);
        for (col, weight) in self.weights.iter().enumerate() {
            let below = &mut kernel.col_mut(col)[col..];
            for (column, scale) in scales.iter().enumerate() {
                let (own, others) = (self.columns.at(col, column), &self.columns.col(column)[col..]);
                let pairs = below.iter_mut().zip(others);
                match self.difference {
                    Difference::Squared => pairs.for_each(|(sum, x)| *sum += scale * (x - own) * (x - own)),
                    Difference::Absolute => pairs.for_each(|(sum, x)| *sum += scale * (x - own).abs()),
                }
            }
            below.iter_mut().for_each(|sum| *sum = (-*sum).exp());
            below[0] += noise / weight;
        }
        let factor = Cholesky::new(kernel.clone())?;
        let inverse_lower = factor.inverse_lower();
        let inverse = product(Side::Transposed(&inverse_lower), Side::Plain(&inverse_lower));
        let log_roots: f64 = (0..n).map(|at| factor.lower().at(at, at).ln()).sum();
        let outputs: Vec<(&[f64], Vec<f64>, f64)> = (0..self.targets.n_cols())
            .map(|output| {
                let targets = self.targets.col(output);
                let alpha = inverse.times(targets);
                let energy = dot(targets, &alpha);
                (targets, alpha, energy)
            })
            .filter(|(_, _, energy)| *energy > 0.0)
            .collect();
        if outputs.is_empty() || !log_roots.is_finite() {
            return None;
        }
        let (k, half_n) = (outputs.len() as f64, 0.5 * n as f64);
        let value = k * log_roots + half_n * outputs.iter().map(|(_, _, energy)| energy.ln()).sum::<f64>();

        let mut gradient = vec![0.0; logs.len()];
        let mut along = vec![0.0; n];
        for (col, weight) in self.weights.iter().enumerate() {
            // G of the rows below, then G times K.
            let along = &mut along[col..];
            along.iter_mut().zip(&inverse.col(col)[col..]).for_each(|(g, inverse)| *g = 0.5 * k * inverse);
            for (_, alpha, energy) in &outputs {
                let factor = half_n / energy * alpha[col];
                along.iter_mut().zip(&alpha[col..]).for_each(|(g, alpha)| *g -= factor * alpha);
            }
            gradient[scales.len()] += noise / weight * along[0];
            along.iter_mut().zip(&kernel.col(col)[col..]).for_each(|(g, kernel)| *g *= kernel);
            for (column, (scale, slope)) in scales.iter().zip(&mut gradient).enumerate() {
                let (own, others) = (self.columns.at(col, column), &self.columns.col(column)[col..]);
                let pairs = along.iter().zip(others);
                let sum: f64 = match self.difference {
                    Difference::Squared => pairs.map(|(g, x)| g * (x - own) * (x - own)).sum(),
                    Difference::Absolute => pairs.map(|(g, x)| g * (x - own).abs()).sum(),
                };
                // Those above the diagonal are the same.
                *slope -= 2.0 * scale * sum;
            }
        }
        (value.is_finite() && gradient.iter().all(|slope| slope.is_finite())).then_some((value, gradient))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each column has a scale of its own.
    const EACH: [usize; 4] = [0, 1, 2, 3];

    fn uniform(seed: u64) -> impl FnMut() -> f64 {
        let mut state = seed;
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64 * 3.4 - 1.7
        }
    }

    /// Columns of noise but for two, the first of them varying fast, and two outputs.
    fn case(n: usize) -> (Matrix, Matrix, Vec<f64>) {
        let mut draw = uniform(3);
        let columns = Matrix::from_columns((0..4 * n).map(|_| draw()).collect(), n, 4);
        let mut targets = Matrix::zeros(n, 2);
        for (row, (fast, slow)) in columns.col(0).iter().zip(columns.col(1)).enumerate() {
            let value = (3.0 * fast).sin() + 0.5 * slow;
            targets.set(row, 0, value + 0.3 * draw());
            targets.set(row, 1, 0.3 * value + 0.1 * draw());
        }
        let weights = (0..n).map(|row| [1.0, 2.0, 0.5][row % 3]).collect();
        (columns, targets, weights)
    }

    #[test]
    fn the_gradient_is_that_of_differences() {
        let (columns, targets, weights) = case(40);
        for difference in [Difference::Squared, Difference::Absolute] {
            let table = Table { columns: &columns, targets: &targets, weights: &weights, difference };
            let at = [-1.0, -2.0, 0.3, -4.0, -2.5];
            let (_, gradient) = table.cost(&at).unwrap();
            for place in 0..at.len() {
                let moved = |by: f64| {
                    let mut x = at;
                    x[place] += by;
                    table.cost(&x).unwrap().0
                };
                let expected = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                assert!((gradient[place] - expected).abs() < 1e-5 * expected.abs().max(1.0), "{difference:?}, {place}");
            }
        }
    }

    /// Of one output with unit weights it is the negative logarithm of a normal density at the best amplitude.
    #[test]
    fn the_cost_is_that_of_a_normal_density() {
        let (columns, targets, _) = case(30);
        let first = Matrix::from_columns(targets.col(0).to_vec(), 30, 1);
        let (ones, difference) = ([1.0; 30], Difference::Squared);
        let table = Table { columns: &columns, targets: &first, weights: &ones, difference };
        let at = [-1.0, -2.0, -3.0, -4.0, -2.5];
        // By Gaussian elimination with pivots, in place of a Cholesky factor.
        let kernel = |i: usize, j: usize| {
            let sum: f64 = (0..4).map(|c| f64::exp(at[c]) * (columns.at(i, c) - columns.at(j, c)).powi(2)).sum();
            (-sum).exp() + if i == j { at[4].exp() } else { 0.0 }
        };
        let mut rows: Vec<Vec<f64>> =
            (0..30).map(|i| (0..30).map(|j| kernel(i, j)).chain([first.at(i, 0)]).collect()).collect();
        let mut log_determinant = 0.0;
        for pivot in 0..30 {
            log_determinant += rows[pivot][pivot].ln();
            let own = rows[pivot].clone();
            for (_, row) in rows.iter_mut().enumerate().filter(|(at, _)| *at != pivot) {
                let factor = row[pivot] / own[pivot];
                row.iter_mut().zip(&own).for_each(|(x, own)| *x -= factor * own);
            }
        }
        let energy: f64 = (0..30).map(|i| first.at(i, 0) * rows[i][30] / rows[i][i]).sum();
        let amplitude = energy / 30.0;
        let density = 0.5 * (log_determinant + 30.0 * amplitude.ln() + energy / amplitude);
        // But for a constant: the cost has n/2 log n more, and no n/2.
        let expected = density - 15.0 + 15.0 * f64::ln(30.0);
        let (found, _) = table.cost(&at).unwrap();
        assert!((found - expected).abs() < 1e-8 * expected.abs(), "{found} instead of {expected}");
    }

    #[test]
    fn columns_of_noise_count_little_and_noise_is_found() {
        let (columns, targets, _) = case(150);
        let weights = vec![1.0; 150];
        for (difference, share) in [(Difference::Squared, 1e-2), (Difference::Absolute, 0.1)] {
            let table = Table { columns: &columns, targets: &targets, weights: &weights, difference };
            let start = vec![0.1; 5];
            let Likely { scales: found, cost: least } = table.likely(&start, &EACH, 60, || Ok(())).unwrap().unwrap();
            let [fast, slow, ..] = found[..] else { panic!("four scales") };
            assert!(fast > 2.0 * slow, "{found:?}");
            assert!(found[2..4].iter().all(|&noise| noise < share * fast), "{found:?}");
            let cost = |scales: &[f64]| table.cost(&scales.iter().map(|x| x.ln()).collect::<Vec<f64>>()).unwrap();
            // At the optimum the slopes of scales that are not at a bound are small compared with those of the start.
            let size = |(_, gradient): (f64, Vec<f64>)| gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
            assert!(cost(&found).0 < cost(&start).0 - 50.0);
            assert!(size(cost(&found)) < 0.05 * size(cost(&start)), "{found:?}");
            assert!((cost(&found).0 - least).abs() < 1e-9 * least.abs());
            // One scale of all is no better, and the best of its kind.
            let tied = table.likely(&start, &[0; 4], 60, || Ok(())).unwrap().unwrap();
            let same = tied.scales[0];
            assert!(tied.scales[..4].iter().all(|scale| *scale == same) && tied.cost > least + 20.0);
            for factor in [0.8, 1.25] {
                let mut scales = tied.scales.clone();
                scales[..4].fill(factor * same);
                assert!(cost(&scales).0 > tied.cost);
            }
        }
    }

    #[test]
    fn there_are_no_scales_without_a_likelihood() {
        let (columns, targets, weights) = case(20);
        let none = Matrix::zeros(20, 1);
        let table = |targets| Table { columns: &columns, targets, weights: &weights, difference: Difference::Squared };
        let start = |scale: f64| [vec![scale; 4], vec![0.1]].concat();
        assert!(table(&none).likely(&start(0.1), &EACH, 10, || Ok(())).unwrap().is_none());
        assert!(table(&targets).likely(&start(0.0), &EACH, 10, || Ok(())).unwrap().is_none());
        let cancelled = || Err(crate::Error::Cancelled { stage: "search" });
        assert!(table(&targets).likely(&start(0.1), &[0; 4], 10, cancelled).is_err());
        let mut evaluations = 0;
        let count = || {
            evaluations += 1;
            Ok(())
        };
        table(&targets).likely(&start(0.1), &EACH, 7, count).unwrap();
        assert!(evaluations <= 7, "{evaluations}");
    }
}
