//! Newton's method on the violators, the samples inside the margin (Chapelle, *Training a Support Vector Machine in the
//! Primal*, 2007, with a corrected stopping rule), of several problems at once.
//!
//! The published rule, to stop when the violators do not change, stops too early after a damped step: the set can stay
//! the same far from the minimum. Here the set must be that of the *full* step.

use crate::error::{Error, Result};
use crate::monitor::{Monitor, Stopped};
use crate::solve::Status;
use crate::solve::newton::line_search::{SlopeAt, find_zeros};
use crate::tuning::{
    HEAD_FACTOR, MARGIN_ROUNDING, MAX_HEAD_START_STEPS, MIN_STEP_LENGTH, STALLED_KKT_TOL, STALLED_STEPS,
    THIN_PLATE_SLOPE_TOL,
};

/// The λ to solve for, and larger ones to start with: from zero every sample is a violator, and at a small λ the first
/// steps go far astray.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lambdas {
    pub last: f64,
    /// The last in units of the kernel's mean diagonal.
    pub scale_free: f64,
    /// Number of steps with a larger λ, only when starting from zero.
    pub(super) head: u32,
}

impl Lambdas {
    /// Starts near one unit of the kernel's mean diagonal.
    pub fn new(last: f64, scale_free: f64) -> Self {
        let steps = (-scale_free.ln() / HEAD_FACTOR.ln()).ceil().clamp(0.0, MAX_HEAD_START_STEPS);
        Lambdas { last, scale_free, head: steps as u32 }
    }

