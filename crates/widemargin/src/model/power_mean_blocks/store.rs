//! Blocks of coded rows in memory or on scratch, and their dual variables.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::plan::Plan;
use crate::data::{Labels, Scratch};
use crate::error::{Error, Result};
use crate::expansion::{Book, Entries, Piece, PieceBuffer, ROW_BYTES, entry_bytes, gather};
use crate::solve::dual::{BlockRows, Blocks, Diagonal, Loaded};

/// Where a piece is.
#[derive(Debug)]
enum Place {
    Memory(Vec<u8>),
    Scratch(u64),
}

/// The pieces of all blocks, in the order in which they were made.
pub(super) struct Pieces<'a> {
    /// Of each block.
    pieces: Vec<Vec<(Piece, Place)>>,
    scratch: Option<&'a dyn Scratch>,
    /// Where what is written next goes.
    end: u64,
}

impl<'a> Pieces<'a> {
    /// No pieces yet; without scratch they stay in memory.
    pub fn new(plan: Plan, scratch: Option<&'a dyn Scratch>) -> Self {
        Pieces { pieces: (0..plan.n_blocks).map(|_| Vec::new()).collect(), scratch, end: 0 }
    }

    /// Adds what a buffer has to a block.
    pub fn add(&mut self, block: usize, buffer: &mut PieceBuffer) -> Result<()> {
        let (piece, bytes) = buffer.take();
        if piece.n_rows == 0 {
            return Ok(());
        }
        let place = match self.scratch {
            None => Place::Memory(bytes),
            Some(scratch) => {
                scratch.write(self.end, &bytes)?;
                self.end += bytes.len() as u64;
                Place::Scratch(self.end - bytes.len() as u64)
            }
        };
        self.pieces[block].push((piece, place));
        Ok(())
    }

    /// Rows of a block.
    fn n_rows(&self, block: usize) -> usize {
        self.pieces[block].iter().map(|(piece, _)| piece.n_rows).sum()
    }

    /// Entries of a block.
    fn n_entries(&self, block: usize, n_features: usize) -> usize {
        let bytes = |(piece, _): &(Piece, Place)| piece.n_bytes - piece.n_rows * ROW_BYTES;
        self.pieces[block].iter().map(bytes).sum::<usize>() / entry_bytes(n_features)
    }
}

/// What is known of all rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known<'a> {
    pub labels: &'a Labels,
    pub weights: &'a [f64],
    pub c: f64,
    pub n_features: usize,
    pub n_problems: usize,
    pub seed: u64,
}

/// Blocks, ready to be solved.
pub(super) struct Store<'a> {
    known: Known<'a>,
    book: Arc<Book>,
    pieces: Pieces<'a>,
    /// Of each block.
    diagonals: Vec<Arc<Diagonal>>,
    /// All blocks and their dual variables, where they stay in memory.
    held: Vec<(Arc<BlockRows>, Mutex<Vec<f32>>)>,
    /// Memory of entries that can be used again, and how many the largest block has.
    spare: Mutex<Vec<Entries>>,
    most: usize,
    /// Where each block's dual variables are on scratch, and whether they were ever put there.
    alphas: Vec<(u64, AtomicBool)>,
}

impl<'a> Store<'a> {
    /// Blocks of these pieces, whose codes are those of `book`.
    pub fn new(known: Known<'a>, book: Arc<Book>, pieces: Pieces<'a>) -> Result<Self> {
        let n_blocks = pieces.pieces.len();
        let diagonals = (0..n_blocks).map(|_| Arc::default()).collect();
        let (spare, held, alphas) = (Mutex::default(), Vec::new(), Vec::new());
        let mut store = Store { known, book, pieces, diagonals, held, spare, most: 0, alphas };
        if store.pieces.scratch.is_none() {
            for block in 0..n_blocks {
                let rows = Arc::new(store.gather(block)?);
                let alphas = vec![0.0; store.pieces.n_rows(block) * known.n_problems];
                store.held.push((rows, Mutex::new(alphas)));
                // Its rows are laid out: the pieces are no longer needed, but for how many rows they have.
                store.pieces.pieces[block].iter_mut().for_each(|(_, place)| *place = Place::Memory(Vec::new()));
            }
            return Ok(store);
        }
        for block in 0..n_blocks {
            store.alphas.push((store.pieces.end, AtomicBool::new(false)));
            store.pieces.end += 4 * store.n_alphas(block) as u64;
            store.most = store.most.max(store.pieces.n_entries(block, known.n_features));
        }
        Ok(store)
    }

    /// Bytes on scratch.
    pub fn on_scratch(&self) -> u64 {
        self.pieces.end
    }

