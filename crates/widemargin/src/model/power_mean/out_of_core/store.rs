//! Storage of pieces of coded rows in memory or in scratch, and their dual variables.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::plan::Plan;
use crate::data::{Labels, Scratch};
use crate::error::{Error, Result};
use crate::expansion::{Entries, Gathered, Piece, PieceBuffer, ValueCounts, gather};
use crate::solve::dual::{BlockRows, Blocks, Deal, Loaded};

/// The location of a piece.
#[derive(Debug)]
enum Place {
    Memory(Vec<u8>),
    Scratch(u64),
}

/// All pieces, in order of creation.
pub(super) struct Pieces<'a> {
    pieces: Vec<(Piece, Place)>,
    n_blocks: usize,
    scratch: Option<&'a dyn Scratch>,
    /// The next write position.
    end: u64,
}

impl<'a> Pieces<'a> {
    /// No pieces yet; without scratch they stay in memory.
    pub fn new(plan: Plan, scratch: Option<&'a dyn Scratch>) -> Self {
        Pieces { pieces: Vec::new(), n_blocks: plan.n_blocks, scratch, end: 0 }
    }

    /// Adds the piece in a buffer.
    pub fn add(&mut self, buffer: &mut PieceBuffer) -> Result<()> {
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
        self.pieces.push((piece, place));
        Ok(())
    }
}

/// Data of all rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known<'a> {
    pub labels: &'a Labels,
    pub weights: &'a [f64],
    pub c: f64,
    pub n_features: usize,
    pub n_problems: usize,
}

/// The dual variables of a piece.
#[derive(Debug)]
enum Alphas {
    /// None has been stored yet.
    Zero,
    Memory(Vec<f32>),
    Scratch,
}

/// The solver's data for a piece.
#[derive(Debug)]
struct Solved {
    alphas: Mutex<Alphas>,
    /// Their position in scratch.
    at: u64,
    diagonal: OnceLock<Vec<f32>>,
}

/// Pieces, ready to be solved.
pub(super) struct Store<'a> {
    known: Known<'a>,
    book: Arc<ValueCounts>,
    pieces: Pieces<'a>,
    solved: Vec<Solved>,
    /// The block of all rows, if it is the only one and fits in memory, once it has been loaded.
    cached: OnceLock<Arc<BlockRows>>,
    /// Memory of entries for reuse, and the capacity needed for the largest block.
    spare: Mutex<Vec<Entries>>,
    most: usize,
}

impl<'a> Store<'a> {
    /// Pieces whose codes refer to `book`.
    pub fn new(known: Known<'a>, book: Arc<ValueCounts>, mut pieces: Pieces<'a>) -> Self {
        let mut solved = Vec::with_capacity(pieces.pieces.len());
        for (piece, _) in &pieces.pieces {
            solved.push(Solved { alphas: Mutex::new(Alphas::Zero), at: pieces.end, diagonal: OnceLock::new() });
            pieces.end += if pieces.scratch.is_some() { (4 * piece.n_rows * known.n_problems) as u64 } else { 0 };
        }
        let mut lengths: Vec<usize> =
            pieces.pieces.iter().map(|(piece, _)| piece.n_entries(known.n_features)).collect();
        lengths.sort_unstable_by(|a, b| b.cmp(a));
        let most = lengths.iter().take(lengths.len().div_ceil(pieces.n_blocks)).sum();
        Store { known, book, pieces, solved, cached: OnceLock::new(), spare: Mutex::default(), most }
    }

    /// Bytes in scratch.
    pub fn on_scratch(&self) -> u64 {
        self.pieces.end
    }

    /// Number of rows of a piece.
    fn n_rows(&self, piece: usize) -> usize {
        self.pieces.pieces[piece].0.n_rows
    }

