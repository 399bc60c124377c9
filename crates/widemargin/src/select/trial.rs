//! The candidates of a search on some of the samples: changes of their scale, joined similarities, weights of columns,
//! and which are behind the best beyond chance.

use super::candidate::{Candidate, common_normalization, compares, name_of, rounded, scale_of, widens, with_scale};
use super::column_gradients::column_weights;
use super::column_weights::{ColumnLikelihood, learn_columns};
use super::subset::{All, Judge, SimilarityPoint, Subset};
use super::work::Work;
use crate::data::Vectors;
use crate::error::Result;
use crate::monitor::Monitor;
use crate::problem::Loss;
use crate::search::{LeftOut, Table, Tried};
use crate::tuning::{
    CLEAR_DIFFERENCE, COLUMN_WEIGHT_TIME_SHARE, COSTLY_ERROR_GAIN, COSTLY_LOSS_GAIN, MAX_JOINED, MIN_JOIN_GAIN,
    PROMISING_LOSS, RESCALED_FINALISTS, SAME_LOSS_TOL, SELECTION_SAMPLES,
};

/// What a search does for a kind of answers.
pub(super) struct Policy {
    /// Samples on which candidates are compared, and their bases at most: of labels, a difference of 1 % in loss is
    /// significant there.
    pub samples: usize,
    pub bases: usize,
    /// A candidate whose loss is beyond this multiple of the least is not pursued.
    within: f64,
    /// Similarities that are pursued.
    pursued: usize,
    /// Steps of a factor of two by which a scale may be changed in one direction.
    scale_steps: usize,
    /// The part of the loss by which a step of a scale must lower it for another to be worth its time.
    min_gain: f64,
    /// Whether the last step of a scale is to the vertex of the parabola through the best and its neighbors.
    has_vertex: bool,
}

const OF_LABELS: Policy = Policy {
    samples: SELECTION_SAMPLES,
    bases: 500,
    within: 1.25,
    pursued: usize::MAX,
    scale_steps: 3,
    min_gain: 0.0,
    has_vertex: false,
};

/// The gain of a step is a fraction of the standard error of the error itself.
const OF_TARGETS: Policy = Policy {
    samples: 400,
    bases: usize::MAX,
    within: 1.5,
    pursued: 2,
    scale_steps: 8,
    min_gain: 0.01,
    has_vertex: true,
};

/// A candidate with its λ.
pub(super) type Finalist = (Candidate, Option<f64>);

/// The results of a first look, on few of the samples.
#[derive(Default)]
pub(super) struct FirstLook {
    /// The candidates to try on all of the samples.
    pub promising: Vec<Finalist>,
    /// The others.
    pub left: Vec<Tried<SimilarityPoint>>,
    /// The one with the least loss, if any could be tried.
    pub best: Option<Tried<SimilarityPoint>>,
    columns: Vec<ColumnLikelihood>,
}

/// The samples and the candidates that were tried on them.
pub(super) struct Trial<'a> {
    subset: Subset<'a>,
    policy: &'static Policy,
    pub table: Table<'a, SimilarityPoint>,
    /// Where the next path begins.
    pub near: Option<f64>,
    /// Whether a support vector machine is solved at that λ alone, where there is one: λ has no units, so that it is
    /// much the same on other samples of the same kind.
    pub stays: bool,
    /// Whether joined similarities share the number of features of one, where there are more samples, so that they are
    /// compared at the same cost.
    pub shares_bases: bool,
    /// Scales of the columns by kernel, where they are likely.
    columns: Vec<ColumnLikelihood>,
    /// For the progress: the work done and expected, and the cost of a candidate here.
    pub work: Work,
    pub cost: f64,
}

impl Policy {
    pub fn of(all: &All<'_>) -> &'static Policy {
        if all.has_labels() { &OF_LABELS } else { &OF_TARGETS }
    }
}

impl<'a> Trial<'a> {
    /// On at most `n_wanted` of the samples, the same for the same seed.
    pub fn on(all: &All<'a>, n_wanted: usize, monitor: Monitor<'a>) -> Result<Self> {
        let subset = Subset::of(all, n_wanted)?;
        Ok(Trial {
            policy: Policy::of(all),
            table: Table::new("similarity search", subset.len(), monitor),
            subset,
            near: None,
            stays: false,
            shares_bases: false,
            columns: Vec::new(),
            work: Work::default(),
            cost: 1.0,
        })
    }

    pub fn n_samples(&self) -> usize {
        self.subset.len()
    }

