//! Selection of the similarity: candidates on some of the samples, judged by leave-one-out (`subset.rs`), in one table.
//!
//! A candidate is a similarity, or several, with its normalization. With labels, its features on at most a thousand
//! samples, half of them bases at most, are solved along a path of C, and the least mean leave-one-out squared hinge is
//! its loss. Of a regression, whatever the loss of its fit, that is squared error on at most 400 samples with all of
//! them as bases. Where there are many of these samples, few of them are used first, at a small part of the time: there
//! the scale (gamma, the window of a warping distance) of those near the best follows the loss in factors of two, and
//! those that are clearly behind, or the same in effect, are dropped. On all of the samples only the best have their
//! scale changed again. Then the next best are joined to the best as long as that helps (Aghazadeh & Carlsson, section
//! 3.5), sharing the number of its features where not all samples are bases; of a regression on a table, the columns are
//! weighted instead (`column_weights.rs`). Only candidates on the most samples are compared with each other; those on
//! fewer count where the time limit ends the search before.
//!
//! With labels the first candidate within one standard error of the best is selected; where there are more samples, it
//! is compared with the best of other similarities within one standard error on a tenth of all, from 2,000 to 4,000,
//! half of them bases: a kernel with a slow spectrum gains less from more bases. There a support vector machine stays
//! at the λ of the thousand: on a9a the path took a third of the search. All rows of a table of at most 4,000 are
//! bases, unless memory is limited; bases of others are counted there: a half of these samples is compared with a
//! quarter as bases. All samples have a quarter, but not fewer than without a search, unless a half is worth four times
//! the work: if it clearly saves a tenth of the loss or 0.5 percentage points of the error. Where it saves 2 percentage
//! points, divided by the number of joined similarities, they have twice as many again, which was not tried. Features
//! alone, which need no bases, are selected by the same criterion.
//!
//! With labels a candidate costs about n·B² + n²·B + B³ flops for n samples and B bases, next to its similarities.

use super::candidate::{Candidate, SimilaritySearch, compares};
use super::subset::{All, Answers, SimilarityPoint, Subset};
use super::trial::{Finalist, Trial};
use crate::data::{About, AnySamples, Source};
use crate::error::{Error, Result};
use crate::expansion::Normalization;
use crate::model::{BasisExpansionParams, BasisExpansionRegressorParams};
use crate::monitor::Monitor;
use crate::problem::{Loss, Penalty};
use crate::search::Tried;
use crate::similarity::{AnySimilarity, Similarity};
use crate::tuning::{
    BASIS_COUNT_SAMPLES, DEFAULT_N_BASIS, MAX_SAMPLES_AS_BASES, MIN_SCREENED_SAMPLES, MIN_SCREENED_TARGETS,
    REDOUBLING_GAIN, SCREENED_TARGETS, SCREENING_ONE_IN, SELECTION_BASES, SELECTION_TIME_SHARE,
};

/// The relative cost of a candidate on a quarter of the samples, and the expected number of candidates after those that
/// are listed; both for the progress only.
const SCREENED_COST: f64 = 0.125;
const TO_FOLLOW: f64 = 5.0;

/// The result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct SimilarityChoice {
    /// The selected candidate.
    pub best: Candidate,
    /// The number of bases, if it was selected; `None` for all samples.
    pub n_basis: Option<usize>,
    /// The loss, if it was automatic and is not the squared hinge.
    pub loss: Option<Loss>,
    /// λ of the best, as in [`SimilarityPoint`].
    lambda: Option<f64>,
    /// All that were tried, in order.
    pub tried: Vec<Tried<SimilarityPoint>>,
    /// Whether the time limit ended the search before all candidates were compared.
    pub is_cut: bool,
}

impl SimilarityChoice {
    /// A candidate that was not compared.
    fn of((best, lambda): Finalist) -> Self {
        SimilarityChoice { best, n_basis: None, loss: None, lambda, tried: Vec::new(), is_cut: false }
    }

