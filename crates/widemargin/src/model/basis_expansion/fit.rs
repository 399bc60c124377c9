//! The basis expansion SVM: a large-margin classifier for any similarity at the cost of a linear one.
//!
//! Aghazadeh & Carlsson, *Large Scale, Large Margin Classification using Indefinite Similarity Measures*: samples are
//! compared with a few bases, the similarities normalized ([`Expander`]), and a linear SVM trained on them by Newton's
//! method in the primal ([`newton`]), or, for the hinge loss, by coordinate descent on its dual ([`linear`](crate::solve::dual::linear)).

use std::fmt;
use std::sync::OnceLock;

use super::choose_c::{LabeledSamples, SelectedC, Validation, choose_c, solve_squared};
use super::expand::{Expander, TrainingSamples};
use super::held_out::{FitOnAll, held_out_scores};
use super::held_out_path::select_on_held_out;
use super::learn_weights::{WeightTask, learn_weights, unweighted};
use super::prune::{most_important, next_size};
use super::solver::Solver;
use crate::basis::BasisChoice;
use crate::data::{
    About, ClassWeight, Distinct, Labels, Picked, Source, Vectors, WeightedCodes, check_costs, effective_weights,
};
use crate::error::{Error, Result};
use crate::expansion::{Normalization, NystroemCut};
use crate::model::clock::Clock;
use crate::model::origin::{Origin, TrainingSettings};
use crate::model::within_limit::fit_within_limit;
use crate::model::{BasisExpansionSvc, CChoice, choose_rows};
use crate::monitor::Monitor;
use crate::problem::{Block, Intercept, Loss, Penalty};
use crate::similarity::Similarity;
use crate::solve::EstimateMethod;
use crate::solve::dual::DualSettings;
use crate::solve::newton::NewtonSettings;
use crate::tuning::{C_SAMPLES, COMPARISON_TOL, DEFAULT_N_BASIS};

/// Parameters of a basis expansion SVM, with their defaults.
#[derive(Clone)]
pub struct BasisExpansionParams<S: Similarity> {
    pub(crate) expander: Expander<S>,
    pub(crate) c: CChoice,
    /// The λ near which the best C is expected, as found on some of the samples.
    pub(crate) near: Option<f64>,
    pub(crate) loss: Loss,
    pub(crate) penalty: Penalty,
    pub(crate) max_basis: Option<usize>,
    pub(crate) intercept: Intercept,
    pub(crate) class_weight: ClassWeight,
    tol: f64,
    max_iter: Option<u32>,
    pub(crate) threads: usize,
}

impl<S: Similarity> BasisExpansionParams<S> {
    /// The defaults for a similarity: 1,000 bases drawn from each class in proportion to its samples, mean-norm
    /// normalization, C = 1, squared hinge, an unpenalized intercept, a relative duality gap of 0.001, one thread per
    /// core.
    pub fn new(similarity: S) -> Self {
        BasisExpansionParams {
            expander: Expander {
                similarity,
                n_basis: None,
                basis: BasisChoice::default(),
                explicit: None,
                normalization: Normalization::MeanNorm,
                cut: NystroemCut::Millionth,
                seed: 0,
            },
            c: CChoice::Value(1.0),
            near: None,
            loss: Loss::default(),
            penalty: Penalty::default(),
            max_basis: None,
            intercept: Intercept::Free,
            class_weight: ClassWeight::Uniform,
            tol: 1e-3,
            max_iter: None,
            threads: 0,
        }
    }

    /// The same parameters for another similarity; explicit bases are dropped.
    pub fn with_similarity<T: Similarity>(self, similarity: T) -> BasisExpansionParams<T> {
        let expander = self.expander.with_similarity(similarity);
        let BasisExpansionParams { c, near, loss, penalty, max_basis, intercept, class_weight, .. } = self;
        let BasisExpansionParams { tol, max_iter, threads, .. } = self;
        BasisExpansionParams {
            expander,
            c,
            near,
            loss,
            penalty,
            max_basis,
            intercept,
            class_weight,
            tol,
            max_iter,
            threads,
        }
    }

