//! `C = auto` of the basis expansion: its leave-one-out error is that of refits without each sample; and models on
//! conditionally positive definite similarities.

use crate::common::vectors;
use crate::thin_plate_common::{blobs, view};
use widemargin::data::{AnySamples, Labels, Samples, Vectors};
use widemargin::expansion::Normalization;
use widemargin::model::{BasisExpansionParams, CChoice, ThinPlateParams};
use widemargin::monitor::Monitor;
use widemargin::problem::Loss;
use widemargin::similarity::{AnySimilarity, ConditionalKernel, Similarity};
use widemargin::solve::thin_plate::Polynomials;

fn samples(values: &[f64], d: usize) -> AnySamples {
    vectors(values.iter().map(|&x| x as f32).collect(), d)
}

fn similarity(spec: &str) -> AnySimilarity {
    AnySimilarity::new(&[spec]).unwrap()
}

/// With fixed bases and no normalization, features do not depend on the samples.
fn params(bases: &AnySamples) -> BasisExpansionParams<AnySimilarity> {
    BasisExpansionParams::new(similarity("rbf:gamma=0.4"))
        .bases(bases.clone())
        .normalization(Normalization::None)
        .tol(1e-6)
}

#[test]
fn c_is_found_on_many_rows_as_on_few_features() {
    let (n, d) = (150, 2);
    let (values, labels) = blobs(n, d, 2, 8);
    let bases = samples(&blobs(12, d, 2, 9).0, d);
    let all = samples(&values, d);
    // Fewer features than samples inside the margin: the solver on bases, with an error in five folds.
    let fitted = params(&bases).c(CChoice::Auto).fit(&all, &Labels::new(labels.clone())).unwrap();
    let chosen = fitted.path().iter().find(|point| point.c == fitted.c()).unwrap();
    assert!(!chosen.loo_exact && chosen.fold_error.is_some(), "{chosen:?}");
    let wrong = (0..n).filter(|&i| {
        let weights: Vec<f64> = (0..n).map(|j| f64::from(u8::from(i != j))).collect();
        let labels = Labels::new(labels.clone());
        let without = params(&bases).c(fitted.c()).fit_with(&all, &labels, Some(&weights), &Monitor::none()).unwrap();
        *without.predict(&all.select(&[i]), 1).unwrap()[0] != *labels.get(i)
    });
    let estimate = chosen.loo_error.unwrap() * n as f64;
    assert!((estimate - wrong.count() as f64).abs() <= 2.0, "{estimate}");
}

#[test]
fn copies_of_a_sample_in_both_classes_are_left_out_one_by_one() {
    // At each of 24 places 30 samples, 3 to 9 of them of the other class: nothing else can be wrong.
    let d = 2;
    let places = blobs(24, d, 2, 11).0;
    let (mut values, mut labels, mut fewer) = (Vec::new(), Vec::new(), 0);
    for (at, place) in places.chunks(d).enumerate() {
        let others = 3 + at % 7;
        fewer += others;
        let usual = i64::from(place[0] > 0.0);
        for copy in 0..30 {
            values.extend_from_slice(place);
            labels.push(if copy < others { 1 - usual } else { usual });
        }
    }
    let n = labels.len() as f64;
    let all = samples(&values, d);
    let bases = samples(&blobs(6, d, 2, 9).0, d);
    let fitted = params(&bases).c(CChoice::Auto).fit(&all, &Labels::new(labels)).unwrap();
    let chosen = fitted.path().iter().find(|point| point.c == fitted.c()).unwrap();
    let (of_folds, of_one) = (chosen.fold_error.unwrap(), chosen.loo_error.unwrap());
    assert!(of_folds >= fewer as f64 / n - 1e-12 && (of_folds - of_one).abs() < 0.06, "{of_folds} {of_one}");
    assert!(!fitted.report().warnings.iter().any(|warning| warning.starts_with("no better")));
}

#[test]
fn another_loss_has_the_c_of_the_squared_hinge_and_the_report_says_so() {
    let (values, labels) = blobs(40, 2, 2, 1);
    let all = samples(&values, 2);
    let params = || BasisExpansionParams::new(similarity("rbf")).c(CChoice::Auto);
    let squared = params().fit(&all, &Labels::new(labels.clone())).unwrap();
    let logistic = params().loss(Loss::Logistic).fit(&all, &Labels::new(labels)).unwrap();
    assert_eq!(logistic.c(), squared.c());
    let is_reported = |note: &String| note.contains("selected for the squared hinge");
    assert!(logistic.report().notes.iter().any(is_reported) && !squared.report().notes.iter().any(is_reported));
}

#[test]
fn a_centered_expansion_of_a_distance_is_the_thin_plate_svm() {
    for spec in ["distance", "cityblock", "multiquadric:gamma=0.5"] {
        for (classes, c) in [(2, 1.0), (3, 20.0)] {
            let (n, d) = (90, 3);
            let (values, labels) = blobs(n, d, classes, 3);
            let all = samples(&values, d);
            let normalization = "centered".parse().unwrap();
            let params = BasisExpansionParams::new(similarity(spec)).normalization(normalization).n_basis(n).tol(1e-7);
            let found = params.c(c).fit(&all, &Labels::new(labels.clone())).unwrap();
            let kernel: ConditionalKernel = spec.parse().unwrap();
            let single: Vec<f64> = values.iter().map(|&x| f64::from(x as f32)).collect();
            let exact = ThinPlateParams::new(kernel).c(c).polynomials(Polynomials::Free);
            let exact = exact.fit(&view(&single, d), &Labels::new(labels)).unwrap();
            let truth = exact.decision_values(&view(&single, d), 1).unwrap();
            let scores = found.decision_function(&all, 1).unwrap();
            for (found, truth) in scores.values().iter().zip(&truth) {
                assert!((f64::from(*found) - truth).abs() < 5e-3, "{spec} {classes}: {found} {truth}");
            }
        }
    }
}

