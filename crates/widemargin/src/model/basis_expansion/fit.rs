//! The basis expansion SVM: a large-margin classifier for any similarity, at the cost of a linear classifier.
//!
//! Aghazadeh & Carlsson, *Large Scale, Large Margin Classification using Indefinite Similarity Measures*: samples are
//! compared with a few bases, the similarities normalized ([`Expander`](super::expand::Expander)), and a linear SVM trained on them by Newton's
//! method in the primal ([`newton`]), or, for the hinge loss, by coordinate descent on its dual ([`linear`](crate::solve::dual::linear)).

use super::choose_c::{LabeledSamples, SelectedC, Validation, choose_c, solve_squared};
use super::expand::{TrainingSamples, unweighted};
use super::expansion_model::ExpansionModel;
use super::expansion_params::{ExpansionParams, SourceSet};
use super::held_out::{held_out_scores, select_on_held_out};
use super::learn_weights::learn_weights;
use super::model::Classification;
use super::solver::Solver;
use crate::data::{
    About, ClassWeight, Distinct, Labels, Source, Vectors, WeightedCodes, check_costs, effective_weights,
};
use crate::error::{Error, Result, require, require_gap};
use crate::expansion::{Normalization, NystroemCut};
use crate::macros::setters;
use crate::model::clock::Clock;
use crate::model::origin::{Origin, TrainingSettings};
use crate::model::within_limit::TrainingSet;
use crate::model::{BasisExpansionSvc, CChoice};
use crate::monitor::Monitor;
use crate::problem::{Block, HeldOutScores, Intercept, Loss, Penalty, without_bases};
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
            seed: self.expander.seed,
            n_basis: self.expander.n_basis,
            max_basis: self.task.max_basis,
            ..TrainingSettings::default()
        }
    }

    /// The settings of Newton's method.
    pub(crate) fn newton(&self) -> NewtonSettings {
        let default = NewtonSettings::default();
        let max_iter = self.task.max_iter.unwrap_or(default.max_iter);
        NewtonSettings { tol: self.task.tol, max_iter, threads: self.threads, ..default }
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
        let TrainingSet { samples, known: labels, sample_weight } = set;
        let intercept = match self.task.intercept {
            Intercept::Free if self.task.loss == Loss::Hinge => Intercept::Penalized,
            other => other,
        };
        let effective = effective_weights(labels, sample_weight, &self.task.class_weight)?;
        check_costs(self.task.c.or_one(), &effective, labels.classes().len())?;
        let mut clock = Clock::start(monitor);
        let samples = &About::new(samples, &effective)?;

        let weighted = WeightedCodes { codes: labels.codes(), weights: sample_weight, effective: &effective };
        let distinct = Distinct::find(|rows| samples.fingerprints(rows), weighted, 0, self.threads, monitor)?;
        let (labels, weights) = distinct.labeled(labels, &self.task.class_weight)?;
        clock.end("merge")?;

        let (seed, threads, training) = (self.expander.seed, self.threads, self.training());
        let (codes, _) = labels.strata();
        let all = TrainingSamples { samples, distinct: &distinct, weights: &weights, codes: &codes, threads, monitor };
        let mut made = self.expander.fit(&all, &mut clock)?;

        let units = distinct.removed_weights(&weights);
        let chosen = LabeledSamples { labels: &labels, weights: &weights, units: &units };
        let of_rows = made.bases_of_rows(&distinct);
        let bases: Vec<usize> = of_rows.into_keys().filter(|&place| place < units.len()).collect();
        let draws = distinct.draws();
        let judged = without_bases((units.clone(), &weights), &bases, |row| draws[row], |row| codes[row]);
        // Leave-one-out is of the samples that are no bases.
        let others = LabeledSamples { units: &judged.units, ..chosen };
        let (c, settings) = (self.task.c.value(), (seed, threads));
        let weighed = match &mut made.phi {
            Vectors::Dense(phi) => {
                learn_weights(&mut made.expansion, &mut phi.values, chosen, (c, intercept), settings, monitor)?
            }
            Vectors::Sparse(_) if !unweighted(made.expansion.similarity()).is_empty() => {
                let expected =
                    "a number where features stay sparse: weights are learned on dense ones (normalize by z-score)";
                return Err(Error::parameter("weight", "auto", expected));
            }
            Vectors::Sparse(_) => None,
        };
        if weighed.is_some() {
            clock.end("weights")?;
        }
        let is_sparse = self.task.penalty == Penalty::L1;
        if is_sparse || self.task.max_basis.is_some() {
            made.expansion.check_prunable()?;
        }
        let solver = Solver {
            loss: self.task.loss,
            penalty: self.task.penalty,
            intercept,
            tol: self.task.tol,
            max_iter: self.task.max_iter,
            start: None,
            seed,
            threads,
        };
        let mut pruned = None;
        if let Some(most) = self.task.max_basis {
            let n = made.expansion.n_columns();
            let costs = SelectedC::fixed(self.task.c.or_one()).costs(&weights, labels.classes().len())?;
            let (loss, penalty, tol, max_iter) = (Loss::default(), Penalty::L2, COMPARISON_TOL, None);
            let solver = Solver { loss, penalty, tol, max_iter, ..solver.clone() };
            while made.expansion.n_columns() > most {
                let solution = solver.solve(&made.phi, &labels, &costs, &monitor.without_progress())?;
                made = made.without_least_important(&solution.weights, most)?.with_mean_norm(&weights);
            }
            pruned =
                Some(format!("{} of {n} bases remain: those with the largest weights", made.expansion.n_columns()));
            clock.end("prune")?;
        }
        let mut chosen_c = match self.task.c {
            CChoice::Value(c) => SelectedC::fixed(c),
            CChoice::Auto => {
                let is_sparse = matches!(made.phi, Vectors::Sparse(_)) && self.task.loss == Loss::default();
                let of_all = match is_sparse && weights.len() > C_SAMPLES {
                    true => select_on_held_out(&made.phi, chosen, self.task.near, &solver, monitor)?,
                    false => None,
                };
                let found = of_all.map_or_else(
                    || {
                        let phi = Block::of(&made.phi)?;
                        choose_c(phi, others, self.task.near, (self.task.loss, intercept), (seed, threads), monitor)
                    },
                    Ok,
                )?;
                clock.end("choose C")?;
                found
            }
        };
        let costs = chosen_c.costs(&weights, labels.classes().len())?;
        if self.task.loss == Loss::SquaredError {
            solve_squared(Block::of(&made.phi)?, others, &mut chosen_c, intercept, threads, monitor)?;
        }
        let solver = Solver { start: chosen_c.start.take(), ..solver };
        let mut solution = solver.solve(&made.phi, &labels, &costs, monitor)?;
        clock.end_solved("solve")?;
        // The sums over folds cannot count samples by how many others they stand for.
        let is_even = judged.factors.iter().all(|factor| *factor <= 1.0) || !draws.contains(&true);
        let usable = |one: &Validation| one.method != EstimateMethod::Folds || is_even;
        let bases = made.bases_of_rows(&distinct);
        let is_held_out = self.task.held_out.is_some();
        let mut validation = match (self.task.held_out, chosen_c.validation.take().filter(usable)) {
            (Some(scores), _) => Validation { scores, method: EstimateMethod::Folds, fold_sums: Vec::new() },
            (None, Some(validation)) => validation,
            (None, None) => {
                let own = |row| bases.get(&row).map_or_else(Vec::new, |&at| made.expansion.features_of_basis(at));
                let scores = held_out_scores(&made.phi, chosen, &costs, &own, &judged, &solver, monitor)?;
                clock.end("hold out")?;
                Validation { scores, method: EstimateMethod::HeldOut, fold_sums: Vec::new() }
            }
        };
        if validation.method != EstimateMethod::HeldOut && !is_held_out {
            if let Vectors::Dense(phi) = &made.phi {
                let own =
                    made.own_features(&bases, |at| draws[at] || distinct.is_contested(at), (&weights, &judged.units));
                validation.without_own_features(phi, (others, &costs), (&solver, &solution), &own);
            }
            validation.scores.weigh(&judged);
        }
        if is_sparse {
            let selected = made.expansion.used_bases(&solution.weights);
            let note = format!(
                "{} of {} bases have a weight, the others were removed",
                selected.len(),
                made.expansion.n_columns()
            );
            solution.weights = made.expansion.weights_of_bases(&solution.weights, &selected);
            solution.report.notes.push(note);
            made = made.with_bases(&selected)?;
        }

        let report = &mut solution.report;
        report.stages = clock.stages;
        made.expansion.add_remarks(&mut report.notes, &mut report.warnings);
        report.warnings.extend(made.warning);
        let samples = LabeledSamples { labels: &labels, weights: &weights, units: &judged.units };
        let calibration = validation.assess(&mut solution.report, samples, &distinct.weights);
        solution.report.notes.extend(weighed.into_iter().chain(pruned).chain(chosen_c.note.take()));
        let origin = Origin::of(training).labeled(&labels).calibrated(calibration);
        let task = Classification {
            loss: self.task.loss,
            penalty: self.task.penalty,
            c: chosen_c.c,
            path: chosen_c.path,
            intercept: solution.intercept,
            classes: labels.classes().to_vec(),
            weights: solution.weights,
            intercepts: solution.intercepts,
        };
        Ok(ExpansionModel::new(made.expansion, made.basis, task, solution.report, origin))
    }
}
