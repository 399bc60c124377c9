//! A weight of k is k copies of a sample, a weight of 0 is its absence, and the order of samples makes no difference:
//! to the last bit.

use crate::common::{KERNELS, histograms};
use proptest::prelude::*;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use widemargin::basis::BasisChoice;
use widemargin::data::{
    AnySamples, ClassWeight, CsrMatrix, DenseMatrix, DenseView, Grids, Labels, Rows, Samples, VectorSource, Vectors,
};
use widemargin::model::{
    BasisExpansionParams, PowerMeanParams, PowerMeanSvc, Standardize, ThinPlateBasis, ThinPlateParams, ThinPlateSvc,
};
use widemargin::monitor::Monitor;
use widemargin::problem::Loss;
use widemargin::similarity::AnySimilarity;

const N: usize = 40;
const D: usize = 9;

/// The same training samples in three ways: weighted, copied, and both in another order.
struct Ways {
    values: Vec<f64>,
    labels: Labels,
    weights: Vec<f64>,
    /// The rows as often as they weigh, shuffled.
    copies: Vec<usize>,
    /// All rows, those of weight 0 too, shuffled.
    order: Vec<usize>,
    /// Each row in two that share its weight, shuffled.
    halves: Vec<usize>,
}

impl Ways {
    fn new(seed: u64, classes: usize) -> Self {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (mut values, labels) = histograms(N, D, classes, seed);
        // Some content is there twice, in one class or in two.
        for _ in 0..4 {
            let (from, to) = (rng.random_range(0..N), rng.random_range(0..N));
            values.copy_within(from * D..(from + 1) * D, to * D);
        }
        let weights: Vec<f64> = (0..N).map(|_| f64::from(rng.random_range(0..4u32))).collect();
        let mut copies: Vec<usize> = (0..N).flat_map(|row| vec![row; weights[row] as usize]).collect();
        let mut order: Vec<usize> = (0..N).collect();
        let mut halves: Vec<usize> = (0..2 * N).map(|row| row / 2).collect();
        [&mut copies, &mut order, &mut halves].into_iter().for_each(|rows| rows.shuffle(&mut rng));
        Ways { values, labels, weights, copies, order, halves }
    }

    /// The rows, their classes as they are among all, and their weights (none for copies).
    fn all(&self) -> [(Vec<usize>, Option<Vec<f64>>); 4] {
        let weights = |rows: &[usize], of_one: f64| Some(rows.iter().map(|&row| of_one * self.weights[row]).collect());
        [
            ((0..N).collect(), Some(self.weights.clone())),
            (self.copies.clone(), None),
            (self.order.clone(), weights(&self.order, 1.0)),
            (self.halves.clone(), weights(&self.halves, 0.5)),
        ]
    }

    fn labels(&self, rows: &[usize]) -> Labels {
        let codes = rows.iter().map(|&row| self.labels.codes()[row]).collect();
        Labels::from_codes(self.labels.classes().to_vec(), codes).unwrap()
    }

    fn rows(&self, rows: &[usize]) -> Vec<f64> {
        rows.iter().flat_map(|&row| self.values[row * D..(row + 1) * D].to_vec()).collect()
    }

    /// Whether every class has a sample.
    fn is_whole(&self) -> bool {
        self.labels(&self.copies).codes().iter().collect::<std::collections::BTreeSet<_>>().len()
            == self.labels.classes().len()
    }
}

