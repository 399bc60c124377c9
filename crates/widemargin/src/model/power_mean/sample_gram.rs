//! An additive kernel between some samples, exact or reduced.
//!
//! Features are visited one by one: the kernel is computed between a feature's distinct values, u² numbers, and added
//! up for all pairs of the m samples that have the feature, m²/2 additions. Memory is that of the samples' non-zeros
//! and of the matrix, independent of the number of features.

use crate::expansion::{AdditiveMap, CodedRows, Entries, Entry, MAX_NODES, on_entries};
use crate::linalg::factor::Matrix;
use crate::similarity::AdditiveKernel;

/// The terms that are summed over features.
#[derive(Clone, Copy)]
pub(super) enum Scalar<'a> {
    Exact(AdditiveKernel),
    /// A symmetric map.
    Reduced(&'a AdditiveMap),
}

/// The samples' values, feature by feature.
pub(super) struct Columns {
    n_rows: usize,
    columns: Vec<Column>,
    /// All distinct values, and how many non-zeros have each, weighted.
    pub values: Vec<f32>,
    pub counts: Vec<f64>,
}

/// The non-zeros of one feature.
struct Column {
    /// Distinct, ascending.
    values: Vec<f64>,
    /// Ascending rows, each with its place in `values`.
    entries: Vec<(u32, u32)>,
}

impl Columns {
    /// The columns of some of the rows, which have these weights.
    pub fn new(rows: &CodedRows, some: &[usize], weights: &[f64]) -> Self {
        on_entries!(rows.entries(), entries => Columns::of(rows, entries, some, weights))
    }

    fn of<E: Entry>(rows: &CodedRows, entries: &[E], some: &[usize], weights: &[f64]) -> Self {
        let mut found: Vec<(usize, u32, f32)> = Vec::new();
        let mut pairs: Vec<(f32, f64)> = Vec::new();
        for (at, (&row, &weight)) in some.iter().zip(weights).enumerate() {
            for entry in &entries[rows.indptr()[row]..rows.indptr()[row + 1]] {
                let value = rows.book()[entry.code()];
                found.push((entry.feature(), at as u32, value));
                pairs.push((value, weight));
            }
        }
        found.sort_unstable_by_key(|(feature, row, _)| (*feature, *row));
        let columns = found.chunk_by(|a, b| a.0 == b.0).map(Column::new).collect();
        // Sums of equal weights in any order are equal; others are sorted with their values.
        pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let groups = pairs.chunk_by(|a, b| a.0 == b.0);
        let (values, counts) =
            groups.map(|group| (group[0].0, group.iter().map(|(_, weight)| weight).sum::<f64>())).unzip();
        Columns { n_rows: some.len(), columns, values, counts }
    }

    /// The weighted sum of all values.
    pub fn total(&self) -> f64 {
        self.values.iter().zip(&self.counts).map(|(&value, count)| f64::from(value) * count).sum()
    }

    /// Whether no sample has anything.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// The kernel between all pairs of samples.
    pub fn gram(&self, scalar: Scalar<'_>) -> Matrix {
        let n = self.n_rows;
        let mut gram = Matrix::zeros(n, n);
        let mut table = Vec::new();
        for column in &self.columns {
            let u = column.values.len();
            table.resize(u * u, 0.0);
            fill(scalar, &column.values, &mut table);
            for (at, &(row, place)) in column.entries.iter().enumerate() {
                let (to, from) = (gram.col_mut(row as usize), &table[place as usize * u..][..u]);
                for &(other, place) in &column.entries[at..] {
                    to[other as usize] += from[place as usize];
                }
            }
        }
        gram.mirror_lower();
        gram
    }
}

impl Column {
    fn new(found: &[(usize, u32, f32)]) -> Self {
        let mut values: Vec<f32> = found.iter().map(|(_, _, value)| *value).collect();
        values.sort_unstable_by(f32::total_cmp);
        values.dedup();
        let place = |value: f32| values.partition_point(|other| *other < value) as u32;
        let entries = found.iter().map(|&(_, row, value)| (row, place(value))).collect();
        Column { entries, values: values.into_iter().map(f64::from).collect() }
    }
}

