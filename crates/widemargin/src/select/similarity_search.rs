//! Selection of the similarity: candidates on some of the samples, judged by leave-one-out (`similarity_trial.rs`).
//!
//! A candidate is a similarity, or several, with its normalization. On at most a thousand samples, half of them bases
//! at most, its features are solved along a path of C, and the least mean leave-one-out squared hinge is its loss. Of
//! 400 samples and more, a quarter is used first, at 2 % of the time: there the scale (gamma, the window of a warping
//! distance) of those near the best follows the loss in factors of two, and those that are clearly behind, or the same
//! in effect, are dropped. On all of the thousand only the best have their scale changed again; then the next best are
//! joined to the best as long as that helps (Aghazadeh & Carlsson, section 3.5), sharing the number of its features
//! where not all samples are bases. The first candidate within one standard error of the best is selected; where there
//! are more samples, it is compared with the best of other similarities within one standard error on a tenth of all,
//! from 2,000 to 4,000, half of them bases: a kernel with a slow spectrum gains less from more bases.
//!
//! There a support vector machine stays at the λ of the thousand: on a9a the path took a third of the search. There
//! bases are counted too: a half of these samples is compared with a quarter as bases. All samples have a quarter, but
//! not fewer than without a search, unless a half is worth four times the work: if it clearly saves a tenth of the loss
//! or 0.5 percentage points of the error. Where it saves 2 percentage points they have twice as many again, which was
//! not tried. Features alone, which need no bases, are selected by the same criterion.
//!
//! A candidate costs about n·B² + n²·B + B³ flops for n samples and B bases, next to its similarities.

use super::candidate::{Candidate, compares, follows_scales, name_of};
use super::similarity_trial::{
    All, BASES, CLEAR_DIFFERENCE, Finalist, SAMPLES, Trial, TrialSettings, Tried, WITHIN, WORTH,
};
use super::time_left::Work;
use crate::data::{About, AnySamples, ClassWeight, Labels, Source, effective_weights};
use crate::error::{Error, Result};
use crate::expansion::Normalization;
use crate::model::BasisExpansionParams;
use crate::monitor::{Monitor, Stopped};
use crate::problem::{Intercept, Loss, Penalty};
use crate::similarity::{AnySimilarity, Similarity};

/// From this number of samples on, candidates are tried on a part of them first.
const SCREENED_FROM: usize = 400;
const SCREENED_SHARE: usize = 4;

/// Those whose loss there is within this multiple of the least are tried on all, and within [`WITHIN`] those that are
/// not clearly above it: the best on few samples need not be the best on many.
const NEAR: f64 = 1.05;

/// The number of candidates within one standard error of the best whose scale is changed again on all of the samples.
const FOLLOWED_AGAIN: usize = 2;

/// The relative cost of a candidate on a quarter of the samples, and the expected number of candidates after those that
/// are listed; both for the progress only.
const SCREENED_COST: f64 = 0.125;
const TO_FOLLOW: f64 = 5.0;

/// Samples on which bases are counted, a tenth of all within these bounds; with at most half as many bases all samples
/// do.
const SAMPLES_TO_COUNT: (usize, usize) = (2000, 4000);

/// The decrease of the error by more bases from which twice as many again, which are not tried, are worth it too.
const WORTH_OF_TWICE_AS_MANY: f64 = 0.02;

/// Bases that all samples have at least, if these are half of the samples on which they are counted.
const FEWEST_BASES: usize = 1000;

/// The part of the time limit that a search may take.
const TIME: f64 = 0.5;

/// The result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct SimilarityChoice {
    /// The first candidate within one standard error of the least loss.
    pub best: Candidate,
    /// The number of bases, if it was selected; `None` for all samples.
    pub n_basis: Option<usize>,
    /// The loss, if it was automatic and is not the squared hinge.
    pub loss: Option<Loss>,
    /// λ of the best, as in [`Tried`].
    lambda: Option<f64>,
    /// All that were tried, in order.
    pub tried: Vec<Tried>,
}

