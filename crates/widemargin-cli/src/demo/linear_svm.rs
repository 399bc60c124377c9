//! A linear SVM as the demo's yardstick: ½‖w‖² + C Σ max(0, 1 − y w·x)², one-vs-rest, no intercept, which is
//! what LIBLINEAR solves with `-s 1`.
//!
//! Dual coordinate descent: Hsieh, Chang, Lin, Keerthi, Sundararajan, *A Dual Coordinate Descent Method for
//! Large-scale Linear SVM*, ICML 2008, algorithm 1 (all samples in every pass, in random order).

use widemargin::data::{DenseView, Label, Labels};
use widemargin::problem::OneVsRest;

/// A trained linear SVM: a weight vector a class.
#[derive(Debug)]
pub struct LinearSvm {
    weights: Vec<Vec<f64>>,
    classes: Vec<Label>,
}

/// Passes over the samples after which a class counts as solved in any case.
const MOST_PASSES: usize = 1000;

impl LinearSvm {
    /// Trains on three or more classes until the relative duality gap of each is at most `tol`.
    pub fn fit(samples: &DenseView<'_, f64>, labels: &Labels, c: f64, tol: f64) -> Self {
        let n = labels.len();
        let targets = OneVsRest::new(labels.codes(), labels.classes().len());
        let solve = |class| {
            let signs: Vec<f64> = (0..n).map(|row| targets.sign(row, class)).collect();
            let mut problem = TwoClass { samples, signs: &signs, c, alphas: vec![0.0; n], weights: Vec::new() };
            problem.solve(tol);
            problem.weights
        };
        LinearSvm { weights: (0..targets.n_problems()).map(solve).collect(), classes: labels.classes().to_vec() }
    }

    /// The label of a sample.
    pub fn predict(&self, sample: &[f64]) -> &Label {
        let scores: Vec<f64> = self.weights.iter().map(|w| dot(w, sample)).collect();
        &self.classes[OneVsRest::decide(&scores)]
    }

    /// Number of weights.
    pub fn n_weights(&self) -> usize {
        self.weights.iter().map(Vec::len).sum()
    }
}

struct TwoClass<'a> {
    samples: &'a DenseView<'a, f64>,
    signs: &'a [f64],
    c: f64,
    alphas: Vec<f64>,
    weights: Vec<f64>,
}

impl TwoClass<'_> {
    fn solve(&mut self, tol: f64) {
        self.weights = vec![0.0; self.samples.row(0).len()];
        let mut order: Vec<usize> = (0..self.signs.len()).collect();
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..MOST_PASSES {
            shuffle(&mut order, &mut random);
            order.iter().for_each(|&row| self.step(row));
            if self.gap() <= tol {
                break;
            }
        }
    }

    /// The best value of one dual variable, the others as they are.
    fn step(&mut self, row: usize) {
        let (x, y) = (self.samples.row(row), self.signs[row]);
        let diagonal = 0.5 / self.c;
        let gradient = y * dot(&self.weights, x) - 1.0 + diagonal * self.alphas[row];
        let alpha = (self.alphas[row] - gradient / (dot(x, x) + diagonal)).max(0.0);
        let change = y * (alpha - self.alphas[row]);
        self.weights.iter_mut().zip(x).for_each(|(w, x)| *w += change * x);
        self.alphas[row] = alpha;
    }

    /// (objective − dual) / objective.
    fn gap(&self) -> f64 {
        let half = 0.5 * dot(&self.weights, &self.weights);
        let slack = |row| (1.0 - self.signs[row] * dot(&self.weights, self.samples.row(row))).max(0.0);
        let losses: f64 = (0..self.signs.len()).map(|row| slack(row).powi(2)).sum();
        let dual: f64 = self.alphas.iter().map(|a| a - a * a / (4.0 * self.c)).sum::<f64>() - half;
        let objective = half + self.c * losses;
        (objective - dual) / objective
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Fisher and Yates, with Marsaglia's xorshift.
fn shuffle(order: &mut [usize], random: &mut u64) {
    for last in (1..order.len()).rev() {
        *random ^= *random << 13;
        *random ^= *random >> 7;
        *random ^= *random << 17;
        order.swap(last, (*random % (last as u64 + 1)) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gradient of the objective, straight from its definition.
    fn gradient(samples: &DenseView<'_, f64>, signs: &[f64], c: f64, weights: &[f64]) -> Vec<f64> {
        let mut gradient = weights.to_vec();
        for (row, sign) in signs.iter().enumerate() {
            let slack = (1.0 - sign * dot(weights, samples.row(row))).max(0.0);
            gradient.iter_mut().zip(samples.row(row)).for_each(|(g, x)| *g -= 2.0 * c * slack * sign * x);
        }
        gradient
    }

    #[test]
    fn the_solution_has_no_slope() {
        let (train, _) = crate::demo::digits::digits();
        let samples = train.images.view().unwrap();
        let rough = LinearSvm::fit(&samples, &train.labels, 1.0, 1e-2);
        let model = LinearSvm::fit(&samples, &train.labels, 1.0, 1e-9);
        for (class, weights) in model.weights.iter().enumerate() {
            let sign = |code: &u32| if *code as usize == class { 1.0 } else { -1.0 };
            let signs: Vec<f64> = train.labels.codes().iter().map(sign).collect();
            // The objective is 1-strongly convex: ‖gradient‖ bounds the distance to the solution.
            let slope = gradient(&samples, &signs, 1.0, weights);
            assert!(dot(&slope, &slope).sqrt() < 1e-2 * dot(weights, weights).sqrt(), "class {class}");
            let apart: f64 = weights.iter().zip(&rough.weights[class]).map(|(a, b)| (a - b).powi(2)).sum();
            assert!(apart < 0.05 * dot(weights, weights), "class {class}");
        }
    }
}
