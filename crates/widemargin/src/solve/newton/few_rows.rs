//! The inverse Hessian of one problem from its active rows, if these are fewer than the features: at a large C most
//! rows are outside the margin, and the Hessian is I plus a matrix of low rank.

use crate::linalg::{self, Cholesky};
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::problem::{ActiveRows, Intercept, Shape};

/// Rows of the small matrix per task; fixed, so that results do not depend on the number of threads.
const TILE: usize = 128;

/// The inverse of pI + Σ h ψψᵀ by the matrix inversion lemma (Woodbury): it maps r to q − Ψᵀ(pD⁻¹ + ΨΨᵀ)⁻¹Ψq with q =
/// r/p, where D are the curvatures h and p is the factor of the penalty. A penalised intercept is a feature that is
/// always 1; an unpenalised one is eliminated, which centres the rows, ψ = φ − Σhφ / Σh. All in double precision: the
/// remainder of r in the span of the rows is a small difference.
#[derive(Debug)]
pub(super) struct RowsFactor {
    /// Ψ, row-major, with a last column for the intercept.
    rows: Vec<f64>,
    size: usize,
    /// Of pD⁻¹ + ΨΨᵀ.
    factor: Cholesky<f64>,
    /// Σhφ / Σh and 1 / Σh if the intercept is unpenalised and there are rows that determine it.
    centre: Option<(Vec<f64>, f64)>,
    intercept: Intercept,
    penalty: f64,
}

impl RowsFactor {
    /// Cost of [`RowsFactor::new`] for these numbers of rows and features, in multiply-adds of a single-precision
    /// product: in double precision they take twice as long. In addition, the rows are read and written several times.
    pub fn cost(n_rows: f64, n_features: f64) -> f64 {
        n_rows * (n_rows * (n_features + n_rows / 3.0) + 8.0 * n_features)
    }

    /// Factors the matrix of the rows, or returns `None` if it is not positive definite in double precision or the
    /// monitor says to stop.
    pub fn new(shape: &Shape, active: ActiveRows, penalty: f64, pool: &Pool, monitor: &Monitor<'_>) -> Option<Self> {
        let ActiveRows { mut rows, curvatures } = active;
        let (size, n) = (shape.n_features + 1, curvatures.len());
        let centre = match shape.intercept {
            Intercept::Free if n > 0 => Some(take_off_the_mean(&mut rows, size, &curvatures)),
            _ => None,
        };
        if shape.intercept != Intercept::Penalised {
            rows.chunks_mut(size).for_each(|row| row[size - 1] = 0.0);
        }
        let mut small = vec![0.0; n * n];
        let mut tiles: Vec<&mut [f64]> = small.chunks_mut((TILE * n).max(1)).collect();
        let done = pool.map_mut(&mut tiles, |at, tile| {
            monitor.ask().ok()?;
            // The lower triangle suffices: the tile's rows with all up to them.
            let (first, last) = (at * TILE, at * TILE + tile.len() / n);
            let mut product = vec![0.0; (last - first) * last];
            linalg::outer(&mut product, &rows[first * size..last * size], &rows[..last * size], size);
            for (i, (to, from)) in tile.chunks_mut(n).zip(product.chunks(last)).enumerate() {
                to[..last].copy_from_slice(from);
                to[first + i] += penalty / curvatures[first + i];
            }
            Some(())
        });
        done.into_iter().collect::<Option<()>>()?;
        let factor = Cholesky::new(small, n, pool)?;
        Some(RowsFactor { rows, size, factor, centre, intercept: shape.intercept, penalty })
    }

    /// The inverse times several r, which are points. 4 · rows · features flops each.
    pub fn apply(&self, residuals: &[f64]) -> Vec<f64> {
        residuals.chunks(self.size).flat_map(|r| self.apply_one(r)).collect()
    }

    fn apply_one(&self, residual: &[f64]) -> Vec<f64> {
        let last = self.size - 1;
        let mut r = residual.to_vec();
        if let Some((mean, _)) = &self.centre {
            linalg::factor::add_scaled(&mut r[..last], -residual[last], mean);
        }
        if self.intercept != Intercept::Penalised {
            r[last] = 0.0;
        }
        r.iter_mut().for_each(|r| *r /= self.penalty);
        let mut small: Vec<f64> = self.rows.chunks(self.size).map(|row| linalg::factor::dot(row, &r)).collect();
        self.factor.solve(&mut small);
        for (row, share) in self.rows.chunks(self.size).zip(&small) {
            linalg::factor::add_scaled(&mut r, -share, row);
        }
        if let Some((mean, inverse)) = &self.centre {
            r[last] = residual[last] * inverse - linalg::factor::dot(mean, &r[..last]);
        }
        r
    }
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