    /// Numbers of a block's dual variables.
    pub fn n_alphas(&self, block: usize) -> usize {
        self.pieces.n_rows(block) * self.known.n_problems
    }

    /// A block's dual variables: those of the rows for the first problem, then for the second, and so on.
    pub fn alphas(&self, block: usize) -> Result<Vec<f32>> {
        if let Some((_, alphas)) = self.held.get(block) {
            return Ok(alphas.lock().unwrap_or_else(PoisonError::into_inner).clone());
        }
        let mut alphas = vec![0.0; self.n_alphas(block)];
        let (at, is_there) = &self.alphas[block];
        if let Some(scratch) = self.pieces.scratch
            && is_there.load(Ordering::Acquire)
        {
            let mut bytes = [0; STRETCH];
            for (n, some) in alphas.chunks_mut(STRETCH / 4).enumerate() {
                let bytes = &mut bytes[..4 * some.len()];
                scratch.read(at + (n * STRETCH) as u64, bytes)?;
                let words = bytes.as_chunks::<4>().0;
                some.iter_mut().zip(words).for_each(|(alpha, word)| *alpha = f32::from_le_bytes(*word));
            }
        }
        Ok(alphas)
    }

    fn gather(&self, block: usize) -> Result<BlockRows> {
        let pieces = &self.pieces.pieces[block];
        let read = |piece: usize, range: Range<usize>| match (&pieces[piece].1, self.pieces.scratch) {
            (Place::Scratch(at), Some(scratch)) => {
                let mut bytes = vec![0; range.len()];
                scratch.read(at + range.start as u64, &mut bytes)?;
                Ok(Cow::Owned(bytes))
            }
            (Place::Memory(bytes), _) => Ok(Cow::Borrowed(&bytes[range])),
            // Places on scratch are made where there is one.
            (Place::Scratch(_), None) => Ok(Cow::Borrowed(&[][..])),
        };
        let of: Vec<Piece> = pieces.iter().map(|(piece, _)| *piece).collect();
        let Known { labels, weights, c, n_features, seed, .. } = self.known;
        let seed = seed ^ (block as u64 + 1).wrapping_mul(0x9fb2_1c65_1e98_df25);
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let (rows, numbers) = gather(&of, read, self.book.clone(), n_features, seed, spare, self.most)?;
        if let Some(row) = numbers.iter().find(|row| **row as usize >= labels.len()) {
            return Err(Error::Shape {
                what: "rows read back from scratch".into(),
                found: format!("row {row}"),
                expected: format!("rows below {}", labels.len()),
            });
        }
        let codes = numbers.iter().map(|&row| labels.codes()[row as usize]).collect();
        let costs = numbers.iter().map(|&row| c * weights[row as usize]).collect();
        Ok(BlockRows::new(rows, codes, costs, self.diagonals[block].clone()))
    }
}

/// Bytes of dual variables that are turned into numbers at a time.
const STRETCH: usize = 1 << 16;

impl Blocks for Store<'_> {
    fn n_blocks(&self) -> usize {
        self.pieces.pieces.len()
    }

    fn in_memory(&self) -> bool {
        self.pieces.scratch.is_none()
    }

    fn load(&self, block: usize) -> Result<Loaded> {
        let rows = match self.held.get(block) {
            Some((rows, _)) => rows.clone(),
            None => Arc::new(self.gather(block)?),
        };
        Ok(Loaded { rows, alphas: self.alphas(block)? })
    }

    fn put_away(&self, block: usize, new: Vec<f32>) -> Result<()> {
        if let Some((_, alphas)) = self.held.get(block) {
            *alphas.lock().unwrap_or_else(PoisonError::into_inner) = new;
            return Ok(());
        }
        let (at, is_there) = &self.alphas[block];
        if let Some(scratch) = self.pieces.scratch {
            let mut bytes = Vec::with_capacity(STRETCH);
            for (n, some) in new.chunks(STRETCH / 4).enumerate() {
                bytes.clear();
                some.iter().for_each(|alpha| bytes.extend_from_slice(&alpha.to_le_bytes()));
                scratch.write(at + (n * STRETCH) as u64, &bytes)?;
            }
            is_there.store(true, Ordering::Release);
        }
        Ok(())
    }

    fn give_back(&self, rows: Arc<BlockRows>) {
        // Those that stay in memory are still held.
        if let Some(rows) = Arc::into_inner(rows) {
            let entries = rows.into_rows().into_entries();
            self.spare.lock().unwrap_or_else(PoisonError::into_inner).push(entries);
        }
    }
}