    /// The number of candidates after which the time limit ended the search, if it did.
    pub(super) fn cut_after(&self) -> Option<usize> {
        self.is_cut.then_some(self.tried.len())
    }

    /// The candidates that were tried, in a line, the best first; of a regression without those of a first look. `None`
    /// if there are none.
    pub fn summary(&self) -> Option<String> {
        let last = self.tried.last()?;
        let is_regression = last.point.n_basis.is_none();
        let is_counted = |tried: &&Tried<SimilarityPoint>| !is_regression || tried.n_samples == last.n_samples;
        let mut ranked: Vec<&Tried<SimilarityPoint>> = self.tried.iter().filter(is_counted).collect();
        let mut sizes: Vec<String> = ranked.iter().map(|tried| tried.n_samples.to_string()).collect();
        sizes.dedup();
        let loss = |tried: &Tried<SimilarityPoint>| tried.loss.as_ref().copied().unwrap_or(f64::INFINITY);
        ranked.sort_by(|a, b| loss(a).total_cmp(&loss(b)));
        let one = |tried: &Tried<SimilarityPoint>| {
            let Candidate { similarity, normalization } = &tried.point.candidate;
            let bases = tried.point.n_basis.map_or_else(String::new, |n_basis| format!(", {n_basis} bases"));
            let result = match &tried.loss {
                Ok(loss) if is_regression => format!("{:.4}", 1.0 - loss),
                Ok(loss) if tried.point.fitted == Loss::SquaredError => format!("by the squared error {loss:.4}"),
                Ok(loss) => format!("{loss:.4}"),
                Err(problem) => format!("failed: {problem}"),
            };
            format!("{} ({normalization}{bases}) {result}", similarity.join(" + "))
        };
        let results: Vec<String> = ranked.into_iter().map(one).collect();
        let criterion = match is_regression {
            true => "R² of leave-one-out predictions by the squared error",
            false => "mean leave-one-out squared hinge",
        };
        Some(format!("{criterion} on {} samples: {}", sizes.join(" and then "), results.join(", ")))
    }
}

impl<S: Similarity> BasisExpansionParams<S> {
    /// The parameters with the results of a search.
    ///
    /// # Errors
    /// As for [`AnySimilarity::new`].
    pub fn with_choice(self, choice: &SimilarityChoice) -> Result<BasisExpansionParams<AnySimilarity>> {
        let similarity = AnySimilarity::new(&choice.best.similarity)?;
        let mut params = self.with_similarity(similarity).normalization(choice.best.normalization);
        params.task.near = choice.lambda;
        if let Some(loss) = choice.loss {
            params = params.loss(loss);
        }
        Ok(match choice.n_basis {
            Some(n_basis) => params.n_basis(n_basis),
            None => params,
        })
    }
}

impl<S: Similarity> BasisExpansionRegressorParams<S> {
    /// The parameters with the results of a search.
    ///
    /// # Errors
    /// As for [`AnySimilarity::new`].
    pub fn with_choice(self, choice: &SimilarityChoice) -> Result<BasisExpansionRegressorParams<AnySimilarity>> {
        let similarity = AnySimilarity::new(&choice.best.similarity)?;
        Ok(self.with_similarity(similarity).normalization(choice.best.normalization))
    }
}

impl SimilaritySearch {
    /// The search for the automatic parameters: the similarity if there are no specs, the normalization if it is
    /// `None`, the number of bases, and the loss unless the parameters have one or another penalty than the default. A
    /// single similarity gets its usual normalization or the mean norm; several the mean norm.
    #[doc(hidden)]
    pub fn of<S: Similarity>(
        params: &BasisExpansionParams<S>,
        specs: &[String],
        normalization: Option<Normalization>,
        has_loss: bool,
    ) -> Self {
        // Bases that are left out must have features of their own.
        let prunes = params.task.penalty == Penalty::L1 || params.task.max_basis.is_some();
        let normalization = normalization.or(prunes.then_some(Normalization::MeanNorm));
        SimilaritySearch {
            candidates: Candidate::of_specs(specs, normalization),
            normalization,
            counts_bases: params.expander.n_basis.is_none() && params.can_count_bases(),
            all_as_bases: true,
            chooses_loss: !has_loss && params.task.penalty == Penalty::default(),
            intercept: params.task.intercept,
            class_weight: params.task.class_weight.clone(),
            seed: params.expander.seed,
            threads: params.threads,
        }
    }

