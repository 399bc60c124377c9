//! The basis expansion SVM on data larger than memory.
//!
//! Samples are read in pieces, in as many passes as needed. A first pass computes all features to learn the center of
//! the normalization; those of some rows stay in memory, the others are discarded, or cached on disk if reading them is
//! faster than recomputing them. A second pass learns the scale. The problem is then solved on the resident rows, which
//! nearly gives the solution, and after that on all rows with the Hessian of the resident ones ([`Objective`]),
//! in a few more passes. The gap of the stopping rule is over all rows.

use std::collections::HashSet;
use std::sync::Arc;

use super::block_plan::Plan;
use super::choose::{LabeledSamples, SelectedC, choose_c, learn_weights};
use super::classes::ClassificationParams;
use super::expand::Expansion;
use super::expansion_params::ExpansionParams;
use super::feature_pieces::{FeaturePieces, HessianSample, Learner};
use super::fit::ExpansionFit;
use super::held_out::{judge, n_held_out};
use super::model::Classification;
use super::solver::{Solver, Start};
use crate::data::{About, Labels, Resources, Source, Training};
use crate::error::{Result, require};
use crate::model::choose_rows::{choose_hessian_rows, stand_ins};
use crate::model::clock::Clock;
use crate::model::known::Known;
use crate::model::manifest::Manifest;
use crate::model::{BasisExpansionParams, BasisExpansionSvc, assess};
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::partition::Recorded;
use crate::problem::{
    BlockObjective, HeldOutRows, HeldOutScores, LinearProblem, Objective, OneVsRest, PassObjective, Penalty, Pieces,
    Room,
};
use crate::similarity::Similarity;
use crate::solve::newton::{self, NewtonSettings, NewtonSolution, NewtonStart};
use crate::solve::{EstimateMethod, Report};
use crate::tuning::COMPARISON_TOL;

/// The checkpoint name of the solver's sums.
const ANSWERS: &str = "answers";

/// The same of the fit without some samples.
const HELD_OUT_ANSWERS: &str = "held-out-answers";

