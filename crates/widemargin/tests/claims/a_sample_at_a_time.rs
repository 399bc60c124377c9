//! The decision values of a sample are the same to the last bit, alone or among others, wherever it stands.

use crate::common::{KERNELS, histograms};
use widemargin::data::{
    AnySamples, CsrMatrix, DenseMatrix, DenseView, Grids, Images, Labels, Rows, Samples, Series, Vectors,
};
use widemargin::model::{BasisExpansionParams, PowerMeanParams, ThinPlateParams};
use widemargin::similarity::{AnySimilarity, similarity_rows};

/// More than a chunk of any method, and no multiple of any lanes.
const N: usize = 301;

/// The rows of a matrix of `N` rows, reversed.
fn reversed<T: Copy>(values: &[T]) -> Vec<T> {
    let width = values.len() / N;
    values.chunks(width).rev().flatten().copied().collect()
}

fn check(name: &str, all: &[f32], backwards: &[f32], one: impl Fn(usize) -> Vec<f32>) {
    assert!(reversed(all) == backwards, "{name}");
    let width = all.len() / N;
    // Of every place in a vector register, and the last.
    for row in (0..N).step_by(15) {
        assert!(all[row * width..(row + 1) * width] == one(row), "{name}, row {row}");
    }
}

fn check_basis_expansion(specs: &[&str], normalization: &str, samples: &AnySamples, classes: usize, n_basis: usize) {
    let labels = Labels::new((0..N).map(|i| (i % classes) as i64));
    let similarity = AnySimilarity::new(specs).unwrap();
    let params = BasisExpansionParams::new(similarity).n_basis(n_basis).max_iter(5);
    let model = params.normalization(normalization.parse().unwrap()).fit(samples, &labels).unwrap();
    let values = |rows: &[usize]| {
        let some = Samples::select(samples, rows);
        model.decision_function(&some, 2).unwrap().values().to_vec()
    };
    let forwards: Vec<usize> = (0..N).collect();
    let backwards: Vec<usize> = (0..N).rev().collect();
    check(&format!("{specs:?}"), &values(&forwards), &values(&backwards), |row| values(&[row]));
}

fn noise(n: usize, seed: u32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(12345);
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32
    };
    (0..n).map(|_| next()).collect()
}

fn dense(n_cols: usize) -> AnySamples {
    AnySamples::Vectors(Vectors::Dense(DenseMatrix { values: noise(N * n_cols, 3), n_rows: N, n_cols }))
}

fn sparse(n_cols: usize) -> AnySamples {
    let values: Vec<f32> = noise(N * n_cols, 4).into_iter().map(|x| if x < 0.6 { 0.0 } else { x }).collect();
    let view = DenseView::new(&values, N, n_cols).unwrap();
    let mut matrix = CsrMatrix { indptr: vec![0], indices: Vec::new(), values: Vec::new(), n_cols };
    for row in 0..N {
        view.for_each_nonzero(row, |column, value| {
            matrix.indices.push(column as u32);
            matrix.values.push(value as f32);
        });
        matrix.indptr.push(matrix.values.len());
    }
    AnySamples::Vectors(Vectors::Sparse(matrix))
}

/// An example of each similarity that compares such samples with bases.
fn examples(kind: &str) -> Vec<&'static str> {
    let rows = similarity_rows().filter(|row| row.samples.contains(&kind) && row.name != "precomputed");
    rows.map(|row| *row.examples.last().unwrap()).collect()
}

#[test]
fn vectors() {
    for spec in examples("vectors").into_iter().chain(["mean-norm/rbf", "z-score/linear"]) {
        // Multiples of the rows of a grid.
        for (d, n_basis, classes) in [(21, 11, 2), (3, 1, 2), (72, 200, 3)] {
            check_basis_expansion(&[spec], "mean-norm", &dense(d), classes, n_basis);
            check_basis_expansion(&[spec], "mean-norm", &sparse(d), classes, n_basis);
        }
    }
    for normalization in ["nystroem", "z-score", "covariance", "none"] {
        check_basis_expansion(&["rbf", "linear"], normalization, &dense(9), 2, 40);
    }
    check_basis_expansion(&["precomputed"], "mean-norm", &dense(30), 4, 30);
}

