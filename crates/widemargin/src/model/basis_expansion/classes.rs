//! The basis expansion SVM: a large-margin classifier for any similarity, at the cost of a linear classifier.
//!
//! Aghazadeh & Carlsson, *Large Scale, Large Margin Classification using Indefinite Similarity Measures*: samples are
//! compared with a few bases, the similarities normalized ([`Expander`](super::expand::Expander)), and a linear SVM trained on them by Newton's
//! method in the primal ([`newton`]), or, for the hinge loss, by coordinate descent on its dual ([`linear`](crate::solve::dual::linear)).
//!
//! Of samples in blocks the problem is solved on the rows whose features stay in memory, which nearly gives the solution,
//! and after that on all rows with the Hessian of these ([`Objective`]), in a few more passes. The gap of the
//! stopping rule is over all rows.

use std::borrow::Cow;
use std::collections::HashSet;

use super::block_plan::Plan;
use super::choose::{LabeledSamples, SelectedC, Validation, choose_c, learn_weights, solve_squared};
use super::expand::{Expansion, unweighted};
use super::expansion_params::ExpansionParams;
use super::feature_pieces::HessianSample;
use super::fit::{Answered, ExpansionFit, InMemory};
use super::held_out::{HeldOutPath, features_without, held_out_scores, judge, n_held_out};
use super::model::Classification;
use super::out_of_core::{BlockFit, Blocks};
use super::solver::{Solution, Solver, Start};
use crate::data::{ClassWeight, Labels, Vectors};
use crate::error::{Error, Result, require, require_gap};
use crate::expansion::{Normalization, NystroemCut};
use crate::macros::setters;
use crate::model::choose_rows::{choose_hessian_rows, stand_ins};
use crate::model::origin::TrainingSettings;
use crate::model::{BasisExpansionSvc, CChoice, assess};
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::partition::Recorded;
use crate::problem::{
    Block, BlockObjective, HeldOutRows, HeldOutScores, Intercept, Judged, LinearProblem, Loss, Objective, OneVsRest,
    PassObjective, Penalty, Pieces, Room, n_independent,
};
use crate::similarity::Similarity;
use crate::solve::newton::{self, NewtonSettings, NewtonSolution, NewtonStart};
use crate::solve::{DescentSettings, EstimateMethod, Report};
use crate::tuning::{C_SAMPLES, COMPARISON_TOL, HELD_OUT_PATH_START, MAX_HELD_OUT_OF_PATH, MAX_SAMPLES_AS_BASES};

/// The checkpoint names of the solver's sums, and of those of the fit without some samples.
const ANSWERS: &str = "answers";
const HELD_OUT_ANSWERS: &str = "held-out-answers";

/// Parameters of a basis expansion SVM, with their defaults.
pub type BasisExpansionParams<S> = ExpansionParams<S, ClassificationParams>;

/// Those of the task.
#[derive(Clone, Debug)]
pub struct ClassificationParams {
    pub(crate) c: CChoice,
    /// The λ near which the best C is expected, as found on some of the samples.
    pub(crate) near: Option<f64>,
    /// Decision values of samples that neither a search nor a fit saw, in place of own estimates.
    pub(crate) held_out: Option<HeldOutScores>,
    pub(crate) loss: Loss,
    pub(crate) penalty: Penalty,
    pub(crate) max_basis: Option<usize>,
    pub(crate) intercept: Intercept,
    pub(crate) class_weight: ClassWeight,
    tol: f64,
    max_iter: Option<u32>,
}

impl<S: Similarity> BasisExpansionParams<S> {
    /// The defaults for a similarity: 1,000 bases drawn from each class in proportion to its samples, mean-norm
    /// normalization, C = 1, squared hinge, an unpenalized intercept, a relative duality gap of 0.001, one thread per
    /// core.
    pub fn new(similarity: S) -> Self {
        let task = ClassificationParams {
            c: CChoice::Value(1.0),
            near: None,
            held_out: None,
            loss: Loss::default(),
            penalty: Penalty::default(),
            max_basis: None,
            intercept: Intercept::Free,
            class_weight: ClassWeight::Uniform,
            tol: 1e-3,
            max_iter: None,
        };
        ExpansionParams::of(similarity, Normalization::MeanNorm, NystroemCut::Millionth, task)
    }

