//! One matrix that stands for the Hessians of all problems, in a form that is quick to solve with.

use crate::linalg::Cholesky;
use crate::par::Pool;
use crate::problem::{Gram, Intercept, Shape};

/// An approximation of the inverse Hessian.
#[derive(Debug)]
pub(super) enum Preconditioner {
    /// 1 / diagonal, a coordinate.
    Diagonal(Vec<f64>),
    /// A factor of I + Σ h φφᵀ.
    Gram(GramFactor),
}

/// The factor of [[I + G, a], [aᵀ, α]] in parts: that of the Schur complement I + G − a aᵀ/α of the intercept, which
/// is the matrix of the *centred* features, and a and α themselves. So a mean far from 0 is taken off in double
/// precision, before the factor is made in single.
#[derive(Debug)]
pub(super) struct GramFactor {
    factor: Cholesky<f32>,
    column: Vec<f64>,
    /// α, or 0 where the intercept does not move.
    corner: f64,
}

impl Preconditioner {
    pub fn from_diagonal(shape: &Shape, mut diagonal: Vec<f64>) -> Self {
        let (features, intercept) = diagonal.split_at_mut(shape.n_features);
        features.iter_mut().for_each(|h| *h = 1.0 / (1.0 + *h));
        let penalty = if shape.intercept == Intercept::Penalised { 1.0 } else { 0.0 };
        let corner = penalty + intercept[0];
        intercept[0] = if shape.intercept != Intercept::None && corner > 0.0 { 1.0 / corner } else { 0.0 };
        Preconditioner::Diagonal(diagonal)
    }

    /// Factors I + Gram: features³ / 3 flops, and two matrices in memory meanwhile.
    pub fn from_gram(shape: &Shape, gram: &Gram, pool: &Pool) -> Option<Self> {
        let d = shape.n_features;
        let corner = match shape.intercept {
            Intercept::Free => gram.corner,
            Intercept::Penalised => gram.corner + 1.0,
            Intercept::None => 0.0,
        };
        let largest = (0..d).map(|j| gram.lower[j * d + j]).fold(1.0, f32::max);
        // Rounding can make the matrix indefinite where its condition is beyond single precision: a ridge of the
        // size of the rounding then does no harm to a preconditioner.
        let mut ridge = 0.0;
        for _ in 0..6 {
            let mut matrix = gram.lower.clone();
            for (i, row) in matrix.chunks_mut(d.max(1)).enumerate() {
                let scale = if corner > 0.0 { gram.column[i] / corner } else { 0.0 };
                for (value, other) in row[..=i].iter_mut().zip(&gram.column) {
                    *value = (f64::from(*value) - scale * other) as f32;
                }
                row[i] += 1.0 + ridge;
            }
            if let Some(factor) = Cholesky::new(matrix, d, pool) {
                return Some(Preconditioner::Gram(GramFactor { factor, column: gram.column.clone(), corner }));
            }
            ridge = if ridge == 0.0 { 1e-6 * largest } else { 10.0 * ridge };
        }
        None
    }

    /// M⁻¹r for several r, points all.
    pub fn apply(&self, residuals: &[f64]) -> Vec<f64> {
        match self {
            Preconditioner::Diagonal(inverse) => {
                residuals.chunks(inverse.len()).flat_map(|r| r.iter().zip(inverse).map(|(r, h)| r * h)).collect()
            }
            Preconditioner::Gram(gram) => gram.apply(residuals),
        }
    }
}

impl GramFactor {
    /// By block elimination: z_w = S⁻¹(r_w − a·r_b/α), z_b = (r_b − aᵀz_w)/α.
    fn apply(&self, residuals: &[f64]) -> Vec<f64> {
        let d = self.column.len();
        let shift = |r: &[f64]| if self.corner > 0.0 { r[d] / self.corner } else { 0.0 };
        let mut narrow = Vec::with_capacity(residuals.len());
        for r in residuals.chunks(d + 1) {
            let shift = shift(r);
            narrow.extend(r[..d].iter().zip(&self.column).map(|(r, a)| (r - shift * a) as f32));
        }
        self.factor.solve(&mut narrow);
        let mut solved = Vec::with_capacity(residuals.len());
        for (k, r) in residuals.chunks(d + 1).enumerate() {
            solved.extend(narrow[k * d..(k + 1) * d].iter().map(|&z| f64::from(z)));
            let cross: f64 = solved[k * (d + 1)..].iter().zip(&self.column).map(|(z, a)| z * a).sum();
            solved.push(if self.corner > 0.0 { (r[d] - cross) / self.corner } else { 0.0 });
        }
        solved
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::SmoothLoss;

    #[test]
    fn applies_the_inverse_of_the_bordered_matrix() {
        // Rows (1, 2), (3, 1), (2, 2) with h = 1, 2, 3, far from centred.
        let (rows, h) = ([[1.0, 2.0], [3.0, 1.0], [2.0, 2.0]], [1.0, 2.0, 3.0]);
        let sum = |f: &dyn Fn(&[f64; 2]) -> f64| -> f64 { rows.iter().zip(h).map(|(row, h)| h * f(row)).sum() };
        let gram = [[sum(&|r| r[0] * r[0]), 0.0], [sum(&|r| r[0] * r[1]), sum(&|r| r[1] * r[1])]];
        let column = vec![sum(&|r| r[0]), sum(&|r| r[1])];
        let lower = gram.iter().flatten().map(|&v| v as f32).collect();
        let gram = Gram { lower, column, corner: 6.0 };
        for (intercept, penalty) in [(Intercept::Free, 0.0), (Intercept::Penalised, 1.0), (Intercept::None, 0.0)] {
            let shape = Shape { n_rows: 3, n_features: 2, n_problems: 1, loss: SmoothLoss::SquaredHinge, intercept };
            let factor = Preconditioner::from_gram(&shape, &gram, &Pool::new(1).unwrap()).unwrap();
            let r = [1.0, -2.0, 0.5];
            let z = factor.apply(&r);
            for j in 0..2 {
                let found = z[j] + sum(&|row| row[j] * (row[0] * z[0] + row[1] * z[1] + z[2]));
                assert!((found - r[j]).abs() < 1e-5, "{intercept:?}");
            }
            let found = penalty * z[2] + sum(&|row| row[0] * z[0] + row[1] * z[1] + z[2]);
            assert!(if intercept == Intercept::None { z[2] == 0.0 } else { (found - r[2]).abs() < 1e-5 });
        }
    }
}
