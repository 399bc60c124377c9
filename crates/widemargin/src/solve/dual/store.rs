//! The input of the descent on blocks: pieces of coded rows in memory or in scratch, and their dual variables.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::data::Scratch;
use crate::error::{Error, Result};
use crate::expansion::{AdditiveMap, CodedRows, Entries, Gathered, Piece, PieceBuffer, ValueCounts, gather};
use crate::problem::{Loss, OneVsRest};

/// A piece with the solver's data.
struct Stored {
    piece: Piece,
    /// Its position in scratch, if there is one; its dual variables follow it there.
    at: u64,
    /// Without scratch its words and its dual variables, empty if all are 0.
    words: Vec<u32>,
    alphas: Mutex<Vec<f32>>,
    diagonal: OnceLock<Vec<f32>>,
}

impl Stored {
    /// The position of one of its words in scratch.
    fn at_word(&self, word: usize) -> u64 {
        self.at + (word * size_of::<u32>()) as u64
    }
}

/// All pieces, in order of creation.
pub(crate) struct Pieces<'a> {
    pieces: Vec<Stored>,
    n_blocks: usize,
    n_problems: usize,
    scratch: Option<&'a dyn Scratch>,
    /// The next write position.
    end: u64,
}

impl<'a> Pieces<'a> {
    /// No pieces yet, which are to be dealt to this number of blocks; without scratch they stay in memory.
    pub fn new(n_blocks: usize, n_problems: usize, scratch: Option<&'a dyn Scratch>) -> Self {
        Pieces { pieces: Vec::new(), n_blocks, n_problems, scratch, end: 0 }
    }

    /// Adds the piece in a buffer, with dual variables of 0.
    pub fn add(&mut self, buffer: &mut PieceBuffer) -> Result<()> {
        let (piece, mut words) = buffer.take();
        if piece.n_rows == 0 {
            return Ok(());
        }
        let at = self.end;
        if let Some(scratch) = self.scratch {
            words.resize(words.len() + piece.n_rows * self.n_problems, 0);
            scratch.write(at, bytemuck::cast_slice(&words))?;
            self.end += size_of_val(&words[..]) as u64;
            words = Vec::new();
        }
        let (alphas, diagonal) = (Mutex::default(), OnceLock::new());
        self.pieces.push(Stored { piece, at, words, alphas, diagonal });
        Ok(())
    }
}

/// The two-class problems on the blocks, and what is known of all rows but their features.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockProblem<'a> {
    pub map: &'a AdditiveMap,
    pub n_features: usize,
    pub targets: OneVsRest<'a>,
    pub weights: &'a [f64],
    pub c: f64,
    pub loss: Loss,
}

/// The rows of some pieces, in random order.
#[derive(Debug)]
pub(super) struct BlockRows {
    pub rows: CodedRows,
    /// The class of each row, or its set of labels.
    pub codes: Vec<u32>,
    /// C · weight of each row.
    pub costs: Vec<f64>,
    /// Q_ii of each row, once the solver has computed it.
    pub diagonal: OnceLock<Vec<f32>>,
    /// The pieces, and the position of each of their rows, one piece after the other.
    pieces: Vec<u32>,
    places: Vec<u32>,
}

/// The pieces to be loaded together.
#[derive(Clone, Debug)]
pub(super) struct Deal {
    pub pieces: Vec<u32>,
    /// Seed of the order of their rows.
    pub seed: u64,
}

/// Storage of the rows, in pieces that are loaded together to form blocks.
pub(crate) struct Store<'a> {
    pub problem: BlockProblem<'a>,
    /// The values of the codes of all pieces.
    pub book: Arc<ValueCounts>,
    pieces: Pieces<'a>,
    /// The block of all rows, if it is the only one and fits in memory, once it has been loaded.
    cached: OnceLock<Arc<BlockRows>>,
    /// Memory of entries for reuse, and the capacity needed for the largest block.
    spare: Mutex<Vec<Entries>>,
    most: usize,
}

impl<'a> Store<'a> {
    /// Pieces whose codes refer to `book`.
    pub fn new(problem: BlockProblem<'a>, book: ValueCounts, pieces: Pieces<'a>) -> Self {
        let lengths = pieces.pieces.iter().map(|stored| stored.piece.n_entries(problem.n_features));
        let mut lengths: Vec<usize> = lengths.collect();
        lengths.sort_unstable_by(|a, b| b.cmp(a));
        let most = lengths.iter().take(lengths.len().div_ceil(pieces.n_blocks)).sum();
        Store { problem, book: Arc::new(book), pieces, cached: OnceLock::new(), spare: Mutex::default(), most }
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.pieces.pieces.iter().map(|stored| stored.piece.n_rows).sum()
    }

    /// Number of problems.
    pub fn n_problems(&self) -> usize {
        self.pieces.n_problems
    }

    /// Number of pieces.
    pub fn n_pieces(&self) -> usize {
        self.pieces.pieces.len()
    }

    /// Number of blocks to which they are dealt.
    pub fn n_blocks(&self) -> usize {
        self.pieces.n_blocks
    }

    /// Bytes in scratch.
    pub fn on_scratch(&self) -> u64 {
        self.pieces.end
    }

    /// Number of rows of a piece.
    fn n_rows_of(&self, piece: usize) -> usize {
        self.pieces.pieces[piece].piece.n_rows
    }

