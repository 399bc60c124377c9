//! Exact line search: along a line the objective is quadratic between breakpoints.

use super::system::Target;

/// The shortest step: rounding must not stop a search along a descent direction.
const FLOOR: f64 = 1e-9;

/// The t in (0, 1] that minimizes λ·penalty(t) + Σ r (√w − y z(t))²₊ with z(t) = (1 − t) z₀ + t z₁ and
/// penalty(t) = p₀₀ (1 − t)² + 2 p₀₁ t (1 − t) + p₁₁ t².
pub(crate) fn search(target: Target<'_>, from: &[f64], to: &[f64], lambda: f64, [p00, p01, p11]: [f64; 3]) -> f64 {
    // Half the derivative is constant + slope · t between breakpoints.
    let mut constant = lambda * (p01 - p00);
    let mut slope = lambda * (p00 - 2.0 * p01 + p11);
    let mut breaks: Vec<(f64, f64, f64)> = Vec::new();
    for i in 0..from.len() {
        // slack(t) = a − b t.
        let a = target.slack(from, i);
        let b = target.signs[i] * (to[i] - from[i]);
        let inside = a > 0.0 || (a == 0.0 && b < 0.0);
        let weight = target.weight(i);
        if inside {
            constant -= weight * a * b;
            slope += weight * b * b;
        }
        let t = a / b;
        if b != 0.0 && t > 0.0 && t < 1.0 {
            // The sample leaves the margin (b > 0) or enters it.
            let sign = if inside { -1.0 } else { 1.0 };
            breaks.push((t, -sign * weight * a * b, sign * weight * b * b));
        }
    }
    breaks.sort_by(|x, y| x.0.total_cmp(&y.0));
    for (t, to_constant, to_slope) in breaks {
        if constant + slope * t >= 0.0 {
            break;
        }
        constant += to_constant;
        slope += to_slope;
    }
    let t = if slope > 0.0 { -constant / slope } else { 1.0 };
    if t.is_finite() { t.clamp(FLOOR, 1.0) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_minimum_of_a_piecewise_quadratic() {
        let n = 40;
        let number = |i: usize, k: f64| (k * (i as f64 + 1.0)).sin() * 3.0;
        let signs: Vec<f64> = (0..n).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
        let roots: Vec<f64> = (0..n).map(|i| 1.0 + (i % 4) as f64 * 0.2).collect();
        let target = Target { signs: &signs, roots: &roots, weights: None };
        for case in 0..20 {
            let from: Vec<f64> = (0..n).map(|i| number(i, 1.1 + case as f64)).collect();
            let to: Vec<f64> = (0..n).map(|i| 0.3 * number(i, 2.3 + case as f64) + signs[i]).collect();
            let p = [5.0, 1.0, 4.0];
            let value = |t: f64| {
                let z: Vec<f64> = from.iter().zip(&to).map(|(a, b)| a + t * (b - a)).collect();
                let penalty = p[0] * (1.0 - t) * (1.0 - t) + 2.0 * p[1] * t * (1.0 - t) + p[2] * t * t;
                0.1 * penalty + target.loss(&z)
            };
            let t = search(target, &from, &to, 0.1, p);
            let best = (0..=10_000).map(|k| value(f64::from(k) / 10_000.0)).fold(f64::INFINITY, f64::min);
            assert!(value(t) <= best + 1e-9 && t > 0.0 && t <= 1.0, "{case}: {t} {} {best}", value(t));
        }
    }
}