/// A search for the similarity.
#[derive(Clone, Debug)]
pub struct SimilaritySearch {
    /// The candidates; if empty, the default ones for the kind of samples.
    pub candidates: Vec<Candidate>,
    /// The normalization of all candidates; without one that of each.
    pub normalization: Option<Normalization>,
    /// Whether the number of bases is selected too.
    pub counts_bases: bool,
    /// Whether the loss is selected too: the squared hinge, or the squared loss for dense features of a descriptor, of
    /// more than a thousand samples in three classes or more, unless the squared hinge clearly lowers the error by 0.5
    /// percentage points.
    pub chooses_loss: bool,
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
            chooses_loss: false,
            intercept,
            class_weight,
            seed: 0,
            threads: 0,
        }
    }
}

/// The results on a quarter of the samples.
#[derive(Default)]
struct Screened {
    /// The candidates to try on all of the samples.
    promising: Vec<Finalist>,
    /// The others.
    left: Vec<Tried>,
    /// The one with the least loss, if any could be tried.
    best: Option<Tried>,
}

impl Screened {
    /// The best as the result, where the time limit ends the search here.
    fn choice(&self, best: &Tried) -> SimilarityChoice {
        let (candidate, lambda, mut tried) = (best.candidate.clone(), best.lambda, self.left.clone());
        if !tried.contains(best) {
            tried.push(best.clone());
        }
        SimilarityChoice { best: candidate, n_basis: None, loss: None, lambda, tried }
    }
}

impl SimilarityChoice {
    /// The parameters with the results of the search.
    ///
    /// # Errors
    /// As for [`AnySimilarity::new`].
    pub fn apply<S: Similarity>(&self, params: BasisExpansionParams<S>) -> Result<BasisExpansionParams<AnySimilarity>> {
        let similarity = AnySimilarity::new(&self.best.similarity)?;
        let mut params = params.with_similarity(similarity).normalization(self.best.normalization);
        params.near = self.lambda;
        if let Some(loss) = self.loss {
            params = params.loss(loss);
        }
        Ok(match self.n_basis {
            Some(n_basis) => params.n_basis(n_basis),
            None => params,
        })
    }

    /// The candidates that were tried, in a line: the losses, least first; `None` if there are none.
    pub fn summary(&self) -> Option<String> {
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
                Ok(loss) if tried.fitted == Loss::SquaredError => format!("{named} by the squared loss {loss:.4}"),
                Ok(loss) => format!("{named} {loss:.4}"),
                Err(problem) => format!("{named} failed: {problem}"),
            }
        };
        let results: Vec<String> = ranked.iter().map(one).collect();
        let mut sizes: Vec<String> = self.tried.iter().map(|tried| tried.n_samples.to_string()).collect();
        sizes.dedup();
        let sizes = sizes.join(" and then ");
        Some(format!("mean leave-one-out squared hinge on {sizes} samples: {}", results.join(", ")))
    }
}

