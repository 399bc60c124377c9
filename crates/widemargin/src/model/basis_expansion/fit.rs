//! The basis expansion SVM: a large-margin classifier for any similarity, at the cost of a linear classifier.
//!
//! Aghazadeh & Carlsson, *Large Scale, Large Margin Classification using Indefinite Similarity Measures*: samples are
//! compared with a few bases, the similarities normalized ([`Expander`](super::expand::Expander)), and a linear SVM trained on them by Newton's
//! method in the primal ([`newton`](crate::solve::newton)), or, for the hinge loss, by coordinate descent on its dual ([`linear`](crate::solve::dual::linear)).

use super::choose::{LabeledSamples, SelectedC, Validation, choose_c, learn_weights, solve_squared};
use super::expand::{Expansion, unweighted};
use super::expansion_params::{ExpansionParams, SourceSet};
use super::held_out::{held_out_scores, select_on_held_out};
use super::model::Classification;
use super::prepare::Prepared;
use super::solver::{Solution, Solver};
use crate::data::{ClassWeight, Labels, Source, Vectors, WeightedCodes, check_costs, effective_weights};
use crate::error::{Error, Result, require, require_gap};
use crate::expansion::{Normalization, NystroemCut};
use crate::macros::setters;
use crate::model::clock::Clock;
use crate::model::origin::TrainingSettings;
use crate::model::within_limit::TrainingSet;
use crate::model::{BasisExpansionSvc, CChoice};
use crate::monitor::Monitor;
use crate::problem::{Block, HeldOutScores, Intercept, Judged, Loss, Penalty};
use crate::similarity::Similarity;
use crate::solve::EstimateMethod;
use crate::solve::dual::DualSettings;
use crate::solve::newton::NewtonSettings;
use crate::tuning::{C_SAMPLES, COMPARISON_TOL};

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
        /// least leave-one-out squared hinge (on 2,000 samples if there are more), for any loss.
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

    /// Checks the parameters without fitting.
    ///
    /// # Errors
    /// [`Error::Parameter`] naming the first that is invalid.
    #[doc(hidden)]
    pub fn check(&self) -> Result<()> {
        let ClassificationParams { c, loss, penalty, max_basis, tol, max_iter, .. } = &self.task;
        c.check()?;
        loss.check_of_classes()?;
        let learns = !unweighted(&self.expander.similarity).is_empty();
        let expected = "squared_hinge where a weight is auto: leave-one-out is in closed form for it";
        require(!learns || *loss == Loss::default(), "loss", loss, expected)?;
        let is_sparse = *penalty == Penalty::L1;
        let expected = "a number above 0 with penalty l1: leave-one-out has no closed form for it";
        require(!is_sparse || *c != CChoice::Auto, "C", "auto", expected)?;
        require(!is_sparse || *loss == Loss::SquaredHinge, "loss", loss, "squared_hinge with penalty l1")?;
        require(*max_basis != Some(0), "max_basis", "0", "at least 1, or none for no limit")?;
        require_gap(*tol, "0.001")?;
        require(*max_iter != Some(0), "max_iter", "0", "at least 1")?;
        self.expander.check(true)
    }

    /// All parameters that affect the result, as written on the command line.
    pub(crate) fn identity(&self) -> Vec<(&'static str, String)> {
        let ClassificationParams { c, loss, penalty, max_basis, intercept, tol, max_iter, .. } = &self.task;
        let own = [
            ("C", c.to_string()),
            ("loss", loss.to_string()),
            ("penalty", penalty.to_string()),
            ("max_basis", max_basis.map_or("none".into(), |most| most.to_string())),
            ("intercept", intercept.to_string()),
            ("tol", tol.to_string()),
            ("max_iter", max_iter.map_or("default".into(), |n| n.to_string())),
        ];
        self.expander.identity().into_iter().chain(own).collect()
    }

    /// The settings stored in the model.
    pub(crate) fn training(&self) -> TrainingSettings {
        let is_smooth = self.task.loss.is_smooth();
        let most = if is_smooth { NewtonSettings::default().max_iter } else { DualSettings::default().max_epochs };
        TrainingSettings {
            class_weight: self.task.class_weight.clone(),
            tol: self.task.tol,
            max_iter: self.task.max_iter.unwrap_or(most),
            max_basis: self.task.max_basis,
            ..self.expander.training()
        }
    }

    pub(super) fn solver(&self) -> Solver {
        let ClassificationParams { loss, penalty, tol, max_iter, .. } = self.task;
        let intercept = match self.task.intercept {
            Intercept::Free if loss == Loss::Hinge => Intercept::Penalized,
            other => other,
        };
        let is_centered = self.expander.normalization.is_learned();
        let (start, seed, threads) = (None, self.expander.seed, self.threads);
        Solver { loss, penalty, intercept, is_centered, tol, max_iter, start, seed, threads }
    }

    /// Trains on samples and their labels.
    ///
    /// # Errors
    /// See [`BasisExpansionParams::fit_with`].
    pub fn fit(self, samples: &dyn Source<Samples = S::Samples>, labels: &Labels) -> Result<BasisExpansionSvc<S>> {
        self.fit_with(samples, labels, None, &Monitor::none())
    }

    /// Trains with one weight per sample and a monitor. Weight k is equivalent to k copies, weight 0 to leaving a
    /// sample out, and the order of the samples only affects a selection of bases by position: all bit for bit,
    /// provided that samples have fingerprints ([`Samples::fingerprint`](crate::data::Samples::fingerprint)). Selected
    /// bases are stored without duplicates in an order determined by content; explicit ones unchanged.
    ///
    /// A fit that does not converge has a status and a warning in its report; it is not an error. If a time limit does
    /// not allow a fit on all samples, the model is fitted to a subset, as noted in the report.
    ///
    /// # Errors
    /// Invalid parameters, labels or samples, with their names and the expected values; [`Error::Memory`] if the
    /// features do not fit; [`Error::Cancelled`] if the monitor cancelled; [`Error::TooShort`] if its time limit passed
    /// before a fit on few samples.
    pub fn fit_with(
        self,
        samples: &dyn Source<Samples = S::Samples>,
        labels: &Labels,
        sample_weight: Option<&[f64]>,
        monitor: &Monitor<'_>,
    ) -> Result<BasisExpansionSvc<S>> {
        self.check()?;
        labels.check(samples.n_samples())?;
        let weights = effective_weights(labels, sample_weight, &self.task.class_weight)?;
        let set = TrainingSet { samples, known: labels, sample_weight };
        self.fit_in_time(set, &weights, monitor, Self::fit_rows)
    }

    fn fit_rows(self, set: SourceSet<'_, S, Labels>, monitor: &Monitor<'_>) -> Result<BasisExpansionSvc<S>> {
        let TrainingSet { samples, known, sample_weight } = set;
        let (training, solver) = (self.training(), self.solver());
        let ExpansionParams { expander, task: params, threads } = self;
        let effective = effective_weights(known, sample_weight, &params.class_weight)?;
        check_costs(params.c.or_one(), &effective, known.classes().len())?;
        let mut clock = Clock::start(monitor);
        let weighted = WeightedCodes { codes: known.codes(), weights: sample_weight, effective: &effective };
        let prepared = Prepared::new(samples, weighted, threads, &mut clock)?;
        let (prepared, labels) = prepared.labeled(known, &params.class_weight)?;
        let made = expander.fit(&prepared, &mut clock)?;

        let judged = made.judged(&prepared);
        let all = LabeledSamples { labels: &labels, weights: &prepared.weights, units: &prepared.units };
        let others = LabeledSamples { units: &judged.units, ..all };
        let mut fit = Fit { params: &params, prepared: &prepared, judged: &judged, all, others, solver, made, clock };
        let weighed = fit.learn_weights()?;
        let pruned = fit.prune()?;
        let mut chosen = fit.choose()?;
        let costs = chosen.costs(all.weights, labels.classes().len())?;
        let mut solution = fit.solve(&mut chosen, &costs)?;
        let validation = fit.estimate(chosen.validation.take(), &costs, &solution)?;
        let Fit { made, clock, .. } = fit.without_unused(&mut solution)?;

        let (kind, solved) = ((params.loss, solution.intercept), (solution.weights, solution.intercepts));
        let task = Classification::new(&labels, kind, chosen.c, solved);
        let task = Classification { penalty: params.penalty, path: chosen.path, ..task };
        let mut model = made.model(task, solution.report, (training, clock.stages));
        let calibration = validation.assess(&mut model.report, others, &prepared.distinct.weights);
        model.report.notes.extend(weighed.into_iter().chain(pruned).chain(chosen.note));
        Ok(model.labeled(&labels, calibration))
    }
}