/// A matrix of similarities between samples, which are their own numbers.
struct Matrix {
    values: Vec<f64>,
    n: usize,
}

impl Similarity for Matrix {
    type Samples = Vectors;

    fn spec(&self) -> String {
        "matrix".into()
    }

    fn block(&self, bases: &Vectors, samples: &Vectors, block: &mut [f32]) -> widemargin::Result<()> {
        let (Vectors::Dense(bases), Vectors::Dense(samples)) = (bases, samples) else { panic!("dense") };
        let pairs = samples.values.iter().flat_map(|&i| bases.values.iter().map(move |&j| (i as usize, j as usize)));
        block.iter_mut().zip(pairs).for_each(|(out, (i, j))| *out = self.values[i * self.n + j] as f32);
        Ok(())
    }
}

fn times(a: &[f64], b: &[f64], n: usize) -> Vec<f64> {
    let at = |i: usize, j: usize| (0..n).map(|k| a[i * n + k] * b[k * n + j]).sum();
    (0..n * n).map(|ij| at(ij / n, ij % n)).collect()
}

/// (I − 11ᵀ/n) M (I − 11ᵀ/n).
fn centered(matrix: &[f64], n: usize) -> Vec<f64> {
    let mean = |of: &dyn Fn(usize) -> f64| (0..n).map(of).sum::<f64>() / n as f64;
    let rows: Vec<f64> = (0..n).map(|i| mean(&|j| matrix[i * n + j])).collect();
    let columns: Vec<f64> = (0..n).map(|j| mean(&|i| matrix[i * n + j])).collect();
    let all = mean(&|i| rows[i]);
    (0..n * n).map(|ij| matrix[ij] - rows[ij / n] - columns[ij % n] + all).collect()
}

#[test]
fn the_treatment_of_negative_eigenvalues_is_reported_and_consistent() {
    // No distance that embeds: the centered matrix has negative eigenvalues.
    let (n, d) = (40, 2);
    let (values, labels) = blobs(n, d, 2, 4);
    let distance = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| (x - y).abs().powf(2.6)).sum::<f64>().powf(0.9);
    let rows: Vec<&[f64]> = values.chunks(d).collect();
    let matrix: Vec<f64> = rows.iter().flat_map(|a| rows.iter().map(|b| -distance(a, b))).collect();
    let AnySamples::Vectors(numbers) = samples(&(0..n).map(|i| i as f64).collect::<Vec<_>>(), 1) else { panic!() };
    let gram = |name: &str| {
        let similarity = Matrix { values: matrix.clone(), n };
        let params = BasisExpansionParams::new(similarity).normalization(name.parse().unwrap()).n_basis(n);
        let fitted = params.fit(&numbers, &Labels::new(labels.clone())).unwrap();
        let remarks = [&fitted.report().notes[..], &fitted.report().warnings].concat();
        assert!(remarks.iter().any(|note| note.contains("negative eigenvalues")), "{remarks:?}");
        let features = fitted.expansion().transform(&numbers, 1).unwrap();
        let row = |i: usize| &features.values[i * features.n_cols..(i + 1) * features.n_cols];
        let product = |i: usize, j: usize| row(i).iter().zip(row(j)).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum();
        centered(&(0..n * n).map(|ij| product(ij / n, ij % n)).collect::<Vec<f64>>(), n)
    };
    let truth = centered(&matrix, n);
    let close = |a: &[f64], b: &[f64], what: &str| {
        let size = b.iter().fold(0.0f64, |size, x| size.max(x.abs()));
        let off = a.iter().zip(b).fold(0.0f64, |off, (a, b)| off.max((a - b).abs()));
        assert!(off <= 1e-3 * size, "{what}: {off} of {size}");
    };
    let (clip, flip, shift) =
        (gram("centered"), gram("centered:negative-eigenvalues=flip"), gram("centered:negative-eigenvalues=shift"));
    // |G|² = G²; the positive part is (G + |G|)/2; and with the least eigenvalue −s, Γ (G + sI) = G² off the constant.
    close(&times(&flip, &flip, n), &times(&truth, &truth, n), "flip");
    let positive: Vec<f64> = truth.iter().zip(&flip).map(|(g, f)| 0.5 * (g + f)).collect();
    close(&clip, &positive, "clip");
    let negative: Vec<f64> = truth.iter().zip(&flip).map(|(g, f)| 0.5 * (f - g)).collect();
    let mut power: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
    let mut least = 0.0;
    for _ in 0..500 {
        let next: Vec<f64> = negative.chunks(n).map(|row| row.iter().zip(&power).map(|(a, b)| a * b).sum()).collect();
        least = next.iter().map(|x: &f64| x * x).sum::<f64>().sqrt();
        power = next.iter().map(|x| x / least).collect();
    }
    let shifted: Vec<f64> =
        truth.iter().enumerate().map(|(ij, g)| g + if ij / n == ij % n { least } else { 0.0 }).collect();
    // Its own direction becomes 0.
    let squared = times(&truth, &truth, n);
    let rest = (0..n * n).map(|ij| squared[ij] - least * least * power[ij / n] * power[ij % n]);
    close(&times(&shift, &shifted, n), &rest.collect::<Vec<f64>>(), "shift");
}
