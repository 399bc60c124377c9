//! W with W Wᵀ = S⁻¹, for similarities S between bases that are made definite: Nyström features are s(x) · W.
//!
//! Any W serves, since two of them differ by a rotation of the features. For n bases, Cholesky's factorization S = L Lᵀ
//! gives W = L⁻ᵀ for n³·2/3 flops, and shows that S is definite. Where it is nearly not, because bases are alike, the
//! factorization with pivots finds those that span the others, for about as many: the rest of S is small and is shown
//! to be semi-definite, and W is that of the pivots alone. Where S is not definite, eigenvectors give W = U Λ^(−½) for
//! 9 n³.

use super::{NegativeEigenvalues, NystroemCut};
use crate::linalg::eigen::{self, SymmetricEigen};
use crate::linalg::factor::{Cholesky, Matrix, dot};
use crate::linalg::pivoted::Pivoted;
use crate::tuning::{EXTREME_EIGENVALUE_STEPS, NYSTROEM_CUTOFF, NYSTROEM_ROUNDINGS};

/// The least part of a polynomial's norm that is independent of the others; less is rounding in single precision.
const MIN_POLYNOMIAL_PART: f64 = 1e-5;

/// W, and properties of S.
#[derive(Clone, Debug)]
pub(crate) struct InverseRoot {
    /// n numbers a feature.
    pub columns: Matrix,
    /// Σ eigenvalues of S, made definite, over those that have a feature.
    pub trace: f64,
    /// Σ |negative eigenvalues| / Σ positive ones before, of those larger than rounding.
    pub negative: f64,
}

/// In which similarities are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Precision {
    Single,
    Double,
}

impl Precision {
    /// The error of a similarity, relative to the largest: in double precision that of a distance, from sums whose
    /// terms cancel.
    fn error(self) -> f64 {
        match self {
            Precision::Single => f32::EPSILON.into(),
            Precision::Double => 64.0 * f64::EPSILON,
        }
    }
}

/// Bounds on the rounding of a matrix of similarities.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rounding {
    /// The error of a similarity in single precision, which is where features end in double precision too: those beyond
    /// have little information, and there may be several times as many of them.
    pub entry: f64,
    /// A bound on that of an eigenvalue.
    pub eigenvalue: f64,
    pub cut: NystroemCut,
}

impl Rounding {
    /// Of n × n similarities with this maximum.
    pub fn of(precision: Precision, n: usize, largest: f64, cut: NystroemCut) -> Self {
        let entry = Precision::Single.error() * largest;
        Rounding { entry, eigenvalue: n as f64 * precision.error() * largest, cut }
    }

    /// The eigenvalue of n × n similarities below which there is no feature, to whose error all similarities of a row
    /// add: their roots, as errors of chance do. With n = 1, the pivot below which a basis is dropped, its part independent
    /// of the other pivots. `largest` is the largest eigenvalue.
    fn least_eigenvalue(&self, largest: f64, n: usize) -> f64 {
        match self.cut {
            NystroemCut::Millionth | NystroemCut::PreciseMillionth => NYSTROEM_CUTOFF * largest,
            NystroemCut::Rounding => NYSTROEM_ROUNDINGS * self.entry * (n as f64).sqrt(),
        }
    }
}

impl InverseRoot {
    /// Of a symmetric matrix of finite numbers; none if eigenvalues are not finite.
    pub fn new(matrix: &Matrix, treatment: NegativeEigenvalues, rounding: Rounding) -> Option<Self> {
        // A definite matrix is left as it is, unless it is squared.
        if treatment != NegativeEigenvalues::Square {
            let largest = growth(matrix.n_rows(), |x| matrix.times(&x));
            let found =
                Self::by_cholesky(matrix, largest, rounding).or_else(|| Self::by_pivots(matrix, largest, rounding));
            if found.is_some() {
                return found;
            }
        }
        Self::by_eigenvectors(matrix, treatment, rounding)
    }

    /// None unless the least eigenvalue is above the cut.
    fn by_cholesky(matrix: &Matrix, largest: f64, rounding: Rounding) -> Option<Self> {
        let inverse = Cholesky::new(matrix.clone())?.inverse_lower();
        let columns = inverse.transposed();
        let inverse_of_least = growth(matrix.n_rows(), |x| columns.times(&inverse.times(&x)));
        let is_sound = inverse_of_least * rounding.least_eigenvalue(largest, matrix.n_rows()) < 1.0;
        is_sound.then_some(InverseRoot { columns, trace: trace(matrix), negative: 0.0 })
    }