    /// The default candidates.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn candidates(&self) -> Result<Vec<Candidate>> {
        let monitor = &self.table.monitor.with_part_of_time(COLUMN_WEIGHT_TIME_SHARE).with_strict_limit();
        Ok(self.subset.candidates(column_weights(&self.subset, monitor)?))
    }

    /// Tries a candidate with the number of bases of a search, and returns its place; none once the time is up.
    fn run(&mut self, candidate: Candidate) -> Result<Option<usize>> {
        let n_bases = self.policy.bases.min(self.subset.len());
        let n_parts = if self.shares_bases { candidate.similarity.len() } else { 1 };
        self.run_on(candidate, n_bases / n_parts)
    }

    /// The same with this number of bases.
    pub fn run_on(&mut self, candidate: Candidate, n_basis: usize) -> Result<Option<usize>> {
        let path = (self.near, self.stays);
        self.attempt(self.subset.point(candidate, n_basis), |subset, point, quiet| subset.leave_out(point, path, quiet))
    }

    fn attempt(
        &mut self,
        point: SimilarityPoint,
        leave_out: impl FnOnce(&Subset<'a>, &mut SimilarityPoint, &Monitor<'a>) -> Result<LeftOut>,
    ) -> Result<Option<usize>> {
        let Trial { subset, table, .. } = self;
        let found = table.attempt(point, |point, quiet| {
            leave_out(subset, point, quiet).map_err(|error| error.of_rows(&subset.rows))
        })?;
        if let Some(at) = found {
            // Features are alike enough for λ to be near that of the last: it has no units.
            self.near = self.point(at).lambda.or(self.near);
            self.work.add(self.cost);
            self.table.monitor.tell(self.work.progress("similarity search"));
        }
        Ok(found)
    }

    fn point(&self, at: usize) -> &SimilarityPoint {
        &self.table.tried[at].point
    }

    fn name(&self, at: usize) -> String {
        name_of(&self.point(at).candidate)
    }

    /// The seconds of the candidate that took longest.
    pub fn seconds(&self) -> f64 {
        self.table.tried.iter().map(|tried| tried.seconds).fold(0.0, f64::max)
    }

    /// Whether a loss is above the least one by at most this number of standard errors of their difference.
    fn is_within(&self, at: usize, least: usize, standard_errors: f64) -> bool {
        let losses = |at: usize| &self.table.left_out[at].losses[..];
        let more = self.subset.difference(losses(at), losses(least));
        more.is_some_and(|(mean, error)| mean <= standard_errors * error)
    }

    /// Whether one misclassifies enough fewer samples than another to be worth a multiple of the time, beyond this
    /// number of standard errors.
    fn corrects_beyond(&self, better: usize, other: usize, standard_errors: f64) -> bool {
        let mistakes = |at: usize| &self.table.left_out[at].mistakes[..];
        let fewer = self.subset.difference(mistakes(other), mistakes(better));
        fewer.is_some_and(|(mean, error)| mean > standard_errors * error && mean >= COSTLY_ERROR_GAIN)
    }

    /// Whether one that costs a multiple of another is clearly better and worth it: by a part of the loss, or by the
    /// number of misclassified samples.
    pub fn is_worth(&self, better: usize, other: usize) -> bool {
        let corrects = self.corrects_beyond(better, other, 1.0);
        let saves = self.table.loss(better) <= self.table.loss(other) * (1.0 - COSTLY_LOSS_GAIN);
        !self.is_within(other, better, CLEAR_DIFFERENCE) && (corrects || saves)
    }

    /// The difference of the errors of two candidates.
    pub fn corrects(&self, better: usize, other: usize) -> f64 {
        let error = |at: usize| self.table.tried[at].error.unwrap_or(f64::NAN);
        error(other) - error(better)
    }

    /// Whether two candidates have the same loss on each sample, such as z-scores of series that are z-scores already.
    fn are_alike(&self, one: usize, other: usize) -> bool {
        let (one, other) = (&self.table.left_out[one].losses, &self.table.left_out[other].losses);
        !one.is_empty() && one.len() == other.len() && one.iter().zip(other).all(|(a, b)| (a - b).abs() < SAME_LOSS_TOL)
    }

