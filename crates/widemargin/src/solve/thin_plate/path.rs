//! Choosing C: a warm-started path in scale-free units, and the least leave-one-out loss on it.
//!
//! λ = 1/(2C) is measured in units of trace(G)/n, the mean of the projected kernel's diagonal: stretching the
//! data or multiplying the kernel moves neither the grid nor what it finds.

use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::left_out::{left_out, means};
use super::newton::{Lambdas, Solution, Stop, minimise};
use super::system::{Point, System, Target};
use crate::error::{Error, Result};
use crate::par::Pool;
use crate::problem::OneVsRest;
use crate::solve::Status;
use crate::watch::{Progress, Watch};

/// λ in scale-free units where the path starts, as a number of half decades.
const START: i32 = -4;

/// The ends of the path, in half decades.
const LOWEST: i32 = -16;
const HIGHEST: i32 = 8;

/// The path goes on for so many half decades beyond the best leave-one-out loss.
const PATIENCE: i32 = 3;

/// The smallest λ in scale-free units: below, double precision has no digits left.
pub(crate) const SMALLEST: f64 = 1e-12;

/// One C of the path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathPoint {
    /// C of ½‖f‖² + C Σ loss.
    #[serde(rename = "C")]
    pub c: f64,
    /// λ = 1/(2C) in units of trace(G)/n.
    pub lambda: f64,
    /// ½‖f‖² + C Σ loss, summed over the two-class problems.
    pub objective: f64,
    /// Mean leave-one-out squared hinge over samples and problems; `None` where the problem was not solved.
    pub loo_squared_hinge: Option<f64>,
    /// Share of samples that get the wrong class when left out.
    pub loo_error: Option<f64>,
    /// Samples inside the margin, summed over the two-class problems.
    pub violators: u64,
    /// The most Newton steps a two-class problem took.
    pub steps: u32,
}

/// All two-class problems of a fit.
pub(crate) struct Problems<'a> {
    pub codes: &'a [u32],
    pub n_classes: usize,
    /// Weight a sample, above 0.
    pub weights: &'a [f64],
    /// The part of the weight that leave-one-out takes away: one copy.
    pub units: &'a [f64],
}

/// How the path is walked.
pub(crate) struct PathSettings {
    /// A given C, or the best of the path.
    pub c: Option<f64>,
    /// trace(G)/n.
    pub unit: f64,
    pub stop: Stop,
}

/// The solutions at one C.
pub(crate) struct Candidate {
    pub lambda: f64,
    pub solutions: Vec<Solution<()>>,
    /// Left-out decision values, a vector a problem; empty unless solved.
    pub left_out: Vec<Vec<f64>>,
    pub point: PathPoint,
}

/// What a path ends with.
pub(crate) struct Outcome {
    pub best: Candidate,
    /// By falling λ.
    pub path: Vec<PathPoint>,
    /// λ in scale-free units that was asked for where it was too small to be solved.
    pub raised: Option<f64>,
}

struct Walk<'a, S: System> {
    system: &'a S,
    problems: &'a Problems<'a>,
    settings: &'a PathSettings,
    signs: Vec<Vec<f64>>,
    roots: Vec<f64>,
    memories: Vec<Mutex<S::Memory>>,
    pool: &'a Pool,
    watch: &'a Watch<'a>,
}

/// Solves at the given C, or along the path.
pub(crate) fn walk<S: System>(
    system: &S,
    problems: &Problems<'_>,
    settings: &PathSettings,
    pool: &Pool,
    watch: &Watch<'_>,
) -> Result<Outcome> {
    let targets = problems.targets();
    let k = targets.n_problems();
    let n = problems.codes.len();
    let signs: Vec<Vec<f64>> = (0..k).map(|problem| (0..n).map(|i| targets.sign(i, problem)).collect()).collect();
    let roots = problems.weights.iter().map(|w| w.sqrt()).collect();
    let memories = (0..k).map(|_| Mutex::default()).collect();
    let walk = Walk { system, problems, settings, signs, roots, memories, pool, watch };
    let origins = vec![system.origin(); k];
    match settings.c {
        Some(c) => walk.single(0.5 / c / settings.unit, &origins),
        None => walk.whole(&origins),
    }
}

impl Problems<'_> {
    pub fn targets(&self) -> OneVsRest<'_> {
        OneVsRest::new(self.codes, self.n_classes)
    }
}

