//! Outlier detection: scores and leave-one-out scores are those of fits by elimination, and errors name the problem.

use crate::common::vectors;
use crate::thin_plate_common::eliminate;
use widemargin::data::{AnySamples, DenseMatrix, SamplesView};
use widemargin::expansion::Normalization;
use widemargin::model::{BasisExpansionOneClass, BasisExpansionOneClassParams};
use widemargin::monitor::Monitor;
use widemargin::similarity::AnySimilarity;

const D: usize = 3;

type Params = BasisExpansionOneClassParams<AnySimilarity>;
type Model = BasisExpansionOneClass<AnySimilarity>;

fn params() -> Params {
    Params::new(AnySimilarity::new(&["rbf:gamma=1"]).unwrap())
}

/// Rows without structure, about `center`.
fn samples(n: usize, seed: u64, center: f32) -> AnySamples {
    let one = |at: u64| {
        let mixed = (at + 1 + 7919 * seed).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (mixed >> 40) as f32 / (1u64 << 24) as f32 - 0.5 + center
    };
    vectors((0..(n * D) as u64).map(one).collect(), D)
}

fn fit(params: Params, samples: &AnySamples, weights: &[f64]) -> Model {
    params.fit_with(samples, Some(weights), &Monitor::none()).unwrap()
}

/// w of Σ weight (1 − w·φ)² + λ‖w‖², by elimination.
fn truth(phi: &DenseMatrix<f32>, weights: &[f64], lambda: f64) -> Vec<f64> {
    let d = phi.n_cols;
    let (mut system, mut right) = (vec![vec![0.0; d]; d], vec![0.0; d]);
    for (row, weight) in phi.values.chunks(d).zip(weights) {
        for a in 0..d {
            right[a] += weight * f64::from(row[a]);
            (0..d).for_each(|b| system[a][b] += weight * f64::from(row[a]) * f64::from(row[b]));
        }
    }
    (0..d).for_each(|a| system[a][a] += lambda);
    eliminate(system, right)
}

fn penalty(phi: &DenseMatrix<f32>, weights: &[f64], shrinkage: f64) -> f64 {
    let square = |row: &[f32]| row.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>();
    let sum: f64 = phi.values.chunks(phi.n_cols).zip(weights).map(|(row, weight)| weight * square(row)).sum();
    shrinkage * sum / phi.n_cols as f64
}

fn close(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() < 1e-6, "{what}: {found} instead of {expected}");
}

#[test]
fn scores_and_left_out_scores_are_those_of_refits() {
    let samples = samples(40, 1, 0.0);
    let weights: Vec<f64> = (0..40).map(|row| [1.0, 2.0, 0.5, 0.0][row % 4]).collect();
    // More samples than features, and fewer.
    for (n_basis, normalization) in
        [(9, "nystroem"), (9, "centered"), (30, "none"), (30, "nystroem:negative-eigenvalues=flip")]
    {
        for shrinkage in [1e-3, 0.01, 1.0] {
            let normalization: Normalization = normalization.parse().unwrap();
            let of = params().n_basis(n_basis).normalization(normalization).shrinkage(shrinkage).quantile(0.1);
            let model = fit(of, &samples, &weights);
            let phi = model.expansion().transform(&samples, 1).unwrap();
            let lambda = penalty(&phi, &weights, shrinkage);
            let score = |w: &[f64], row: usize| -> f64 {
                phi.values[row * phi.n_cols..].iter().zip(w).map(|(x, w)| f64::from(*x) * w).sum()
            };
            let w = truth(&phi, &weights, lambda);
            for (row, found) in model.score_samples(&samples, 1).unwrap().into_iter().enumerate() {
                close(found, score(&w, row), "a score");
            }
            for row in 0..40 {
                let mut fewer = weights.clone();
                fewer[row] = 0.0;
                let w = truth(&phi, &fewer, lambda);
                close(model.loo_scores()[row], score(&w, row), &format!("{n_basis} {normalization} {row}"));
            }
            assert_eq!(model.n_bases(), n_basis);
            // Of those that are no bases, if they are enough: a tenth of their weight and that of one more.
            let unit = weights.iter().sum::<f64>() / 30.0;
            let of_others = |row: usize| if model.basis_rows().contains(&row) { 0.0 } else { weights[row] };
            let enough = if matches!(normalization, Normalization::Centered(_)) { 10.0 } else { 20.0 };
            let are_enough = (0..40).map(of_others).sum::<f64>() >= enough * unit;
            let judged = |row: usize| if are_enough { of_others(row) } else { weights[row] };
            let wanted = 0.1 * ((0..40).map(judged).sum::<f64>() + unit);
            let scores = (0..40).filter(|row| judged(*row) > 0.0).map(|row| model.loo_scores()[row]);
            let next = scores.filter(|score| *score > model.threshold()).fold(f64::INFINITY, f64::min);
            let below = |is_below: &dyn Fn(f64) -> bool| -> f64 {
                (0..40).filter(|row| is_below(model.loo_scores()[*row])).map(judged).sum()
            };
            assert!(below(&|score| score < model.threshold()) <= wanted + 1e-9);
            assert!(below(&|score| score <= next) >= wanted - 1e-9);
        }
    }
}