impl<S: Similarity> BasisExpansionParams<S> {
    /// Trains on data larger than memory, with at most `resources.memory` bytes for features, scores and the solver,
    /// plus labels and weights (20 bytes per sample) and the similarity's own memory.
    ///
    /// The model is the same as with [`fit_with`](BasisExpansionParams::fit_with), to the same duality gap over all
    /// samples, with two differences: duplicate samples are not merged, and bases are stored in the order of the
    /// samples. A fit that is killed can be resumed from `resources.checkpoint` and gives the same model, bit for bit.
    ///
    /// # Errors
    /// As for [`fit_with`](BasisExpansionParams::fit_with), and [`Error::Parameter`](crate::Error::Parameter) for the hinge loss, whose solver
    /// needs all features in memory; [`Error::Memory`](crate::Error::Memory) if the limit is too low for the number of bases;
    /// [`Error::Checkpoint`](crate::Error::Checkpoint) for a checkpoint of other data or parameters; [`Error::Io`](crate::Error::Io) of scratch and checkpoint.
    pub fn fit_blocks(
        self,
        samples: &dyn Source<Samples = S::Samples>,
        labels: &Labels,
        sample_weight: Option<&[f64]>,
        resources: &Resources<'_>,
        monitor: &Monitor<'_>,
    ) -> Result<BasisExpansionSvc<S>> {
        self.check()?;
        self.check_blocks()?;
        let weights = labels.weights(samples.n_samples(), sample_weight, self.task.weighting())?;
        let labels = &labels.clone().weighted(&self.task.class_weight, &weights);
        let mut clock = Clock::start(monitor);
        let is_centered = self.expander.normalization.is_learned();
        let solver = self.task.solver(is_centered, self.expander.seed, self.threads);
        let (parameters, requested) = (self.identity(), self.task.training(self.expander.training()));
        let ExpansionParams { expander, task: params, threads } = self;
        let samples = &About::new(samples, &weights)?;
        let training = Training { samples, weights: &weights, threads, monitor };
        let (expansion, basis, warning) = expander.before_normalization(labels, &training, &mut clock)?;

        let targets = OneVsRest::of(labels);
        let plan = Plan::new(resources.memory, samples.n_samples(), expansion.n_features(), targets.n_problems())?;
        let manifest = Manifest::new("basis-expansion", &parameters, samples, labels, &weights)?;
        let plan = plan.settle(manifest, resources.checkpoint)?;

        let pool = Arc::new(Pool::new(threads)?);
        let stays = choose_hessian_rows(labels, &weights, plan.n_resident, solver.seed);
        let pieces = FeaturePieces::new(expansion, samples, pool.clone());
        let learner = Learner::new(pieces, (stays, &weights), (&plan, resources), monitor);
        let (mut pieces, mut hessian_sample) = learner.learn(&mut clock)?;

        let part: Vec<f64> = hessian_sample.rows.iter().map(|&row| weights[row]).collect();
        let of_part = labels.select(&hessian_sample.rows);
        let some = LabeledSamples { labels: &of_part, weights: &part, units: &part };
        let (kind, phi) = ((params.c.value(), &solver), &mut hessian_sample.phi);
        let weighed = learn_weights(&mut pieces.expansion, phi, some, kind, &mut clock)?;
        if weighed.is_some() && !pieces.expansion.normalization().is_learned() {
            // The cached features are without the weights.
            pieces.cache = None;
        }
        let d = pieces.n_features();
        let mut chosen = SelectedC::of(params.c, &mut clock, || {
            choose_c(hessian_sample.block(d)?, some, params.near, &solver, monitor)
        })?;
        let costs = chosen.costs(&weights, labels.classes().len())?;
        let problem = LinearProblem { targets, costs: &costs, loss: params.loss, intercept: params.intercept };
        let blocks = Blocks { pieces: &pieces, hessian_sample: &hessian_sample, labels, plan, resources, pool };
        let (settings, start) = (solver.newton(), chosen.start.as_ref().map(Start::newton));
        let (solution, note) = blocks.solve(problem, &settings, start, ANSWERS, monitor)?;
        clock.end_solved("solve")?;

        let scores = blocks.held_out_scores(problem, (&basis.rows, &weights), &solver, monitor)?;
        clock.end("hold out")?;

        let mut report: Report = solution.report(Vec::new(), &settings);
        report.notes.extend([note].into_iter().chain(weighed).chain(chosen.note.take()));
        let NewtonSolution { weights, intercepts, .. } = solution;
        let kind = (params.loss, params.penalty, params.intercept);
        let task = Classification::new(labels, kind, (chosen.c, chosen.path), (weights, intercepts));
        let made = Expansion { expansion: pieces.expansion, phi: (), basis, warning };
        let mut model = made.model(task, report, (requested, clock.stages));
        let plain_weights = sample_weight.map_or_else(|| vec![1.0; labels.len()], <[f64]>::to_vec);
        let calibration = assess(&mut model.report, &scores, labels, &plain_weights, EstimateMethod::HeldOut);
        Ok(model.labeled(labels, calibration))
    }

    /// Refuses parameters for which all features have to be in memory.
    fn check_blocks(&self) -> Result<()> {
        let ClassificationParams { loss, penalty, max_basis, .. } = &self.task;
        let expected = "l2 and all bases for samples in blocks: an L1 penalty needs all features in memory";
        let most = max_basis.map_or_else(String::new, |most| most.to_string());
        require(max_basis.is_none(), "max_basis", most, expected)?;
        require(*penalty != Penalty::L1, "penalty", penalty, expected)?;
        let expected =
            "squared-hinge, squared-error or logistic for samples in blocks (the hinge's solver holds all features)";
        require(loss.is_smooth(), "loss", loss, expected)
    }
}

/// The rows of a problem.
struct Blocks<'a, S: Similarity> {
    pieces: &'a FeaturePieces<'a, S>,
    hessian_sample: &'a HessianSample,
    labels: &'a Labels,
    plan: Plan,
    resources: &'a Resources<'a>,
    pool: Arc<Pool>,
}

