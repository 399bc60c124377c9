//! Selecting similarities to combine: greedy forward selection by cross-validation.
//!
//! Aghazadeh & Carlsson, *Large Scale, Large Margin Classification using Indefinite Similarity Measures*, section 3.5:
//! several similarities on shared bases are concatenated as features, and those that help are selected one after the
//! other. The features of all candidates are computed once; a trial only gathers columns of them.

use std::ops::Range;

use crate::data::{DenseMatrix, FoldClasses, Labels, Rows, stratified_folds};
use crate::error::{Error, Result, require, require_cost, require_gap};
use crate::expansion::{BasisExpansion, ROWS_A_CHUNK};
use crate::linalg;
use crate::monitor::{Monitor, Progress, Stopped};
use crate::par::Pool;
use crate::problem::{Block, Intercept, LinearObjective, OneVsRest, SmoothLoss};
use crate::similarity::Similarity;
use crate::solve::Status;
use crate::solve::newton::{self, NewtonSettings};

/// Settings of the selection.
#[derive(Clone, Debug, PartialEq)]
pub struct GreedySettings {
    /// Folds of the cross-validation; at least 2.
    pub n_folds: usize,
    /// The maximum number of similarities to select; at least 1.
    pub most: usize,
    /// The minimum gain in accuracy (from 0 to 1) for adding another similarity; at least 0. The first is always
    /// selected.
    pub least_gain: f64,
    /// The weight C of the losses; above 0.
    pub c: f64,
    /// How the intercept is treated.
    pub intercept: Intercept,
    /// The relative duality gap at which a two-class problem of a trial counts as solved; in (0, 1).
    pub tol: f64,
    /// Seed of the folds.
    pub seed: u64,
    /// Number of threads, 0 meaning one per core. The result does not depend on it.
    pub threads: usize,
}

impl Default for GreedySettings {
    fn default() -> Self {
        GreedySettings {
            n_folds: 5,
            most: usize::MAX,
            least_gain: 0.002,
            c: 1.0,
            intercept: Intercept::Free,
            // Trials are compared by accuracy, which is insensitive to the last digits of the objective.
            tol: 1e-2,
            seed: 0,
            threads: 0,
        }
    }
}

/// One round of the selection.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// Each candidate's index and its accuracy combined with those selected before.
    pub accuracies: Vec<(usize, f64)>,
    /// The selected candidate: the one with the highest accuracy, the first one in a tie. `None` in the last round if
    /// no candidate gained enough.
    pub chosen: Option<usize>,
    /// The highest accuracy of the round.
    pub accuracy: f64,
}

/// The selected similarities, and the rounds of the selection.
#[derive(Clone, Debug, PartialEq)]
pub struct Greedy {
    /// The indices of the similarities in order of selection. Empty only if a time limit passed before the first round
    /// was complete.
    pub chosen: Vec<usize>,
    /// The completed rounds.
    pub rounds: Vec<Round>,
    /// [`Status::TimeLimit`] if the limit cut the selection short.
    pub status: Status,
    /// Warnings; may be empty.
    pub warnings: Vec<String>,
}

/// Selects among the similarities combined in `expansion`.
///
/// `phi` are the features of the training samples under all of them (samples × [`BasisExpansion::n_features`]), as
/// returned by [`BasisExpansion::fit`]; `labels` has one per sample. Every round adds the candidate with which a linear
/// SVM with squared hinge has the highest accuracy in stratified cross-validation. In addition to `phi`, one copy of
/// the columns in use is held in memory.
///
/// The normalization of `phi` was learned from all samples, including held-out ones; it does not see labels.
///
/// # Errors
/// [`Error::Parameter`] for invalid settings; [`Error::Shape`] if features, labels and expansion are inconsistent;
/// [`Error::OneClass`]; [`Error::Value`] for a non-finite feature; [`Error::Cancelled`].
pub fn select_similarities<S: Similarity>(
    expansion: &BasisExpansion<S>,
    phi: &DenseMatrix<f32>,
    labels: &Labels,
    settings: &GreedySettings,
    monitor: &Monitor<'_>,
) -> Result<Greedy> {
    let n_parts = expansion.similarity().n_parts();
    let parts: Vec<Range<usize>> = (0..n_parts).filter_map(|part| expansion.part_columns(part)).collect();
    if phi.n_cols != expansion.n_features() {
        return Err(Error::shape(
            "features",
            format!("{} columns", phi.n_cols),
            format!("{}, those of the expansion", expansion.n_features()),
        ));
    }
    check(settings)?;
    phi.view()?;
    labels.check_one_class("choosing bases one by one")?;
    labels.check(phi.n_rows)?;
    let folds = stratified_folds(labels, settings.n_folds, settings.seed)?;
    let warnings = FoldClasses::new(labels, None, &folds).warnings();
    let quiet = monitor.without_progress();
    let pool = Pool::new(settings.threads)?;
    let mut search = Search { parts, phi, labels, folds, settings, monitor: &quiet, pool, unsolved: 0 };

    let most = settings.most.min(n_parts);
    let mut greedy = Greedy { chosen: Vec::new(), rounds: Vec::new(), status: Status::Converged, warnings };
    let (mut done, total) = (0, (0..most).map(|round| (n_parts - round) as u64).sum());
    let mut best_yet = f64::NEG_INFINITY;
    'rounds: while greedy.chosen.len() < most {
        let candidates: Vec<usize> = (0..n_parts).filter(|part| !greedy.chosen.contains(part)).collect();
        let mut accuracies: Vec<(usize, f64)> = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            let Some(accuracy) = search.trial(&greedy.chosen, candidate)? else {
                greedy.status = Status::TimeLimit;
                greedy.warnings.push("the time limit passed before the selection was whole".into());
                break 'rounds;
            };
            accuracies.push((candidate, accuracy));
            done += 1;
            monitor.tell(Progress { stage: "select", done, total, gap: None });
        }
        let Some(&first) = accuracies.first() else { break };
        // Only a strictly higher accuracy replaces an earlier candidate.
        let (best, accuracy) =
            accuracies.iter().fold(first, |best, &other| if other.1 > best.1 { other } else { best });
        let gains = accuracy - best_yet >= settings.least_gain;
        greedy.rounds.push(Round { accuracies, chosen: gains.then_some(best), accuracy });
        if !gains {
            break;
        }
        greedy.chosen.push(best);
        best_yet = accuracy;
    }
    if search.unsolved > 0 {
        let limit = NewtonSettings::default().max_iter;
        greedy.warnings.push(format!(
            "{} machines of the trials had not converged after {limit} Newton steps (raise tol)",
            search.unsolved
        ));
    }
    Ok(greedy)
}