    /// The pieces of a block, each with the positions of its rows.
    fn of_block<'b>(&self, rows: &'b BlockRows) -> impl Iterator<Item = (usize, &'b [u32])> {
        let mut places = &rows.places[..];
        rows.pieces.iter().map(move |&piece| {
            let ours;
            (ours, places) = places.split_at(self.n_rows_of(piece as usize));
            (piece as usize, ours)
        })
    }

    /// Number of a piece's dual variables.
    pub fn n_alphas(&self, piece: usize) -> usize {
        self.n_rows_of(piece) * self.n_problems()
    }

    /// The dual variables of a piece: those of its rows for the first problem, then for the second, and so on.
    pub fn alphas(&self, piece: usize) -> Result<Vec<f32>> {
        let stored = &self.pieces.pieces[piece];
        let mut alphas = stored.alphas.lock().unwrap_or_else(PoisonError::into_inner).clone();
        alphas.resize(self.n_alphas(piece), 0.0);
        if let Some(scratch) = self.pieces.scratch {
            scratch.read(stored.at_word(stored.piece.n_words), bytemuck::cast_slice_mut(&mut alphas))?;
        }
        Ok(alphas)
    }

    /// Stores a piece's dual variables.
    pub fn set_alphas(&self, piece: usize, alphas: Vec<f32>) -> Result<()> {
        let stored = &self.pieces.pieces[piece];
        if let Some(scratch) = self.pieces.scratch {
            return scratch.write(stored.at_word(stored.piece.n_words), bytemuck::cast_slice(&alphas));
        }
        *stored.alphas.lock().unwrap_or_else(PoisonError::into_inner) = alphas;
        Ok(())
    }

    fn gather(&self, deal: &Deal) -> Result<BlockRows> {
        let pieces: Vec<&Stored> = deal.pieces.iter().map(|&piece| &self.pieces.pieces[piece as usize]).collect();
        let read = |piece: usize, range: Range<usize>| {
            let Some(scratch) = self.pieces.scratch else {
                return Ok(Cow::Borrowed(&pieces[piece].words[range]));
            };
            let mut words = vec![0u32; range.len()];
            scratch.read(pieces[piece].at_word(range.start), bytemuck::cast_slice_mut(&mut words))?;
            Ok(Cow::Owned(words))
        };
        let of: Vec<Piece> = pieces.iter().map(|stored| stored.piece).collect();
        let BlockProblem { targets, weights, c, n_features, .. } = self.problem;
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let Gathered { rows, numbers, places } =
            gather(&of, read, self.book.clone(), n_features, deal.seed, spare, self.most)?;
        if let Some(row) = numbers.iter().find(|row| **row as usize >= targets.n_samples()) {
            return Err(Error::shape(
                "rows read back from scratch",
                format!("row {row}"),
                format!("rows below {}", targets.n_samples()),
            ));
        }
        let codes = numbers.iter().map(|&row| targets.code(row as usize)).collect();
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
            let known = self.pieces.pieces[piece].diagonal.get()?;
            known.iter().zip(places).for_each(|(known, &place)| diagonal[place as usize] = *known);
        }
        Some(diagonal)
    }

    /// Loads the rows of some pieces, with the dual variables of each problem that were last stored, initially all 0. −0
    /// marks a row that the problem skips until the next exact pass.
    pub(super) fn load(&self, deal: &Deal) -> Result<(Arc<BlockRows>, Vec<Vec<f32>>)> {
        let rows = match self.cached.get() {
            Some(rows) => rows.clone(),
            None => Arc::new(self.gather(deal)?),
        };
        if self.pieces.n_blocks == 1 && self.pieces.scratch.is_none() {
            self.cached.get_or_init(|| rows.clone());
        }
        let mut alphas = vec![vec![0.0; rows.rows.n_rows()]; self.n_problems()];
        for (piece, places) in self.of_block(&rows) {
            let known = self.alphas(piece)?;
            for (known, alphas) in known.chunks_exact(places.len()).zip(&mut alphas) {
                known.iter().zip(places).for_each(|(known, &place)| alphas[place as usize] = *known);
            }
        }
        Ok((rows, alphas))
    }

    /// Stores the dual variables of each problem of a loaded block.
    pub(super) fn put_away(&self, rows: &BlockRows, alphas: &[Vec<f32>]) -> Result<()> {
        for (piece, places) in self.of_block(rows) {
            let of_problem = |alphas: &[f32]| places.iter().map(|&place| alphas[place as usize]).collect::<Vec<f32>>();
            self.set_alphas(piece, alphas.iter().flat_map(|alphas| of_problem(alphas)).collect())?;
            if let Some(diagonal) = rows.diagonal.get() {
                self.pieces.pieces[piece].diagonal.get_or_init(|| of_problem(diagonal));
            }
        }
        Ok(())
    }

    /// Takes back the rows of a finished block, for reuse of their memory.
    pub(super) fn give_back(&self, rows: Arc<BlockRows>) {
        // Those in memory are still cached.
        if let Some(rows) = Arc::into_inner(rows) {
            let entries = rows.rows.into_entries();
            self.spare.lock().unwrap_or_else(PoisonError::into_inner).push(entries);
        }
    }
}