impl<S: System> Walk<'_, S> {
    /// One λ, raised tenfold as often as it takes where double precision cannot solve it.
    fn single(&self, asked: f64, origins: &[Point]) -> Result<Outcome> {
        let mut lambda = asked.max(SMALLEST);
        loop {
            if let Some(best) = self.visit(lambda, origins, 0)? {
                let path = vec![best.point.clone()];
                let raised = (lambda > asked * (1.0 + 1e-12)).then_some(asked);
                return Ok(Outcome { best, path, raised });
            }
            lambda *= 10.0;
            if lambda > 1e12 {
                return Err(super::null_space::overflow());
            }
        }
    }

    /// From the start downwards, then upwards, each way until the loss has risen for a while; then between
    /// the best and its neighbours.
    fn whole(&self, origins: &[Point]) -> Result<Outcome> {
        let mut path: Vec<PathPoint> = Vec::new();
        let mut best: Option<(f64, Candidate)> = None;
        let mut upwards = origins.to_vec();
        for (direction, first) in [(-1, START), (1, START + 1)] {
            let mut starts = upwards.clone();
            let mut at = first;
            while (LOWEST..=HIGHEST).contains(&at) {
                let Some(candidate) = self.visit(10f64.powf(f64::from(at) / 2.0), &starts, path.len() as u64)? else {
                    break;
                };
                starts = candidate.solutions.iter().map(|solution| solution.point.clone()).collect();
                if at == START {
                    upwards.clone_from(&starts);
                }
                if self.note(f64::from(at), candidate, &mut best, &mut path) {
                    break;
                }
                let (best_at, _) = best.as_ref().ok_or_else(super::null_space::overflow)?;
                if (f64::from(at) - best_at) * f64::from(direction) >= f64::from(PATIENCE) {
                    break;
                }
                at += direction;
            }
            if best.is_none() && direction == 1 {
                // Nothing could be solved from the start upwards: higher still.
                return self.single(10f64.powf(f64::from(HIGHEST) / 2.0), origins);
            }
        }
        if let Some(coarse) = best.as_ref().map(|(at, _)| *at) {
            for at in [coarse - 0.5, coarse + 0.5] {
                let stopped = self.watch.ask().is_err();
                let Some((_, nearest)) = best.as_ref().filter(|_| !stopped) else { break };
                let starts: Vec<Point> = nearest.solutions.iter().map(|solution| solution.point.clone()).collect();
                if let Some(candidate) = self.visit(10f64.powf(at / 2.0), &starts, path.len() as u64)? {
                    self.note(at, candidate, &mut best, &mut path);
                }
            }
        }
        let (_, best) = best.ok_or_else(super::null_space::overflow)?;
        path.sort_by(|a, b| b.lambda.total_cmp(&a.lambda));
        Ok(Outcome { best, path, raised: None })
    }

    /// Records a candidate and keeps it where it is the best; true where the time is up.
    fn note(
        &self,
        at: f64,
        candidate: Candidate,
        best: &mut Option<(f64, Candidate)>,
        path: &mut Vec<PathPoint>,
    ) -> bool {
        let stopped = candidate.solutions.iter().any(|solution| solution.status == Status::TimeLimit);
        if stopped && best.is_some() {
            return true;
        }
        path.push(candidate.point.clone());
        let loss = |point: &PathPoint| point.loo_squared_hinge.unwrap_or(f64::INFINITY);
        let better = best.as_ref().is_none_or(|(_, best)| loss(&candidate.point) < loss(&best.point));
        if better {
            *best = Some((at, candidate));
        }
        stopped
    }

    /// Every problem at one λ (in scale-free units); `None` where one of them is too much for double precision.
    fn visit(&self, lambda: f64, starts: &[Point], done: u64) -> Result<Option<Candidate>> {
        self.watch.tell(Progress { stage: "solve", done, total: 0, gap: None });
        let true_lambda = lambda * self.settings.unit;
        let lambdas = Lambdas::new(true_lambda, lambda);
        let one = |problem: usize| -> Result<_> {
            let target = Target { signs: &self.signs[problem], roots: &self.roots };
            let mut memory = self.memories[problem].lock().unwrap_or_else(PoisonError::into_inner);
            let (start, stop) = (&starts[problem], self.settings.stop);
            let solution = minimise(self.system, lambdas, target, start, stop, &mut memory, self.watch)?;
            let Some(solution) = solution else { return Ok(None) };
            let values = left_out(self.system, true_lambda, target, self.problems.units, &solution)?;
            let Solution { point, violators, steps, status, objective, .. } = solution;
            Ok(Some((Solution { point, violators, factor: None, steps, status, objective }, values)))
        };
        let solved: Vec<Option<_>> = self.pool.try_map(starts.len(), one)?;
        let Some(solved) = solved.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
        let (solutions, values): (Vec<Solution<()>>, Vec<Option<Vec<f64>>>) = solved.into_iter().unzip();
        let left_out: Vec<Vec<f64>> = values.into_iter().collect::<Option<_>>().unwrap_or_default();
        let mean = (!left_out.is_empty())
            .then(|| means(&left_out, &self.problems.targets(), self.problems.codes, self.problems.weights));
        let c = 0.5 / true_lambda;
        let point = PathPoint {
            c,
            lambda,
            objective: c * solutions.iter().map(|solution| solution.objective).sum::<f64>(),
            loo_squared_hinge: mean.map(|(hinge, _)| hinge),
            loo_error: mean.map(|(_, wrong)| wrong),
            violators: solutions.iter().map(|solution| solution.violators.len() as u64).sum(),
            steps: solutions.iter().map(|solution| solution.steps).max().unwrap_or(0),
        };
        Ok(Some(Candidate { lambda: true_lambda, solutions, left_out, point }))
    }
}

/// The error of a fit that was cancelled between stages.
pub(crate) fn cancelled(stage: &'static str) -> Error {
    Error::Cancelled { stage }
}
