//! How much each column of a table counts in a kernel, by the marginal likelihood of a Gaussian process.
//!
//! Of k(x, y) = exp(−Σ s_c d(x_c, y_c)) with d the squared or the absolute difference, and noise of variance η/w on a
//! sample of weight w, both times an amplitude that is best in closed form, the scales s and η that make the targets
//! most likely are found along the gradient (Rasmussen & Williams, *Gaussian Processes for Machine Learning*, 2006,
//! section 5.4: automatic relevance determination), by the limited memory quasi-Newton method of Liu & Nocedal (*On the
//! limited memory BFGS method for large scale optimization*, 1989) on logarithms within bounds. The result is a
//! proposal: the caller judges it by the gain of its likelihood over one scale of all columns, and by the leave-one-out
//! error.
//!
//! A step takes n³ flops for the Cholesky factor, its inverse and the inverse matrix, and some 6 n² flops a column for
//! the kernel and the gradient: 70 MFLOP at 400 samples.

use crate::error::Result;
use crate::linalg::factor::{Cholesky, Matrix, Side, product};
use crate::tuning::{MIN_LIKELIHOOD_GAIN, NOISE_RANGE, SCALE_RANGE};

/// The difference of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Difference {
    Squared,
    Absolute,
}

/// Samples in standardized columns with their targets.
pub(super) struct Table<'a> {
    /// Column after column.
    pub columns: &'a [Vec<f64>],
    /// Samples × outputs, each with mean 0.
    pub targets: &'a Matrix,
    /// Of the samples.
    pub weights: &'a [f64],
    pub difference: Difference,
}

/// Scales of columns, and the variance of the noise, in units of the amplitude.
#[derive(Clone, Debug)]
pub(super) struct Scales {
    pub columns: Vec<f64>,
    pub noise: f64,
}

/// Scales with −log of their likelihood but for a constant.
#[derive(Clone, Debug)]
pub(super) struct Likely {
    pub scales: Scales,
    pub cost: f64,
}

/// The most that the logarithm of a scale changes in one step.
const MAX_LOG_STEP: f64 = 3.0;

/// Pairs of steps and changes of the gradient that are remembered.
const REMEMBERED_STEPS: usize = 10;

/// Of the slope, the part by which a step must gain (Armijo).
const ARMIJO: f64 = 1e-4;