    /// None unless all negative eigenvalues are rounding.
    fn by_pivots(matrix: &Matrix, largest: f64, rounding: Rounding) -> Option<Self> {
        let found = Pivoted::new(matrix, rounding.least_eigenvalue(largest, 1))?;
        let (of_pivots, pivots, mut rest) = (found.factor.inverse_lower(), found.pivots().to_vec(), found.rest);
        let dropped = trace(&rest);
        // S is semi-definite where this is, up to rounding: the rest may magnify errors, but never hides any.
        for i in 0..rest.n_rows() {
            rest.set(i, i, rest.at(i, i) + rounding.eigenvalue);
        }
        Cholesky::new(rest)?;
        let mut columns = Matrix::zeros(matrix.n_rows(), of_pivots.n_cols());
        for (at, &basis) in pivots.iter().enumerate() {
            for feature in at..of_pivots.n_cols() {
                columns.set(basis, feature, of_pivots.at(feature, at));
            }
        }
        Some(InverseRoot { columns, trace: trace(matrix) - dropped, negative: 0.0 })
    }

    fn by_eigenvectors(matrix: &Matrix, treatment: NegativeEigenvalues, rounding: Rounding) -> Option<Self> {
        let n = matrix.n_rows();
        let SymmetricEigen { values, vectors } = eigen::symmetric(matrix.values(), n, true)?;
        let sum_of = |keep: &dyn Fn(f64) -> bool| values.iter().filter(|v| keep(**v)).map(|v| v.abs()).sum::<f64>();
        let below_0 = sum_of(&|value| value < -rounding.eigenvalue);
        let negative = if below_0 > 0.0 { below_0 / sum_of(&|value| value > rounding.eigenvalue) } else { 0.0 };
        let least = values.first().copied().unwrap_or(0.0).min(0.0);
        let made = |value: f64| match treatment {
            NegativeEigenvalues::Clip => value.max(0.0),
            NegativeEigenvalues::Flip => value.abs(),
            NegativeEigenvalues::Shift => value - least,
            NegativeEigenvalues::Square => value * value,
        };
        let values: Vec<f64> = values.iter().map(|&value| made(value)).collect();
        let cut = rounding.least_eigenvalue(values.iter().copied().fold(0.0, f64::max), n);
        let selected: Vec<usize> = (0..values.len()).rev().filter(|&k| values[k] > cut).collect();
        let scaled = selected.iter().flat_map(|&k| {
            let factor = 1.0 / values[k].sqrt();
            vectors[k * n..(k + 1) * n].iter().map(move |x| factor * x)
        });
        let columns = Matrix::from_columns(scaled.collect(), n, selected.len());
        Some(InverseRoot { columns, trace: selected.iter().map(|&k| values[k]).sum(), negative })
    }