    /// The same of a regression, which has no other parameters to select.
    #[doc(hidden)]
    pub fn of_regression<S: Similarity>(
        params: &BasisExpansionRegressorParams<S>,
        specs: &[String],
        normalization: Option<Normalization>,
    ) -> Self {
        SimilaritySearch {
            candidates: Candidate::of_specs(specs, normalization),
            normalization,
            seed: params.expander.seed,
            threads: params.threads,
            ..SimilaritySearch::default()
        }
    }

    /// A candidate with the normalization of all, if there is one.
    fn normalized(&self, candidate: Candidate) -> Finalist {
        (Candidate { normalization: self.normalization.unwrap_or(candidate.normalization), ..candidate }, None)
    }

    /// Searches. A single candidate is returned without a trial, unless its bases are counted. The search takes half of
    /// the time that is left and then ends with the best so far; the first candidate may take all of the time.
    ///
    /// # Errors
    /// Invalid answers and weights; [`Error::Parameter`] if no candidate could be tried, with the reasons;
    /// [`Error::Cancelled`]; [`Error::TooShort`] if the first candidate took all the time.
    pub fn choose<'t>(
        &self,
        samples: &dyn Source<Samples = AnySamples>,
        answers: impl Into<Answers<'t>>,
        sample_weight: Option<&[f64]>,
        monitor: &Monitor<'_>,
    ) -> Result<SimilarityChoice> {
        let monitor = &monitor.with_strict_limit().with_part_of_time(SELECTION_TIME_SHARE);
        let choice = self.choose_in_time(samples, &answers.into(), sample_weight, monitor)?;
        Ok(SimilarityChoice { is_cut: !choice.tried.is_empty() && monitor.ask().is_err(), ..choice })
    }

    fn choose_in_time(
        &self,
        samples: &dyn Source<Samples = AnySamples>,
        answers: &Answers<'_>,
        sample_weight: Option<&[f64]>,
        monitor: &Monitor<'_>,
    ) -> Result<SimilarityChoice> {
        let weights = answers.weights(samples.n_samples(), sample_weight, &self.class_weight)?;
        let candidates: Vec<Finalist> = self.candidates.iter().map(|one| self.normalized(one.clone())).collect();
        // Features alone need no bases.
        if let [only] = &candidates[..]
            && (!self.counts_bases || !compares(&only.0)?)
        {
            return Ok(SimilarityChoice::of(only.clone()));
        }
        let samples = &About::new(samples, &weights)?;
        let all = All::new(samples, answers, (&weights, sample_weight), self, monitor)?;
        let (is_part, n_more) = (all.len() > all.n_compared(), n_to_count(all.len()));
        // Of a single one the bases are counted, on more samples.
        let n_first = if candidates.len() == 1 { n_more } else { all.n_compared() };
        let mut trial = Trial::on(Subset::of(&all, n_first)?, *monitor);
        let after = if is_part && all.has_labels() { 3.0 * cost_on(n_more) } else { 0.0 };
        let finalists = match candidates.len() {
            1 => candidates,
            _ => self.compared(&all, &mut trial, candidates, after)?,
        };
        let Some((best, lambda)) = finalists.first().cloned() else {
            // The error of a single requested similarity is returned as it is.
            let is_requested = !self.candidates.is_empty()
                && self.candidates.iter().all(|one| one.similarity == self.candidates[0].similarity);
            let name = |point: &SimilarityPoint| point.candidate.similarity.join(" ");
            let (parameter, expected) = (("similarity", "auto"), "a candidate that can be tried");
            return Err(trial.table.nothing(parameter, expected, is_requested, name));
        };
        let n_basis = if is_part { self.n_basis(&all, &best)? } else { None };
        let counts = self.counts_bases && is_part && n_basis.is_none();
        let mut choice = SimilarityChoice::of((best, lambda));
        let is_open = finalists.len() > 1 && is_part;
        let longest = trial.table.tried.iter().map(|tried| tried.seconds).fold(0.0, f64::max);
        let needs = cost_on(n_more) * (finalists.len() as f64 + 1.0) * longest;
        let has_time = monitor.seconds_left().is_none_or(|left| needs <= left);
        if (is_open || counts) && has_time {
            trial.extend_to(&all, n_more, cost_on(n_more))?;
            match self.on_more(&all, &mut trial, &mut choice, &finalists) {
                Err(Error::TooShort { .. }) => {}
                found => found?,
            }
        } else {
            choice.n_basis = n_basis.filter(|&n| has_time || n == 1);
        }
        if self.chooses_loss && has_time && trial.may_be_squared(&choice.best) {
            trial.extend_to(&all, n_more, cost_on(n_more))?;
            (trial.near, trial.stays) = (choice.lambda, false);
            choice.loss = match trial.choose_loss(&choice.best, SELECTION_BASES.min(all.len())) {
                Err(Error::TooShort { .. }) => None,
                loss => loss?,
            };
        }
        choice.tried = trial.table.tried;
        Ok(choice)
    }

    /// The candidates that may be selected: of all where there are few samples, otherwise of those that are promising on
    /// few of them. `after` is the work that may follow.
    fn compared<'a>(
        &self,
        all: &All<'a>,
        trial: &mut Trial<'a>,
        mut candidates: Vec<Finalist>,
        after: f64,
    ) -> Result<Vec<Finalist>> {
        if candidates.is_empty() {
            candidates = trial.candidates()?.into_iter().map(|one| self.normalized(one)).collect();
        }
        let (n_screened, least) = match all.has_labels() {
            true => (trial.n_samples() / SCREENING_ONE_IN, MIN_SCREENED_SAMPLES),
            false => (SCREENED_TARGETS, MIN_SCREENED_TARGETS),
        };
        let is_screened = trial.n_samples() >= least;
        if is_screened {
            trial.work.expect(candidates.len() as f64 * (3.0 * SCREENED_COST + 0.5) + TO_FOLLOW + after);
            let compared = trial.move_to(Subset::of(all, n_screened)?, SCREENED_COST);
            candidates = trial.screen(&candidates)?;
            trial.move_to(compared, 1.0);
        }
        trial.work.expect(candidates.len() as f64 + TO_FOLLOW + after);
        trial.explore(&candidates, is_screened)?;
        trial.work.expect(2.0 + after);
        trial.refine()?;
        Ok(trial.finalists())
    }

    /// The automatic number of bases where it is not counted: one for the kind of samples where they are not compared,
    /// and all samples of a small table.
    fn n_basis(&self, all: &All<'_>, candidate: &Candidate) -> Result<Option<usize>> {
        if !self.counts_bases {
            return Ok(None);
        }
        if !compares(candidate)? {
            return Ok(Some(1));
        }
        let is_small = self.all_as_bases && all.len() * candidate.similarity.len() <= MAX_SAMPLES_AS_BASES;
        Ok((is_small && all.are_vectors()?).then_some(all.len()))
    }

    /// Compares the finalists on more samples with more bases, and finds whether these clearly lower the loss of the
    /// best; the choice remains where the time limit does not allow it.
    fn on_more(
        &self,
        all: &All<'_>,
        trial: &mut Trial<'_>,
        choice: &mut SimilarityChoice,
        finalists: &[Finalist],
    ) -> Result<()> {
        let n_wanted = n_to_count(all.len());
        trial.stays = true;
        trial.work.expect((finalists.len() as f64 + 1.0) * trial.cost);
        let mut is_whole = true;
        for (candidate, lambda) in finalists {
            trial.near = *lambda;
            is_whole &= trial.run_on(candidate.clone(), n_wanted / 2 / candidate.similarity.len())?.is_some();
        }
        let Some(many) = trial.preferred().filter(|_| is_whole) else { return Ok(()) };
        (choice.best, choice.lambda) = trial.finalist(many);
        choice.n_basis = self.n_basis(all, &choice.best)?;
        if self.counts_bases && choice.n_basis.is_none() {
            let n_parts = choice.best.similarity.len();
            trial.near = choice.lambda;
            let few = trial.run_on(choice.best.clone(), n_wanted / 4 / n_parts)?;
            let error = |at: usize| trial.table.tried[at].error.unwrap_or(f64::NAN);
            let n_basis = match few.filter(|&few| trial.is_worth(many, few)) {
                // Similarities that share the bases gain from more of them for longer.
                Some(few) if (error(few) - error(many)) * n_parts as f64 >= REDOUBLING_GAIN => n_wanted,
                Some(_) => n_wanted / 2,
                None => (n_wanted / 4).max(DEFAULT_N_BASIS).min(n_wanted / 2),
            };
            choice.n_basis = Some(n_basis / n_parts);
        }
        Ok(())
    }
}