fn check(settings: &GreedySettings) -> Result<()> {
    require(settings.most > 0, "most", "0", "at least 1 similarity to choose")?;
    require(
        settings.least_gain >= 0.0 && settings.least_gain.is_finite(),
        "least_gain",
        settings.least_gain,
        "a gain of accuracy of at least 0, such as 0.002",
    )?;
    require_cost(settings.c)?;
    require_gap(settings.tol, "0.01")?;
    Ok(())
}

/// State shared by all trials.
struct Search<'a> {
    parts: Vec<Range<usize>>,
    phi: &'a DenseMatrix<f32>,
    labels: &'a Labels,
    folds: Vec<usize>,
    settings: &'a GreedySettings,
    monitor: &'a Monitor<'a>,
    pool: Pool,
    /// Number of problems that reached the limit of Newton steps.
    unsolved: usize,
}

impl Search<'_> {
    /// The accuracy of the selected similarities and one more; `None` if the time limit passed.
    fn trial(&mut self, chosen: &[usize], candidate: usize) -> Result<Option<f64>> {
        let columns: Vec<Range<usize>> =
            chosen.iter().chain([&candidate]).map(|&part| self.parts[part].clone()).collect();
        let features = self.gather(&columns);
        let mut n_right = 0;
        for fold in 0..self.settings.n_folds {
            let Some(right) = self.fold(&features, fold)? else { return Ok(None) };
            n_right += right;
        }
        Ok(Some(n_right as f64 / self.folds.len() as f64))
    }

    fn gather(&self, columns: &[Range<usize>]) -> DenseMatrix<f32> {
        let n_cols = columns.iter().map(Range::len).sum();
        let mut values = Vec::with_capacity(self.phi.n_rows * n_cols);
        for row in self.phi.values.chunks(self.phi.n_cols.max(1)) {
            columns.iter().for_each(|columns| values.extend_from_slice(&row[columns.clone()]));
        }
        DenseMatrix { values, n_rows: self.phi.n_rows, n_cols }
    }

    /// The number of correct predictions on a fold by a classifier trained on the others.
    fn fold(&mut self, features: &DenseMatrix<f32>, fold: usize) -> Result<Option<usize>> {
        match self.monitor.ask() {
            Err(Stopped::TimeLimit) => return Ok(None),
            Err(Stopped::Cancelled) => return Err(Error::Cancelled { stage: "select" }),
            Ok(()) => {}
        }
        let settings = self.settings;
        let view = features.view()?;
        let (codes, n_classes) = (self.labels.codes(), self.labels.classes().len());
        // A cost of 0 excludes a row, so that rows need not be copied for each fold.
        let costs: Vec<f64> = self.folds.iter().map(|&other| if other == fold { 0.0 } else { settings.c }).collect();
        let targets = OneVsRest::new(codes, n_classes);
        let loss = SmoothLoss::SquaredHinge;
        let (blocks, threads) = ([Block::from(view)], settings.threads);
        let mut objective = LinearObjective::new(&blocks, targets, &costs, loss, settings.intercept, threads)?;
        let newton = NewtonSettings { tol: settings.tol, threads, ..NewtonSettings::default() };
        let solution = newton::solve(&mut objective, &newton, None, self.monitor)?;
        if solution.status.contains(&Status::TimeLimit) {
            return Ok(None);
        }
        self.unsolved += solution.status.iter().filter(|status| **status != Status::Converged).count();

        let test: Vec<usize> = (0..self.folds.len()).filter(|&row| self.folds[row] == fold).collect();
        let (k, d) = (targets.n_problems(), view.n_cols());
        let right = |range: Range<usize>| {
            let rows = &test[range];
            let held_out = view.select(rows);
            let mut scores = vec![0.0f32; rows.len() * k];
            linalg::outer(&mut scores, &held_out.values, &solution.weights, d);
            let is_right = |(row, scores): (&usize, &mut [f32])| {
                scores.iter_mut().zip(&solution.intercepts).for_each(|(s, b)| *s = (f64::from(*s) + b) as f32);
                OneVsRest::decide(scores) == codes[*row] as usize
            };
            Ok::<_, Error>(rows.iter().zip(scores.chunks_mut(k)).map(is_right).filter(|right| *right).count())
        };
        let mut n_right = 0;
        self.pool.fold_chunks(test.len(), ROWS_A_CHUNK, right, |some| {
            n_right += some;
            Ok(())
        })?;
        Ok(Some(n_right))
    }
}
