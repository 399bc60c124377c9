//! Leave-one-out of regularized least squares on a kernel, in closed form for all classes and all C at once.
//!
//! f minimizes ½‖f‖² + C Σ w (y − f)² for each two-class problem with targets ±1 and no intercept: ridge regression
//! (`ridge.rs`), whose leave-one-out is exact.
//!
//! The residuals are judged by the squared hinge, so that a sample well on its side costs nothing. Where C is chosen
//! for the squared hinge, the machine that ignores the margin is a good stand-in: most samples are inside the margin
//! there.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::ridge::{Fitted, Ridge};
use super::thin_plate::{LeaveOneOutSums, Problems};
use crate::error::Result;
use crate::linalg::factor::Matrix;
use crate::monitor::Monitor;
use crate::tuning::{C_PER_DECADE, LEAST_SQUARES_PATH};

/// The leave-one-out results of one C.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TriedC {
    /// C of ½‖f‖² + C Σ loss.
    #[serde(rename = "C")]
    pub c: f64,
    /// The mean squared hinge of the leave-one-out decision values, over samples by weight and problems.
    pub loo_squared_hinge: f64,
    /// The share of the samples, by weight, that are misclassified when left out.
    pub loo_error: f64,
    /// The same of each label, if multilabel; empty for classes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub label_errors: Vec<f64>,
}

/// A kernel between samples with weights, decomposed: once for all problems, or where these weigh samples differently
/// once for each, of the samples that it knows.
pub(crate) struct LeastSquares<'a> {
    problems: &'a Problems<'a>,
    parts: Vec<Part>,
}

/// Problems that share the weights of samples.
struct Part {
    /// The samples with a weight.
    rows: Vec<usize>,
    problems: Range<usize>,
    ridge: Ridge,
}

impl Part {
    fn new(gram: &Matrix, all: &Problems<'_>, problems: Range<usize>) -> Option<Self> {
        let Problems { targets, weights, units } = *all;
        let of_problem = |row: usize| targets.weight(row, problems.start);
        let rows: Vec<usize> = (0..weights.len()).filter(|&row| weights[row] * of_problem(row) > 0.0).collect();
        let (n, k) = (rows.len(), problems.len());
        let gram = if n == weights.len() { gram.clone() } else { gram.select_rows(&rows).select_cols(&rows) };
        let signs = (0..n * k).map(|at| targets.sign(rows[at / k], problems.start + at % k)).collect();
        let times = |values: &[f64]| rows.iter().map(|&row| values[row] * of_problem(row)).collect::<Vec<f64>>();
        let (weights, units) = (times(weights), times(units));
        let units = units.iter().zip(&weights).map(|(unit, weight)| unit.min(*weight)).collect();
        let fitted = Fitted { targets: Matrix::from_columns(signs, k, n), weights, units };
        Some(Part { ridge: Ridge::of_kernel(gram, Matrix::zeros(n, 0), fitted)?, rows, problems })
    }

    /// The sum of the weights.
    fn total(&self) -> f64 {
        self.ridge.parted.spectrum.total_weight()
    }
}

impl<'a> LeastSquares<'a> {
    /// Decomposes the kernel between the samples of `problems`; `None` for non-finite numbers.
    pub fn new(gram: Matrix, problems: &'a Problems<'a>) -> Option<Self> {
        let k = problems.targets.n_problems();
        let shared = if problems.targets.is_even() { k } else { 1 };
        let part = |first: usize| Part::new(&gram, problems, first..first + shared);
        Some(LeastSquares { problems, parts: (0..k).step_by(shared).map(part).collect::<Option<_>>()? })
    }

    /// The weighted mean of the kernel's diagonal: the unit of λ.
    pub fn unit(&self) -> f64 {
        let sum = |of: fn(&Part) -> f64| self.parts.iter().map(of).sum::<f64>();
        sum(|part| part.ridge.parted.spectrum.unit() * part.total()) / sum(Part::total)
    }

    /// Leave-one-out at one C.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn leave_one_out(&self, c: f64, monitor: &Monitor<'_>) -> Result<TriedC> {
        let values = self.decision_values(c, monitor)?;
        let sums = LeaveOneOutSums::of(&values, self.problems);
        let loo_squared_hinge = sums.mean_hinge(values.len());
        Ok(TriedC { c, loo_squared_hinge, loo_error: sums.error(), label_errors: sums.label_errors() })
    }

    /// The decision value of each sample without one copy of it, one vector per problem; 0 where a problem does not know
    /// the sample.
    fn decision_values(&self, c: f64, monitor: &Monitor<'_>) -> Result<Vec<Vec<f64>>> {
        let mut loo_values = vec![vec![0.0; self.problems.weights.len()]; self.problems.targets.n_problems()];
        for Part { rows, problems, ridge } in &self.parts {
            let values = ridge.parted.loo_values(&mut ridge.rows(), 0.5 / c, monitor)?;
            for (&row, values) in rows.iter().zip(values.chunks(problems.len())) {
                loo_values[problems.clone()].iter_mut().zip(values).for_each(|(own, value)| own[row] = *value);
            }
        }
        Ok(loo_values)
    }
}

