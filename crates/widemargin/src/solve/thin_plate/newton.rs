//! Newton's method on the violators (Algorithm 1 of the paper, with a corrected stopping rule).
//!
//! The published rule, to stop when the violators do not change, stops too early after a damped step: the set can stay
//! the same far from the minimum. Here the set must be that of the *full* step.

use std::sync::Arc;

use super::exact::{Exact, Factor};
use super::system::{Part, Point, Target};
use crate::error::{Error, Result};
use crate::monitor::{Monitor, Stopped};
use crate::solve::Status;
use crate::solve::newton::line_search::{SlopeAt, find_zeros};
use crate::tuning::{
    FIRST_PART_SAMPLES, HEAD_FACTOR, MARGIN_ROUNDING, MAX_HEAD_START_STEPS, MAX_PART_STEPS, MIN_STEP_LENGTH,
    STALLED_KKT_TOL, THIN_PLATE_SLOPE_TOL,
};

/// The λ to solve for, and larger ones to start with: from zero every sample is a violator, and at a small λ the first
/// steps go far astray.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lambdas {
    pub(super) last: f64,
    /// Number of steps with a larger λ, only when starting from zero.
    pub(super) head: u32,
}

impl Lambdas {
    /// For a λ that is `scale_free` in units of the kernel's mean diagonal: starts near one unit.
    pub fn new(lambda: f64, scale_free: f64) -> Self {
        let steps = (-scale_free.ln() / HEAD_FACTOR.ln()).ceil().clamp(0.0, MAX_HEAD_START_STEPS);
        Lambdas { last: lambda, head: steps as u32 }
    }
}

/// The stopping rule.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stop {
    pub max_steps: u32,
    /// Largest violation of λ a = y (√w − y z)₊ that counts as solved. After a full step it is the distance to the
    /// margin of the samples that crossed it.
    pub tol: f64,
}

/// The result of Newton's method.
#[derive(Debug)]
pub(crate) struct Solution {
    pub point: Point,
    /// The violators of `factor`.
    pub violators: Vec<usize>,
    /// `None` unless converged.
    pub factor: Option<Arc<Factor>>,
    /// Newton steps on all samples; those on parts are much cheaper and not counted.
    pub steps: u32,
    pub status: Status,
    /// λ‖h‖² + Σ (√w − y z)²₊.
    pub objective: f64,
}

/// Minimizes from `start`; `Ok(None)` if λ is too small for double precision.
pub(crate) fn minimize(
    system: &Exact,
    lambdas: Lambdas,
    target: Target<'_>,
    start: &Point,
    stop: Stop,
    monitor: &Monitor<'_>,
) -> Result<Option<Solution>> {
    let mut point = start.clone();
    let fresh = start.scores.iter().all(|z| *z == 0.0);
    let mut on_parts = 0;
    let mut last_factor = None;
    if fresh {
        on_parts = grow(system, lambdas, target, &mut point, stop, &mut last_factor, monitor)?;
    }
    let fresh = fresh && on_parts == 0;
    let mut violators = target.violators(&point.scores);
    let mut penalty = system.inner(&point, &point);
    let mut stalled = 0;
    let mut steps = 0;
    let head = if fresh { lambdas.head } else { 0 };
    let status = loop {
        let last = steps >= head;
        let lambda = if last { lambdas.last } else { lambdas.last * HEAD_FACTOR.powi((head - steps) as i32) };
        match monitor.ask() {
            Err(Stopped::Cancelled) => return Err(Error::Cancelled { stage: "solve" }),
            Err(Stopped::TimeLimit) if steps > 0 => break Status::TimeLimit,
            _ if steps >= stop.max_steps => break Status::IterationLimit,
            _ => {}
        }
        steps += 1;
        let Some((next, factor)) = system.solve(lambda, &violators, target, &point, &mut last_factor)? else {
            return Ok(None);
        };
        let next_penalty = system.inner(&next, &next);
        let next_violators = target.violators(&next.scores);
        let crossing = difference(&violators, &next_violators, target, &next.scores);
        let size = next.scores.iter().fold(1.0_f64, |most, z| most.max(z.abs()));
        let solved = crossing <= stop.tol.max(MARGIN_ROUNDING * size) || (stalled >= 2 && crossing <= STALLED_KKT_TOL);
        if last && solved {
            let objective = lambda * next_penalty + target.loss(&next.scores);
            let (status, factor) = (Status::Converged, Some(factor));
            return Ok(Some(Solution { point: next, violators, factor, steps, status, objective }));
        }
        let before = lambda * penalty + target.loss(&point.scores);
        let cross = system.inner(&point, &next);
        let full = lambda * next_penalty + target.loss(&next.scores);
        // Usually the full step is preferable even if a shorter one would be lower, since it can end the search.
        let t = if full < before {
            1.0
        } else {
            search(target, [&point.scores, &next.scores], lambda, [penalty, cross, next_penalty])?
        };
        if t < 1.0 {
            point.mix(&next, t);
            violators = target.violators(&point.scores);
        } else {
            point = next;
            violators = next_violators;
        }
        penalty = system.inner(&point, &point);
        let after = lambda * penalty + target.loss(&point.scores);
        stalled = if after < before * (1.0 - 1e-14) { 0 } else { stalled + 1 };
        if stalled > 20 {
            break Status::IterationLimit;
        }
    };
    let objective = lambdas.last * penalty + target.loss(&point.scores);
    Ok(Some(Solution { point, violators, factor: None, steps, status, objective }))
}

