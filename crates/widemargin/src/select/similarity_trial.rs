//! Candidates on some of the samples, judged by leave-one-out in closed form.

use std::ops::Range;

use super::candidate::{Candidate, common_normalization, compares, name_of, scale_of, widens, with_scale};
use super::relevance::column_weights;
use super::time_left::Work;
use super::usual_candidates::{candidates_for, linear_model};
use crate::data::{AnySamples, ClassWeight, Distinct, Labels, Source, Vectors, WeightedCodes, effective_weights};
use crate::error::{Error, Result};
use crate::instant::Instant;
use crate::model::{BasisExpansionParams, choose_rows};
use crate::monitor::{Monitor, Stopped};
use crate::par::Pool;
use crate::parameters::List;
use crate::problem::{Block, Intercept, Loss, OneVsRest, count};
use crate::similarity::AnySimilarity;
use crate::solve::thin_plate::{Comparison, Problems, leave_one_out_path, leave_one_out_ridge};

/// Samples on which candidates are compared, and their bases: a difference of 1 % in loss is significant there.
pub(super) const SAMPLES: usize = 1000;
pub(super) const BASES: usize = 500;

/// Candidates whose losses differ by less than this on every sample are one.
const ALIKE: f64 = 1e-4;

/// Steps of a factor of two by which a scale may be changed.
const SCALE_STEPS: usize = 3;

/// A candidate whose loss is beyond this multiple of the least is not pursued.
pub(super) const WITHIN: f64 = 1.25;

/// Up to this many samples, equal ones are merged first: it takes a pass over all.
const MERGED_UP_TO: usize = 10_000;

/// Similarities to join, and the part of the loss that each must save.
const MAX_JOINED: usize = 3;
const GAIN: f64 = 0.01;

/// Standard errors from which a difference of losses is clear.
pub(super) const CLEAR_DIFFERENCE: f64 = 2.0;

/// A candidate of a multiple of the cost must save this part of the loss, or lower the error by this much.
pub(super) const WORTH: f64 = 0.1;
const WORTH_OF_ERROR: f64 = 0.005;

/// From this number of two-class problems on, features of a part of the samples are judged by ridge regression, which
/// has one matrix for all problems.
const PROBLEMS_FOR_RIDGE: usize = 3;

/// Weights of columns are learned from the labels of all samples, including the one that leave-one-out leaves out: from
/// this number of samples on that makes no difference, on fewer pure noise seems informative.
const MIN_ROWS_TO_WEIGH: usize = 300;

/// The maximum number of columns with weights, for the length of a line of a report.
const MAX_WEIGHTED: usize = 100;

/// The evaluation of a candidate.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// With learned values.
    pub candidate: Candidate,
    /// The number of samples.
    pub n_samples: usize,
    /// The number of bases.
    pub n_basis: usize,
    /// λ at the least loss, in units of the mean squared norm of the centered features.
    pub lambda: Option<f64>,
    /// The least mean leave-one-out squared hinge on the path of C, or the reason of a failure.
    pub loss: std::result::Result<f64, String>,
    /// The standard error of that loss: of a mean over samples.
    pub standard_error: Option<f64>,
    /// The share of the samples that are misclassified when left out, there.
    pub error: Option<f64>,
    /// The loss of the fit that has these leave-one-out decision values.
    pub fitted: Loss,
    /// Wall-clock seconds.
    pub seconds: f64,
}

/// A candidate with its λ, as in [`Tried`].
pub(super) type Finalist = (Candidate, Option<f64>);

/// The common settings of all candidates of a search.
#[derive(Clone, Debug)]
pub(super) struct TrialSettings {
    pub intercept: Intercept,
    pub class_weight: ClassWeight,
    pub seed: u64,
    pub threads: usize,
}

/// All samples, each once if there are not too many to compare: weights then are copies.
pub(super) struct All<'a> {
    samples: &'a dyn Source<Samples = AnySamples>,
    /// The caller's rows.
    rows: Vec<usize>,
    labels: Labels,
    /// Effective weights.
    pub weights: Vec<f64>,
    /// The part of each weight that leave-one-out removes.
    units: Vec<f64>,
}

