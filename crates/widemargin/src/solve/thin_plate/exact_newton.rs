//! Newton's method with the exact solver, for one problem.

use std::sync::Arc;

use super::exact::{Exact, Factor};
use super::newton::{self, Ended, FullStep, Lambdas, NewtonProblems, Stop};
use super::path::Solved;
use super::system::{Part, Point, Target};
use crate::error::Result;
use crate::monitor::Monitor;
use crate::solve::Status;
use crate::tuning::{FIRST_PART_SAMPLES, MAX_PART_STEPS};

/// A solution, with its factor if it converged.
pub(super) type Solution = (Solved, Option<Arc<Factor>>);

/// Minimizes from `start`; `Ok(None)` if λ is too small for double precision.
pub(crate) fn minimize(
    system: &Exact,
    lambdas: Lambdas,
    target: Target<'_>,
    start: &Point,
    stop: Stop,
    monitor: &Monitor<'_>,
) -> Result<Option<Solution>> {
    let mut problem = Problem { system, target, point: start.clone(), factor: None, next: None };
    // From zero, the violators of all samples would be factored first, at cubic cost: the problem is solved on a part of
    // the samples before, then on twice as many, and so on (Chapelle's recursion; decision 0003).
    // Of the squared error the first step is the solution.
    let mut is_fresh = start.scores.iter().all(|z| *z == 0.0) && !target.is_two_sided;
    let first = if is_fresh { Part::first(target.signs.len(), FIRST_PART_SAMPLES) } else { Part::ALL };
    for part in (1..=first.0).rev().map(Part) {
        problem.target.part = part;
        let head = if is_fresh { lambdas.head } else { 0 };
        let few = Stop { max_steps: (head + MAX_PART_STEPS).min(stop.max_steps.saturating_sub(1)), ..stop };
        match newton::minimize(&mut problem, (lambdas, is_fresh), few, monitor)?.as_deref() {
            Some([ended]) if monitor.ask().is_ok() => is_fresh &= ended.steps == 0,
            _ => break,
        }
    }
    problem.target = target;
    let ended = newton::minimize(&mut problem, (lambdas, is_fresh), stop, monitor)?;
    let Problem { point, factor, .. } = problem;
    Ok(ended.and_then(|ended| ended.first().copied()).map(|Ended { steps, status, objective }| {
        let factor = factor.filter(|_| status == Status::Converged);
        let n_inside =
            factor.as_ref().map_or_else(|| target.violators(&point.scores).len(), |factor| factor.order.len());
        // Where it did not converge, only the trivial bound 0 is known.
        let dual = factor.as_ref().map_or(0.0, |_| dual(system, lambdas.last, target, &point));
        (Solved { point, n_inside: n_inside as u64, steps, status, objective, dual }, factor)
    }))
}

/// The dual objective at λ|a_i| made feasible: 2λ Σ y_i a_i √w_i − λ aᵀKa − λ² Σ a_i²/r_i, times C.
fn dual(system: &Exact, lambda: f64, target: Target<'_>, point: &Point) -> f64 {
    let mut sum = -lambda * system.inner(point, point);
    for (i, ((a, sign), root)) in point.coefficients.iter().zip(target.signs).zip(target.roots).enumerate() {
        if target.has(i) {
            let a = a * sign;
            sum += lambda * (2.0 * a * root - target.noise(lambda, i) * a * a);
        }
    }
    0.5 / lambda * sum
}

/// A problem and where it stands.
struct Problem<'a> {
    system: &'a Exact,
    target: Target<'a>,
    point: Point,
    /// That of the last full step.
    factor: Option<Arc<Factor>>,
    next: Option<Point>,
}

