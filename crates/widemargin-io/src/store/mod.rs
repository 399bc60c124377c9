//! Samples of files larger than memory, with random access to ranges of rows.
//!
//! A row-major NPY file is read in place (`in_place.rs`). Other formats are read once and written to a scratch file as
//! binary rows (`written.rs`), so that later passes do not parse text.

mod in_place;
mod pass;
mod pick;
mod written;

use std::ops::Range;
use std::path::Path;

use widemargin::data::{
    AnySamples, ColumnRanges, CsrMatrix, DenseMatrix, FarVectors, Labels, Offsets, Samples as _, SamplesView, Source,
    Vectors,
};
use widemargin::monitor::Monitor;
use widemargin::{Error, Result, memory};

use crate::label_file::label_rows;
use crate::table::{Samples, Table};
use crate::{Format, IoError, ReadOptions, ScratchFile};

use in_place::InPlace;
use written::Written;

/// The fraction of free memory that a fit uses by default.
const FREE_SHARE: f64 = 0.5;

/// The fraction of a limit of memory that is reserved for other allocations.
pub const MEMORY_MARGIN: f64 = 0.08;

/// Bytes of a label, a weight and a cost per sample.
const SAMPLE_BYTES: u64 = 4 + 8 + 8;

/// The rows of a file, or of a folder of shards, on disk: vectors in single precision.
///
/// Memory holds the labels, four bytes per row, and an index of some bytes per block. As a [`Source`] it may be used
/// from several threads; ranges of rows are read at disk speed, scattered rows with one request each.
#[derive(Debug)]
pub struct Store {
    rows: Rows,
    n_samples: usize,
    outline: Table,
}

#[derive(Debug)]
enum Rows {
    InPlace(InPlace),
    Written(Written),
}

impl Store {
    /// Reads a file, or a folder of shards, completely; `-` is standard input.
    ///
    /// An uncompressed row-major NPY file with numbers of at most 32 bits or `f64` is read in place and must not change
    /// while the store is used; if its labels are in a column they are read now. All other formats are written to
    /// `scratch`: four bytes per value of dense rows, eight per non-zero of sparse ones. Reading takes at most about
    /// `memory` bytes in addition to labels and index; block sizes are reduced accordingly. The next block is parsed
    /// while one is written, in the rayon pool installed by the caller.
    ///
    /// Without [`ReadOptions::n_features`], the number of features of LIBSVM text is the largest index in the file.
    ///
    /// # Errors
    /// As [`crate::read`]; [`IoError::TooLarge`] for a value that is not finite in single precision; and
    /// [`IoError::Library`] with [`Error::Cancelled`], with [`Error::Io`] for a scratch file that cannot grow, with
    /// [`Error::Memory`] for a format that must be read completely and does not fit, or with [`Error::Kind`] for
    /// samples that are not vectors.
    pub fn open(
        path: &Path,
        options: &ReadOptions,
        scratch: ScratchFile,
        memory: u64,
        monitor: &Monitor<'_>,
    ) -> Result<Store, IoError> {
        let format = options.format.map_or_else(|| Format::from_path(path), Ok)?;
        options.check(path, format)?;
        if !format.is_vectors() {
            let method = "reading block by block".into();
            return Err(Error::Kind { found: format.kind(), method, wanted: "vectors" }.into());
        }
        let options = ReadOptions { block_bytes: Some(pass::block_bytes(options, memory)), ..options.clone() };
        pass::check_whole(path, format, memory)?;
        if format == Format::Npy
            && let Some(rows) = InPlace::find(path, &options)?
        {
            let shards = rows.shards(path);
            let (samples, label_column) = (no_rows(false, rows.n_cols()), rows.label_column());
            let mut outline = Table { samples, label_column, shards, ..Table::default() };
            match &options.label_file {
                Some(file) => label_rows(&mut outline, file, rows.n_rows())?,
                None => outline.labels = pass::labels(path, &options, &rows, monitor)?,
            }
            return Ok(Store { n_samples: rows.n_rows(), rows: Rows::InPlace(rows), outline });
        }
        let (written, mut outline) = pass::write(path, &options, scratch, monitor)?;
        outline.samples = no_rows(written.is_sparse(), written.n_cols());
        Ok(Store { n_samples: written.n_rows(), rows: Rows::Written(written), outline })
    }

    /// One label per sample, if the file has labels.
    pub fn labels(&self) -> Option<&Labels> {
        self.outline.labels.as_ref()
    }

    /// The contents of the file other than samples: labels, names of features, locations of the rows. The table itself
    /// has no samples, but their number of columns and sparsity.
    pub fn outline(&self) -> &Table {
        &self.outline
    }

    /// The name of row `row`, from 0, in messages: its shard if there are several, and its line or number.
    pub fn place(&self, row: usize) -> String {
        self.outline.place(row)
    }

    /// Number of features.
    pub fn n_features(&self) -> usize {
        self.outline.samples.n_cols()
    }

    /// True if a row lists only its non-zero columns.
    pub fn is_sparse(&self) -> bool {
        self.outline.samples.is_sparse()
    }

    /// The memory of a fit without a limit: half of what is free.
    pub fn default_memory() -> u64 {
        memory::free().map_or(1 << 30, |free| (free as f64 * FREE_SHARE) as u64)
    }

