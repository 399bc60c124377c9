//! Some of the samples, on which candidates are judged by the samples that are left out, in closed form.
//!
//! The loss of a sample is its squared hinge, averaged over the two-class problems, or its squared error, averaged over
//! the outputs, of the fit with all samples of the subset as bases.

use std::borrow::Cow;

use super::candidate::{Candidate, SimilaritySearch, compares, name_of};
use super::usual_candidates::{candidates_for, has_heavy_tails, linear_model};
use crate::data::{
    AnySamples, ClassWeight, DenseMatrix, Distinct, Labels, Source, Targets, Vectors, WeightedCodes, effective_weights,
};
use crate::error::{Error, Result};
use crate::expansion::{NegativeEigenvalues, Normalization};
use crate::model::{BasisExpansionParams, BasisExpansionRegressorParams, StandardTargets, choose_rows, draw_rows};
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::parameters::List;
use crate::problem::{Block, Loss, OneVsRest, count, typical_weight};
use crate::search::{LeftOut, mean_and_error};
use crate::similarity::AnySimilarity;
use crate::solve::thin_plate::{PathOptions, Problems, fit_squared, leave_one_out_path};
use crate::tuning::{MAX_MERGED_SAMPLES, MIN_RIDGE_PROBLEMS, SELECTION_SAMPLES, SELECTION_TARGETS};

const FLIPPED: Normalization = Normalization::Centered(NegativeEigenvalues::Flip);

/// The labels of a classification, or the targets of a regression.
#[derive(Clone, Debug)]
pub enum Answers<'a> {
    /// One class or set of labels for each sample.
    Labels(Cow<'a, Labels>),
    /// Numbers for each sample.
    Targets(Cow<'a, Targets>),
}

impl<'a> From<&'a Labels> for Answers<'a> {
    fn from(labels: &'a Labels) -> Self {
        Answers::Labels(Cow::Borrowed(labels))
    }
}

impl<'a> From<&'a Targets> for Answers<'a> {
    fn from(targets: &'a Targets) -> Self {
        Answers::Targets(Cow::Borrowed(targets))
    }
}

impl Answers<'_> {
    /// Those of some rows.
    #[doc(hidden)]
    pub fn select(&self, rows: &[usize]) -> Answers<'static> {
        match self {
            Answers::Labels(labels) => Answers::Labels(Cow::Owned(labels.select(rows))),
            Answers::Targets(targets) => Answers::Targets(Cow::Owned(targets.of_rows(rows))),
        }
    }

    /// The effective weights of the samples.
    ///
    /// # Errors
    /// Another number of answers than of samples; invalid weights.
    pub(super) fn weights(
        &self,
        n_samples: usize,
        sample_weight: Option<&[f64]>,
        class_weight: &ClassWeight,
    ) -> Result<Vec<f64>> {
        match self {
            Answers::Labels(labels) => {
                labels.check(n_samples)?;
                effective_weights(labels, sample_weight, class_weight)
            }
            Answers::Targets(targets) => targets.weights(n_samples, sample_weight),
        }
    }

    fn codes(&self) -> Cow<'_, [u32]> {
        match self {
            Answers::Labels(labels) => Cow::Borrowed(labels.codes()),
            Answers::Targets(targets) => Cow::Owned(targets.codes()),
        }
    }
}

/// Similarities with the number of bases they were tried with.
#[derive(Clone, Debug, PartialEq)]
pub struct SimilarityPoint {
    /// The similarities, with learned values.
    pub candidate: Candidate,
    /// The number of bases; `None` where all samples are bases, as for a regression.
    pub n_basis: Option<usize>,
    /// λ at the least loss, in units of the mean squared norm of the centered features; `None` for a regression.
    pub lambda: Option<f64>,
    /// The loss of the fit that has these leave-one-out decision values.
    pub fitted: Loss,
    /// Whether a fit on all samples compares none of them with bases.
    pub(super) is_cheap: bool,
    /// Whether features are dense, and not unchanged columns.
    pub(super) is_described: bool,
}

impl SimilarityPoint {
    /// What has not been tried yet.
    pub(super) fn new(candidate: Candidate, n_basis: Option<usize>, fitted: Loss) -> Self {
        SimilarityPoint { candidate, n_basis, lambda: None, fitted, is_cheap: false, is_described: false }
    }
}

