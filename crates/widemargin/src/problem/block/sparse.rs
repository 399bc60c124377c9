//! Products of sparse rows. Weights and sums are `[feature][problem]`, so that the numbers of a non-zero for all
//! problems are adjacent: 2 flops per non-zero and problem, with 4 to 8 bytes moved.

use super::sums::Sums;
use crate::data::{CsrView, Rows};
use crate::error::Result;
use crate::monitor::{Monitor, is_late};
use crate::par::Pool;

pub(super) fn scores(view: &CsrView<'_, f32>, rows: &[u32], packed: &[f32], out: &mut [f32]) {
    let n = rows.len();
    let k = out.len() / n.max(1);
    let mut sums = vec![0.0f32; k];
    for (i, &row) in rows.iter().enumerate() {
        sums.fill(0.0);
        view.for_each_nonzero(row as usize, |column, value| {
            for (sum, weight) in sums.iter_mut().zip(&packed[column * k..(column + 1) * k]) {
                *sum += value as f32 * weight;
            }
        });
        for (p, sum) in sums.iter().enumerate() {
            out[p * n + i] = *sum;
        }
    }
}

pub(super) fn add_combination(view: &CsrView<'_, f32>, rows: &[u32], factors: &[f32], sums: &mut Sums) {
    let (n, k) = (rows.len(), sums.n_problems);
    let mut mine = vec![0.0f64; k];
    for (i, &row) in rows.iter().enumerate() {
        for (p, factor) in mine.iter_mut().enumerate() {
            *factor = f64::from(factors[p * n + i]);
        }
        view.for_each_nonzero(row as usize, |column, value| {
            for (sum, factor) in sums.wide[column * k..(column + 1) * k].iter_mut().zip(&mine) {
                *sum += value * factor;
            }
        });
    }
}

/// A scattered multiply-add takes about as long as 16 of a dense product.
const SCATTER_COST: f64 = 16.0;

pub(super) fn gram_cost(view: &CsrView<'_, f32>) -> f64 {
    let pairs = |row| 0.5 * (view.n_stored_in(row) as f64).powi(2);
    SCATTER_COST * (0..view.n_rows()).map(pairs).sum::<f64>()
}

/// Rows of the Gram matrix per task; fixed, so that results do not depend on the number of threads.
const BAND: usize = 128;

pub(super) fn gram(
    view: &CsrView<'_, f32>,
    factors: &[f32],
    pool: &Pool,
    monitor: &Monitor<'_>,
) -> Result<Option<Vec<f32>>> {
    let d = view.n_cols();
    let mut lower = vec![0.0f32; d * d];
    let mut bands: Vec<&mut [f32]> = lower.chunks_mut((BAND * d).max(1)).collect();
    let done = pool.map_mut(&mut bands, |at, band| {
        let columns = at * BAND..at * BAND + band.len() / d;
        let mut entries = Vec::new();
        for (row, &factor) in factors.iter().enumerate() {
            if row % 4096 == 0 {
                monitor.ask()?;
            }
            if factor == 0.0 {
                continue;
            }
            entries.clear();
            view.for_each_nonzero(row, |column, value| {
                if column < columns.end {
                    entries.push((column, value as f32));
                }
            });
            for (i, &(column, value)) in entries.iter().enumerate() {
                if column >= columns.start {
                    let sums = &mut band[(column - columns.start) * d..][..d];
                    for &(other, with) in &entries[..=i] {
                        sums[other] += factor * value * with;
                    }
                }
            }
        }
        Ok(())
    });
    Ok(if is_late(done.into_iter().collect(), "gram")? { None } else { Some(lower) })
}
