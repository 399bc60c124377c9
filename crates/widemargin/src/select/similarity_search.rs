//! Which similarity: candidates on some of the samples, judged by leave-one-out in closed form.
//!
//! Of 400 samples and more, a quarter tells which candidates are too far behind to be tried on all of these, and which are
//! the same in effect.
//!
//! A candidate is a similarity, or several, with its normalization. Its features on at most a thousand samples, half of them
//! bases at most, are solved along a path of C, and the least mean leave-one-out squared hinge is its loss. Where a gamma was
//! learned, its neighbours by factors of two follow while the loss falls; then the next best candidates are joined to the
//! best as long as that helps (Aghazadeh & Carlsson, section 3.5), sharing the number of its features where not all samples
//! are bases. The first candidate that cannot be told from the best, by the standard error of their difference, is taken;
//! where there are more samples, it meets the best of other similarities that cannot be told either on a tenth of all, from
//! 2,000 to 4,000, half of them bases: a kernel with a slow spectrum gains less from more bases.
//!
//! There bases are counted too: a half of these samples is compared with a quarter as bases. All samples have a quarter, but not
//! fewer than without a search, unless a half saves a part of the loss that is worth four times the work, by more than the
//! standard error of the difference; then a half. Where it saves a tenth they have twice as many again, which was not tried.
//!
//! A candidate costs about n·B² + n²·B + B³ flops for n samples and B bases, next to its similarities.

use super::relevance::column_weights;
use super::time_left::Work;
use crate::data::{
    AnySamples, ClassWeight, Distinct, Given, Labels, Rows, Samples, Series, Source, Vectors, effective_weights,
};
use crate::error::{Error, Result};
use crate::expansion::{Definite, Normalization};
use crate::instant::Instant;
use crate::model::{BasisExpansionParams, choose_rows};
use crate::monitor::{Monitor, Stopped};
use crate::par::Pool;
use crate::parameters::List;
use crate::problem::OneVsRest;
use crate::problem::{Block, Intercept, Penalty};
use crate::similarity::{AnySimilarity, Similarity, Spec, similarity_rows};
use crate::solve::thin_plate::{PathPoint, Problems, left_out_path};

/// Samples on which candidates are compared, and their bases: a difference of a hundredth in loss is seen there.
const SAMPLES: usize = 1000;
const BASES: usize = 500;

/// From so many samples on, candidates are tried on a part of them first.
const SCREENED_FROM: usize = 400;
const SCREENED_SHARE: usize = 4;

/// Candidates whose losses differ by less than this on every sample are one.
const ALIKE: f64 = 1e-4;

/// What a candidate on a quarter of the samples costs next to one on all of them, and how many are expected to follow those
/// that are listed; both for the progress only.
const SCREENED_COST: f64 = 0.125;
const TO_FOLLOW: f64 = 5.0;

/// Steps of a factor of two by which a learned gamma may be changed.
const GAMMA_STEPS: usize = 3;

/// A candidate whose loss is beyond this multiple of the least is not pursued.
const WITHIN: f64 = 1.25;

/// Up to this many samples, equal ones are merged first: it takes a pass over all.
const MERGED_UP_TO: usize = 10_000;

/// Samples on which bases are counted, a tenth of all within these bounds; with at most half as many bases all samples do.
const SAMPLES_TO_COUNT: (usize, usize) = (2000, 4000);

/// Characters of a string on average from which longer n-grams are tried, and from which they are too many.
const SHORT: usize = 20;
const LONG: usize = 500;

/// Similarities to join, and the part of the loss that each must save.
const MOST_JOINED: usize = 3;
const GAIN: f64 = 0.01;

/// The part of the loss that twice as many bases must save, as the fit then takes four times as long; and that from which on
/// twice as many again are expected to.
const GAIN_OF_BASES: [f64; 2] = [0.03, 0.1];

/// Bases that all samples have at least, if these are half of the samples on which they are counted.
const FEWEST_BASES: usize = 1000;

/// The part of the time limit that a search may take.
const TIME: f64 = 0.5;

/// Deviations of series are the same up to this part of them, and means of less of them 0.
const SAME_SCALE: f64 = 1e-3;

/// Up to this many columns weights of columns are tried: as many as a line of a report can hold.
const MOST_WEIGHTED: usize = 100;

/// Columns whose spreads differ by more than this factor may have different units.
const UNEVEN: f64 = 3.0;

/// Similarities with their normalization.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Specs, side by side.
    pub similarity: Vec<String>,
    /// How they are normalised.
    pub normalization: Normalization,
}

impl Candidate {
    /// A similarity with the normalization that [suits it](usual_normalization).
    pub fn usual(spec: &str) -> Self {
        Candidate { similarity: vec![spec.to_owned()], normalization: usual_normalization(spec) }
    }
}

impl Candidate {
    /// What is tried of given specs: none leave all open; a single similarity gets what suits it or the mean norm, several
    /// the mean norm.
    pub(super) fn of_specs(specs: &[String], normalization: Option<Normalization>) -> Vec<Self> {
        let mean_norm = Candidate { similarity: specs.to_vec(), normalization: Normalization::MeanNorm };
        match (specs, normalization) {
            ([], _) => Vec::new(),
            // The features as they are, times a number, which C makes up for.
            ([spec], None) if usual_normalization(spec) == Normalization::None => vec![Candidate::usual(spec)],
            ([spec], None) if usual_normalization(spec) != Normalization::MeanNorm => {
                vec![Candidate::usual(spec), mean_norm]
            }
            _ => vec![mean_norm],
        }
    }
}

