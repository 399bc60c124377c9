//! Low-rank form of a scalar kernel: k(x, y) ≈ read(x) · write(y), with m numbers each.
//!
//! In an additive kernel, Σ_i α_i y_i K(x_i, x) = Σ_j g_j(x_j) is a sum of one-dimensional functions. Each g_j is
//! stored as m numbers a_j = Σ_i α_i y_i write(x_ij), so that g_j(x) ≈ read(x) · a_j.

use std::fmt;

use super::kernel_table::KernelTable;
use crate::error::{Error, Result, require};
use crate::linalg::factor::add_scaled;
use crate::macros::getters;
use crate::macros::named;
use crate::similarity::AdditiveKernel;

/// How the scalar kernel is reduced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Approximation {
    /// Nyström of the scalar kernel: read = write = K_cc^(−½) k(c, ·), symmetric and positive semi-definite, so that
    /// the dual is a true one and its gap can be certified.
    #[default]
    Nystroem,
    /// The polynomial in ln(x + 0.05) of Wu (CVPR 2012, eq. 6–7), of degree m − 1 through m nodes: read(x) = (1, t, t²,
    /// …), write(y) = X⁻¹ k(c, y). Not symmetric; accurate only at small C on data in [0, 1].
    Polynomial,
}

named!("approximation": Approximation {
    "nystroem" = Approximation::Nystroem,
    "polynomial" = Approximation::Polynomial,
});

/// The polynomial's nodes in the paper, for features in [0, 1].
pub const PAPER_NODES: [f64; 3] = [0.01, 0.06, 0.75];

/// The maximum number of nodes: the lanes of a vector of the dual solver.
pub const MAX_NODES: usize = 16;

/// The paper's offset before the logarithm.
const LOG_OFFSET: f64 = 0.05;

/// The maximum number of nodes up to which a polynomial is stored as coefficients of powers of t, as in the paper.
/// Beyond them single precision loses its digits (t is in [−3, 0.05], and the terms of degree 7 reach 2,000 and
/// cancel), so that it is stored as its values at the nodes: the same polynomial.
const MAX_POWERS: usize = 3;

/// A node whose kernel function is within this distance of the span of the others (relative to its own norm) adds
/// rounding errors instead of accuracy.
const MIN_NODE_DISTANCE: f64 = 1e-9;

/// The kernel of a map: k(c, ·) for its nodes c.
#[derive(Clone, Debug, PartialEq)]
pub enum ReducedKernel {
    /// One of the library's, computed.
    BuiltIn(AdditiveKernel),
    /// A user-defined one, tabulated at the nodes.
    Table(KernelTable),
}

impl From<AdditiveKernel> for ReducedKernel {
    fn from(kernel: AdditiveKernel) -> Self {
        ReducedKernel::BuiltIn(kernel)
    }
}

impl fmt::Display for ReducedKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReducedKernel::BuiltIn(kernel) => kernel.fmt(f),
            ReducedKernel::Table(table) => f.write_str(table.name()),
        }
    }
}

impl ReducedKernel {
    /// k(c, x) for the node c of this number.
    fn at_node(&self, number: usize, node: f64, x: f64) -> f64 {
        match self {
            ReducedKernel::BuiltIn(kernel) => kernel.value(node, x),
            ReducedKernel::Table(table) => table.at_node(number, x),
        }
    }

    /// k(x, x).
    fn diagonal(&self, x: f64) -> f64 {
        match self {
            ReducedKernel::BuiltIn(_) => x,
            ReducedKernel::Table(table) => table.diagonal(x),
        }
    }

    /// Checks that it is a kernel, with values at `n_nodes` nodes.
    fn check(&self, n_nodes: usize) -> Result<()> {
        match self {
            ReducedKernel::BuiltIn(kernel) => kernel.require_kernel(),
            ReducedKernel::Table(table) if table.n_nodes() != n_nodes => {
                let (found, expected) = (format!("{} nodes", table.n_nodes()), n_nodes.to_string());
                Err(Error::shape("table of a kernel", found, expected))
            }
            _ => Ok(()),
        }
    }
}

/// The reduction of a scalar kernel, shared by all features.
#[derive(Clone, Debug, PartialEq)]
pub struct AdditiveMap {
    kernel: ReducedKernel,
    nodes: Vec<f64>,
    form: Form,
}

