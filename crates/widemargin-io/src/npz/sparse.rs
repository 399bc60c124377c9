//! Converts SciPy's sparse matrices to rows with ascending columns.

use widemargin::data::{CsrMatrix, Element};

/// Compressed rows (or, of a transposed matrix, columns) in any order; `starts` must have been checked.
pub(crate) fn from_compressed<T: Element + std::ops::AddAssign>(
    starts: Vec<usize>,
    mut indices: Vec<u32>,
    mut values: Vec<T>,
    n_cols: usize,
) -> CsrMatrix<T> {
    let ascends = |row: &[usize]| indices[row[0]..row[1]].windows(2).all(|pair| pair[0] < pair[1]);
    if starts.windows(2).all(ascends) {
        return CsrMatrix { indptr: starts, indices, values, n_cols };
    }
    let mut indptr = Vec::with_capacity(starts.len());
    indptr.push(0);
    let mut row = Vec::new();
    let mut end = 0;
    for range in starts.windows(2).map(|pair| pair[0]..pair[1]) {
        row.clear();
        row.extend(indices[range.clone()].iter().copied().zip(values[range].iter().copied()));
        // Stable, so that equal columns are summed in file order.
        row.sort_by_key(|(column, _)| *column);
        let start = end;
        for &(column, value) in &row {
            // Never beyond what has been read: a row gets shorter, or stays the same.
            if end > start && indices[end - 1] == column {
                values[end - 1] += value;
            } else {
                (indices[end], values[end]) = (column, value);
                end += 1;
            }
        }
        indptr.push(end);
    }
    indices.truncate(end);
    values.truncate(end);
    CsrMatrix { indptr, indices, values, n_cols }
}

/// Triplets of row, column and value in any order; rows must be below `n_rows`.
pub(crate) fn from_triplets<T: Element + std::ops::AddAssign + Default>(
    rows: &[u32],
    columns: &[u32],
    values: &[T],
    n_rows: usize,
    n_cols: usize,
) -> CsrMatrix<T> {
    let mut next = vec![0usize; n_rows + 1];
    for &row in rows {
        next[row as usize + 1] += 1;
    }
    for row in 0..n_rows {
        next[row + 1] += next[row];
    }
    let starts = next.clone();
    let mut placed_columns = vec![0; columns.len()];
    let mut placed_values = vec![T::default(); values.len()];
    for ((&row, &column), &value) in rows.iter().zip(columns).zip(values) {
        let at = &mut next[row as usize];
        placed_columns[*at] = column;
        placed_values[*at] = value;
        *at += 1;
    }
    from_compressed(starts, placed_columns, placed_values, n_cols)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_and_duplicates_summed() {
        let matrix = from_compressed(vec![0, 3, 3, 6], vec![2, 0, 2, 1, 1, 1], vec![1.0, 2.0, 4.0, 1.0, 1.0, 1.0], 3);
        let expected =
            CsrMatrix { indptr: vec![0, 2, 2, 3], indices: vec![0, 2, 1], values: vec![2.0, 5.0, 3.0], n_cols: 3 };
        assert_eq!(matrix, expected);
        let triplets = from_triplets(&[2, 0, 0, 2, 0, 2], &[1, 2, 0, 1, 2, 1], &[1.0, 1.0, 2.0, 1.0, 4.0, 1.0], 3, 3);
        assert_eq!(triplets, expected);
    }
}
