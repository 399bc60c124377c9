//! Where the rows of a fit are: a disk and a checkpoint in memory, and samples that are read in chunks.

use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use widemargin::data::{AnySamples, Checkpoint, Resources, Samples, Scratch, Source};
use widemargin::{Error, Result};

/// Memory that is never scarce.
pub const PLENTY: u64 = 1 << 30;

/// The place of the rows.
#[derive(Clone, Copy)]
pub enum Place<'a> {
    Memory,
    Blocks(Resources<'a>),
    /// Parts of the rows that end at these.
    Workers(&'a [usize]),
}

/// A disk of a limited size.
pub struct Disk {
    bytes: Mutex<Vec<u8>>,
    room: Option<u64>,
    holds: usize,
}

impl Disk {
    /// One that says how much room it has, and has it.
    pub fn new(room: Option<u64>) -> Self {
        Disk { bytes: Mutex::default(), room, holds: usize::MAX }
    }

    /// One that is full earlier than it says.
    pub fn that_holds(holds: usize) -> Self {
        Disk { holds, ..Disk::new(Some(1 << 40)) }
    }

    pub fn len(&self) -> usize {
        self.bytes.lock().unwrap().len()
    }

    pub fn resources(&self, memory: u64) -> Resources<'_> {
        Resources { memory, scratch: self, checkpoint: None }
    }
}

impl Scratch for Disk {
    fn write(&self, at: u64, bytes: &[u8]) -> Result<()> {
        let (mut all, end) = (self.bytes.lock().unwrap(), at as usize + bytes.len());
        if end > self.holds {
            let source = io::ErrorKind::StorageFull.into();
            return Err(Error::Io { path: "scratch".into(), action: "cannot write", source });
        }
        if all.len() < end {
            all.resize(end, 0);
        }
        all[at as usize..end].copy_from_slice(bytes);
        Ok(())
    }

    fn read(&self, at: u64, bytes: &mut [u8]) -> Result<()> {
        bytes.copy_from_slice(&self.bytes.lock().unwrap()[at as usize..at as usize + bytes.len()]);
        Ok(())
    }

    fn room(&self) -> Option<u64> {
        self.room
    }
}

/// A checkpoint that outlives a fit, which may be killed at a save.
#[derive(Default)]
pub struct MemoryCheckpoint {
    pub saved: Mutex<HashMap<String, Vec<u8>>>,
    n_saves: AtomicUsize,
    /// The save in which the fit is killed.
    dies_at: Option<usize>,
}

impl MemoryCheckpoint {
    pub fn n_saves(&self) -> usize {
        self.n_saves.load(Ordering::Relaxed)
    }

    /// The same content, for a fit that is killed in its save of this number, or in none.
    pub fn that_dies_at(self, save: Option<usize>) -> MemoryCheckpoint {
        MemoryCheckpoint { saved: self.saved, dies_at: save, ..MemoryCheckpoint::default() }
    }
}

impl Checkpoint for MemoryCheckpoint {
    fn load(&self, name: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.saved.lock().unwrap().get(name).cloned())
    }

    fn save(&self, name: &str, bytes: &[u8]) -> Result<()> {
        if self.dies_at == Some(self.n_saves.fetch_add(1, Ordering::Relaxed)) {
            return Err(Error::Io { path: name.into(), action: "killed", source: io::ErrorKind::Interrupted.into() });
        }
        self.saved.lock().unwrap().insert(name.into(), bytes.to_vec());
        Ok(())
    }
}

/// Samples that are read some thousand at a time.
pub struct Chunked<'a> {
    samples: &'a AnySamples,
    pub n_reads: AtomicUsize,
}

impl<'a> Chunked<'a> {
    pub fn new(samples: &'a AnySamples) -> Chunked<'a> {
        Chunked { samples, n_reads: AtomicUsize::new(0) }
    }
}

impl Source for Chunked<'_> {
    type Samples = AnySamples;

    fn n_samples(&self) -> usize {
        self.samples.len()
    }

    fn chunk(&self, rows: Range<usize>) -> Result<AnySamples> {
        assert!(rows.len() <= 4096, "{rows:?}");
        self.n_reads.fetch_add(rows.len(), Ordering::Relaxed);
        Ok(Samples::select(self.samples, &rows.collect::<Vec<_>>()))
    }

    fn select(&self, rows: &[usize]) -> Result<AnySamples> {
        assert!(rows.len() <= 4096, "{} scattered rows", rows.len());
        Ok(Samples::select(self.samples, rows))
    }

    fn fingerprints(&self, rows: &[usize]) -> Result<Option<Vec<u128>>> {
        Ok(rows.iter().map(|&row| self.samples.fingerprint(row)).collect())
    }
}
