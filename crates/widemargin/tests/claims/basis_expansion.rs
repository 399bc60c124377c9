//! The basis expansion SVM from samples to model: its features against their definition, and errors for bad input.

use std::f64::consts::TAU;

use crate::common::vectors;
use widemargin::Error;
use widemargin::basis::BasisChoice;
use widemargin::data::{Labels, Samples};
use widemargin::expansion::Normalization;
use widemargin::model::BasisExpansionParams;
use widemargin::problem::{Intercept, Loss};
use widemargin::similarity::{AnySimilarity, Similarity};
use widemargin::solve::Status;

/// Two spirals of `n` points each and a third class between them.
fn spirals(n: usize) -> (Vec<f32>, Labels) {
    let mut points = Vec::new();
    let mut classes = Vec::new();
    for i in 0..3 * n {
        let (class, at) = ((i % 3) as i64, (i / 3) as f64 / n as f64);
        let angle = TAU * (1.2 * at + class as f64 / 3.0);
        let wobble = 0.02 * ((i * 7919) % 13) as f64 / 13.0;
        points.extend([((0.2 + at + wobble) * angle.cos()) as f32, ((0.2 + at + wobble) * angle.sin()) as f32]);
        classes.push(class);
    }
    (points, Labels::new(classes))
}

fn params(specs: &[&str]) -> BasisExpansionParams<AnySimilarity> {
    BasisExpansionParams::new(AnySimilarity::new(specs).unwrap()).basis(BasisChoice::Index)
}

#[test]
fn three_spirals_are_separated() {
    let (points, labels) = spirals(80);
    let (test, truth) = spirals(67);
    let choices = [BasisChoice::Index, BasisChoice::Random, BasisChoice::Auto, BasisChoice::KMedoids];
    for choice in choices {
        let model = params(&["rbf:gamma=20"]).n_basis(60).basis(choice.clone()).c(100.0);
        let model = model.fit(&vectors(points.clone(), 2), &labels).unwrap();
        assert_eq!((model.n_bases(), model.report().status), (60, Status::Converged));
        let predicted = model.predict(&vectors(test.clone(), 2), 1).unwrap();
        let right = predicted.iter().enumerate().filter(|(row, label)| truth.get(*row) == **label).count();
        assert!(right as f64 > 0.97 * truth.len() as f64, "{choice}: {right} of {}", truth.len());
    }
}

#[test]
fn features_follow_their_definition() {
    let (points, labels) = spirals(30);
    let samples = vectors(points.clone(), 2);
    let rows = vec![3, 14, 15, 9, 26];
    let s = |i: usize, j: usize| {
        let d = |k: usize| f64::from(points[2 * i + k]) - f64::from(points[2 * j + k]);
        (-1.5 * (d(0).powi(2) + d(1).powi(2))).exp()
    };
    let n = labels.len();
    let mean: Vec<f64> = rows.iter().map(|&b| (0..n).map(|i| s(b, i)).sum::<f64>() / n as f64).collect();
    let centered = |i: usize| rows.iter().zip(&mean).map(|(&b, mean)| s(b, i) - mean).collect::<Vec<f64>>();
    let norm = (0..n).map(|i| centered(i).iter().map(|x| x * x).sum::<f64>().sqrt()).sum::<f64>() / n as f64;
    let model = params(&["rbf:gamma=1.5", "linear"]).basis(BasisChoice::Rows(rows.clone()));
    let model = model.fit(&samples, &labels).unwrap();
    let phi = model.expansion().transform(&samples, 1).unwrap();
    assert_eq!((phi.n_rows, phi.n_cols), (n, 10));
    for i in 0..n {
        for (k, expected) in centered(i).iter().enumerate() {
            assert!((f64::from(phi.values[10 * i + k]) - expected / norm).abs() < 2e-5);
        }
    }
    // Every part has a mean norm of one, whatever its units.
    let norm = |i: usize| phi.values[10 * i + 5..10 * i + 10].iter().map(|x| x * x).sum::<f32>().sqrt();
    let mean_norm = (0..n).map(norm).sum::<f32>() / n as f32;
    assert!((mean_norm - 1.0).abs() < 1e-4, "{mean_norm}");
}

