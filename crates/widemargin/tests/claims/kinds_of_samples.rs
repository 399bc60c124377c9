//! Which kinds of samples a similarity takes, and that it does take them.

use crate::common::vectors;
use widemargin::basis::BasisChoice;
use widemargin::data::{AnySamples, CsrMatrix, DenseMatrix, Labels, Series, Vectors};
use widemargin::model::{BasisExpansionParams, BasisExpansionSvc, Model};
use widemargin::similarity::{AnySimilarity, pairwise};

fn takes(specs: &[&str]) -> Vec<&'static str> {
    AnySimilarity::new(specs).unwrap().takes()
}

#[test]
fn each_spec_has_its_kinds_of_samples() {
    let table: [(&[&str], &[&str]); 25] = [
        (&["rbf"], &["vectors", "grids of cells"]),
        (&["chi2"], &["vectors", "grids of cells"]),
        (&["thin-plate"], &["vectors", "grids of cells"]),
        (&["precomputed"], &["vectors", "grids of cells"]),
        (&["rigid"], &["grids of cells"]),
        (&["match:base=rbf", "jitter"], &["grids of cells"]),
        (&["pixels/match", "hog/rbf"], &["images"]),
        (&["hog:cell=8/rbf"], &["images"]),
        (&["hog:cell=8/deformable", "hog:cell=4/linear"], &["images"]),
        (&["mean-norm/rbf", "linear"], &["vectors", "grids of cells"]),
        (&["mean-norm/rigid"], &["grids of cells"]),
        (&["edit"], &["strings"]),
        (&["align", "ngram", "ngrams/tanimoto", "ngram-counts:n=2/rbf"], &["strings"]),
        (&["tfidf:n=1-2,by=words/linear", "tfidf/rbf"], &["strings"]),
        (&["dtw"], &["time series", "vectors"]),
        (&["znorm/dtw"], &["time series", "vectors"]),
        (&["hydra/linear"], &["time series", "vectors"]),
        (&["minirocket/linear"], &["time series", "vectors"]),
        (&["minirocket/z-score/rbf"], &["time series", "vectors"]),
        (&["dtw", "rbf"], &["vectors"]),
        (&["tanimoto"], &["bit sets", "vectors", "grids of cells"]),
        (&["cosine", "rbf"], &["vectors", "grids of cells"]),
        // Nothing suits these.
        (&["edit", "rbf"], &[]),
        (&["mean-norm/edit"], &[]),
        (&["ngrams/rbf"], &[]),
    ];
    for (specs, kinds) in table {
        assert_eq!(takes(specs), kinds, "{specs:?}");
    }
}

#[test]
fn dense_rows_are_series() {
    let (n, steps) = (24, 15);
    let value = |row: usize, t: usize| ((1 + row % 2) as f32 * 0.6 * t as f32 + row as f32).sin() * (1 + row) as f32;
    let values: Vec<f32> = (0..n).flat_map(|row| (0..steps).map(move |t| value(row, t))).collect();
    let series = AnySamples::Series(Series::new(values.clone(), &vec![steps; n], 1).unwrap());
    let rows = vectors(values, steps);
    let labels = Labels::new((0..n).map(|row| (row % 2) as i64));
    for spec in ["dtw:window=0.2", "znorm/dtw:window=0.1", "dtw:gamma=auto"] {
        let params =
            || BasisExpansionParams::new(AnySimilarity::new(&[spec]).unwrap()).basis(BasisChoice::Index).n_basis(6);
        let (of_series, of_rows) = (params().fit(&series, &labels).unwrap(), params().fit(&rows, &labels).unwrap());
        assert_eq!((of_series.kind(), of_rows.kind()), ("time series", "vectors"));
        let scores = of_rows.decision_function(&rows, 1).unwrap();
        let likewise = of_series.decision_function(&series, 1).unwrap();
        // Another order of the samples, hence rounding, and other pairs that a gamma is learned from.
        let is_learned = spec.contains("auto");
        assert!(is_learned || scores.values().iter().zip(likewise.values()).all(|(a, b)| (a - b).abs() < 1e-5));
        // Either model accepts either.
        assert_eq!(likewise, of_series.decision_function(&rows, 1).unwrap());
        let read = BasisExpansionSvc::from_bytes(&of_rows.to_bytes().unwrap()).unwrap();
        assert_eq!(scores, read.decision_function(&rows, 1).unwrap());
    }
    // Together with vectors, each has its own.
    let both = AnySimilarity::new(&["dtw", "rbf"]).unwrap();
    assert!(BasisExpansionParams::new(both).n_basis(6).fit(&rows, &labels).is_ok());
}

#[test]
fn rejects_rows_that_are_not_series() {
    let dtw = AnySimilarity::new(&["dtw"]).unwrap();
    let sparse = CsrMatrix { indptr: vec![0, 1], indices: vec![2], values: vec![1.0f32], n_cols: 5 };
    let sparse = AnySamples::Vectors(Vectors::Sparse(sparse));
    let error = pairwise(&dtw, &sparse, &sparse).unwrap_err().to_string();
    assert!(error.contains("not vectors (rows of a dense array would do)"), "{error}");
    let empty = AnySamples::Vectors(Vectors::Dense(DenseMatrix { values: Vec::new(), n_rows: 3, n_cols: 0 }));
    assert!(pairwise(&dtw, &empty, &empty).is_err());
}