/// The kernel between ascending values, row-major.
fn fill(scalar: Scalar<'_>, values: &[f64], table: &mut [f64]) {
    let u = values.len();
    match scalar {
        Scalar::Exact(kernel) => {
            for (at, &large) in values.iter().enumerate() {
                means(kernel, large, &values[..=at], &mut table[at * u..=at * u + at]);
            }
        }
        Scalar::Reduced(map) => {
            let m = map.n_nodes();
            let mut rows = vec![0.0; u * MAX_NODES];
            values.iter().zip(rows.chunks_exact_mut(MAX_NODES)).for_each(|(&value, row)| map.read(value, row));
            for at in 0..u {
                let row = &rows[at * MAX_NODES..][..m];
                for (other, value) in table[at * u..=at * u + at].iter_mut().enumerate() {
                    *value = rows[other * MAX_NODES..][..m].iter().zip(row).map(|(a, b)| a * b).sum();
                }
            }
        }
    }
    for at in 0..u {
        for other in 0..at {
            table[other * u + at] = table[at * u + other];
        }
    }
}

/// k(x, y) of values x that are at most y, by formulas without logarithms where there are some: for q = −p,
/// M_p(x, y) = x (2 / (1 + (x/y)^q))^(1/q).
fn means(kernel: AdditiveKernel, large: f64, smalls: &[f64], out: &mut [f64]) {
    let by_ratio = |out: &mut [f64], of_ratio: fn(f64) -> f64| {
        out.iter_mut().zip(smalls).for_each(|(out, small)| *out = small * of_ratio(small / large));
    };
    match kernel.p() {
        Some(f64::NEG_INFINITY) => out.copy_from_slice(smalls),
        Some(-0.5) => by_ratio(out, |t| (2.0 / (1.0 + t.sqrt())).powi(2)),
        Some(-1.0) => by_ratio(out, |t| 2.0 / (1.0 + t)),
        Some(-2.0) => by_ratio(out, |t| (2.0 / (1.0 + t * t)).sqrt()),
        Some(-4.0) => by_ratio(out, |t| (2.0 / (1.0 + t.powi(4))).sqrt().sqrt()),
        Some(-8.0) => by_ratio(out, |t| (2.0 / (1.0 + t.powi(8))).sqrt().sqrt().sqrt()),
        _ => out.iter_mut().zip(smalls).for_each(|(out, &small)| *out = kernel.value(small, large)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::DenseView;

    fn samples() -> (Vec<f64>, usize, usize) {
        let (n, d) = (9, 5);
        let value = |at: usize| if at % 3 == 1 { 0.0 } else { (at * 29 % 31) as f64 / 31.0 };
        ((0..n * d).map(value).collect(), n, d)
    }

    #[test]
    fn equals_plain_sums_over_features() {
        let (values, n, d) = samples();
        let view = DenseView::new(&values, n, d).unwrap();
        let all: Vec<usize> = (0..n).collect();
        let rows = CodedRows::new(&view, &all, &vec![1.0; n], None).unwrap();
        let some = [0, 2, 3, 7, 8];
        let columns = Columns::new(&rows, &some, &[1.0; 5]);
        let p = |p| AdditiveKernel::power_mean(p).unwrap();
        let mut kernels = vec![AdditiveKernel::JensenShannon, AdditiveKernel::Intersection, p(-3.0)];
        kernels.extend([-8.0, -4.0, -2.0, -1.0, -0.5, 0.0].map(p));
        for kernel in kernels {
            let map = AdditiveMap::nystroem(kernel, &[0.1, 0.4, 1.0]).unwrap();
            let (exact, reduced) = (columns.gram(Scalar::Exact(kernel)), columns.gram(Scalar::Reduced(&map)));
            for a in 0..some.len() {
                for b in 0..some.len() {
                    let pair = |j: usize| {
                        let [x, y] = [some[a], some[b]].map(|row| f64::from(values[row * d + j] as f32));
                        (kernel.value(x, y), map.value(x, y))
                    };
                    let (truth, approximate) =
                        (0..d).map(pair).fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
                    assert!((exact.at(a, b) - truth).abs() < 1e-12, "{kernel} {a} {b}");
                    assert!((reduced.at(a, b) - approximate).abs() < 1e-12, "{kernel} {a} {b}");
                }
            }
        }
    }

    #[test]
    fn values_are_counted_by_weight() {
        let view = DenseView::new(&[0.5, 1.0, 1.0, 0.0, 1.0, 0.25], 3, 2).unwrap();
        let rows = CodedRows::new(&view, &[0, 1, 2], &[1.0; 3], None).unwrap();
        let columns = Columns::new(&rows, &[0, 2], &[1.0, 3.0]);
        assert_eq!((columns.values, columns.counts), (vec![0.25, 0.5, 1.0], vec![3.0, 1.0, 4.0]));
    }
}
