//! Samples with labels and names, as read from a file.

use std::borrow::Cow;
use std::ops::AddAssign;
use std::path::{Path, PathBuf};

use widemargin::data::{
    AnySamples, ColumnRoles, CsrMatrix, DenseMatrix, Element, Labels, Notation, Samples as _, SamplesView,
    TableColumns, column_order,
};

use crate::error::{Problem, Result, list};
use crate::indicators::Indicators;

/// Samples and the metadata of their file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The samples.
    pub samples: Samples,
    /// One label per sample, if the file has labels.
    pub labels: Option<Labels>,
    /// The indicators of multilabel samples; `labels` is then empty.
    pub indicators: Option<Indicators>,
    /// The name in messages of the column of the labels, if they were in one.
    pub label_column: Option<String>,
    /// One name per feature, if the file has names.
    pub feature_names: Option<Vec<String>>,
    /// Which columns of a CSV or TSV file are not features.
    pub roles: Option<ColumnRoles>,
    /// How the file writes numbers and indices.
    pub notation: Notation,
    /// How the columns became features, if they are more than numbers.
    pub columns: Option<TableColumns>,
    /// The name of each sample, if requested.
    pub ids: Option<Vec<String>>,
    /// The weight of each sample, if requested.
    pub weights: Option<Vec<f64>>,
    /// The group of each sample, if requested.
    pub groups: Option<Labels>,
    /// What the user should know of cells: a line for each category that did not occur in training, with its first
    /// place.
    pub remarks: Vec<String>,
    /// The line of each row, if the file has lines.
    pub lines: Option<RowLines>,
    /// The file of each sample, if each is in its own.
    pub files: Option<Vec<String>>,
    /// The file of each row, if several files are read as one.
    pub shards: Option<RowShards>,
}

impl Table {
    /// A table of samples and labels that do not come from a file.
    pub fn new(samples: Samples, labels: Option<Labels>) -> Table {
        Table { samples, labels, ..Table::default() }
    }

    /// Reorders the features to the order of the names `trained`. Samples without names are not changed.
    ///
    /// # Errors
    /// [`widemargin::Error::FeatureNames`] as for [`column_order`].
    pub fn put_in_order(&mut self, trained: &[String]) -> widemargin::Result<()> {
        let Some(names) = &mut self.feature_names else { return Ok(()) };
        if let Some(order) = column_order(trained, names)? {
            self.samples.put_in_order(&order);
            *names = trained.to_vec();
        }
        Ok(())
    }

    /// Bytes of the names of samples and features, and of indicators.
    pub(crate) fn name_bytes(&self) -> u64 {
        let names = self.ids.iter().chain(&self.feature_names).flatten();
        let of_names: usize = names.map(|name| size_of::<String>() + name.len()).sum();
        let of_indicators = self.indicators.as_ref().map_or(0, |indicators| size_of_val(&indicators.values[..]));
        (of_names + of_indicators) as u64
    }

    /// The labels to train with: one per sample, or multilabel.
    ///
    /// # Errors
    /// [`IoError::Input`](crate::IoError::Input) for no labels; [`widemargin::Error::Parameter`] for a repeated name of a label.
    pub fn any_labels(&self, file: &Path) -> Result<Cow<'_, Labels>> {
        match &self.indicators {
            Some(indicators) => Ok(Cow::Owned(indicators.labels()?)),
            None => self.require_labels(file).map(Cow::Borrowed),
        }
    }

    /// The line number, from 1, of row `row`, from 0.
    pub fn line(&self, row: usize) -> Option<usize> {
        Some(self.lines.as_ref()?.get(row)?.1)
    }

    /// The name of sample `row`, from 0, in messages: its line, its file, or its number, preceded by its shard.
    pub fn place(&self, row: usize) -> String {
        let shard = self.shards.as_ref().and_then(|shards| shards.get(row));
        let line = self.line(row).map(|line| format!("line {line}"));
        let file = || self.files.as_ref().and_then(|files| files.get(row)).cloned();
        let number = || format!("sample {}", shard.map_or(row, |(_, row)| row) + 1);
        let place = line.or_else(file).unwrap_or_else(number);
        match shard.and_then(|(file, _)| file.file_name()) {
            Some(name) => format!("{}, {place}", name.to_string_lossy()),
            None => place,
        }
    }

    /// The labels, for tasks that need them; `file` is named in the error.
    ///
    /// # Errors
    /// [`IoError::Input`](crate::IoError::Input) for no labels, and for multilabel samples.
    pub fn require_labels(&self, file: &Path) -> Result<&Labels> {
        if self.indicators.is_some() {
            return Err(Problem::multilabel().of(file));
        }
        self.labels.as_ref().ok_or_else(|| {
            let names = self.columns.as_ref().map_or_else(|| self.feature_names.clone(), TableColumns::names);
            let help = match names {
                Some(names) => format!("name the label column with --label: {}", list(&names)),
                None => "pass a file that has the label of each sample with --label-file".to_owned(),
            };
            Problem::new("no labels").help(help).of(file)
        })
    }
}

