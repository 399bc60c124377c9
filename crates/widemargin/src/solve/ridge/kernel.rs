//! Ridge regression on a kernel between the samples.

use std::ops::Range;

use super::part::{Fitted, RidgePart};
use super::parts::{Free, PartedRidge};
use super::roots;
use super::spectrum::{Spectrum, significant};
use crate::linalg::factor::{Matrix, Side, Svd, add_product, product, project_off, stacked};
use crate::problem::RowFeatures;
use crate::tuning::MIN_SINGULAR_VALUE;

/// A problem decomposed from a kernel between the samples.
pub(crate) struct Ridge {
    pub parted: PartedRidge,
    fitted: Fitted,
    /// The rows of U and Q, one column per row: the features of the samples.
    rows: Matrix,
    kernel: Matrix,
    /// Of R P, whose left singular vectors are Q.
    svd: Svd,
}

/// The solution of a kernel problem: f = Σ α k(x, ·) + Σ β p.
pub(crate) struct KernelSolution {
    /// Samples × outputs.
    pub alphas: Matrix,
    /// Columns of P × outputs.
    pub betas: Matrix,
}

impl Ridge {
    /// Decomposes a kernel between the samples, reading its lower triangle; `free` has the columns of P. `None`
    /// for numbers that are not finite.
    pub fn of_kernel(kernel: Matrix, free: Matrix, fitted: Fitted) -> Option<Self> {
        let (n, roots) = (fitted.weights.len(), roots(&fitted.weights));
        let mut kernel = kernel;
        kernel.mirror_lower();
        let mut scaled = kernel.clone();
        for col in 0..n {
            let factor = roots[col];
            scaled.col_mut(col).iter_mut().zip(&roots).for_each(|(value, root)| *value *= factor * root);
        }
        let svd = Svd::new(&scaled_rows(&free, &roots), MIN_SINGULAR_VALUE)?;
        let q = &svd.u;
        // Of equal rows nothing else is left off the constant.
        let largest = scaled.values().iter().fold(0.0f64, |largest, x| largest.max(x.abs()));
        let rounding = if q.n_cols() > 0 { f64::EPSILON * n as f64 * largest } else { 0.0 };
        project_off(&mut scaled, q);
        let (values, u) = significant(&scaled, rounding)?;
        let weighted = scaled_rows(&fitted.targets.transposed(), &roots);
        let [projected, along] = [&u, q].map(|basis| product(Side::Transposed(basis), Side::Plain(&weighted)));
        let (total, n_outputs) = (fitted.total(), fitted.targets.n_rows());
        let free =
            Free { center: Vec::new(), along: along.transposed().into_values(), n_outputs, total, means: Vec::new() };
        let parted = PartedRidge { free, spectrum: Spectrum { values, projected, total }, rotation: None };
        Some(Ridge { parted, fitted, rows: stacked(&u.transposed(), &q.transposed()), kernel, svd })
    }

    /// The number of independent columns of P.
    pub fn n_free(&self) -> usize {
        self.svd.s.len()
    }

    /// The features of some rows.
    pub fn features(&self, rows: Range<usize>) -> RowFeatures<'_> {
        let width = self.rows.n_rows();
        let values = &self.rows.values()[rows.start * width..rows.end * width];
        RowFeatures::Weighted { values, width, n_penalized: width - self.n_free() }
    }

    /// All rows.
    pub fn rows(&self) -> RidgePart<'_> {
        let rows = 0..self.fitted.weights.len();
        self.fitted.part(rows.clone(), self.features(rows))
    }

    /// The coefficients at λ.
    pub fn solution(&self, lambda: f64) -> KernelSolution {
        let Ridge { rows, kernel, svd, .. } = self;
        let roots = roots(&self.fitted.weights);
        let shrunk = self.parted.spectrum.shrunk(lambda, 0.0);
        let of_rows = stacked(&shrunk, &Matrix::zeros(self.n_free(), shrunk.n_cols()));
        let mut scaled = product(Side::Transposed(rows), Side::Plain(&of_rows));
        // Eigenvectors of the smallest eigenvalues are orthogonal to Q but for rounding, which K would magnify.
        let along = product(Side::Transposed(&svd.u), Side::Plain(&scaled));
        add_product(&mut scaled, -1.0, Side::Plain(&svd.u), Side::Plain(&along));
        let alphas = scaled_rows(&scaled, &roots);
        // R P β is the fit of R y − R K α by Q.
        let mut left = self.fitted.targets.transposed();
        add_product(&mut left, -1.0, Side::Plain(kernel), Side::Plain(&alphas));
        let mut onto = product(Side::Transposed(&svd.u), Side::Plain(&scaled_rows(&left, &roots)));
        (0..onto.n_cols()).for_each(|k| onto.col_mut(k).iter_mut().zip(&svd.s).for_each(|(x, s)| *x /= s));
        KernelSolution { alphas, betas: product(Side::Plain(&svd.v), Side::Plain(&onto)) }
    }
}

/// A matrix with a factor for each row.
fn scaled_rows(matrix: &Matrix, factors: &[f64]) -> Matrix {
    let mut scaled = matrix.clone();
    (0..scaled.n_cols())
        .for_each(|col| scaled.col_mut(col).iter_mut().zip(factors).for_each(|(x, factor)| *x *= factor));
    scaled
}