    /// The preferred candidate. With labels the first within one standard error of the least loss; where there are more
    /// samples, also one without bases than which it is not worth more. Of a regression the one with the least loss; of
    /// two kernels with weights of columns the likelier, unless the other has less error beyond chance.
    pub fn preferred(&self) -> Option<usize> {
        let ranked = self.table.ranked();
        let least = *ranked.first()?;
        if !self.subset.has_labels() {
            return Some(
                self.likelier_than(least).filter(|&at| self.is_within(at, least, CLEAR_DIFFERENCE)).unwrap_or(least),
            );
        }
        let is_enough = |at: usize| {
            let is_cheap = self.point(at).is_cheap && !self.point(least).is_cheap;
            self.subset.is_part && is_cheap && !self.is_worth(least, at)
        };
        ranked.into_iter().filter(|&at| self.is_within(at, least, 1.0) || is_enough(at)).min()
    }

    /// The best candidate whose weights of columns are likelier than those of another.
    fn likelier_than(&self, other: usize) -> Option<usize> {
        let weights_of = |at: usize| {
            let is_weighted = self.point(at).candidate.similarity[0].contains(":weights=");
            self.columns.iter().find(|of| is_weighted && self.name(at).ends_with(of.kernel))
        };
        let own = weights_of(other)?;
        self.table.ranked().into_iter().find(|&at| weights_of(at).is_some_and(|of| of.is_likelier(own)))
    }

    /// A candidate with its λ.
    pub fn finalist(&self, at: usize) -> Finalist {
        (self.point(at).candidate.clone(), self.point(at).lambda)
    }

    /// The preferred candidate, and with labels the best of those with other similarities if it is within one standard
    /// error of the best of all. Similarities joined to the preferred one are others only if none are better.
    pub fn finalists(&self) -> Vec<Finalist> {
        let Some(preferred) = self.preferred() else { return Vec::new() };
        let (ranked, mine) = (self.table.ranked(), &self.point(preferred).candidate);
        let is_other = |at: usize| {
            let theirs = &self.point(at).candidate;
            name_of(theirs) != name_of(mine) && (at == ranked[0] || !theirs.includes(mine))
        };
        let is_rival = |at: &usize| self.is_within(*at, ranked[0], 1.0) && is_other(*at);
        let rival = ranked.iter().copied().find(is_rival).filter(|_| self.subset.has_labels());
        [preferred].into_iter().chain(rival).map(|at| self.finalist(at)).collect()
    }

    /// Of the candidates with the same similarity but for its scale, the one with the least loss.
    fn best_scale(&self, at: usize) -> usize {
        let open = |at: usize| with_scale(&self.point(at).candidate, 1.0);
        let same = self.table.ranked().into_iter().find(|&other| open(other) == open(at));
        same.unwrap_or(at)
    }

    /// The candidates whose loss is near the least, by ascending loss: all, or the best of each name if only some are
    /// pursued.
    fn near_least(&self, is_open: impl Fn(usize) -> bool) -> Vec<usize> {
        let ranked = self.table.ranked();
        let Some(least) = ranked.first().map(|&at| self.table.loss(at)) else { return Vec::new() };
        let mut names = Vec::new();
        let is_new = |at: &usize| {
            let name = self.name(*at);
            let is_new = self.policy.pursued == usize::MAX || !names.contains(&name);
            names.push(name);
            is_new
        };
        let near = ranked.into_iter().filter(|&at| self.table.loss(at) <= self.policy.within * least && is_open(at));
        near.filter(is_new).take(self.policy.pursued).collect()
    }

    /// Tries candidates, each from its λ if it has one, and then, where they are followed, other scales of the best;
    /// returns how many of the candidates were tried.
    pub fn explore(&mut self, candidates: &[Finalist], follows_scales: bool, is_explored: bool) -> Result<usize> {
        for (candidate, lambda) in candidates {
            self.near = lambda.or(self.near);
            self.run(candidate.clone())?;
        }
        let n_tried = self.table.tried.len();
        if follows_scales {
            self.climb(is_explored)?;
        }
        Ok(n_tried)
    }

    /// Changes the scales of the best candidates while that helps; after a first look, of few.
    fn climb(&mut self, is_explored: bool) -> Result<()> {
        let followed = if is_explored && self.subset.has_labels() {
            let ranked = self.table.ranked();
            let is_level = |&at: &usize| self.is_within(at, ranked[0], 1.0);
            ranked.iter().copied().filter(is_level).take(RESCALED_FINALISTS).collect()
        } else {
            self.near_least(|at| scale_of(&self.point(at).candidate).is_some())
        };
        followed.into_iter().try_for_each(|start| self.follow(start))
    }

