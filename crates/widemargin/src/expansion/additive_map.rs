//! Low-rank form of a scalar kernel: k(x, y) ≈ read(x) · write(y), with m numbers each.
//!
//! In an additive kernel, Σ_i α_i y_i K(x_i, x) = Σ_j g_j(x_j) is a sum of one-dimensional functions. Each g_j is
//! stored as m numbers a_j = Σ_i α_i y_i write(x_ij), so that g_j(x) ≈ read(x) · a_j.

use crate::error::{Error, Result};
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
    Nystrom,
    /// The polynomial in ln(x + 0.05) of Wu (CVPR 2012, Algorithm 3): read(x) = (1, t, t²), write(y) = X⁻¹ k(c, y). Not
    /// symmetric; accurate only at small C on data in [0, 1].
    Polynomial,
}

named!("approximation": Approximation {
    "nystrom" = Approximation::Nystrom,
    "polynomial" = Approximation::Polynomial,
});

/// The nodes of the paper, for features in [0, 1].
pub const PAPER_NODES: [f64; 3] = [0.01, 0.06, 0.75];

/// The maximum number of nodes: what one vector of the batched solver can hold in its lanes.
pub const MAX_NODES: usize = 16;

/// The paper's offset before the logarithm.
const LOG_OFFSET: f64 = 0.05;

/// A node whose kernel function is within this distance of the span of the others (relative to its own norm) adds
/// rounding errors instead of accuracy.
const DEPENDENT: f64 = 1e-9;

/// The reduction of a scalar kernel, shared by all features.
#[derive(Clone, Debug, PartialEq)]
pub struct AdditiveMap {
    kernel: AdditiveKernel,
    approximation: Approximation,
    nodes: Vec<f64>,
    /// m × m, row-major. Nyström: the inverse of the Cholesky factor of κ(c, c), where κ is k scaled to a unit
    /// diagonal. Polynomial: X⁻¹.
    matrix: Vec<f64>,
}

impl AdditiveMap {
    /// The Nyström map on the given nodes, in any order.
    ///
    /// Nodes that depend linearly on the others (duplicates, or more than the rank of the kernel) are dropped, so that
    /// [`AdditiveMap::n_nodes`] may be less than the number given.
    ///
    /// # Errors
    /// [`Error::Parameter`] for no node, more than [`MAX_NODES`], or a node that is not finite and above 0.
    pub fn nystrom(kernel: AdditiveKernel, nodes: &[f64]) -> Result<Self> {
        check_nodes(nodes)?;
        let mut kept: Vec<f64> = Vec::new();
        let mut inverse: Vec<Vec<f64>> = Vec::new();
        for &node in nodes {
            // One step of a Cholesky factorisation of κ(c, c), stored as its inverse: L⁻¹ κ(c, node) is the part of
            // this node explained by the earlier ones; the pivot is the rest.
            let correlations: Vec<f64> = kept.iter().map(|&other| unit_kernel(kernel, other, node)).collect();
            let explained = lower_times(&inverse, &correlations);
            let pivot = 1.0 - explained.iter().map(|e| e * e).sum::<f64>();
            if pivot <= DEPENDENT {
                continue;
            }
            let mut row = vec![0.0; kept.len() + 1];
            for (share, earlier) in explained.iter().zip(&inverse) {
                for (r, e) in row.iter_mut().zip(earlier) {
                    *r -= share * e;
                }
            }
            row[kept.len()] = 1.0;
            row.iter_mut().for_each(|r| *r /= pivot.sqrt());
            inverse.push(row);
            kept.push(node);
        }
        let m = kept.len();
        let mut matrix = vec![0.0; m * m];
        for (row, values) in inverse.iter().enumerate() {
            matrix[row * m..row * m + values.len()].copy_from_slice(values);
        }
        Ok(AdditiveMap { kernel, approximation: Approximation::Nystrom, nodes: kept, matrix })
    }

    /// The paper's polynomial through [`PAPER_NODES`].
    pub fn polynomial(kernel: AdditiveKernel) -> Self {
        let t = PAPER_NODES.map(|c| (c + LOG_OFFSET).ln());
        // The inverse of a 3 × 3 Vandermonde matrix by Lagrange polynomials: column k holds the coefficients of the
        // parabola that is 1 at node k and 0 at the two others.
        let mut matrix = vec![0.0; 9];
        for k in 0..3 {
            let (a, b) = (t[(k + 1) % 3], t[(k + 2) % 3]);
            let scale = 1.0 / ((t[k] - a) * (t[k] - b));
            matrix[k] = a * b * scale;
            matrix[3 + k] = -(a + b) * scale;
            matrix[6 + k] = scale;
        }
        AdditiveMap { kernel, approximation: Approximation::Polynomial, nodes: PAPER_NODES.to_vec(), matrix }
    }

    getters! {
        /// The kernel.
        copy kernel: AdditiveKernel;
        /// The kind of reduction.
        copy approximation: Approximation;
        /// The nodes c.
        nodes: &[f64];
    }

    /// m, the number of numbers per feature.
    pub fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// True if read and write are the same, so that the approximate kernel is symmetric.
    pub fn is_symmetric(&self) -> bool {
        self.approximation == Approximation::Nystrom
    }

