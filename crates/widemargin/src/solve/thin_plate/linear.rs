//! Do the polynomials alone separate the data? Decided by the smallest squared hinge loss over them.

use super::newton::{Lambdas, Stop, minimize};
use super::system::{Point, System, Target};
use crate::error::Result;
use crate::linalg::factor::{Cholesky, Matrix, Side, Svd, add_lower_product, add_scaled};
use crate::monitor::Monitor;

/// After this many steps data count as not separated.
pub(super) const STOP: Stop = Stop { max_steps: 60, tol: 0.0 };

/// Mean loss below which data count as separated.
pub(super) const NOTHING: f64 = 1e-12;

/// f = Uγ, without a penalty.
struct Linear<'a> {
    columns: &'a Matrix,
}

/// True if some γ has y (Uγ) ≥ √w on every sample, for orthonormal U.
pub(crate) fn separates(columns: &Matrix, target: Target<'_>, monitor: &Monitor<'_>) -> Result<bool> {
    let system = Linear { columns };
    let start = system.origin();
    let total: f64 = target.roots.iter().map(|root| root * root).sum();
    let solution = minimize(&system, Lambdas::new(0.0, 1.0), target, &start, STOP, &mut (), monitor)?;
    Ok(solution.is_some_and(|solution| solution.objective <= NOTHING * total))
}

impl System for Linear<'_> {
    type Factor = ();
    type Memory = ();

    fn origin(&self) -> Point {
        let (scores, free) = (vec![0.0; self.columns.n_rows()], vec![0.0; self.columns.n_cols()]);
        Point { free, scores, ..Point::default() }
    }

    fn solve(
        &self,
        _: f64,
        violators: &[usize],
        target: Target<'_>,
        from: &Point,
        (): &mut (),
    ) -> Result<Option<(Point, ())>> {
        // The change of γ with the best fit to the violators, the smallest if there are several.
        let rows = self.columns.select_rows(violators);
        let slack = |&i: &usize| target.signs[i] * target.slack(&from.scores, i);
        let rest: Vec<f64> = violators.iter().map(slack).collect();
        let mut free = from.free.clone();
        match normal_equations(&rows, &rest) {
            Some(change) => add_scaled(&mut free, 1.0, &change),
            None => {
                let Some(svd) = Svd::new(&rows, 1e-10) else { return Ok(None) };
                for (k, part) in svd.u.transposed_times(&rest).into_iter().enumerate() {
                    add_scaled(&mut free, part / svd.s[k], svd.v.col(k));
                }
            }
        }
        let scores = self.columns.times(&free);
        Ok(Some((Point { free, scores, ..Point::default() }, ())))
    }

    fn inner(&self, _: &Point, _: &Point) -> f64 {
        0.0
    }
}

/// The least-squares solution by its normal equations if they are well conditioned: fast on many rows.
fn normal_equations(rows: &Matrix, rest: &[f64]) -> Option<Vec<f64>> {
    let r = rows.n_cols();
    if rows.n_rows() < 2 * r {
        return None;
    }
    let mut gram = Matrix::zeros(r, r);
    add_lower_product(&mut gram, 1.0, Side::Transposed(rows), Side::Plain(rows));
    // A shift that turns a rank deficiency into a failed pivot instead of noise.
    let largest = (0..r).map(|i| gram.at(i, i)).fold(0.0, f64::max);
    (0..r).for_each(|i| gram.set(i, i, gram.at(i, i) - 1e-9 * largest));
    let safe = Cholesky::new(gram.clone()).is_some();
    (0..r).for_each(|i| gram.set(i, i, gram.at(i, i) + 1e-9 * largest));
    let cholesky = Cholesky::new(gram).filter(|_| safe)?;
    let mut change = Matrix::from_columns(rows.transposed_times(rest), r, 1);
    cholesky.solve_lower(&mut change);
    cholesky.solve_lower_transposed(&mut change);
    Some(change.col(0).to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(points: &[f64], signs: &[f64]) -> bool {
        let n = signs.len();
        let columns = Matrix::from_columns(points.iter().copied().chain(vec![1.0; n]).collect(), n, 2);
        let svd = Svd::new(&columns, 1e-10).unwrap();
        separates(&svd.u, Target { signs, roots: &vec![1.0; n], weights: None }, &Monitor::none()).unwrap()
    }

    #[test]
    fn a_line_cut_once_is_separated_and_cut_twice_is_not() {
        assert!(answer(&[0.0, 1.0, 1.01, 2.0, 5.0, 9.0], &[1.0, 1.0, -1.0, -1.0, -1.0, -1.0]));
        assert!(!answer(&[0.0, 1.0, 1.01, 2.0, 5.0, 9.0], &[1.0, 1.0, -1.0, -1.0, -1.0, 1.0]));
        assert!(!answer(&[0.0, 1.0, 1.0, 2.0], &[1.0, 1.0, -1.0, -1.0]));
    }
}