    /// Changes the scale of a candidate while that helps, one that doubles the time while it saves a tenth.
    fn follow(&mut self, start: usize) -> Result<()> {
        if scale_of(&self.point(start).candidate).is_none() {
            return Ok(());
        }
        self.near = self.point(start).lambda;
        let mut best = start;
        // The losses at twice and at half the scale of the best, where they are known.
        let mut neighbors = [None; 2];
        for (side, factor) in [2.0, 0.5].into_iter().enumerate() {
            for _ in 0..self.policy.scale_steps {
                let Some(at) = self.with_scale_times(best, factor)? else { return Ok(()) };
                let (before, after) = (self.table.loss(best), self.table.loss(at));
                if after >= before {
                    neighbors[side] = Some(after);
                    break;
                }
                (best, neighbors[1 - side]) = (at, Some(before));
                let takes_longer = factor > 1.0 && widens(&self.point(at).candidate);
                if after > before * (1.0 - if takes_longer { COSTLY_LOSS_GAIN } else { self.policy.min_gain }) {
                    break;
                }
            }
            if best != start {
                break;
            }
        }
        let ([Some(above), Some(below)], true) = (neighbors, self.policy.has_vertex) else { return Ok(()) };
        let here = self.table.loss(best);
        // The parabola through −1, 0 and 1: its vertex, and how far below the middle that is.
        let (slope, bend) = (0.5 * (above - below), above + below - 2.0 * here);
        if bend > 0.0 && bend.is_finite() && 0.5 * slope * slope >= self.policy.min_gain * here * bend {
            self.with_scale_times(best, (-slope / bend).exp2())?;
        }
        Ok(())
    }

    /// Tries another scale and returns its place; none once the time is up.
    fn with_scale_times(&mut self, from: usize, factor: f64) -> Result<Option<usize>> {
        let SimilarityPoint { candidate, n_basis, .. } = self.point(from);
        let Some(scale) = scale_of(candidate).map(|scale| scale * factor) else { return Ok(None) };
        let scale = if self.policy.has_vertex { rounded(scale) } else { scale };
        let n_basis = n_basis.unwrap_or(self.subset.len());
        self.run_on(with_scale(candidate, scale), n_basis)
    }

    /// The candidates that are promising after a first look, with λ, and the results of the others.
    pub fn first_look(self, candidates: &[Finalist], n_listed: usize, n_all: usize) -> Result<FirstLook> {
        let Some(least) = self.table.best() else { return Ok(FirstLook::default()) };
        let best = Some(self.table.tried[least].clone());
        if !self.subset.has_labels() {
            let promising = self.near_least(|_| true).into_iter().map(|at| self.finalist(at)).collect();
            let columns = learn_columns(&self.subset, &[], &self.table.monitor)?;
            return Ok(FirstLook { promising, left: self.table.tried, best, columns });
        }
        let scales: Vec<usize> = (0..n_listed).map(|at| self.best_scale(at)).collect();
        let selected = self.screened(&scales, least, n_all > self.policy.samples);
        let is_left = |at: &usize| !selected.iter().any(|&one| scales[one] == self.best_scale(*at));
        let left = (0..self.table.tried.len()).filter(is_left).map(|at| self.table.tried[at].clone()).collect();
        // Candidates that were not tried for lack of time are not behind.
        let untried = candidates[n_listed..].iter().cloned();
        let promising = selected.iter().map(|&at| self.finalist(scales[at])).chain(untried).collect();
        Ok(FirstLook { promising, left, best, columns: Vec::new() })
    }

    /// Those of the listed candidates, with the scale that is best for each, that are near the best and not like an
    /// earlier one.
    fn screened(&self, scales: &[usize], least: usize, has_many: bool) -> Vec<usize> {
        let loss = |at: usize| self.table.loss(at);
        let is_known = |at: usize| (0..at).any(|earlier| self.are_alike(scales[earlier], scales[at]));
        let is_near = |at: usize| {
            let best = scales[at];
            // Features alone, usually many, gain most from more samples.
            let is_open = || self.point(best).is_cheap || self.is_within(best, least, CLEAR_DIFFERENCE);
            loss(best) <= PROMISING_LOSS * loss(least) || (loss(best) <= self.policy.within * loss(least) && is_open())
        };
        // Where there are many samples, bases must be better than the features of a descriptor, which gain from more
        // samples, by the part of the loss that is worth the cost. Unchanged columns gain little, where kernels gain most.
        let is_described = |at: usize| self.point(at).is_cheap && self.name(at) != "features";
        let cheap = self.table.ranked().into_iter().find(|&at| has_many && is_described(at));
        let most = |cheap: usize| loss(cheap) * (1.0 - COSTLY_LOSS_GAIN);
        let is_worth_more =
            |at: usize| self.point(at).is_cheap || cheap.is_none_or(|cheap| loss(scales[at]) < most(cheap));
        (0..scales.len()).filter(|&at| is_near(at) && is_worth_more(at) && !is_known(at)).collect()
    }

