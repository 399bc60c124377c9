//! A model on the features themselves is the linear model.

use crate::common::{sparse_vectors, vectors};
use widemargin::data::{AnySamples, CsrMatrix, Labels, Vectors};
use widemargin::expansion::Normalization;
use widemargin::model::{BasisExpansionParams, CChoice};
use widemargin::monitor::Monitor;
use widemargin::problem::Intercept;
use widemargin::similarity::AnySimilarity;

/// On features, and on all samples as bases of `linear`, it is one model.
#[test]
fn is_the_linear_model() {
    let (n, d) = (60, 4);
    let values: Vec<f32> = (0..n * d).map(|at| ((at * at * 37 + at * 11) % 101) as f32 / 50.0 - 1.0).collect();
    let labels = Labels::new((0..n).map(|row| i64::from(values[row * d] + 0.5 * values[row * d + 1] > 0.2)));
    let samples = vectors(values, d);
    let scores = |spec: &str, normalization: &str| {
        let normalization: Normalization = normalization.parse().unwrap();
        let params = BasisExpansionParams::new(AnySimilarity::new(&[spec]).unwrap());
        let params = params.n_basis(n).normalization(normalization).c(1.0).tol(1e-8);
        params.fit(&samples, &labels).unwrap().decision_function(&samples, 1).unwrap().values().to_vec()
    };
    let (features, linear) = (scores("features", "none"), scores("linear", "nystroem"));
    for (features, linear) in features.iter().zip(linear) {
        assert!((features - linear).abs() < 1e-3, "{features}, {linear}");
    }
}

/// Sparse rows and their dense copy, most of them 0, with equal rows among them.
fn sparse_and_dense(n: usize, d: usize) -> [AnySamples; 2] {
    let value = |row: usize, column: usize| {
        let at = row % (n - 3) * d + column;
        if (at * at * 13 + at * 7) % 11 < 8 { 0.0 } else { ((at * 37 + at * at) % 101) as f32 / 50.0 - 1.0 }
    };
    let values: Vec<f32> = (0..n * d).map(|at| value(at / d, at % d)).collect();
    [sparse_vectors(&values, d), vectors(values, d)]
}

#[test]
fn sparse_rows_give_the_model_of_their_dense_copy() {
    let (n, d) = (90, 40);
    let [sparse, dense] = sparse_and_dense(n, d);
    let weights: Vec<f64> = (0..n).map(|row| (row % 4) as f64).collect();
    for (intercept, c, n_classes) in
        [(Intercept::Free, None, 3), (Intercept::Penalized, None, 2), (Intercept::None, Some(0.5), 2)]
    {
        let labels = Labels::new((0..n as i64).map(|row| (row * row * 7 + row % 3) % 5 % n_classes));
        let fit = |samples: &AnySamples| {
            let params = BasisExpansionParams::new(AnySimilarity::new(&["features"]).unwrap());
            let params = params.normalization(Normalization::None).intercept(intercept).tol(1e-8);
            let params = params.c(c.map_or(CChoice::Auto, CChoice::Value));
            params.fit_with(samples, &labels, Some(&weights), &Monitor::none()).unwrap()
        };
        let (of_sparse, of_dense) = (fit(&sparse), fit(&dense));
        assert!((of_sparse.c() / of_dense.c() - 1.0).abs() < 1e-6, "{} {}", of_sparse.c(), of_dense.c());
        let expected = of_dense.decision_function(&dense, 1).unwrap();
        for (model, samples) in [(&of_sparse, &sparse), (&of_sparse, &dense), (&of_dense, &sparse)] {
            let found = model.decision_function(samples, 2).unwrap();
            for (found, expected) in found.values().iter().zip(expected.values()) {
                assert!((found - expected).abs() < 2e-4, "{intercept:?}: {found} {expected}");
            }
        }
    }
}

/// Joined with similarities, sparse features give the model of their dense copies, in memory and read from a file.
#[test]
fn joined_sparse_rows_give_the_model_of_their_dense_copy() {
    let (n, d) = (90, 40);
    let [sparse, dense] = sparse_and_dense(n, d);
    let labels = Labels::new((0..n as i64).map(|row| (row * row * 7 + row % 3) % 5 % 3));
    let weights: Vec<f64> = (0..n).map(|row| (row % 4) as f64).collect();
    for (specs, normalization) in [
        (&["features:weight=0.5", "rbf:gamma=0.1"][..], "nystroem"),
        (&["rbf:gamma=0.1,bases=7", "features", "linear"], "none"),
        (&["distance", "features"], "centered"),
        (&["rbf:gamma=0.1", "features"], "z-score"),
    ] {
        let fit = |samples: &AnySamples| {
            let params = BasisExpansionParams::new(AnySimilarity::new(specs).unwrap()).n_basis(20).c(1.0).tol(1e-8);
            let params = params.normalization(normalization.parse().unwrap());
            params.fit_with(samples, &labels, Some(&weights), &Monitor::none()).unwrap()
        };
        let (of_sparse, of_dense) = (fit(&sparse), fit(&dense));
        let expected = of_dense.decision_function(&dense, 1).unwrap();
        for (model, samples) in [(&of_sparse, &sparse), (&of_sparse, &dense), (&of_dense, &sparse)] {
            let found = model.decision_function(samples, 2).unwrap();
            for (found, expected) in found.values().iter().zip(expected.values()) {
                assert!(
                    (found - expected).abs() < 2e-4 * (1.0 + expected.abs()),
                    "{specs:?}, {normalization}: {found} {expected}"
                );
            }
        }
    }
}

