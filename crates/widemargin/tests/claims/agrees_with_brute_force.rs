//! The power mean SVM against a dual solver on the full Gram matrix, built pair by pair from the definitions.

use crate::common::{KERNELS, brute_force_dual, histograms, objectives};
use widemargin::data::{DenseView, Rows};
use widemargin::expansion::Approximation;
use widemargin::model::{PowerMeanParams, PowerMeanSvc};
use widemargin::problem::Loss;
use widemargin::similarity::AdditiveKernel;

/// K̂ between scaled rows, from the model's own map: Σ_j k̂(x_j, y_j).
fn reduced_gram(model: &PowerMeanSvc, samples: &DenseView<'_, f64>) -> Vec<f64> {
    let n = samples.n_rows();
    let scaled = |row: usize| -> Vec<f64> {
        let factors = model.scaling().unwrap().factors();
        samples.row(row).iter().zip(factors).map(|(x, f)| f64::from((x * f) as f32)).collect()
    };
    let rows: Vec<Vec<f64>> = (0..n).map(scaled).collect();
    let pair = |i: usize, j: usize| -> f64 {
        let values = rows[i].iter().zip(&rows[j]).filter(|(x, y)| **x > 0.0 && **y > 0.0);
        values.map(|(&x, &y)| model.map().value(x, y)).sum()
    };
    (0..n * n).map(|at| pair(at / n, at % n)).collect()
}

#[test]
fn same_objective_as_on_the_full_matrix() {
    let (n, d, classes) = (80, 12, 3);
    let (values, labels) = histograms(n, d, classes, 3);
    let samples = DenseView::new(&values, n, d).unwrap();
    for (at, kernel) in KERNELS.into_iter().enumerate() {
        for loss in [Loss::SquaredHinge, Loss::Hinge] {
            let large = if loss == Loss::Hinge { 1.0 } else { 30.0 };
            for c in [0.01, 0.3, large] {
                let params = PowerMeanParams::new(kernel).loss(loss).c(c).tol(1e-5).max_epochs(20_000);
                // Nodes that follow the data, and more than the narrow tables hold.
                let model = params.n_nodes(if at % 2 == 0 { 3 } else { 6 }).fit(&samples, &labels).unwrap();
                let gram = reduced_gram(&model, &samples);
                let (mut primal, mut dual) = (0.0, 0.0);
                for class in 0..classes {
                    let signs: Vec<f64> =
                        labels.codes().iter().map(|&code| if code as usize == class { 1.0 } else { -1.0 }).collect();
                    let alphas = brute_force_dual(&gram, &signs, loss.upper_bound(c), loss.diagonal(c));
                    let truth = objectives(&gram, &signs, &alphas, c, loss == Loss::SquaredHinge);
                    assert!((truth.0 - truth.1).abs() <= 1e-8 * truth.0, "the truth has converged");
                    primal += truth.0;
                    dual += truth.1;
                }
                let report = model.report();
                let what = format!("{kernel} {loss} C = {c}: {report:?}");
                assert!(report.gap() <= 1e-5, "{what}");
                assert!((report.objective - primal).abs() <= 1e-5 * primal, "{primal} {what}");
                assert!((report.dual_objective - dual).abs() <= 1e-5 * dual, "{dual} {what}");
            }
        }
    }
}

#[test]
fn decision_values_follow_from_the_weights() {
    let (n, d) = (60, 10);
    let (values, labels) = histograms(n, d, 3, 4);
    let samples = DenseView::new(&values, n, d).unwrap();
    let polynomial = PowerMeanParams::new(AdditiveKernel::Chi2).approximation(Approximation::Polynomial);
    for params in [
        PowerMeanParams::new(AdditiveKernel::Chi2),
        polynomial.clone(),
        polynomial.clone().n_nodes(7),
        polynomial.nodes(vec![0.9, 0.02, 0.2, 0.5]),
    ] {
        let model = params.fit(&samples, &labels).unwrap();
        let scores = model.decision_function(&samples, 1).unwrap();
        let (m, k) = (model.map().n_nodes(), 3);
        for row in 0..n {
            let mut expected = vec![0.0; k];
            let mut read = vec![0.0; m];
            for (j, (x, factor)) in samples.row(row).iter().zip(model.scaling().unwrap().factors()).enumerate() {
                model.map().read(f64::from((x * factor) as f32), &mut read);
                for (node, read) in read.iter().enumerate() {
                    for (class, expected) in expected.iter_mut().enumerate() {
                        *expected += read * f64::from(model.weights()[(j * m + node) * k + class]);
                    }
                }
            }
            for (score, expected) in scores.row(row).iter().zip(&expected) {
                assert!((f64::from(*score) - expected).abs() < 1e-5, "{score} {expected}");
            }
        }
    }
}
