//! Choosing C: a warm-started path in scale-free units, and the least leave-one-out loss on it.
//!
//! λ = 1/(2C) is measured in units of trace(G)/n, the mean of the projected kernel's diagonal: stretching the
//! data or multiplying the kernel moves neither the grid nor what it finds.

use serde::{Deserialize, Serialize};

use super::newton::Stop;
use super::system::Point;
use crate::error::{Error, Result};
use crate::problem::OneVsRest;
use crate::solve::Status;
use crate::watch::Watch;

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

/// A problem's solution.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Solved {
    pub point: Point,
    /// Samples inside the margin.
    pub n_inside: u64,
    pub steps: u32,
    pub status: Status,
    /// λ‖h‖² + Σ (√w − y z)²₊.
    pub objective: f64,
    /// A dual objective, C-scaled; 0, which is all that is known, unless it converged.
    pub dual: f64,
}

/// The solutions at one C.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Candidate {
    pub solutions: Vec<Solved>,
    /// Left-out decision values, a vector a problem; empty unless solved.
    pub left_out: Vec<Vec<f64>>,
    pub point: PathPoint,
}

impl Candidate {
    /// Of the solutions at λ, in true and in scale-free units, and the mean leave-one-out loss and error.
    pub fn new(
        true_lambda: f64,
        lambda: f64,
        solutions: Vec<Solved>,
        left_out: Vec<Vec<f64>>,
        means: Option<(f64, f64)>,
    ) -> Self {
        let c = 0.5 / true_lambda;
        let point = PathPoint {
            c,
            lambda,
            objective: c * solutions.iter().map(|solution| solution.objective).sum::<f64>(),
            loo_squared_hinge: means.map(|(hinge, _)| hinge),
            loo_error: means.map(|(_, wrong)| wrong),
            violators: solutions.iter().map(|solution| solution.n_inside).sum(),
            steps: solutions.iter().map(|solution| solution.steps).max().unwrap_or(0),
        };
        Candidate { solutions, left_out, point }
    }
}

/// What a path ends with.
pub(crate) struct Outcome {
    pub best: Candidate,
    /// By falling λ.
    pub path: Vec<PathPoint>,
    /// λ in scale-free units that was asked for where it was too small to be solved.
    pub raised: Option<f64>,
}

/// Solves all problems at one λ.
pub(crate) trait Visit {
    /// At λ in scale-free units, beginning at the given points, `done` being how many were visited; `None` where one of
    /// the problems is too much for double precision.
    fn visit(&mut self, lambda: f64, starts: &[Point], done: u64) -> Result<Option<Candidate>>;
}

/// Solves at the given C, or along the path.
pub(crate) fn walk(
    visits: &mut impl Visit,
    origins: &[Point],
    settings: &PathSettings,
    watch: &Watch<'_>,
) -> Result<Outcome> {
    match settings.c {
        Some(c) => single(visits, 0.5 / c / settings.unit, origins),
        None => whole(visits, origins, watch),
    }
}

impl Problems<'_> {
    pub fn targets(&self) -> OneVsRest<'_> {
        OneVsRest::new(self.codes, self.n_classes)
    }
}

/// One λ, raised tenfold as often as it takes where double precision cannot solve it.
fn single(visits: &mut impl Visit, asked: f64, origins: &[Point]) -> Result<Outcome> {
    let mut lambda = asked.max(SMALLEST);
    loop {
        if let Some(best) = visits.visit(lambda, origins, 0)? {
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
fn whole(visits: &mut impl Visit, origins: &[Point], watch: &Watch<'_>) -> Result<Outcome> {
    let mut path: Vec<PathPoint> = Vec::new();
    let mut best: Option<(f64, Candidate)> = None;
    let mut upwards = origins.to_vec();
    for (direction, first) in [(-1, START), (1, START + 1)] {
        let mut starts = upwards.clone();
        let mut at = first;
        while (LOWEST..=HIGHEST).contains(&at) {
            let Some(candidate) = visits.visit(10f64.powf(f64::from(at) / 2.0), &starts, path.len() as u64)? else {
                break;
            };
            starts = candidate.solutions.iter().map(|solution| solution.point.clone()).collect();
            if at == START {
                upwards.clone_from(&starts);
            }
            if note(f64::from(at), candidate, &mut best, &mut path) {
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
            return single(visits, 10f64.powf(f64::from(HIGHEST) / 2.0), origins);
        }
    }
    if let Some(coarse) = best.as_ref().map(|(at, _)| *at) {
        for at in [coarse - 0.5, coarse + 0.5] {
            let stopped = watch.ask().is_err();
            let Some((_, nearest)) = best.as_ref().filter(|_| !stopped) else { break };
            let starts: Vec<Point> = nearest.solutions.iter().map(|solution| solution.point.clone()).collect();
            if let Some(candidate) = visits.visit(10f64.powf(at / 2.0), &starts, path.len() as u64)? {
                note(at, candidate, &mut best, &mut path);
            }
        }
    }
    let (_, best) = best.ok_or_else(super::null_space::overflow)?;
    path.sort_by(|a, b| b.lambda.total_cmp(&a.lambda));
    Ok(Outcome { best, path, raised: None })
}

/// Records a candidate and keeps it where it is the best; true where the time is up.
fn note(at: f64, candidate: Candidate, best: &mut Option<(f64, Candidate)>, path: &mut Vec<PathPoint>) -> bool {
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

/// The error of a fit that was cancelled between stages.
pub(crate) fn cancelled(stage: &'static str) -> Error {
    Error::Cancelled { stage }
}