impl<'a> All<'a> {
    pub fn new(
        samples: &'a dyn Source<Samples = AnySamples>,
        labels: &Labels,
        sample_weight: Option<&[f64]>,
        settings: &TrialSettings,
        monitor: &Monitor<'_>,
    ) -> Result<Self> {
        let effective = effective_weights(labels, sample_weight, &settings.class_weight)?;
        let merged = WeightedCodes { codes: labels.codes(), weights: sample_weight, effective: &effective };
        let merges = effective.len() <= MERGED_UP_TO;
        let prints = |rows: &[usize]| if merges { samples.fingerprints(rows) } else { Ok(None) };
        let distinct = Distinct::find(prints, merged, 0, settings.threads, monitor)?;
        let (labels, weights) = distinct.labeled(labels, &settings.class_weight)?;
        let units = distinct.removed_weights(&weights);
        Ok(All { samples, rows: distinct.rows, labels, weights, units })
    }
}

/// The leave-one-out losses of each sample for a candidate; empty where it failed.
#[derive(Clone, Debug, Default)]
struct Judged {
    /// The squared hinge, averaged over the problems.
    losses: Vec<f64>,
    /// 1 where the sample is misclassified, the share of the wrong labels for multilabel targets.
    mistakes: Vec<f64>,
    /// Whether a fit on all samples compares none of them with bases.
    is_cheap: bool,
    /// Whether features are dense, and not unchanged columns.
    is_described: bool,
}

/// The samples and the candidates that were tried on them.
pub(super) struct Trial<'a> {
    settings: &'a TrialSettings,
    samples: AnySamples,
    pub labels: Labels,
    weights: Vec<f64>,
    units: Vec<f64>,
    /// How many independent samples these are.
    n_copies: f64,
    pool: Pool,
    pub monitor: &'a Monitor<'a>,
    pub tried: Vec<Tried>,
    judged: Vec<Judged>,
    /// Where the next path begins.
    pub near: Option<f64>,
    /// Whether a support vector machine is solved at that λ alone, where there is one: λ has no units, so that it is
    /// much the same on other samples of the same kind.
    pub stays: bool,
    /// Whether there are more samples: joined similarities then share the number of features of one, so that they are
    /// compared at the same cost.
    pub is_part: bool,
    /// The caller's rows.
    rows: Vec<usize>,
    /// For the progress: the work done and expected, and the cost of a candidate here.
    pub work: Work,
    pub cost: f64,
    /// The error of a candidate: the first, or one that would need too much memory.
    pub problem: Option<Error>,
}

impl<'a> Trial<'a> {
    /// On at most `n_wanted` of the samples, the same for the same seed.
    pub fn on(all: &All<'_>, n_wanted: usize, settings: &'a TrialSettings, monitor: &'a Monitor<'a>) -> Result<Self> {
        let All { samples, rows: callers, labels, weights, units } = all;
        let rows = choose_rows(labels, weights, n_wanted.min(weights.len()), settings.seed);
        let picked: Vec<usize> = rows.iter().map(|&row| callers[row]).collect();
        Ok(Trial {
            settings,
            labels: labels.present(&rows),
            weights: rows.iter().map(|&row| weights[row]).collect(),
            units: rows.iter().map(|&row| units[row]).collect(),
            n_copies: rows.iter().map(|&row| count(weights[row], units[row])).sum(),
            is_part: rows.len() < weights.len(),
            samples: samples.select(&picked)?,
            pool: Pool::new(settings.threads)?,
            monitor,
            near: None,
            stays: false,
            rows: picked,
            work: Work::default(),
            cost: 1.0,
            problem: None,
            tried: Vec::new(),
            judged: Vec::new(),
        })
    }

    /// Tries a candidate and returns its place; none once the time is up, unless it is the first.
    pub fn run(&mut self, candidate: Candidate, n_basis: usize) -> Result<Option<usize>> {
        let targets = OneVsRest::of(&self.labels);
        let has_many = self.is_part && targets.n_problems() >= PROBLEMS_FOR_RIDGE && targets.is_even();
        let fitted = if has_many { Loss::SquaredError } else { Loss::SquaredHinge };
        Ok(self.run_with(candidate, n_basis, &[fitted])?.map(|places| places.start))
    }

