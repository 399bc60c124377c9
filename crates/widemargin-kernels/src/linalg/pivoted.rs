//! Cholesky's factorization with pivots: the rows that span a semi-definite matrix, the most telling first.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt_pivoting::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::{MatMut, Par};

use super::factor::{Cholesky, Matrix, Side, add_lower_product};
use super::registers::clear_upper_halves;

/// P S Pᵀ ≈ L Lᵀ, of the first pivots only.
#[derive(Clone, Debug)]
pub struct Pivoted {
    /// The rows of S in the order of P: each the one whose residual is the largest after those before it.
    pub order: Vec<usize>,
    /// The factor of the rows and columns that are pivots.
    pub factor: Cholesky,
    /// S less the part explained by the pivots, for the other rows in their order; its lower triangle.
    pub rest: Matrix,
}

impl Pivoted {
    /// Takes pivots until the residuals of all other rows are at most `least`. About n³/3 flops, and those of `rest`:
    /// 2 (n − r)² r for r pivots. `None` for a negative diagonal, and for numbers that are not finite.
    pub fn new(matrix: &Matrix, least: f64) -> Option<Self> {
        let n = matrix.n_rows();
        if !matrix.values().iter().all(|x| x.is_finite()) {
            return None;
        }
        let mut values = matrix.values().to_vec();
        let (mut order, mut inverse) = (vec![0usize; n], vec![0usize; n]);
        let scratch = cholesky_in_place_scratch::<usize, f64>(n, Par::Seq, Default::default());
        let mut memory = MemBuffer::new(scratch);
        let whole = MatMut::from_column_major_slice_mut(&mut values, n, n);
        let stack = MemStack::new(&mut memory);
        let found = cholesky_in_place(whole, &mut order, &mut inverse, Par::Seq, stack, Default::default());
        let n_found = found.map(|(found, _)| found.rank);
        clear_upper_halves();
        let n_found = n_found.ok()?;
        let lower = Matrix::from_columns(values, n, n);
        let is_pivot = |at: &usize| lower.at(*at, *at).powi(2) > least;
        let n_pivots = (0..n_found).take_while(is_pivot).count();
        let factor = Cholesky::leading(&lower, n_pivots);
        let others = &order[n_pivots..];
        let mut rest = matrix.select_rows(others).select_cols(others);
        let below = lower.select_row_range(n_pivots..n).truncated(n_pivots);
        add_lower_product(&mut rest, -1.0, Side::Plain(&below), Side::Transposed(&below));
        Some(Pivoted { order, factor, rest })
    }

    /// The rows that are pivots.
    pub fn pivots(&self) -> &[usize] {
        &self.order[..self.order.len() - self.rest.n_rows()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::factor::product;

    #[test]
    fn pivots_account_for_all_but_the_rest() {
        let n = 60;
        // A Gaussian far wider than the distances of the points.
        let at = |i: usize, j: usize| (-((i * 7 % n) as f64 - (j * 7 % n) as f64).powi(2) / 50.0).exp();
        let matrix = Matrix::from_columns((0..n * n).map(|place| at(place % n, place / n)).collect(), n, n);
        for least in [1e-2, 1e-6] {
            let found = Pivoted::new(&matrix, least).unwrap();
            let r = found.pivots().len();
            assert!(r > 5 && r < n, "{r}");
            let mut sorted = found.order.clone();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..n));
            // The rest is the Schur complement of the pivots, whose diagonal is small.
            let (pivots, others) = found.order.split_at(r);
            let inverse = found.factor.inverse_lower();
            let across = matrix.select_rows(pivots).select_cols(others);
            let half = product(Side::Plain(&inverse), Side::Plain(&across));
            let explained = product(Side::Transposed(&half), Side::Plain(&half));
            for i in 0..n - r {
                for j in 0..=i {
                    let right = matrix.at(others[i], others[j]) - explained.at(i, j);
                    assert!((found.rest.at(i, j) - right).abs() < 1e-9, "{i} {j}");
                }
                assert!(found.rest.at(i, i) <= least && found.rest.at(i, i) > -1e-9);
            }
        }
        assert_eq!(Pivoted::new(&matrix, 2.0).unwrap().pivots().len(), 0);
        let mut wrong = matrix.clone();
        wrong.set(3, 3, -1.0);
        assert!(Pivoted::new(&wrong, 1e-6).is_none());
        wrong.set(3, 3, f64::NAN);
        assert!(Pivoted::new(&wrong, 1e-6).is_none());
    }
}