/// The number of samples on which bases are counted, of `n_samples`.
fn n_to_count(n_samples: usize) -> usize {
    (n_samples / 10).clamp(BASIS_COUNT_SAMPLES.0, BASIS_COUNT_SAMPLES.1)
}

/// The relative cost of a candidate on more samples than usual: between n² and n³.
fn cost_on(n_samples: usize) -> f64 {
    (n_samples as f64 / 1000.0).powf(2.5)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{DenseMatrix, Labels, Vectors};

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
            let of_name = found.tried.iter().filter(|tried| tried.point.candidate.similarity[0].starts_with(name));
            of_name.filter_map(|tried| tried.loss.clone().ok()).fold(f64::INFINITY, f64::min)
        };
        let least = found.tried.iter().filter_map(|tried| tried.loss.clone().ok()).fold(f64::INFINITY, f64::min);
        let best = found.tried.iter().find(|tried| tried.point.candidate == found.best).unwrap();
        assert_eq!(best.loss, Ok(least));
        assert!(least < 0.8 * loss_of("linear"), "{least}");
        // The result does not depend on the number of threads.
        let again =
            SimilaritySearch { threads: 3, ..search }.choose(&samples, &labels, None, &Monitor::none()).unwrap();
        assert_eq!(again.best, found.best);
        assert_eq!(found.tried[0].n_samples, 200);
    }

    #[test]
    fn all_rows_of_a_small_table_are_bases() {
        let monitor = Monitor::none();
        let n_basis = |samples: &AnySamples, labels: &Labels, specs: &[&str]| {
            let candidates = specs.iter().map(|spec| Candidate::usual(spec)).collect();
            let settings = SimilaritySearch { counts_bases: true, all_as_bases: true, ..SimilaritySearch::default() };
            let search = SimilaritySearch { candidates, ..settings };
            search.choose(samples, labels, None, &monitor).unwrap().n_basis
        };
        let (samples, labels) = rings(1200);
        assert_eq!(n_basis(&samples, &labels, &["rbf"]), Some(1200));
        assert_eq!(n_basis(&samples, &labels, &["rbf", "distance"]), Some(1200));
        // They are counted where similarities cost more, and of many rows.
        let strings = AnySamples::Strings((0..1200).map(|i| format!("{}{i}", ["a", "b"][i % 2])).collect());
        assert_eq!(n_basis(&strings, &labels, &["edit"]), Some(1000));
        let (samples, labels) = rings(4002);
        assert_eq!(n_basis(&samples, &labels, &["rbf"]), Some(1000));
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
