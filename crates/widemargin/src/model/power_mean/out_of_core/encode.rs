//! The second pass: rows are coded and dealt to pieces at random.
//!
//! Consecutive rows, as many as there are pieces in progress, go to different pieces in random order. So a piece is a
//! random sample of a range of rows, and neighbors, which are often similar, are separated.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::plan::{BUFFERS, Plan};
use super::scan::{ChunkWork, Chunked, Scan};
use super::store::Pieces;
use crate::data::{Rows, Scratch};
use crate::error::{Error, Result};
use crate::expansion::{BookMaker, Codebook, CodedRows, PieceBuffer};
use crate::monitor::Monitor;

/// Codes chunks independently.
struct Code<'a> {
    factors: Option<&'a [f64]>,
    weights: &'a [f64],
}

/// An independently coded chunk: the number of its first row, the rows with weight, and their entries.
type Coded = (usize, Vec<usize>, CodedRows);

impl ChunkWork<Coded> for Code<'_> {
    fn of(&self, rows: &impl Rows, first: usize, there: &[usize]) -> Result<Coded> {
        let weights: Vec<f64> = there.iter().map(|row| self.weights[first + row]).collect();
        Ok((first, there.to_vec(), CodedRows::new(rows, there, &weights, self.factors)?))
    }
}

/// Why coding stopped.
enum Ended {
    /// There are more distinct values than a codebook holds.
    TooMany,
    Failed(Error),
}

impl From<Error> for Ended {
    fn from(error: Error) -> Self {
        Ended::Failed(error)
    }
}

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

/// Codes all rows. With more than 65,536 distinct values, values are rounded to 12 significant bits: the partial
/// coding, nearly always of the first chunk only, is discarded.
pub(super) fn encode<'a>(
    samples: &Chunked<'_>,
    scan: &Scan,
    factors: Option<&[f64]>,
    plan: Plan,
    scratch: &'a dyn Scratch,
    seed: u64,
    monitor: &Monitor<'_>,
) -> Result<(Codebook, Pieces<'a>)> {
    let largest = scan.largest.iter().enumerate().map(|(j, largest)| (largest * factors.map_or(1.0, |f| f[j])) as f32);
    let largest = largest.filter(|value| value.is_finite()).fold(f32::MIN_POSITIVE, f32::max);
    match encode_with(BookMaker::distinct(), samples, scan, factors, plan, scratch, seed, monitor) {
        Ok(done) => Ok(done),
        Err(Ended::Failed(error)) => Err(error),
        Err(Ended::TooMany) => {
            let rounded = BookMaker::rounded(largest);
            encode_with(rounded, samples, scan, factors, plan, scratch, seed, monitor).map_err(|ended| match ended {
                Ended::Failed(error) => error,
                // A rounded codebook has a code for every value.
                Ended::TooMany => Error::NoSamples(""),
            })
        }
    }
}

#[allow(clippy::too_many_arguments)]
fn encode_with<'a>(
    mut book: BookMaker,
    samples: &Chunked<'_>,
    scan: &Scan,
    factors: Option<&[f64]>,
    plan: Plan,
    scratch: &'a dyn Scratch,
    seed: u64,
    monitor: &Monitor<'_>,
) -> Result<(Codebook, Pieces<'a>), Ended> {
    let mut pieces = Pieces::new(plan, (!plan.in_memory).then_some(scratch));
    let mut buffers: Vec<PieceBuffer> = (0..BUFFERS).map(|_| PieceBuffer::new(scan.largest.len())).collect();
    let mut dealer = Dealer::new(BUFFERS, seed);
    let code = Code { factors, weights: samples.weights };
    samples.fold("encode", monitor, code, |(first, there, rows): Coded| {
        let codes = book.merge(&rows).ok_or(Ended::TooMany)?;
        for (at, row) in there.into_iter().enumerate() {
            let buffer = &mut buffers[dealer.next()];
            buffer.push((first + row) as u32, &rows, at, &codes);
            if buffer.n_bytes() >= plan.piece {
                pieces.add(buffer)?;
            }
        }
        Ok::<(), Ended>(())
    })?;
    for buffer in &mut buffers {
        pieces.add(buffer)?;
    }
    Ok((book.finish(), pieces))
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