    /// The pieces of a block, each with the positions of its rows.
    fn of_block<'b>(&self, rows: &'b BlockRows) -> impl Iterator<Item = (usize, &'b [u32])> {
        let mut places = &rows.places[..];
        rows.pieces.iter().map(move |&piece| {
            let ours;
            (ours, places) = places.split_at(self.n_rows(piece as usize));
            (piece as usize, ours)
        })
    }

    /// Number of a piece's dual variables.
    pub fn n_alphas(&self, piece: usize) -> usize {
        self.n_rows(piece) * self.known.n_problems
    }

    fn of_piece(&self, piece: usize) -> MutexGuard<'_, Alphas> {
        self.solved[piece].alphas.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The dual variables of a piece: those of its rows for the first problem, then for the second, and so on.
    pub fn alphas(&self, piece: usize) -> Result<Vec<f32>> {
        let stored = self.of_piece(piece);
        let mut alphas = vec![0.0; self.n_alphas(piece)];
        match (&*stored, self.pieces.scratch) {
            (Alphas::Memory(stored), _) => alphas.copy_from_slice(stored),
            (Alphas::Scratch, Some(scratch)) => {
                scratch.read(self.solved[piece].at, bytemuck::cast_slice_mut(&mut alphas))?;
            }
            _ => {}
        }
        Ok(alphas)
    }

    /// Stores a piece's dual variables.
    pub fn set_alphas(&self, piece: usize, alphas: &[f32]) -> Result<()> {
        let mut stored = self.of_piece(piece);
        let Some(scratch) = self.pieces.scratch else {
            *stored = Alphas::Memory(alphas.to_vec());
            return Ok(());
        };
        scratch.write(self.solved[piece].at, bytemuck::cast_slice(alphas))?;
        *stored = Alphas::Scratch;
        Ok(())
    }

    fn gather(&self, deal: &Deal) -> Result<BlockRows> {
        let pieces: Vec<&(Piece, Place)> =
            deal.pieces.iter().map(|&piece| &self.pieces.pieces[piece as usize]).collect();
        let read = |piece: usize, range: Range<usize>| match (&pieces[piece].1, self.pieces.scratch) {
            (Place::Scratch(at), Some(scratch)) => {
                let mut bytes = vec![0; range.len()];
                scratch.read(at + range.start as u64, &mut bytes)?;
                Ok(Cow::Owned(bytes))
            }
            (Place::Memory(bytes), _) => Ok(Cow::Borrowed(&bytes[range])),
            // Pieces are placed in scratch only if there is one.
            (Place::Scratch(_), None) => Ok(Cow::Borrowed(&[][..])),
        };
        let of: Vec<Piece> = pieces.iter().map(|(piece, _)| *piece).collect();
        let Known { labels, weights, c, n_features, .. } = self.known;
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let Gathered { rows, numbers, places } =
            gather(&of, read, self.book.clone(), n_features, deal.seed, spare, self.most)?;
        if let Some(row) = numbers.iter().find(|row| **row as usize >= labels.len()) {
            return Err(Error::shape(
                "rows read back from scratch",
                format!("row {row}"),
                format!("rows below {}", labels.len()),
            ));
        }
        let codes = numbers.iter().map(|&row| labels.codes()[row as usize]).collect();
        let costs = numbers.iter().map(|&row| c * weights[row as usize]).collect();
        let rows = BlockRows { rows, codes, costs, diagonal: OnceLock::new(), pieces: deal.pieces.clone(), places };
        if let Some(diagonal) = self.diagonal(&rows) {
            // Nothing was stored before.
            let _ = rows.diagonal.set(diagonal);
        }
        Ok(rows)
    }

    /// Q_ii of a block's rows, if known for all its pieces.
    fn diagonal(&self, rows: &BlockRows) -> Option<Vec<f32>> {
        let mut diagonal = vec![0.0; rows.rows.n_rows()];
        for (piece, places) in self.of_block(rows) {
            let known = self.solved[piece].diagonal.get()?;
            known.iter().zip(places).for_each(|(known, &place)| diagonal[place as usize] = *known);
        }
        Some(diagonal)
    }
}

impl Blocks for Store<'_> {
    fn n_rows(&self) -> usize {
        self.pieces.pieces.iter().map(|(piece, _)| piece.n_rows).sum()
    }

    fn n_pieces(&self) -> usize {
        self.pieces.pieces.len()
    }

    fn n_blocks(&self) -> usize {
        self.pieces.n_blocks
    }

    fn load(&self, deal: &Deal) -> Result<Loaded> {
        let rows = match self.cached.get() {
            Some(rows) => rows.clone(),
            None => Arc::new(self.gather(deal)?),
        };
        if self.pieces.n_blocks == 1 && self.pieces.scratch.is_none() {
            self.cached.get_or_init(|| rows.clone());
        }
        let n_rows = rows.rows.n_rows();
        let mut alphas = vec![0.0; n_rows * self.known.n_problems];
        for (piece, places) in self.of_block(&rows) {
            if matches!(*self.of_piece(piece), Alphas::Zero) {
                continue;
            }
            let known = self.alphas(piece)?;
            for (known, alphas) in known.chunks_exact(places.len()).zip(alphas.chunks_exact_mut(n_rows)) {
                known.iter().zip(places).for_each(|(known, &place)| alphas[place as usize] = *known);
            }
        }
        Ok(Loaded { rows, alphas })
    }

    fn put_away(&self, rows: &BlockRows, alphas: &[f32]) -> Result<()> {
        let n_rows = rows.rows.n_rows();
        for (piece, places) in self.of_block(rows) {
            let of_problem = |alphas: &[f32]| places.iter().map(|&place| alphas[place as usize]).collect::<Vec<f32>>();
            self.set_alphas(piece, &alphas.chunks_exact(n_rows).flat_map(of_problem).collect::<Vec<f32>>())?;
            if let Some(diagonal) = rows.diagonal.get() {
                self.solved[piece].diagonal.get_or_init(|| of_problem(diagonal));
            }
        }
        Ok(())
    }

    fn give_back(&self, rows: Arc<BlockRows>) {
        // Those in memory are still cached.
        if let Some(rows) = Arc::into_inner(rows) {
            let entries = rows.rows.into_entries();
            self.spare.lock().unwrap_or_else(PoisonError::into_inner).push(entries);
        }
    }
}