    /// How many bases. Where there are fewer samples, all are used, with a note in the report. (By default 1,000, or
    /// all where there are fewer samples.)
    pub fn n_basis(self, n_basis: usize) -> Self {
        BasisExpansionParams { expander: Expander { n_basis: Some(n_basis), ..self.expander }, ..self }
    }

    /// How bases are selected among the training samples.
    pub fn basis(self, basis: BasisChoice) -> Self {
        BasisExpansionParams { expander: Expander { basis, ..self.expander }, ..self }
    }

    /// Explicit bases, in place of training samples.
    pub fn bases(self, bases: S::Samples) -> Self {
        BasisExpansionParams { expander: Expander { explicit: Some(bases), ..self.expander }, ..self }
    }

    /// How the similarities are normalized.
    pub fn normalization(self, normalization: Normalization) -> Self {
        BasisExpansionParams { expander: Expander { normalization, ..self.expander }, ..self }
    }

    /// Where the features of a Nyström map end.
    pub fn nystroem_cut(self, cut: NystroemCut) -> Self {
        BasisExpansionParams { expander: Expander { cut, ..self.expander }, ..self }
    }

    /// The weight C of the losses in ½‖w‖² + C Σ loss: a number above 0, or [`CChoice::Auto`], the C of a path with the
    /// least leave-one-out squared hinge (on 2,000 samples if there are more), for any loss.
    pub fn c(self, c: impl Into<CChoice>) -> Self {
        BasisExpansionParams { c: c.into(), ..self }
    }

    /// The loss: a [`Loss`](crate::problem::Loss), a [`Loss`](crate::problem::Loss) or an [`Loss`].
    pub fn loss(self, loss: Loss) -> Self {
        BasisExpansionParams { loss, ..self }
    }

    /// The penalty on the weights. With [`Penalty::L1`] most weights are 0, and the model keeps the bases that have
    /// one: each feature must belong to a basis (mean-norm, z-score, none). Only for the squared hinge, by coordinate
    /// descent; a penalized intercept is not penalized.
    pub fn penalty(self, penalty: Penalty) -> Self {
        BasisExpansionParams { penalty, ..self }
    }

    /// Keeps at most this number of the `n_basis` bases: those with the smallest weights are removed, three tenths at a
    /// time, and the rest is fitted again.
    pub fn max_basis(self, max_basis: Option<usize>) -> Self {
        BasisExpansionParams { max_basis, ..self }
    }

    /// How the intercept is treated. With the hinge loss an unpenalized intercept is penalized instead: the dual solver
    /// does not support an unpenalized one.
    pub fn intercept(self, intercept: Intercept) -> Self {
        BasisExpansionParams { intercept, ..self }
    }

    /// The class weights.
    pub fn class_weight(self, class_weight: ClassWeight) -> Self {
        BasisExpansionParams { class_weight, ..self }
    }

    /// The relative duality gap at which a two-class problem counts as solved; in (0, 1).
    pub fn tol(self, tol: f64) -> Self {
        BasisExpansionParams { tol, ..self }
    }

    /// The maximum number of Newton steps (default 100), or, for the hinge loss, of passes over the samples (default
    /// 1,000). Below 60, sparse features are solved by Newton steps alone, without descent before them.
    pub fn max_iter(self, max_iter: u32) -> Self {
        BasisExpansionParams { max_iter: Some(max_iter), ..self }
    }

    /// Seed of the selection of bases, if random, and of the order of samples for the hinge loss.
    pub fn seed(self, seed: u64) -> Self {
        BasisExpansionParams { expander: Expander { seed, ..self.expander }, ..self }
    }

    /// Number of threads, 0 meaning one per core. The result does not depend on it.
    pub fn threads(self, threads: usize) -> Self {
        BasisExpansionParams { threads, ..self }
    }

    /// Whether another number of bases may be selected in the same way at about the same cost: not for explicit bases,
    /// nor for medoids.
    pub(crate) fn can_count_bases(&self) -> bool {
        self.expander.explicit.is_none() && !matches!(self.expander.basis, BasisChoice::Rows(_) | BasisChoice::KMedoids)
    }

