//! Selection of Nyström nodes that retain most of the kernel on the training data.
//!
//! With nodes c the map loses Σ_x ω(x) · (k(x, x) − k̂(x, x)), where ω counts the occurrences of the value x. A sketch
//! of the values (at most [`NODE_GRID`] of them, at quantiles of the kernel's mass) is searched greedily, one node at a
//! time; then nodes are exchanged for better ones until none is found.

use crate::linalg::factor::add_scaled;
use crate::similarity::AdditiveKernel;
use crate::tuning::{NODE_GRID, NODE_ROUNDS};

/// The best `n_nodes` nodes for values with these counts.
///
/// Returns fewer nodes if there are fewer distinct values, or if fewer already retain the whole kernel. Values must be
/// finite and above 0; those with a count of 0 are ignored.
pub fn choose_nodes(kernel: AdditiveKernel, values: &[f32], counts: &[f64], n_nodes: usize) -> Vec<f64> {
    // k(x, x) = x.
    let masses = values.iter().zip(counts).map(|(&value, &count)| (f64::from(value), count * f64::from(value)));
    let (grid, mass) = sketch(masses.collect());
    let n = grid.len();
    let unit = |x: f64, y: f64| kernel.value(x, y) / (x.sqrt() * y.sqrt());
    search(&grid, &mass, &(0..n * n).map(|at| unit(grid[at / n], grid[at % n])).collect::<Vec<_>>(), n_nodes)
}

/// The best of the values of a sketch as nodes, for the kernel's matrix between them, scaled to a unit diagonal.
pub(super) fn search(grid: &[f64], mass: &[f64], unit: &[f64], n_nodes: usize) -> Vec<f64> {
    let n = grid.len();
    let mut nodes: Vec<usize> = Vec::new();
    for _ in 0..n_nodes.min(n) {
        match best_addition(&residual(unit, n, &nodes), mass) {
            Some((candidate, _)) => nodes.push(candidate),
            None => break,
        }
    }
    for _ in 0..NODE_ROUNDS {
        let before = nodes.clone();
        for position in 0..nodes.len() {
            let current = nodes[position];
            let mut others = nodes.clone();
            others.remove(position);
            let rest = residual(unit, n, &others);
            if let Some((candidate, gain)) = best_addition(&rest, mass)
                && gain > gain_of(&rest, mass, current) * (1.0 + 1e-9)
            {
                nodes[position] = candidate;
            }
        }
        if nodes == before {
            break;
        }
    }
    nodes.iter().map(|&at| grid[at]).collect()
}

/// At most [`NODE_GRID`] of the values, each representing its share of Σ count · k(x, x), the kernel's mass. `pairs` are
/// the values with their masses.
pub(super) fn sketch(mut pairs: Vec<(f64, f64)>) -> (Vec<f64>, Vec<f64>) {
    pairs.retain(|(_, mass)| *mass > 0.0);
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = pairs.iter().map(|(_, mass)| mass).sum();
    let (mut grid, mut mass): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    let (mut done, mut last_bin) = (0.0, usize::MAX);
    for (value, share) in pairs {
        // A value belongs to the bin of its midpoint, so that a heavy one has its own bin.
        let bin = (((done + 0.5 * share) / total * NODE_GRID as f64) as usize).min(NODE_GRID - 1);
        done += share;
        if bin == last_bin {
            // The bin is represented by its value of the largest mass so far.
            let at = grid.len() - 1;
            if share > mass[at] {
                grid[at] = value;
            }
            mass[at] += share;
        } else {
            grid.push(value);
            mass.push(share);
            last_bin = bin;
        }
    }
    (grid, mass)
}

/// The kernel matrix of the grid minus the part explained by the nodes (a Schur complement).
fn residual(unit: &[f64], n: usize, nodes: &[usize]) -> Vec<f64> {
    let mut rest = unit.to_vec();
    for &node in nodes {
        let pivot = rest[node * n + node];
        if pivot <= MIN_UNEXPLAINED {
            continue;
        }
        let column: Vec<f64> = rest[node * n..(node + 1) * n].to_vec();
        for (row, left) in rest.chunks_exact_mut(n).zip(&column) {
            add_scaled(row, -left / pivot, &column);
        }
    }
    rest
}

/// A value with a smaller unexplained part cannot serve as a further node.
const MIN_UNEXPLAINED: f64 = 1e-9;

/// The mass that a further node at `node` would explain.
fn gain_of(rest: &[f64], mass: &[f64], node: usize) -> f64 {
    let n = mass.len();
    let pivot = rest[node * n + node];
    if pivot <= MIN_UNEXPLAINED {
        return 0.0;
    }
    let row = &rest[node * n..(node + 1) * n];
    row.iter().zip(mass).map(|(r, m)| m * r * r).sum::<f64>() / pivot
}

fn best_addition(rest: &[f64], mass: &[f64]) -> Option<(usize, f64)> {
    (0..mass.len())
        .map(|node| (node, gain_of(rest, mass, node)))
        .filter(|(_, gain)| *gain > 0.0)
        .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expansion::AdditiveMap;

    fn loss(kernel: AdditiveKernel, values: &[f32], counts: &[f64], nodes: &[f64]) -> f64 {
        let map = AdditiveMap::nystroem(kernel, nodes).unwrap();
        values.iter().zip(counts).map(|(&x, &count)| count * (f64::from(x) - map.value(x.into(), x.into()))).sum()
    }

    #[test]
    fn as_good_as_trying_every_pair() {
        let values: Vec<f32> = (1..=40).map(|i| (i * i) as f32 / 1600.0).collect();
        let counts: Vec<f64> = (1..=40).map(|i| f64::from(1 + 400 / i)).collect();
        for kernel in [AdditiveKernel::Chi2, AdditiveKernel::Intersection, AdditiveKernel::JensenShannon] {
            let ours = loss(kernel, &values, &counts, &choose_nodes(kernel, &values, &counts, 2));
            let mut best = f64::INFINITY;
            for a in 0..values.len() {
                for b in 0..a {
                    best = best.min(loss(kernel, &values, &counts, &[values[a].into(), values[b].into()]));
                }
            }
            assert!(ours <= best * 1.0001, "{kernel}: {ours} against {best}");
        }
    }

    #[test]
    fn nodes_follow_the_scale_and_end_where_nothing_is_left() {
        let values: Vec<f32> = (1..=1000).map(|i| i as f32).collect();
        let small: Vec<f32> = values.iter().map(|v| v / 1024.0).collect();
        let counts = vec![1.0; values.len()];
        let at_scale = choose_nodes(AdditiveKernel::Chi2, &values, &counts, 3);
        let at_small = choose_nodes(AdditiveKernel::Chi2, &small, &counts, 3);
        assert_eq!(at_scale.iter().map(|c| c / 1024.0).collect::<Vec<_>>(), at_small);
        assert_eq!(choose_nodes(AdditiveKernel::Hellinger, &values, &counts, 5).len(), 1);
        assert_eq!(choose_nodes(AdditiveKernel::Chi2, &[0.5, 0.25], &[3.0, 1.0], 5).len(), 2);
        assert_eq!(choose_nodes(AdditiveKernel::Chi2, &[0.5], &[0.0], 5).len(), 0);
    }
}
