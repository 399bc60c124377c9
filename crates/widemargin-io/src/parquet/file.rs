//! Positional reads of a file whose columns are decoded in parallel.
//!
//! By default the decoder moves the position of a shared handle: columns would read at each other's positions.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

use crate::positioned::read_exact_at;

/// A file with positional reads, and where the next begins.
#[derive(Clone, Debug)]
pub(super) struct PositionedFile {
    file: Arc<File>,
    length: u64,
    position: u64,
}

impl PositionedFile {
    pub fn new(file: File) -> io::Result<PositionedFile> {
        Ok(PositionedFile { length: file.metadata()?.len(), file: Arc::new(file), position: 0 })
    }
}

impl Length for PositionedFile {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for PositionedFile {
    type T = BufReader<PositionedFile>;

    fn get_read(&self, position: u64) -> Result<Self::T> {
        Ok(BufReader::new(PositionedFile { position, ..self.clone() }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        // A damaged file must not cause huge allocations.
        if start.checked_add(length as u64).is_none_or(|end| end > self.length) {
            return Err(ParquetError::EOF(format!("{length} bytes at {start} are beyond its end")));
        }
        let mut bytes = vec![0; length];
        read_exact_at(&self.file, start, &mut bytes)?;
        Ok(bytes.into())
    }
}

impl Read for PositionedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.length.saturating_sub(self.position).min(buffer.len() as u64) as usize;
        read_exact_at(&self.file, self.position, &mut buffer[..n])?;
        self.position += n as u64;
        Ok(n)
    }
}