/// The t in (0, 1] that minimizes λ·penalty(t) + Σ r (√w − y z(t))²₊ with z(t) = (1 − t) z₀ + t z₁ and
/// penalty(t) = p₀₀ (1 − t)² + 2 p₀₁ t (1 − t) + p₁₁ t².
fn search(target: Target<'_>, [from, to]: [&[f64]; 2], lambda: f64, [p00, p01, p11]: [f64; 3]) -> Result<f64> {
    let (constant, of_penalty) = (lambda * (p01 - p00), lambda * (p00 - 2.0 * p01 + p11));
    let steps = shortest_steps(1, |_, places| {
        let (t, mut slope, mut curvature) = (places[0], 0.0, of_penalty);
        for i in (0..from.len()).filter(|&i| target.has(i)) {
            // slack(t) = a − b t.
            let (a, b) = (target.slack(from, i), target.signs[i] * (to[i] - from[i]));
            if a - b * t > 0.0 {
                slope -= target.weight(i) * (a - b * t) * b;
                curvature += target.weight(i) * b * b;
            }
        }
        let tolerance = THIN_PLATE_SLOPE_TOL * (constant.abs() + slope.abs());
        Ok(vec![SlopeAt { slope: constant + of_penalty * t + slope, curvature, tolerance }])
    })?;
    Ok(steps[0])
}

/// Steps from 0 to 1 to the minimum along each of `n` lines, at least [`MIN_STEP_LENGTH`]; `look` returns the
/// derivatives at places on the lines that are still open.
pub(super) fn shortest_steps(n: usize, look: impl FnMut(&[usize], &[f64]) -> Result<Vec<SlopeAt>>) -> Result<Vec<f64>> {
    let mut places = vec![1.0; n];
    // A derivative that is still below 0 at 1 ends the search there: no step is longer than the full one.
    find_zeros(&mut places, vec![(0.0, 1.0); n], look)?;
    Ok(places.into_iter().map(|place| place.max(MIN_STEP_LENGTH)).collect())
}

/// Moves from zero toward the solutions on ever larger parts of the samples, excluding all of them; returns the number
/// of steps. If a step fails or the time is up the point is not changed.
fn grow(
    system: &Exact,
    lambdas: Lambdas,
    target: Target<'_>,
    point: &mut Point,
    stop: Stop,
    last_factor: &mut Option<Arc<Factor>>,
    monitor: &Monitor<'_>,
) -> Result<u32> {
    let (mut part, mut total) = (Part::first(target.signs.len(), FIRST_PART_SAMPLES), 0);
    let mut head = lambdas.head;
    while part.0 > 0 {
        let mut violators = target.violators_in(&point.scores, part);
        for step in 0..head + MAX_PART_STEPS {
            match monitor.ask() {
                Err(Stopped::Cancelled) => return Err(Error::Cancelled { stage: "solve" }),
                Err(Stopped::TimeLimit) => return Ok(total),
                _ if total + 1 >= stop.max_steps => return Ok(total),
                _ => total += 1,
            }
            let lambda = lambdas.last * HEAD_FACTOR.powi(head.saturating_sub(step) as i32);
            let Some((next, _)) = system.solve(lambda, &violators, target, point, last_factor)? else {
                return Ok(total);
            };
            let next_violators = target.violators_in(&next.scores, part);
            let objective = |point: &Point| lambda * system.inner(point, point) + target.loss_in(&point.scores, part);
            let solved = step >= head && next_violators == violators;
            if objective(&next) >= objective(point) {
                // A good enough start for the next part: a line search is only needed at the end.
                break;
            }
            *point = next;
            violators = next_violators;
            if solved {
                break;
            }
        }
        head = 0;
        part = Part(part.0 - 1);
    }
    Ok(total)
}

/// The largest distance to the margin of the samples in exactly one of two sorted sets; 0 if they are equal.
fn difference(a: &[usize], b: &[usize], target: Target<'_>, scores: &[f64]) -> f64 {
    let (mut i, mut j, mut most) = (0, 0, 0.0_f64);
    while i < a.len() || j < b.len() {
        let (x, y) = (a.get(i).copied().unwrap_or(usize::MAX), b.get(j).copied().unwrap_or(usize::MAX));
        if x != y {
            most = most.max(target.slack(scores, x.min(y)).abs()).max(f64::MIN_POSITIVE);
        }
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    most
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
            let t = search(target, [&from, &to], 0.1, p).unwrap();
            let best = (0..=10_000).map(|k| value(f64::from(k) / 10_000.0)).fold(f64::INFINITY, f64::min);
            assert!(value(t) <= best + 1e-9 && t > 0.0 && t <= 1.0, "{case}: {t} {} {best}", value(t));
        }
    }
}