impl NewtonProblems for Problem<'_> {
    fn n_problems(&self) -> usize {
        1
    }

    fn at(&self, _: usize) -> [f64; 2] {
        [self.system.inner(&self.point, &self.point), self.target.loss(&self.point.scores)]
    }

    fn propose(&mut self, _: &[usize], lambda: f64, _: bool) -> Result<Option<Vec<FullStep>>> {
        let Problem { system, target, point, factor, next } = self;
        let violators = target.violators(&point.scores);
        let Some((there, _)) = system.solve(lambda, &violators, *target, point, factor) else { return Ok(None) };
        let slacks = |i: usize| (target.slack(&point.scores, i), target.slack(&there.scores, i));
        let crossed = (0..there.scores.len()).filter(|&i| target.has(i)).map(slacks);
        let crossed = crossed.filter(|(before, after)| target.violates(*before) != target.violates(*after));
        let step = FullStep {
            penalty: system.inner(&there, &there),
            cross: system.inner(point, &there),
            loss: target.loss(&there.scores),
            crossing: crossed.fold(0.0, |most, (_, slack)| slack.abs().max(most).max(f64::MIN_POSITIVE)),
            size: there.scores.iter().fold(0.0, |most, z| z.abs().max(most)),
        };
        *next = Some(there);
        Ok(Some(vec![step]))
    }

    fn derivatives(&mut self, _: &[usize], places: &[f64]) -> Result<Vec<[f64; 3]>> {
        let Problem { target, point, next, .. } = self;
        let next = next.as_ref().map_or(&point.scores, |next| &next.scores);
        Ok(places.iter().map(|place| derivatives(*target, [&point.scores, next], *place)).collect())
    }

    fn go(&mut self, _: &[usize], places: Option<&[f64]>) -> Result<()> {
        match (self.next.take(), places) {
            (Some(next), Some(places)) => self.point.mix(&next, places[0]),
            (Some(next), None) => self.point = next,
            (None, _) => {}
        }
        Ok(())
    }
}

/// Half of the first and second derivative of Σ r (√w − y z(t))²₊ with z(t) = (1 − t) z₀ + t z₁, and the sum of the sizes
/// of the first one's terms.
fn derivatives(target: Target<'_>, [from, to]: [&[f64]; 2], t: f64) -> [f64; 3] {
    let (mut slope, mut curvature, mut size) = (0.0, 0.0, 0.0);
    for i in (0..from.len()).filter(|&i| target.has(i)) {
        // slack(t) = a − b t.
        let (a, b) = (target.slack(from, i), target.signs[i] * (to[i] - from[i]));
        if target.violates(a - b * t) {
            slope -= target.weight(i) * (a - b * t) * b;
            size += target.weight(i) * ((a - b * t) * b).abs();
            curvature += target.weight(i) * b * b;
        }
    }
    [slope, curvature, size]
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
        let target = Target { signs: &signs, roots: &roots, weights: None, part: Part::ALL, is_two_sided: false };
        for case in 0..20 {
            let from: Vec<f64> = (0..n).map(|i| number(i, 1.1 + case as f64)).collect();
            let to: Vec<f64> = (0..n).map(|i| 0.3 * number(i, 2.3 + case as f64) + signs[i]).collect();
            let p = [5.0, 1.0, 4.0];
            let value = |t: f64| {
                let z: Vec<f64> = from.iter().zip(&to).map(|(a, b)| a + t * (b - a)).collect();
                let penalty = p[0] * (1.0 - t) * (1.0 - t) + 2.0 * p[1] * t * (1.0 - t) + p[2] * t * t;
                0.1 * penalty + target.loss(&z)
            };
            let (constant, of_penalty) = (0.1 * (p[1] - p[0]), 0.1 * (p[0] - 2.0 * p[1] + p[2]));
            let t = newton::shortest_steps(&[(constant, of_penalty)], |_, places| {
                Ok(places.iter().map(|place| derivatives(target, [&from, &to], *place)).collect())
            });
            let t = t.unwrap()[0];
            let best = (0..=10_000).map(|k| value(f64::from(k) / 10_000.0)).fold(f64::INFINITY, f64::min);
            assert!(value(t) <= best + 1e-9 && t > 0.0 && t <= 1.0, "{case}: {t} {} {best}", value(t));
        }
    }
}
