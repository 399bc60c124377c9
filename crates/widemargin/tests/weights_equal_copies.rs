//! A weight of k is k copies of a sample; a weight of 0 is its absence.

mod common;

use common::{KERNELS, histograms};
use proptest::prelude::*;
use widemargin::data::{DenseView, Labels};
use widemargin::model::{PowerMeanParams, PowerMeanSvc};
use widemargin::watch::Watch;

const D: usize = 9;

fn fit(values: &[f64], labels: &Labels, weights: Option<&[f64]>, kernel: usize) -> PowerMeanSvc {
    let samples = DenseView::new(values, labels.len(), D).unwrap();
    let params = PowerMeanParams::new(KERNELS[kernel]).c(0.3).tol(1e-5).max_epochs(50_000);
    params.fit_with(&samples, labels, weights, &Watch::none()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn the_same_machine(seed in 0u64..1000, kernel in 0..KERNELS.len(), copies in proptest::collection::vec(0usize..4, 40)) {
        let (values, labels) = histograms(40, D, 3, seed);
        let weights: Vec<f64> = copies.iter().map(|&k| k as f64).collect();
        let rows: Vec<usize> = copies.iter().enumerate().flat_map(|(row, &k)| vec![row; k]).collect();
        let copied: Vec<f64> = rows.iter().flat_map(|&row| values[row * D..(row + 1) * D].to_vec()).collect();
        let copied_labels = labels.select(&rows);
        prop_assume!(copied_labels.classes().len() == 3);
        let weighted = fit(&values, &labels, Some(&weights), kernel);
        let copied = fit(&copied, &copied_labels, None, kernel);
        prop_assert_eq!(weighted.map().nodes().len(), copied.map().nodes().len());
        let samples = DenseView::new(&values, 40, D).unwrap();
        let (a, b) = (weighted.decision_function(&samples, 1).unwrap(), copied.decision_function(&samples, 1).unwrap());
        // Within a relative gap ε of the optimum P, ‖f − f*‖² ≤ 2εP (the objective is 1-strongly convex), and
        // |f(x)| ≤ ‖f‖ √K(x, x) with K(x, x) = Σ x_j ≤ D on scaled rows.
        let bound = 2.0 * (2.0 * 1e-5 * copied.report().objective * D as f64).sqrt();
        for (a, b) in a.values().iter().zip(b.values()) {
            prop_assert!(f64::from((a - b).abs()) <= bound, "{} {} {}", a, b, bound);
        }
        prop_assert!((weighted.report().objective - copied.report().objective).abs() < 2e-5 * copied.report().objective);
    }
}
