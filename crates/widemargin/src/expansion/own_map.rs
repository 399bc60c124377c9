//! The reduction of a user-defined kernel: its properties are checked on the training values, and it is tabulated.

use super::additive_map::{AdditiveMap, Approximation, ReducedKernel};
use super::kernel_table::{KernelTable, MAX_VALUES};
use super::nodes::{search, sketch};
use crate::error::Result;
use crate::linalg::eigen;
use crate::similarity::OwnKernel;

/// The bound of rounding, relative to the largest value of the kernel: users may compute in single precision.
const KERNEL_ROUNDING: f64 = 1e-6;

const NOT_DEFINITE: &str = "a kernel is positive semi-definite (the basis expansion takes any similarity; \
                            approximation = polynomial any symmetric function)";

/// A user-defined kernel, reduced at `nodes` or at `n_nodes` of the training values, which have these counts.
///
/// # Errors
/// [`Error::Parameter`](crate::Error::Parameter) for a kernel that is not finite, zero at zero, symmetric, or (for
/// Nyström) positive semi-definite, with the place and the amount; errors of nodes and of the function.
pub(crate) fn own_map(
    kernel: &OwnKernel,
    approximation: Approximation,
    nodes: Option<Vec<f64>>,
    n_nodes: usize,
    (values, counts): (&[f32], &[f64]),
) -> Result<AdditiveMap> {
    let training = Representatives::new(values, counts);
    let needs_definite = approximation == Approximation::Nystroem;
    let selected = examine(kernel, &training, needs_definite, n_nodes)?;
    let nodes = nodes.unwrap_or(selected);
    let table = KernelTable::new(kernel, &nodes, &training.values)?;
    if needs_definite && nodes.iter().all(|&node| table.diagonal(node) <= 0.0) {
        return Err(kernel.wrong("k(x, x) is 0 at every node, expected a value above 0 at one of them".into()));
    }
    AdditiveMap::reduced(approximation, ReducedKernel::Table(table), &nodes)
}

/// Training values that represent all: distinct, ascending, with the summed counts of the values that each represents.
struct Representatives {
    values: Vec<f64>,
    counts: Vec<f64>,
}

impl Representatives {
    /// Of values above 0, each once or several times; those with a count of 0 are ignored.
    fn new(values: &[f32], counts: &[f64]) -> Self {
        let mut pairs: Vec<(f32, f64)> =
            values.iter().copied().zip(counts.iter().copied()).filter(|(_, count)| *count > 0.0).collect();
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        pairs.dedup_by(|later, earlier| {
            let is_same = later.0 == earlier.0;
            if is_same {
                earlier.1 += later.1;
            }
            is_same
        });
        let n = pairs.len();
        let n_selected = n.min(MAX_VALUES);
        let mut all = Representatives { values: Vec::with_capacity(n_selected), counts: vec![0.0; n_selected] };
        for number in 0..n_selected {
            // The first and the last are always among them.
            let at = if n_selected < 2 { 0 } else { number * (n - 1) / (n_selected - 1) };
            all.values.push(pairs[at].0.into());
        }
        for (at, (_, count)) in pairs.iter().enumerate() {
            all.counts[at * n_selected / n] += count;
        }
        all
    }
}

/// Checks that a kernel is zero where x or y is, for these values of the other; gives k(x, x).
fn check_zero(kernel: &OwnKernel, values: &[f64]) -> Result<Vec<f64>> {
    let zeros = vec![0.0; values.len()];
    let diagonal = kernel.values(values, values)?;
    let size = diagonal.iter().fold(0.0f64, |most, value| most.max(value.abs()));
    for (x, y) in [(values, &zeros[..]), (&zeros[..], values)] {
        let found = kernel.values(x, y)?;
        if let Some(at) = found.iter().position(|value| value.abs() > KERNEL_ROUNDING * size) {
            let (x, y, value) = (x[at], y[at], found[at]);
            let problem = "an additive kernel is 0 where x or y is 0, so that zeros can be skipped";
            return Err(kernel.wrong(format!("k({x}, {y}) = {value}: {problem}")));
        }
    }
    Ok(diagonal)
}

/// The best nodes among the training values, once the kernel is found to be one.
fn examine(kernel: &OwnKernel, training: &Representatives, needs_definite: bool, n_nodes: usize) -> Result<Vec<f64>> {
    let values = &training.values;
    let diagonal = check_zero(kernel, values)?;
    // A function that is no kernel may be 0 at all (x, x), and must be looked at all the same.
    let masses = training.counts.iter().zip(&diagonal).map(|(count, size)| count * size.abs().max(f64::MIN_POSITIVE));
    let (grid, mass) = sketch(values.iter().copied().zip(masses).collect());
    let n = grid.len();
    let left: Vec<f64> = (0..n * n).map(|at| grid[at / n]).collect();
    let right: Vec<f64> = (0..n * n).map(|at| grid[at % n]).collect();
    let matrix = kernel.values(&left, &right)?;
    check_symmetric(kernel, &grid, &matrix)?;
    if !needs_definite || n == 0 {
        // Every sample is empty: any node will do.
        return Ok(vec![1.0]);
    }
    if let Some(at) = diagonal.iter().position(|value| *value < 0.0) {
        let (x, value) = (values[at], diagonal[at]);
        return Err(kernel.wrong(format!("k({x}, {x}) = {value}: {NOT_DEFINITE}")));
    }
    check_definite(kernel, n, &matrix)?;
    let roots: Vec<f64> = (0..n).map(|at| matrix[at * n + at].sqrt()).collect();
    let size = |at: usize| roots[at / n] * roots[at % n];
    let unit: Vec<f64> = (0..n * n).map(|at| if size(at) > 0.0 { matrix[at] / size(at) } else { 0.0 }).collect();
    Ok(search(&grid, &mass, &unit, n_nodes))
}

/// Checks that the kernel's matrix between `n` values has no negative eigenvalues.
fn check_definite(kernel: &OwnKernel, n: usize, matrix: &[f64]) -> Result<()> {
    let Some(found) = eigen::symmetric(matrix, n, false) else { return Ok(()) };
    let (least, most) = found.values.iter().fold((0.0f64, 0.0f64), |(l, m), value| (l.min(*value), m.max(*value)));
    if least < -KERNEL_ROUNDING * most {
        let found = format!("between {n} of the training values it has the eigenvalues {least:.3e} to {most:.3e}");
        return Err(kernel.wrong(format!("{found}: {NOT_DEFINITE}")));
    }
    Ok(())
}

/// Checks that a matrix between some values is symmetric.
fn check_symmetric(kernel: &OwnKernel, grid: &[f64], matrix: &[f64]) -> Result<()> {
    let n = grid.len();
    let size = matrix.iter().fold(0.0f64, |most, value| most.max(value.abs()));
    for at in 0..n * n {
        let (value, other) = (matrix[at], matrix[at % n * n + at / n]);
        if (value - other).abs() > KERNEL_ROUNDING * size {
            let (x, y) = (grid[at / n], grid[at % n]);
            let found = format!("k({x}, {y}) = {value} and k({y}, {x}) = {other}");
            return Err(kernel.wrong(format!("{found}: a kernel is symmetric")));
        }
    }
    Ok(())
}