impl<S: Similarity> Blocks<'_, S> {
    /// The decision values of some of the resident rows, which are no bases, from a fit without them. It starts at 0: at
    /// a small C the gap is small at the solution of all rows already, whose weights know these. None if time is up.
    fn held_out_scores(
        &self,
        problem: LinearProblem<'_>,
        (bases, weights): (&[usize], &[f64]),
        solver: &Solver,
        monitor: &Monitor<'_>,
    ) -> Result<HeldOutScores> {
        let (rows, expansion) = (&self.hessian_sample.rows, &self.pieces.expansion);
        let labels = self.labels.of_rows(rows);
        let bases: HashSet<usize> = bases.iter().copied().collect();
        // Features that compare with a basis are read with all others: a basis is held out only where maps mix them.
        let mixes = expansion.features_of_basis(0).is_empty();
        let is_judged = |row: usize| mixes || !bases.contains(&row);
        let of_rows: Vec<f64> = rows.iter().map(|&row| if is_judged(row) { weights[row] } else { 0.0 }).collect();
        let samples = LabeledSamples { labels: &labels, weights: &of_rows, units: &of_rows };
        let (size, is_spared) = (n_held_out(rows.len(), labels.classes().len()), |at: usize| bases.contains(&rows[at]));
        let mut sets = HeldOutRows::sets(&labels, (&of_rows, &of_rows), is_spared, (size, 1), solver.seed);
        let Some(held_out) = sets.pop().filter(|_| monitor.ask().is_ok()) else { return Ok(HeldOutScores::default()) };
        let mut costs = problem.costs.to_vec();
        held_out.rows().for_each(|at| costs[rows[at]] = 0.0);
        let problem = LinearProblem { costs: &costs, ..problem };
        let settings = NewtonSettings { tol: solver.tol.max(COMPARISON_TOL), ..solver.newton() };
        let (solution, _) = self.solve(problem, &settings, None, HELD_OUT_ANSWERS, &monitor.without_progress())?;
        if monitor.ask().is_err() {
            return Ok(HeldOutScores::default());
        }
        let phi = self.hessian_sample.block(expansion.n_features())?;
        Ok(judge(phi, samples, (&held_out, &[]), (&solution.weights, &solution.intercepts)).scores)
    }

    /// The solution, and a summary of the solve. `answers` is the checkpoint name of its sums.
    fn solve(
        &self,
        problem: LinearProblem<'_>,
        settings: &NewtonSettings,
        start: Option<NewtonStart<'_>>,
        answers: &'static str,
        monitor: &Monitor<'_>,
    ) -> Result<(NewtonSolution, String)> {
        let (n, d) = (self.plan.n_rows, self.pieces.expansion.n_features());
        let HessianSample { rows, phi } = self.hessian_sample;
        let (codes, stand) = stand_ins(rows, self.labels, problem.costs);
        let targets = OneVsRest::of(self.labels).with_codes(&codes);
        let of_sample = LinearProblem { targets, costs: &stand, ..problem };
        let block = self.hessian_sample.block(d)?;
        let of_resident = || BlockObjective::new(block, of_sample, settings.threads);
        let first = newton::solve(&mut Objective::in_memory(of_resident()?), settings, start, monitor)?;
        if self.plan.is_whole() {
            let megabytes = size_of_val(phi.as_slice()) as f64 / 1e6;
            return Ok((first, format!("all features were in memory: {megabytes:.0} MB")));
        }
        let room = Room {
            piece_rows: self.plan.piece_rows,
            n_cached: self.plan.n_cached,
            scratch: self.resources.scratch,
            // After the features, whether they are cached or not: caching may have been abandoned late.
            first_byte: 4 * n as u64 * d as u64,
        };
        let all = PassObjective::new(self.pieces, problem, room, self.pool.clone(), *monitor)?;
        let sizes = all.sizes();
        let all = Recorded::new(all, self.resources.checkpoint, answers)?;
        let mut objective = Objective::new(all, sizes).sampled(of_resident()?)?;
        let solution = newton::solve(&mut objective, settings, Some(first.start()), monitor)?;
        let n_passes = objective.rows.inner.n_passes();
        // Whether features were cached depends on the speed of the disk, and does not belong to the model.
        let n_resident = rows.len();
        let note =
            format!("{n_passes} passes of the solver; the features of {n_resident} of {n} samples stayed in memory");
        Ok((solution, note))
    }
}