/// A fit in memory between its stages.
struct Fit<'a, S: Similarity> {
    params: &'a ClassificationParams,
    prepared: &'a Prepared<'a, S::Samples>,
    judged: &'a Judged,
    all: LabeledSamples<'a>,
    /// The same where leave-one-out is of the samples that are no bases.
    others: LabeledSamples<'a>,
    solver: Solver,
    made: Expansion<S>,
    clock: Clock<'a>,
}

impl<S: Similarity> Fit<'_, S> {
    /// Learns the weights of similarities that are open; a note, if there are any.
    fn learn_weights(&mut self) -> Result<Option<String>> {
        let Fit { made: Expansion { expansion, phi, .. }, all, solver, clock, .. } = self;
        match phi {
            Vectors::Dense(phi) => {
                learn_weights(expansion, &mut phi.values, *all, (self.params.c.value(), solver), clock)
            }
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
        if self.params.penalty == Penalty::L1 || self.params.max_basis.is_some() {
            self.made.expansion.check_prunable()?;
        }
        let (Some(most), LabeledSamples { labels, weights, .. }) = (self.params.max_basis, self.all) else {
            return Ok(None);
        };
        let n = self.made.expansion.n_columns();
        let costs = SelectedC::fixed(self.params.c.or_one()).costs(weights, labels.classes().len())?;
        let (loss, penalty, tol, max_iter) = (Loss::default(), Penalty::L2, COMPARISON_TOL, None);
        let solver = Solver { loss, penalty, tol, max_iter, ..self.solver.clone() };
        while self.made.expansion.n_columns() > most {
            let quiet = &self.clock.monitor.without_progress();
            let solution = solver.solve(&self.made.phi, labels, &costs, quiet)?;
            self.made.remove_least_important(&solution.weights, most)?;
            self.made.restore_mean_norm(weights);
        }
        self.clock.end("prune")?;
        let n_left = self.made.expansion.n_columns();
        Ok(Some(format!("{n_left} of {n} bases remain: those with the largest weights")))
    }

    fn choose(&mut self) -> Result<SelectedC> {
        let Fit { params, all, others, solver, made: Expansion { phi, .. }, clock, .. } = self;
        let monitor = clock.monitor;
        SelectedC::of(params.c, clock, || {
            let is_sparse = matches!(phi, Vectors::Sparse(_)) && params.loss == Loss::default();
            let of_all = match is_sparse && all.weights.len() > C_SAMPLES {
                true => select_on_held_out(phi, *all, params.near, solver, monitor)?,
                false => None,
            };
            of_all.map_or_else(|| choose_c(Block::of(phi)?, *others, params.near, solver, monitor), Ok)
        })
    }

    fn solve(&mut self, chosen: &mut SelectedC, costs: &[f64]) -> Result<Solution> {
        let Fit { all, others, solver, made: Expansion { phi, .. }, clock, .. } = self;
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
        let Fit { params, prepared, judged, all, others, solver, made, clock } = self;
        if let Some(scores) = &params.held_out {
            return Ok(Validation::of(scores.clone(), EstimateMethod::Folds));
        }
        // The sums over folds cannot count samples by how many others they stand for.
        let is_even = judged.factors.iter().all(|factor| *factor <= 1.0) || !prepared.draws.contains(&true);
        let usable = |one: &Validation| (one.method != EstimateMethod::Folds || is_even) && !solver.sees_left_out();
        let Some(mut validation) = of_c.filter(usable) else {
            let bases = made.bases_of_rows(&prepared.distinct);
            let own = |row| bases.get(&row).map_or_else(Vec::new, |&at| made.expansion.features_of_basis(at));
            let scores = held_out_scores(&made.phi, *all, costs, &own, judged, solver, clock.monitor)?;
            clock.end("hold out")?;
            return Ok(Validation::of(scores, EstimateMethod::HeldOut));
        };
        if validation.method != EstimateMethod::HeldOut {
            if let Vectors::Dense(phi) = &made.phi {
                let own = made.own_features(prepared, &judged.units);
                validation.without_own_features(phi, (*others, costs), (solver, solution), &own);
            }
            validation.scores.weigh(judged);
        }
        Ok(validation)
    }

    /// The same without the bases to which an L1 penalty has left no weight.
    fn without_unused(mut self, solution: &mut Solution) -> Result<Self> {
        if self.params.penalty == Penalty::L1 {
            let expansion = &self.made.expansion;
            let (selected, n) = (expansion.used_bases(&solution.weights), expansion.n_columns());
            solution
                .report
                .notes
                .push(format!("{} of {n} bases have a weight, the others were removed", selected.len()));
            solution.weights = expansion.weights_of_bases(&solution.weights, &selected);
            self.made.keep(&selected)?;
        }
        Ok(self)
    }
}