#[test]
fn the_number_of_bases_is_at_most_half_of_the_samples() {
    assert_eq!(params().fit(&samples(61, 0, 0.0)).unwrap().n_bases(), 30);
    assert_eq!(params().fit(&samples(19, 0, 0.0)).unwrap().n_bases(), 19);
    assert_eq!(params().fit(&samples(1200, 0, 0.0)).unwrap().n_bases(), 500);
    // All are bases, and determine the threshold nevertheless.
    let model = params().n_basis(100).quantile(0.3).fit(&samples(20, 0, 0.0)).unwrap();
    assert_eq!((model.n_bases(), model.report().warnings.len()), (20, 1));
    let mut scores = model.loo_scores().to_vec();
    scores.sort_by(f64::total_cmp);
    // Three tenths of 21.
    assert!((model.threshold() - (scores[5] + 0.3 * (scores[6] - scores[5]))).abs() < 1e-12);
}

#[test]
fn outliers_are_detected() {
    let model = params().quantile(0.1).fit(&samples(400, 3, 0.0)).unwrap();
    let (far, others, monitor) = (samples(50, 4, 4.0), samples(1000, 5, 0.0), Monitor::none());
    let view = SamplesView::Other(&far);
    assert_eq!(model.predict(&view, 1, &monitor).unwrap(), [-1; 50]);
    let alike = model.predict(&SamplesView::Other(&others), 1, &monitor).unwrap();
    let share = alike.iter().filter(|one| **one == -1).count() as f64 / 1000.0;
    assert!((share - 0.1).abs() < 0.06, "{share}");
    let (scores, values) = (model.score_samples(&far, 1).unwrap(), model.decision_function(&view, 1, &monitor));
    for (score, value) in scores.iter().zip(values.unwrap()) {
        assert_eq!(score - model.threshold(), value);
    }
}

#[test]
fn rejects_wrong_parameters_and_weights() {
    let refused = |params: Params, n: usize| params.fit(&samples(n, 0, 0.0)).unwrap_err().to_string();
    for quantile in [0.0, 1.0, -0.1, f64::NAN] {
        assert!(refused(params().quantile(quantile), 9).contains("quantile"));
    }
    for shrinkage in [0.0, -1.0, f64::INFINITY, f64::NAN] {
        assert!(refused(params().shrinkage(shrinkage), 9).contains("shrinkage"));
    }
    for normalization in ["mean-norm", "z-score", "covariance"] {
        let message = refused(params().normalization(normalization.parse().unwrap()), 9);
        assert!(message.contains(normalization) && message.contains("nystroem, centered or none"), "{message}");
    }
    assert!(refused(params(), 1).contains("at least 2 samples"));
    let weights = |weights: &[f64]| params().fit_with(&samples(2, 0, 0.0), Some(weights), &Monitor::none());
    assert!(weights(&[0.0, 1.0]).unwrap_err().to_string().contains("at least 2 samples"));
    assert!(weights(&[0.0, 2.0]).is_ok());
}