    setters! {
        /// The weight C of the losses in ½‖w‖² + C Σ loss: a number above 0, or [`CChoice::Auto`], the C of a path with the
        /// least leave-one-out squared hinge (on 2,000 samples if there are more), for any loss. With the
        /// squared hinge and more than 4,000 samples, fits without a tenth of them compare this C with larger and smaller ones.
        c: impl Into<CChoice> => task.c = c.into();
        /// The loss.
        loss: Loss => task.loss = loss;
        /// The penalty on the weights. With [`Penalty::L1`] most weights are 0, and the model keeps the bases that have
        /// one: each feature must belong to a basis (mean-norm, z-score, none). Only for the squared hinge, by coordinate
        /// descent; a penalized intercept is not penalized.
        penalty: Penalty => task.penalty = penalty;
        /// Keeps at most this number of the `n_basis` bases: those with the smallest weights are removed, three tenths at a
        /// time, and the rest is fitted again.
        max_basis: Option<usize> => task.max_basis = max_basis;
        /// How the intercept is treated. With the hinge loss an unpenalized intercept is penalized instead: the dual solver
        /// does not support an unpenalized one.
        intercept: Intercept => task.intercept = intercept;
        /// The class weights.
        class_weight: ClassWeight => task.class_weight = class_weight;
        /// The relative duality gap at which a two-class problem counts as solved; in (0, 1).
        tol: f64 => task.tol = tol;
        /// The maximum number of Newton steps (default 100), or, for the hinge loss, of passes over the samples (default
        /// 1,000). Below 60, sparse features are solved by Newton steps alone, without descent before them.
        max_iter: u32 => task.max_iter = Some(max_iter);
    }
}

impl Answered for ClassificationParams {}

impl ExpansionFit for ClassificationParams {
    type Known = Labels;
    type Task = Classification;
    const LEARNS_WEIGHTS: bool = true;

    fn check<S: Similarity>(params: &BasisExpansionParams<S>) -> Result<()> {
        let ClassificationParams { c, loss, penalty, max_basis, tol, max_iter, .. } = &params.task;
        c.check()?;
        loss.check_of_classes()?;
        let learns = !unweighted(&params.expander.similarity).is_empty();
        let expected = "squared_hinge where a weight is auto: leave-one-out is in closed form for it";
        require(!learns || *loss == Loss::default(), "loss", loss, expected)?;
        let is_sparse = *penalty == Penalty::L1;
        let expected = "a number above 0 with penalty l1: leave-one-out has no closed form for it";
        require(!is_sparse || *c != CChoice::Auto, "C", "auto", expected)?;
        require(!is_sparse || *loss == Loss::SquaredHinge, "loss", loss, "squared_hinge with penalty l1")?;
        require(*max_basis != Some(0), "max_basis", "0", "at least 1, or none for no limit")?;
        require_gap(*tol, "0.001")?;
        require(*max_iter != Some(0), "max_iter", "0", "at least 1")
    }

    fn weighting(&self) -> (&ClassWeight, CChoice) {
        (&self.class_weight, self.c)
    }

    fn model_in_memory<S: Similarity>(fit: InMemory<'_, S, Self>) -> Result<BasisExpansionSvc<S>> {
        let fit = InMemory { training: fit.task.training(fit.training), ..fit };
        let merged = &fit.prepared.merged;
        let (labels, judged) = (&merged.known, &fit.made.judged(merged));
        let all = LabeledSamples { labels, weights: &merged.weights, units: &merged.units };
        let others = LabeledSamples { units: &judged.units, ..all };
        let solver = fit.task.solver(fit.made.expansion.normalization(), fit.seed, fit.prepared.threads);
        let mut fit = Fit { fit, judged, all, others, solver, unpruned: None };
        let weighed = fit.learn_weights()?;
        let pruned = fit.prune()?;
        let mut chosen = fit.choose()?;
        let costs = chosen.costs(all.weights, labels.classes().len())?;
        let mut solution = fit.solve(&mut chosen, &costs)?;
        let validation = fit.estimate(chosen.validation.take(), &costs, &solution)?;
        let Fit { fit, .. } = fit.without_unused(&mut solution)?;

        let kind = (fit.task.loss, fit.task.penalty, solution.intercept);
        let of_c = (chosen.c, chosen.path);
        let task = Classification::new(labels, kind, of_c, (solution.weights, solution.intercepts));
        let mut model = fit.model(task, solution.report);
        let calibration = validation.assess(&mut model.report, others, &merged.distinct.weights);
        model.report.notes.extend(weighed.into_iter().chain(pruned).chain(chosen.note));
        Ok(model.labeled(labels, calibration))
    }
}

