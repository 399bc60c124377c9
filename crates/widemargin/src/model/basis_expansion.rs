//! The basis expansion SVM: a large-margin classifier for any similarity at the cost of a linear one.
//!
//! Aghazadeh & Carlsson, *Large Scale, Large Margin Classification using Indefinite Similarity Measures*: samples are
//! compared with a few bases, the similarities normalised ([`BasisExpansion`]), and a linear SVM trained on them by
//! Newton's method in the primal ([`newton`]).

use std::fmt;

use super::BasisExpansionSvc;
use super::clock::Clock;
use crate::basis::{self, Bases, BasisChoice};
use crate::data::{ClassWeight, DenseMatrix, Labels, Samples, Source, Training, effective_weights};
use crate::error::{Error, Result};
use crate::expansion::{BasisExpansion, Normalization};
use crate::problem::{Block, Intercept, LinearObjective, OneVsRest, SmoothLoss};
use crate::similarity::Similarity;
use crate::solve::newton::{self, NewtonSettings};
use crate::watch::Watch;

/// Parameters of a basis expansion SVM, with their defaults.
#[derive(Clone)]
pub struct BasisExpansionParams<S: Similarity> {
    similarity: S,
    n_basis: usize,
    basis: BasisChoice,
    given: Option<S::Samples>,
    normalization: Normalization,
    c: f64,
    loss: SmoothLoss,
    intercept: Intercept,
    class_weight: ClassWeight,
    tol: f64,
    max_iter: u32,
    seed: u64,
    threads: usize,
}

impl<S: Similarity> BasisExpansionParams<S> {
    /// The defaults for a similarity: 1,000 bases evenly spaced in each class, the mean-norm normalization, C = 1,
    /// squared hinge, an intercept that is not penalised, a relative duality gap of 0.001, one thread a core.
    pub fn new(similarity: S) -> Self {
        BasisExpansionParams {
            similarity,
            n_basis: 1000,
            basis: BasisChoice::Index,
            given: None,
            normalization: Normalization::MeanNorm,
            c: 1.0,
            loss: SmoothLoss::SquaredHinge,
            intercept: Intercept::Free,
            class_weight: ClassWeight::Uniform,
            tol: 1e-3,
            max_iter: 100,
            seed: 0,
            threads: 0,
        }
    }

    /// How many bases. Where there are fewer samples, all are used and the report says so.
    pub fn n_basis(self, n_basis: usize) -> Self {
        BasisExpansionParams { n_basis, ..self }
    }

    /// How bases are chosen among the training samples.
    pub fn basis(self, basis: BasisChoice) -> Self {
        BasisExpansionParams { basis, ..self }
    }

    /// Samples to be the bases, in place of training samples.
    pub fn bases(self, bases: S::Samples) -> Self {
        BasisExpansionParams { given: Some(bases), ..self }
    }

    /// What is done to the similarities before they are features.
    pub fn normalization(self, normalization: Normalization) -> Self {
        BasisExpansionParams { normalization, ..self }
    }

    /// The weight C of the losses in ½‖w‖² + C Σ loss; above 0.
    pub fn c(self, c: f64) -> Self {
        BasisExpansionParams { c, ..self }
    }

    /// The loss.
    pub fn loss(self, loss: SmoothLoss) -> Self {
        BasisExpansionParams { loss, ..self }
    }

    /// What is done about a constant in the decision function.
    pub fn intercept(self, intercept: Intercept) -> Self {
        BasisExpansionParams { intercept, ..self }
    }

    /// How much the samples of each class count.
    pub fn class_weight(self, class_weight: ClassWeight) -> Self {
        BasisExpansionParams { class_weight, ..self }
    }

    /// The relative duality gap at which a two-class problem counts as solved; in (0, 1).
    pub fn tol(self, tol: f64) -> Self {
        BasisExpansionParams { tol, ..self }
    }

    /// The most Newton steps.
    pub fn max_iter(self, max_iter: u32) -> Self {
        BasisExpansionParams { max_iter, ..self }
    }

    /// Seed of the choice of bases, where that is by chance.
    pub fn seed(self, seed: u64) -> Self {
        BasisExpansionParams { seed, ..self }
    }

    /// Threads, 0 meaning one a core. The result does not depend on it.
    pub fn threads(self, threads: usize) -> Self {
        BasisExpansionParams { threads, ..self }
    }

    /// Checks the parameters without fitting.
    ///
    /// # Errors
    /// [`Error::Parameter`] naming the first that is outside its domain.
    pub fn check(&self) -> Result<()> {
        let wrong =
            |name, value: String, expected: &str| Err(Error::Parameter { name, value, expected: expected.to_owned() });
        if !(self.c > 0.0 && self.c.is_finite()) {
            return wrong("C", self.c.to_string(), "a finite number above 0");
        }
        if !(self.tol > 0.0 && self.tol < 1.0) {
            return wrong("tol", self.tol.to_string(), "a relative duality gap between 0 and 1, such as 0.001");
        }
        if self.max_iter == 0 {
            return wrong("max_iter", "0".into(), "at least 1");
        }
        if self.n_basis == 0 {
            return wrong("n_basis", "0".into(), "at least 1");
        }
        Ok(())
    }