/// What was found of a candidate.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// With learned values.
    pub candidate: Candidate,
    /// The number of samples.
    pub n_samples: usize,
    /// The number of bases.
    pub n_basis: usize,
    /// λ at the least loss, in units of the mean squared norm of the centred features.
    pub lambda: Option<f64>,
    /// The least mean leave-one-out squared hinge on the path of C, or why there is none.
    pub loss: std::result::Result<f64, String>,
    /// The standard error of that loss: of a mean over samples.
    pub standard_error: Option<f64>,
    /// The share of the samples that are misclassified when left out, there.
    pub error: Option<f64>,
    /// Wall-clock seconds.
    pub seconds: f64,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct SimilarityChoice {
    /// The first candidate that cannot be told from the one with the least loss.
    pub best: Candidate,
    /// How many bases, if it was asked; none is all samples.
    pub n_basis: Option<usize>,
    /// λ of the best, as in [`Tried`].
    lambda: Option<f64>,
    /// All that were tried, in order.
    pub tried: Vec<Tried>,
}

/// A search for the similarity.
#[derive(Clone, Debug)]
pub struct SimilaritySearch {
    /// What is tried; empty for what suits the kind of samples.
    pub candidates: Vec<Candidate>,
    /// The normalization of all candidates; without one that of each.
    pub normalization: Option<Normalization>,
    /// Whether the number of bases is chosen too.
    pub counts_bases: bool,
    /// How the intercept is treated.
    pub intercept: Intercept,
    /// The class weights.
    pub class_weight: ClassWeight,
    /// Seed of the samples on which candidates are compared.
    pub seed: u64,
    /// Number of threads, 0 meaning one per core. The result does not depend on it.
    pub threads: usize,
}

impl Default for SimilaritySearch {
    fn default() -> Self {
        let (intercept, class_weight) = (Intercept::Free, ClassWeight::Uniform);
        SimilaritySearch {
            candidates: Vec::new(),
            normalization: None,
            counts_bases: false,
            intercept,
            class_weight,
            seed: 0,
            threads: 0,
        }
    }
}

impl SimilarityChoice {
    /// The parameters with what was found.
    ///
    /// # Errors
    /// As for [`AnySimilarity::new`].
    pub fn apply<S: Similarity>(&self, params: BasisExpansionParams<S>) -> Result<BasisExpansionParams<AnySimilarity>> {
        let similarity = AnySimilarity::new(&self.best.similarity)?;
        let mut params = params.with_similarity(similarity).normalization(self.best.normalization);
        params.near = self.lambda;
        Ok(match self.n_basis {
            Some(n_basis) => params.n_basis(n_basis),
            None => params,
        })
    }

    /// What was tried, in a line: the losses, least first; nothing if nothing was.
    pub fn told(&self) -> Option<String> {
        if self.tried.is_empty() {
            return None;
        }
        let mut ranked: Vec<&Tried> = self.tried.iter().collect();
        let loss = |tried: &Tried| tried.loss.as_ref().copied().unwrap_or(f64::INFINITY);
        ranked.sort_by(|a, b| loss(a).total_cmp(&loss(b)));
        let one = |tried: &&Tried| {
            let Candidate { similarity, normalization } = &tried.candidate;
            let named = format!("{} ({normalization}, {} bases)", similarity.join(" + "), tried.n_basis);
            match &tried.loss {
                Ok(loss) => format!("{named} {loss:.4}"),
                Err(problem) => format!("{named} failed: {problem}"),
            }
        };
        let told: Vec<String> = ranked.iter().map(one).collect();
        let mut sizes: Vec<String> = self.tried.iter().map(|tried| tried.n_samples.to_string()).collect();
        sizes.dedup();
        let sizes = sizes.join(" and then ");
        Some(format!("mean leave-one-out squared hinge on {sizes} samples: {}", told.join(", ")))
    }
}

impl SimilaritySearch {
    /// The search for what is left open: the similarity if there are no specs, the normalization if it is none, and the number
    /// of bases. A single similarity gets what suits it or the mean norm; several the mean norm.
    pub fn of<S: Similarity>(
        params: &BasisExpansionParams<S>,
        specs: &[String],
        normalization: Option<Normalization>,
        counts_bases: bool,
    ) -> Self {
        // Bases that are left out must have features of their own.
        let prunes = params.penalty == Penalty::L1 || params.max_basis.is_some();
        let normalization = normalization.or(prunes.then_some(Normalization::MeanNorm));
        let candidates = Candidate::of_specs(specs, normalization);
        SimilaritySearch {
            candidates,
            normalization,
            counts_bases,
            intercept: params.intercept,
            class_weight: params.class_weight.clone(),
            seed: params.expander.seed,
            threads: params.threads,
        }
    }

