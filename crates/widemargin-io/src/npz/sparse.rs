//! SciPy's sparse matrices as rows with ascending columns.

use std::fmt::Display;
use std::ops::AddAssign;

use widemargin::data::{CsrMatrix, Element};

use super::archive::{Archive, check_length, in_array, wrong_shape};
use crate::error::{Failure, Problem, excerpt};
use crate::npy::{Values, not_finite};
use crate::table::{Samples, sort_rows};

/// Archives with more rows than this per stored value, plus a million, are rejected.
const MAX_ROWS_PER_VALUE: usize = 16;

/// The arrays of `scipy.sparse.save_npz` in all formats.
pub(super) const SPARSE: [&str; 9] =
    ["format", "shape", "data", "indptr", "indices", "row", "col", "coords", "_is_array"];

/// The sizes that this system can count.
const AT_LEAST_0: &str = "at least 0";

/// Where the values of a sparse matrix are: the start of each row, the column of each value, and the position of each
/// value in the file if they are not in the order of the rows there.
type Places = (Vec<usize>, Vec<u32>, Option<Vec<usize>>);

/// A matrix as `scipy.sparse.save_npz` writes it.
pub(crate) fn read_sparse(archive: &mut Archive) -> Result<Samples, Failure> {
    let format = archive.read("format", |array| array.texts())?.concat();
    let shape = archive.read("shape", |array| array.ints::<usize>(AT_LEAST_0))?;
    let [n_rows, n_cols] = shape[..] else {
        return Err(in_array("shape", wrong_shape(format!("({},)", shape.len()), "(2,)")));
    };
    if n_rows == 0 || n_cols == 0 || n_cols > u32::MAX as usize || n_rows > u32::MAX as usize {
        return Err(other_shape(n_rows, n_cols, format!("1 to {} samples and features", u32::MAX)));
    }
    let places = match format.as_str() {
        "csr" => {
            let (starts, columns) = read_compressed(archive, n_rows, n_cols)?;
            (starts, columns, None)
        }
        "csc" => {
            let (starts, rows) = read_compressed(archive, n_cols, n_rows)?;
            let of_column = |column: usize| std::iter::repeat_n(column as u32, starts[column + 1] - starts[column]);
            by_rows(&rows, &(0..n_cols).flat_map(of_column).collect::<Vec<_>>(), n_rows, n_cols)?
        }
        "coo" => {
            let rows = read_indices(archive, "row", n_rows)?;
            by_rows(&rows, &read_indices(archive, "col", n_cols)?, n_rows, n_cols)?
        }
        other => {
            let text = format!("sparse format '{}' is not read, expected csr, csc or coo", excerpt(other));
            return Err(Problem::new(text).help("convert the matrix with .tocsr() before saving it").into());
        }
    };
    match archive.read("data", |array| array.vector())? {
        Values::F32(values) => matrix(places, values, n_cols).map(Samples::SparseF32),
        Values::F64(values) => matrix(places, values, n_cols).map(Samples::SparseF64),
    }
}

fn other_shape(n_rows: usize, n_cols: usize, expected: String) -> Failure {
    in_array("shape", wrong_shape(format!("({n_rows}, {n_cols}) for the matrix"), expected))
}

/// The starts of the `n` rows or columns, and the indices in them, which are below `n_indices`.
fn read_compressed(archive: &mut Archive, n: usize, n_indices: usize) -> Result<(Vec<usize>, Vec<u32>), Failure> {
    let starts = archive.read("indptr", |array| array.ints::<usize>(AT_LEAST_0))?;
    check_length("indptr", starts.len(), n + 1, "a row or column and one more")?;
    let indices = read_indices(archive, "indices", n_indices)?;
    let wrong = |position: usize, expected: String| Err(out_of_range("indptr", &starts, position, &expected));
    if starts[0] != 0 {
        return wrong(0, "0".into());
    }
    if let Some(fall) = starts.windows(2).position(|pair| pair[0] > pair[1]) {
        return wrong(fall + 1, format!("at least {}", starts[fall]));
    }
    if starts[n] != indices.len() {
        return wrong(n, format!("{}, the number of stored values", indices.len()));
    }
    Ok((starts, indices))
}

fn read_indices(archive: &mut Archive, name: &str, n: usize) -> Result<Vec<u32>, Failure> {
    let indices = archive.read(name, |array| array.ints::<u32>("0 to 4294967295"))?;
    match indices.iter().position(|index| *index as usize >= n) {
        None => Ok(indices),
        Some(at) => Err(out_of_range(name, &indices, at, &format!("0 to {}", n - 1))),
    }
}

fn out_of_range<T: Display>(name: &str, numbers: &[T], at: usize, expected: &str) -> Failure {
    in_array(name, format!("{} at position {at}, expected {expected}", numbers[at]))
}

/// The places of values whose rows and columns are in any order.
fn by_rows(rows: &[u32], columns: &[u32], n_rows: usize, n_cols: usize) -> Result<Places, Failure> {
    if n_rows > columns.len().saturating_mul(MAX_ROWS_PER_VALUE).saturating_add(1 << 20) {
        return Err(other_shape(n_rows, n_cols, format!("fewer rows for {} stored values", columns.len())));
    }
    check_length("row", rows.len(), columns.len(), "a column index")?;
    let mut starts = vec![0usize; n_rows + 1];
    rows.iter().for_each(|&row| starts[row as usize + 1] += 1);
    for row in 0..n_rows {
        starts[row + 1] += starts[row];
    }
    let (mut next, mut order) = (starts.clone(), vec![0; rows.len()]);
    for (at, &row) in rows.iter().enumerate() {
        order[next[row as usize]] = at;
        next[row as usize] += 1;
    }
    Ok((starts, order.iter().map(|&at| columns[at]).collect(), Some(order)))
}

fn matrix<T: Element + AddAssign>(places: Places, values: Vec<T>, n_cols: usize) -> Result<CsrMatrix<T>, Failure> {
    let (starts, columns, order) = places;
    check_length("data", values.len(), columns.len(), "an index")?;
    let values = match order {
        Some(order) => order.into_iter().map(|at| values[at]).collect(),
        None => values,
    };
    let mut matrix = CsrMatrix { indptr: starts, indices: columns, values, n_cols };
    sort_rows(&mut matrix);
    let is_bad = |value: &T| !Into::<f64>::into(*value).is_finite();
    let Some(at) = matrix.values.iter().position(is_bad) else { return Ok(matrix) };
    let row = matrix.indptr.partition_point(|start| *start <= at) - 1;
    Err(in_array("data", not_finite(row, matrix.indices[at] as usize, matrix.values[at].into())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_and_duplicates_summed() {
        let (indices, values) = (vec![2, 0, 2, 1, 1, 1], vec![1.0, 2.0, 4.0, 1.0, 1.0, 1.0]);
        let mut matrix = CsrMatrix { indptr: vec![0, 3, 3, 6], indices, values, n_cols: 3 };
        sort_rows(&mut matrix);
        let expected =
            CsrMatrix { indptr: vec![0, 2, 2, 3], indices: vec![0, 2, 1], values: vec![2.0, 5.0, 3.0], n_cols: 3 };
        assert_eq!(matrix, expected);
        let places = by_rows(&[2, 0, 0, 2, 0, 2], &[1, 2, 0, 1, 2, 1], 3, 3).unwrap();
        let triplets = super::matrix(places, vec![1.0, 1.0, 2.0, 1.0, 4.0, 1.0], 3).unwrap();
        assert_eq!(triplets, expected);
    }
}