fn sparse(values: &[f64]) -> CsrMatrix<f64> {
    let view = DenseView::new(values, values.len() / D, D).unwrap();
    let mut matrix = CsrMatrix { indptr: vec![0], indices: Vec::new(), values: Vec::new(), n_cols: D };
    for row in 0..view.n_rows() {
        view.for_each_nonzero(row, |column, value| {
            matrix.indices.push(column as u32);
            matrix.values.push(value);
        });
        matrix.indptr.push(matrix.values.len());
    }
    matrix
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

fn class_weight(seed: u64) -> ClassWeight {
    if seed.is_multiple_of(2) { ClassWeight::Balanced } else { ClassWeight::Uniform }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn the_same_power_mean_svm(seed in 0u64..1000, kernel in 0..KERNELS.len(), classes in 2usize..5) {
        let ways = Ways::new(seed, classes);
        prop_assume!(ways.is_whole());
        let test = DenseView::new(&ways.values, N, D).unwrap();
        let params = PowerMeanParams::new(KERNELS[kernel]).c(0.3).seed(seed).class_weight(class_weight(seed));
        let params = params.loss(if seed % 3 == 0 { Loss::Hinge } else { Loss::SquaredHinge });
        let mut first: Option<PowerMeanSvc> = None;
        for (rows, weights) in ways.all() {
            let (values, labels, weights) = (ways.rows(&rows), ways.labels(&rows), weights.as_deref());
            let dense = DenseView::new(&values, rows.len(), D).unwrap();
            let matrix = sparse(&values);
            let models = [
                params.clone().threads(1).fit_with(&dense, &labels, weights, &Monitor::none()).unwrap(),
                params.clone().threads(3).fit_with(&matrix.view().unwrap(), &labels, weights, &Monitor::none()).unwrap(),
            ];
            for model in models {
                let first = first.get_or_insert_with(|| model.clone());
                prop_assert_eq!(bits(model.weights()), bits(first.weights()));
                prop_assert_eq!(model.map().nodes(), first.map().nodes());
                let scores = model.decision_function(&test, 1).unwrap();
                prop_assert_eq!(bits(scores.values()), bits(first.decision_function(&test, 1).unwrap().values()));
            }
        }
    }

    #[test]
    fn the_same_basis_expansion_svm(seed in 0u64..1000, spec in 0usize..5, classes in 2usize..5) {
        let ways = Ways::new(seed, classes);
        prop_assume!(ways.is_whole());
        let test: AnySamples = AnySamples::Vectors(Vectors::of(&DenseView::new(&ways.values, N, D).unwrap(), 0..N).unwrap());
        let specs = [&["rbf"][..], &["mean-norm/rbf", "linear"], &["z-score/laplacian"], &["chi2"], &["polynomial"]][spec];
        let normalization = ["mean-norm", "z-score", "nystroem", "none", "covariance"][seed as usize % 5];
        let params = |threads| {
            let params = BasisExpansionParams::new(AnySimilarity::new(specs).unwrap()).threads(threads);
            let params = params.normalization(normalization.parse().unwrap()).class_weight(class_weight(seed / 2));
            match seed % 4 {
                0 => params.loss(Loss::Hinge).seed(seed),
                1 => params.loss(Loss::Logistic),
                2 => params.loss(Loss::SquaredError),
                _ => params,
            }
        };
        for is_sparse in [false, true] {
            let mut first = None;
            for (rows, weights) in ways.all() {
                let (values, labels, weights) = (ways.rows(&rows), ways.labels(&rows), weights.as_deref());
                let dense = DenseView::new(&values, rows.len(), D).unwrap();
                let matrix = sparse(&values);
                let model = if is_sparse {
                    let view = matrix.view().unwrap();
                    params(3).fit_with(&VectorSource(&view), &labels, weights, &Monitor::none()).unwrap()
                } else {
                    params(1).fit_with(&VectorSource(&dense), &labels, weights, &Monitor::none()).unwrap()
                };
                let scores = bits(model.decision_function(&test, 1).unwrap().values());
                let found = (bits(model.weights()), model.intercepts().to_vec(), scores);
                prop_assert_eq!(first.get_or_insert_with(|| found.clone()), &found);
                // The bases are rows of the caller's.
                for (basis, &row) in model.basis_rows().iter().enumerate() {
                    let stored = Samples::select(model.expansion().bases(), &[basis]);
                    let original = Vectors::of(&dense, std::iter::once(row)).unwrap().dense().unwrap().into_owned();
                    let AnySamples::Vectors(stored) = stored else { panic!("no vectors") };
                    prop_assert_eq!(stored.dense().unwrap().into_owned(), original);
                }
            }
        }
    }

    #[test]
    fn the_same_thin_plate_svm(seed in 0u64..1000, kernel in 0usize..3, classes in 2usize..4, n_basis in 0usize..4) {
        let ways = Ways::new(seed, classes);
        prop_assume!(ways.is_whole());
        let test = DenseView::new(&ways.values, N, D).unwrap();
        let bases = [ThinPlateBasis::KMeans, ThinPlateBasis::Random, ThinPlateBasis::KMedoids][seed as usize % 3];
        let params = |threads| {
            let params = ThinPlateParams::new(["thin-plate", "distance", "rbf:gamma=0.5"][kernel].parse().unwrap());
            let params = params.class_weight(class_weight(seed)).standardize(Standardize::Auto).seed(seed);
            params.n_basis([None, None, Some(5), Some(12)][n_basis]).basis(bases).threads(threads)
        };
        let mut first: Option<ThinPlateSvc> = None;
        for (rows, weights) in ways.all() {
            let (values, labels) = (ways.rows(&rows), ways.labels(&rows));
            let dense = DenseView::new(&values, rows.len(), D).unwrap();
            let matrix = sparse(&values);
            let models = [
                params(1).fit_with(&dense, &labels, weights.as_deref(), &Monitor::none()).unwrap(),
                params(3).fit_with(&matrix.view().unwrap(), &labels, weights.as_deref(), &Monitor::none()).unwrap(),
            ];
            for model in models {
                let first = first.get_or_insert_with(|| model.clone());
                prop_assert_eq!(model.decision_values(&test, 1).unwrap(), first.decision_values(&test, 1).unwrap());
                prop_assert_eq!((model.c(), model.polynomials(), model.n_bases()), (first.c(), first.polynomials(), first.n_bases()));
                let losses = |model: &ThinPlateSvc| model.path().iter().map(|at| at.loo_squared_hinge).collect::<Vec<_>>();
                prop_assert_eq!(losses(&model), losses(first));
                // Every row has its leave-one-out value, a copy that of its sample.
                let is_there = |row: &usize| weights.as_ref().is_none_or(|weights| weights[*row] > 0.0);
                let there: Vec<usize> = (0..rows.len()).filter(is_there).map(|at| rows[at]).collect();
                let all: Vec<usize> = (0..N).filter(|&row| ways.weights[row] > 0.0).collect();
                let k = if classes == 2 { 1 } else { classes };
                prop_assert_eq!(model.loo_values().len(), k * there.len());
                for (at, row) in there.iter().enumerate() {
                    let in_first = all.iter().position(|known| known == row).unwrap();
                    prop_assert_eq!(model.loo_values()[at], first.loo_values()[in_first]);
                }
            }
        }
    }

    #[test]
    fn weights_are_copies_for_few_bases_too(seed in 0u64..1000, choice in 0usize..4) {
        // Which bases there are depends on the order of the rows; copies that come later do not change it.
        let ways = Ways::new(seed, 3);
        prop_assume!(ways.is_whole());
        let choice = [BasisChoice::Index, BasisChoice::Random, BasisChoice::Auto, BasisChoice::KMedoids][choice].clone();
        let params = || {
            let params = BasisExpansionParams::new(AnySimilarity::new(&["rbf"]).unwrap());
            params.n_basis(7).basis(choice.clone()).seed(seed).threads(1)
        };
        let mut rows: Vec<usize> = (0..N).filter(|&row| ways.weights[row] > 0.0).collect();
        rows.extend((0..N).flat_map(|row| vec![row; (ways.weights[row] as usize).saturating_sub(1)]));
        let fit = |rows: &[usize], weights: Option<&[f64]>| {
            let (values, labels) = (ways.rows(rows), ways.labels(rows));
            let view = DenseView::new(&values, rows.len(), D).unwrap();
            params().fit_with(&VectorSource(&view), &labels, weights, &Monitor::none()).unwrap()
        };
        let (weighted, copied) = (fit(&(0..N).collect::<Vec<_>>(), Some(&ways.weights)), fit(&rows, None));
        prop_assert_eq!(bits(weighted.weights()), bits(copied.weights()));
        let of_all: Vec<usize> = copied.basis_rows().iter().map(|&at| rows[at]).collect();
        prop_assert_eq!(weighted.basis_rows(), of_all);
    }
}

#[test]
fn the_features_of_all_rows_are_in_the_callers_order() {
    let ways = Ways::new(5, 3);
    let labels = ways.labels(&ways.copies);
    let values = ways.rows(&ways.copies);
    let view = DenseView::new(&values, ways.copies.len(), D).unwrap();
    let source = VectorSource(&view);
    let none = ClassWeight::PerClass([(labels.classes()[1].clone(), 0.0)].into());
    for (labels, class_weight) in
        [(None, ClassWeight::Uniform), (Some(&labels), ClassWeight::Balanced), (Some(&labels), none)]
    {
        for (n_basis, normalization) in [(6, "mean-norm"), (1000, "z-score"), (9, "nystroem")] {
            let params = BasisExpansionParams::new(AnySimilarity::new(&["rbf", "linear"]).unwrap()).n_basis(n_basis);
            let params = params.normalization(normalization.parse().unwrap()).class_weight(class_weight.clone());
            let made = params.expand(&source, labels, &Monitor::none()).unwrap();
            assert_eq!(made.features, made.expansion.transform(&source, 1).unwrap());
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
    let expected = "all 20 samples are used (equal samples are one)";
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
    let samples =
        |values: Vec<f32>| AnySamples::Vectors(Vectors::Dense(DenseMatrix { values, n_rows: 300, n_cols: 2 }));
    let params = |spec: &str| BasisExpansionParams::new(AnySimilarity::new(&[spec]).unwrap()).n_basis(5);
    let error = params("chi2").fit(&samples(values.clone()), &labels).unwrap_err().to_string();
    assert!(error.contains("sample 177 (from 0) has the value -3"), "{error}");
    let all = params("chi2").n_basis(300).fit(&samples(values.clone()), &labels).unwrap_err().to_string();
    assert!(all.contains("sample 177 (from 0) has the value -3"), "{all}");
    let error = params("chi2").expand(&samples(values.clone()), None, &Monitor::none()).unwrap_err().to_string();
    assert!(error.contains("sample 177 (from 0)"), "{error}");
    values[2 * 177] = f32::NAN;
    let error = params("dtw:gamma=auto").fit(&samples(values.clone()), &labels).unwrap_err().to_string();
    assert!(error.contains("sample 177 (from 0) is NaN"), "{error}");
    let doubles: Vec<f64> = values.iter().map(|&value| value.into()).collect();
    let view = DenseView::new(&doubles, 300, 2).unwrap();
    let error = params("rbf").fit(&VectorSource(&view), &labels).unwrap_err().to_string();
    assert!(error.starts_with("row 177, column 0 (from 0): NaN"), "{error}");
}