#[test]
fn strings_series_and_images() {
    let bytes = noise(N * 12, 8);
    let text = |row: usize| {
        let letters = &bytes[row * 12..row * 12 + 3 + row % 9];
        letters.iter().map(|x| ["A", "C", "G", "é", " "][(x * 4.99) as usize]).collect::<String>()
    };
    let strings = AnySamples::Strings((0..N).map(text).collect());
    for spec in examples("strings").into_iter().chain(["ngrams:n=2/tanimoto", "ngram-counts:n=2/rbf", "tfidf/linear"]) {
        check_basis_expansion(&[spec], "mean-norm", &strings, 3, 17);
    }
    for channels in [1, 2] {
        let lengths: Vec<usize> = (0..N).map(|row| 9 + row % 7).collect();
        let steps: usize = lengths.iter().sum();
        let series = AnySamples::Series(Series::new(noise(steps * channels, 9), &lengths, channels).unwrap());
        let described = ["znorm/dtw:window=0.2", "minirocket:features=300/rbf", "hydra:groups=2/rbf"];
        for spec in examples("time series").into_iter().chain(described) {
            check_basis_expansion(&[spec], "mean-norm", &series, 2, 13);
        }
    }
    let grids = AnySamples::Grids(Grids::new(noise(N * 4 * 4 * 7, 10), 4, 4, 7).unwrap());
    for spec in examples("grids of cells").into_iter().chain(["linear"]) {
        check_basis_expansion(&[spec], "mean-norm", &grids, 3, 15);
    }
    let pixels = noise(N * 16 * 16, 11).into_iter().map(|x| (255.0 * x) as u8).collect();
    let images = AnySamples::Images(Images::new(pixels, 16, 16, 1).unwrap());
    check_basis_expansion(&["hog:cell=4/rigid", "hog:cell=8/rbf", "hog:cell=4/deformable"], "mean-norm", &images, 2, 9);
}

#[test]
fn power_mean_and_thin_plate() {
    for classes in [2, 3] {
        let d = 7;
        let (values, labels) = histograms(N, d, classes, 21);
        let back = reversed(&values);
        let (all, back) = (DenseView::new(&values, N, d).unwrap(), DenseView::new(&back, N, d).unwrap());
        let one = |row: usize| DenseView::new(&values[row * d..(row + 1) * d], 1, d).unwrap();
        for kernel in KERNELS {
            let model = PowerMeanParams::new(kernel).fit(&all, &labels).unwrap();
            let of = |view: &DenseView<'_, f64>| model.decision_function(view, 2).unwrap().values().to_vec();
            check("power mean", &of(&all), &of(&back), |row| of(&one(row)));
        }
        for kernel in ["thin-plate", "cubic", "rbf:gamma=0.5"] {
            let model = ThinPlateParams::new(kernel.parse().unwrap()).c(1.0).fit(&all, &labels).unwrap();
            let of = |view: &DenseView<'_, f64>| model.decision_function(view, 2).unwrap().values().to_vec();
            check(kernel, &of(&all), &of(&back), |row| of(&one(row)));
        }
    }
}

/// Values that single precision makes 0 are absent, whatever was met before them.
#[test]
fn values_too_small_for_single_precision_are_absent() {
    let (values, labels) = histograms(40, 6, 2, 7);
    let samples = DenseView::new(&values, 40, 6).unwrap();
    let tiny = [0.3, 1e-60, 0.0, 1e-60, 0.2, 1e-200];
    let absent = tiny.map(|value| if value < 1e-50 { 0.0 } else { value });
    for kernel in KERNELS {
        for scale in [false, true] {
            let model = PowerMeanParams::new(kernel).scale(scale).fit(&samples, &labels).unwrap();
            let scores = |rows: &[[f64; 6]]| {
                let view = rows.concat();
                let view = DenseView::new(&view, rows.len(), 6).unwrap();
                model.decision_function(&view, 1).unwrap().values().to_vec()
            };
            let right = scores(&[absent]);
            assert_eq!(scores(&[tiny]), right, "{kernel}");
            assert_eq!(scores(&[[0.7, 0.1, 0.1, 0.9, 0.4, 0.2], tiny])[1..], right, "{kernel}");
            assert_eq!(scores(&[[1e-60; 6]]), scores(&[[0.0; 6]]), "{kernel}");
        }
    }
}

#[test]
fn rejects_values_too_large_for_single_precision_as_in_training() {
    let (values, labels) = histograms(40, 6, 2, 7);
    let model = PowerMeanParams::new(KERNELS[0]).fit(&DenseView::new(&values, 40, 6).unwrap(), &labels).unwrap();
    let huge = [0.0, 1.0, 1e300, 0.0, 0.0, 0.0];
    let error = model.decision_function(&DenseView::new(&huge, 1, 6).unwrap(), 1).unwrap_err();
    assert!(error.to_string().starts_with("row 0, column 2 (from 0): ") && error.is_input(), "{error}");
}
