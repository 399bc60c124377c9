//! The candidates of a search on some of the samples: changes of their scale, joined similarities, weights of columns,
//! and which are behind the best beyond chance.

use std::mem;

use super::candidate::{
    Candidate, common_normalization, compares, follows_scales, name_of, scale_of, widens, with_scale,
};
use super::column_gradients::column_weights;
use super::column_weights::{ColumnLikelihood, learn_columns};
use super::subset::{All, Judge, SimilarityPoint, Subset};
use super::work::Work;
use crate::error::Result;
use crate::monitor::Monitor;
use crate::problem::Loss;
use crate::search::{LeftOut, Table, Tried};
use crate::tuning::{
    CLEAR_DIFFERENCE, COLUMN_WEIGHT_TIME_SHARE, COSTLY_ERROR_GAIN, COSTLY_LOSS_GAIN, MAX_JOINED, MAX_PURSUED_LOSS,
    MAX_SCALE_STEPS, MIN_JOIN_GAIN, MIN_SCALE_GAIN, PROMISING_LOSS, RESCALED_FINALISTS, SAME_LOSS_TOL, SELECTION_BASES,
};

/// A candidate with its λ.
pub(super) type Finalist = (Candidate, Option<f64>);

/// The samples and the candidates that were tried on them.
pub(super) struct Trial<'a> {
    subset: Subset<'a>,
    pub table: Table<'a, SimilarityPoint>,
    /// Where the next path begins.
    pub near: Option<f64>,
    /// Whether a support vector machine is solved at that λ alone, where there is one: λ has no units, so that it is
    /// much the same on other samples of the same kind.
    pub stays: bool,
    /// Whether joined similarities share the number of features of one, where there are more samples, so that they are
    /// compared at the same cost.
    has_more: bool,
    /// Scales of the columns by kernel, where they are likely.
    columns: Vec<ColumnLikelihood>,
    /// For the progress: the work done and expected, and the cost of a candidate here.
    pub work: Work,
    pub cost: f64,
}

impl<'a> Trial<'a> {
    pub fn on(subset: Subset<'a>, monitor: Monitor<'a>) -> Self {
        Trial {
            table: Table::new("similarity search", subset.len(), monitor),
            near: None,
            stays: false,
            has_more: subset.is_part,
            subset,
            columns: Vec::new(),
            work: Work::default(),
            cost: 1.0,
        }
    }

