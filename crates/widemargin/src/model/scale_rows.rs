//! Scaling of columns.

/// Multiplies every column by its factor.
pub(super) fn scale_rows(rows: &mut [f64], factors: &[f64]) {
    for row in rows.chunks_mut(factors.len()) {
        row.iter_mut().zip(factors).for_each(|(x, factor)| *x *= factor);
    }
}