    /// Checks the parameters without fitting.
    ///
    /// # Errors
    /// [`Error::Parameter`] naming the first that is invalid.
    pub fn check(&self) -> Result<()> {
        let wrong =
            |name, value: String, expected: &str| Err(Error::Parameter { name, value, expected: expected.to_owned() });
        self.c.check()?;
        self.loss.check_of_classes()?;
        if self.loss != Loss::default() && !unweighted(&self.expander.similarity).is_empty() {
            let expected = "squared_hinge where a weight is auto: leave-one-out is in closed form for it";
            return wrong("loss", self.loss.to_string(), expected);
        }
        if self.penalty == Penalty::L1 && self.c == CChoice::Auto {
            return wrong(
                "C",
                "auto".into(),
                "a number above 0 with penalty l1: leave-one-out has no closed form for it",
            );
        }
        if self.penalty == Penalty::L1 && self.loss != Loss::SquaredHinge {
            return wrong("loss", self.loss.to_string(), "squared_hinge with penalty l1");
        }
        if self.max_basis == Some(0) {
            return wrong("max_basis", "0".into(), "at least 1, or none for no limit");
        }
        if !(self.tol > 0.0 && self.tol < 1.0) {
            return wrong("tol", self.tol.to_string(), "a relative duality gap between 0 and 1, such as 0.001");
        }
        if self.max_iter == Some(0) {
            return wrong("max_iter", "0".into(), "at least 1");
        }
        if self.expander.n_basis == Some(0) {
            return wrong("n_basis", "0".into(), "at least 1");
        }
        Ok(())
    }

    /// All parameters that affect the result, as written on the command line.
    pub(crate) fn identity(&self) -> Vec<(&'static str, String)> {
        let max_iter = self.max_iter.map_or("default".into(), |n| n.to_string());
        let bases = if self.expander.explicit.is_some() { "explicit" } else { "none" };
        vec![
            ("similarity", self.expander.similarity.spec()),
            ("n_basis", self.expander.n_basis.unwrap_or(DEFAULT_N_BASIS).to_string()),
            ("basis", self.expander.basis.to_string()),
            ("bases", bases.into()),
            ("normalization", self.expander.normalization.to_string()),
            ("C", self.c.to_string()),
            ("loss", self.loss.to_string()),
            ("penalty", self.penalty.to_string()),
            ("max_basis", self.max_basis.map_or("none".into(), |most| most.to_string())),
            ("intercept", self.intercept.to_string()),
            ("tol", self.tol.to_string()),
            ("max_iter", max_iter),
            ("seed", self.expander.seed.to_string()),
        ]
    }

    /// The settings stored in the model.
    pub(crate) fn training(&self) -> TrainingSettings {
        let is_smooth = self.loss.is_smooth();
        let most = if is_smooth { NewtonSettings::default().max_iter } else { DualSettings::default().max_epochs };
        TrainingSettings {
            class_weight: self.class_weight.clone(),
            tol: self.tol,
            max_iter: self.max_iter.unwrap_or(most),
            seed: self.expander.seed,
            nodes: None,
            basis: None,
        }
    }

    /// The settings of Newton's method.
    pub(crate) fn newton(&self) -> NewtonSettings {
        let default = NewtonSettings::default();
        let max_iter = self.max_iter.unwrap_or(default.max_iter);
        NewtonSettings { tol: self.tol, max_iter, threads: self.threads, ..default }
    }

    /// Trains on samples and their labels.
    ///
    /// # Errors
    /// See [`BasisExpansionParams::fit_with`].
    pub fn fit(self, samples: &dyn Source<Samples = S::Samples>, labels: &Labels) -> Result<BasisExpansionSvc<S>> {
        self.fit_with(samples, labels, None, &Monitor::none())
    }

