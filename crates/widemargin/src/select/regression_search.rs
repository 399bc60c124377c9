//! Selection of the similarity of a regression: candidates on some of the samples, judged by the leave-one-out squared
//! error, whatever the loss of the fit.
//!
//! A candidate is a similarity with its normalization, as for classes (`similarity_search.rs`), on at most 400 samples
//! with all of them as bases. Of kernels, definite or conditionally so, ridge regression needs the matrix between the
//! samples alone, and one decomposition of it; other similarities are fitted. Without candidates of the caller, the
//! same search on half of these samples first finds which candidates are promising. The gamma of the best kernels
//! follows the error in factors of two while a step is worth it, then to the vertex of the parabola through the best
//! and its neighbors.
//!
//! Of a table the columns are weighted next, by the scales that make the targets most likely (`column_scales.rs`),
//! which bring their gamma: where scales of their own make the targets so much more likely than one scale of all
//! columns that chance hardly explains it. The error alone is not enough: weights that were learned from the same
//! samples lower it even where they are worse.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::candidate::{Candidate, follows_scales, name_of, scale_of, with_scale};
use super::column_scales::{Difference, Likely, Scales, Table};
use super::similarity_trial::mean_and_error;
use super::usual_candidates::candidates_for;
use crate::data::{About, AnySamples, DenseMatrix, Distinct, Source, Targets, Training, Vectors, WeightedCodes};
use crate::error::{Error, Result};
use crate::expansion::{BasisExpansion, NegativeEigenvalues, Normalization};
use crate::instant::Instant;
use crate::linalg::factor::Matrix;
use crate::model::{BasisExpansionRegressorParams, RegressionSelection, StandardTargets};
use crate::monitor::{Monitor, Stopped};
use crate::parameters::List;
use crate::similarity::{AnySimilarity, Similarity};
use crate::solve::ridge::{Fitted, Ridge};

/// Samples on which candidates are compared.
const SAMPLES: usize = 400;

/// Samples of a first look, where there are more than one and a half times as many: an eighth of the time of one at
/// twice as many. Its promising candidates are compared on all samples of the search.
const FIRST_LOOK: usize = 200;

/// Similarities whose scale is followed, if their mean squared error is within this multiple of the least.
const FOLLOWED: usize = 2;
const WITHIN: f64 = 1.5;

/// Steps of a factor of two by which a scale may be changed in one direction.
const SCALE_STEPS: usize = 8;

/// Evaluations of the likelihood for the scale of all columns, for those of each, and for those from the ones of the
/// first look.
const TIED_EVALUATIONS: usize = 15;
const EVALUATIONS: usize = 50;
const FURTHER_EVALUATIONS: usize = 20;

/// The logarithm of the odds for scales of their own, against one of all columns, above which they are selected by
/// likelihood: 20 to 1.
const STRONG: f64 = 3.0;

/// The noise from which scales of columns are learned, in units of the amplitude.
const NOISE: f64 = 0.1;

/// The part of the error by which a step of a scale must lower it for another to be worth its time: a fraction of the
/// standard error of the error itself.
const MIN_GAIN: f64 = 0.01;

/// Standard errors of the difference by which weights must lower the error.
const CLEAR_DIFFERENCE: f64 = 2.0;

/// The numbers of columns for which weights are tried.
const COLUMNS: std::ops::RangeInclusive<usize> = 2..=100;

/// The part of the time limit that a search may take.
const TIME: f64 = 0.5;

