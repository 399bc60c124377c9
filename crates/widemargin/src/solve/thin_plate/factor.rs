//! The factored Hessian of one problem: the penalized part by Cholesky, the unpenalized one by its Schur complement.

use super::row_sums::RowsShape;
use crate::linalg::factor::{Cholesky, Matrix, Side, Svd, add_lower_product, add_scaled, dot, product};
use crate::tuning::MIN_SINGULAR_VALUE;

/// Like [`MIN_SINGULAR_VALUE`] without a penalized part, where nearly lost directions show whether polynomials separate
/// the data.
const MIN_SINGULAR_VALUE_WITHOUT_PENALTY: f64 = 1e-13;

/// Share of the sum of derivatives' sizes below which those along directions that no row determines are rounding.
const UNDETERMINED_DERIVATIVE: f64 = 1e-12;

/// H_tt + λI = L Lᵀ, and for the unpenalized part X = L⁻¹H_tu and the singular values of its Schur complement.
#[derive(Debug)]
pub(crate) struct Factor {
    cholesky: Cholesky,
    across: Matrix,
    schur: Svd,
}

impl Factor {
    /// Factors a column-major square, reading its lower triangle; `None` if λ is too small for double precision. What is
    /// at most `rounding` of the Schur complement is that of rows that are not counted any more.
    pub fn new(hessian: &[f64], shape: RowsShape, lambda: f64, rounding: f64) -> Option<Self> {
        let (b, q, p) = (shape.n_penalized, shape.n_free, shape.width());
        let column = |col: usize| &hessian[col * p..(col + 1) * p];
        let mut penalized = Matrix::zeros(b, b);
        let mut across = Matrix::zeros(b, q);
        for col in 0..b {
            penalized.col_mut(col)[col..].copy_from_slice(&column(col)[col..b]);
            penalized.set(col, col, penalized.at(col, col) + lambda);
            column(col)[b..].iter().enumerate().for_each(|(k, x)| across.set(col, k, *x));
        }
        let mut schur = Matrix::zeros(q, q);
        (0..q).for_each(|k| schur.col_mut(k)[k..].copy_from_slice(&column(b + k)[b + k..]));
        let cholesky = Cholesky::new(penalized)?;
        cholesky.solve_lower(&mut across);
        add_lower_product(&mut schur, -1.0, Side::Transposed(&across), Side::Plain(&across));
        schur.mirror_lower();
        let threshold = if b == 0 { MIN_SINGULAR_VALUE_WITHOUT_PENALTY } else { MIN_SINGULAR_VALUE };
        Some(Factor { cholesky, across, schur: Svd::new(&schur, threshold)?.above(rounding) })
    }

    /// Whether the rows inside the margin determine the unpenalized part.
    pub fn is_determined(&self) -> bool {
        self.schur.s.len() == self.across.n_cols()
    }

    /// (H + λI)⁻¹ · right, with the smallest change if the unpenalized part is not determined; or, where the objective
    /// falls along such a direction, since losses may have a derivative and no curvature, a change by `reach`, and whether
    /// that is so. Derivatives far below `size` are rounding.
    pub fn solve(&self, right: &[f64], (reach, size): (f64, f64)) -> (Vec<f64>, bool) {
        let b = self.across.n_rows();
        let mut step = Matrix::from_columns(right[..b].to_vec(), b, 1);
        self.cholesky.solve_lower(&mut step);
        let mut rest = right[b..].to_vec();
        add_scaled(&mut rest, -1.0, &self.across.transposed_times(step.col(0)));
        let mut change = vec![0.0; rest.len()];
        let mut falling = rest.clone();
        for (k, part) in self.schur.u.transposed_times(&rest).into_iter().enumerate() {
            add_scaled(&mut change, part / self.schur.s[k], self.schur.v.col(k));
            add_scaled(&mut falling, -part, self.schur.u.col(k));
        }
        let undetermined = dot(&falling, &falling).sqrt();
        let falls = !self.is_determined() && undetermined > UNDETERMINED_DERIVATIVE * size;
        if falls {
            add_scaled(&mut change, reach / undetermined, &falling);
        }
        add_scaled(step.col_mut(0), -1.0, &self.across.times(&change));
        self.cholesky.solve_lower_transposed(&mut step);
        let mut out = step.into_values();
        out.extend(change);
        (out, falls)
    }

    /// R with RᵀR = (H + λI)⁻¹, column-major: L⁻¹, followed by rows from the Schur complement.
    pub fn root(&self) -> Vec<f64> {
        let (b, q) = (self.across.n_rows(), self.across.n_cols());
        let inverse = self.cholesky.inverse_lower();
        // S^(−½)Uᵀ, and its product with −XᵀL⁻¹.
        let mut half = Matrix::zeros(q, q);
        for (k, s) in self.schur.s.iter().enumerate() {
            self.schur.u.col(k).iter().enumerate().for_each(|(row, u)| half.set(k, row, u / s.sqrt()));
        }
        let along = product(Side::Transposed(&self.across), Side::Plain(&inverse));
        let below = product(Side::Plain(&half), Side::Plain(&along));
        let mut out = Matrix::zeros(b + q, b + q);
        for col in 0..b {
            let (above, rest) = out.col_mut(col).split_at_mut(b);
            above[col..].copy_from_slice(&inverse.col(col)[col..]);
            rest.iter_mut().zip(below.col(col)).for_each(|(to, x)| *to = -x);
        }
        (0..q).for_each(|k| out.col_mut(b + k)[b..].copy_from_slice(half.col(k)));
        out.into_values()
    }
}
