//! φ(x) written out: the coordinates of coded rows, for solvers that want them.

use super::{AdditiveMap, CodedRows, Entries, Entry};
use crate::data::CsrMatrix;

/// Bytes that [`explicit`] takes for these rows: 8 a coordinate.
pub fn explicit_bytes(rows: &CodedRows, map: &AdditiveMap) -> usize {
    rows.n_nonzero().saturating_mul(map.n_nodes()).saturating_mul(size_of::<f32>() + size_of::<u32>())
}

/// The rows of φ, rows × (features · nodes): column `feature * n_nodes + node` holds v(x)_node.
///
/// Meant for symmetric maps, whose φ(x)·φ(y) is the reduced kernel; of others it is the writing side.
pub fn explicit(rows: &CodedRows, map: &AdditiveMap) -> CsrMatrix<f32> {
    let m = map.n_nodes();
    let mut table = vec![0.0; rows.book().len() * m];
    let mut values = vec![0.0; m];
    for (out, &x) in table.chunks_exact_mut(m).zip(rows.book()) {
        map.write(x.into(), &mut values);
        out.iter_mut().zip(&values).for_each(|(out, value)| *out = *value as f32);
    }
    match rows.entries() {
        Entries::Narrow(entries) => spread(rows, entries, &table, m),
        Entries::Wide(entries) => spread(rows, entries, &table, m),
    }
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
    use crate::data::{DenseView, Rows};
    use crate::similarity::AdditiveKernel;

    #[test]
    fn products_of_rows_are_the_reduced_kernel() {
        let values = [0.5, 0.0, 0.25, 0.1, 0.9, 0.3];
        let samples = DenseView::new(&values, 2, 3).unwrap();
        let rows = CodedRows::new(&samples, &[0, 1], &[1.0; 2], None).unwrap();
        let map = AdditiveMap::nystrom(AdditiveKernel::Chi2, &[0.1, 0.5]).unwrap();
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
    }
}