/// The evaluation of a candidate.
#[derive(Clone, Debug, PartialEq)]
pub struct TriedRegression {
    /// With learned values.
    pub candidate: Candidate,
    /// The number of samples.
    pub n_samples: usize,
    /// R² of the leave-one-out predictions at the best C of the path, or the reason of a failure.
    pub loo_r2: std::result::Result<f64, String>,
    /// Wall-clock seconds.
    pub seconds: f64,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct RegressionChoice {
    /// The candidate with the least error.
    pub best: Candidate,
    /// All that were tried, in order.
    pub tried: Vec<TriedRegression>,
}

/// A search for the similarity of a regression.
#[derive(Clone, Debug, Default)]
pub struct RegressionSearch {
    /// The candidates; if empty, the default ones for the kind of samples.
    pub candidates: Vec<Candidate>,
    /// The normalization of all candidates; without one that of each.
    pub normalization: Option<Normalization>,
    /// Seed of the samples on which candidates are compared.
    pub seed: u64,
    /// Number of threads, 0 meaning one per core. The result does not depend on it.
    pub threads: usize,
}

impl RegressionChoice {
    /// The parameters with the best candidate.
    ///
    /// # Errors
    /// As for [`AnySimilarity::new`].
    pub fn apply<S: Similarity>(
        &self,
        params: BasisExpansionRegressorParams<S>,
    ) -> Result<BasisExpansionRegressorParams<AnySimilarity>> {
        let similarity = AnySimilarity::new(&self.best.similarity)?;
        Ok(params.with_similarity(similarity).normalization(self.best.normalization))
    }

    /// The candidates that were tried, in a line, the best first; `None` if there are none.
    pub fn summary(&self) -> Option<String> {
        // Not those of the first look.
        let n_samples = self.tried.last()?.n_samples;
        let mut ranked: Vec<&TriedRegression> =
            self.tried.iter().filter(|tried| tried.n_samples == n_samples).collect();
        let r2 = |tried: &TriedRegression| tried.loo_r2.as_ref().copied().unwrap_or(f64::NEG_INFINITY);
        ranked.sort_by(|a, b| r2(b).total_cmp(&r2(a)));
        let one = |tried: &&TriedRegression| {
            let named = format!("{} ({})", tried.candidate.similarity.join(" + "), tried.candidate.normalization);
            match &tried.loo_r2 {
                Ok(r2) => format!("{named} {r2:.4}"),
                Err(problem) => format!("{named} failed: {problem}"),
            }
        };
        let results: Vec<String> = ranked.iter().map(one).collect();
        Some(format!(
            "R² of leave-one-out predictions by the squared loss on {n_samples} samples: {}",
            results.join(", ")
        ))
    }
}

impl RegressionSearch {
    /// The search for the automatic parameters: the similarity if there are no specs, and the normalization if it is
    /// `None`. A single similarity gets its usual normalization or the mean norm; several the mean norm.
    pub fn of<S: Similarity>(
        params: &BasisExpansionRegressorParams<S>,
        specs: &[String],
        normalization: Option<Normalization>,
    ) -> Self {
        let candidates = Candidate::of_specs(specs, normalization);
        RegressionSearch { candidates, normalization, seed: params.expander.seed, threads: params.threads }
    }