    /// The same for the projection of S off the constant and the polynomials, each of n numbers. Reflections H take
    /// these to the first axes; the rest of H S H without them is decomposed.
    ///
    /// # Errors
    /// The problem of the polynomials; `None` if numbers are not finite.
    pub fn projected(
        mut matrix: Matrix,
        polynomials: &[Vec<f64>],
        treatment: NegativeEigenvalues,
        rounding: Rounding,
    ) -> Result<Self, Option<String>> {
        let (n, r) = (matrix.n_rows(), 1 + polynomials.len());
        if n <= r {
            if polynomials.is_empty() {
                return Ok(InverseRoot { columns: Matrix::zeros(n, 0), trace: 0.0, negative: 0.0 });
            }
            let problem = format!("{n} bases against {r} polynomials leave nothing of it: choose more bases");
            return Err(Some(problem));
        }
        let mut columns = vec![vec![1.0; n]];
        columns.extend(polynomials.iter().cloned());
        let mut reflections: Vec<Vec<f64>> = Vec::with_capacity(r);
        for at in 0..r {
            let mut v = columns[at].clone();
            let whole = norm(&v);
            reflections.iter().for_each(|reflection| reflect(reflection, &mut v));
            v[..at].fill(0.0);
            let rest = norm(&v);
            if rest.is_nan() || rest <= MIN_POLYNOMIAL_PART * whole {
                return Err(Some(format!(
                    "polynomial {} is a combination of the constant and the ones before it at the bases: leave it out",
                    at - 1
                )));
            }
            // H = I − 2vvᵀ with the sign that does not cancel.
            v.iter_mut().for_each(|x| *x /= rest);
            v[at] += if v[at] < 0.0 { -1.0 } else { 1.0 };
            let size = norm(&v);
            v.iter_mut().for_each(|x| *x /= size);
            let w = matrix.transposed_times(&v);
            let vw = dot(&v, &w);
            for (i, (vi, wi)) in v.iter().zip(&w).enumerate() {
                for ((x, vj), wj) in matrix.col_mut(i).iter_mut().zip(&v).zip(&w) {
                    *x += -2.0 * (vi * wj + wi * vj) + 4.0 * vw * vi * vj;
                }
            }
            reflections.push(v);
        }
        let rest = (r..n).flat_map(|col| &matrix.col(col)[r..]).copied().collect();
        let root = InverseRoot::new(&Matrix::from_columns(rest, n - r, n - r), treatment, rounding).ok_or(None)?;
        let reflected = (0..root.columns.n_cols()).flat_map(|column| {
            let mut whole = vec![0.0; r];
            whole.extend_from_slice(root.columns.col(column));
            reflections.iter().rev().for_each(|reflection| reflect(reflection, &mut whole));
            whole
        });
        let columns = Matrix::from_columns(reflected.collect(), n, root.columns.n_cols());
        Ok(InverseRoot { columns, ..root })
    }
}

/// (I − 2vvᵀ)x, in place.
fn reflect(v: &[f64], x: &mut [f64]) {
    let along = 2.0 * dot(v, x);
    x.iter_mut().zip(v).for_each(|(x, v)| *x -= along * v);
}

fn norm(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}

fn trace(matrix: &Matrix) -> f64 {
    (0..matrix.n_rows()).map(|i| matrix.at(i, i)).sum()
}

