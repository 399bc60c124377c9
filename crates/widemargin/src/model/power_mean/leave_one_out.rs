//! Leave-one-out decision values by one Newton step from the solution of all rows, to calibrate probabilities.

use crate::error::Result;
use crate::linalg::factor::{Cholesky, Matrix, add_gram};
use crate::par::Pool;
use crate::problem::{Block, OneVsRest};
use crate::tuning::{MAX_HESSIAN_COORDINATES, MAX_HESSIAN_NUMBERS};

/// A squared hinge SVM without an intercept, solved.
pub(super) struct SolvedRows<'a> {
    pub phi: Block<'a>,
    pub n_coordinates: usize,
    pub targets: OneVsRest<'a>,
    pub costs: &'a [f64],
    /// `[problem][coordinate]`.
    pub weights: &'a [f32],
}

impl SolvedRows<'_> {
    /// The decision values of some rows, `[problem][row]`, each from the fit without this share of its weight; none if
    /// other ways are faster.
    ///
    /// With the Hessian H = I + Σ 2c φφᵀ over the rows within the margin and h = 2c φᵀH⁻¹φ times the share, a row within
    /// the margin gets y − (y − f)/(1 − h), which is exact where its absence moves no other row over the margin; any
    /// other row gets f, which is exact. n d² + d³/3 flops a problem for n rows within the margin and d coordinates.
    pub fn leave_one_out(&self, rows: &[usize], shares: &[f64], pool: &Pool) -> Result<Option<Vec<Vec<f32>>>> {
        let (n, d) = (self.costs.len(), self.n_coordinates);
        if d > MAX_HESSIAN_COORDINATES || n.saturating_mul(d) > MAX_HESSIAN_NUMBERS {
            return Ok(None);
        }
        let mut found = Vec::with_capacity(self.targets.n_problems());
        for (problem, weights) in self.weights.chunks_exact(d).enumerate() {
            match self.of_problem(problem, weights, (rows, shares), pool)? {
                Some(values) => found.push(values),
                None => return Ok(None),
            }
        }
        Ok(Some(found))
    }

    fn of_problem(
        &self,
        problem: usize,
        weights: &[f32],
        (rows, shares): (&[usize], &[f64]),
        pool: &Pool,
    ) -> Result<Option<Vec<f32>>> {
        let d = self.n_coordinates;
        let costs = self.targets.costs(self.costs, problem);
        let values: Vec<f64> = (0..costs.len()).map(|row| self.phi.dot(row, weights)).collect();
        let is_within = |row: &usize| costs[*row] > 0.0 && self.targets.sign(*row, problem) * values[*row] < 1.0;
        let within: Vec<usize> = (0..costs.len()).filter(is_within).collect();
        // Columns are rows of the problem, each times √(2c).
        let mut scaled = vec![0.0f32; d * within.len()];
        for (at, &row) in within.iter().enumerate() {
            let root = (2.0 * costs[row]).sqrt();
            self.phi.for_each_nonzero(row, |coordinate, x| {
                scaled[coordinate * within.len() + at] = (root * x) as f32;
            });
        }
        let mut hessian = Matrix::zeros(d, d);
        if !within.is_empty() {
            add_gram(&mut hessian, &scaled, &vec![1.0; d], pool);
        }
        (0..d).for_each(|at| hessian.set(at, at, hessian.at(at, at) + 1.0));
        let Some(factor) = Cholesky::new(hessian) else { return Ok(None) };
        let places: Vec<Option<usize>> = rows.iter().map(|row| within.binary_search(row).ok()).collect();
        let inside: Vec<usize> = places.iter().flatten().copied().collect();
        let columns = inside.iter().flat_map(|&at| (0..d).map(move |c| (c, at)));
        let columns = columns.map(|(coordinate, at)| f64::from(scaled[coordinate * within.len() + at])).collect();
        let mut solved = Matrix::from_columns(columns, d, inside.len());
        factor.solve_lower(&mut solved);
        let mut leverages = (0..inside.len()).map(|at| solved.col(at).iter().map(|x| x * x).sum::<f64>());
        let value = |(&row, place): (&usize, &Option<usize>)| {
            let Some(leverage) = place.and_then(|_| leverages.next()) else { return values[row] as f32 };
            let y = self.targets.sign(row, problem);
            (y - (y - values[row]) / (1.0 - shares[row] * leverage).max(f64::EPSILON)) as f32
        };
        Ok(Some(rows.iter().zip(&places).map(value).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::DenseView;
    use crate::monitor::Monitor;
    use crate::problem::{Intercept, LinearObjective, LinearProblem, Loss};
    use crate::solve::newton::{self, NewtonSettings};

    /// Numbers from −1 to 1.
    fn numbers(n: usize) -> Vec<f32> {
        let mut state = 7u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
        };
        (0..n).map(|_| next()).collect()
    }

    #[test]
    fn loo_values_equal_refits() {
        let (n, d, classes) = (120, 6, 3);
        let values = numbers(n * d);
        let view = DenseView::new(&values, n, d).unwrap();
        let class = |row: usize| {
            let x = &values[row * d..];
            if x[0] + 0.5 * x[1] > 0.3 { 0 } else { 1 + u32::from(x[2] > 0.2 * x[3]) }
        };
        let codes: Vec<u32> = (0..n).map(class).collect();
        let targets = OneVsRest::new(&codes, classes);
        let phi = Block::from(view);
        let solve = |costs: &[f64]| {
            let blocks = [phi];
            let (loss, intercept) = (Loss::SquaredHinge, Intercept::None);
            let problem = LinearProblem { targets, costs, loss, intercept };
            let mut objective = LinearObjective::new(&blocks, problem, 1).unwrap();
            let settings = NewtonSettings { tol: 1e-8, threads: 1, ..NewtonSettings::default() };
            newton::solve(&mut objective, &settings, None, &Monitor::none()).unwrap().weights
        };
        for cost in [0.05, 1.0, 20.0] {
            let costs: Vec<f64> = (0..n).map(|row| cost * [1.0, 2.0, 0.5][row % 3]).collect();
            let weights = solve(&costs);
            let solved = SolvedRows { phi, n_coordinates: d, targets, costs: &costs, weights: &weights };
            let rows: Vec<usize> = (0..20).chain(50..70).collect();
            // Of some rows one of four samples is left out.
            let shares: Vec<f64> = (0..n).map(|row| if row % 4 == 0 { 0.25 } else { 1.0 }).collect();
            let found = solved.leave_one_out(&rows, &shares, &Pool::new(1).unwrap()).unwrap().unwrap();
            let (mut away, mut moved) = (0.0, 0.0);
            for (at, &row) in rows.iter().enumerate() {
                let mut rest = costs.clone();
                rest[row] *= 1.0 - shares[row];
                let without = solve(&rest);
                for problem in 0..classes {
                    let value = |weights: &[f32]| phi.dot(row, &weights[problem * d..][..d]);
                    let (truth, before, loo_value) = (value(&without), value(&weights), f64::from(found[problem][at]));
                    away += (loo_value - truth).powi(2);
                    moved += (before - truth).powi(2);
                    if targets.sign(row, problem) * before > 1.0 {
                        assert!((loo_value - truth).abs() < 1e-3, "{cost}, row {row}: {loo_value} {truth}");
                    }
                }
            }
            assert!(moved > 1e-3 && away < 0.02 * moved, "{cost}: {away} of {moved}");
        }
    }
}