    /// Searches. A single candidate is returned without a trial. The search takes half of the time that is left and
    /// then ends with the best so far; the first candidate is always tried.
    ///
    /// # Errors
    /// Invalid targets and weights; [`Error::Parameter`] if no candidate could be tried, with the reasons;
    /// [`Error::Cancelled`].
    pub fn choose(
        &self,
        samples: &dyn Source<Samples = AnySamples>,
        targets: &Targets,
        sample_weight: Option<&[f64]>,
        monitor: &Monitor<'_>,
    ) -> Result<RegressionChoice> {
        let weights = targets.weights(samples.n_samples(), sample_weight)?;
        let samples = &About::new(samples, &weights)?;
        if let [only] = &self.candidates[..] {
            let best = Candidate { normalization: self.normalization.unwrap_or(only.normalization), ..only.clone() };
            return Ok(RegressionChoice { best, tried: Vec::new() });
        }
        let monitor = &monitor.with_strict_limit().with_part_of_time(TIME);
        // Once a candidate has been tried, no other one may take the time of the fit.
        let limited = &monitor.with_strict_limit();
        let weighted = (targets, &weights[..], sample_weight);
        let mut trial = Trial::new(self, samples, weighted, SAMPLES, monitor)?;
        let mut candidates = match &self.candidates[..] {
            [] => candidates_for(&trial.samples, trial.rows.len() < samples.n_samples()),
            candidates => candidates.to_vec(),
        };
        if let Some(normalization) = self.normalization {
            candidates.iter_mut().for_each(|candidate| candidate.normalization = normalization);
        }
        let is_open = self.candidates.is_empty();
        let mut tried = Vec::new();
        let mut learned = Vec::new();
        let mut best_of_look = None;
        if is_open && 2 * trial.rows.len() > 3 * FIRST_LOOK {
            let mut look = Trial::new(self, samples, weighted, FIRST_LOOK, monitor)?;
            look.explore(candidates.clone())?;
            let promising = look.promising();
            if !promising.is_empty() {
                learned = look.learn_columns(&[])?;
                best_of_look = promising.first().cloned();
                (candidates, tried) = (promising, look.tried);
                trial.monitor = limited;
            }
        }
        match (trial.explore(candidates), best_of_look) {
            (Err(Error::TooShort { .. }), Some(best)) => return Ok(RegressionChoice { best, tried }),
            (explored, _) => explored?,
        }
        if is_open {
            trial.weigh_columns(&learned)?;
        }
        let Some(best) = trial.preferred() else {
            let reason = |tried: &TriedRegression| {
                let problem = tried.loo_r2.as_ref().err().map_or("", String::as_str);
                format!("{}: {problem}", tried.candidate.similarity.join(" "))
            };
            let reasons: Vec<String> = trial.tried.iter().map(reason).collect();
            let is_requested = !self.candidates.is_empty();
            return match trial.problem {
                Some(error) if is_requested || matches!(error, Error::Memory { .. }) => Err(error),
                _ => {
                    let expected = format!("a candidate that can be tried: {}", reasons.join("; "));
                    Err(Error::parameter("similarity", "auto", expected))
                }
            };
        };
        let best = trial.tried[best].candidate.clone();
        tried.extend(trial.tried);
        Ok(RegressionChoice { best, tried })
    }
}

/// The samples and the candidates that were tried on them.
struct Trial<'a> {
    search: &'a RegressionSearch,
    samples: AnySamples,
    /// The caller's rows.
    rows: Vec<usize>,
    targets: Targets,
    standard: StandardTargets,
    weights: Vec<f64>,
    /// The part of each weight that leave-one-out removes.
    units: Vec<f64>,
    monitor: &'a Monitor<'a>,
    tried: Vec<TriedRegression>,
    /// The squared leave-one-out error of each sample, the mean over the outputs, for each that was tried; empty where
    /// it failed.
    losses: Vec<Vec<f64>>,
    /// Scales of the columns by kernel, where they are likely.
    learned: Vec<ColumnLikelihood>,
    problem: Option<Error>,
}

/// The scales of the columns by the likelihood of a kernel.
struct ColumnLikelihood {
    kernel: &'static str,
    /// One scale of all columns.
    tied: Likely,
    /// One of each.
    each: Likely,
    /// Whether the odds are for one of each.
    is_likely: bool,
    n_samples: usize,
}

impl ColumnLikelihood {
    /// By how much scales of their own raise the logarithm of the likelihood.
    fn gain(&self) -> f64 {
        self.tied.cost - self.each.cost
    }

    /// The kernel on weighted columns, the largest weight 1.
    fn spec(&self) -> String {
        let scales = &self.each.scales.columns;
        let largest = scales.iter().copied().fold(0.0, f64::max);
        let weight = |scale: &f64| {
            let share = scale / largest;
            let weight = if self.kernel == "rbf" { share.sqrt() } else { share };
            ((1000.0 * weight).round() / 1000.0) as f32
        };
        let weights = List(scales.iter().map(weight).collect());
        format!("z-score:weights={weights}/{}:gamma={}", self.kernel, rounded(largest))
    }
}

