//! The order of the rows in an epoch.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Orders of rows, one per epoch. An epoch's order depends only on the seed, the number of the epoch and the rows, so
/// that the steps of a problem do not depend on the problems solved with it.
///
/// Rows that are adjacent in memory may be visited together: a random order of blocks and a random order in each.
/// Visits to single rows all over memory would miss the TLB (1.5 times as long); with large blocks the same rows would
/// always be visited together, which slows down descent: on 180,000 bags of words, 6 epochs with 64 rows, 4 with 4 rows
/// as with single ones. The caller must lay out the rows in random order, so that a block is a random sample.
pub(super) struct Order {
    n_rows: usize,
    /// Rows of a block.
    block: usize,
    seed: u64,
    order: Vec<u32>,
    blocks: Vec<u32>,
    /// The rows to be visited, if not all.
    some: Option<Vec<u32>>,
}

impl Order {
    pub fn new(n_rows: usize, block: usize, seed: u64) -> Self {
        let blocks = Vec::with_capacity(n_rows.div_ceil(block));
        Order { n_rows, block, seed, order: Vec::with_capacity(n_rows), blocks, some: None }
    }

    /// Visits all rows.
    pub fn begin(&mut self) {
        self.some = None;
    }

    /// Visits only those of its rows that pass.
    pub fn retain(&mut self, passes: impl Fn(usize) -> bool) {
        let some = self.some.get_or_insert_with(|| (0..self.n_rows as u32).collect());
        some.retain(|&row| passes(row as usize));
    }

    /// The order of epoch `epoch`.
    pub fn of(&mut self, epoch: u32) -> &[u32] {
        // The generator mixes the seeds; the odd factor distinguishes (seed, epoch) pairs.
        let seed = self.seed ^ u64::from(epoch).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let n_rows = self.some.as_ref().map_or(self.n_rows, Vec::len);
        self.blocks.clear();
        self.blocks.extend(0..n_rows.div_ceil(self.block) as u32);
        self.blocks.shuffle(&mut rng);
        self.order.clear();
        for &block in &self.blocks {
            let (from, at) = (block as usize * self.block, self.order.len());
            self.order.extend(from as u32..(from + self.block).min(n_rows) as u32);
            self.order[at..].shuffle(&mut rng);
        }
        if let Some(some) = &self.some {
            self.order.iter_mut().for_each(|at| *at = some[*at as usize]);
        }
        &self.order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_once_and_the_same_again_for_the_same_epoch() {
        let mut order = Order::new(1000, 4, 7);
        let first = order.of(1).to_vec();
        assert_ne!(first, order.of(2));
        assert_ne!(first, Order::new(1000, 4, 8).of(1));
        assert_eq!(first, order.of(1));
        let mut rows = first;
        rows.sort_unstable();
        assert_eq!(rows, (0..1000).collect::<Vec<u32>>());
        order.retain(|row| row % 3 == 0);
        let mut some = order.of(1).to_vec();
        some.sort_unstable();
        assert_eq!(some, (0..1000).step_by(3).collect::<Vec<u32>>());
        assert!(Order::new(0, 4, 7).of(1).is_empty());
    }
}
