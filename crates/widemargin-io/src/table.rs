//! Samples with their labels and names, as a file holds them.

use std::path::{Path, PathBuf};

use widemargin::data::{AnySamples, CsrMatrix, DenseMatrix, Labels, Samples as _};

use crate::error::{IoError, Result};

/// Samples, and what a file says about them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The samples.
    pub samples: Samples,
    /// One label a sample, where the file has labels.
    pub labels: Option<Labels>,
    /// One name a feature, where the file has names.
    pub feature_names: Option<Vec<String>>,
    /// The line of each row, where the file has lines.
    pub lines: Option<RowLines>,
    /// The file of each sample, where each has its own.
    pub files: Option<Vec<String>>,
    /// The file of each row, where several files are read as one.
    pub shards: Option<RowShards>,
}

impl Table {
    /// A table of samples and labels that did not come from a file.
    pub fn new(samples: Samples, labels: Option<Labels>) -> Table {
        Table { samples, labels, ..Table::default() }
    }

    /// The line of its file, from 1, that holds row `row`, from 0.
    pub fn line(&self, row: usize) -> Option<usize> {
        self.lines.as_ref()?.line(row)
    }

    /// What messages call sample `row`, from 0: its line, its file, or its number; before them the shard it is in.
    pub fn place(&self, row: usize) -> String {
        let shard = self.shards.as_ref().and_then(|shards| shards.shard(row));
        let line = self.line(row).map(|line| format!("line {line}"));
        let file = || self.files.as_ref().and_then(|files| files.get(row)).cloned();
        let number = || format!("sample {} (from 0)", shard.map_or(row, |(_, row)| row));
        let place = line.or_else(file).unwrap_or_else(number);
        match shard.and_then(|(file, _)| file.file_name()) {
            Some(name) => format!("{}, {place}", name.to_string_lossy()),
            None => place,
        }
    }

    /// The labels, for tasks that need them; `file` is named in the error.
    ///
    /// # Errors
    /// [`IoError::NoLabels`].
    pub fn require_labels(&self, file: &Path) -> Result<&Labels> {
        self.labels.as_ref().ok_or_else(|| IoError::NoLabels { file: file.to_owned() })
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

impl Samples {
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

    /// Number of features; 0 where the samples are no vectors.
    pub fn n_cols(&self) -> usize {
        match self {
            Samples::SparseF32(m) => m.n_cols,
            Samples::SparseF64(m) => m.n_cols,
            Samples::DenseF32(m) => m.n_cols,
            Samples::DenseF64(m) => m.n_cols,
            Samples::Other(_) => 0,
        }
    }

    /// True where a row lists only the columns it has.
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

/// The line of each row. Rows on successive lines cost nothing, so a usual file costs one entry.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowLines {
    /// (row, its line) wherever a row is not on the line after the row before.
    runs: Vec<(usize, usize)>,
    n_rows: usize,
}

impl RowLines {
    /// The line, from 1, of row `row`, from 0.
    pub fn line(&self, row: usize) -> Option<usize> {
        if row >= self.n_rows {
            return None;
        }
        let run = self.runs.partition_point(|(start, _)| *start <= row).checked_sub(1)?;
        let (start, line) = self.runs[run];
        Some(line + (row - start))
    }

    pub(crate) fn push(&mut self, line: usize) {
        let follows = self.runs.last().is_some_and(|(start, first)| first + (self.n_rows - start) == line);
        if !follows {
            self.runs.push((self.n_rows, line));
        }
        self.n_rows += 1;
    }

    /// Appends the rows of a later piece of the file, whose lines count on from `lines_before`.
    pub(crate) fn append(&mut self, piece: &RowLines, lines_before: usize) {
        for (index, &(start, line)) in piece.runs.iter().enumerate() {
            let end = piece.runs.get(index + 1).map_or(piece.n_rows, |next| next.0);
            self.push(line + lines_before);
            self.n_rows += end - start - 1;
        }
    }

    pub(crate) fn clear(&mut self) {
        self.runs.clear();
        self.n_rows = 0;
    }
}

/// The file of each row, where several are read as one. It costs an entry a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowShards {
    /// (row, its file, its number in the file) wherever a row does not follow the row before in the same file.
    runs: Vec<(usize, PathBuf, usize)>,
    n_rows: usize,
}

impl RowShards {
    /// The file of row `row`, and the row's number in that file, both from 0.
    pub fn shard(&self, row: usize) -> Option<(&Path, usize)> {
        if row >= self.n_rows {
            return None;
        }
        let run = self.runs.partition_point(|(start, ..)| *start <= row).checked_sub(1)?;
        let (start, file, before) = &self.runs[run];
        Some((file, before + (row - start)))
    }

    /// Successive rows of one file, of which `before` rows came before.
    pub(crate) fn one(file: &Path, before: usize, n_rows: usize) -> RowShards {
        RowShards { runs: vec![(0, file.to_owned(), before)], n_rows }
    }

    /// Appends the rows that follow.
    pub(crate) fn append(&mut self, piece: &RowShards) {
        for (start, file, before) in &piece.runs {
            let follows = self
                .runs
                .last()
                .is_some_and(|(first, last, number)| last == file && number + (self.n_rows + start - first) == *before);
            if !follows {
                self.runs.push((self.n_rows + start, file.clone(), *before));
            }
        }
        self.n_rows += piece.n_rows;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_again_in_pieces_and_whole() {
        let lines = [1, 2, 3, 7, 8, 20, 22, 23];
        for cut in 0..=lines.len() {
            let (mut whole, mut piece) = (RowLines::default(), RowLines::default());
            lines[..cut].iter().for_each(|line| whole.push(*line));
            lines[cut..].iter().for_each(|line| piece.push(*line - 1));
            whole.append(&piece, 1);
            for (row, line) in lines.iter().enumerate() {
                assert_eq!(whole.line(row), Some(*line), "cut {cut}");
            }
            assert_eq!(whole.line(lines.len()), None);
            assert_eq!(whole.runs.len(), 4);
        }
    }
}
