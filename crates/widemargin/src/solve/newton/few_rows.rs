//! The inverse Hessian of one problem from its active rows, if these are fewer than the features: at a large C most
//! rows are outside the margin, and the Hessian is I plus a matrix of low rank.

use crate::linalg::{self, Cholesky, Element};
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::problem::{ActiveRows, Intercept, Shape};
use crate::tuning::MAX_WOODBURY_ROUNDING;

/// Rows of the small matrix per task; fixed, so that results do not depend on the number of threads.
const TILE: usize = 128;

/// The rounding of a product of two rows in single precision, in units of their norms.
const SINGLE_ROUNDING: f64 = 1.0 / (1u32 << 22) as f64;

/// The inverse of pI + Σ h ψψᵀ by the matrix inversion lemma (Woodbury): it maps r to q − Ψᵀ(pD⁻¹ + ΨΨᵀ)⁻¹Ψq with q =
/// r/p, where D are the curvatures h and p is the factor of the penalty. A penalized intercept is a feature that is
/// always 1; an unpenalized one is eliminated, which centers the rows, ψ = φ − Σhφ / Σh. In double precision, since the
/// remainder of r in the span of the rows is a small difference; but the products ΨΨᵀ, most of the work, are in single
/// precision where their rounding is small compared with pD⁻¹.
#[derive(Debug)]
pub(super) struct RowsFactor {
    /// Ψ, row-major, with a last column for the intercept.
    rows: Vec<f64>,
    size: usize,
    /// Of pD⁻¹ + ΨΨᵀ.
    factor: Cholesky<f64>,
    /// Σhφ / Σh and 1 / Σh if the intercept is unpenalized and there are rows that determine it.
    center: Option<(Vec<f64>, f64)>,
    intercept: Intercept,
    penalty: f64,
}

impl RowsFactor {
    /// Cost of [`RowsFactor::new`] for these numbers of rows and features, in multiply-adds of a single-precision
    /// product: the factor, in double precision, takes twice as long. In addition, the rows are read and written
    /// several times.
    pub fn cost(n_rows: f64, n_features: f64) -> f64 {
        n_rows * (n_rows * (0.5 * n_features + n_rows / 3.0) + 8.0 * n_features)
    }

    /// Factors the matrix of the rows, or returns `None` if it is not positive definite in double precision or the
    /// monitor says to stop.
    pub fn new(shape: &Shape, active: ActiveRows, penalty: f64, pool: &Pool, monitor: &Monitor<'_>) -> Option<Self> {
        Self::with_products(shape, active, penalty, is_negligible, (pool, monitor))
    }