    /// The same by fits of losses in turn, the squared hinge or the squared one; the places of all, of one where there
    /// are no features.
    fn run_with(&mut self, candidate: Candidate, n_basis: usize, losses: &[Loss]) -> Result<Option<Range<usize>>> {
        if !self.tried.is_empty() && self.monitor.ask() == Err(Stopped::TimeLimit) {
            return Ok(None);
        }
        self.monitor.go_on("similarity search")?;
        match self.try_in_turn(candidate, n_basis, losses) {
            Err(Error::TooShort { .. }) if !self.tried.is_empty() => Ok(None),
            places => places.map(Some),
        }
    }

    /// The places of a candidate by fits of some losses.
    fn try_in_turn(&mut self, mut candidate: Candidate, n_basis: usize, losses: &[Loss]) -> Result<Range<usize>> {
        let (mut start, first) = (Instant::now(), self.tried.len());
        match self.expand(&mut candidate, n_basis) {
            Err(error) => {
                let found = (losses[0], Err(error));
                self.store(candidate, n_basis, found, start.elapsed().as_secs_f64())?;
            }
            Ok(features) => {
                for &fitted in losses {
                    let found = (fitted, self.judge(&candidate, &features, fitted));
                    self.store(candidate.clone(), n_basis, found, start.elapsed().as_secs_f64())?;
                    start = Instant::now();
                }
            }
        }
        Ok(first..self.tried.len())
    }

    /// Stores the evaluation of a candidate.
    fn store(
        &mut self,
        candidate: Candidate,
        n_basis: usize,
        (fitted, found): (Loss, Result<(Judged, f64)>),
        seconds: f64,
    ) -> Result<()> {
        let (judged, lambda, problem) = match found {
            Err(error @ (Error::Cancelled { .. } | Error::TooShort { .. })) => return Err(error),
            Err(problem) => {
                let problem = problem.of_rows(&self.rows);
                let message = problem.to_string();
                let is_worse = matches!(problem, Error::Memory { .. });
                if self.problem.is_none() || is_worse {
                    self.problem = Some(problem);
                }
                (Judged::default(), None, message)
            }
            Ok((judged, lambda)) => (judged, Some(lambda), String::new()),
        };
        let loss = mean_and_error(&judged.losses, &self.weights, self.n_copies);
        self.tried.push(Tried {
            candidate,
            n_samples: self.labels.len(),
            n_basis,
            lambda,
            loss: loss.map(|(mean, _)| mean).ok_or(problem),
            standard_error: loss.map(|(_, error)| error),
            error: lambda.map(|_| self.error_of(&judged.mistakes)),
            fitted,
            seconds,
        });
        // Features are alike enough for λ to be near that of the last: it has no units.
        self.near = lambda.or(self.near);
        self.judged.push(judged);
        self.work.add(self.cost);
        self.monitor.tell(self.work.progress("similarity search"));
        Ok(())
    }

    /// The share of samples that are misclassified, for multilabel targets of the known labels.
    fn error_of(&self, mistakes: &[f64]) -> f64 {
        let wrong: f64 = mistakes.iter().zip(&self.weights).map(|(mistake, weight)| mistake * weight).sum();
        wrong / OneVsRest::of(&self.labels).total(&self.weights)
    }

