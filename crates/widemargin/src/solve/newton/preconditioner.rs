//! A matrix that approximates the Hessians of all problems, in a form that is fast to solve with.

use super::few_rows::RowsFactor;
use crate::linalg::Cholesky;
use crate::par::Pool;
use crate::problem::{Gram, Intercept, Shape};

/// An approximation of the inverse Hessian.
#[derive(Debug)]
pub(super) enum Preconditioner {
    /// 1 / diagonal, per coordinate.
    Diagonal(Vec<f64>),
    /// A factor of I + Σ h φφᵀ.
    Gram(GramFactor),
    /// The same, from the few rows with h above 0.
    Rows(RowsFactor),
}

/// The factor of [[I + G, a], [aᵀ, α]] in parts: that of the Schur complement I + G − a aᵀ/α of the intercept, which is
/// the matrix of the *centered* features, and a and α themselves. A mean far from 0 is thus subtracted in double
/// precision, before the factorization in single precision.
#[derive(Debug)]
pub(super) struct GramFactor {
    factor: Cholesky<f32>,
    column: Vec<f64>,
    /// α, or 0 if the intercept does not move.
    corner: f64,
}

impl Preconditioner {
    pub fn from_diagonal(shape: &Shape, mut diagonal: Vec<f64>, penalty: f64) -> Self {
        let (features, intercept) = diagonal.split_at_mut(shape.n_features);
        features.iter_mut().for_each(|h| *h = 1.0 / (penalty + *h));
        let of_intercept = if shape.intercept == Intercept::Penalized { penalty } else { 0.0 };
        let corner = of_intercept + intercept[0];
        intercept[0] = if shape.intercept != Intercept::None && corner > 0.0 { 1.0 / corner } else { 0.0 };
        Preconditioner::Diagonal(diagonal)
    }

    /// Factors I + Gram: features³ / 3 flops, with two matrices in memory.
    pub fn from_gram(shape: &Shape, gram: &Gram, penalty: f64, pool: &Pool) -> Option<Self> {
        let d = shape.n_features;
        let corner = match shape.intercept {
            Intercept::Free => gram.corner,
            Intercept::Penalized => gram.corner + penalty,
            Intercept::None => 0.0,
        };
        let largest = (0..d).map(|j| gram.lower[j * d + j]).fold(penalty as f32, f32::max);
        // Rounding can make the matrix indefinite if its condition number exceeds single precision: a ridge of the size
        // of the rounding error does not harm a preconditioner.
        let mut ridge = 0.0;
        for _ in 0..6 {
            let mut matrix = gram.lower.clone();
            for (i, row) in matrix.chunks_mut(d.max(1)).enumerate() {
                let scale = if corner > 0.0 { gram.column[i] / corner } else { 0.0 };
                for (value, other) in row[..=i].iter_mut().zip(&gram.column) {
                    *value = (f64::from(*value) - scale * other) as f32;
                }
                row[i] += penalty as f32 + ridge;
            }
            if let Some(factor) = Cholesky::new(matrix, d, pool) {
                return Some(Preconditioner::Gram(GramFactor { factor, column: gram.column.clone(), corner }));
            }
            ridge = if ridge == 0.0 { 1e-6 * largest } else { 10.0 * ridge };
        }
        None
    }

    /// M⁻¹r for several r, which are points.
    pub fn apply(&self, residuals: &[f64]) -> Vec<f64> {
        match self {
            Preconditioner::Diagonal(inverse) => {
                residuals.chunks(inverse.len()).flat_map(|r| r.iter().zip(inverse).map(|(r, h)| r * h)).collect()
            }
            Preconditioner::Gram(gram) => gram.apply(residuals),
            Preconditioner::Rows(rows) => rows.apply(residuals),
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
    use crate::monitor::Monitor;
    use crate::problem::{ActiveRows, Loss};

    #[test]
    fn applies_the_inverse_of_the_bordered_matrix() {
        // Rows (1, 2), (3, 1), (2, 2) with h = 1, 2, 3, far from centered.
        let (rows, h) = ([[1.0, 2.0], [3.0, 1.0], [2.0, 2.0]], [1.0, 2.0, 3.0]);
        let sum = |f: &dyn Fn(&[f64; 2]) -> f64| -> f64 { rows.iter().zip(h).map(|(row, h)| h * f(row)).sum() };
        let gram = [[sum(&|r| r[0] * r[0]), 0.0], [sum(&|r| r[0] * r[1]), sum(&|r| r[1] * r[1])]];
        let column = vec![sum(&|r| r[0]), sum(&|r| r[1])];
        let lower = gram.iter().flatten().map(|&v| v as f32).collect();
        let gram = Gram { lower, column, corner: 6.0 };
        let active = ActiveRows { rows: rows.iter().flat_map(|r| [r[0], r[1], 1.0]).collect(), curvatures: h.into() };
        let pool = Pool::new(1).unwrap();
        for (intercept, penalty) in [Intercept::Free, Intercept::Penalized, Intercept::None]
            .into_iter()
            .flat_map(|intercept| [1.0, 7.5].map(|penalty| (intercept, penalty)))
        {
            let shape = Shape { n_rows: 3, n_features: 2, n_problems: 1, loss: Loss::SquaredHinge, intercept };
            let of_gram = Preconditioner::from_gram(&shape, &gram, penalty, &pool).unwrap();
            let to_rows = (&pool, &Monitor::none());
            let of_rows = RowsFactor::new(&shape, active.clone(), penalty, to_rows.0, to_rows.1).unwrap();
            let of_rows = Preconditioner::Rows(of_rows);
            let precise = RowsFactor::with_products(&shape, active.clone(), penalty, |_, _, _, _| false, to_rows);
            let precise = Preconditioner::Rows(precise.unwrap());
            let r = [1.0, -2.0, 0.5];
            for (factor, rounding) in [(of_gram, 1e-5), (of_rows, 1e-5), (precise, 1e-12)] {
                let z = factor.apply(&r);
                for j in 0..2 {
                    let found = penalty * z[j] + sum(&|row| row[j] * (row[0] * z[0] + row[1] * z[1] + z[2]));
                    assert!((found - r[j]).abs() < rounding, "{intercept:?}");
                }
                let own = if intercept == Intercept::Penalized { penalty } else { 0.0 };
                let found = own * z[2] + sum(&|row| row[0] * z[0] + row[1] * z[1] + z[2]);
                assert!(if intercept == Intercept::None { z[2] == 0.0 } else { (found - r[2]).abs() < rounding });
            }
        }
    }
}
