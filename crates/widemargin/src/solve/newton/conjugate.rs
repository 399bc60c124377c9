//! Preconditioned conjugate gradients for several systems at once, with one pass over Φ per Hessian product.

use super::preconditioner::Preconditioner;
use crate::error::Result;
use crate::linalg::factor::add_scaled;

/// The stopping rule.
#[derive(Clone, Copy, Debug)]
pub(super) struct Targets<'a> {
    /// The fraction of rᵀM⁻¹r that may remain.
    pub left: f64,
    /// ½‖r‖² that would meet the stopping rule of the solver, one per problem.
    pub half_squares: &'a [f64],
    /// The maximum number of products.
    pub most: u32,
}

/// Directions, and the number of products for each.
#[derive(Debug)]
pub(super) struct Directions {
    pub points: Vec<f64>,
    pub products: Vec<u32>,
}

/// An unsolved system.
struct System {
    /// Its number.
    k: usize,
    residual: Vec<f64>,
    path: Vec<f64>,
    /// rᵀM⁻¹r.
    square: f64,
    /// How much of it may remain.
    limit: f64,
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Solves H_k·d_k = −g_k for every problem, where `gradients` are points of `size` numbers.
///
/// `product(open, p)` returns H·p for the problems `open`, or `None` to stop with the current directions.
pub(super) fn solve(
    gradients: &[f64],
    size: usize,
    preconditioner: &Preconditioner,
    targets: &Targets<'_>,
    mut product: impl FnMut(&[usize], &[f64]) -> Result<Option<Vec<f64>>>,
) -> Result<Directions> {
    let mut solved = Directions { points: vec![0.0; gradients.len()], products: vec![0; gradients.len() / size] };
    let residuals: Vec<f64> = gradients.iter().map(|g| -g).collect();
    let paths = preconditioner.apply(&residuals);
    let system = |(k, (residual, path)): (usize, (&[f64], &[f64]))| {
        let square = dot(residual, path);
        System { k, residual: residual.to_vec(), path: path.to_vec(), square, limit: targets.left * square }
    };
    let mut open: Vec<System> = residuals.chunks(size).zip(paths.chunks(size)).enumerate().map(system).collect();
    for _ in 0..targets.most {
        let numbers: Vec<usize> = open.iter().map(|system| system.k).collect();
        let paths: Vec<f64> = open.iter().flat_map(|system| &system.path).copied().collect();
        let Some(products) = product(&numbers, &paths)? else { break };
        let mut products = products.chunks(size);
        open.retain_mut(|System { k, residual, path, square, .. }| {
            let along = products.next().unwrap_or_default();
            let step = *square / dot(path, along);
            solved.products[*k] += 1;
            // 0/0: the residual is already 0, or dominated by rounding.
            if !(step.is_finite() && step > 0.0) {
                return false;
            }
            add_scaled(&mut solved.points[*k * size..(*k + 1) * size], step, path);
            add_scaled(residual, -step, along);
            0.5 * dot(residual, residual) > targets.half_squares[*k]
        });
        let residuals: Vec<f64> = open.iter().flat_map(|system| &system.residual).copied().collect();
        let preconditioned = preconditioner.apply(&residuals);
        let mut preconditioned = preconditioned.chunks(size);
        open.retain_mut(|System { residual, path, square, limit, .. }| {
            let solved = preconditioned.next().unwrap_or_default();
            let before = std::mem::replace(square, dot(residual, solved));
            let turn = *square / before;
            path.iter_mut().zip(solved).for_each(|(p, z)| *p = z + turn * *p);
            *square > *limit
        });
        if open.is_empty() {
            break;
        }
    }
    Ok(solved)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_several_systems_each_in_its_time() {
        // Diagonal Hessians; the second problem's gradient is 0.
        let hessian = [1.0, 10.0, 100.0];
        let gradients = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0];
        let preconditioner = Preconditioner::Diagonal(vec![1.0; 3]);
        let targets = Targets { left: 1e-24, half_squares: &[0.0; 3], most: 50 };
        let found = solve(&gradients, 3, &preconditioner, &targets, |open, paths| {
            assert!(open.len() <= 3 && paths.len() == 3 * open.len());
            Ok(Some(paths.iter().enumerate().map(|(i, p)| hessian[i % 3] * p).collect()))
        })
        .unwrap();
        for (i, (d, g)) in found.points.iter().zip(&gradients).enumerate() {
            assert!((d + g / hessian[i % 3]).abs() < 1e-9, "{:?}", found.points);
        }
        assert!(found.products[0] <= 4 && found.products[1] == 1 && found.products[2] == 1);
    }
}
