//! Reads a file of vectors of any format in blocks.

use std::path::Path;

use crate::error::{IoError, Result};
use crate::input::open;
use crate::options::ReadOptions;
use crate::shards::Layout;
use crate::table::Table;
use crate::{Format, csv, libsvm, npy, npz, parquet};

/// The reader of a file of vectors.
#[derive(Debug)]
pub(crate) enum VectorReader {
    Libsvm(libsvm::Reader),
    Csv(csv::Reader),
    Npy(npy::Reader),
    Parquet(parquet::Reader),
    /// Samples that were loaded at once.
    Whole(Box<Table>),
    Ended,
}

impl VectorReader {
    pub fn open(path: &Path, format: Format, options: &ReadOptions) -> Result<VectorReader> {
        Ok(match format {
            Format::Libsvm => VectorReader::Libsvm(libsvm::Reader::new(open(path)?, options)?),
            Format::Csv => VectorReader::Csv(csv::Reader::new(open(path)?, b',', options)?),
            Format::Tsv => VectorReader::Csv(csv::Reader::new(open(path)?, b'\t', options)?),
            Format::Npy => VectorReader::Npy(npy::Reader::new(open(path)?, options)?),
            Format::Parquet => VectorReader::Parquet(parquet::Reader::new(open(path)?, options)?),
            Format::Npz => VectorReader::Whole(Box::new(npz::read(open(path)?, options)?)),
            _ => return Err(IoError::UnknownFormat { given: format.to_string() }),
        })
    }

    /// Reads the next rows into `table`, reusing its memory; false at the end.
    pub fn next_into(&mut self, table: &mut Table) -> Result<bool> {
        match self {
            VectorReader::Libsvm(reader) => reader.next_into(table),
            VectorReader::Csv(reader) => reader.next_into(table),
            VectorReader::Npy(reader) => reader.next_into(table),
            VectorReader::Parquet(reader) => reader.next_into(table),
            VectorReader::Whole(whole) => {
                *table = std::mem::take(whole);
                *self = VectorReader::Ended;
                Ok(true)
            }
            VectorReader::Ended => Ok(false),
        }
    }

    /// The columns, before the first block is read.
    pub fn layout(&self) -> Layout {
        match self {
            VectorReader::Libsvm(reader) => reader.layout(),
            VectorReader::Csv(reader) => reader.layout(),
            VectorReader::Npy(reader) => reader.layout(),
            VectorReader::Parquet(reader) => reader.layout(),
            VectorReader::Whole(table) => Layout {
                n: Some(table.samples.n_cols()),
                label: table.labels.as_ref().map(|_| 0),
                beside: true,
                names: table.feature_names.clone(),
                sparse: table.samples.is_sparse(),
            },
            VectorReader::Ended => Layout::default(),
        }
    }
}