    /// Goes on with other samples, on which a candidate has this cost; returns those before.
    pub fn move_to(&mut self, subset: Subset<'a>, cost: f64) -> Subset<'a> {
        (self.table.n_samples, self.cost) = (subset.len(), cost);
        mem::replace(&mut self.subset, subset)
    }

    /// Goes on with more samples, unless these are as many.
    pub fn extend_to(&mut self, all: &All<'a>, n_wanted: usize, cost: f64) -> Result<()> {
        if self.n_samples() < n_wanted.min(all.len()) {
            self.move_to(Subset::of(all, n_wanted)?, cost);
        }
        self.cost = cost;
        Ok(())
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
        let n_bases = SELECTION_BASES.min(self.subset.len());
        let n_parts = if self.has_more { candidate.similarity.len() } else { 1 };
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

    /// Whether two candidates have the same loss on each sample, such as z-scores of series that are z-scores already.
    fn are_alike(&self, one: usize, other: usize) -> bool {
        let (one, other) = (&self.table.left_out[one].losses, &self.table.left_out[other].losses);
        !one.is_empty() && one.len() == other.len() && one.iter().zip(other).all(|(a, b)| (a - b).abs() < SAME_LOSS_TOL)
    }

    /// The preferred candidate. With labels the first within one standard error of the least loss; where there are more
    /// samples, also one without bases than which it is not worth more. Of a regression the one with the least loss.
    pub fn preferred(&self) -> Option<usize> {
        let ranked = self.table.ranked();
        let least = *ranked.first()?;
        if !self.subset.has_labels() {
            return Some(least);
        }
        let is_enough = |at: usize| {
            let is_cheap = self.point(at).is_cheap && !self.point(least).is_cheap;
            self.subset.is_part && is_cheap && !self.is_worth(least, at)
        };
        ranked.into_iter().filter(|&at| self.is_within(at, least, 1.0) || is_enough(at)).min().or(Some(least))
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

    /// Tries candidates, each from its λ if it has one, and then other scales of the best; returns how many of the
    /// candidates were tried.
    pub fn explore(&mut self, candidates: &[Finalist], is_explored: bool) -> Result<usize> {
        for (candidate, lambda) in candidates {
            self.near = lambda.or(self.near);
            self.run(candidate.clone())?;
        }
        let n_tried = self.table.tried.len();
        if follows_scales(&self.subset.search.candidates) {
            self.climb(is_explored)?;
        }
        Ok(n_tried)
    }

    /// Changes the scales of the best candidates while that helps; after a first look, of few.
    fn climb(&mut self, is_explored: bool) -> Result<()> {
        let ranked = self.table.ranked();
        let Some(&least) = ranked.first() else { return Ok(()) };
        let is_near = |&at: &usize| match is_explored {
            true => self.is_within(at, least, 1.0),
            false => self.table.loss(at) <= MAX_PURSUED_LOSS * self.table.loss(least),
        };
        let most = if is_explored { RESCALED_FINALISTS } else { usize::MAX };
        let followed: Vec<usize> = ranked.iter().copied().filter(is_near).take(most).collect();
        followed.into_iter().try_for_each(|start| self.follow(start))
    }

    /// Changes the scale of a candidate while that helps, one that doubles the time while it saves a tenth.
    fn follow(&mut self, start: usize) -> Result<()> {
        self.near = self.point(start).lambda;
        let mut best = start;
        for factor in [2.0, 0.5] {
            for _ in 0..MAX_SCALE_STEPS {
                let Some(at) = self.with_scale_times(best, factor)? else { return Ok(()) };
                let (before, after) = (self.table.loss(best), self.table.loss(at));
                if after < before {
                    best = at;
                }
                let takes_longer = factor > 1.0 && widens(&self.point(at).candidate);
                if after > before * (1.0 - if takes_longer { COSTLY_LOSS_GAIN } else { MIN_SCALE_GAIN }) {
                    break;
                }
            }
            if best != start {
                break;
            }
        }
        Ok(())
    }

    /// Tries another scale and returns its place; none without a scale, and once the time is up.
    fn with_scale_times(&mut self, from: usize, factor: f64) -> Result<Option<usize>> {
        let SimilarityPoint { candidate, n_basis, .. } = self.point(from);
        let Some(scale) = scale_of(candidate).map(|scale| scale * factor) else { return Ok(None) };
        let n_basis = n_basis.unwrap_or(self.subset.len());
        self.run_on(with_scale(candidate, scale), n_basis)
    }

    /// The candidates that are promising after a first look at them on few of the samples, with λ.
    pub fn screen(&mut self, candidates: &[Finalist]) -> Result<Vec<Finalist>> {
        let n_listed = self.explore(candidates, false)?;
        let Some(least) = self.table.best() else { return Ok(candidates.to_vec()) };
        self.learn_columns()?;
        let scales: Vec<usize> = (0..n_listed).map(|at| self.best_scale(at)).collect();
        let promising = self.screened(&scales, least).into_iter().map(|at| self.finalist(scales[at]));
        // Candidates that were not tried for lack of time are not behind.
        Ok(promising.chain(candidates[n_listed..].iter().cloned()).collect())
    }

    /// Those of the listed candidates, with the scale that is best for each, that are near the best and not like an
    /// earlier one.
    fn screened(&self, scales: &[usize], least: usize) -> Vec<usize> {
        let loss = |at: usize| self.table.loss(at);
        let is_known = |at: usize| (0..at).any(|earlier| self.are_alike(scales[earlier], scales[at]));
        let is_near = |at: usize| {
            let best = scales[at];
            // Features alone, usually many, gain most from more samples.
            let is_open = || self.point(best).is_cheap || self.is_within(best, least, CLEAR_DIFFERENCE);
            loss(best) <= PROMISING_LOSS * loss(least) || (loss(best) <= MAX_PURSUED_LOSS * loss(least) && is_open())
        };
        // Where there are many samples, bases must be better than the features of a descriptor, which gain from more
        // samples, by the part of the loss that is worth the cost. Unchanged columns gain little, where kernels gain most.
        let is_described = |at: usize| self.point(at).is_cheap && self.name(at) != "features";
        let cheap = self.table.ranked().into_iter().find(|&at| self.has_more && is_described(at));
        let most = |cheap: usize| loss(cheap) * (1.0 - COSTLY_LOSS_GAIN);
        let is_worth_more =
            |at: usize| self.point(at).is_cheap || cheap.is_none_or(|cheap| loss(scales[at]) < most(cheap));
        (0..scales.len()).filter(|&at| is_near(at) && is_worth_more(at) && !is_known(at)).collect()
    }

    /// Tries more than single similarities: with labels joined ones, of a regression on a table weights of columns.
    pub fn refine(&mut self) -> Result<()> {
        if self.subset.has_labels() {
            return self.join();
        }
        self.learn_columns()?;
        self.columns.retain(ColumnLikelihood::is_likely);
        let is_likeliest = |one: &&ColumnLikelihood| !self.columns.iter().any(|other| other.is_likelier(one));
        let weighted: Vec<Candidate> =
            self.columns.iter().filter(is_likeliest).map(ColumnLikelihood::candidate).collect();
        weighted.into_iter().try_for_each(|candidate| self.run(candidate).map(drop))
    }

    /// The scales of the columns of a regression, from those of a first look, where similarities are automatic.
    fn learn_columns(&mut self) -> Result<()> {
        if self.subset.search.candidates.is_empty() {
            self.columns = learn_columns(&self.subset, &self.columns, &self.table.monitor)?;
        }
        Ok(())
    }

    /// Joins the next best similarities of the same normalization to the best while that helps.
    fn join(&mut self) -> Result<()> {
        let ranked = self.table.ranked();
        let Some(&first) = ranked.first() else { return Ok(()) };
        let (mut best, mut joined) = (first, vec![self.name(first)]);
        for &other in &ranked[1..] {
            if joined.len() > MAX_JOINED || self.table.loss(other) > MAX_PURSUED_LOSS * self.table.loss(first) {
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
        let mut expanded = SimilarityPoint::new(candidate.clone(), Some(n_basis), Loss::SquaredError);
        let Judge::Labels(labels) = &self.subset.judge else { return Ok(None) };
        let labels = labels.clone();
        let features = self.subset.expand(&mut expanded, &labels, &self.table.monitor.without_progress())?;
        let (path, mut places) = ((self.near, self.stays), Vec::new());
        for fitted in [Loss::SquaredError, Loss::SquaredHinge] {
            let point = SimilarityPoint { fitted, ..expanded.clone() };
            places.extend(
                self.attempt(point, |subset, point, quiet| subset.by_hinge(point, &labels, &features, path, quiet))?,
            );
        }
        let is_worth = matches!(places[..], [squared, hinge] if self.corrects_beyond(hinge, squared, CLEAR_DIFFERENCE));
        Ok((!is_worth).then_some(Loss::SquaredError))
    }
}
