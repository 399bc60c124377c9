//! Samples of any kind with their labels, as files hold them.

use std::path::Path;

use widemargin::data::{AnySamples, Images, Labels, Samples as _, Series, Vectors};

use crate::error::{IoError, Result};
use crate::table::{RowLines, Samples};

/// Samples of one kind.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Collection {
    /// Vectors.
    Vectors(Samples),
    /// Strings.
    Strings(Vec<String>),
    /// Time series.
    Series(Series),
    /// Images of one size.
    Images(Images),
}

impl Collection {
    /// Number of samples.
    pub fn len(&self) -> usize {
        match self {
            Collection::Vectors(samples) => samples.n_rows(),
            Collection::Strings(strings) => strings.len(),
            Collection::Series(series) => series.len(),
            Collection::Images(images) => images.len(),
        }
    }

    /// True without samples.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The samples as similarities take them; vectors become single precision.
    ///
    /// # Errors
    /// [`widemargin::Error::Value`] for a value that is not finite in single precision.
    pub fn into_any(self) -> widemargin::Result<AnySamples> {
        let vectors = match self {
            Collection::Strings(strings) => return Ok(AnySamples::Strings(strings)),
            Collection::Series(series) => return Ok(AnySamples::Series(series)),
            Collection::Images(images) => return Ok(AnySamples::Images(images)),
            // Single precision is taken as it is: its readers have refused what is not finite.
            Collection::Vectors(Samples::SparseF32(matrix)) => Vectors::Sparse(matrix),
            Collection::Vectors(Samples::DenseF32(matrix)) => Vectors::Dense(matrix),
            Collection::Vectors(Samples::SparseF64(matrix)) => {
                Vectors::of(&matrix.view()?, 0..matrix.indptr.len() - 1)?
            }
            Collection::Vectors(Samples::DenseF64(matrix)) => Vectors::of(&matrix.view()?, 0..matrix.n_rows)?,
        };
        Ok(AnySamples::Vectors(vectors))
    }
}

/// Samples of any kind, and what a file says about them.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelledSamples {
    /// The samples.
    pub samples: Collection,
    /// One label a sample, where there are labels.
    pub labels: Option<Labels>,
    /// The line of each sample, where the file has lines.
    pub lines: Option<RowLines>,
    /// The file of each sample, where each has its own.
    pub files: Option<Vec<String>>,
}

impl LabelledSamples {
    /// What messages call sample `row`, from 0: its line, its file, or its number.
    pub fn place(&self, row: usize) -> String {
        let line = self.lines.as_ref().and_then(|lines| lines.line(row)).map(|line| format!("line {line}"));
        let file = || self.files.as_ref().and_then(|files| files.get(row)).cloned();
        line.or_else(file).unwrap_or_else(|| format!("sample {row} (from 0)"))
    }

    /// The labels, for tasks that need them; `file` is named in the error.
    ///
    /// # Errors
    /// [`IoError::NoLabels`].
    pub fn require_labels(&self, file: &Path) -> Result<&Labels> {
        self.labels.as_ref().ok_or_else(|| IoError::NoLabels { file: file.to_owned() })
    }
}