    /// The m numbers that evaluate g_j at x; zero at x = 0.
    pub fn read(&self, x: f64, out: &mut [f64]) {
        match self.approximation {
            Approximation::Nystrom => self.write(x, out),
            Approximation::Polynomial => {
                // The kernels are zero at x = 0, unlike the parabola.
                let t = (x + LOG_OFFSET).ln();
                out[..3].copy_from_slice(&if x > 0.0 { [1.0, t, t * t] } else { [0.0; 3] });
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
        for (value, &node) in at_nodes.iter_mut().zip(&self.nodes) {
            *value = match self.approximation {
                Approximation::Nystrom => self.kernel.value(node, x) / node.sqrt(),
                Approximation::Polynomial => self.kernel.value(node, x),
            };
        }
        for (out, row) in out[..m].iter_mut().zip(self.matrix.chunks_exact(m)) {
            *out = row.iter().zip(&at_nodes).map(|(a, b)| a * b).sum();
        }
    }

    /// The approximate k(x, y): the contribution of a sample with value y to g_j(x).
    pub fn value(&self, x: f64, y: f64) -> f64 {
        let (mut read, mut write) = ([0.0; MAX_NODES], [0.0; MAX_NODES]);
        self.read(x, &mut read);
        self.write(y, &mut write);
        read.iter().zip(&write).map(|(a, b)| a * b).sum()
    }
}

/// κ(x, y) = k(x, y) / √(xy): 1 on the diagonal, since k(x, x) = x.
pub(super) fn unit_kernel(kernel: AdditiveKernel, x: f64, y: f64) -> f64 {
    kernel.value(x, y) / (x.sqrt() * y.sqrt())
}

fn lower_times(lower: &[Vec<f64>], vector: &[f64]) -> Vec<f64> {
    lower.iter().map(|row| row.iter().zip(vector).map(|(a, b)| a * b).sum()).collect()
}

fn check_nodes(nodes: &[f64]) -> Result<()> {
    if nodes.is_empty() || nodes.len() > MAX_NODES {
        return Err(Error::parameter("nodes", nodes.len(), format!("from 1 to {MAX_NODES}")));
    }
    match nodes.iter().find(|c| !c.is_finite() || **c <= 0.0) {
        None => Ok(()),
        Some(node) => Err(Error::parameter("nodes", node, "finite numbers above 0")),
    }
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
            let nystrom = AdditiveMap::nystrom(kernel, &nodes).unwrap();
            for &c in nystrom.nodes() {
                // Hellinger has rank one: a single node is kept, and is exact everywhere.
                for x in [1e-3, 0.1, 0.33, 1.0, 7.0] {
                    assert!((nystrom.value(x, c) - kernel.value(x, c)).abs() < 1e-12, "{kernel} {x} {c}");
                    assert!((nystrom.value(c, x) - kernel.value(x, c)).abs() < 1e-12);
                }
            }
            let polynomial = AdditiveMap::polynomial(kernel);
            for c in PAPER_NODES {
                for x in [1e-3, 0.1, 1.0] {
                    assert!((polynomial.value(c, x) - kernel.value(c, x)).abs() < 1e-12, "{kernel} {x} {c}");
                }
            }
        }
        assert_eq!(AdditiveMap::nystrom(AdditiveKernel::Hellinger, &nodes).unwrap().n_nodes(), 1);
    }

    #[test]
    fn the_paper_s_inverse() {
        let printed =
            [[0.313708, -0.522008, 1.208299], [1.547984, -2.524880, 0.976895], [0.636921, -0.831495, 0.194574]];
        let map = AdditiveMap::polynomial(AdditiveKernel::Chi2);
        for (ours, printed) in map.matrix.iter().zip(printed.as_flattened()) {
            assert!((ours - printed).abs() < 1e-6, "{ours} {printed}");
        }
    }

    #[test]
    fn nystrom_never_overestimates_the_diagonal_and_follows_scale() {
        for kernel in kernels() {
            let map = AdditiveMap::nystrom(kernel, &[0.01, 0.1, 1.0]).unwrap();
            let scaled = AdditiveMap::nystrom(kernel, &[10.0, 100.0, 1000.0]).unwrap();
            for x in [1e-4, 3e-3, 0.04, 0.4, 2.0] {
                assert!(map.value(x, x) <= x * (1.0 + 1e-12), "{kernel}");
                let (a, b) = (map.value(x, 0.3), scaled.value(1000.0 * x, 300.0) / 1000.0);
                assert!((a - b).abs() < 1e-12, "{kernel} {a} {b}");
            }
        }
    }

    #[test]
    fn equal_nodes_and_bad_nodes() {
        let map = AdditiveMap::nystrom(AdditiveKernel::Chi2, &[0.5, 0.5, 0.1]).unwrap();
        assert_eq!(map.nodes(), [0.5, 0.1]);
        for bad in [&[] as &[f64], &[0.0], &[-1.0], &[f64::NAN], &[0.5; 17]] {
            assert!(AdditiveMap::nystrom(AdditiveKernel::Chi2, bad).is_err());
        }
    }
}
