//! The order in which an epoch visits the rows.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Rows that stand together in memory are visited together: a fresh random order of blocks and a fresh
/// random order in each. Visits to single rows all over memory would miss the caches and the page table's;
/// the caller is to lay the rows out in random order, so that a block is a random sample.
const BLOCK: usize = 64;

/// Active rows and the seeded source of their order. The same seed gives the same orders, whoever asks.
pub(super) struct Order {
    rng: Xoshiro256PlusPlus,
    /// Ascending.
    active: Vec<u32>,
    order: Vec<u32>,
    blocks: Vec<u32>,
    n_rows: usize,
}

impl Order {
    pub fn new(n_rows: usize, seed: u64) -> Self {
        let active: Vec<u32> = (0..n_rows as u32).collect();
        let rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        Order { rng, order: Vec::with_capacity(n_rows), active, blocks: Vec::new(), n_rows }
    }

    /// A new order of the active rows.
    pub fn next(&mut self) -> &[u32] {
        self.blocks.clear();
        self.blocks.extend(0..self.active.len().div_ceil(BLOCK) as u32);
        self.blocks.shuffle(&mut self.rng);
        self.order.clear();
        for &block in &self.blocks {
            let from = block as usize * BLOCK;
            let at = self.order.len();
            self.order.extend_from_slice(&self.active[from..(from + BLOCK).min(self.active.len())]);
            self.order[at..].shuffle(&mut self.rng);
        }
        &self.order
    }

    /// Leaves out the rows marked true (there are `count` of them) until [`Order::restore`].
    pub fn leave_out(&mut self, left_out: &[bool], count: usize) {
        if count > 0 {
            self.active.retain(|&row| !left_out[row as usize]);
        }
    }

    /// All rows again.
    pub fn restore(&mut self) {
        if self.active.len() < self.n_rows {
            self.active = (0..self.n_rows as u32).collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_active_row_once_in_a_new_order_each_time() {
        let mut order = Order::new(1000, 7);
        let first = order.next().to_vec();
        let second = order.next().to_vec();
        assert_ne!(first, second);
        for mut rows in [first.clone(), second] {
            rows.sort_unstable();
            assert_eq!(rows, (0..1000).collect::<Vec<u32>>());
        }
        assert_eq!(first, Order::new(1000, 7).next());
        let even: Vec<bool> = (0..1000).map(|i| i % 2 == 0).collect();
        order.leave_out(&even, 500);
        assert!(order.next().iter().all(|row| row % 2 == 1));
        assert_eq!(order.next().len(), 500);
        order.restore();
        assert_eq!(order.next().len(), 1000);
    }
}