/// How the m numbers come from the kernel's values at the nodes. Matrices are m × m, row-major.
#[derive(Clone, Debug, PartialEq)]
enum Form {
    /// Nyström, of κ, which is k scaled to a unit diagonal.
    Nystroem {
        /// The inverse of the Cholesky factor of κ(c, c).
        matrix: Vec<f64>,
        /// √k(c, c).
        roots: Vec<f64>,
    },
    /// The polynomial in powers of t: X⁻¹.
    Powers(Vec<f64>),
    /// The polynomial by its values at the nodes: t = ln(c + 0.05) of each node.
    Values(Vec<f64>),
}

impl AdditiveMap {
    /// The map of a kind.
    ///
    /// # Errors
    /// As for [`AdditiveMap::nystroem`] and [`AdditiveMap::polynomial`].
    pub fn reduced(approximation: Approximation, kernel: impl Into<ReducedKernel>, nodes: &[f64]) -> Result<Self> {
        match approximation {
            Approximation::Nystroem => AdditiveMap::nystroem(kernel, nodes),
            Approximation::Polynomial => AdditiveMap::polynomial(kernel, nodes),
        }
    }

    /// The Nyström map on these nodes, in any order.
    ///
    /// Nodes that depend linearly on the others (duplicates, or more than the rank of the kernel) are dropped, so that
    /// [`AdditiveMap::n_nodes`] may be less than their number.
    ///
    /// # Errors
    /// [`Error::Parameter`] for no node, more than [`MAX_NODES`], or a node that is not finite and above 0;
    /// [`Error::Shape`] for a table of other nodes.
    pub fn nystroem(kernel: impl Into<ReducedKernel>, nodes: &[f64]) -> Result<Self> {
        let mut kernel = kernel.into();
        check_nodes(nodes)?;
        kernel.check(nodes.len())?;
        let roots: Vec<f64> = nodes.iter().map(|&node| kernel.diagonal(node).max(0.0).sqrt()).collect();
        let unit_kernel = |a: usize, b: usize| kernel.at_node(a, nodes[a], nodes[b]) / (roots[a] * roots[b]);
        let mut independent: Vec<usize> = Vec::new();
        let mut inverse: Vec<Vec<f64>> = Vec::new();
        for node in (0..nodes.len()).filter(|&node| roots[node] > 0.0) {
            // One step of a Cholesky factorization of κ(c, c), stored as its inverse: L⁻¹ κ(c, node) is the part of
            // this node explained by the earlier ones; the pivot is the rest.
            let correlations: Vec<f64> = independent.iter().map(|&other| unit_kernel(other, node)).collect();
            let dot = |row: &Vec<f64>| -> f64 { row.iter().zip(&correlations).map(|(a, b)| a * b).sum() };
            let explained: Vec<f64> = inverse.iter().map(dot).collect();
            let pivot = 1.0 - explained.iter().map(|e| e * e).sum::<f64>();
            if pivot <= MIN_NODE_DISTANCE {
                continue;
            }
            let mut row = vec![0.0; independent.len() + 1];
            for (share, earlier) in explained.iter().zip(&inverse) {
                add_scaled(&mut row, -share, earlier);
            }
            row[independent.len()] = 1.0;
            row.iter_mut().for_each(|r| *r /= pivot.sqrt());
            inverse.push(row);
            independent.push(node);
        }
        let m = independent.len();
        let mut matrix = vec![0.0; m * m];
        for (row, values) in inverse.iter().enumerate() {
            matrix[row * m..row * m + values.len()].copy_from_slice(values);
        }
        let pick = |numbers: &[f64]| independent.iter().map(|&node| numbers[node]).collect();
        let (nodes, roots) = (pick(nodes), pick(&roots));
        if let ReducedKernel::Table(table) = &mut kernel {
            table.keep(&independent);
        }
        Ok(AdditiveMap { kernel, nodes, form: Form::Nystroem { matrix, roots } })
    }

    /// The polynomial of degree m − 1 in ln(x + 0.05) through m nodes.
    ///
    /// # Errors
    /// [`Error::Parameter`] for fewer than 2 nodes or more than [`MAX_NODES`], for a node outside (0, 1], and for one
    /// that is repeated; [`Error::Shape`] for a table of other nodes.
    pub fn polynomial(kernel: impl Into<ReducedKernel>, nodes: &[f64]) -> Result<Self> {
        let kernel = kernel.into();
        check_polynomial_nodes(nodes)?;
        kernel.check(nodes.len())?;
        let t: Vec<f64> = nodes.iter().copied().map(logarithm).collect();
        let form = if t.len() <= MAX_POWERS { Form::Powers(inverse_vandermonde(&t)) } else { Form::Values(t) };
        Ok(AdditiveMap { kernel, nodes: nodes.to_vec(), form })
    }