/// Samples: vectors, sparse or dense, in single or double precision, or of another kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Samples {
    /// Sparse rows in single precision.
    SparseF32(CsrMatrix<f32>),
    /// Sparse rows in double precision.
    SparseF64(CsrMatrix<f64>),
    /// Dense rows in single precision.
    DenseF32(DenseMatrix<f32>),
    /// Dense rows in double precision.
    DenseF64(DenseMatrix<f64>),
    /// Strings, series or images.
    Other(AnySamples),
}

/// Evaluates an expression on the matrix of vectors, whatever its form, or another on other samples.
macro_rules! on_matrix {
    ($samples:expr, $matrix:ident => $body:expr, $other:ident => $otherwise:expr) => {
        match $samples {
            Samples::SparseF32($matrix) => $body,
            Samples::SparseF64($matrix) => $body,
            Samples::DenseF32($matrix) => $body,
            Samples::DenseF64($matrix) => $body,
            Samples::Other($other) => $otherwise,
        }
    };
}

impl Samples {
    /// Stores sparse rows densely if most of their values are not zero, so that parameters selected for them do not
    /// depend on the format of a file.
    pub(crate) fn store_densely_if_dense(&mut self) {
        fn dense<T: Element + Default>(matrix: &CsrMatrix<T>) -> Option<DenseMatrix<T>> {
            let (n_rows, n_cols) = (matrix.indptr.len().saturating_sub(1), matrix.n_cols);
            if 2 * matrix.values.len() <= n_rows.saturating_mul(n_cols) {
                return None;
            }
            let mut values = vec![T::default(); n_rows * n_cols];
            for (row, ends) in values.chunks_exact_mut(n_cols).zip(matrix.indptr.windows(2)) {
                (ends[0]..ends[1]).for_each(|at| row[matrix.indices[at] as usize] = matrix.values[at]);
            }
            Some(DenseMatrix { values, n_rows, n_cols })
        }
        let found = match &*self {
            Samples::SparseF32(matrix) => dense(matrix).map(Samples::DenseF32),
            Samples::SparseF64(matrix) => dense(matrix).map(Samples::DenseF64),
            _ => None,
        };
        if let Some(found) = found {
            *self = found;
        }
    }

