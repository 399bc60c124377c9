//! Products of dense rows in half of the memory: the upper 16 bits of numbers in single precision, which are widened a
//! few rows at a time.

use super::Products;
use super::sums::Sums;
use crate::data::{DenseView, Rows};
use crate::error::Result;
use crate::linalg::factor::Matrix;
use crate::monitor::Monitor;
use crate::par::Pool;

/// Row-major rows of 16-bit numbers.
#[derive(Clone, Copy, Debug)]
pub struct HalfView<'a> {
    /// The upper bits of each number.
    pub bits: &'a [u16],
    /// Numbers of a row.
    pub width: usize,
}

fn widened(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

impl HalfView<'_> {
    /// Some rows in single precision.
    fn with<T>(&self, rows: impl Iterator<Item = usize>, work: impl FnOnce(DenseView<'_, f32>) -> T) -> T {
        let width = self.width;
        let values: Vec<f32> =
            rows.flat_map(|row| &self.bits[row * width..(row + 1) * width]).map(|&bits| widened(bits)).collect();
        work(DenseView::new(&values, values.len() / width.max(1), width).expect("whole rows"))
    }

    fn all<T>(&self, work: impl FnOnce(DenseView<'_, f32>) -> T) -> T {
        self.with(0..self.n_rows(), work)
    }
}

impl Rows for HalfView<'_> {
    fn n_rows(&self) -> usize {
        self.bits.len() / self.width.max(1)
    }

    fn n_cols(&self) -> usize {
        self.width
    }

    fn for_each_nonzero(&self, row: usize, mut visit: impl FnMut(usize, f64)) {
        let values = self.bits[row * self.width..(row + 1) * self.width].iter().map(|&bits| f64::from(widened(bits)));
        values.enumerate().filter(|(_, value)| *value != 0.0).for_each(|(column, value)| visit(column, value));
    }
}

impl Products for HalfView<'_> {
    fn n_values(&self) -> usize {
        self.bits.len()
    }

    fn pack(&self, points: &[f64], stride: usize) -> Vec<f32> {
        self.with(0..0, |none| none.pack(points, stride))
    }

    fn scores(&self, rows: &[u32], packed: &[f32], out: &mut [f32]) {
        let all: Vec<u32> = (0..rows.len() as u32).collect();
        self.with(rows.iter().map(|&row| row as usize), |some| some.scores(&all, packed, out));
    }

    fn add_combination(&self, rows: &[u32], factors: &[f32], sums: &mut Sums) {
        let all: Vec<u32> = (0..rows.len() as u32).collect();
        self.with(rows.iter().map(|&row| row as usize), |some| some.add_combination(&all, factors, sums));
    }

    fn sums(&self, n_problems: usize) -> Sums {
        self.with(0..0, |none| none.sums(n_problems))
    }

    fn unpack(&self, sums: Sums) -> Vec<f64> {
        self.with(0..0, |none| none.unpack(sums))
    }

    fn gram_cost(&self) -> f64 {
        0.5 * (self.n_rows() * self.width) as f64 * self.width as f64
    }

    fn gram(&self, factors: &[f32], pool: &Pool, monitor: &Monitor<'_>) -> Result<Option<Vec<f32>>> {
        self.all(|all| all.gram(factors, pool, monitor))
    }

    fn inner_products(&self, roots: &[f64], pool: &Pool) -> Matrix {
        self.all(|all| all.inner_products(roots, pool))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Labels;
    use crate::problem::{Block, BlockObjective, Intercept, LinearProblem, Loss, OneVsRest};
    use crate::solve::newton::{self, NewtonSettings};

    #[test]
    fn the_model_is_that_of_the_same_numbers_in_single_precision() {
        let (n, width) = (300, 7);
        let bits: Vec<u16> = (0..n * width)
            .map(|at| (crate::draw::mixed(at as u64) % 1000) as f32 / 500.0 - 1.0)
            .map(|x| (x.to_bits() >> 16) as u16)
            .collect();
        let labels =
            Labels::new((0..n).map(|row| i64::from(bits[row * width] > bits[row * width + 1])).collect::<Vec<_>>());
        let costs = vec![1.0; n];
        let problem = LinearProblem {
            targets: OneVsRest::of(&labels),
            costs: &costs,
            loss: Loss::SquaredHinge,
            intercept: Intercept::Free,
        };
        let half = HalfView { bits: &bits, width };
        let solved = |block: Block<'_>| {
            let mut objective = BlockObjective::new(block, problem, 1).unwrap();
            newton::solve(&mut objective, &NewtonSettings::default(), None, &Monitor::none()).unwrap().weights
        };
        let of_half = solved(Block::Half(half));
        half.all(|all| assert_eq!(of_half, solved(Block::Dense(all))));
    }
}