    getters! {
        /// The kernel.
        kernel: &ReducedKernel;
        /// The nodes c.
        nodes: &[f64];
    }

    /// The kind of reduction.
    pub fn approximation(&self) -> Approximation {
        match self.form {
            Form::Nystroem { .. } => Approximation::Nystroem,
            Form::Powers(_) | Form::Values(_) => Approximation::Polynomial,
        }
    }

    /// The table of a kernel of a user's own.
    pub fn table(&self) -> Option<&KernelTable> {
        match &self.kernel {
            ReducedKernel::BuiltIn(_) => None,
            ReducedKernel::Table(table) => Some(table),
        }
    }

    /// m, the number of numbers per feature.
    pub fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// True if read and write are the same, so that the approximate kernel is symmetric.
    pub fn is_symmetric(&self) -> bool {
        self.approximation() == Approximation::Nystroem
    }

    /// The m numbers that evaluate g_j at x; zero at x = 0, where every kernel is, unlike the polynomial.
    pub fn read(&self, x: f64, out: &mut [f64]) {
        let out = &mut out[..self.nodes.len()];
        if x <= 0.0 {
            return out.fill(0.0);
        }
        match &self.form {
            Form::Nystroem { .. } => self.write(x, out),
            Form::Powers(_) => {
                let (t, mut power) = (logarithm(x), 1.0);
                for out in out {
                    *out = power;
                    power *= t;
                }
            }
            Form::Values(at) => {
                // Lagrange's polynomials, each 1 at its node and 0 at the others.
                let t = logarithm(x);
                for (k, out) in out.iter_mut().enumerate() {
                    let others = at.iter().enumerate().filter(|(other, _)| *other != k);
                    *out = others.map(|(_, other)| (t - other) / (at[k] - other)).product();
                }
            }
        }
    }

    /// The m numbers that a sample with feature value x contributes to a_j; zero at x = 0.
    pub fn write(&self, x: f64, out: &mut [f64]) {
        let m = self.nodes.len();
        if x <= 0.0 {
            return out[..m].fill(0.0);
        }
        let mut at_nodes = [0.0; MAX_NODES];
        for (number, (value, &node)) in at_nodes.iter_mut().zip(&self.nodes).enumerate() {
            *value = self.kernel.at_node(number, node, x);
            if let Form::Nystroem { roots, .. } = &self.form {
                *value /= roots[number];
            }
        }
        match &self.form {
            Form::Nystroem { matrix, .. } | Form::Powers(matrix) => {
                for (out, row) in out[..m].iter_mut().zip(matrix.chunks_exact(m)) {
                    *out = row.iter().zip(&at_nodes).map(|(a, b)| a * b).sum();
                }
            }
            Form::Values(_) => out[..m].copy_from_slice(&at_nodes[..m]),
        }
    }

    /// k(x, x) of the kernel itself.
    pub fn diagonal(&self, x: f64) -> f64 {
        self.kernel.diagonal(x)
    }

    /// The approximate k(x, y): the contribution of a sample with value y to g_j(x).
    pub fn value(&self, x: f64, y: f64) -> f64 {
        let (mut read, mut write) = ([0.0; MAX_NODES], [0.0; MAX_NODES]);
        self.read(x, &mut read);
        self.write(y, &mut write);
        read.iter().zip(&write).map(|(a, b)| a * b).sum()
    }
}

/// The polynomial's default nodes for their number: the paper's for three, and otherwise Chebyshev's points of
/// t = ln(x + 0.05) for x in [0, 1], between which a polynomial of high degree does not swing.
pub fn polynomial_nodes(n_nodes: usize) -> Vec<f64> {
    if n_nodes == PAPER_NODES.len() {
        return PAPER_NODES.to_vec();
    }
    let (low, high) = (logarithm(0.0), logarithm(1.0));
    let point = |k: usize| (std::f64::consts::PI * (k as f64 + 0.5) / n_nodes as f64).cos();
    let node = |k: usize| (0.5 * (low + high) - 0.5 * (high - low) * point(k)).exp() - LOG_OFFSET;
    (0..n_nodes).map(node).collect()
}

/// t = ln(x + 0.05).
fn logarithm(x: f64) -> f64 {
    (x + LOG_OFFSET).ln()
}