/// All samples, each once if there are not too many to compare: weights then are copies.
pub(super) struct All<'a> {
    search: &'a SimilaritySearch,
    samples: &'a dyn Source<Samples = AnySamples>,
    /// The caller's rows.
    rows: Vec<usize>,
    answers: Answers<'static>,
    /// Effective weights.
    weights: Vec<f64>,
    /// The part of each weight that leave-one-out removes.
    units: Vec<f64>,
}

impl<'a> All<'a> {
    /// Whether samples are rows of a table.
    pub fn are_vectors(&self) -> Result<bool> {
        Ok(matches!(self.samples.select(&self.rows[..1])?, AnySamples::Vectors(_) | AnySamples::Far(_)))
    }

    pub fn new(
        samples: &'a dyn Source<Samples = AnySamples>,
        answers: &Answers<'_>,
        (effective, sample_weight): (&[f64], Option<&[f64]>),
        search: &'a SimilaritySearch,
        monitor: &Monitor<'_>,
    ) -> Result<Self> {
        let codes = answers.codes();
        let merged = WeightedCodes { codes: &codes, weights: sample_weight, effective };
        // A regression has each sample as a basis, once.
        let merges = effective.len() <= MAX_MERGED_SAMPLES || matches!(answers, Answers::Targets(_));
        let prints = |rows: &[usize]| if merges { samples.fingerprints(rows) } else { Ok(None) };
        let distinct = Distinct::find(prints, merged, 0, search.threads, monitor)?;
        let (answers, weights, units) = match answers {
            Answers::Labels(labels) => {
                let (labels, weights) = distinct.labeled(labels, &search.class_weight)?;
                let units = distinct.removed_weights(&weights);
                (Answers::Labels(Cow::Owned(labels)), weights, units)
            }
            Answers::Targets(targets) => {
                let units = distinct.removed_weights_of_targets(&codes);
                (Answers::Targets(Cow::Owned(targets.of_rows(&distinct.rows))), distinct.weights.clone(), units)
            }
        };
        // C is not a result: a search is the same in any unit of weights.
        let typical = typical_weight(&units);
        let in_units = |weights: Vec<f64>| weights.into_iter().map(|weight| weight / typical).collect();
        let (weights, units) = (in_units(weights), in_units(units));
        Ok(All { search, samples, rows: distinct.rows, answers, weights, units })
    }

    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether the answers are labels.
    pub fn has_labels(&self) -> bool {
        matches!(self.answers, Answers::Labels(_))
    }

    /// The number of samples on which candidates are compared, if there are as many.
    pub fn n_compared(&self) -> usize {
        if self.has_labels() { SELECTION_SAMPLES } else { SELECTION_TARGETS }
    }
}

/// What the samples of a subset are judged by.
pub(super) enum Judge {
    Labels(Labels),
    Targets(Targets, StandardTargets),
}

/// Some of the samples, the same for the same seed.
pub(super) struct Subset<'a> {
    pub search: &'a SimilaritySearch,
    pub samples: AnySamples,
    pub judge: Judge,
    pub weights: Vec<f64>,
    pub units: Vec<f64>,
    /// How many independent samples these are.
    n_copies: f64,
    pub pool: Pool,
    /// Whether there are more samples.
    pub is_part: bool,
    /// The caller's rows.
    pub rows: Vec<usize>,
}