    /// Bytes of labels, weights and costs of all samples.
    pub fn label_bytes(&self) -> u64 {
        SAMPLE_BYTES * self.n_samples as u64
    }

    /// What a limit of memory leaves for a fit, without other allocations and [`Store::label_bytes`].
    pub fn memory_of(&self, limit: u64) -> u64 {
        ((limit as f64 * (1.0 - MEMORY_MARGIN)) as u64).saturating_sub(self.label_bytes())
    }

    /// Bytes read from disk by one pass over all rows.
    pub fn bytes(&self) -> u64 {
        match &self.rows {
            Rows::InPlace(rows) => rows.bytes(),
            Rows::Written(rows) => rows.bytes(),
        }
    }

    /// Reads the rows of a range that has been checked.
    fn read(&self, rows: Range<usize>) -> Result<Vectors> {
        match &self.rows {
            Rows::InPlace(array) => Ok(Vectors::Dense(array.read(rows)?)),
            Rows::Written(written) => written.read(rows),
        }
    }

    /// The rows of a range that has been checked, in double precision; none where they are in single.
    fn read_double(&self, rows: Range<usize>) -> Option<Result<DenseMatrix<f64>>> {
        match &self.rows {
            Rows::InPlace(array) => array.is_double().then(|| array.read_double(rows)),
            Rows::Written(written) => written.is_double().then(|| written.read_double(rows)),
        }
    }

    /// Some rows of a range less the offsets of their columns.
    fn far(&self, rows: Range<usize>, picked: &[usize], offsets: &Offsets) -> Result<AnySamples> {
        match self.read_double(rows.clone()) {
            Some(read) => SamplesView::from(read?.view()?).select_about(picked, offsets),
            None => {
                Ok(AnySamples::Vectors(widemargin::data::Samples::select(&self.read(rows)?, picked))
                    .about(Some(offsets)))
            }
        }
    }

    /// Bytes of an average row on disk.
    fn row_bytes(&self) -> usize {
        (self.bytes() / self.n_samples.max(1) as u64).max(1) as usize
    }

    fn check(&self, end: usize) -> Result<()> {
        if end <= self.n_samples {
            return Ok(());
        }
        let expected = format!("rows below {}", self.n_samples);
        Err(Error::Shape { what: "rows of a file".into(), found: format!("row {}", end - 1), expected })
    }
}

impl Source for Store {
    type Samples = AnySamples;

    fn n_samples(&self) -> usize {
        self.n_samples
    }

    fn chunk(&self, rows: Range<usize>) -> Result<AnySamples> {
        self.check(rows.end)?;
        Ok(AnySamples::Vectors(self.read(rows.start..rows.end.max(rows.start))?))
    }

    fn select(&self, rows: &[usize]) -> Result<AnySamples> {
        self.check(rows.iter().max().map_or(0, |last| last + 1))?;
        let none = if self.is_sparse() {
            Vectors::Sparse(CsrMatrix::empty(self.n_features()))
        } else {
            Vectors::Dense(DenseMatrix { n_cols: self.n_features(), ..DenseMatrix::default() })
        };
        Ok(AnySamples::Vectors(pick::pick(rows, self.row_bytes(), none, |range| self.read(range))?))
    }

    /// In one pass, where numbers are in double precision.
    fn needed_offsets(&self, weights: &[f64]) -> Result<Option<Offsets>> {
        let mut ranges = ColumnRanges::new(self.n_features());
        let rows_a_piece = (pick::SPAN / self.row_bytes()).max(1);
        for first in (0..self.n_samples).step_by(rows_a_piece) {
            let rows = first..self.n_samples.min(first + rows_a_piece);
            let Some(read) = self.read_double(rows.clone()) else { return Ok(None) };
            ranges.add(&read?.view()?, &weights[rows]);
        }
        Ok(ranges.offsets())
    }

    fn chunk_about(&self, rows: Range<usize>, offsets: &Offsets) -> Result<AnySamples> {
        self.check(rows.end)?;
        self.far(rows.clone(), &(0..rows.len()).collect::<Vec<_>>(), offsets)
    }

    fn select_about(&self, rows: &[usize], offsets: &Offsets) -> Result<AnySamples> {
        self.check(rows.iter().max().map_or(0, |last| last + 1))?;
        let mut all = FarVectors::none(offsets);
        for &row in rows {
            match self.far(row..row + 1, &[0], offsets)? {
                AnySamples::Far(one) => all.append(&one),
                other => return Ok(other),
            }
        }
        Ok(AnySamples::Far(all))
    }

    /// Computed from the rows in single precision, in pieces.
    fn fingerprints(&self, rows: &[usize]) -> Result<Option<Vec<u128>>> {
        let mut fingerprints = Vec::with_capacity(rows.len());
        for rows in rows.chunks((pick::SPAN / self.row_bytes()).max(1)) {
            let picked = self.select(rows)?;
            fingerprints.extend((0..rows.len()).filter_map(|at| picked.fingerprint(at)));
        }
        Ok(Some(fingerprints))
    }
}

/// An empty set of samples with `n_cols` columns.
fn no_rows(sparse: bool, n_cols: usize) -> Samples {
    if sparse {
        Samples::SparseF32(CsrMatrix::empty(n_cols))
    } else {
        Samples::DenseF32(DenseMatrix { n_cols, ..DenseMatrix::default() })
    }
}