/// The largest eigenvalue of a positive definite operator, from below, by the power method.
fn growth(n: usize, apply: impl Fn(Vec<f64>) -> Vec<f64>) -> f64 {
    // No pattern that a matrix may have.
    let mut x: Vec<f64> = (0..n).map(|i| (i as f64 * 0.618_033_988_75).fract() - 0.45).collect();
    let mut grown = 0.0;
    for _ in 0..EXTREME_EIGENVALUE_STEPS {
        let size = norm(&x);
        x.iter_mut().for_each(|x| *x /= size);
        x = apply(x);
        grown = norm(&x);
    }
    grown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::factor::{Side, product};

    /// Of double precision, with so large errors of eigenvalues.
    fn exact(eigenvalue: f64) -> Rounding {
        Rounding { entry: 1e-15, eigenvalue, cut: NystroemCut::Millionth }
    }

    /// exp(−|i − j| / length), definite, with a fast or a slow spectrum; and its opposite.
    fn decaying(n: usize, length: f64) -> Matrix {
        square(n, |at| (-((at / n) as f64 - (at % n) as f64).abs() / length).exp())
    }

    fn square(n: usize, value: impl Fn(usize) -> f64) -> Matrix {
        Matrix::from_columns((0..n * n).map(value).collect(), n, n)
    }

    #[test]
    fn both_ways_give_the_inverse_and_the_same_trace() {
        let n = 40;
        for length in [0.5, 5.0, 50.0] {
            let matrix = decaying(n, length);
            let largest = growth(n, |x| matrix.times(&x));
            let cholesky = InverseRoot::by_cholesky(&matrix, largest, exact(1e-9)).unwrap();
            let eigen = InverseRoot::by_eigenvectors(&matrix, NegativeEigenvalues::Clip, exact(1e-9)).unwrap();
            assert!((cholesky.trace - eigen.trace).abs() < 1e-9 && cholesky.negative == eigen.negative);
            let inverse = |root: &InverseRoot| product(Side::Plain(&root.columns), Side::Transposed(&root.columns));
            let (a, b) = (inverse(&cholesky), inverse(&eigen));
            let whole = product(Side::Plain(&a), Side::Plain(&matrix));
            for i in 0..n {
                for j in 0..n {
                    assert!((a.at(i, j) - b.at(i, j)).abs() < 1e-8 * length, "{i} {j} {length}");
                    assert!((whole.at(i, j) - f64::from(i == j)).abs() < 1e-8, "{i} {j} {length}");
                }
            }
        }
    }

    #[test]
    fn pivots_span_the_space_of_eigenvectors_where_bases_are_alike() {
        let n = 80;
        let at = |i: usize, width: f64| (-((i / n) as f64 - (i % n) as f64).powi(2) / width).exp();
        for width in [20.0, 100.0, 1e3] {
            let whole = square(n, |i| at(i, width));
            let largest = growth(n, |x| whole.times(&x));
            let pivots = InverseRoot::by_pivots(&whole, largest, exact(1e-9)).unwrap();
            let eigen = InverseRoot::by_eigenvectors(&whole, NegativeEigenvalues::Clip, exact(1e-9)).unwrap();
            assert!(pivots.columns.n_cols() < n && pivots.negative == 0.0);
            assert!((pivots.trace - eigen.trace).abs() < 1e-3 * eigen.trace, "{} {}", pivots.trace, eigen.trace);
            // Both features reproduce the similarities.
            for root in [&pivots, &eigen] {
                let features = product(Side::Plain(&whole), Side::Plain(&root.columns));
                let again = product(Side::Plain(&features), Side::Transposed(&features));
                let pairs = again.values().iter().zip(whole.values());
                let worst = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(worst < 5e-6 * largest, "{width}: {worst} of {largest}");
            }
        }
        // A negative eigenvalue that is more than rounding is left to eigenvectors.
        let indefinite = square(n, |i| at(i, 100.0) - if i % (n + 1) == 0 { 1e-6 } else { 0.0 });
        let largest = growth(n, |x| indefinite.times(&x));
        assert!(InverseRoot::by_pivots(&indefinite, largest, exact(1e-9)).is_none());
        assert!(InverseRoot::by_pivots(&indefinite, largest, exact(1e-3)).is_some());
        assert!(InverseRoot::new(&indefinite, NegativeEigenvalues::Clip, exact(1e-9)).unwrap().negative > 0.0);
    }

    /// In single precision: the error of the similarities that the features reproduce is near their rounding, and less
    /// than a tenth of that at 10⁻⁶ of the largest eigenvalue.
    #[test]
    fn down_to_rounding_features_reproduce_single_precision() {
        let n = 200;
        let at = |i: usize| (-((i / n) as f64 - (i % n) as f64).powi(2) / 2e3).exp();
        let whole = square(n, |i| f64::from(at(i) as f32));
        let worst = |cut: NystroemCut| {
            let root =
                InverseRoot::new(&whole, NegativeEigenvalues::Clip, Rounding::of(Precision::Single, n, 1.0, cut))
                    .unwrap();
            let features = product(Side::Plain(&whole), Side::Plain(&root.columns));
            let again = product(Side::Plain(&features), Side::Transposed(&features));
            again.values().iter().zip(whole.values()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        };
        let (coarse, fine) = (worst(NystroemCut::Millionth), worst(NystroemCut::Rounding));
        assert!(fine < 3e-6 && coarse > 10.0 * fine, "{coarse} {fine}");
    }

    #[test]
    fn nearly_indefinite_matrices_have_eigenvectors() {
        let n = 30;
        // A Gaussian far wider than the distances of the points, a matrix with a negative eigenvalue, and one of rank
        // one.
        let wide = square(n, |at| (-((at / n) as f64 - (at % n) as f64).powi(2) / 1e3).exp());
        let mut indefinite = decaying(n, 2.0);
        indefinite.set(0, 0, -1.0);
        let flat = square(n, |_| 1.0);
        for matrix in [wide, indefinite, flat] {
            assert!(InverseRoot::by_cholesky(&matrix, growth(n, |x| matrix.times(&x)), exact(1e-9)).is_none());
            assert!(InverseRoot::new(&matrix, NegativeEigenvalues::Clip, exact(1e-9)).unwrap().columns.n_cols() < n);
        }
        let squared = InverseRoot::new(&decaying(n, 2.0), NegativeEigenvalues::Square, exact(1e-9)).unwrap();
        assert!(squared.trace > 1.1 * n as f64);
    }
}