    /// The view that every method of the library takes.
    ///
    /// # Errors
    /// [`widemargin::Error::Shape`] for a matrix made by hand whose parts do not fit each other.
    pub fn view(&self) -> widemargin::Result<SamplesView<'_>> {
        Ok(on_matrix!(self, matrix => matrix.view()?.into(), samples => samples.into()))
    }

    /// Some samples, in the order of `rows`.
    ///
    /// # Errors
    /// As for [`Samples::view`].
    pub fn select(&self, rows: &[usize]) -> widemargin::Result<Samples> {
        self.view()?;
        Ok(on_matrix!(self, matrix => matrix.select(rows).into(), other => Samples::Other(other.select(rows))))
    }

    /// The kind of the samples, as messages name it.
    pub fn kind(&self) -> &'static str {
        on_matrix!(self, _matrix => "vectors", samples => samples.kind())
    }

    /// Number of samples.
    pub fn n_rows(&self) -> usize {
        match self {
            Samples::SparseF32(m) => m.indptr.len().saturating_sub(1),
            Samples::SparseF64(m) => m.indptr.len().saturating_sub(1),
            Samples::DenseF32(m) => m.n_rows,
            Samples::DenseF64(m) => m.n_rows,
            Samples::Other(samples) => samples.len(),
        }
    }

    /// Number of features; 0 if the samples are not vectors.
    pub fn n_cols(&self) -> usize {
        on_matrix!(self, matrix => matrix.n_cols, _other => 0)
    }

    /// Moves column `order[j]` to column j; `order` is a permutation.
    fn put_in_order(&mut self, order: &[usize]) {
        on_matrix!(self, matrix => matrix.put_in_order(order), _other => {});
    }

    /// True if a row lists only its non-zero columns.
    pub fn is_sparse(&self) -> bool {
        matches!(self, Samples::SparseF32(_) | Samples::SparseF64(_))
    }

    /// True where the values are `f32`.
    pub fn is_single(&self) -> bool {
        matches!(self, Samples::SparseF32(_) | Samples::DenseF32(_))
    }
}

impl Default for Samples {
    fn default() -> Self {
        Samples::DenseF32(DenseMatrix::default())
    }
}

/// A matrix whose columns can be reordered.
trait Columns {
    fn put_in_order(&mut self, order: &[usize]);
}

impl<T: Element> Columns for DenseMatrix<T> {
    fn put_in_order(&mut self, order: &[usize]) {
        let mut before = Vec::with_capacity(order.len());
        for row in self.values.chunks_exact_mut(order.len().max(1)) {
            before.clear();
            before.extend_from_slice(row);
            row.iter_mut().zip(order).for_each(|(value, &from)| *value = before[from]);
        }
    }
}

impl<T: Element + AddAssign> Columns for CsrMatrix<T> {
    fn put_in_order(&mut self, order: &[usize]) {
        let mut place = vec![0u32; order.len()];
        order.iter().enumerate().for_each(|(to, &from)| place[from] = to as u32);
        self.indices.iter_mut().for_each(|column| *column = place[*column as usize]);
        sort_rows(self);
    }
}

/// Sorts the columns of each row, and sums the values of equal ones.
pub(crate) fn sort_rows<T: Element + AddAssign>(matrix: &mut CsrMatrix<T>) {
    let CsrMatrix { indptr, indices, values, .. } = matrix;
    let ascends = |row: &[usize]| indices[row[0]..row[1]].windows(2).all(|pair| pair[0] < pair[1]);
    if indptr.windows(2).all(ascends) {
        return;
    }
    let (mut row, mut start, mut end) = (Vec::new(), 0, 0);
    for row_end in indptr.iter_mut().skip(1) {
        let range = std::mem::replace(&mut start, *row_end)..*row_end;
        row.clear();
        row.extend(indices[range.clone()].iter().copied().zip(values[range].iter().copied()));
        // Stable, so that equal columns are summed in file order.
        row.sort_by_key(|(column, _)| *column);
        let first = end;
        for &(column, value) in &row {
            // Never beyond what has been read: a row gets shorter, or stays the same.
            if end > first && indices[end - 1] == column {
                values[end - 1] += value;
            } else {
                (indices[end], values[end]) = (column, value);
                end += 1;
            }
        }
        *row_end = end;
    }
    indices.truncate(end);
    values.truncate(end);
}

macro_rules! from_matrix {
    ($($matrix:ty => $variant:ident),*) => {$(
        impl From<$matrix> for Samples {
            fn from(matrix: $matrix) -> Self {
                Samples::$variant(matrix)
            }
        }
    )*};
}

from_matrix!(CsrMatrix<f32> => SparseF32, CsrMatrix<f64> => SparseF64);
from_matrix!(DenseMatrix<f32> => DenseF32, DenseMatrix<f64> => DenseF64);

