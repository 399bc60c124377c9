//! Kernels of strings with themselves divided out: cosines, of how often strings have each of their terms.

use std::hash::Hash;

use rustc_hash::FxHashMap;

/// An inverted index of the terms of bases: a sample visits only the bases that share a term with it. Sums are of
/// integers, so that their order does not matter.
pub(super) struct TermIndex<K> {
    /// The bases that have a term, and how often.
    bases: FxHashMap<K, Vec<(u32, u32)>>,
    /// The sum of the squared counts of each basis.
    squares: Vec<u64>,
}

/// The count of each term, and the sum of the squared counts.
pub(super) fn counts<K: Eq + Hash>(terms: impl Iterator<Item = K>) -> (FxHashMap<K, u32>, u64) {
    let mut counts: FxHashMap<K, u32> = FxHashMap::default();
    terms.for_each(|term| *counts.entry(term).or_default() += 1);
    let squares = counts.values().map(|&count| u64::from(count).pow(2)).sum();
    (counts, squares)
}

impl<K: Eq + Hash> TermIndex<K> {
    /// The index of bases, each a list of its terms with repeats: at least one.
    pub fn new(all: impl Iterator<Item = impl Iterator<Item = K>>) -> Self {
        let (mut bases, mut squares): (FxHashMap<K, Vec<(u32, u32)>>, _) = (FxHashMap::default(), Vec::new());
        for (number, terms) in all.enumerate() {
            let (counts, sum) = counts(terms);
            counts.into_iter().for_each(|(term, count)| bases.entry(term).or_default().push((number as u32, count)));
            squares.push(sum);
        }
        TermIndex { bases, squares }
    }

    /// Fills a block, samples × bases, with Σ c_t(x) c_t(y) / √(Σ c_t(x)² Σ c_t(y)²).
    pub fn cosines(&self, samples: impl Iterator<Item = impl Iterator<Item = K>>, block: &mut [f32]) {
        let mut products = vec![0u64; self.squares.len()];
        for (terms, row) in samples.zip(block.chunks_mut(self.squares.len().max(1))) {
            let (counts, sum) = counts(terms);
            products.fill(0);
            for (term, count) in counts {
                for &(basis, of_basis) in self.bases.get(&term).into_iter().flatten() {
                    products[basis as usize] += u64::from(count) * u64::from(of_basis);
                }
            }
            for ((value, &product), &squares) in row.iter_mut().zip(&products).zip(&self.squares) {
                *value = (product as f64 / (sum as f64 * squares as f64).sqrt()) as f32;
            }
        }
    }
}

/// Fills a block, samples × bases, with K(x, y) / √(K(x, x) K(y, y)); strings with themselves at 0 are like their equals
/// alone.
pub(super) fn cosines(
    bases: &[Vec<u32>],
    samples: &[Vec<u32>],
    block: &mut [f32],
    mut kernel: impl FnMut(&[u32], &[u32]) -> f64,
) {
    let of_bases: Vec<f64> = bases.iter().map(|basis| kernel(basis, basis)).collect();
    for (sample, row) in samples.iter().zip(block.chunks_mut(bases.len().max(1))) {
        let of_sample = kernel(sample, sample);
        for ((value, basis), of_basis) in row.iter_mut().zip(bases).zip(&of_bases) {
            let size = (of_sample * of_basis).sqrt();
            *value = match size > 0.0 {
                true => (kernel(sample, basis) / size) as f32,
                false => f32::from(sample == basis),
            };
        }
    }
}

/// The mean number of cells of a table of two strings, as long as the bases.
pub(super) fn cells_per_pair(bases: &[String]) -> f64 {
    let cells: f64 = bases.iter().map(|base| (base.len() as f64).powi(2)).sum();
    cells / bases.len().max(1) as f64
}
