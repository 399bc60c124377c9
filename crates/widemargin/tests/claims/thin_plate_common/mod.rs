//! Made data and plain truths for the thin plate tests.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use widemargin::data::{DenseView, Labels};
use widemargin::model::ThinPlateSvc;
use widemargin::similarity::ConditionalKernel;

pub fn kernel(spec: &str) -> ConditionalKernel {
    spec.parse().unwrap()
}

/// A number of about unit variance, symmetric about 0.
pub fn normal(rng: &mut Xoshiro256PlusPlus) -> f64 {
    (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0
}

/// `n` row-major samples of `d` features in `classes` classes that a curved border separates, one label in
/// seven wrong.
pub fn blobs(n: usize, d: usize, classes: usize, seed: u64) -> (Vec<f64>, Vec<i64>) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut values = Vec::with_capacity(n * d);
    let mut labels = Vec::with_capacity(n);
    for _ in 0..n {
        let row: Vec<f64> = (0..d).map(|_| normal(&mut rng)).collect();
        let bend = row[0] + 0.8 * (1.5 * row[d - 1]).sin() + if d > 2 { 0.5 * row[1] * row[1] - 0.5 } else { 0.0 };
        let level = ((bend + 1.5) / 3.0 * classes as f64).clamp(0.0, classes as f64 - 1.0) as i64;
        let class = if rng.random_bool(1.0 / 7.0) { rng.random_range(0..classes) as i64 } else { level };
        labels.push(class);
        values.extend(row);
    }
    (values, labels)
}

pub fn view(values: &[f64], d: usize) -> DenseView<'_, f64> {
    DenseView::new(values, values.len() / d, d).unwrap()
}

/// Numbers of a CSV file with a header.
pub fn read_csv(name: &str) -> Vec<Vec<f64>> {
    let path = format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().skip(1).map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect()).collect()
}

/// Samples and ±1 labels of a CSV file whose last column is the label.
pub fn read_labeled(name: &str) -> (Vec<f64>, usize, Labels, Vec<f64>) {
    let rows = read_csv(name);
    let d = rows[0].len() - 1;
    let signs: Vec<f64> = rows.iter().map(|row| row[d]).collect();
    let labels = Labels::new(signs.iter().map(|sign| *sign as i64));
    (rows.iter().flat_map(|row| &row[..d]).copied().collect(), d, labels, signs)
}

/// α of every training sample, for the first problem.
pub fn alpha(model: &ThinPlateSvc, n: usize) -> Vec<f64> {
    let mut alpha = vec![0.0; n];
    for (&row, value) in model.basis_rows().iter().zip(model.coefficients()) {
        alpha[row as usize] = *value;
    }
    alpha
}

/// The kernel matrix from the definition.
pub fn gram(kernel: ConditionalKernel, values: &[f64], d: usize) -> Vec<Vec<f64>> {
    let rows: Vec<&[f64]> = values.chunks(d).collect();
    let is_cityblock = matches!(kernel, ConditionalKernel::Cityblock | ConditionalKernel::Laplacian { .. });
    let power = if is_cityblock { 1 } else { 2 };
    let r = |a: &[f64], b: &[f64]| {
        let sum = a.iter().zip(b).map(|(x, y)| (x - y).abs().powi(power)).sum::<f64>();
        if is_cityblock { sum } else { sum.sqrt() }
    };
    rows.iter().map(|a| rows.iter().map(|b| kernel.value(r(a, b))).collect()).collect()
}

/// Solves a square system by elimination with pivoting.
pub fn eliminate(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for at in 0..n {
        let pivot = (at..n).max_by(|&i, &j| a[i][at].abs().total_cmp(&a[j][at].abs())).unwrap();
        a.swap(at, pivot);
        b.swap(at, pivot);
        for row in at + 1..n {
            let factor = a[row][at] / a[at][at];
            let (top, bottom) = a.split_at_mut(row);
            for (to, from) in bottom[0][at..].iter_mut().zip(&top[at][at..]) {
                *to -= factor * from;
            }
            b[row] -= factor * b[at];
        }
    }
    for at in (0..n).rev() {
        let known: f64 = (at + 1..n).map(|j| a[at][j] * b[j]).sum();
        b[at] = (b[at] - known) / a[at][at];
    }
    b
}

/// The largest difference, relative to the largest value.
pub fn relative(a: &[f64], b: &[f64]) -> f64 {
    let size = a.iter().fold(1e-300_f64, |most, x| most.max(x.abs()));
    a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max) / size
}

/// A rotation of `d` dimensions, row-major.
pub fn rotation(d: usize, seed: u64) -> Vec<f64> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut columns: Vec<Vec<f64>> = Vec::new();
    while columns.len() < d {
        let mut column: Vec<f64> = (0..d).map(|_| normal(&mut rng)).collect();
        for _ in 0..2 {
            for other in &columns {
                let along: f64 = column.iter().zip(other).map(|(x, y)| x * y).sum();
                column.iter_mut().zip(other).for_each(|(x, y)| *x -= along * y);
            }
        }
        let norm = column.iter().map(|x| x * x).sum::<f64>().sqrt();
        columns.push(column.iter().map(|x| x / norm).collect());
    }
    columns.concat()
}