    /// Searches. A single candidate is taken without being tried, unless its bases are counted. The search takes half of the
    /// time that is left and then ends with the best so far; the first candidate is always tried.
    ///
    /// # Errors
    /// Invalid labels and weights; [`Error::Parameter`] if no candidate could be tried, with the reasons;
    /// [`Error::Cancelled`]; [`Error::TooShort`] if the first candidate took all the time.
    pub fn choose(
        &self,
        samples: &dyn Source<Samples = AnySamples>,
        labels: &Labels,
        sample_weight: Option<&[f64]>,
        monitor: &Monitor<'_>,
    ) -> Result<SimilarityChoice> {
        labels.check(samples.n_samples())?;
        let (start, whole) = (Instant::now(), monitor);
        let monitor = &whole.with_part_of_time(TIME);
        let all = All::new(samples, labels, sample_weight, self, monitor)?;
        let counts = self.counts_bases && all.weights.len() > SAMPLES;
        if let [only] = &self.candidates[..] {
            let best = Candidate { normalization: self.normalization.unwrap_or(only.normalization), ..only.clone() };
            let choice = SimilarityChoice { best: best.clone(), n_basis: None, lambda: None, tried: Vec::new() };
            // What is no comparison needs no bases.
            let counts = counts && compares(&best)?;
            let finalists = [(best, None)];
            return if counts { self.on_more(&all, choice, &finalists, Work::default(), monitor) } else { Ok(choice) };
        }
        let mut trial = Trial::on(&all, SAMPLES, self, monitor)?;
        let mut candidates = match &self.candidates[..] {
            [] => trial.candidates(),
            given => given.to_vec(),
        };
        if let Some(normalization) = self.normalization {
            candidates.iter_mut().for_each(|candidate| candidate.normalization = normalization);
        }
        let mut screened = Vec::new();
        // What may be tried on more samples.
        let after = if all.weights.len() > SAMPLES { 3.0 * cost_on(n_to_count(all.weights.len())) } else { 0.0 };
        if trial.labels.len() >= SCREENED_FROM {
            let n_samples = trial.labels.len() / SCREENED_SHARE;
            let n = candidates.len() as f64;
            trial.work.expect(n * (SCREENED_COST + 1.0) + TO_FOLLOW + after);
            // λ has no units: what is best for the best of these is near.
            (candidates, screened, trial.near) =
                self.screened(&all, candidates, n_samples, &mut trial.work, monitor)?;
        }
        let n_bases = BASES.min(trial.labels.len());
        trial.work.expect(candidates.len() as f64 + TO_FOLLOW + after);
        for (at, candidate) in candidates.into_iter().enumerate() {
            let n_parts = candidate.similarity.len();
            trial.run(candidate, if trial.is_part { n_bases / n_parts } else { n_bases })?;
            if at == 0 && whole.ask() == Err(Stopped::TimeLimit) {
                // A fit on all takes at least as long for each sample.
                let of_fit = trial.tried[0].seconds * all.weights.len() as f64 / trial.labels.len() as f64;
                let needs = start.elapsed().as_secs_f64() + of_fit;
                return Err(Error::TooShort { stage: "similarity search", needs });
            }
        }
        trial.climb()?;
        trial.work.expect(2.0 + after);
        trial.join()?;
        let finalists = trial.finalists();
        let Some((best, lambda)) = finalists.first().cloned() else {
            // A similarity that was given is told by itself.
            let is_given = !self.candidates.is_empty()
                && self.candidates.iter().all(|one| one.similarity == self.candidates[0].similarity);
            match trial.problem {
                Some(error @ Error::Memory { .. }) => return Err(error),
                Some(error) if is_given => return Err(error),
                _ => {}
            }
            let reason = |tried: &Tried| {
                let problem = tried.loss.as_ref().err().map_or("", String::as_str);
                format!("{}: {problem}", tried.candidate.similarity.join(" "))
            };
            let reasons: Vec<String> = screened.iter().chain(&trial.tried).map(reason).collect();
            let expected = format!("a candidate that can be tried: {}", reasons.join("; "));
            return Err(Error::parameter("similarity", "auto", expected));
        };
        screened.extend(trial.tried);
        let has_bases = compares(&best)?;
        let mut choice = SimilarityChoice { best, n_basis: None, lambda, tried: screened };
        let is_open = finalists.len() > 1 && all.weights.len() > SAMPLES;
        if is_open || (counts && has_bases) {
            return self.on_more(&all, choice, &finalists, trial.work, monitor);
        }
        // So many are kept to tell the kind of samples.
        choice.n_basis = (counts && !has_bases).then_some(1);
        Ok(choice)
    }

    /// The candidates that on few samples are not far behind the best and not like an earlier one, what was found of the
    /// others, and λ of the best.
    fn screened(
        &self,
        all: &All<'_>,
        candidates: Vec<Candidate>,
        n_samples: usize,
        work: &mut Work,
        monitor: &Monitor<'_>,
    ) -> Result<(Vec<Candidate>, Vec<Tried>, Option<f64>)> {
        let mut trial = Trial::on(all, n_samples, self, monitor)?;
        (trial.work, trial.cost) = (*work, SCREENED_COST);
        let n_bases = BASES.min(trial.labels.len());
        for candidate in &candidates {
            trial.run(candidate.clone(), n_bases)?;
        }
        *work = trial.work;
        let Some(&least) = trial.ranked().first() else { return Ok((candidates, Vec::new(), None)) };
        let is_known = |at: usize| (0..at).any(|earlier| trial.are_alike(earlier, at));
        let is_near = |at: usize| trial.loss(at) <= WITHIN * trial.loss(least) && !is_known(at);
        // What could not be tried for lack of time is not behind.
        let is_kept = |at: usize| at >= trial.tried.len() || is_near(at);
        let (kept, left): (Vec<_>, Vec<_>) = (0..candidates.len()).partition(|&at| is_kept(at));
        let kept = kept.into_iter().map(|at| candidates[at].clone()).collect();
        let left = left.into_iter().map(|at| trial.tried[at].clone()).collect();
        Ok((kept, left, trial.tried[least].lambda))
    }

