//! The map's numbers for each value of the codebook, precomputed.

use crate::expansion::{AdditiveMap, CodedRows, Entries, Entry, on_entries};

/// Table rows are padded to this number of entries: vectors load 4 or 16 at once.
const NARROW_STRIDE: usize = 4;
const WIDE_STRIDE: usize = 16;

/// read(x) and write(x) for each value x of the codebook, `stride` numbers each, padded with 0 beyond m.
#[derive(Clone, Debug)]
pub(super) struct Tables {
    stride: usize,
    read: Vec<f32>,
    /// Empty if the map is symmetric, so that both are the same.
    write: Vec<f32>,
    /// K̂(x, x) of each value.
    diagonal: Vec<f64>,
    /// K(x, x) of each value; empty if the map is symmetric.
    exact: Vec<f64>,
}

impl Tables {
    /// The tables of a book's values.
    pub fn new(map: &AdditiveMap, book: &[f32]) -> Self {
        let m = map.n_nodes();
        let stride = if m <= NARROW_STRIDE { NARROW_STRIDE } else { WIDE_STRIDE };
        let mut read = vec![0.0; book.len() * stride];
        let mut write = vec![0.0; if map.is_symmetric() { 0 } else { read.len() }];
        let mut per_value = Vec::with_capacity(book.len());
        let mut exact = Vec::new();
        let (mut side_r, mut side_w) = ([0.0; WIDE_STRIDE], [0.0; WIDE_STRIDE]);
        for (code, &x) in book.iter().enumerate() {
            map.read(x.into(), &mut side_r);
            copy(&side_r[..m], &mut read[code * stride..]);
            if map.is_symmetric() {
                side_w = side_r;
            } else {
                map.write(x.into(), &mut side_w);
                exact.push(map.diagonal(x.into()));
                copy(&side_w[..m], &mut write[code * stride..]);
            }
            per_value.push(side_r[..m].iter().zip(&side_w).map(|(r, w)| r * w).sum::<f64>());
        }
        Tables { stride, read, write, diagonal: per_value, exact }
    }

    /// Q_ii: the larger of K(x_i, x_i) and K̂(x_i, x_i), one per row. If K̂ is not symmetric, the paper's step 1 /
    /// K(x_i, x_i) diverges once K̂_ii is more than twice K_ii; with the larger of both a single coordinate does not.
    pub fn diagonal(&self, rows: &CodedRows) -> Vec<f32> {
        // The Nyström map is at most the kernel, and its own diagonal is the exact curvature of its problem.
        let tables = if self.exact.is_empty() { &[&self.diagonal][..] } else { &[&self.diagonal, &self.exact] };
        on_entries!(rows.entries(), entries => {
            let sums = rows.indptr().windows(2).map(|bounds| {
                let row = &entries[bounds[0]..bounds[1]];
                let sum = |table: &&Vec<f64>| row.iter().fold(0.0, |sum, entry| sum + table[entry.code()]);
                tables.iter().map(sum).fold(0.0, f64::max) as f32
            });
            sums.collect()
        })
    }

    /// Whether a value has up to 16 numbers, not 4.
    pub fn is_wide(&self) -> bool {
        self.stride == WIDE_STRIDE
    }

    pub fn read(&self) -> &[f32] {
        &self.read
    }

    pub fn write(&self) -> &[f32] {
        if self.write.is_empty() { &self.read } else { &self.write }
    }
}

fn copy(from: &[f64], to: &mut [f32]) {
    to.iter_mut().zip(from).for_each(|(to, &from)| *to = from as f32);
}
