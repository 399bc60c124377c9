//! Eigenvalues of square matrices.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd;
use faer::{MatRef, Par};

/// A = U diag(values) Uᵀ of a symmetric matrix, with ascending eigenvalues.
#[derive(Clone, Debug)]
pub struct SymmetricEigen {
    /// The eigenvalues, ascending.
    pub values: Vec<f64>,
    /// Column-major: eigenvector k is `vectors[k * n..(k + 1) * n]`. Empty if not requested.
    pub vectors: Vec<f64>,
}

/// Decomposes a symmetric n × n matrix, reading its lower triangle (row-major: the upper); about 4/3 n³ flops for
/// values alone, 9 n³ with vectors. `None` for non-finite numbers.
pub fn symmetric(matrix: &[f64], n: usize, vectors: bool) -> Option<SymmetricEigen> {
    if n == 0 {
        return Some(SymmetricEigen { values: Vec::new(), vectors: Vec::new() });
    }
    if !matrix.iter().all(|x| x.is_finite()) {
        return None;
    }
    let compute = if vectors { evd::ComputeEigenvectors::Yes } else { evd::ComputeEigenvectors::No };
    let mut s = faer::diag::Diag::<f64>::zeros(n);
    let mut u = faer::Mat::<f64>::zeros(if vectors { n } else { 0 }, if vectors { n } else { 0 });
    let scratch = evd::self_adjoint_evd_scratch::<f64>(n, compute, Par::Seq, Default::default());
    evd::self_adjoint_evd(
        MatRef::from_column_major_slice(matrix, n, n),
        s.as_mut(),
        vectors.then(|| u.as_mut()),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    )
    .ok()?;
    let values = s.column_vector().iter().copied().collect();
    let vectors = (0..u.ncols()).flat_map(|col| (0..n).map(move |row| (row, col))).map(|at| u[at]).collect();
    Some(SymmetricEigen { values, vectors })
}

/// Real and imaginary parts of the eigenvalues of a square matrix; about 10 n³ flops. `None` for non-finite numbers or
/// if the iteration does not converge.
pub fn general(matrix: &[f64], n: usize) -> Option<(Vec<f64>, Vec<f64>)> {
    if n == 0 {
        return Some((Vec::new(), Vec::new()));
    }
    if !matrix.iter().all(|x| x.is_finite()) {
        return None;
    }
    let (mut re, mut im) = (faer::diag::Diag::<f64>::zeros(n), faer::diag::Diag::<f64>::zeros(n));
    let no = evd::ComputeEigenvectors::No;
    let scratch = evd::evd_scratch::<f64>(n, no, no, Par::Seq, Default::default());
    evd::evd_real(
        MatRef::from_row_major_slice(matrix, n, n),
        re.as_mut(),
        im.as_mut(),
        None,
        None,
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    )
    .ok()?;
    let numbers = |diagonal: &faer::diag::Diag<f64>| diagonal.column_vector().iter().copied().collect();
    Some((numbers(&re), numbers(&im)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_eigenvalues() {
        let found = symmetric(&[2.0, 1.0, 1.0, 2.0], 2, true).unwrap();
        assert!((found.values[0] - 1.0).abs() < 1e-14 && (found.values[1] - 3.0).abs() < 1e-14);
        let (x, y) = (found.vectors[2], found.vectors[3]);
        assert!((x - y).abs() < 1e-14 && (x * x + y * y - 1.0).abs() < 1e-14);
        assert!(symmetric(&[2.0, 1.0, 1.0, 2.0], 2, false).unwrap().vectors.is_empty());
        // A rotation by 90° has ±i.
        let (re, im) = general(&[0.0, -1.0, 1.0, 0.0], 2).unwrap();
        assert!(
            re.iter().all(|x| x.abs() < 1e-14) && (im[0] + im[1]).abs() < 1e-14 && (im[0].abs() - 1.0).abs() < 1e-14
        );
        assert!(symmetric(&[f64::NAN], 1, true).is_none() && general(&[f64::INFINITY], 1).is_none());
    }
}
