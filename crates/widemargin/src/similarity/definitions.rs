//! Terms of the definitions of similarities of vectors, a pair at a time and in double precision.

/// Σ_j f(x_j, y_j).
pub(super) fn sum(x: &[f64], y: &[f64], f: fn(f64, f64) -> f64) -> f64 {
    x.iter().zip(y).map(|(&x, &y)| f(x, y)).sum()
}

/// x·y.
pub(super) fn product(x: &[f64], y: &[f64]) -> f64 {
    sum(x, y, |x, y| x * y)
}
