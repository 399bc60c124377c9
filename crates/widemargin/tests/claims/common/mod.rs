//! Small made histograms and vectors for the tests, and a plain dual solver.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use widemargin::data::{AnySamples, CsrMatrix, DenseMatrix, Labels, Vectors};
use widemargin::similarity::AdditiveKernel;

/// `n` dense rows of `d` features of at least 0 (about half of them 0), and labels below `classes`
/// that depend on them.
pub fn histograms(n: usize, d: usize, classes: usize, seed: u64) -> (Vec<f64>, Labels) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut values = Vec::with_capacity(n * d);
    let mut labels = Vec::with_capacity(n);
    for i in 0..n {
        let class = i % classes;
        for j in 0..d {
            let full = (j + class).is_multiple_of(classes);
            let count: f64 = if rng.random_bool(if full { 0.7 } else { 0.35 }) { rng.random::<f64>() } else { 0.0 };
            values.push(if full { 2.0 * count } else { count });
        }
        // One label in ten is wrong, so that no class can be had without loss.
        labels.push(if rng.random_bool(0.1) { rng.random_range(0..classes) } else { class } as i64);
    }
    (values, Labels::new(labels))
}

pub const KERNELS: [AdditiveKernel; 6] = [
    AdditiveKernel::Chi2,
    AdditiveKernel::Hellinger,
    AdditiveKernel::Intersection,
    AdditiveKernel::JensenShannon,
    AdditiveKernel::PowerMean { p: -8.0 },
    AdditiveKernel::PowerMean { p: -0.25 },
];

/// Minimizes ½ αᵀQα + ½ Σ ridge_i α_i² − Σ α_i over 0 ≤ α ≤ upper by coordinate descent on the full matrix,
/// Q = (y_i y_j K_ij), until no coordinate moves: slow, plain, and exact.
pub fn brute_force_dual(gram: &[f64], signs: &[f64], upper: f64, ridge: f64) -> Vec<f64> {
    let n = signs.len();
    let mut alphas = vec![0.0; n];
    let mut scores = vec![0.0; n];
    for _ in 0..20_000 {
        let mut largest: f64 = 0.0;
        for i in 0..n {
            let gradient = signs[i] * scores[i] - 1.0 + ridge * alphas[i];
            let moved = (alphas[i] - gradient / (gram[i * n + i] + ridge)).clamp(0.0, upper);
            let step = moved - alphas[i];
            if step != 0.0 {
                alphas[i] = moved;
                for (score, k) in scores.iter_mut().zip(&gram[i * n..(i + 1) * n]) {
                    *score += step * signs[i] * k;
                }
            }
            largest = largest.max(step.abs() * (gram[i * n + i] + ridge));
        }
        if largest < 1e-9 {
            break;
        }
    }
    alphas
}

/// Primal and dual objective of `alphas` for a Gram matrix, from the definitions.
pub fn objectives(gram: &[f64], signs: &[f64], alphas: &[f64], c: f64, squared: bool) -> (f64, f64) {
    let n = signs.len();
    let (mut quadratic, mut loss, mut linear) = (0.0, 0.0, 0.0);
    for i in 0..n {
        let score: f64 = (0..n).map(|j| alphas[j] * signs[j] * gram[i * n + j]).sum();
        let slack = (1.0 - signs[i] * score).max(0.0);
        quadratic += alphas[i] * signs[i] * score;
        loss += if squared { c * slack * slack } else { c * slack };
        linear += if squared { alphas[i] - alphas[i] * alphas[i] / (4.0 * c) } else { alphas[i] };
    }
    (0.5 * quadratic + loss, linear - 0.5 * quadratic)
}

/// Dense vectors.
pub fn vectors(values: Vec<f32>, n_cols: usize) -> AnySamples {
    AnySamples::Vectors(Vectors::Dense(DenseMatrix { n_rows: values.len() / n_cols, values, n_cols }))
}

/// The same vectors without their zeros.
pub fn sparse_vectors(values: &[f32], n_cols: usize) -> AnySamples {
    let mut matrix = CsrMatrix { indptr: vec![0], n_cols, ..CsrMatrix::default() };
    for row in values.chunks(n_cols) {
        for (column, &value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            matrix.indices.push(column as u32);
            matrix.values.push(value);
        }
        matrix.indptr.push(matrix.values.len());
    }
    AnySamples::Vectors(Vectors::Sparse(matrix))
}