impl BlockFit for ClassificationParams {
    const CHECKPOINT: &'static str = "basis-expansion";
    type Parted = ();

    fn in_blocks(&self, labels: &Labels, weights: &[f64]) -> Result<(Labels, ())> {
        self.check_blocks()?;
        Ok((labels.clone().weighted(&self.class_weight, weights), ()))
    }

    fn identity(&self, (): &()) -> Vec<(&'static str, String)> {
        let ClassificationParams { c, loss, penalty, max_basis, intercept, tol, max_iter, .. } = self;
        vec![
            ("C", c.to_string()),
            ("loss", loss.to_string()),
            ("penalty", penalty.to_string()),
            ("max_basis", max_basis.map_or("none".into(), |most| most.to_string())),
            ("intercept", intercept.to_string()),
            ("tol", tol.to_string()),
            ("max_iter", max_iter.map_or("default".into(), |n| n.to_string())),
        ]
    }

    fn plan(&self, memory: u64, [n, d]: [usize; 2], (labels, ()): (&Labels, &()), _pool: &Pool) -> Result<Plan> {
        Plan::new(memory, n, d, OneVsRest::of(labels).n_problems())
    }

    fn resident(plan: &Plan, labels: &Labels, weights: &[f64], seed: u64) -> Vec<usize> {
        choose_hessian_rows(labels, weights, plan.n_resident, seed)
    }

    fn model_in_blocks<S: Similarity>(mut fit: Blocks<'_, S, Self>) -> Result<BasisExpansionSvc<S>> {
        fit.training = fit.task.training(fit.training);
        let (labels, (weights, sample_weight), monitor) = (fit.known.0, fit.weights, fit.clock.monitor);
        let ClassificationParams { c, near, loss, penalty, intercept, .. } = fit.task;
        let (normalization, threads) = (fit.pieces.expansion.normalization(), fit.pieces.pool.threads());
        let solver = fit.task.solver(normalization, fit.training.seed, threads);
        let some: Vec<f64> = fit.resident.rows.iter().map(|&row| weights[row]).collect();
        let of_some = labels.select(&fit.resident.rows);
        let some = LabeledSamples { labels: &of_some, weights: &some, units: &some };
        let (kind, phi) = ((c.value(), &solver), &mut fit.resident.phi);
        let weighed = learn_weights(&mut fit.pieces.expansion, phi, some, kind, &mut fit.clock)?;
        if weighed.is_some() && !solver.is_centered {
            // The cached features are without the weights.
            fit.pieces.cache = None;
        }
        let d = fit.pieces.n_features();
        let mut chosen = SelectedC::fixed(c.or_one());
        if c == CChoice::Auto {
            chosen = choose_c(fit.resident.block(d)?, some, near, &solver, monitor)?;
            fit.clock.end("choose C")?;
        }
        let costs = chosen.costs(weights, labels.classes().len())?;
        let problem = LinearProblem { targets: OneVsRest::of(labels), costs: &costs, loss, intercept };
        let (settings, start) = (solver.newton(), chosen.start.as_ref().map(Start::newton));
        let (solution, note) = fit.solve(problem, &settings, start, ANSWERS, monitor)?;
        fit.clock.end_solved("solve")?;
        let scores = fit.held_out_scores(problem, &solver, monitor)?;
        fit.clock.end("hold out")?;

        let mut report: Report = solution.report(Vec::new(), &settings);
        report.notes.extend([note].into_iter().chain(weighed).chain(chosen.note.take()));
        let of_solution = (solution.weights, solution.intercepts);
        let task = Classification::new(labels, (loss, penalty, intercept), (chosen.c, chosen.path), of_solution);
        let (made, before, ()) = fit.made();
        let mut model = made.model(task, report, before);
        let plain_weights = sample_weight.map_or_else(|| Cow::Owned(vec![1.0; labels.len()]), Cow::Borrowed);
        let calibration = assess(&mut model.report, &scores, labels, &plain_weights, EstimateMethod::HeldOut);
        Ok(model.labeled(labels, calibration))
    }
}

