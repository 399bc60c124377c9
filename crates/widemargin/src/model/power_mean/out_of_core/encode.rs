//! The second pass: rows are coded and dealt to pieces at random.
//!
//! Consecutive rows, as many as there are pieces in progress, go to different pieces in random order. So a piece is a
//! random sample of a range of rows, and neighbors, which are often similar, are separated.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::plan::{BUFFERS, Plan};
use super::scan::{Chunked, Scan};
use crate::data::{AnyRows, Scratch};
use crate::error::{Error, Result};
use crate::expansion::{BookMaker, CodedRows, PieceBuffer, ValueCounts};
use crate::monitor::Monitor;
use crate::solve::dual::Pieces;

/// An independently coded chunk: the number of its first row, the rows with weight, and their entries.
type Coded = (usize, Vec<usize>, CodedRows);

/// Deals rows to the pieces in progress.
struct Dealer {
    rng: Xoshiro256PlusPlus,
    round: Vec<usize>,
    at: usize,
}

impl Dealer {
    fn new(n_pieces: usize, seed: u64) -> Self {
        Dealer { rng: Xoshiro256PlusPlus::seed_from_u64(seed), round: (0..n_pieces).collect(), at: n_pieces }
    }

    fn next(&mut self) -> usize {
        if self.at == self.round.len() {
            self.round.shuffle(&mut self.rng);
            self.at = 0;
        }
        self.at += 1;
        self.round[self.at - 1]
    }
}

/// What is coded.
#[derive(Clone, Copy)]
pub(super) struct Encoder<'a, 's> {
    pub samples: &'s Chunked<'s>,
    pub scan: &'s Scan,
    pub factors: Option<&'s [f64]>,
    pub plan: Plan,
    pub n_problems: usize,
    pub scratch: &'a dyn Scratch,
    pub seed: u64,
}

impl<'a> Encoder<'a, '_> {
    /// Codes all rows. With more than 65,536 distinct values, values are rounded to 12 significant bits: the partial
    /// coding, nearly always of the first chunk only, is discarded.
    pub fn encode(self, monitor: &Monitor<'_>) -> Result<(ValueCounts, Pieces<'a>)> {
        let factor = |feature: usize| self.factors.map_or(1.0, |factors| factors[feature]);
        let largest = self.scan.largest.iter().enumerate().map(|(j, largest)| (largest * factor(j)) as f32);
        let largest = largest.filter(|value| value.is_finite()).fold(f32::MIN_POSITIVE, f32::max);
        let coded = match self.encode_with(BookMaker::distinct(), monitor)? {
            None => self.encode_with(BookMaker::rounded(largest), monitor)?,
            coded => coded,
        };
        // A rounded codebook has a code for every value.
        coded.ok_or(Error::NoSamples(""))
    }

    /// None if there are more distinct values than a codebook holds.
    fn encode_with(self, mut book: BookMaker, monitor: &Monitor<'_>) -> Result<Option<(ValueCounts, Pieces<'a>)>> {
        let Encoder { samples, scan, factors, plan, n_problems, scratch, seed } = self;
        let mut pieces = Pieces::new(plan.n_blocks, n_problems, (!plan.in_memory).then_some(scratch));
        let mut buffers: Vec<PieceBuffer> = (0..BUFFERS).map(|_| PieceBuffer::new(scan.largest.len())).collect();
        let mut dealer = Dealer::new(BUFFERS, seed);
        let code = |rows: &AnyRows<'_>, first: usize, there: &[usize]| {
            let weights: Vec<f64> = there.iter().map(|row| samples.weights[first + row]).collect();
            Ok((first, there.to_vec(), CodedRows::new(rows, there, &weights, factors)?))
        };
        let mut is_full = false;
        let coded = samples.fold("encode", monitor, code, |(first, there, rows): Coded| {
            let codes = book.merge(&rows);
            is_full = codes.is_none();
            // This error only ends the pass.
            let codes = codes.ok_or(Error::NoSamples(""))?;
            for (at, row) in there.into_iter().enumerate() {
                let buffer = &mut buffers[dealer.next()];
                buffer.push((first + row) as u32, &rows, at, &codes);
                if buffer.n_bytes() >= plan.piece {
                    pieces.add(buffer)?;
                }
            }
            Ok(())
        });
        if is_full {
            return Ok(None);
        }
        coded?;
        for buffer in &mut buffers {
            pieces.add(buffer)?;
        }
        Ok(Some((book.finish(), pieces)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_has_its_share_of_any_stretch() {
        let mut dealer = Dealer::new(7, 1);
        let dealt: Vec<usize> = (0..7 * 50).map(|_| dealer.next()).collect();
        for round in dealt.chunks(7) {
            let mut round = round.to_vec();
            round.sort_unstable();
            assert_eq!(round, (0..7).collect::<Vec<_>>());
        }
        assert_ne!(dealt[..7], dealt[7..14]);
    }
}