impl<'a> Subset<'a> {
    /// At most `n_wanted` of the samples.
    pub fn of(all: &All<'a>, n_wanted: usize) -> Result<Self> {
        let (n_wanted, search) = (n_wanted.min(all.len()), all.search);
        let rows = match &all.answers {
            Answers::Labels(labels) => choose_rows(labels, &all.weights, n_wanted, search.seed),
            Answers::Targets(_) => draw_rows(&all.weights, n_wanted, search.seed),
        };
        let of_rows = |all: &[f64]| rows.iter().map(|&row| all[row]).collect::<Vec<f64>>();
        let (weights, units) = (of_rows(&all.weights), of_rows(&all.units));
        let judge = match &all.answers {
            Answers::Labels(labels) => Judge::Labels(labels.present(&rows)),
            Answers::Targets(targets) => {
                let targets = targets.of_rows(&rows);
                let standard = StandardTargets::new(&targets, (&weights, &units), true)?;
                Judge::Targets(targets, standard)
            }
        };
        let picked: Vec<usize> = rows.iter().map(|&row| all.rows[row]).collect();
        Ok(Subset {
            search,
            samples: all.samples.select(&picked)?,
            judge,
            n_copies: weights.iter().zip(&units).map(|(weight, unit)| count(*weight, *unit)).sum(),
            weights,
            units,
            pool: Pool::new(search.threads)?,
            is_part: rows.len() < all.len(),
            rows: picked,
        })
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether the answers are labels.
    pub fn has_labels(&self) -> bool {
        matches!(self.judge, Judge::Labels(_))
    }

    /// A candidate to try with this number of bases, by the fit that suits the answers.
    pub fn point(&self, candidate: Candidate, n_basis: usize) -> SimilarityPoint {
        match &self.judge {
            Judge::Targets(..) => SimilarityPoint::new(candidate, None, Loss::SquaredError),
            Judge::Labels(labels) => {
                let targets = OneVsRest::of(labels);
                let has_many = self.is_part && targets.n_problems() >= MIN_RIDGE_PROBLEMS && targets.is_even();
                let fitted = if has_many { Loss::SquaredError } else { Loss::SquaredHinge };
                SimilarityPoint::new(candidate, Some(n_basis), fitted)
            }
        }
    }

    /// The losses of the samples left out, by a path that begins `near` a λ, or where it `stays`.
    pub fn leave_out(
        &self,
        point: &mut SimilarityPoint,
        (near, stays): (Option<f64>, bool),
        quiet: &Monitor<'_>,
    ) -> Result<LeftOut> {
        match &self.judge {
            Judge::Labels(labels) => {
                let features = self.expand(point, labels, quiet)?;
                self.by_hinge(point, labels, &features, (near, stays), quiet)
            }
            Judge::Targets(targets, standard) => self.by_squares(&mut point.candidate, targets, standard, quiet),
        }
    }

    /// The features of a candidate, which gets the values that it learns.
    pub fn expand(&self, point: &mut SimilarityPoint, labels: &Labels, quiet: &Monitor<'_>) -> Result<Vectors> {
        let Candidate { similarity, normalization } = &point.candidate;
        let params = BasisExpansionParams::new(AnySimilarity::new(similarity)?)
            .normalization(*normalization)
            .n_basis(point.n_basis.unwrap_or(self.len()))
            .seed(self.search.seed)
            .threads(self.search.threads);
        let expanded = params.expand_vectors(&self.samples, Some(labels), quiet)?;
        point.candidate.similarity = expanded.expansion.similarity().specs();
        Ok(expanded.features)
    }

    /// The leave-one-out squared hinges, where their mean is least on the path.
    pub fn by_hinge(
        &self,
        point: &mut SimilarityPoint,
        labels: &Labels,
        features: &Vectors,
        (near, stays): (Option<f64>, bool),
        quiet: &Monitor<'_>,
    ) -> Result<LeftOut> {
        let targets = OneVsRest::of(labels);
        let problems = Problems { targets, weights: &self.weights, units: &self.units };
        let (phi, intercept, k) = (Block::of(features)?, self.search.intercept, targets.n_problems());
        let best = if point.fitted == Loss::SquaredError {
            let path = PathOptions { near, is_short: true, ..PathOptions::default() };
            fit_squared(phi, &problems, path, intercept, &self.pool, quiet)?.outcome.best
        } else {
            let path = PathOptions { near, stays, ..PathOptions::default() };
            leave_one_out_path(phi, &problems, (path, self.is_part), intercept, &self.pool, quiet)?.best
        };
        let (left_out, lambda) = (best.loo_values, best.point.lambda);
        if left_out.is_empty() {
            return Err(Error::parameter("C", "auto", "a problem that can be solved at some C of the path"));
        }
        let hinge = |sample: usize, problem: usize| {
            let slack = 1.0 - targets.sign(sample, problem) * left_out[problem][sample];
            targets.weight(sample, problem) * slack.max(0.0).powi(2)
        };
        let loss = |sample: usize| (0..k).map(|problem| hinge(sample, problem)).sum::<f64>() / k as f64;
        let scores = |sample: usize| left_out.iter().map(|values| values[sample]).collect::<Vec<f64>>();
        let losses: Vec<f64> = (0..self.len()).map(loss).collect();
        let mistakes: Vec<f64> = (0..self.len()).map(|sample| targets.mistakes(sample, &scores(sample))).collect();
        point.lambda = Some(lambda);
        point.is_cheap = !compares(&point.candidate)?;
        point.is_described = matches!(phi, Block::Dense(_)) && name_of(&point.candidate) != "features";
        let mean = mean_and_error(&losses, &self.weights, self.n_copies);
        let wrong: f64 = mistakes.iter().zip(&self.weights).map(|(mistake, weight)| mistake * weight).sum();
        Ok(LeftOut {
            loss: mean.map(|(mean, _)| mean).ok_or_else(String::new),
            standard_error: mean.map(|(_, error)| error),
            error: Some(wrong / targets.total(&self.weights)),
            losses,
            mistakes,
        })
    }

    /// The squared errors of leave-one-out predictions at the best C, of standardized targets.
    fn by_squares(
        &self,
        candidate: &mut Candidate,
        targets: &Targets,
        standard: &StandardTargets,
        quiet: &Monitor<'_>,
    ) -> Result<LeftOut> {
        let params = BasisExpansionRegressorParams::new(AnySimilarity::new(&candidate.similarity)?)
            .normalization(candidate.normalization)
            .n_basis(self.len())
            .threads(self.search.threads);
        let (model, values) = params.fit_leave_one_out(&self.samples, targets, Some(&self.weights), quiet)?;
        candidate.similarity = model.expansion().similarity().specs();
        let (k, total) = (values.n_cols(), self.weights.iter().sum::<f64>());
        let square = |row: usize, output: usize| (standard.values.at(row, output) - values.at(row, output)).powi(2);
        let mean = |output| (0..self.len()).map(|row| self.weights[row] * square(row, output)).sum::<f64>() / total;
        let of_row = |row| (0..k).map(|output| square(row, output)).sum::<f64>() / k as f64;
        let loss = 1.0 - standard.r2(&(0..k).map(mean).collect::<Vec<f64>>());
        Ok(LeftOut { losses: (0..self.len()).map(of_row).collect(), ..LeftOut::of(Ok(loss), None) })
    }

    /// The mean difference of two losses of each sample, and its standard error; none for losses of other samples.
    pub fn difference(&self, one: &[f64], other: &[f64]) -> Option<(f64, f64)> {
        if one.len() != self.len() {
            return None;
        }
        let more: Vec<f64> = one.iter().zip(other).map(|(a, b)| a - b).collect();
        mean_and_error(&more, &self.weights, self.n_copies)
    }

    /// The samples, if they are a dense table.
    pub fn table(&self) -> Option<&DenseMatrix<f32>> {
        match &self.samples {
            AnySamples::Vectors(Vectors::Dense(matrix)) => Some(matrix),
            AnySamples::Far(vectors) => Some(&vectors.differences),
            _ => None,
        }
    }

    /// Whether columns are weighted by their ranks: those of a table with heavy tails.
    pub fn is_ranked(&self) -> bool {
        self.table().is_some_and(has_heavy_tails)
    }

    /// The default candidates.
    pub fn candidates(&self, column_weights: Option<List>) -> Vec<Candidate> {
        let mut all = candidates_for(&self.samples, self.is_part);
        if !self.has_labels() {
            // Flipped eigenvalues near 0 leave the features of other samples without bound (decision 0013).
            for candidate in all.iter_mut().filter(|candidate| candidate.normalization == FLIPPED) {
                candidate.normalization = Normalization::Centered(NegativeEigenvalues::Clip);
            }
            return all;
        }
        if let Some(weights) = column_weights {
            let ranks = if self.is_ranked() { "normal-scores/" } else { "" };
            let weighted = |name: &str| Candidate::usual(&format!("{ranks}z-score:weights={weights}/{name}"));
            all.insert(0, weighted("laplacian"));
            all.extend(["rbf", "distance"].map(weighted));
        }
        if self.is_part && matches!(self.samples, AnySamples::Vectors(_) | AnySamples::Far(_)) {
            // On many samples a linear model without bases costs next to nothing.
            all.retain(|candidate| name_of(candidate).split('/').next_back() != Some("linear"));
            all.insert(0, linear_model(self.table()));
        }
        all
    }
}