impl SimilaritySearch {
    /// The search for the automatic parameters: the similarity if there are no specs, the normalization if it is
    /// `None`, and the number of bases. A single similarity gets its usual normalization or the mean norm; several the
    /// mean norm.
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
            chooses_loss: false,
            intercept: params.intercept,
            class_weight: params.class_weight.clone(),
            seed: params.expander.seed,
            threads: params.threads,
        }
    }

    /// The same with an automatic loss, if `is_open` and the penalty is the default: others have the squared hinge.
    pub fn choosing_loss<S: Similarity>(self, params: &BasisExpansionParams<S>, is_open: bool) -> Self {
        SimilaritySearch { chooses_loss: is_open && params.penalty == Penalty::default(), ..self }
    }

    fn settings(&self) -> TrialSettings {
        let SimilaritySearch { intercept, seed, threads, .. } = *self;
        TrialSettings { intercept, class_weight: self.class_weight.clone(), seed, threads }
    }

    /// Searches. A single candidate is returned without a trial, unless its bases are counted. The search takes half of
    /// the time that is left and then ends with the best so far; the first candidate may take all of the time.
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
        let monitor = &monitor.with_strict_limit().with_part_of_time(TIME);
        let settings = self.settings();
        let weights = effective_weights(labels, sample_weight, &self.class_weight)?;
        let samples = &About::new(samples, &weights)?;
        let all = All::new(samples, labels, sample_weight, &settings, monitor)?;
        let counts = self.counts_bases && all.weights.len() > SAMPLES;
        if let [only] = &self.candidates[..] {
            let best = Candidate { normalization: self.normalization.unwrap_or(only.normalization), ..only.clone() };
            let choice =
                SimilarityChoice { best: best.clone(), n_basis: None, loss: None, lambda: None, tried: Vec::new() };
            // Features alone need no bases.
            let counts = counts && compares(&best)?;
            let finalists = [(best, None)];
            return if counts {
                self.on_more(&all, &settings, choice, &finalists, Work::default(), monitor)
            } else {
                Ok(choice)
            };
        }
        // Once a candidate has been tried, no other one may take the time of the fit.
        let limited = &monitor.with_strict_limit();
        let mut trial = Trial::on(&all, SAMPLES, &settings, monitor)?;
        let mut candidates = match &self.candidates[..] {
            [] => trial.candidates(),
            candidates => candidates.to_vec(),
        };
        if let Some(normalization) = self.normalization {
            candidates.iter_mut().for_each(|candidate| candidate.normalization = normalization);
        }
        let (mut earlier, mut cut) = (Vec::new(), None);
        // Candidates that may be tried on more samples.
        let after = if all.weights.len() > SAMPLES { 3.0 * cost_on(n_to_count(all.weights.len())) } else { 0.0 };
        let mut promising: Vec<Finalist> = Vec::new();
        if trial.labels.len() >= SCREENED_FROM {
            let n = candidates.len() as f64;
            trial.work.expect(n * (3.0 * SCREENED_COST + 0.5) + TO_FOLLOW + after);
            let screened = self.screened(&all, &settings, &candidates, &mut trial.work, monitor)?;
            if let (Some(best), Err(Stopped::TimeLimit)) = (&screened.best, monitor.ask()) {
                return Ok(screened.choice(best));
            }
            if screened.best.is_some() {
                trial.monitor = limited;
            }
            (promising, earlier, cut) = (screened.promising.clone(), screened.left.clone(), Some(screened));
        }
        let is_explored = !promising.is_empty();
        if !is_explored {
            promising = candidates.into_iter().map(|candidate| (candidate, None)).collect();
        }
        let n_bases = BASES.min(trial.labels.len());
        trial.work.expect(promising.len() as f64 + TO_FOLLOW + after);
        for (candidate, lambda) in promising {
            let n_parts = candidate.similarity.len();
            trial.near = lambda.or(trial.near);
            let found = trial.run(candidate, if trial.is_part { n_bases / n_parts } else { n_bases });
            match (found, cut.as_ref().and_then(|screened: &Screened| Some((screened, screened.best.as_ref()?)))) {
                (Err(Error::TooShort { .. }), Some((screened, best))) => return Ok(screened.choice(best)),
                (found, _) => found?,
            };
        }
        let followed = match is_explored {
            true => trial.level_with_least(FOLLOWED_AGAIN),
            false => trial.near_least(),
        };
        if follows_scales(&self.candidates) {
            trial.climb(&followed)?;
        }
        trial.work.expect(2.0 + after);
        trial.join()?;
        let finalists = trial.finalists();
        let Some((best, lambda)) = finalists.first().cloned() else {
            // The error of a single requested similarity is returned as it is.
            let is_requested = !self.candidates.is_empty()
                && self.candidates.iter().all(|one| one.similarity == self.candidates[0].similarity);
            match trial.problem {
                Some(error @ Error::Memory { .. }) => return Err(error),
                Some(error) if is_requested => return Err(error),
                _ => {}
            }
            let reason = |tried: &Tried| {
                let problem = tried.loss.as_ref().err().map_or("", String::as_str);
                format!("{}: {problem}", tried.candidate.similarity.join(" "))
            };
            let reasons: Vec<String> = earlier.iter().chain(&trial.tried).map(reason).collect();
            let expected = format!("a candidate that can be tried: {}", reasons.join("; "));
            return Err(Error::parameter("similarity", "auto", expected));
        };
        let has_bases = compares(&best)?;
        let mut choice = SimilarityChoice { best, n_basis: None, loss: None, lambda, tried: Vec::new() };
        let is_open = finalists.len() > 1 && all.weights.len() > SAMPLES;
        let n_more = n_to_count(all.weights.len());
        let needs = cost_on(n_more) * (finalists.len() as f64 + 1.0) * trial.seconds();
        let has_time = monitor.seconds_left().is_none_or(|left| needs <= left);
        if (is_open || (counts && has_bases)) && has_time {
            choice = self.on_more(&all, &settings, choice, &finalists, trial.work, monitor)?;
        } else {
            // One basis stays for the kind of samples.
            choice.n_basis = (counts && !has_bases).then_some(1);
        }
        choice.tried = [&earlier, &trial.tried, &choice.tried[..]].concat();
        if self.chooses_loss && has_time && trial.may_be_squared(&choice.best) {
            let limited = &monitor.with_strict_limit();
            let mut more = Trial::on(&all, n_more, &settings, limited)?;
            more.near = choice.lambda;
            choice.loss = match more.choose_loss(&choice.best, n_bases) {
                Err(Error::TooShort { .. }) => None,
                loss => loss?,
            };
            choice.tried.extend(more.tried);
        }
        Ok(choice)
    }

    /// The candidates that on a quarter of the samples are near the best and not like an earlier one, with the scale
    /// that is best there and λ, in their order; and the results of the others.
    fn screened(
        &self,
        all: &All<'_>,
        settings: &TrialSettings,
        candidates: &[Candidate],
        work: &mut Work,
        monitor: &Monitor<'_>,
    ) -> Result<Screened> {
        let mut trial = Trial::on(all, all.weights.len().min(SAMPLES) / SCREENED_SHARE, settings, monitor)?;
        (trial.work, trial.cost) = (*work, SCREENED_COST);
        let n_bases = BASES.min(trial.labels.len());
        for candidate in candidates {
            trial.run(candidate.clone(), n_bases)?;
        }
        let n_listed = trial.tried.len();
        if follows_scales(&self.candidates) {
            trial.climb(&trial.near_least())?;
        }
        *work = trial.work;
        let Some(&least) = trial.ranked().first() else { return Ok(Screened::default()) };
        let best: Vec<usize> = (0..n_listed).map(|at| trial.best_scale(at)).collect();
        let is_known = |at: usize| (0..at).any(|earlier| trial.are_alike(best[earlier], best[at]));
        let is_near = |at: usize| {
            let (loss, least_loss) = (trial.loss(best[at]), trial.loss(least));
            // Features alone, usually many, gain most from more samples.
            let is_open = || trial.is_cheap(best[at]) || trial.is_within(best[at], least, CLEAR_DIFFERENCE);
            loss <= NEAR * least_loss || (loss <= WITHIN * least_loss && is_open())
        };
        // Where there are many samples, bases must be better than features alone: than those of a descriptor, which
        // gain from more samples, by the part of the loss that is worth the cost; than unchanged columns, which may not
        // gain, by any amount.
        let cheap = trial.ranked().into_iter().find(|&at| trial.is_cheap(at) && all.weights.len() > SAMPLES);
        let is_described = |at: usize| name_of(&trial.tried[at].candidate) != "features";
        let most = |cheap: usize| trial.loss(cheap) * if is_described(cheap) { 1.0 - WORTH } else { 1.0 };
        let is_worth_more =
            |at: usize| trial.is_cheap(at) || cheap.is_none_or(|cheap| trial.loss(best[at]) < most(cheap));
        let selected: Vec<usize> =
            (0..n_listed).filter(|&at| is_near(at) && is_worth_more(at) && !is_known(at)).collect();
        let is_left = |at: &usize| !selected.iter().any(|&one| best[one] == trial.best_scale(*at));
        let left = (0..trial.tried.len()).filter(is_left).map(|at| trial.tried[at].clone()).collect();
        // Candidates that were not tried for lack of time are not behind.
        let untried = candidates[n_listed..].iter().map(|candidate| (candidate.clone(), None));
        let promising = selected.iter().map(|&at| trial.finalist(best[at])).chain(untried).collect();
        Ok(Screened { promising, left, best: Some(trial.tried[least].clone()) })
    }

    /// Compares the finalists on more samples with more bases, and finds whether these clearly lower the loss of the
    /// best; the previous choice where the time limit does not allow it.
    fn on_more(
        &self,
        all: &All<'_>,
        settings: &TrialSettings,
        choice: SimilarityChoice,
        finalists: &[Finalist],
        work: Work,
        monitor: &Monitor<'_>,
    ) -> Result<SimilarityChoice> {
        let limited = &monitor.with_strict_limit();
        match self.compared_on_more(all, settings, choice.clone(), finalists, work, limited) {
            Err(Error::TooShort { .. }) => Ok(choice),
            found => found,
        }
    }

    fn compared_on_more(
        &self,
        all: &All<'_>,
        settings: &TrialSettings,
        mut choice: SimilarityChoice,
        finalists: &[Finalist],
        work: Work,
        monitor: &Monitor<'_>,
    ) -> Result<SimilarityChoice> {
        let n_wanted = n_to_count(all.weights.len());
        let mut trial = Trial::on(all, n_wanted, settings, monitor)?;
        (trial.work, trial.cost, trial.stays) = (work, cost_on(n_wanted), true);
        trial.work.expect((finalists.len() as f64 + 1.0) * trial.cost);
        let mut is_whole = true;
        for (candidate, lambda) in finalists {
            trial.near = *lambda;
            is_whole &= trial.run(candidate.clone(), n_wanted / 2 / candidate.similarity.len())?.is_some();
        }
        if let Some(many) = trial.preferred().filter(|_| is_whole) {
            (choice.best, choice.lambda) = trial.finalist(many);
            if self.counts_bases && !compares(&choice.best)? {
                // It needs no bases; one stays for the kind of samples.
                choice.n_basis = Some(1);
            } else if self.counts_bases {
                let n_parts = choice.best.similarity.len();
                trial.near = choice.lambda;
                let few = trial.run(choice.best.clone(), n_wanted / 4 / n_parts)?;
                let n_basis = match few.filter(|&few| trial.is_worth(many, few)) {
                    Some(few) if trial.corrects(many, few) >= WORTH_OF_TWICE_AS_MANY => n_wanted,
                    Some(_) => n_wanted / 2,
                    None => (n_wanted / 4).max(FEWEST_BASES).min(n_wanted / 2),
                };
                choice.n_basis = Some(n_basis / n_parts);
            }
        }
        choice.tried.extend(trial.tried);
        Ok(choice)
    }
}

/// The number of samples on which bases are counted, of `n_samples`.
fn n_to_count(n_samples: usize) -> usize {
    (n_samples / 10).clamp(SAMPLES_TO_COUNT.0, SAMPLES_TO_COUNT.1)
}

/// The relative cost of a candidate on more samples than usual: between n² and n³.
fn cost_on(n_samples: usize) -> f64 {
    (n_samples as f64 / SAMPLES as f64).powf(2.5)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{DenseMatrix, Vectors};

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
    fn the_best_of_the_candidates_is_found_and_all_are_reported() {
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
        // The result does not depend on the number of threads.
        let again =
            SimilaritySearch { threads: 3, ..search }.choose(&samples, &labels, None, &Monitor::none()).unwrap();
        assert_eq!(again.best, found.best);
        assert_eq!(found.tried[0].n_samples, 200);
    }

    #[test]
    fn failed_candidates_are_reported_and_only_failures_are_an_error() {
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
}