/// Where each row comes from, run-length encoded: rows that follow each other take a single entry.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowPlaces<K> {
    /// (row, its file, its number there) for each row that does not follow the previous one.
    runs: Vec<(usize, K, usize)>,
    pub(crate) n_rows: usize,
}

/// The line of each row, from 1.
pub type RowLines = RowPlaces<()>;

/// The file of each row, if several are read as one, and the number of the row in it, from 0.
pub type RowShards = RowPlaces<PathBuf>;

impl<K: Clone + PartialEq> RowPlaces<K> {
    /// The file of row `row`, from 0, and its number there.
    pub fn get(&self, row: usize) -> Option<(&K, usize)> {
        if row >= self.n_rows {
            return None;
        }
        let run = self.runs.partition_point(|(start, ..)| *start <= row).checked_sub(1)?;
        let (start, file, number) = &self.runs[run];
        Some((file, number + (row - start)))
    }

    /// Appends consecutive rows of one file; the first has this number.
    pub(crate) fn push(&mut self, file: K, number: usize, n_rows: usize) {
        let follows =
            |(start, last, first): &(usize, K, usize)| *last == file && first + (self.n_rows - start) == number;
        if !self.runs.last().is_some_and(follows) {
            self.runs.push((self.n_rows, file, number));
        }
        self.n_rows += n_rows;
    }

    /// Appends the rows of a later piece, whose numbers continue after `before`.
    pub(crate) fn append(&mut self, piece: &RowPlaces<K>, before: usize) {
        for (index, (start, file, number)) in piece.runs.iter().enumerate() {
            let end = piece.runs.get(index + 1).map_or(piece.n_rows, |next| next.0);
            self.push(file.clone(), number + before, end - start);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_put_in_the_order_of_names() {
        let names = |names: [&str; 3]| names.map(str::to_owned).to_vec();
        let dense = Samples::DenseF64(DenseMatrix { values: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], n_rows: 2, n_cols: 3 });
        let mut table = Table { feature_names: Some(names(["c", "a", "b"])), ..Table::new(dense, None) };
        table.put_in_order(&names(["a", "b", "c"])).unwrap();
        let Samples::DenseF64(matrix) = &table.samples else { panic!() };
        assert_eq!(matrix.values, [2.0, 3.0, 1.0, 5.0, 6.0, 4.0]);
        assert_eq!(table.feature_names, Some(names(["a", "b", "c"])));

        let csr =
            CsrMatrix { indptr: vec![0, 2, 2, 3], indices: vec![0, 2, 1], values: vec![1f32, 3.0, 5.0], n_cols: 3 };
        let mut table =
            Table { feature_names: Some(names(["c", "a", "b"])), ..Table::new(Samples::SparseF32(csr), None) };
        table.put_in_order(&names(["a", "b", "c"])).unwrap();
        let Samples::SparseF32(matrix) = &table.samples else { panic!() };
        assert_eq!((&matrix.indices[..], &matrix.values[..]), (&[1, 2, 0][..], &[3.0, 1.0, 5.0][..]));

        assert!(table.put_in_order(&names(["a", "b", "d"])).is_err());
        table.feature_names = None;
        table.put_in_order(&names(["a", "b", "d"])).unwrap();
    }

    #[test]
    fn lines_are_found_again_in_pieces_and_whole() {
        let lines = [1, 2, 3, 7, 8, 20, 22, 23];
        for cut in 0..=lines.len() {
            let (mut whole, mut piece) = (RowLines::default(), RowLines::default());
            lines[..cut].iter().for_each(|line| whole.push((), *line, 1));
            lines[cut..].iter().for_each(|line| piece.push((), *line - 1, 1));
            whole.append(&piece, 1);
            for (row, line) in lines.iter().enumerate() {
                assert_eq!(whole.get(row), Some((&(), *line)), "cut {cut}");
            }
            assert_eq!(whole.get(lines.len()), None);
            assert_eq!(whole.runs.len(), 4);
        }
    }
}