    /// Compares the finalists on more samples with more bases, and finds whether these lower the loss of the best
    /// beyond doubt.
    fn on_more(
        &self,
        all: &All<'_>,
        mut choice: SimilarityChoice,
        finalists: &[(Candidate, Option<f64>)],
        work: Work,
        monitor: &Monitor<'_>,
    ) -> Result<SimilarityChoice> {
        let n_wanted = n_to_count(all.weights.len());
        let mut trial = Trial::on(all, n_wanted, self, monitor)?;
        (trial.work, trial.cost) = (work, cost_on(n_wanted));
        trial.work.expect((finalists.len() as f64 + 1.0) * trial.cost);
        let mut is_whole = true;
        for (candidate, lambda) in finalists {
            trial.near = *lambda;
            is_whole &= trial.run(candidate.clone(), n_wanted / 2 / candidate.similarity.len())?.is_some();
        }
        if let Some(many) = trial.preferred().filter(|_| is_whole) {
            (choice.best, choice.lambda) = trial.finalist(many);
            if self.counts_bases && !compares(&choice.best)? {
                // It needs no bases; so many are kept to tell the kind of samples.
                choice.n_basis = Some(1);
            } else if self.counts_bases {
                let n_parts = choice.best.similarity.len();
                trial.near = choice.lambda;
                let few = trial.run(choice.best.clone(), n_wanted / 4 / n_parts)?;
                let is_worth = |part: f64| {
                    let gains = |few| trial.loss(many) < trial.loss(few) * (1.0 - part) && !trial.is_level(few, many);
                    few.is_some_and(gains)
                };
                let [worth_it, worth_more] = GAIN_OF_BASES;
                let n_basis = match is_worth(worth_it) {
                    true if is_worth(worth_more) => n_wanted,
                    true => n_wanted / 2,
                    false => (n_wanted / 4).max(FEWEST_BASES).min(n_wanted / 2),
                };
                choice.n_basis = Some(n_basis / n_parts);
            }
        }
        choice.tried.extend(trial.tried);
        Ok(choice)
    }
}

/// The samples on which bases are counted, of so many.
fn n_to_count(n_samples: usize) -> usize {
    (n_samples / 10).clamp(SAMPLES_TO_COUNT.0, SAMPLES_TO_COUNT.1)
}

/// What a candidate on more samples costs next to one on the usual number: between n² and n³.
fn cost_on(n_samples: usize) -> f64 {
    (n_samples as f64 / SAMPLES as f64).powf(2.5)
}

/// All samples, each once if there are not too many to compare: weights then are copies.
struct All<'a> {
    samples: &'a dyn Source<Samples = AnySamples>,
    /// The caller's rows.
    rows: Vec<usize>,
    labels: Labels,
    /// Effective weights.
    weights: Vec<f64>,
    /// How many samples each stands for.
    copies: Vec<f64>,
}

impl<'a> All<'a> {
    fn new(
        samples: &'a dyn Source<Samples = AnySamples>,
        labels: &Labels,
        sample_weight: Option<&[f64]>,
        search: &SimilaritySearch,
        monitor: &Monitor<'_>,
    ) -> Result<Self> {
        let effective = effective_weights(labels, sample_weight, &search.class_weight)?;
        let given = Given { codes: labels.codes(), weights: sample_weight, effective: &effective };
        let merges = effective.len() <= MERGED_UP_TO;
        let prints = |rows: &[usize]| if merges { samples.fingerprints(rows) } else { Ok(None) };
        let distinct = Distinct::find(prints, given, 0, search.threads, monitor)?;
        let (labels, weights) = distinct.labelled(labels, &search.class_weight)?;
        Ok(All { samples, rows: distinct.rows, labels, weights, copies: distinct.weights })
    }
}

/// The samples and what was tried on them.
struct Trial<'a> {
    search: &'a SimilaritySearch,
    samples: AnySamples,
    labels: Labels,
    weights: Vec<f64>,
    units: Vec<f64>,
    /// How many samples these are, if each is counted as often as it was given.
    n_copies: f64,
    pool: Pool,
    monitor: &'a Monitor<'a>,
    tried: Vec<Tried>,
    /// The leave-one-out loss of each sample, for each that was tried; empty where it failed.
    losses: Vec<Vec<f64>>,
    /// Where the next path begins.
    near: Option<f64>,
    /// Whether there are more samples: joined similarities then share the number of features of one, so that they are
    /// compared at the same cost.
    is_part: bool,
    /// The caller's rows.
    rows: Vec<usize>,
    /// For the progress: what is done and expected, and what a candidate costs here.
    work: Work,
    cost: f64,
    /// What was wrong with a candidate: the first, or one that would take too much memory.
    problem: Option<Error>,
}

impl<'a> Trial<'a> {
    /// On at most `n_wanted` of the samples, the same for the same seed.
    fn on(all: &All<'_>, n_wanted: usize, search: &'a SimilaritySearch, monitor: &'a Monitor<'a>) -> Result<Self> {
        let All { samples, rows: callers, labels, weights, copies } = all;
        let rows = choose_rows(labels, weights, n_wanted.min(weights.len()), search.seed);
        let units = rows.iter().map(|&row| weights[row] / copies[row].max(1.0));
        let picked: Vec<usize> = rows.iter().map(|&row| callers[row]).collect();
        Ok(Trial {
            search,
            labels: labels.present(&rows),
            weights: rows.iter().map(|&row| weights[row]).collect(),
            units: units.collect(),
            n_copies: rows.iter().map(|&row| copies[row]).sum(),
            is_part: rows.len() < weights.len(),
            samples: samples.select(&picked)?,
            pool: Pool::new(search.threads)?,
            monitor,
            near: None,
            rows: picked,
            work: Work::default(),
            cost: 1.0,
            problem: None,
            tried: Vec::new(),
            losses: Vec::new(),
        })
    }