impl ClassificationParams {
    /// Refuses parameters for which all features have to be in memory.
    fn check_blocks(&self) -> Result<()> {
        let ClassificationParams { loss, penalty, max_basis, .. } = self;
        let expected = "l2 and all bases for samples in blocks: an L1 penalty needs all features in memory";
        let most = max_basis.map_or_else(String::new, |most| most.to_string());
        require(max_basis.is_none(), "max_basis", most, expected)?;
        require(*penalty != Penalty::L1, "penalty", penalty, expected)?;
        let expected =
            "squared-hinge, squared-error or logistic for samples in blocks (the hinge's solver holds all features)";
        require(loss.is_smooth(), "loss", loss, expected)
    }

    /// The settings stored in the model, from those of the expansion.
    pub(super) fn training(&self, of_all: TrainingSettings) -> TrainingSettings {
        let is_smooth = self.loss.is_smooth();
        let most = if is_smooth { NewtonSettings::default().max_iter } else { DescentSettings::default().max_epochs };
        TrainingSettings {
            class_weight: self.class_weight.clone(),
            tol: self.tol,
            max_iter: self.max_iter.unwrap_or(most),
            max_basis: self.max_basis,
            ..of_all
        }
    }

    pub(super) fn solver(&self, normalization: Normalization, seed: u64, threads: usize) -> Solver {
        let ClassificationParams { loss, penalty, tol, max_iter, .. } = *self;
        let intercept = match self.intercept {
            Intercept::Free if loss == Loss::Hinge => Intercept::Penalized,
            other => other,
        };
        let (is_centered, start) = (normalization.is_learned(), None);
        Solver { loss, penalty, intercept, is_centered, tol, max_iter, start, seed, threads }
    }
}

/// A fit in memory between its stages.
struct Fit<'a, 'f, S: Similarity> {
    fit: InMemory<'f, S, ClassificationParams>,
    judged: &'a Judged,
    all: LabeledSamples<'a>,
    /// The same where leave-one-out is of the samples that are no bases.
    others: LabeledSamples<'a>,
    solver: Solver,
    /// With all bases, if some were removed.
    unpruned: Option<Expansion<S>>,
}

impl<S: Similarity> Fit<'_, '_, S> {
    /// Learns the weights of similarities that are open; a note, if there are any.
    fn learn_weights(&mut self) -> Result<Option<String>> {
        let Fit { fit: InMemory { task, made: Expansion { expansion, phi, .. }, clock, .. }, all, solver, .. } = self;
        match phi {
            Vectors::Dense(phi) => learn_weights(expansion, &mut phi.values, *all, (task.c.value(), solver), clock),
            Vectors::Sparse(_) if !unweighted(expansion.similarity()).is_empty() => {
                let expected =
                    "a number where features stay sparse: weights are learned on dense ones (normalize by z-score)";
                Err(Error::parameter("weight", "auto", expected))
            }
            Vectors::Sparse(_) => Ok(None),
        }
    }

    /// Removes bases until the maximum number is left; a note, if there is one.
    fn prune(&mut self) -> Result<Option<String>> {
        let Fit {
            fit: InMemory { task, made, clock, .. }, all: LabeledSamples { labels, weights, .. }, solver, ..
        } = self;
        if task.penalty == Penalty::L1 || task.max_basis.is_some() {
            made.expansion.check_prunable()?;
        }
        let Some(most) = task.max_basis else { return Ok(None) };
        let n = made.expansion.n_columns();
        self.unpruned = (n > most).then(|| made.copy());
        prune(made, most, (labels, weights, task.c.or_one()), solver, clock.monitor)?;
        clock.end("prune")?;
        let n_left = made.expansion.n_columns();
        Ok(Some(format!("{n_left} of {n} bases remain: those with the largest weights")))
    }