/// With the mean norm, sparse features are divided by it and not centered, so that zeros stay zeros.
#[test]
fn joined_sparse_rows_are_scaled_to_the_mean_norm() {
    let (n, d) = (30, 12);
    let [sparse, dense] = sparse_and_dense(n, d);
    let labels = Labels::new((0..n as i64).map(|row| row % 2));
    let params = |specs: &[&str]| BasisExpansionParams::new(AnySimilarity::new(specs).unwrap()).n_basis(5);
    let expand = |specs: &[&str], normalization: Normalization| {
        let params = params(specs).normalization(normalization);
        params.expand(&sparse, Some(&labels), &Monitor::none()).unwrap().features
    };
    let joined = expand(&["features", "rbf:gamma=0.1"], Normalization::MeanNorm);
    let compared = expand(&["rbf:gamma=0.1"], Normalization::MeanNorm);
    let AnySamples::Vectors(Vectors::Dense(raw)) = dense else { panic!() };
    let norm = |row: &[f32]| row.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
    let distinct: std::collections::HashSet<Vec<u32>> =
        raw.values.chunks(d).map(|row| row.iter().map(|x| x.to_bits()).collect()).collect();
    assert!(distinct.len() < n);
    let mean = raw.values.chunks(d).map(norm).sum::<f64>() / n as f64;
    for row in 0..n {
        let (found, of_basis) = joined.values[row * joined.n_cols..][..joined.n_cols].split_at(d);
        for (found, raw) in found.iter().zip(&raw.values[row * d..]) {
            assert!((f64::from(*found) - f64::from(*raw) / mean).abs() < 1e-5, "{found} {raw}");
            assert!(*raw != 0.0 || *found == 0.0);
        }
        for (found, right) in of_basis.iter().zip(&compared.values[row * compared.n_cols..]) {
            assert!((found - right).abs() < 1e-5, "{found} {right}");
        }
    }
}

#[test]
fn an_expansion_of_sparse_rows_has_all_of_them() {
    let [sparse, dense] = sparse_and_dense(30, 12);
    let params = || BasisExpansionParams::new(AnySimilarity::new(&["features"]).unwrap());
    let expand = |samples: &AnySamples| {
        let params = params().normalization(Normalization::None);
        params.expand(samples, None, &Monitor::none()).unwrap().features
    };
    assert_eq!(expand(&sparse), expand(&dense));
    let mut flawed = CsrMatrix::empty(12);
    (flawed.indices, flawed.values, flawed.indptr) = (vec![3, 4], vec![1.0, f32::NAN], vec![0, 1, 2]);
    let flawed = AnySamples::Vectors(Vectors::Sparse(flawed));
    let params = params().normalization(Normalization::None);
    let message = params.fit(&flawed, &Labels::new([0, 1])).unwrap_err().to_string();
    assert!(message.contains("column 4"), "{message}");
}

#[test]
fn rejects_unsupported_combinations() {
    let values: Vec<f32> = (0..16).map(|at| (at % 5) as f32).collect();
    let labels = Labels::new([0, 1, 0, 1]);
    // As many features as samples, which could be mistaken for similarities between them.
    for normalization in ["nystroem", "centered"] {
        let params = BasisExpansionParams::new(AnySimilarity::new(&["features"]).unwrap());
        let params = params.normalization(normalization.parse().unwrap());
        let message = params.fit(&vectors(values.clone(), 4), &labels).unwrap_err().to_string();
        assert!(message.contains("z-score") && message.contains("no similarities"), "{message}");
    }
    for specs in [&["precomputed", "rbf"][..], &["features", "precomputed"]] {
        let message = AnySimilarity::new(specs).unwrap_err().to_string();
        assert!(message.contains("stand alone"), "{message}");
    }
    // Bases cannot be left out where features do not belong to them, nor weights be learned on sparse rows.
    let [sparse, _] = sparse_and_dense(30, 12);
    let labels = Labels::new((0..30).map(|row| row % 2));
    let params = |spec: &str| BasisExpansionParams::new(AnySimilarity::new(&[spec, "rbf"]).unwrap()).n_basis(9);
    let message = params("features").max_basis(Some(3)).fit(&sparse, &labels).unwrap_err().to_string();
    assert!(message.contains("leave bases out"), "{message}");
    let message = params("features:weight=auto").fit(&sparse, &labels).unwrap_err().to_string();
    assert!(message.contains("stay sparse"), "{message}");
    for specs in [&["features:bases=5"][..], &["features:bases=5", "rbf"]] {
        let message = AnySimilarity::new(specs).unwrap_err().to_string();
        assert!(message.contains("no bases"), "{message}");
    }
}