#[test]
fn nystroem_reproduces_the_kernel_of_the_bases() {
    let (points, labels) = spirals(20);
    let samples = vectors(points, 2);
    let model = params(&["rbf:gamma=3"])
        .normalization(Normalization::Nystroem(widemargin::expansion::NegativeEigenvalues::Clip));
    let model = model.n_basis(12).fit(&samples, &labels).unwrap();
    let phi = model.expansion().transform(model.expansion().bases(), 1).unwrap();
    let bases = model.expansion().bases();
    let kernel =
        widemargin::similarity::pairwise(&AnySimilarity::new(&["rbf:gamma=3"]).unwrap(), bases, bases).unwrap();
    for i in 0..12 {
        for j in 0..12 {
            let row = |i: usize| &phi.values[i * phi.n_cols..(i + 1) * phi.n_cols];
            let product: f32 = row(i).iter().zip(row(j)).map(|(a, b)| a * b).sum();
            assert!((product - kernel[i * 12 + j]).abs() < 1e-3, "{product} {}", kernel[i * 12 + j]);
        }
    }
}

#[test]
fn decision_values_are_weights_times_features() {
    let (points, labels) = spirals(20);
    let samples = vectors(points, 2);
    for normalization in ["mean-norm", "nystroem", "nystroem:negative-eigenvalues=shift"] {
        let params = params(&["rbf:gamma=3", "laplacian:gamma=1"]).normalization(normalization.parse().unwrap());
        let model = params.n_basis(12).fit(&samples, &labels).unwrap();
        let phi = model.expansion().transform(&samples, 1).unwrap();
        let found = model.decision_function(&samples, 1).unwrap();
        let (k, d) = (model.intercepts().len(), phi.n_cols);
        for (at, value) in found.values().iter().enumerate() {
            let (row, problem) = (&phi.values[at / k * d..][..d], at % k);
            let weights = &model.weights()[problem * d..][..d];
            let terms = row.iter().zip(weights).map(|(x, w)| f64::from(*x) * f64::from(*w));
            let (sum, size) = terms.fold((0.0, 0.0), |(sum, size), term| (sum + term, size + f64::abs(term)));
            let expected = sum + model.intercepts()[problem];
            assert!((expected - f64::from(*value)).abs() < 1e-4 * (1.0 + size), "{normalization}: {value} {expected}");
        }
    }
}

#[test]
fn precomputed_rows_are_their_own_columns() {
    let (points, labels) = spirals(20);
    let samples = vectors(points, 2);
    let bases = Samples::select(&samples, &[1, 20, 33]);
    let block = widemargin::similarity::pairwise(&AnySimilarity::new(&["rbf:gamma=2"]).unwrap(), &bases, &samples);
    let block = vectors(block.unwrap(), 3);
    let computed = params(&["precomputed"]).fit(&block, &labels).unwrap();
    let direct = params(&["rbf:gamma=2"]).bases(bases).fit(&samples, &labels).unwrap();
    // Rows of similarities have another order than the samples they are of: the same but for rounding.
    for (a, b) in computed.weights().iter().zip(direct.weights()) {
        assert!((a - b).abs() < 1e-5, "{a} {b}");
    }
}

#[test]
fn errors_name_the_bad_input() {
    let (points, labels) = spirals(20);
    let samples = vectors(points, 2);
    let says = |error: Error, words: &[&str]| {
        let text = error.to_string();
        assert!(words.iter().all(|word| text.contains(word)), "{text}");
    };
    says(AnySimilarity::new(&["rbff"]).unwrap_err(), &["rbff", "known are", "rbf"]);
    says(AnySimilarity::new(&["rbf:gamma=-1"]).unwrap_err(), &["gamma", "above 0"]);
    says(AnySimilarity::new(&["rbf:sigma=1"]).unwrap_err(), &["sigma", "gamma"]);
    says(AnySimilarity::new::<&str>(&[]).unwrap_err(), &["similarity"]);
    says(params(&["chi2"]).fit(&samples, &labels).unwrap_err(), &["chi2", "at least 0"]);
    let error = |rows: Vec<usize>| params(&["rbf"]).basis(BasisChoice::Rows(rows)).fit(&samples, &labels).unwrap_err();
    says(error(vec![0, 60]), &["row 60", "0 to 59"]);
    says(error(vec![5, 5]), &["twice"]);
    let model = params(&["rbf"]).n_basis(1000).fit(&samples, &labels).unwrap();
    assert_eq!(model.n_bases(), 60);
    let warnings = &model.report().warnings;
    assert!(warnings.iter().any(|warning| warning.contains("all 60 samples are bases")), "{warnings:?}");
}

/// A similarity that is not symmetric, and one that breaks on a pair.
struct Own {
    broken: bool,
}

impl Similarity for Own {
    type Samples = Vec<f64>;

