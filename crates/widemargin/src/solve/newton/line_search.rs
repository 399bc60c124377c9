//! Roots of increasing functions, several at once: exact line searches.
//!
//! The derivative of the objective along a line is increasing, and for squared hinge piecewise linear, so Newton's
//! method on it converges in a few steps; a bracket safeguards it where the curvature vanishes.

use crate::error::Result;

/// Evaluations per line search, at most.
const MAX_LINE_SEARCH_EVALUATIONS: u32 = 60;

/// The derivative at a point, its own derivative, and the tolerance for a root.
#[derive(Clone, Copy, Debug)]
pub(in crate::solve) struct SlopeAt {
    pub slope: f64,
    pub curvature: f64,
    pub tolerance: f64,
}

/// Points where the derivatives are near 0, from initial points and brackets (infinite if unknown).
///
/// `look(open, places)` evaluates the derivatives of the problems `open` (indices into `places`); problems with a root
/// are not evaluated again.
pub(in crate::solve) fn find_zeros(
    places: &mut [f64],
    mut brackets: Vec<(f64, f64)>,
    mut look: impl FnMut(&[usize], &[f64]) -> Result<Vec<SlopeAt>>,
) -> Result<()> {
    let mut open: Vec<usize> = (0..places.len()).collect();
    for _ in 0..MAX_LINE_SEARCH_EVALUATIONS {
        if open.is_empty() {
            break;
        }
        let here: Vec<f64> = open.iter().map(|&k| places[k]).collect();
        let found = look(&open, &here)?;
        let mut still = Vec::new();
        for (&k, at) in open.iter().zip(found) {
            // A NaN derivative also ends the search.
            if at.slope.is_nan() || at.slope.abs() <= at.tolerance {
                continue;
            }
            let bracket = &mut brackets[k];
            if at.slope > 0.0 {
                bracket.1 = places[k];
            } else {
                bracket.0 = places[k];
            }
            let next = next_place(places[k], &at, *bracket);
            if next != places[k] {
                places[k] = next;
                still.push(k);
            }
        }
        open = still;
    }
    Ok(())
}

/// Newton's step if it stays inside the bracket, otherwise bisection, otherwise doubling.
fn next_place(place: f64, at: &SlopeAt, (low, high): (f64, f64)) -> f64 {
    // 0/0 and x/0 are outside any bracket.
    let newton = place - at.slope / at.curvature;
    if newton.is_finite() && newton > low && newton < high {
        return newton;
    }
    match (low.is_finite(), high.is_finite()) {
        (true, true) => 0.5 * (low + high),
        (true, false) => place + place.abs().max(1.0),
        (false, true) => place - place.abs().max(1.0),
        (false, false) => place,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_zeros_of_awkward_functions() {
        // Piecewise linear with a flat start, a steep one, one that is 0 at once, and one with 0/0.
        let functions: [fn(f64) -> (f64, f64); 4] = [
            |t| if t < 3.0 { (-1.0, 0.0) } else { (-1.0 + 4.0 * (t - 3.0), 4.0) },
            |t| if t < 0.1 { (-1.0 + 9.0 * t, 9.0) } else { (-0.1 + 1e-3 * (t - 0.1), 1e-3) },
            |_| (0.0, 0.0),
            |_| (f64::NAN, 0.0),
        ];
        let mut places = [1.0; 4];
        find_zeros(&mut places, vec![(0.0, f64::INFINITY); 4], |open, at| {
            let slope = |(&k, &t): (&usize, &f64)| {
                let (slope, curvature) = functions[k](t);
                SlopeAt { slope, curvature, tolerance: 1e-9 }
            };
            Ok(open.iter().zip(at).map(slope).collect())
        })
        .unwrap();
        assert!((places[0] - 3.25).abs() < 1e-8 && (places[1] - 100.1).abs() < 1e-5, "{places:?}");
        assert_eq!(places[2..], [1.0, 1.0]);
    }
}