    /// The same, whose products are in single precision where `is_single` of the centered rows, their size, the
    /// curvatures and the penalty.
    pub fn with_products(
        shape: &Shape,
        active: ActiveRows,
        penalty: f64,
        is_single: fn(&[f64], usize, &[f64], f64) -> bool,
        (pool, monitor): (&Pool, &Monitor<'_>),
    ) -> Option<Self> {
        let ActiveRows { mut rows, curvatures } = active;
        let (size, n) = (shape.n_features + 1, curvatures.len());
        let center = match shape.intercept {
            Intercept::Free if n > 0 => Some(take_off_the_mean(&mut rows, size, &curvatures)),
            _ => None,
        };
        if shape.intercept != Intercept::Penalized {
            rows.chunks_mut(size).for_each(|row| row[size - 1] = 0.0);
        }
        let mut small = if is_single(&rows, size, &curvatures, penalty) {
            let narrow: Vec<f32> = rows.iter().map(|x| *x as f32).collect();
            lower_products(&narrow, size, pool, monitor)?
        } else {
            lower_products(&rows, size, pool, monitor)?
        };
        curvatures.iter().enumerate().for_each(|(i, h)| small[i * n + i] += penalty / h);
        let factor = Cholesky::new(small, n, pool)?;
        Some(RowsFactor { rows, size, factor, center, intercept: shape.intercept, penalty })
    }

    /// The inverse times several r, which are points. 4 · rows · features flops each.
    pub fn apply(&self, residuals: &[f64]) -> Vec<f64> {
        residuals.chunks(self.size).flat_map(|r| self.apply_one(r)).collect()
    }

    fn apply_one(&self, residual: &[f64]) -> Vec<f64> {
        let last = self.size - 1;
        let mut r = residual.to_vec();
        if let Some((mean, _)) = &self.center {
            linalg::factor::add_scaled(&mut r[..last], -residual[last], mean);
        }
        if self.intercept != Intercept::Penalized {
            r[last] = 0.0;
        }
        r.iter_mut().for_each(|r| *r /= self.penalty);
        let mut small: Vec<f64> = self.rows.chunks(self.size).map(|row| linalg::factor::dot(row, &r)).collect();
        self.factor.solve(&mut small);
        for (row, share) in self.rows.chunks(self.size).zip(&small) {
            linalg::factor::add_scaled(&mut r, -share, row);
        }
        if let Some((mean, inverse)) = &self.center {
            r[last] = residual[last] * inverse - linalg::factor::dot(mean, &r[..last]);
        }
        r
    }
}

/// Whether the products of the rows may be rounded to single precision. Their errors are independent, so that their
/// matrix has a norm of about √n times that of one.
fn is_negligible(rows: &[f64], size: usize, curvatures: &[f64], penalty: f64) -> bool {
    let square = rows.chunks(size).map(|row| linalg::factor::dot(row, row)).fold(0.0, f64::max);
    let steepest = curvatures.iter().copied().fold(0.0, f64::max);
    SINGLE_ROUNDING * (curvatures.len() as f64).sqrt() * square * steepest <= MAX_WOODBURY_ROUNDING * penalty
}

/// The lower triangle of ΨΨᵀ, row-major, or `None` if the monitor says to stop. n²·size flops.
fn lower_products<T: Element>(rows: &[T], size: usize, pool: &Pool, monitor: &Monitor<'_>) -> Option<Vec<f64>> {
    let n = rows.len() / size;
    let mut small = vec![0.0; n * n];
    let mut tiles: Vec<&mut [f64]> = small.chunks_mut((TILE * n).max(1)).collect();
    let done = pool.map_mut(&mut tiles, |at, tile| {
        monitor.ask().ok()?;
        // The tile's rows with all up to them.
        let (first, last) = (at * TILE, at * TILE + tile.len() / n);
        let mut product = vec![T::zero(); (last - first) * last];
        linalg::outer(&mut product, &rows[first * size..last * size], &rows[..last * size], size);
        for (to, from) in tile.chunks_mut(n).zip(product.chunks(last)) {
            to.iter_mut().zip(from).for_each(|(to, from)| *to = (*from).into());
        }
        Some(())
    });
    done.into_iter().collect::<Option<()>>()?;
    Some(small)
}

/// Subtracts the weighted mean from the rows; returns it and one over the sum of the weights.
fn take_off_the_mean(rows: &mut [f64], size: usize, weights: &[f64]) -> (Vec<f64>, f64) {
    let inverse = 1.0 / weights.iter().sum::<f64>();
    let mut mean = vec![0.0; size];
    for (row, weight) in rows.chunks(size).zip(weights) {
        linalg::factor::add_scaled(&mut mean, weight * inverse, row);
    }
    rows.chunks_mut(size).for_each(|row| linalg::factor::add_scaled(row, -1.0, &mean));
    mean.truncate(size - 1);
    (mean, inverse)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::mixed;
    use crate::problem::Loss;

    #[test]
    fn products_are_rounded_to_single_precision_only_where_the_inverse_does_not_feel_it() {
        let (n, d) = (40, 60);
        let number = |at: usize| (mixed(at as u64 + 1) >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
        let rows: Vec<f64> = (0..n * (d + 1)).map(|at| if at % (d + 1) == d { 1.0 } else { number(at) }).collect();
        let residual: Vec<f64> = (0..=d).map(|at| number(n * (d + 1) + at)).collect();
        let shape = Shape {
            n_rows: n,
            n_features: d,
            n_problems: 1,
            loss: Loss::SquaredHinge,
            intercept: Intercept::Penalized,
        };
        for (curvature, is_single, rounding) in [(1.0, true, 1e-4), (1e3, true, 1e-2), (1e9, false, 1e-4)] {
            let curvatures = vec![curvature; n];
            assert_eq!(is_negligible(&rows, d + 1, &curvatures, 1.0), is_single);
            let active = ActiveRows { rows: rows.clone(), curvatures };
            let factor = RowsFactor::new(&shape, active, 1.0, &Pool::new(1).unwrap(), &Monitor::none()).unwrap();
            let z = factor.apply(&residual);
            let along: Vec<f64> = rows.chunks(d + 1).map(|row| curvature * linalg::factor::dot(row, &z)).collect();
            let mut back = z;
            rows.chunks(d + 1).zip(&along).for_each(|(row, along)| linalg::factor::add_scaled(&mut back, *along, row));
            let worst = back.iter().zip(&residual).map(|(found, r)| (found - r).abs()).fold(0.0, f64::max);
            assert!(worst < rounding, "curvature {curvature}: {worst:e}");
        }
    }
}