    /// The λ of a step of a head start of `head` steps, counted from 0.
    pub(super) fn at(self, step: u32, head: u32) -> f64 {
        self.last * HEAD_FACTOR.powi(head.saturating_sub(step) as i32)
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

/// Problems that each stand at a point, and can move on the line to another.
pub(super) trait NewtonProblems {
    /// Number of problems.
    fn n_problems(&self) -> usize;

    /// Whether a problem is to be solved; the others stay where they are.
    fn is_open(&self, _problem: usize) -> bool {
        true
    }

    /// Whether a problem that is not solved need not be, as it stands.
    fn is_enough(&self, _problem: usize, _lambda: f64) -> bool {
        false
    }

    /// ‖h‖² and Σ slack² at the point of a problem.
    fn at(&self, problem: usize) -> [f64; 2];

    /// The full step of each live problem: the minimizer of the quadratic that equals its objective where exactly the
    /// violators of its point are inside the margin. `None` if λ is too small for double precision. `is_last` if λ is
    /// the one to solve for.
    fn propose(&mut self, live: &[usize], lambda: f64, is_last: bool) -> Result<Option<Vec<FullStep>>>;

    /// Half of the first and second derivative of Σ slack² at places on the lines from the points (0) to the full steps
    /// (1), and the sum of the sizes of the first one's terms.
    fn derivatives(&mut self, live: &[usize], places: &[f64]) -> Result<Vec<[f64; 3]>>;

    /// Moves problems to places on these lines; none for the full step.
    fn go(&mut self, live: &[usize], places: Option<&[f64]>) -> Result<()>;
}

/// What is known of a full step.
pub(super) struct FullStep {
    /// ‖h‖² there, and ⟨h, h'⟩ with the point before.
    pub penalty: f64,
    pub cross: f64,
    /// Σ slack² there.
    pub loss: f64,
    /// The largest |slack| of a sample that is a violator there and was none before, or vice versa; above 0 if there is
    /// one.
    pub crossing: f64,
    /// The largest |z| there.
    pub size: f64,
}

/// How a problem ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended {
    pub steps: u32,
    pub status: Status,
    /// λ‖h‖² + Σ slack².
    pub objective: f64,
}

/// Minimizes λ‖h‖² + Σ slack² for all open problems, or until that is enough, from where they stand; with a head start if `is_fresh`. `Ok(None)` if λ is too small for double precision in one of them.
pub(super) fn minimize(
    problems: &mut impl NewtonProblems,
    (lambdas, is_fresh): (Lambdas, bool),
    stop: Stop,
    monitor: &Monitor<'_>,
) -> Result<Option<Vec<Ended>>> {
    let k = problems.n_problems();
    let head = if is_fresh { lambdas.head } else { 0 };
    let solved = Ended { steps: 0, status: Status::Converged, objective: 0.0 };
    let mut ended: Vec<Option<Ended>> = (0..k).map(|problem| (!problems.is_open(problem)).then_some(solved)).collect();
    let mut stalled = vec![0u32; k];
    let mut steps = 0;
    loop {
        let live: Vec<usize> = (0..k).filter(|&problem| ended[problem].is_none()).collect();
        let objective = |problems: &_, problem, lambda: f64| {
            let [penalty, loss] = NewtonProblems::at(problems, problem);
            lambda * penalty + loss
        };
        let status = match monitor.ask() {
            _ if live.is_empty() => break,
            Err(Stopped::Cancelled) => return Err(Error::Cancelled { stage: "solve" }),
            Err(Stopped::TimeLimit) if steps > 0 => Some(Status::TimeLimit),
            _ if steps >= stop.max_steps => Some(Status::IterationLimit),
            _ => None,
        };
        let unsolved = |problems: &_, problem, steps, status| {
            Some(Ended { steps, status, objective: objective(problems, problem, lambdas.last) })
        };
        if let Some(status) = status {
            live.iter().for_each(|&problem| ended[problem] = unsolved(problems, problem, steps, status));
            break;
        }
        let (is_last, lambda) = (steps >= head, lambdas.at(steps, head));
        let (enough, live): (Vec<usize>, Vec<usize>) =
            live.into_iter().partition(|&problem| is_last && problems.is_enough(problem, lambda));
        for problem in enough {
            ended[problem] = unsolved(problems, problem, steps, Status::IterationLimit);
        }
        if live.is_empty() {
            break;
        }
        steps += 1;
        let before: Vec<[f64; 2]> = live.iter().map(|&problem| problems.at(problem)).collect();
        let Some(proposed) = problems.propose(&live, lambda, is_last)? else { return Ok(None) };
        let (mut full, mut uphill, mut penalties) = (Vec::new(), Vec::new(), Vec::new());
        for ((&problem, [penalty, loss]), step) in live.iter().zip(&before).zip(proposed) {
            let there = lambda * step.penalty + step.loss;
            let near = stop.tol.max(MARGIN_ROUNDING * step.size.max(1.0));
            if is_last && (step.crossing <= near || (stalled[problem] >= 2 && step.crossing <= STALLED_KKT_TOL)) {
                ended[problem] = Some(Ended { steps, status: Status::Converged, objective: there });
            }
            // Usually the full step is preferable even if a shorter one would be lower, since it can end the search.
            if ended[problem].is_some() || there < lambda * penalty + loss {
                full.push(problem);
            } else {
                let (constant, slope) = (step.cross - penalty, penalty - 2.0 * step.cross + step.penalty);
                uphill.push(problem);
                penalties.push((lambda * constant, lambda * slope));
            }
        }
        let places = shortest_steps(&penalties, |open, places| {
            let live: Vec<usize> = open.iter().map(|&at| uphill[at]).collect();
            problems.derivatives(&live, places)
        })?;
        let (more, short): (Vec<(usize, f64)>, Vec<_>) =
            uphill.into_iter().zip(places).partition(|(_, place)| *place >= 1.0);
        full.extend(more.iter().map(|(problem, _)| *problem));
        full.sort_unstable();
        if !full.is_empty() {
            problems.go(&full, None)?;
        }
        if !short.is_empty() {
            let (short, places): (Vec<usize>, Vec<f64>) = short.into_iter().unzip();
            problems.go(&short, Some(&places))?;
        }
        for (&problem, [penalty, loss]) in live.iter().zip(before) {
            let has_fallen = objective(problems, problem, lambda) < (lambda * penalty + loss) * (1.0 - 1e-14);
            stalled[problem] = if has_fallen { 0 } else { stalled[problem] + 1 };
            if stalled[problem] > STALLED_STEPS && ended[problem].is_none() {
                ended[problem] = unsolved(problems, problem, steps, Status::IterationLimit);
            }
        }
    }
    Ok(ended.into_iter().collect())
}

/// The place of the minimum along each line, from 0 to 1 and at least [`MIN_STEP_LENGTH`]. `penalties` has half the derivative
/// of λ‖h‖² as constant + slope · t; `derivatives` those of Σ slack² at places on the lines that are still open.
pub(super) fn shortest_steps(
    penalties: &[(f64, f64)],
    mut derivatives: impl FnMut(&[usize], &[f64]) -> Result<Vec<[f64; 3]>>,
) -> Result<Vec<f64>> {
    let mut places = vec![1.0; penalties.len()];
    // A derivative that is still below 0 at 1 ends the search there: no step is longer than the full one.
    find_zeros(&mut places, vec![(0.0, 1.0); penalties.len()], |open, places| {
        let slope_at = |((&at, place), [slope, curvature, size]): ((&usize, &f64), [f64; 3])| {
            let (constant, of_penalty) = penalties[at];
            let tolerance = THIN_PLATE_SLOPE_TOL * (constant.abs() + size);
            SlopeAt { slope: constant + of_penalty * place + slope, curvature: of_penalty + curvature, tolerance }
        };
        Ok(open.iter().zip(places).zip(derivatives(open, places)?).map(slope_at).collect())
    })?;
    Ok(places.into_iter().map(|place| place.max(MIN_STEP_LENGTH)).collect())
}