/// X⁻¹ for X_kt = t_k^t, by Lagrange's polynomials: column k holds the coefficients of the one that is 1 at t_k and 0
/// at the others.
fn inverse_vandermonde(t: &[f64]) -> Vec<f64> {
    let m = t.len();
    let mut matrix = vec![0.0; m * m];
    for k in 0..m {
        let (mut coefficients, mut scale) = (vec![1.0], 1.0);
        for other in (1..m).map(|step| t[(k + step) % m]) {
            // Times (t − other).
            coefficients.push(0.0);
            for power in (0..coefficients.len()).rev() {
                let lower = if power > 0 { coefficients[power - 1] } else { 0.0 };
                coefficients[power] = lower - other * coefficients[power];
            }
            scale *= t[k] - other;
        }
        for (power, coefficient) in coefficients.iter().enumerate() {
            matrix[power * m + k] = coefficient * (1.0 / scale);
        }
    }
    matrix
}

/// Checks nodes.
///
/// # Errors
/// As for [`AdditiveMap::nystroem`] and [`AdditiveMap::polynomial`].
pub(crate) fn check_nodes_of(approximation: Approximation, nodes: &[f64]) -> Result<()> {
    match approximation {
        Approximation::Nystroem => check_nodes(nodes),
        Approximation::Polynomial => check_polynomial_nodes(nodes),
    }
}

fn check_number(n_nodes: usize, least: usize) -> Result<()> {
    require((least..=MAX_NODES).contains(&n_nodes), "nodes", n_nodes, &format!("from {least} to {MAX_NODES}"))
}

fn check_nodes(nodes: &[f64]) -> Result<()> {
    check_number(nodes.len(), 1)?;
    match nodes.iter().find(|c| !c.is_finite() || **c <= 0.0) {
        None => Ok(()),
        Some(node) => Err(Error::parameter("nodes", node, "finite numbers above 0")),
    }
}