    /// Tries a candidate and returns its place; none once the time is up, unless it is the first.
    fn run(&mut self, candidate: Candidate, n_basis: usize) -> Result<Option<usize>> {
        self.monitor.go_on("similarity search")?;
        if self.monitor.ask().is_err() && !self.tried.is_empty() {
            return Ok(None);
        }
        let (start, mut learned) = (Instant::now(), candidate.clone());
        let found = self.features_and_loss(&mut learned, n_basis);
        let (losses, at, problem) = match found {
            Err(Error::Cancelled { stage }) => return Err(Error::Cancelled { stage }),
            Err(problem) => {
                let problem = problem.of_rows(&self.rows);
                let told = problem.to_string();
                let is_worse = matches!(problem, Error::Memory { .. });
                if self.problem.is_none() || is_worse {
                    self.problem = Some(problem);
                }
                (Vec::new(), None, told)
            }
            Ok((losses, point)) => (losses, Some(point), String::new()),
        };
        let mean = mean_and_error(&losses, &self.weights, self.n_copies);
        let seconds = start.elapsed().as_secs_f64();
        self.tried.push(Tried {
            candidate: learned,
            n_samples: self.labels.len(),
            n_basis,
            lambda: at.as_ref().map(|point| point.lambda),
            loss: mean.map(|(mean, _)| mean).ok_or(problem),
            standard_error: mean.map(|(_, error)| error),
            error: at.as_ref().and_then(|point| point.loo_error),
            seconds,
        });
        // Features are alike enough for λ to be near that of the last: it has no units.
        self.near = at.map(|point| point.lambda).or(self.near);
        self.losses.push(losses);
        self.work.add(self.cost);
        self.monitor.tell(self.work.progress("similarity search"));
        Ok(Some(self.tried.len() - 1))
    }

    /// The squared hinge of each sample when it is left out, summed over the problems and divided by their number, and the
    /// best point of the path.
    fn features_and_loss(&self, candidate: &mut Candidate, n_basis: usize) -> Result<(Vec<f64>, PathPoint)> {
        let quiet = self.monitor.without_progress();
        let quiet = if self.tried.is_empty() { quiet.without_time_limit() } else { quiet };
        let params = BasisExpansionParams::new(AnySimilarity::new(&candidate.similarity)?)
            .normalization(candidate.normalization)
            .n_basis(n_basis)
            .seed(self.search.seed)
            .threads(self.search.threads);
        let expanded = params.expand_vectors(&self.samples, Some(&self.labels), &quiet)?;
        candidate.similarity = expanded.expansion.similarity().specs();
        let targets = OneVsRest::of(&self.labels);
        let problems = Problems { targets, weights: &self.weights, units: &self.units };
        let phi = Block::of(&expanded.features)?;
        let best = left_out_path(phi, &problems, self.near, self.search.intercept, &self.pool, &quiet)?.best;
        if best.left_out.is_empty() {
            return Err(Error::parameter("C", "auto", "a problem that can be solved at some C of the path"));
        }
        let k = targets.n_problems();
        let hinge = |sample: usize, problem: usize| {
            let slack = 1.0 - targets.sign(sample, problem) * best.left_out[problem][sample];
            targets.weight(sample, problem) * slack.max(0.0).powi(2)
        };
        let of = |sample: usize| (0..k).map(|problem| hinge(sample, problem)).sum::<f64>() / k as f64;
        Ok(((0..self.weights.len()).map(of).collect(), best.point))
    }

    /// What is tried where nothing is given.
    fn candidates(&self) -> Vec<Candidate> {
        let mut all = candidates_for(&self.samples);
        if let AnySamples::Vectors(Vectors::Dense(matrix)) = &self.samples
            && (2..=MOST_WEIGHTED).contains(&matrix.n_cols)
        {
            let weights = List(column_weights(matrix, &self.labels, &self.weights));
            let weighted = |name: &str| Candidate::usual(&format!("z-score:weights={weights}/{name}"));
            all.insert(0, weighted("laplacian"));
            all.push(weighted("rbf"));
        }
        all
    }

    fn loss(&self, at: usize) -> f64 {
        self.tried[at].loss.as_ref().copied().unwrap_or(f64::INFINITY)
    }