    /// Trains on samples and their labels.
    ///
    /// # Errors
    /// See [`BasisExpansionParams::fit_with`].
    pub fn fit(self, samples: &dyn Source<Samples = S::Samples>, labels: &Labels) -> Result<BasisExpansionSvc<S>> {
        self.fit_with(samples, labels, None, &Watch::none())
    }

    /// Trains with a weight a sample (weight k is k copies) and a watch.
    ///
    /// Not converging is a status in the report and a warning there, not an error.
    ///
    /// # Errors
    /// Parameters, labels or samples that cannot be used, each saying which and what would be right;
    /// [`Error::Memory`] where the features do not fit; [`Error::Cancelled`] where the watch was.
    pub fn fit_with(
        mut self,
        samples: &dyn Source<Samples = S::Samples>,
        labels: &Labels,
        sample_weight: Option<&[f64]>,
        watch: &Watch<'_>,
    ) -> Result<BasisExpansionSvc<S>> {
        self.check()?;
        labels.check(samples.n_samples())?;
        let weights = effective_weights(labels, sample_weight, &self.class_weight)?;
        let training = Training { samples, weights: &weights, threads: self.threads, watch };
        let mut clock = Clock::start(watch);

        self.similarity.fit(&training)?;
        clock.end("descriptor")?;

        let (bases, chosen) = self.choose_bases(&training, labels)?;
        clock.end("bases")?;

        let (expansion, phi) = BasisExpansion::fit(self.similarity, bases, self.normalization, &training)
            .map_err(|error| error.of_bases(&chosen.rows))?;
        clock.end("similarity")?;

        let costs: Vec<f64> = weights.iter().map(|weight| self.c * weight).collect();
        let solver = Solver {
            loss: self.loss,
            intercept: self.intercept,
            settings: NewtonSettings {
                tol: self.tol,
                max_iter: self.max_iter,
                threads: self.threads,
                ..NewtonSettings::default()
            },
        };
        let solution = solver.solve(&phi, labels, &costs, watch)?;
        clock.end("solve")?;

        let mut report = solution.report(clock.stages, &solver.settings);
        report.warnings.extend(chosen.warning);
        Ok(BasisExpansionSvc {
            expansion,
            basis: if chosen.rows.is_empty() { "given".into() } else { self.basis.to_string() },
            basis_rows: chosen.rows,
            c: self.c,
            loss: self.loss,
            intercept: self.intercept,
            classes: labels.classes().to_vec(),
            weights: solution.weights,
            intercepts: solution.intercepts,
            report,
        })
    }

    fn choose_bases(&mut self, training: &Training<'_, S::Samples>, labels: &Labels) -> Result<(S::Samples, Bases)> {
        if let Some(given) = self.given.take() {
            if given.is_empty() {
                let expected = "at least one sample".into();
                return Err(Error::Parameter { name: "bases", value: "none".into(), expected });
            }
            return Ok((given, Bases { rows: Vec::new(), warning: None }));
        }
        let choice = if self.similarity.brings_columns() {
            // Any sample tells how many columns there are.
            BasisChoice::Given(vec![training.weights.iter().position(|weight| *weight > 0.0).unwrap_or(0)])
        } else {
            self.basis.clone()
        };
        let (codes, n_classes) = (labels.codes(), labels.classes().len());
        let chosen = basis::choose(&choice, self.n_basis, codes, n_classes, self.seed, &self.similarity, training)?;
        Ok((training.samples.select(&chosen.rows)?, chosen))
    }
}

/// The linear SVM on the features.
struct Solver {
    loss: SmoothLoss,
    intercept: Intercept,
    settings: NewtonSettings,
}

impl Solver {
    fn solve(
        &self,
        phi: &DenseMatrix<f32>,
        labels: &Labels,
        costs: &[f64],
        watch: &Watch<'_>,
    ) -> Result<newton::NewtonSolution> {
        let targets = OneVsRest::new(labels.codes(), labels.classes().len());
        let block = Block::from(phi.view()?);
        let threads = self.settings.threads;
        let mut objective = LinearObjective::new(&[block], targets, costs, self.loss, self.intercept, threads)?;
        newton::solve(&mut objective, &self.settings, None, watch)
    }
}

impl<S: Similarity> fmt::Debug for BasisExpansionParams<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BasisExpansionParams")
            .field("similarity", &self.similarity.spec())
            .field("n_basis", &self.n_basis)
            .field("C", &self.c)
            .finish_non_exhaustive()
    }
}