fn check_polynomial_nodes(nodes: &[f64]) -> Result<()> {
    check_number(nodes.len(), 2)?;
    for (at, &node) in nodes.iter().enumerate() {
        require(
            node > 0.0 && node <= 1.0,
            "nodes",
            node,
            "above 0 and at most 1: the polynomial approximates features in [0, 1]",
        )?;
        // Nodes may differ and their logarithms not.
        if nodes[..at].iter().any(|&earlier| logarithm(earlier) == logarithm(node)) {
            return Err(Error::parameter("nodes", node, "distinct nodes: this one is repeated"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernels() -> Vec<AdditiveKernel> {
        use AdditiveKernel::*;
        vec![Chi2, Hellinger, Intersection, JensenShannon, PowerMean { p: -8.0 }, PowerMean { p: -0.5 }]
    }

    #[test]
    fn exact_at_the_nodes() {
        let nodes = [0.9, 0.02, 0.2, 0.5];
        for kernel in kernels() {
            let nystroem = AdditiveMap::nystroem(kernel, &nodes).unwrap();
            for &c in nystroem.nodes() {
                // Hellinger has rank one: a single node remains, and is exact everywhere.
                for x in [1e-3, 0.1, 0.33, 1.0, 7.0] {
                    assert!((nystroem.value(x, c) - kernel.value(x, c)).abs() < 1e-12, "{kernel} {x} {c}");
                    assert!((nystroem.value(c, x) - kernel.value(x, c)).abs() < 1e-12);
                }
            }
            for n_nodes in 2..=MAX_NODES {
                let nodes = polynomial_nodes(n_nodes);
                let polynomial = AdditiveMap::polynomial(kernel, &nodes).unwrap();
                for &c in &nodes {
                    for x in [1e-3, 0.1, 1.0] {
                        assert!((polynomial.value(c, x) - kernel.value(c, x)).abs() < 1e-12, "{kernel} {x} {c}");
                        // The solvers hold both sides in single precision.
                        let (mut read, mut write) = ([0.0; MAX_NODES], [0.0; MAX_NODES]);
                        polynomial.read(c, &mut read);
                        polynomial.write(x, &mut write);
                        let single: f32 = read.iter().zip(&write).map(|(r, w)| *r as f32 * *w as f32).sum();
                        assert!((f64::from(single) - kernel.value(c, x)).abs() < 2e-6, "{kernel} {x} {c} {n_nodes}");
                    }
                }
            }
        }
        assert_eq!(AdditiveMap::nystroem(AdditiveKernel::Hellinger, &nodes).unwrap().n_nodes(), 1);
    }

    #[test]
    fn the_paper_s_inverse() {
        let printed =
            [[0.313708, -0.522008, 1.208299], [1.547984, -2.524880, 0.976895], [0.636921, -0.831495, 0.194574]];
        assert_eq!(polynomial_nodes(3), PAPER_NODES);
        let map = AdditiveMap::polynomial(AdditiveKernel::Chi2, &PAPER_NODES).unwrap();
        let Form::Powers(matrix) = map.form else { panic!("not in powers of t") };
        for (ours, printed) in matrix.iter().zip(printed.as_flattened()) {
            assert!((ours - printed).abs() < 1e-6, "{ours} {printed}");
        }
    }

    #[test]
    fn a_polynomial_in_ln_x_is_reproduced_everywhere() {
        // Each read(x) is a basis of the polynomials of its degree: applied to a polynomial's values at the nodes, it
        // gives the polynomial.
        for n_nodes in 2..=MAX_NODES {
            let nodes: Vec<f64> = (0..n_nodes).map(|k| ((k + 1) as f64 / n_nodes as f64).powi(2)).collect();
            let map = AdditiveMap::polynomial(AdditiveKernel::Chi2, &nodes).unwrap();
            // (2 + t)^(n_nodes − 1), as a product.
            let polynomial = |x: f64| (1..n_nodes).map(|_| 2.0 + (x + 0.05).ln()).product::<f64>();
            let values: Vec<f64> = nodes.iter().map(|&c| polynomial(c)).collect();
            let a = match &map.form {
                Form::Powers(matrix) => {
                    matrix.chunks(n_nodes).map(|row| row.iter().zip(&values).map(|(m, v)| m * v).sum()).collect()
                }
                _ => values,
            };
            for x in [1e-4, 0.003, 0.07, 0.31, 0.5, 0.99, 1.0] {
                let mut read = vec![0.0; n_nodes];
                map.read(x, &mut read);
                let value: f64 = read.iter().zip(&a).map(|(r, a)| r * a).sum();
                let size: f64 = read.iter().zip(&a).map(|(r, a)| (r * a).abs()).sum();
                assert!((value - polynomial(x)).abs() < 1e-11 * (1.0 + size), "degree {}: {x}", n_nodes - 1);
            }
        }
    }

    #[test]
    fn rejects_wrong_nodes_of_polynomials() {
        let message = |nodes: &[f64]| AdditiveMap::polynomial(AdditiveKernel::Chi2, nodes).unwrap_err().to_string();
        assert!(message(&[0.5]).contains("from 2 to 16"), "{}", message(&[0.5]));
        assert!(message(&[0.5; 17]).contains("from 2 to 16"));
        for bad in [0.0, -0.1, 1.5, f64::NAN, f64::INFINITY] {
            let message = message(&[0.5, bad]);
            assert!(message.contains(&format!("nodes = {bad}")) && message.contains("at most 1"), "{message}");
        }
        assert!(message(&[0.5, 0.1, 0.5]).contains("repeated"), "{}", message(&[0.5, 0.1, 0.5]));
    }

    #[test]
    fn nystroem_never_overestimates_the_diagonal_and_follows_scale() {
        for kernel in kernels() {
            let map = AdditiveMap::nystroem(kernel, &[0.01, 0.1, 1.0]).unwrap();
            let scaled = AdditiveMap::nystroem(kernel, &[10.0, 100.0, 1000.0]).unwrap();
            for x in [1e-4, 3e-3, 0.04, 0.4, 2.0] {
                assert!(map.value(x, x) <= x * (1.0 + 1e-12), "{kernel}");
                let (a, b) = (map.value(x, 0.3), scaled.value(1000.0 * x, 300.0) / 1000.0);
                assert!((a - b).abs() < 1e-12, "{kernel} {a} {b}");
            }
        }
    }

    #[test]
    fn equal_nodes_and_bad_nodes() {
        let map = AdditiveMap::nystroem(AdditiveKernel::Chi2, &[0.5, 0.5, 0.1]).unwrap();
        assert_eq!(map.nodes(), [0.5, 0.1]);
        for bad in [&[] as &[f64], &[0.0], &[-1.0], &[f64::NAN], &[0.5; 17]] {
            assert!(AdditiveMap::nystroem(AdditiveKernel::Chi2, bad).is_err());
        }
    }
}
