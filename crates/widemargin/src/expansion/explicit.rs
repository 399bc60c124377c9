//! Explicit φ(x): the coordinates of coded rows, for solvers that need them.

use super::{AdditiveMap, CodedRows, Entries, Entry, on_entries};
use crate::data::{CsrMatrix, Rows, Vectors};
use crate::error::Result;

/// Bytes that [`explicit`] takes for these rows: 8 per coordinate.
pub fn explicit_bytes(rows: &CodedRows, map: &AdditiveMap) -> usize {
    rows.n_nonzero().saturating_mul(map.n_nodes()).saturating_mul(size_of::<f32>() + size_of::<u32>())
}

/// φ of the rows, rows × (features · nodes): column `feature * n_nodes + node` holds v(x)_node.
///
/// Intended for symmetric maps, for which φ(x)·φ(y) is the reduced kernel; for others this is the `write` side.
pub fn explicit(rows: &CodedRows, map: &AdditiveMap) -> CsrMatrix<f32> {
    let m = map.n_nodes();
    let mut table = vec![0.0; rows.book().len() * m];
    let mut values = vec![0.0; m];
    for (out, &x) in table.chunks_exact_mut(m).zip(rows.book()) {
        map.write(x.into(), &mut values);
        out.iter_mut().zip(&values).for_each(|(out, value)| *out = *value as f32);
    }
    on_entries!(rows.entries(), entries => spread(rows, entries, &table, m))
}

/// φ of these rows of samples, each value first multiplied by its feature's factor, in the smaller of two forms: dense,
/// 4 bytes per coordinate, if at least half of the coordinates are non-zero, otherwise sparse with 8 bytes each.
///
/// # Errors
/// As for [`CodedRows::new`] and [`Vectors::dense`].
pub fn explicit_block(
    samples: &impl Rows,
    rows: &[usize],
    factors: Option<&[f64]>,
    map: &AdditiveMap,
) -> Result<Vectors> {
    let coded = CodedRows::new(samples, rows, &vec![1.0; rows.len()], factors)?;
    let sparse = explicit(&coded, map);
    let is_sparse = 2 * sparse.values.len() < rows.len().saturating_mul(sparse.n_cols);
    let phi = Vectors::Sparse(sparse);
    if is_sparse { Ok(phi) } else { phi.into_dense().map(Vectors::Dense) }
}

fn spread<E: Entry>(rows: &CodedRows, entries: &[E], table: &[f32], m: usize) -> CsrMatrix<f32> {
    let mut out = CsrMatrix {
        indptr: rows.indptr().iter().map(|at| at * m).collect(),
        indices: Vec::with_capacity(entries.len() * m),
        values: Vec::with_capacity(entries.len() * m),
        n_cols: rows.n_features() * m,
    };
    for entry in entries {
        let column = entry.feature() * m;
        out.indices.extend((column..column + m).map(|column| column as u32));
        out.values.extend_from_slice(&table[entry.code() * m..][..m]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::DenseView;
    use crate::similarity::AdditiveKernel;

    #[test]
    fn products_of_rows_are_the_reduced_kernel() {
        let values = [0.5, 0.0, 0.25, 0.1, 0.9, 0.3];
        let samples = DenseView::new(&values, 2, 3).unwrap();
        let rows = CodedRows::new(&samples, &[0, 1], &[1.0; 2], None).unwrap();
        let map = AdditiveMap::nystroem(AdditiveKernel::Chi2, &[0.1, 0.5]).unwrap();
        let phi = explicit(&rows, &map);
        assert_eq!(phi.values.len() * 8, explicit_bytes(&rows, &map));
        let view = phi.view().unwrap();
        let mut dense = [[0.0; 6]; 2];
        for (row, dense) in dense.iter_mut().enumerate() {
            view.for_each_nonzero(row, |column, value| dense[column] = value);
        }
        let dot: f64 = dense[0].iter().zip(&dense[1]).map(|(a, b)| a * b).sum();
        let kernel = map.value(0.5, 0.1) + map.value(0.25, 0.3);
        assert!((dot - kernel).abs() < 1e-6, "{dot} {kernel}");
        // Five of six values are not 0: the block is dense, and has the same numbers.
        let Vectors::Dense(block) = explicit_block(&samples, &[0, 1], None, &map).unwrap() else { panic!("sparse") };
        let same = block.values.iter().zip(dense.concat()).all(|(a, b)| f64::from(*a) == b);
        assert!(same && (block.n_rows, block.n_cols) == (2, 6));
        let few = DenseView::new(&[0.0, 0.0, 0.7], 1, 3).unwrap();
        assert!(matches!(explicit_block(&few, &[0], Some(&[1.0; 3]), &map), Ok(Vectors::Sparse(_))));
    }
}