    /// The fixed C, or the selected one.
    fn choose(&mut self) -> Result<SelectedC> {
        if let CChoice::Value(c) = self.fit.task.c {
            return Ok(SelectedC::fixed(c));
        }
        let selected = self.select_c()?;
        self.fit.clock.end("choose C")?;
        Ok(selected)
    }

    /// C by held-out samples where leave-one-out would take too long, and by leave-one-out otherwise: by both if that is of
    /// a small part of the samples, as more samples often allow a larger C.
    fn select_c(&self) -> Result<SelectedC> {
        let Fit { fit: InMemory { task, made: Expansion { phi, .. }, clock, .. }, judged, all, others, solver, .. } =
            self;
        let (n, n_independent) = (all.weights.len(), n_independent(all.weights, all.units));
        // The decision values of other losses are on another scale than the squared hinge.
        let is_default = task.loss == Loss::default();
        if matches!(phi, Vectors::Sparse(_)) && is_default && n > C_SAMPLES {
            let (size, near) = (MAX_HELD_OUT_OF_PATH.min(n_independent / 5), task.near.unwrap_or(HELD_OUT_PATH_START));
            if let Some(selected) = self.select_on_held_out(size, (|_| false, &[]), near)? {
                return Ok(selected);
            }
        }
        let by_some = choose_c(Block::of(phi)?, *others, task.near, solver, clock.monitor)?;
        let near = by_some.lambda().filter(|_| is_default && n > MAX_SAMPLES_AS_BASES && !solver.depends_on_left_out());
        let Some(near) = near else { return Ok(by_some) };
        let size = n_held_out(n_independent, all.labels.classes().len());
        let is_basis = |row: usize| judged.units[row] <= 0.0;
        Ok(self.select_on_held_out(size, (is_basis, &judged.factors), near)?.unwrap_or(by_some))
    }

    /// C near λ by samples that are held out, of each class those last that are to be spared; none if there are too few.
    fn select_on_held_out(
        &self,
        size: usize,
        (is_spared, factors): (impl Fn(usize) -> bool, &[f64]),
        near: f64,
    ) -> Result<Option<SelectedC>> {
        let Fit { fit: InMemory { made, clock, .. }, all, solver, .. } = self;
        let sets = HeldOutRows::sets(all.labels, (all.weights, all.units), is_spared, (size, 1), solver.seed);
        let Some(held_out) = &sets.into_iter().next() else { return Ok(None) };
        let features = self.features_without(held_out)?;
        let path = HeldOutPath { held_out, factors, near };
        path.select(features.as_ref().unwrap_or(&made.phi), *all, solver, clock.monitor)
    }

    fn solve(&mut self, chosen: &mut SelectedC, costs: &[f64]) -> Result<Solution> {
        let Fit { fit: InMemory { made: Expansion { phi, .. }, clock, .. }, all, others, solver, .. } = self;
        if solver.loss == Loss::SquaredError {
            solve_squared(Block::of(phi)?, *others, chosen, solver, clock.monitor)?;
        }
        solver.start = chosen.start.take();
        let solution = solver.solve(phi, all.labels, costs, clock.monitor)?;
        clock.end_solved("solve")?;
        Ok(solution)
    }

    /// Decision values of samples that a fit did not see: those of the search, of the selection of C, or of refits.
    fn estimate(&mut self, of_c: Option<Validation>, costs: &[f64], solution: &Solution) -> Result<Validation> {
        let Fit { fit: InMemory { task, prepared, made, clock, .. }, judged, all, others, solver, unpruned } = &*self;
        let merged = &prepared.merged;
        if let Some(scores) = &task.held_out {
            return Ok(Validation::of(scores.clone(), EstimateMethod::Folds));
        }
        // The sums over folds cannot count samples by how many others they stand for.
        let is_even = judged.factors.iter().all(|factor| *factor <= 1.0) || !merged.draws.contains(&true);
        let is_honest = !solver.depends_on_left_out() && unpruned.is_none();
        let usable = |one: &Validation| is_honest && (one.method != EstimateMethod::Folds || is_even);
        let Some(mut validation) = of_c.filter(usable) else {
            let features = |held_out: &HeldOutRows| self.features_without(held_out);
            let scores = held_out_scores(&made.phi, *all, costs, &features, judged, solver, clock.monitor)?;
            self.fit.clock.end("hold out")?;
            return Ok(Validation::of(scores, EstimateMethod::HeldOut));
        };
        if validation.method != EstimateMethod::HeldOut {
            if let Vectors::Dense(phi) = &made.phi {
                let own = made.own_features(merged, &judged.units);
                validation.without_own_features(phi, (*others, costs), (solver, solution), &own);
            }
            validation.scores.weigh(judged);
        }
        Ok(validation)
    }

