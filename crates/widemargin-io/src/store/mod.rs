//! Samples of files larger than memory, with random access to ranges of rows.
//!
//! A row-major NPY file is read in place. Other formats are read once and written to a scratch file as binary rows, so
//! that later passes do not parse text.

mod dense;
mod pass;
mod rows;
mod sparse;
mod writer;

use std::ops::Range;
use std::path::Path;

use widemargin::data::{
    AnySamples, ColumnRanges, DenseMatrix, FarVectors, Offsets, Samples as _, SamplesView, Source, Vectors,
};
use widemargin::monitor::Monitor;
use widemargin::{Error, Result, memory};

use crate::error::Problem;
use crate::input::shown;
use crate::label_file::FileLabels;
use crate::read::checked;
use crate::table::Table;
use crate::tuning::FREE_SHARE;
use crate::{Format, IoError, ReadOptions, ScratchFile};

use dense::DenseRows;
use rows::{Rows, SPAN};
use writer::Writer;

/// The fraction of a limit of memory that is reserved for other allocations.
pub const MEMORY_MARGIN: f64 = 0.08;

/// Bytes of a label, a weight, a cost and a group per sample.
const SAMPLE_BYTES: u64 = 4 + 8 + 8 + 4;

/// The rows of a file, or of a folder of shards, on disk: vectors in single precision.
///
/// Memory holds the labels, four bytes per row. As a [`Source`] it may be used from several threads; ranges of rows are
/// read at disk speed, scattered rows with one request each (two for sparse rows).
#[derive(Debug)]
pub struct Store {
    rows: Box<dyn Rows>,
    outline: Table,
}

impl Store {
    /// Reads a file, or a folder of shards, completely; `-` is standard input.
    ///
    /// An uncompressed row-major NPY file with numbers of at most 32 bits or `f64` is read in place and must not change
    /// while the store is used; if its labels are in a column they are read now. All other formats are written to
    /// `scratch`: four bytes per value of dense rows, eight per non-zero and per row of sparse ones. Reading takes at
    /// most about `memory` bytes in addition to the labels and, for sparse rows, eight bytes per row; block sizes are
    /// reduced accordingly. The next block is parsed while one is written, in the rayon pool installed by the caller.
    ///
    /// Without [`ReadOptions::n_features`], the number of features of LIBSVM text is the largest index in the file.
    ///
    /// # Errors
    /// As [`crate::read`]; [`IoError::Input`] for a value that is not finite in single precision; and
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
        let (format, options) = checked(path, pass::within(options, memory))?;
        if !format.is_vectors() {
            let method = "reading block by block".into();
            return Err(Error::Kind { found: format.kind(), method, wanted: "vectors" }.into());
        }
        if format == Format::Npz {
            pass::check_archives(path, memory)?;
        }
        if format == Format::Npy
            && let Some(rows) = DenseRows::find(path, &options, memory)?
        {
            let mut outline = match options.label_file {
                None if rows.label.is_some() => pass::read(path, &options, monitor, |_| Ok(()))?,
                _ => Table { shards: path.is_dir().then(|| rows.shards()), ..Table::default() },
            };
            if let Some(file) = &options.label_file {
                FileLabels::read(file, options.decimal)?.put(0..rows.n_rows(), true, &mut outline)?;
            }
            return Ok(Store::new(Box::new(rows), outline)?);
        }
        let mut writer = Writer::new(scratch, options.block_bytes());
        let outline = pass::read(path, &options, monitor, |samples| writer.append(samples))?;
        let store = Store::new(writer.finish(options.n_features)?, outline)?;
        if store.outline.samples.is_sparse() && store.n_features() == 0 {
            return Err(Problem::no_pairs().of(&shown(path)));
        }
        Ok(store)
    }

    fn new(rows: Box<dyn Rows>, outline: Table) -> Result<Store> {
        let samples = match rows.read(0..0)? {
            Vectors::Dense(matrix) => matrix.into(),
            Vectors::Sparse(matrix) => matrix.into(),
        };
        Ok(Store { outline: Table { samples, ..outline }, rows })
    }

    /// The contents of the file other than samples: labels, names of features, locations of the rows. The table itself
    /// has no samples, but their number of columns and sparsity.
    pub fn outline(&self) -> &Table {
        &self.outline
    }

    /// Number of features.
    pub fn n_features(&self) -> usize {
        self.outline.samples.n_cols()
    }

    /// The memory of a fit without a limit: half of what is free.
    pub fn default_memory() -> u64 {
        memory::free().map_or(1 << 30, |free| (free as f64 * FREE_SHARE) as u64)
    }

    /// Bytes of labels, weights, costs, groups and names of all samples.
    pub fn label_bytes(&self) -> u64 {
        SAMPLE_BYTES * self.rows.n_rows() as u64 + self.outline.name_bytes()
    }

    /// What a limit of memory leaves for a fit, without other allocations and [`Store::label_bytes`].
    pub fn memory_of(&self, limit: u64) -> u64 {
        ((limit as f64 * (1.0 - MEMORY_MARGIN)) as u64).saturating_sub(self.label_bytes())
    }

    /// Bytes read from disk by one pass over all rows.
    pub fn bytes(&self) -> u64 {
        self.rows.bytes()
    }

    fn check(&self, end: usize) -> Result<()> {
        if end <= self.rows.n_rows() {
            return Ok(());
        }
        let expected = format!("rows below {}", self.rows.n_rows());
        Err(Error::Shape { what: "rows of a file".into(), found: format!("row {}", end - 1), expected })
    }
}