impl Table<'_> {
    /// The most likely scales, or where they are `tied` the most likely one of all columns, after at most `most`
    /// evaluations of the likelihood from `start`; `None` where targets are constant or the matrix at the start is not
    /// definite.
    ///
    /// # Errors
    /// Those of `go_on`, which is called before each evaluation.
    pub fn likely(
        &self,
        start: &Scales,
        tied: bool,
        most: usize,
        mut go_on: impl FnMut() -> Result<()>,
    ) -> Result<Option<Likely>> {
        let d = start.columns.len();
        let largest = start.columns.iter().copied().fold(0.0, f64::max);
        if !(largest > 0.0 && largest.is_finite()) {
            return Ok(None);
        }
        let within = |at: usize, x: f64| {
            let is_noise = at == if tied { 1 } else { d };
            let (low, high) = if is_noise { NOISE_RANGE } else { (largest * SCALE_RANGE.0, largest * SCALE_RANGE.1) };
            x.clamp(low.ln(), high.ln())
        };
        let all = |x: &[f64]| -> Vec<f64> { if tied { [vec![x[0]; d], vec![x[1]]].concat() } else { x.to_vec() } };
        let cost = |x: &[f64]| {
            let (value, gradient) = self.cost(&all(x))?;
            Some((value, if tied { vec![gradient[..d].iter().sum(), gradient[d]] } else { gradient }))
        };
        let columns = if tied { &[largest][..] } else { &start.columns };
        let logs = columns.iter().chain([&start.noise]).map(|x| x.max(f64::MIN_POSITIVE).ln());
        let mut x: Vec<f64> = logs.enumerate().map(|(at, log)| within(at, log)).collect();
        go_on()?;
        let Some((mut value, mut gradient)) = cost(&x) else { return Ok(None) };
        let mut pairs: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
        let mut evaluations = 1;
        while evaluations < most {
            let mut direction = newton(&gradient, &pairs);
            // A scale at its bounds stays there.
            for (at, (d, g)) in direction.iter_mut().zip(&gradient).enumerate() {
                let stays = within(at, x[at] + d.signum() * 1e-9) == x[at];
                if stays || *d * g >= 0.0 && pairs.is_empty() {
                    *d = 0.0;
                }
            }
            let mut slope = dot(&direction, &gradient);
            if slope >= 0.0 {
                if pairs.is_empty() {
                    break;
                }
                pairs.clear();
                continue;
            }
            let longest = direction.iter().fold(0.0f64, |most, d| most.max(d.abs()));
            let limit = if pairs.is_empty() { 1.0 } else { MAX_LOG_STEP };
            let mut length = if longest > limit || pairs.is_empty() { limit / longest } else { 1.0 };
            let found = loop {
                if evaluations >= most {
                    break None;
                }
                go_on()?;
                evaluations += 1;
                let next: Vec<f64> =
                    x.iter().zip(&direction).enumerate().map(|(at, (x, d))| within(at, x + length * d)).collect();
                slope = next.iter().zip(&x).zip(&gradient).map(|((next, x), g)| (next - x) * g).sum();
                match cost(&next) {
                    Some((lower, gradient)) if lower <= value + ARMIJO * slope.min(0.0) => {
                        break Some((next, lower, gradient));
                    }
                    // The vertex of the parabola through both values and the slope, not too near to either end.
                    Some((higher, _)) => {
                        let vertex = -0.5 * slope / (higher - value - slope);
                        length *= if vertex.is_finite() { vertex.clamp(0.1, 0.5) } else { 0.5 };
                    }
                    None => length *= 0.25,
                }
                if length * longest < 1e-4 {
                    break None;
                }
            };
            let Some((next, lower, changed)) = found else { break };
            let step: Vec<f64> = next.iter().zip(&x).map(|(next, x)| next - x).collect();
            let change: Vec<f64> = changed.iter().zip(&gradient).map(|(now, before)| now - before).collect();
            if dot(&step, &change) > 1e-10 * dot(&change, &change) {
                pairs.push((step, change));
                if pairs.len() > REMEMBERED_STEPS {
                    pairs.remove(0);
                }
            }
            let gain = value - lower;
            (x, value, gradient) = (next, lower, changed);
            if gain < MIN_LIKELIHOOD_GAIN {
                break;
            }
        }
        let mut columns: Vec<f64> = all(&x).into_iter().map(f64::exp).collect();
        let noise = columns.pop().unwrap_or(start.noise);
        Ok(Some(Likely { scales: Scales { columns, noise }, cost: value }))
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
            for (column, scale) in self.columns.iter().zip(scales) {
                let (own, others) = (column[col], &column[col..]);
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
            for ((column, scale), slope) in self.columns.iter().zip(scales).zip(&mut gradient) {
                let (own, others) = (column[col], &column[col..]);
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

/// −H g, for H the estimate of the inverse Hessian by some steps and changes of the gradient, the oldest first.
fn newton(gradient: &[f64], pairs: &[(Vec<f64>, Vec<f64>)]) -> Vec<f64> {
    let mut q: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut factors = Vec::with_capacity(pairs.len());
    for (step, change) in pairs.iter().rev() {
        let factor = dot(step, &q) / dot(step, change);
        q.iter_mut().zip(change).for_each(|(q, change)| *q -= factor * change);
        factors.push(factor);
    }
    if let Some((step, change)) = pairs.last() {
        let scale = dot(step, change) / dot(change, change);
        q.iter_mut().for_each(|q| *q *= scale);
    }
    for ((step, change), factor) in pairs.iter().zip(factors.iter().rev()) {
        let along = factor - dot(change, &q) / dot(step, change);
        q.iter_mut().zip(step).for_each(|(q, step)| *q += along * step);
    }
    q
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uniform(seed: u64) -> impl FnMut() -> f64 {
        let mut state = seed;
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64 * 3.4 - 1.7
        }
    }

    /// Columns of noise but for two, the first of them varying fast, and two outputs.
    fn case(n: usize) -> (Vec<Vec<f64>>, Matrix, Vec<f64>) {
        let mut draw = uniform(3);
        let columns: Vec<Vec<f64>> = (0..4).map(|_| (0..n).map(|_| draw()).collect()).collect();
        let mut targets = Matrix::zeros(n, 2);
        for (row, (fast, slow)) in columns[0].iter().zip(&columns[1]).enumerate() {
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
            let sum: f64 = (0..4).map(|c| f64::exp(at[c]) * (table.columns[c][i] - table.columns[c][j]).powi(2)).sum();
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
            let start = Scales { columns: vec![0.1; 4], noise: 0.1 };
            let Likely { scales: found, cost: least } = table.likely(&start, false, 60, || Ok(())).unwrap().unwrap();
            let [fast, slow, ..] = found.columns[..] else { panic!("four scales") };
            assert!(fast > 2.0 * slow, "{found:?}");
            assert!(found.columns[2..].iter().all(|&noise| noise < share * fast), "{found:?}");
            let cost = |scales: &Scales| {
                let logs: Vec<f64> = scales.columns.iter().chain([&scales.noise]).map(|x| x.ln()).collect();
                table.cost(&logs).unwrap()
            };
            // At the optimum the slopes of scales that are not at a bound are small compared with those of the start.
            let size = |(_, gradient): (f64, Vec<f64>)| gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
            assert!(cost(&found).0 < cost(&start).0 - 50.0);
            assert!(size(cost(&found)) < 0.05 * size(cost(&start)), "{found:?}");
            assert_eq!(cost(&found).0, least);
            // One scale of all is no better, and the best of its kind.
            let tied = table.likely(&start, true, 60, || Ok(())).unwrap().unwrap();
            assert!(
                tied.scales.columns.iter().all(|scale| *scale == tied.scales.columns[0]) && tied.cost > least + 20.0
            );
            for factor in [0.8, 1.25] {
                let columns = tied.scales.columns.iter().map(|scale| factor * scale).collect();
                assert!(cost(&Scales { columns, ..tied.scales }).0 > tied.cost);
            }
        }
    }

    #[test]
    fn there_are_no_scales_without_a_likelihood() {
        let (columns, targets, weights) = case(20);
        let none = Matrix::zeros(20, 1);
        let table = |targets| Table { columns: &columns, targets, weights: &weights, difference: Difference::Squared };
        let start = |scale: f64| Scales { columns: vec![scale; 4], noise: 0.1 };
        assert!(table(&none).likely(&start(0.1), false, 10, || Ok(())).unwrap().is_none());
        assert!(table(&targets).likely(&start(0.0), false, 10, || Ok(())).unwrap().is_none());
        let cancelled = || Err(crate::Error::Cancelled { stage: "search" });
        assert!(table(&targets).likely(&start(0.1), true, 10, cancelled).is_err());
        let mut evaluations = 0;
        let count = || {
            evaluations += 1;
            Ok(())
        };
        table(&targets).likely(&start(0.1), false, 7, count).unwrap();
        assert!(evaluations <= 7, "{evaluations}");
    }
}