/// The leave-one-out losses on a grid of C: from 1e-4 to 500 in units of one over `unit`, the kernel's mean diagonal,
/// four a decade. Beyond it leverages tend to 1, where leave-one-out is undetermined.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled).
pub(crate) fn path(machine: &LeastSquares<'_>, unit: f64, monitor: &Monitor<'_>) -> Result<Vec<TriedC>> {
    let c = |at: i32| 10f64.powf(f64::from(at) / f64::from(C_PER_DECADE)) / unit;
    LEAST_SQUARES_PATH.map(|at| machine.leave_one_out(c(at), monitor)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::factor::Cholesky;
    use crate::problem::OneVsRest;

    /// Kernel of some points, weights and codes.
    fn case() -> (Vec<f64>, Vec<f64>, Vec<u32>) {
        let points: Vec<f64> = (0..14).map(|i| f64::from(i * 37 % 29) / 29.0 + 0.1).collect();
        let weights = (0..14).map(|i| [1.0, 2.0, 3.0][i % 3]).collect();
        let codes = (0..14).map(|i| (i * 5 % 7 % 3) as u32).collect();
        (points, weights, codes)
    }

    fn kernel(x: f64, y: f64) -> f64 {
        x.min(y) + 0.3 * x * y
    }

    /// f at one point of the machine on the others, solved by a factorization.
    fn fitted(points: &[f64], weights: &[f64], targets: &[f64], c: f64, at: f64) -> f64 {
        let present: Vec<usize> = (0..points.len()).filter(|&i| weights[i] > 0.0).collect();
        let n = present.len();
        let mut matrix = Matrix::zeros(n, n);
        for (a, &i) in present.iter().enumerate() {
            for (b, &j) in present.iter().enumerate() {
                matrix.set(a, b, kernel(points[i], points[j]));
            }
            matrix.set(a, a, matrix.at(a, a) + 0.5 / c / weights[i]);
        }
        let factor = Cholesky::new(matrix).unwrap();
        let x = factor.solve(present.iter().map(|&i| targets[i]).collect());
        present.iter().zip(&x).map(|(&i, a)| a * kernel(points[i], at)).sum()
    }

    #[test]
    fn equals_refits_without_one_copy_of_each_sample() {
        let (points, weights, codes) = case();
        let n = points.len();
        let units = vec![1.0; n];
        let problems = Problems { targets: OneVsRest::new(&codes, 3), weights: &weights, units: &units };
        let gram = Matrix::from_columns((0..n * n).map(|at| kernel(points[at % n], points[at / n])).collect(), n, n);
        let machine = LeastSquares::new(gram, &problems).unwrap();
        for c in [0.01, 1.0, 30.0] {
            let (mut hinge, mut wrong) = (0.0, 0.0);
            let values = machine.decision_values(c, &Monitor::none()).unwrap();
            for i in 0..n {
                let mut without = weights.clone();
                without[i] -= 1.0;
                let scores: Vec<f64> = (0..3)
                    .map(|problem| {
                        let targets: Vec<f64> =
                            codes.iter().map(|&code| if code == problem { 1.0 } else { -1.0 }).collect();
                        let truth = fitted(&points, &without, &targets, c, points[i]);
                        assert!((values[problem as usize][i] - truth).abs() < 1e-9, "{c} {i} {problem}");
                        hinge += weights[i] * (1.0 - targets[i] * truth).max(0.0).powi(2) / 3.0;
                        truth
                    })
                    .collect();
                wrong += if OneVsRest::decide(&scores) == codes[i] as usize { 0.0 } else { weights[i] };
            }
            let (total, ours) = (weights.iter().sum::<f64>(), machine.leave_one_out(c, &Monitor::none()).unwrap());
            assert!((ours.loo_squared_hinge - hinge / total).abs() < 1e-9);
            assert!((ours.loo_error - wrong / total).abs() < 1e-12);
        }
    }

    #[test]
    fn the_path_scales_with_the_kernel() {
        let (points, weights, codes) = case();
        let n = points.len();
        let problems = Problems { targets: OneVsRest::new(&codes, 3), weights: &weights, units: &vec![1.0; n] };
        let of = |factor: f64| {
            let gram = (0..n * n).map(|at| factor * kernel(points[at % n], points[at / n])).collect();
            let machine = LeastSquares::new(Matrix::from_columns(gram, n, n), &problems).unwrap();
            path(&machine, machine.unit(), &Monitor::none()).unwrap()
        };
        for (one, other) in of(1.0).iter().zip(of(64.0)) {
            assert!((one.c / other.c / 64.0 - 1.0).abs() < 1e-9);
            assert!((one.loo_squared_hinge - other.loo_squared_hinge).abs() < 1e-9);
        }
    }
}