    /// Tries more than single similarities: with labels joined ones, of a regression on a table, where similarities
    /// are automatic, weights of columns.
    pub fn refine(&mut self, look: &FirstLook, is_automatic: bool) -> Result<()> {
        if self.subset.has_labels() {
            return self.join();
        }
        if is_automatic {
            self.columns = learn_columns(&self.subset, &look.columns, &self.table.monitor)?;
            self.columns.retain(ColumnLikelihood::is_likely);
            let weighted: Vec<Candidate> = self.columns.iter().map(ColumnLikelihood::candidate).collect();
            weighted.into_iter().try_for_each(|candidate| self.run(candidate).map(drop))?;
        }
        Ok(())
    }

    /// Joins the next best similarities of the same normalization to the best while that helps.
    fn join(&mut self) -> Result<()> {
        let ranked = self.table.ranked();
        let Some(&first) = ranked.first() else { return Ok(()) };
        let (mut best, mut joined) = (first, vec![self.name(first)]);
        for &other in &ranked[1..] {
            if joined.len() > MAX_JOINED || self.table.loss(other) > self.policy.within * self.table.loss(first) {
                break;
            }
            let (mine, theirs) = (self.point(best).candidate.clone(), self.point(other).candidate.clone());
            // Neighbors in scale add nothing.
            if joined.contains(&name_of(&theirs)) || mine.includes(&theirs) {
                continue;
            }
            let Some(normalization) = common_normalization(&mine, &theirs)? else { continue };
            // Sparse rows with similarities would take many times as long on many samples.
            if self.subset.is_part && compares(&mine)? != compares(&theirs)? {
                continue;
            }
            let similarity = [mine.similarity, theirs.similarity.clone()].concat();
            let Some(at) = self.run(Candidate { similarity, normalization })? else { break };
            joined.push(name_of(&theirs));
            if self.table.loss(at) >= self.table.loss(best) * (1.0 - MIN_JOIN_GAIN) {
                break;
            }
            best = at;
        }
        Ok(())
    }

    /// Whether the squared error suits a candidate that was judged by it: dense features of a descriptor.
    pub fn may_be_squared(&self, candidate: &Candidate) -> bool {
        let is_same = |tried: &&Tried<SimilarityPoint>| {
            tried.point.candidate == *candidate && tried.point.fitted == Loss::SquaredError
        };
        let found = self.table.tried.iter().rfind(is_same);
        found.is_some_and(|tried| tried.point.is_cheap && tried.point.is_described)
    }

    /// The loss of a fit on all samples: the squared error, unless the squared hinge, whose fit costs a multiple,
    /// misclassifies clearly fewer of these samples. Losses are no criterion here: one of the two fits has minimized
    /// the squared hinge.
    pub fn choose_loss(&mut self, candidate: &Candidate, n_basis: usize) -> Result<Option<Loss>> {
        let (mut expanded, mut places): (Option<(Candidate, Vectors)>, Vec<usize>) = (None, Vec::new());
        for fitted in [Loss::SquaredError, Loss::SquaredHinge] {
            let path = (self.near, self.stays);
            let point = SimilarityPoint::new(candidate.clone(), Some(n_basis), fitted);
            places.extend(self.attempt(point, |subset, point, quiet| {
                let Judge::Labels(labels) = &subset.judge else { return subset.leave_out(point, path, quiet) };
                if expanded.is_none() {
                    let features = subset.expand(point, labels, quiet)?;
                    expanded = Some((point.candidate.clone(), features));
                }
                let Some((learned, features)) = &expanded else { unreachable!("just expanded") };
                point.candidate = learned.clone();
                subset.by_hinge(point, labels, features, path, quiet)
            })?);
        }
        let is_worth = matches!(places[..], [squared, hinge] if self.corrects_beyond(hinge, squared, CLEAR_DIFFERENCE));
        Ok((!is_worth).then_some(Loss::SquaredError))
    }
}