impl Source for Store {
    type Samples = AnySamples;

    fn n_samples(&self) -> usize {
        self.rows.n_rows()
    }

    fn chunk(&self, rows: Range<usize>) -> Result<AnySamples> {
        self.check(rows.end)?;
        Ok(AnySamples::Vectors(self.rows.read(rows.start..rows.end.max(rows.start))?))
    }

    fn select(&self, rows: &[usize]) -> Result<AnySamples> {
        self.check(rows.iter().max().map_or(0, |last| last + 1))?;
        Ok(AnySamples::Vectors(self.rows.select(rows)?))
    }

    /// In one pass, where numbers are in double precision.
    fn needed_offsets(&self, weights: &[f64]) -> Result<Option<Offsets>> {
        let mut ranges = ColumnRanges::new(self.n_features());
        let rows_per_piece = (SPAN / self.rows.row_bytes()).max(1);
        for first in (0..self.rows.n_rows()).step_by(rows_per_piece) {
            let rows = first..self.rows.n_rows().min(first + rows_per_piece);
            let Some(read) = self.rows.read_double(rows.clone()) else { return Ok(None) };
            ranges.add(&read?.view()?, &weights[rows]);
        }
        Ok(ranges.offsets())
    }

    fn chunk_about(&self, rows: Range<usize>, offsets: &Offsets) -> Result<AnySamples> {
        self.check(rows.end)?;
        match self.rows.read_double(rows.clone()) {
            Some(read) => SamplesView::from(read?.view()?).chunk_about(0..rows.len(), offsets),
            None => Ok(self.chunk(rows)?.about(Some(offsets))),
        }
    }

    fn select_about(&self, rows: &[usize], offsets: &Offsets) -> Result<AnySamples> {
        let mut differences = DenseMatrix { n_cols: offsets.len(), ..DenseMatrix::default() };
        for &row in rows {
            match self.chunk_about(row..row + 1, offsets)? {
                AnySamples::Far(one) => differences.append(&one.differences, |value| value),
                _ => return Ok(self.select(rows)?.about(Some(offsets))),
            }
        }
        Ok(AnySamples::Far(FarVectors { differences, offsets: offsets.clone() }))
    }

    /// Computed from the rows in single precision, in pieces.
    fn fingerprints(&self, rows: &[usize]) -> Result<Option<Vec<u128>>> {
        let mut fingerprints = Vec::with_capacity(rows.len());
        for rows in rows.chunks((SPAN / self.rows.row_bytes()).max(1)) {
            let picked = self.select(rows)?;
            fingerprints.extend((0..rows.len()).filter_map(|at| picked.fingerprint(at)));
        }
        Ok(Some(fingerprints))
    }
}