    /// The first candidate is tried beyond the time of a search, but not beyond the time limit of all.
    fn quiet(&self) -> Monitor<'a> {
        let quiet = self.monitor.without_progress();
        if self.tried.is_empty() { quiet.without_time_limit() } else { quiet }
    }

    /// The features of a candidate, which gets the values that it learns.
    fn expand(&self, candidate: &mut Candidate, n_basis: usize) -> Result<Vectors> {
        let params = BasisExpansionParams::new(AnySimilarity::new(&candidate.similarity)?)
            .normalization(candidate.normalization)
            .n_basis(n_basis)
            .seed(self.settings.seed)
            .threads(self.settings.threads);
        let expanded = params.expand_vectors(&self.samples, Some(&self.labels), &self.quiet())?;
        candidate.similarity = expanded.expansion.similarity().specs();
        Ok(expanded.features)
    }

    /// The leave-one-out losses, and λ where they are least.
    fn judge(&self, candidate: &Candidate, features: &Vectors, fitted: Loss) -> Result<(Judged, f64)> {
        let quiet = self.quiet();
        let targets = OneVsRest::of(&self.labels);
        let problems = Problems { targets, weights: &self.weights, units: &self.units };
        let (phi, intercept, k) = (Block::of(features)?, self.settings.intercept, targets.n_problems());
        let (left_out, lambda) = if fitted == Loss::SquaredError {
            let found = leave_one_out_ridge(phi, &problems, self.near, intercept, &self.pool, &quiet)?;
            (found.loo_values, found.lambda)
        } else {
            let comparison = Comparison { near: self.near, stays: self.stays, is_single: self.is_part };
            let best = leave_one_out_path(phi, &problems, comparison, intercept, &self.pool, &quiet)?.best;
            (best.loo_values, best.point.lambda)
        };
        if left_out.is_empty() {
            return Err(Error::parameter("C", "auto", "a problem that can be solved at some C of the path"));
        }
        let hinge = |sample: usize, problem: usize| {
            let slack = 1.0 - targets.sign(sample, problem) * left_out[problem][sample];
            targets.weight(sample, problem) * slack.max(0.0).powi(2)
        };
        let loss = |sample: usize| (0..k).map(|problem| hinge(sample, problem)).sum::<f64>() / k as f64;
        let scores = |sample: usize| left_out.iter().map(|values| values[sample]).collect::<Vec<f64>>();
        let mistake = |sample: usize| targets.mistakes(sample, &scores(sample));
        let n = self.weights.len();
        let judged = Judged {
            losses: (0..n).map(loss).collect(),
            mistakes: (0..n).map(mistake).collect(),
            is_cheap: !compares(candidate)?,
            is_described: matches!(phi, Block::Dense(_)) && name_of(candidate) != "features",
        };
        Ok((judged, lambda))
    }

    /// The default candidates.
    pub fn candidates(&self) -> Vec<Candidate> {
        let mut all = candidates_for(&self.samples, self.is_part);
        let differences;
        let vectors = match &self.samples {
            AnySamples::Vectors(vectors) => Some(vectors),
            AnySamples::Far(vectors) => {
                differences = Vectors::Dense(vectors.differences().clone());
                Some(&differences)
            }
            _ => None,
        };
        if let Some(vectors) = vectors {
            if let Vectors::Dense(matrix) = vectors
                && (2..=MAX_WEIGHTED).contains(&matrix.n_cols)
                && matrix.n_rows >= MIN_ROWS_TO_WEIGH
            {
                let weights = List(column_weights(matrix, &self.labels, &self.weights));
                let weighted = |name: &str| Candidate::usual(&format!("z-score:weights={weights}/{name}"));
                all.insert(0, weighted("laplacian"));
                all.push(weighted("rbf"));
            }
            if self.is_part {
                // On many samples a linear model without bases costs next to nothing.
                all.retain(|candidate| name_of(candidate).split('/').next_back() != Some("linear"));
                all.insert(0, linear_model(vectors));
            }
        }
        all
    }

    pub fn loss(&self, at: usize) -> f64 {
        self.tried[at].loss.as_ref().copied().unwrap_or(f64::INFINITY)
    }

    /// The seconds of the candidate that took longest.
    pub fn seconds(&self) -> f64 {
        self.tried.iter().map(|tried| tried.seconds).fold(0.0, f64::max)
    }

    /// The candidates that could be tried, by ascending loss.
    pub fn ranked(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.tried.len()).filter(|&at| self.tried[at].loss.is_ok()).collect();
        order.sort_by(|&a, &b| self.loss(a).total_cmp(&self.loss(b)));
        order
    }

    /// The mean difference of the losses of two candidates, and its standard error.
    fn difference(&self, one: &[f64], other: &[f64]) -> Option<(f64, f64)> {
        let more: Vec<f64> = one.iter().zip(other).map(|(a, b)| a - b).collect();
        mean_and_error(&more, &self.weights, self.n_copies)
    }

    /// Whether a loss is above the least one by at most this number of standard errors of their difference.
    pub fn is_within(&self, at: usize, least: usize, standard_errors: f64) -> bool {
        let more = self.difference(&self.judged[at].losses, &self.judged[least].losses);
        more.is_some_and(|(mean, error)| mean <= standard_errors * error)
    }

    /// Whether a fit on all samples compares none of them with bases.
    pub fn is_cheap(&self, at: usize) -> bool {
        self.judged[at].is_cheap
    }

    /// Whether a loss is within one standard error of the least one.
    pub fn is_level(&self, at: usize, least: usize) -> bool {
        self.is_within(at, least, 1.0)
    }

    /// Whether one misclassifies enough fewer samples than another to be worth a multiple of the time, beyond this
    /// number of standard errors.
    fn corrects_beyond(&self, better: usize, other: usize, standard_errors: f64) -> bool {
        let fewer = self.difference(&self.judged[other].mistakes, &self.judged[better].mistakes);
        fewer.is_some_and(|(mean, error)| mean > standard_errors * error && mean >= WORTH_OF_ERROR)
    }

    /// Whether one that costs a multiple of another is clearly better and worth it: by a part of the loss, or by the
    /// number of misclassified samples.
    pub fn is_worth(&self, better: usize, other: usize) -> bool {
        let corrects = self.corrects_beyond(better, other, 1.0);
        !self.is_within(other, better, CLEAR_DIFFERENCE)
            && (corrects || self.loss(better) <= self.loss(other) * (1.0 - WORTH))
    }

    /// Whether the squared loss suits a candidate that was judged by it: dense features of a descriptor.
    pub fn may_be_squared(&self, candidate: &Candidate) -> bool {
        let is_same = |tried: &Tried| tried.candidate == *candidate && tried.fitted == Loss::SquaredError;
        let found = self.tried.iter().rposition(is_same).map(|at| &self.judged[at]);
        found.is_some_and(|judged| judged.is_cheap && judged.is_described)
    }

    /// The loss of a fit on all samples: the squared loss, unless the squared hinge, whose fit costs a multiple,
    /// misclassifies clearly fewer of these samples. Losses are no criterion here: one of the two fits has minimized
    /// the squared hinge.
    pub fn choose_loss(&mut self, candidate: &Candidate, n_basis: usize) -> Result<Option<Loss>> {
        let losses = [Loss::SquaredError, Loss::SquaredHinge];
        let places = self.run_with(candidate.clone(), n_basis, &losses)?;
        let both = places.filter(|places| places.len() == losses.len());
        let is_worth = both.is_some_and(|both| self.corrects_beyond(both.start + 1, both.start, CLEAR_DIFFERENCE));
        Ok((!is_worth).then_some(Loss::SquaredError))
    }

    /// The difference of the errors of two candidates.
    pub fn corrects(&self, better: usize, other: usize) -> f64 {
        let error = |at: usize| self.tried[at].error.unwrap_or(f64::NAN);
        error(other) - error(better)
    }

    /// Whether two candidates have the same loss on each sample, such as z-scores of series that are z-scores already.
    pub fn are_alike(&self, one: usize, other: usize) -> bool {
        let (one, other) = (&self.judged[one].losses, &self.judged[other].losses);
        !one.is_empty() && one.len() == other.len() && one.iter().zip(other).all(|(a, b)| (a - b).abs() < ALIKE)
    }

    /// The first candidate within one standard error of the least loss; where there are more samples, also one without
    /// bases than which it is not worth more.
    pub fn preferred(&self) -> Option<usize> {
        let ranked = self.ranked();
        let least = *ranked.first()?;
        let is_enough = |at: usize| {
            self.is_part && self.judged[at].is_cheap && !self.judged[least].is_cheap && !self.is_worth(least, at)
        };
        ranked.into_iter().filter(|&at| self.is_level(at, least) || is_enough(at)).min()
    }

    /// A candidate with its λ.
    pub fn finalist(&self, at: usize) -> Finalist {
        (self.tried[at].candidate.clone(), self.tried[at].lambda)
    }

    /// The preferred candidate, and the best of those with other similarities if it is within one standard error of
    /// the best of all.
    pub fn finalists(&self) -> Vec<Finalist> {
        let Some(preferred) = self.preferred() else { return Vec::new() };
        let (ranked, mine) = (self.ranked(), &self.tried[preferred].candidate);
        // Similarities joined to the preferred one have helped little if at all.
        let is_other = |theirs: &Candidate| {
            name_of(theirs) != name_of(mine) && !mine.similarity.iter().all(|spec| theirs.similarity.contains(spec))
        };
        let is_rival = |at: &usize| self.is_level(*at, ranked[0]) && is_other(&self.tried[*at].candidate);
        let rival = ranked.iter().copied().find(is_rival);
        [preferred].into_iter().chain(rival).map(|at| self.finalist(at)).collect()
    }

    /// Of the candidates with the same similarity but for its scale, the one with the least loss.
    pub fn best_scale(&self, at: usize) -> usize {
        let open = |at: usize| with_scale(&self.tried[at].candidate, 1.0);
        let same = self.ranked().into_iter().find(|&other| open(other) == open(at));
        same.unwrap_or(at)
    }

    /// The candidates whose loss is near the least, by ascending loss.
    pub fn near_least(&self) -> Vec<usize> {
        let ranked = self.ranked();
        let Some(least) = ranked.first().map(|&at| self.loss(at)) else { return Vec::new() };
        ranked.into_iter().filter(|&at| self.loss(at) <= WITHIN * least).collect()
    }

    /// At most `most` candidates within one standard error of the least loss, by ascending loss.
    pub fn level_with_least(&self, most: usize) -> Vec<usize> {
        let ranked = self.ranked();
        let is_level = |&at: &usize| self.is_level(at, ranked[0]);
        ranked.iter().copied().filter(is_level).take(most).collect()
    }

    /// Changes the scales of candidates while that helps, those that double the time while they save a tenth.
    pub fn climb(&mut self, followed: &[usize]) -> Result<()> {
        for &start in followed {
            let Some(scale) = scale_of(&self.tried[start].candidate) else { continue };
            let n_basis = self.tried[start].n_basis;
            self.near = self.tried[start].lambda;
            for factor in [2.0, 0.5] {
                let mut best = start;
                for step in 1..=SCALE_STEPS {
                    let candidate = with_scale(&self.tried[start].candidate, scale * f64::powi(factor, step as i32));
                    let Some(at) = self.run(candidate, n_basis)? else { return Ok(()) };
                    let before = self.loss(best);
                    if self.loss(at) >= before {
                        break;
                    }
                    best = at;
                    if factor > 1.0 && widens(&self.tried[at].candidate) && self.loss(at) > before * (1.0 - WORTH) {
                        break;
                    }
                }
                if best != start {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Joins the next best similarities of the same normalization to the best while that helps.
    pub fn join(&mut self) -> Result<()> {
        let ranked = self.ranked();
        let Some(&first) = ranked.first() else { return Ok(()) };
        let (mut best, mut joined) = (first, vec![name_of(&self.tried[first].candidate)]);
        for &other in &ranked[1..] {
            if joined.len() > MAX_JOINED || self.loss(other) > WITHIN * self.loss(first) {
                break;
            }
            let (mine, theirs) = (self.tried[best].candidate.clone(), self.tried[other].candidate.clone());
            // Neighbors in scale add nothing.
            if joined.contains(&name_of(&theirs)) {
                continue;
            }
            let Some(normalization) = common_normalization(&mine, &theirs)? else { continue };
            // Sparse rows with similarities would take many times as long on many samples.
            if self.is_part && compares(&mine)? != compares(&theirs)? {
                continue;
            }
            let similarity = [mine.similarity, theirs.similarity.clone()].concat();
            let joined_candidate = Candidate { similarity, normalization };
            let n_parts = joined_candidate.similarity.len();
            let n_basis = if self.is_part { BASES / n_parts } else { self.tried[best].n_basis };
            let Some(at) = self.run(joined_candidate, n_basis)? else { break };
            joined.push(name_of(&theirs));
            if self.loss(at) >= self.loss(best) * (1.0 - GAIN) {
                break;
            }
            best = at;
        }
        Ok(())
    }
}

/// A weighted mean, and its standard error for this number of samples.
pub(super) fn mean_and_error(values: &[f64], weights: &[f64], n: f64) -> Option<(f64, f64)> {
    let total: f64 = weights.iter().sum();
    let sum = |of: &dyn Fn(f64) -> f64| -> f64 { values.iter().zip(weights).map(|(x, weight)| weight * of(*x)).sum() };
    let mean = sum(&|x| x) / total;
    let variance = sum(&|x| (x - mean).powi(2)) / total;
    (!values.is_empty() && mean.is_finite()).then(|| (mean, (variance / n).sqrt()))
}