    fn spec(&self) -> String {
        "own".into()
    }

    fn block(&self, bases: &Vec<f64>, samples: &Vec<f64>, block: &mut [f32]) -> widemargin::Result<()> {
        for (row, sample) in block.chunks_mut(bases.len()).zip(samples) {
            for (out, basis) in row.iter_mut().zip(bases) {
                *out = if self.broken && *sample == 7.0 { f32::NAN } else { (basis - 2.0 * sample).abs() as f32 };
            }
        }
        Ok(())
    }
}

#[test]
fn values_of_user_defined_similarities_are_checked() {
    let samples: Vec<f64> = (0..20).map(f64::from).collect();
    let labels = Labels::new((0..20).map(|i| i / 10));
    let model = BasisExpansionParams::new(Own { broken: false }).n_basis(6).c(100.0).fit(&samples, &labels).unwrap();
    let right = model.predict(&samples, 1).unwrap();
    assert!(right.iter().enumerate().filter(|(row, label)| labels.get(*row) == **label).count() >= 19);
    let error = BasisExpansionParams::new(Own { broken: true }).n_basis(6).fit(&samples, &labels).unwrap_err();
    assert!(error.to_string().contains("sample 7 (from 0) has the value NaN with basis 0"), "{error}");
    let nystroem = BasisExpansionParams::new(Own { broken: false }).normalization("nystroem".parse().unwrap());
    let model = nystroem.n_basis(6).fit(&samples, &labels).unwrap();
    let warnings = &model.report().warnings;
    assert!(warnings.iter().any(|one| one.contains("not symmetric") && one.contains("mean-norm")), "{warnings:?}");
}

#[test]
fn the_hinge_is_trained_and_reported() {
    let (points, labels) = spirals(60);
    let samples = vectors(points, 2);
    let hinge = params(&["rbf:gamma=20"]).n_basis(60).c(10.0).loss(Loss::Hinge);
    let model = hinge.fit(&samples, &labels).unwrap();
    assert_eq!((model.loss(), model.intercept()), (Loss::Hinge, Intercept::Penalized));
    assert_eq!((model.report().status, model.report().warnings.len()), (Status::Converged, 0));
    let predicted = model.predict(&samples, 1).unwrap();
    assert!(predicted.iter().enumerate().filter(|(row, label)| labels.get(*row) == **label).count() > 172);
}

#[test]
fn margins_are_distances_from_the_boundary() {
    let (points, labels) = spirals(30);
    let samples = vectors(points, 2);
    let model = params(&["rbf:gamma=20"]).n_basis(30).fit(&samples, &labels).unwrap();
    let (scores, margins) = (model.decision_function(&samples, 1).unwrap(), model.margins());
    let distances = model.sample_margins(&samples, &labels, 1).unwrap();
    assert_eq!((margins.len(), distances.n_rows, distances.n_cols), (3, 90, 3));
    let phi = model.expansion().transform(&samples, 1).unwrap();
    for row in [0, 7, 44, 89] {
        for (k, margin) in margins.iter().enumerate() {
            let weights = &model.weights()[30 * k..30 * (k + 1)];
            let norm = weights.iter().map(|w| f64::from(*w).powi(2)).sum::<f64>().sqrt();
            let sign = if labels.codes()[row] as usize == k { 1.0 } else { -1.0 };
            let expected = sign * f64::from(scores.row(row)[k]) / norm;
            assert!((margin - 1.0 / norm).abs() < 1e-12);
            assert!((distances.values[3 * row + k] - expected).abs() < 1e-12);
            // The foot of the perpendicular is on the boundary.
            let features = &phi.values[30 * row..30 * (row + 1)];
            let foot = features
                .iter()
                .zip(weights)
                .map(|(x, w)| (f64::from(*x) - sign * expected * f64::from(*w) / norm) * f64::from(*w));
            assert!((foot.sum::<f64>() + model.intercepts()[k]).abs() < 1e-5);
        }
    }
    // Labels are matched by value, not by their place among these labels.
    let ones = Labels::new(vec![1i64; 90]);
    let of_ones = model.sample_margins(&samples, &ones, 1).unwrap();
    assert!((of_ones.values[1] - f64::from(scores.row(0)[1]) * margins[1]).abs() < 1e-12);
    let error = model.sample_margins(&samples, &Labels::new(vec![7i64; 90]), 1).unwrap_err().to_string();
    assert!(error.contains("label = 7"), "{error}");
    assert!(model.sample_margins(&samples, &Labels::new([1i64]), 1).is_err());
}