impl<'a> Trial<'a> {
    fn new(
        search: &'a RegressionSearch,
        samples: &dyn Source<Samples = AnySamples>,
        (targets, effective, sample_weight): (&Targets, &[f64], Option<&[f64]>),
        most: usize,
        monitor: &'a Monitor<'a>,
    ) -> Result<Self> {
        let mut rows: Vec<usize> = (0..effective.len()).filter(|&row| effective[row] > 0.0).collect();
        let is_whole = rows.len() <= most;
        if !is_whole {
            rows.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(search.seed));
            rows.truncate(most);
            rows.sort_unstable();
        }
        // Equal samples are merged, so that each is a basis once.
        let codes = targets.of_rows(&rows).codes();
        let weights: Vec<f64> = rows.iter().map(|&row| effective[row]).collect();
        let merged = WeightedCodes { codes: &codes, weights: sample_weight.map(|_| &weights[..]), effective: &weights };
        let prints = |some: &[usize]| samples.fingerprints(&some.iter().map(|&at| rows[at]).collect::<Vec<_>>());
        let distinct = Distinct::find(prints, merged, 0, search.threads, monitor)?;
        let rows: Vec<usize> = distinct.rows.iter().map(|&at| rows[at]).collect();
        let targets = targets.of_rows(&rows);
        let standard = StandardTargets::new(&targets, &distinct.weights, true)?;
        Ok(Trial {
            search,
            samples: samples.select(&rows)?,
            rows,
            targets,
            standard,
            units: distinct.removed_weights(&distinct.weights),
            weights: distinct.weights,
            monitor,
            tried: Vec::new(),
            losses: Vec::new(),
            learned: Vec::new(),
            problem: None,
        })
    }

    /// Tries candidates, and follows the scales of the best where no candidate has one.
    fn explore(&mut self, candidates: Vec<Candidate>) -> Result<()> {
        for candidate in candidates {
            self.run(candidate)?;
        }
        if follows_scales(&self.search.candidates) { self.climb() } else { Ok(()) }
    }

    /// The best of each name whose error is near the least: a few.
    fn promising(&self) -> Vec<Candidate> {
        let ranked = self.ranked();
        let least = ranked.first().map_or(0.0, |&first| self.error(first));
        let (mut found, mut names): (Vec<Candidate>, Vec<String>) = (Vec::new(), Vec::new());
        for at in ranked.into_iter().filter(|&at| self.error(at) <= WITHIN * least) {
            let candidate = &self.tried[at].candidate;
            let name = name_of(candidate);
            if names.len() < FOLLOWED && !names.contains(&name) {
                names.push(name);
                found.push(candidate.clone());
            }
        }
        found
    }

    /// Tries a candidate and returns its place; none once the time is up, unless it is the first.
    fn run(&mut self, candidate: Candidate) -> Result<Option<usize>> {
        if !self.tried.is_empty() && self.monitor.ask() == Err(Stopped::TimeLimit) {
            return Ok(None);
        }
        self.monitor.go_on("similarity search")?;
        let (start, mut learned) = (Instant::now(), candidate);
        let (left_out, problem) = match self.left_out(&mut learned) {
            Err(Error::TooShort { .. }) if !self.tried.is_empty() => return Ok(None),
            Err(error @ (Error::Cancelled { .. } | Error::TooShort { .. })) => return Err(error),
            Err(problem) => {
                let problem = problem.of_rows(&self.rows);
                let message = problem.to_string();
                if self.problem.is_none() || matches!(problem, Error::Memory { .. }) {
                    self.problem = Some(problem);
                }
                (None, message)
            }
            Ok(left_out) => (Some(left_out), String::new()),
        };
        let (loo_r2, losses) = match &left_out {
            None => (Err(problem), Vec::new()),
            Some(values) => {
                let (k, total) = (values.n_cols(), self.weights.iter().sum::<f64>());
                let square =
                    |row: usize, output: usize| (self.standard.values.at(row, output) - values.at(row, output)).powi(2);
                let mean = |output| {
                    let squares = (0..self.rows.len()).map(|row| self.weights[row] * square(row, output));
                    squares.sum::<f64>() / total
                };
                let of_row = |row| (0..k).map(|output| square(row, output)).sum::<f64>() / k as f64;
                let r2 = self.standard.r2(&(0..k).map(mean).collect::<Vec<f64>>());
                (Ok(r2), (0..self.rows.len()).map(of_row).collect())
            }
        };
        let (n_samples, seconds) = (self.rows.len(), start.elapsed().as_secs_f64());
        self.tried.push(TriedRegression { candidate: learned, n_samples, loo_r2, seconds });
        self.losses.push(losses);
        Ok(Some(self.tried.len() - 1))
    }

    /// The leave-one-out predictions of the standardized targets at the best C.
    fn left_out(&self, candidate: &mut Candidate) -> Result<Matrix> {
        let quiet = self.monitor.without_progress().without_time_limit();
        let mut similarity = AnySimilarity::new(&candidate.similarity)?;
        let is_kernel = candidate.similarity.len() == 1 && similarity.compares() && !similarity.brings_columns();
        let is_definite = matches!(
            candidate.normalization,
            Normalization::Nystroem(NegativeEigenvalues::Clip) | Normalization::Centered(NegativeEigenvalues::Clip)
        );
        if !(is_kernel && is_definite && similarity.is_symmetric(0) && similarity.n_polynomials() == 0) {
            let params = BasisExpansionRegressorParams::new(similarity)
                .normalization(candidate.normalization)
                .n_basis(self.rows.len())
                .threads(self.search.threads);
            let (model, values) =
                params.fit_leave_one_out(&self.samples, &self.targets, Some(&self.weights), &quiet)?;
            candidate.similarity = model.expansion().similarity().specs();
            let mut standard = values;
            for output in 0..standard.n_cols() {
                let (mean, scale) = (self.standard.means[output], self.standard.scales[output]);
                standard.col_mut(output).iter_mut().for_each(|value| *value = (*value - mean) / scale);
            }
            return Ok(standard);
        }
        let training =
            Training { samples: &self.samples, weights: &self.weights, threads: self.search.threads, monitor: &quiet };
        similarity.fit(&training)?;
        candidate.similarity = similarity.specs();
        let block = BasisExpansion::raw(&similarity, self.samples.clone())?;
        let (n, threads) = (self.rows.len(), self.search.threads);
        let values = match block.has_double_precision(0)? {
            true => block.precise_similarities(0, &self.samples, threads, &quiet)?,
            false => {
                let single = block.transform_with(&self.samples, threads, &quiet)?;
                single.values.into_iter().map(f64::from).collect()
            }
        };
        let kernel = Matrix::from_columns(values, n, n);
        let (targets, weights) = (self.standard.values.clone(), self.weights.clone());
        let fitted = Fitted { targets, weights, units: self.units.clone() };
        let not_finite = || Error::NotFinite { what: "a similarity".into(), value: f64::NAN };
        let constant = Matrix::from_columns(vec![1.0; n], n, 1);
        let ridge = Ridge::of_kernel(kernel, constant, fitted).ok_or_else(not_finite)?;
        let chosen = RegressionSelection::of(Default::default(), &self.standard, ridge.spectrum(), |lambdas| {
            Ok(ridge.leave_one_out(lambdas))
        })?;
        Ok(ridge.loo_values(chosen.lambda))
    }

    /// 1 − R².
    fn error(&self, at: usize) -> f64 {
        self.tried[at].loo_r2.as_ref().map_or(f64::INFINITY, |r2| 1.0 - r2)
    }

    /// The candidates that could be tried, the best first.
    fn ranked(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.tried.len()).filter(|&at| self.tried[at].loo_r2.is_ok()).collect();
        order.sort_by(|&a, &b| self.error(a).total_cmp(&self.error(b)));
        order
    }

    /// Whether the error of one is smaller beyond chance.
    fn is_better(&self, one: usize, other: usize) -> bool {
        let less: Vec<f64> = self.losses[other].iter().zip(&self.losses[one]).map(|(a, b)| a - b).collect();
        mean_and_error(&less, &self.weights, self.weights.iter().sum())
            .is_some_and(|(mean, error)| mean > CLEAR_DIFFERENCE * error)
    }

    /// Follows the scales of the best similarities while the error falls.
    fn climb(&mut self) -> Result<()> {
        let ranked = self.ranked();
        let Some(&first) = ranked.first() else { return Ok(()) };
        let mut names = Vec::new();
        for start in ranked {
            let name = name_of(&self.tried[start].candidate);
            if names.len() == FOLLOWED || self.error(start) > WITHIN * self.error(first) {
                break;
            }
            if scale_of(&self.tried[start].candidate).is_some() && !names.contains(&name) {
                names.push(name);
                self.follow(start)?;
            }
        }
        Ok(())
    }

    /// Follows the scale from a candidate, and returns the best.
    fn follow(&mut self, start: usize) -> Result<usize> {
        let mut best = start;
        // The errors at twice and at half the scale of the best, where they are known.
        let mut neighbors = [None; 2];
        for (side, factor) in [2.0, 0.5].into_iter().enumerate() {
            for _ in 0..SCALE_STEPS {
                let before = self.error(best);
                let (at, better) = self.with_scale_times(best, factor)?;
                if better {
                    neighbors[1 - side] = Some(before);
                    best = at;
                } else {
                    neighbors[side] = Some(self.error(at));
                }
                if self.error(at) > before * (1.0 - MIN_GAIN) {
                    break;
                }
            }
            if best != start {
                break;
            }
        }
        let [Some(above), Some(below)] = neighbors else { return Ok(best) };
        let here = self.error(best);
        // The parabola through −1, 0 and 1: its vertex, and how far below the middle that is.
        let (slope, bend) = (0.5 * (above - below), above + below - 2.0 * here);
        if 0.5 * slope * slope < MIN_GAIN * here * bend || !bend.is_finite() {
            return Ok(best);
        }
        let (at, better) = self.with_scale_times(best, (-slope / bend).exp2())?;
        Ok(if better { at } else { best })
    }

    /// Tries another scale: its place, and whether it is better; the place itself once the time is up.
    fn with_scale_times(&mut self, from: usize, factor: f64) -> Result<(usize, bool)> {
        let candidate = &self.tried[from].candidate;
        let Some(scale) = scale_of(candidate).filter(|_| factor != 1.0) else { return Ok((from, false)) };
        let candidate = with_scale(candidate, rounded(scale * factor));
        let at = self.run(candidate)?.unwrap_or(from);
        Ok((at, self.error(at) < self.error(from)))
    }

    /// The scales of columns that make the targets most likely, for both kernels of distances; after a first look, from
    /// the scales found there, and only where the same evidence per sample is enough on all.
    fn learn_columns(&self, before: &[ColumnLikelihood]) -> Result<Vec<ColumnLikelihood>> {
        let matrix = match &self.samples {
            AnySamples::Vectors(Vectors::Dense(matrix)) => matrix,
            AnySamples::Far(vectors) => vectors.differences(),
            _ => return Ok(Vec::new()),
        };
        if !COLUMNS.contains(&matrix.n_cols) {
            return Ok(Vec::new());
        }
        let (columns, n) = (standardized(matrix, &self.weights), self.rows.len() as f64);
        // By the Bayesian information criterion each parameter more costs ½ log n.
        let n_varying = columns.iter().filter(|column| !is_constant(column)).count();
        let penalty = 0.5 * (n_varying as f64 - 1.0) * n.ln();
        let mut found = Vec::new();
        for (kernel, difference) in [("rbf", Difference::Squared), ("laplacian", Difference::Absolute)] {
            self.monitor.go_on("similarity search")?;
            if self.monitor.ask().is_err() {
                break;
            }
            let known = before.iter().find(|known| known.kernel == kernel);
            let is_hopeless = |known: &ColumnLikelihood| known.gain() * n / known.n_samples as f64 - penalty <= STRONG;
            if known.map_or(!before.is_empty(), is_hopeless) {
                continue;
            }
            let table = Table { columns: &columns, targets: &self.standard.values, weights: &self.weights, difference };
            let go_on = || match self.monitor.ask() {
                Err(Stopped::TimeLimit) => Err(Error::TooShort { stage: "similarity search", needs: 0.0 }),
                _ => self.monitor.go_on("similarity search"),
            };
            let in_time = |found| match found {
                Err(Error::TooShort { .. }) => Ok(None),
                found => found,
            };
            let first = || Scales { columns: vec![0.5 / columns.len() as f64; columns.len()], noise: NOISE };
            let start = known.map_or_else(first, |known| known.tied.scales.clone());
            let Some(tied) = in_time(table.likely(&start, true, TIED_EVALUATIONS, go_on))? else { continue };
            let (start, most) = match known {
                Some(known) => (&known.each.scales, FURTHER_EVALUATIONS),
                None => (&tied.scales, EVALUATIONS),
            };
            let Some(mut each) = in_time(table.likely(start, false, most, go_on))? else { continue };
            for (scale, _) in each.scales.columns.iter_mut().zip(&columns).filter(|(_, column)| is_constant(column)) {
                *scale = 0.0;
            }
            let is_likely = tied.cost - each.cost - penalty > STRONG;
            found.push(ColumnLikelihood { kernel, tied, each, is_likely, n_samples: self.rows.len() });
        }
        Ok(found)
    }

    /// Tries weights of columns where these are likely.
    fn weigh_columns(&mut self, before: &[ColumnLikelihood]) -> Result<()> {
        self.learned = self.learn_columns(before)?;
        self.learned.retain(|learned| learned.is_likely);
        let specs: Vec<String> = self.learned.iter().map(ColumnLikelihood::spec).collect();
        for spec in specs {
            self.run(Candidate::usual(&spec))?;
        }
        Ok(())
    }

    /// The best candidate; of two kernels with weights of columns the likelier, unless the other has less error beyond
    /// chance.
    fn preferred(&self) -> Option<usize> {
        let weighted_for = |at: usize| {
            let name = name_of(&self.tried[at].candidate);
            self.learned.iter().find(|of| is_weighted(&self.tried[at].candidate) && name.ends_with(of.kernel))
        };
        let ranked = self.ranked();
        let best = ranked.first().copied()?;
        let Some(own) = weighted_for(best) else { return Some(best) };
        let is_likelier = |at: &usize| weighted_for(*at).is_some_and(|of| of.each.cost < own.each.cost - STRONG);
        let other = ranked.iter().copied().find(is_likelier);
        Some(other.filter(|&other| !self.is_better(best, other)).unwrap_or(best))
    }
}

