//! Preconditioned conjugate gradients for several systems at once, with one pass over Φ per Hessian product.

use super::preconditioner::Preconditioner;
use crate::error::Result;

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
    let n = gradients.len() / size;
    let mut solved = Directions { points: vec![0.0; gradients.len()], products: vec![0; n] };
    let mut open: Vec<usize> = (0..n).collect();
    // Packed in the order of `open`.
    let mut residuals: Vec<f64> = gradients.iter().map(|g| -g).collect();
    let mut paths = preconditioner.apply(&residuals);
    let mut squares: Vec<f64> = (0..n).map(|k| dot(at(&residuals, k, size), at(&paths, k, size))).collect();
    let limits: Vec<f64> = squares.iter().map(|square| targets.left * square).collect();
    for _ in 0..targets.most {
        let Some(products) = product(&open, &paths)? else { break };
        let mut still = Vec::new();
        for (at_open, &k) in open.iter().enumerate() {
            let (path, along) = (at(&paths, at_open, size), at(&products, at_open, size));
            let step = squares[k] / dot(path, along);
            solved.products[k] += 1;
            // 0/0: the residual is already 0, or dominated by rounding.
            if !(step.is_finite() && step > 0.0) {
                continue;
            }
            let direction = &mut solved.points[k * size..(k + 1) * size];
            direction.iter_mut().zip(path).for_each(|(d, p)| *d += step * p);
            let residual = &mut residuals[at_open * size..(at_open + 1) * size];
            residual.iter_mut().zip(along).for_each(|(r, h)| *r -= step * h);
            if 0.5 * dot(residual, residual) > targets.half_squares[k] {
                still.push(at_open);
            }
        }
        residuals = still.iter().flat_map(|&k| at(&residuals, k, size)).copied().collect();
        paths = still.iter().flat_map(|&k| at(&paths, k, size)).copied().collect();
        open = still.iter().map(|&k| open[k]).collect();
        let solved = preconditioner.apply(&residuals);
        let mut still = Vec::new();
        for (at_open, &k) in open.iter().enumerate() {
            let square = dot(at(&residuals, at_open, size), at(&solved, at_open, size));
            let turn = square / squares[k];
            squares[k] = square;
            let path = &mut paths[at_open * size..(at_open + 1) * size];
            path.iter_mut().zip(at(&solved, at_open, size)).for_each(|(p, z)| *p = z + turn * *p);
            if square > limits[k] {
                still.push(at_open);
            }
        }
        if still.len() < open.len() {
            residuals = still.iter().flat_map(|&k| at(&residuals, k, size)).copied().collect();
            paths = still.iter().flat_map(|&k| at(&paths, k, size)).copied().collect();
            open = still.iter().map(|&k| open[k]).collect();
        }
        if open.is_empty() {
            break;
        }
    }
    Ok(solved)
}

fn at(points: &[f64], k: usize, size: usize) -> &[f64] {
    &points[k * size..(k + 1) * size]
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