    /// Trains with one weight per sample and a monitor. Weight k is equivalent to k copies, weight 0 to absence, and
    /// the order of the samples only affects a selection of bases by position: all bit for bit, provided that samples
    /// have fingerprints ([`Samples::fingerprint`](crate::data::Samples::fingerprint)). Selected bases are stored
    /// without duplicates in an order determined by content; explicit ones unchanged.
    ///
    /// A fit that does not converge has a status and a warning in its report; it is not an error. If a time limit does
    /// not allow a fit on all samples, the model is of as many as it allows, as noted in the report.
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
        if !monitor.has_time_limit() || self.for_some().is_none() {
            return self.fit_rows(samples, labels, sample_weight, &monitor.with_strict_limit());
        }
        let weights = effective_weights(labels, sample_weight, &self.class_weight)?;
        let (size, seed) = (self.expander.size(labels.len(), labels.classes().len()), self.expander.seed);
        let pick = |n| choose_rows(labels, &weights, n, seed);
        let fit = |rows: Option<&[usize]>, monitor: &Monitor<'_>| {
            let params = self.for_some().ok_or(Error::NoSamples(""))?;
            let Some(rows) = rows else { return params.fit_rows(samples, labels, sample_weight, monitor) };
            let weights = sample_weight.map(|all| rows.iter().map(|&row| all[row]).collect::<Vec<f64>>());
            let picked = Picked { source: samples, rows };
            let mut model = params.fit_rows(&picked, &labels.select(rows), weights.as_deref(), monitor)?;
            model.basis_rows.iter_mut().for_each(|row| *row = rows[*row]);
            Ok(model)
        };
        fit_within_limit(size, monitor, pick, fit, |model| &mut model.report)
    }

    /// A copy, as for [`Expander::for_some`].
    fn for_some(&self) -> Option<Self> {
        let BasisExpansionParams { c, near, loss, penalty, max_basis, intercept, tol, max_iter, threads, .. } = *self;
        let class_weight = self.class_weight.clone();
        let expander = self.expander.for_some()?;
        Some(BasisExpansionParams {
            expander,
            c,
            near,
            loss,
            penalty,
            max_basis,
            intercept,
            class_weight,
            tol,
            max_iter,
            threads,
        })
    }

    fn fit_rows(
        self,
        samples: &dyn Source<Samples = S::Samples>,
        labels: &Labels,
        sample_weight: Option<&[f64]>,
        monitor: &Monitor<'_>,
    ) -> Result<BasisExpansionSvc<S>> {
        let intercept = match self.intercept {
            Intercept::Free if self.loss == Loss::Hinge => Intercept::Penalized,
            other => other,
        };
        let effective = effective_weights(labels, sample_weight, &self.class_weight)?;
        check_costs(self.c.or_one(), &effective, labels.classes().len())?;
        let mut clock = Clock::start(monitor);
        let samples = &About::new(samples, &effective)?;

        let weighted = WeightedCodes { codes: labels.codes(), weights: sample_weight, effective: &effective };
        let distinct = Distinct::find(|rows| samples.fingerprints(rows), weighted, 0, self.threads, monitor)?;
        let (labels, weights) = distinct.labeled(labels, &self.class_weight)?;
        clock.end("merge")?;

        let (seed, threads, training) = (self.expander.seed, self.threads, self.training());
        let (codes, n_classes) = labels.strata();
        let training_samples = TrainingSamples {
            samples,
            distinct: &distinct,
            weights: &weights,
            codes: &codes,
            n_classes,
            threads,
            monitor,
        };
        let mut made = self.expander.fit(&training_samples, &mut clock)?;

        let units = distinct.removed_weights(&weights);
        let chosen = LabeledSamples { labels: &labels, weights: &weights, units: &units };
        let task = WeightTask { samples: chosen, c: self.c.value(), intercept, seed, threads };
        let weighed = match &mut made.phi {
            Vectors::Dense(phi) => learn_weights(&mut made.expansion, &mut phi.values, &task, monitor)?,
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
        let is_sparse = self.penalty == Penalty::L1;
        if is_sparse || self.max_basis.is_some() {
            made.expansion.check_prunable()?;
        }
        let mut pruned = None;
        if let Some(most) = self.max_basis {
            let n = made.expansion.n_columns();
            let costs = SelectedC::fixed(self.c.or_one()).costs(&weights, labels.classes().len())?;
            let solver = Solver {
                loss: Loss::default(),
                penalty: Penalty::L2,
                intercept,
                tol: COMPARISON_TOL,
                max_iter: None,
                start: None,
                seed,
                threads,
            };
            while made.expansion.n_columns() > most {
                let solution = solver.solve(&made.phi, &labels, &costs, &monitor.without_progress())?;
                let size = next_size(made.expansion.n_columns(), most);
                let selected = most_important(&made.expansion, &solution.weights, size);
                made = made.with_bases(&selected)?.with_mean_norm(&weights);
            }
            pruned =
                Some(format!("{} of {n} bases remain: those with the largest weights", made.expansion.n_columns()));
            clock.end("prune")?;
        }
        let solver = Solver {
            loss: self.loss,
            penalty: self.penalty,
            intercept,
            tol: self.tol,
            max_iter: self.max_iter,
            start: None,
            seed,
            threads,
        };
        let mut chosen_c = match self.c {
            CChoice::Value(c) => SelectedC::fixed(c),
            CChoice::Auto => {
                let is_sparse = matches!(made.phi, Vectors::Sparse(_)) && self.loss == Loss::default();
                let of_all = match is_sparse && weights.len() > C_SAMPLES {
                    true => select_on_held_out(&made.phi, chosen, self.near, &solver, monitor)?,
                    false => None,
                };
                let found = of_all.map_or_else(
                    || {
                        let phi = Block::of(&made.phi)?;
                        choose_c(phi, chosen, self.near, (self.loss, intercept), (seed, threads), monitor)
                    },
                    Ok,
                )?;
                clock.end("choose C")?;
                found
            }
        };
        let costs = chosen_c.costs(&weights, labels.classes().len())?;
        if self.loss == Loss::SquaredError {
            solve_squared(Block::of(&made.phi)?, chosen, &mut chosen_c, intercept, threads, monitor)?;
        }
        let solver = Solver { start: chosen_c.start.take(), ..solver };
        let mut solution = solver.solve(&made.phi, &labels, &costs, monitor)?;
        clock.end_solved("solve")?;
        let validation = match chosen_c.validation.take() {
            Some(validation) => validation,
            None => {
                let bases = made.bases_of_rows(&distinct);
                let all = FitOnAll {
                    phi: &made.phi,
                    samples: chosen,
                    costs: &costs,
                    own_features: &|row| {
                        bases.get(&row).map_or_else(Vec::new, |&at| made.expansion.features_of_basis(at))
                    },
                    is_basis: &|row| bases.contains_key(&row),
                };
                let scores = held_out_scores(&all, &solver, seed, monitor)?;
                clock.end("hold out")?;
                Validation { scores, method: EstimateMethod::HeldOut, fold_sums: Vec::new() }
            }
        };
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

        solution.report.stages = clock.stages;
        let (notes, warnings) = made.expansion.remarks();
        solution.report.notes.extend(notes);
        solution.report.warnings.extend(warnings.into_iter().chain(made.chosen.warning));
        let calibration = validation.assess(&mut solution.report, &labels, &distinct.weights, &units);
        solution.report.notes.extend(weighed.into_iter().chain(pruned).chain(chosen_c.note.take()));
        Ok(BasisExpansionSvc {
            expansion: made.expansion,
            basis: made.basis,
            basis_rows: made.chosen.rows,
            c: chosen_c.c,
            path: chosen_c.path,
            loss: self.loss,
            penalty: self.penalty,
            intercept: solution.intercept,
            classes: labels.classes().to_vec(),
            weights: solution.weights,
            intercepts: solution.intercepts,
            report: solution.report,
            decision: OnceLock::new(),
            origin: Origin::of(training).labeled(&labels).calibrated(calibration),
        })
    }
}

impl<S: Similarity> fmt::Debug for BasisExpansionParams<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BasisExpansionParams")
            .field("similarity", &self.expander.similarity.spec())
            .field("n_basis", &self.expander.n_basis)
            .field("C", &self.c)
            .finish_non_exhaustive()
    }
}
