//! Which training samples become bases: each content once, whatever the copies and weights, named by the caller's rows.

use crate::common::{histograms, vectors};
use widemargin::basis::BasisChoice;
use widemargin::data::{AnySamples, ClassWeight, DenseView, Grids, Labels, Samples, VectorSource};
use widemargin::model::{BasisExpansionParams, BasisExpansionSvc};
use widemargin::monitor::Monitor;
use widemargin::similarity::AnySimilarity;

const N: usize = 40;
const D: usize = 9;

fn weight(row: usize) -> usize {
    [1, 3, 0, 2][row % 4]
}

/// Samples of three classes, some content there twice in one class or in two; and the rows as often as they weigh, each
/// first once.
fn case(seed: u64) -> (AnySamples, Labels, Vec<usize>) {
    let (mut values, labels) = histograms(N, D, 3, seed);
    values.copy_within(D..2 * D, 5 * D);
    values.copy_within(3 * D..4 * D, 17 * D);
    let mut rows: Vec<usize> = (0..N).filter(|&row| weight(row) > 0).collect();
    rows.extend((0..N).flat_map(|row| vec![row; weight(row).saturating_sub(1)]));
    (vectors(values.iter().map(|&x| x as f32).collect(), D), labels, rows)
}

fn labels_of(labels: &Labels, rows: &[usize]) -> Labels {
    let codes = rows.iter().map(|&row| labels.codes()[row]).collect();
    Labels::from_codes(labels.classes().to_vec(), codes).unwrap()
}

/// Which bases there are depends on the order of the rows; copies that come later do not change it.
#[test]
fn copies_do_not_change_the_bases() {
    for choice in [BasisChoice::Index, BasisChoice::Random, BasisChoice::Auto, BasisChoice::KMedoids] {
        for seed in 0..10 {
            let (samples, labels, rows) = case(seed);
            let params = || {
                let params = BasisExpansionParams::new(AnySimilarity::new(&["rbf"]).unwrap());
                params.n_basis(7).basis(choice.clone()).seed(seed).threads(1)
            };
            let weights: Vec<f64> = (0..N).map(|row| weight(row) as f64).collect();
            let weighted = params().fit_with(&samples, &labels, Some(&weights), &Monitor::none()).unwrap();
            let copied = params().fit(&Samples::select(&samples, &rows), &labels_of(&labels, &rows)).unwrap();
            assert_eq!(weighted.weights(), copied.weights());
            let of_all: Vec<usize> = copied.basis_rows().iter().map(|&at| rows[at]).collect();
            assert_eq!(weighted.basis_rows(), of_all);
            // The bases are the samples of these rows.
            let originals = Samples::select(&samples, weighted.basis_rows());
            assert_eq!(weighted.expansion().bases(), &originals, "{choice} {seed}");
        }
    }
}

#[test]
fn the_features_of_all_rows_are_in_the_callers_order() {
    let (samples, labels, rows) = case(5);
    let (samples, labels) = (Samples::select(&samples, &rows), labels_of(&labels, &rows));
    let none = ClassWeight::PerClass([(labels.classes()[1].clone(), 0.0)].into());
    for (labels, class_weight) in
        [(None, ClassWeight::Uniform), (Some(&labels), ClassWeight::Balanced), (Some(&labels), none)]
    {
        for (n_basis, normalization) in [(6, "mean-norm"), (1000, "z-score"), (9, "nystroem")] {
            let params = BasisExpansionParams::new(AnySimilarity::new(&["rbf", "linear"]).unwrap()).n_basis(n_basis);
            let params = params.normalization(normalization.parse().unwrap()).class_weight(class_weight.clone());
            let made = params.expand(&samples, labels, &Monitor::none()).unwrap();
            assert_eq!(made.features, made.expansion.transform(&samples, 1).unwrap());
        }
    }
}

#[test]
fn equal_samples_are_one_basis() {
    let values: Vec<f32> = (0..30).map(|i| (i % 10) as f32).collect();
    let samples = AnySamples::Grids(Grids::new(values, 1, 1, 1).unwrap());
    // Each number is there three times, in two classes.
    let labels = Labels::new((0..30).map(|i| i64::from(i < 10)));
    let params = || BasisExpansionParams::new(AnySimilarity::new(&["rbf"]).unwrap()).n_basis(1000);
    let model = params().fit(&samples, &labels).unwrap();
    assert_eq!(model.n_bases(), 10);
    let warnings = &model.report().warnings;
    let expected = "all 20 samples are bases (equal samples are one)";
    assert!(warnings.iter().any(|warning| warning.contains(expected)), "{warnings:?}");
    // Unless the caller wants it otherwise.
    let fixed = params().basis(BasisChoice::Rows(vec![3, 13, 2])).fit(&samples, &labels).unwrap();
    assert_eq!((fixed.n_bases(), fixed.basis_rows()), (3, &[3, 13, 2][..]));
}

#[test]
fn errors_name_bad_samples_by_the_callers_rows() {
    let mut values: Vec<f32> = (0..600).map(|i| (i * 37 % 101) as f32).collect();
    values[2 * 177] = -3.0;
    let labels = Labels::new((0..300).map(|i| i64::from(i % 2 == 0)));
    let params = |spec: &str| BasisExpansionParams::new(AnySimilarity::new(&[spec]).unwrap()).n_basis(5);
    let samples = vectors(values.clone(), 2);
    let fit = |params: BasisExpansionParams<AnySimilarity>, samples: &AnySamples| {
        params.fit(samples, &labels).map(|_: BasisExpansionSvc<_>| ()).unwrap_err().to_string()
    };
    for error in [fit(params("chi2"), &samples), fit(params("chi2").n_basis(300), &samples)] {
        assert!(error.contains("sample 177 (from 0) has the value -3"), "{error}");
    }
    let error = params("chi2").expand(&samples, None, &Monitor::none()).unwrap_err().to_string();
    assert!(error.contains("sample 177 (from 0)"), "{error}");
    values[2 * 177] = f32::NAN;
    let error = fit(params("dtw:gamma=auto"), &vectors(values.clone(), 2));
    assert!(error.contains("sample 177 (from 0) is NaN"), "{error}");
    let doubles: Vec<f64> = values.iter().map(|&value| value.into()).collect();
    let view = DenseView::new(&doubles, 300, 2).unwrap();
    let error = params("rbf").fit(&VectorSource(&view), &labels).unwrap_err().to_string();
    assert!(error.starts_with("row 177, column 0 (from 0): NaN"), "{error}");
}