    /// The candidates that could be tried, by ascending loss.
    fn ranked(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.tried.len()).filter(|&at| self.tried[at].loss.is_ok()).collect();
        order.sort_by(|&a, &b| self.loss(a).total_cmp(&self.loss(b)));
        order
    }

    /// Whether a loss cannot be told from the least one.
    fn is_level(&self, at: usize, least: usize) -> bool {
        let more: Vec<f64> = self.losses[at].iter().zip(&self.losses[least]).map(|(a, b)| a - b).collect();
        mean_and_error(&more, &self.weights, self.n_copies).is_some_and(|(mean, error)| mean <= error)
    }

    /// Whether two candidates lose the same on each sample, as z-scores do of series that have them already.
    fn are_alike(&self, one: usize, other: usize) -> bool {
        let (one, other) = (&self.losses[one], &self.losses[other]);
        !one.is_empty() && one.len() == other.len() && one.iter().zip(other).all(|(a, b)| (a - b).abs() < ALIKE)
    }

    /// The first candidate whose loss cannot be told from the least one.
    fn preferred(&self) -> Option<usize> {
        let ranked = self.ranked();
        let least = *ranked.first()?;
        ranked.into_iter().filter(|&at| self.is_level(at, least)).min()
    }

    /// A candidate with its λ.
    fn finalist(&self, at: usize) -> (Candidate, Option<f64>) {
        (self.tried[at].candidate.clone(), self.tried[at].lambda)
    }

    /// The preferred candidate, and the best of those with other similarities if it cannot be told from the best of all.
    fn finalists(&self) -> Vec<(Candidate, Option<f64>)> {
        let Some(preferred) = self.preferred() else { return Vec::new() };
        let (ranked, name) = (self.ranked(), name_of(&self.tried[preferred].candidate));
        let is_rival = |at: &usize| self.is_level(*at, ranked[0]) && name_of(&self.tried[*at].candidate) != name;
        let rival = ranked.iter().copied().find(is_rival);
        [preferred].into_iter().chain(rival).map(|at| self.finalist(at)).collect()
    }

    /// Changes the gamma of the good candidates while that helps.
    fn climb(&mut self) -> Result<()> {
        let ranked = self.ranked();
        let Some(least) = ranked.first().map(|&at| self.loss(at)) else { return Ok(()) };
        for start in ranked.into_iter().filter(|&at| self.loss(at) <= WITHIN * least).collect::<Vec<_>>() {
            let Some(gamma) = gamma_of(&self.tried[start].candidate) else { continue };
            let n_basis = self.tried[start].n_basis;
            for factor in [2.0, 0.5] {
                let mut best = start;
                for step in 1..=GAMMA_STEPS {
                    let candidate = with_gamma(&self.tried[start].candidate, gamma * f64::powi(factor, step as i32));
                    let Some(at) = self.run(candidate, n_basis)? else { return Ok(()) };
                    if self.loss(at) >= self.loss(best) {
                        break;
                    }
                    best = at;
                }
                if best != start {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Joins the next best similarities of the same normalization to the best while that helps.
    fn join(&mut self) -> Result<()> {
        let ranked = self.ranked();
        let Some(&first) = ranked.first() else { return Ok(()) };
        let (mut best, mut joined) = (first, vec![name_of(&self.tried[first].candidate)]);
        for &other in &ranked[1..] {
            if joined.len() > MOST_JOINED || self.loss(other) > WITHIN * self.loss(first) {
                break;
            }
            let (mine, theirs) = (self.tried[best].candidate.clone(), self.tried[other].candidate.clone());
            // Neighbours in gamma add nothing.
            if joined.contains(&name_of(&theirs)) {
                continue;
            }
            let Some(normalization) = common_normalization(&mine, &theirs)? else { continue };
            // Sparse rows that hold similarities too would take many times as long on many samples.
            if self.is_part && compares(&mine)? != compares(&theirs)? {
                continue;
            }
            let similarity = [mine.similarity, theirs.similarity.clone()].concat();
            let joined_candidate = Candidate { similarity, normalization };
            let n_parts = joined_candidate.similarity.len();
            let n_basis = if self.is_part { BASES / n_parts } else { self.tried[best].n_basis };
            let Some(at) = self.run(joined_candidate, n_basis)? else { break };
            joined.push(name_of(&theirs));
            if self.loss(at) < self.loss(best) * (1.0 - GAIN) {
                best = at;
            }
        }
        Ok(())
    }
}

/// The normalization of two candidates side by side, if there is one that suits both: features that need none take that of
/// the similarities beside them, whose features have norms of about 1 like theirs.
fn common_normalization(mine: &Candidate, theirs: &Candidate) -> Result<Option<Normalization>> {
    let needs_none =
        |candidate: &Candidate| Ok::<_, Error>(candidate.normalization == Normalization::None && !compares(candidate)?);
    Ok(match (needs_none(mine)?, needs_none(theirs)?) {
        (true, true) => Some(Normalization::None),
        (true, false) => Some(theirs.normalization),
        (false, true) => Some(mine.normalization),
        (false, false) if compares(mine)? == compares(theirs)? && mine.normalization == theirs.normalization => {
            Some(mine.normalization)
        }
        _ => None,
    })
}

/// Whether a candidate compares samples with bases.
fn compares(candidate: &Candidate) -> Result<bool> {
    Ok(AnySimilarity::new(&candidate.similarity)?.compares())
}

/// A weighted mean, and its standard error for this number of samples.
pub(super) fn mean_and_error(values: &[f64], weights: &[f64], n: f64) -> Option<(f64, f64)> {
    let total: f64 = weights.iter().sum();
    let sum = |of: &dyn Fn(f64) -> f64| -> f64 { values.iter().zip(weights).map(|(x, weight)| weight * of(*x)).sum() };
    let mean = sum(&|x| x) / total;
    let variance = sum(&|x| (x - mean).powi(2)) / total;
    (!values.is_empty() && mean.is_finite()).then(|| (mean, (variance / n).sqrt()))
}

/// The steps of a candidate without their parameters.
pub(super) fn name_of(candidate: &Candidate) -> String {
    let names = |spec: &String| -> Vec<String> {
        spec.split('/').map(|step| step.split(':').next().unwrap_or_default().to_owned()).collect()
    };
    candidate.similarity.iter().flat_map(names).collect::<Vec<_>>().join("/")
}

/// The gamma of a single similarity.
pub(super) fn gamma_of(candidate: &Candidate) -> Option<f64> {
    let [spec] = &candidate.similarity[..] else { return None };
    spec.rsplit_once("gamma=")?.1.split(',').next()?.parse().ok()
}

pub(super) fn with_gamma(candidate: &Candidate, gamma: f64) -> Candidate {
    let changed = |spec: &String| match spec.rsplit_once("gamma=") {
        Some((before, after)) => {
            let rest = after.split_once(',').map(|(_, rest)| format!(",{rest}")).unwrap_or_default();
            format!("{before}gamma={gamma}{rest}")
        }
        None => spec.clone(),
    };
    let similarity = candidate.similarity.iter().map(changed).collect();
    Candidate { similarity, normalization: candidate.normalization }
}

/// The normalization that suits a similarity: of a kernel the Nyström map, of minus a distance its centred form, of features
/// the z-score, else that of the paper.
pub fn usual_normalization(spec: &str) -> Normalization {
    let last = spec.rsplit(['/', '>']).next().unwrap_or_default();
    let name = last.split(':').next().unwrap_or_default();
    if name == "features" {
        // They may each have their own unit; weighted n-grams have one.
        let before = spec.rsplit(['/', '>']).nth(1).and_then(|step| step.split(':').next());
        return if before == Some("tfidf") { Normalization::None } else { Normalization::ZScore };
    }
    let step = last.parse::<Spec>().ok().and_then(|spec| spec.steps.into_iter().next());
    let row = similarity_rows().find(|row| row.name == name);
    match row.zip(step).map(|(row, step)| row.definite_of(&step)) {
        Some(crate::similarity::Definite::Positive) => Normalization::Nystrom(Definite::Clip),
        Some(crate::similarity::Definite::Conditional) => Normalization::CenteredNystrom(Definite::Clip),
        _ => Normalization::MeanNorm,
    }
}

/// What is tried for a kind of samples.
pub(super) fn candidates_for(samples: &AnySamples) -> Vec<Candidate> {
    let usual = Candidate::usual;
    let centred = |spec: &str| Candidate {
        similarity: vec![spec.to_owned()],
        normalization: Normalization::CenteredNystrom(Definite::Flip),
    };
    match samples {
        AnySamples::Vectors(vectors) => {
            let is_uneven = is_uneven(vectors);
            let prefix = if is_uneven { "z-score/" } else { "" };
            let names = ["laplacian", "distance", "cityblock", "rbf", "linear"];
            let mut all: Vec<Candidate> = names.iter().map(|name| usual(&format!("{prefix}{name}"))).collect();
            if is_uneven {
                // Columns of one unit may differ too: those that vary little then say little.
                all.extend(["laplacian", "rbf", "distance"].map(usual));
            }
            if is_histogram(vectors) {
                all.extend(["chi2", "intersection"].map(usual));
            }
            all
        }
        AnySamples::Strings(strings) => {
            let weighted = weighted_ngrams(strings).into_iter().map(usual);
            let compared = ["ngram:n=2", "ngram:n=3", "align", "edit"].map(usual);
            weighted.chain([centred("edit")]).chain(compared).collect()
        }
        AnySamples::Series(series) => {
            let spec = |window: &str| format!("dtw:window={window},root=true");
            let windows = ["0", "0.05", "0.1"].map(spec);
            // All scaled alike, they are the same candidate twice.
            let scalings: &[&str] = if is_normalised(series) { &[""] } else { &["", "znorm/"] };
            let scaled = |spec: &String| scalings.iter().map(|scaling| format!("{scaling}{spec}")).collect::<Vec<_>>();
            let warped = windows.iter().flat_map(scaled).map(|spec| centred(&spec));
            let convolved = [usual("minirocket/features")];
            convolved.into_iter().chain(warped).collect()
        }
        AnySamples::Images(images) => {
            let specs = ["hog:cell=4/rbf", "hog:cell=8/rbf", "hog:cell=4/rigid:radius=1", "hog:cell=8/rigid:radius=1"];
            let mut all = specs.map(usual).to_vec();
            if images.channels() == 3 {
                // Colours alone say little, but what shapes do not.
                let Candidate { mut similarity, normalization } = usual("hog:cell=8/rbf");
                similarity.push("colors:cells=4/chi2".to_owned());
                all.push(Candidate { similarity, normalization });
            }
            all
        }
        AnySamples::Grids(_) => ["rigid:radius=1", "rigid:radius=2"].map(usual).to_vec(),
        AnySamples::BitSets(_) => ["tanimoto", "cosine"].map(usual).to_vec(),
        AnySamples::Described(_) => Vec::new(),
    }
}

/// Weighted n-grams that suit strings: longer ones where strings are longer, but not as long as texts, and words where
/// most strings have several. What is in a single training sample says little.
fn weighted_ngrams(strings: &[String]) -> Vec<&'static str> {
    let n = strings.len().max(1);
    let length = strings.iter().map(|string| string.chars().count()).sum::<usize>() / n;
    let have_words = 2 * strings.iter().filter(|string| string.trim().contains(char::is_whitespace)).count() > n;
    let mut all = vec!["tfidf:n=1-4,by=words-padded,min_df=2/features"];
    if (SHORT..LONG).contains(&length) {
        all.push("tfidf:n=1-8,by=words-padded,min_df=2/features");
    }
    if have_words {
        all.push("tfidf:n=1-2,by=words,min_df=2/features");
    }
    all
}

/// Whether the spreads of dense columns differ so much that they may have different units.
fn is_uneven(vectors: &Vectors) -> bool {
    let Vectors::Dense(matrix) = vectors else { return false };
    let spread = |column: usize| {
        let values = matrix.values.iter().skip(column).step_by(matrix.n_cols.max(1)).map(|x| f64::from(*x));
        let mean = values.clone().sum::<f64>() / matrix.n_rows as f64;
        (values.map(|x| (x - mean).powi(2)).sum::<f64>() / matrix.n_rows as f64).sqrt()
    };
    let spreads: Vec<f64> = (0..matrix.n_cols).map(spread).filter(|spread| *spread > 0.0).collect();
    let (least, most) = spreads.iter().fold((f64::INFINITY, 0.0f64), |(a, b), &s| (a.min(s), b.max(s)));
    most > UNEVEN * least
}

/// Whether each channel of each series has mean 0 and the same deviation, so that z-normalization would scale all alike.
fn is_normalised(series: &Series) -> bool {
    let channels = series.channels();
    let moments = (0..series.len() * channels).map(|at| {
        let values = series.series(at / channels).iter().skip(at % channels).step_by(channels);
        let values = values.map(|value| f64::from(*value));
        let n = series.length(at / channels) as f64;
        let mean = values.clone().sum::<f64>() / n;
        (mean, (values.map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt())
    });
    let Some((_, first)) = moments.clone().next() else { return false };
    let mut moments = moments;
    first > 0.0
        && moments
            .all(|(mean, spread)| mean.abs() <= SAME_SCALE * first && (spread - first).abs() <= SAME_SCALE * first)
}

/// Whether rows look like histograms: nothing below 0, and more than half of all values 0.
pub(super) fn is_histogram(vectors: &Vectors) -> bool {
    let (mut n_zero, mut n_all) = (0usize, 0usize);
    match vectors {
        Vectors::Dense(matrix) => {
            n_all = matrix.values.len();
            n_zero = matrix.values.iter().filter(|x| **x == 0.0).count();
            matrix.values.iter().all(|x| *x >= 0.0) && 2 * n_zero > n_all
        }
        Vectors::Sparse(matrix) => {
            let Ok(view) = matrix.view() else { return false };
            let mut is_positive = true;
            for row in 0..vectors.len() {
                view.for_each_nonzero(row, |_, value| {
                    is_positive &= value >= 0.0;
                    n_zero += 1;
                });
                n_all += vectors.n_cols();
            }
            is_positive && 2 * n_zero < n_all
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::DenseMatrix;

    /// Rings: linear similarities fail, and gamma matters.
    fn rings(n: usize) -> (AnySamples, Labels) {
        let (mut values, mut labels) = (Vec::new(), Vec::new());
        for i in 0..n {
            let (radius, angle) =
                (if i % 2 == 0 { 1.0 } else { 1.6 } + 0.3 * ((i * 37 % 101) as f64 / 101.0), i as f64 * 0.7);
            values.extend([(radius * angle.cos()) as f32, (radius * angle.sin()) as f32]);
            labels.push((i % 2) as i64);
        }
        let matrix = DenseMatrix { values, n_rows: n, n_cols: 2 };
        (AnySamples::Vectors(Vectors::Dense(matrix)), Labels::new(labels))
    }

    #[test]
    fn the_best_of_the_candidates_is_found_and_all_are_told() {
        let (samples, labels) = rings(200);
        let search = SimilaritySearch::default();
        let found = search.choose(&samples, &labels, None, &Monitor::none()).unwrap();
        let loss_of = |name: &str| {
            let of_name = found.tried.iter().filter(|tried| tried.candidate.similarity[0].starts_with(name));
            of_name.filter_map(|tried| tried.loss.clone().ok()).fold(f64::INFINITY, f64::min)
        };
        let least = found.tried.iter().filter_map(|tried| tried.loss.clone().ok()).fold(f64::INFINITY, f64::min);
        let best = found.tried.iter().find(|tried| tried.candidate == found.best).unwrap();
        assert_eq!(best.loss, Ok(least));
        assert!(least < 0.8 * loss_of("linear"), "{least}");
        // The order of threads is not seen.
        let again =
            SimilaritySearch { threads: 3, ..search }.choose(&samples, &labels, None, &Monitor::none()).unwrap();
        assert_eq!(again.best, found.best);
        assert_eq!(found.tried[0].n_samples, 200);
    }

    #[test]
    fn a_candidate_that_fails_is_told_and_all_failing_is_an_error() {
        let (samples, labels) = rings(60);
        let of = |specs: &[&str]| SimilaritySearch {
            candidates: specs.iter().map(|spec| Candidate::usual(spec)).collect(),
            ..SimilaritySearch::default()
        };
        let found = of(&["rbf", "chi2"]).choose(&samples, &labels, None, &Monitor::none()).unwrap();
        assert!(found.best.similarity[0].starts_with("rbf"));
        assert!(found.tried[1].loss.as_ref().unwrap_err().contains("at least 0"), "{:?}", found.tried[1]);
        let error = of(&["edit", "chi2"]).choose(&samples, &labels, None, &Monitor::none()).unwrap_err().to_string();
        assert!(error.contains("edit") && error.contains("chi2"), "{error}");
    }

    #[test]
    fn series_that_are_normalised_are_not_normalised_again() {
        use crate::descriptor::ZNorm;
        let values = (0..120).map(|t| (t as f32 * 0.7).sin() * (1 + t / 30) as f32).collect();
        let series = Series::new(values, &[30, 30], 2).unwrap();
        assert!(!is_normalised(&series));
        assert_eq!(candidates_for(&AnySamples::Series(series.clone())).len(), 7);
        let mut scaled = ZNorm.normalised(series);
        // As with n − 1 in place of n.
        scaled.values_mut().iter_mut().for_each(|value| *value *= 0.98);
        assert!(is_normalised(&scaled));
        let candidates = candidates_for(&AnySamples::Series(scaled.clone()));
        assert!(candidates.len() == 4 && candidates.iter().all(|one| !one.similarity[0].contains("znorm")));
        scaled.values_mut()[..60].iter_mut().for_each(|value| *value += 0.1);
        assert!(!is_normalised(&scaled));
    }

    #[test]
    fn gamma_is_read_and_changed() {
        let candidate =
            |spec: &str| Candidate { similarity: vec![spec.into()], normalization: Normalization::MeanNorm };
        let changed = with_gamma(&candidate("z-score/polynomial:degree=2,gamma=0.5,coef0=1"), 4.0);
        assert_eq!(changed.similarity, ["z-score/polynomial:degree=2,gamma=4,coef0=1"]);
        assert_eq!(gamma_of(&changed), Some(4.0));
        assert_eq!(gamma_of(&candidate("linear")), None);
    }
}