/// The columns with mean 0 and variance 1; a constant one is 0.
fn standardized(matrix: &DenseMatrix<f32>, weights: &[f64]) -> Vec<Vec<f64>> {
    let total: f64 = weights.iter().sum();
    let mean = |values: &[f64]| values.iter().zip(weights).map(|(x, weight)| weight / total * x).sum::<f64>();
    let one = |column: usize| {
        let mut values: Vec<f64> =
            matrix.values.iter().skip(column).step_by(matrix.n_cols).map(|x| f64::from(*x)).collect();
        if is_constant(&values) {
            return vec![0.0; values.len()];
        }
        let center = mean(&values);
        values.iter_mut().for_each(|x| *x -= center);
        let spread = mean(&values.iter().map(|x| x * x).collect::<Vec<f64>>()).sqrt();
        values.iter_mut().for_each(|x| *x /= spread);
        values
    };
    (0..matrix.n_cols).map(one).collect()
}

fn is_constant(values: &[f64]) -> bool {
    values.iter().all(|x| *x == values[0])
}

/// Whether columns are weighted in it.
fn is_weighted(candidate: &Candidate) -> bool {
    candidate.similarity[0].contains(":weights=")
}

/// With four digits, which a spec can be read with.
fn rounded(scale: f64) -> f64 {
    format!("{scale:.3e}").parse().unwrap_or(scale)
}