    /// The features of a refit without some samples, if they are not those of the fit.
    fn features_without(&self, held_out: &HeldOutRows) -> Result<Option<Vectors>> {
        let Fit { fit: InMemory { task, prepared, made, clock, .. }, all, solver, unpruned, .. } = self;
        let weights = || held_out.rest(all.weights.to_vec());
        // The labels of all samples had a say in which bases were removed.
        let mut again = unpruned.as_ref().map(Expansion::copy);
        if let (Some(made), Some(most)) = (&mut again, task.max_basis) {
            prune(made, most, (all.labels, &weights(), task.c.or_one()), solver, clock.monitor)?;
        }
        let made = again.as_ref().unwrap_or(made);
        let bases = made.bases_of_rows(&prepared.merged.distinct);
        let own = held_out.whole_rows().filter_map(|row| bases.get(&row));
        let own: Vec<usize> = own.flat_map(|&at| made.expansion.features_of_basis(at)).collect();
        let changed = features_without(&made.phi, &own, solver.depends_on_left_out().then(weights).as_deref())?;
        Ok(changed.or(again.map(|made| made.phi)))
    }

    /// The same without the bases to which an L1 penalty has left no weight.
    fn without_unused(mut self, solution: &mut Solution) -> Result<Self> {
        if self.fit.task.penalty == Penalty::L1 {
            let expansion = &self.fit.made.expansion;
            let (selected, n) = (expansion.used_bases(&solution.weights), expansion.n_columns());
            solution
                .report
                .notes
                .push(format!("{} of {n} bases have a weight, the others were removed", selected.len()));
            solution.weights = expansion.weights_of_bases(&solution.weights, &selected);
            self.fit.made.keep(&selected)?;
        }
        Ok(self)
    }
}

/// Removes bases until at most `most` are left, by fits at C to samples with these weights.
fn prune<S: Similarity>(
    made: &mut Expansion<S>,
    most: usize,
    (labels, weights, c): (&Labels, &[f64], f64),
    solver: &Solver,
    monitor: &Monitor<'_>,
) -> Result<()> {
    let costs: Vec<f64> = weights.iter().map(|weight| c * weight).collect();
    let (loss, penalty, tol, max_iter, start) = (Loss::default(), Penalty::L2, COMPARISON_TOL, None, None);
    let solver = Solver { loss, penalty, tol, max_iter, start, ..solver.clone() };
    while made.expansion.n_columns() > most {
        let solution = solver.solve(&made.phi, labels, &costs, &monitor.without_progress())?;
        made.remove_least_important(&solution.weights, most)?;
        made.restore_mean_norm(weights);
    }
    Ok(())
}

impl<S: Similarity> Blocks<'_, S, ClassificationParams> {
    /// The decision values of some of the resident rows, which are no bases, from a fit without them. It starts at 0: at
    /// a small C the gap is small at the solution of all rows already, whose weights know these. None if time is up.
    fn held_out_scores(
        &self,
        problem: LinearProblem<'_>,
        solver: &Solver,
        monitor: &Monitor<'_>,
    ) -> Result<HeldOutScores> {
        let (rows, expansion, (weights, _)) = (&self.resident.rows, &self.pieces.expansion, self.weights);
        let labels = self.known.0.of_rows(rows);
        let bases: HashSet<usize> = self.basis.rows.iter().copied().collect();
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
        let phi = self.resident.block(expansion.n_features())?;
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
        let HessianSample { rows, phi } = &self.resident;
        let (codes, stand) = stand_ins(rows, self.known.0, problem.costs);
        let targets = OneVsRest::of(self.known.0).with_codes(&codes);
        let of_sample = LinearProblem { targets, costs: &stand, ..problem };
        let block = self.resident.block(d)?;
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
        let all = PassObjective::new(&self.pieces, problem, room, self.pieces.pool.clone(), *monitor)?;
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
