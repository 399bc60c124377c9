//! `widemargin cv`: cross-validation of every point of a grid.

use std::cell::Cell;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::{Value, json};
use widemargin::Result;
use widemargin::model::AnyModel;
use widemargin::monitor::{Monitor, Stopped};
use widemargin::select::{Answers, CrossValidation, Estimator, Method, Place, Scoring, Task, cross_validate};
use widemargin::solve::Status;
use widemargin_io::{ReadOptions, Samples, Table};

use crate::args::Input;
use crate::context::Context;
use crate::fit::{check_series, estimator_of, fit, scoring_of};
use crate::folds::{FoldArgs, Folds};
use crate::options::{Choice, ModelArgs};
use crate::output::{check_model_file, joined, print, print_json};
use crate::report::{Failure, in_file, in_whole, refused};
use crate::resources::Memory;
use crate::scoring::check_task;
use crate::summary::{Fitted, Stopping, expected};
use crate::task::answers;
use crate::text_table::text_table;

/// Arguments of `cv`.
#[derive(Debug, Args)]
pub struct Cv {
    /// Model file to write: the best point, fitted on all samples
    #[arg(short, long, value_name = "MODEL")]
    output: Option<PathBuf>,
    #[command(flatten)]
    stopping: Stopping,
    #[command(flatten)]
    folds: FoldArgs,
    /// Score by which points are compared: accuracy, roc-auc, r2, ...
    ///
    /// Scores are defined as in scikit-learn. For classification: accuracy (the default; for multilabel targets, all
    /// labels of a sample must be correct), balanced-accuracy, f1-macro, roc-auc (with more than two classes, the mean
    /// of each class against the rest), average-precision (of the second of two classes), neg-log-loss and
    /// neg-brier-score (of the probabilities). For regression: r2 (the default), neg-mean-absolute-error,
    /// neg-root-mean-squared-error and neg-mean-pinball-loss:quantile=0.9 (the default with --loss quantile, with the
    /// same quantile).
    #[arg(long, value_name = "NAME")]
    scoring: Option<Scoring>,
    #[command(flatten)]
    memory: Memory,
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    model: ModelArgs,
}

/// A point of the grid.
struct Point {
    choice: Choice,
    estimator: Estimator,
}

/// The results of a point.
struct Tried<'a> {
    choice: &'a Choice,
    scores: CrossValidation,
    seconds: f64,
    converged: bool,
}

impl Cv {
    /// Runs the command.
    pub fn run(self, context: &Context) -> Result<(), Failure> {
        let (common, file) = (&context.common, &self.input.data);
        if self.model.task == Some(Task::OutlierDetection) {
            let help = "`train --task outlier-detection`, then `evaluate` on samples labeled 1 and -1";
            return refused("--task outlier-detection: `cv` compares predictions with labels", help);
        }
        let point = |choice: Choice| Ok(Point { estimator: estimator_of(&choice, common, self.memory.limit)?, choice });
        let points = self.model.grid()?.into_iter().map(point).collect::<Result<Vec<_>, Failure>>()?;
        if let Some(point) = points.iter().find(|point| point.choice.method != Method::ThinPlate)
            && self.memory.limit.is_some()
        {
            let method = point.choice.method;
            let failure = format!("--memory-limit: `cv --method {method}` holds all samples and their features");
            return refused(failure, "choose parameters on a part of the samples, then `train --memory-limit` on all");
        }
        if let Some(output) = &self.output {
            check_model_file(output, &self.input)?;
            if let Some(groups) = &self.folds.group_file {
                widemargin::output::check(output, &[("the file of the groups", groups)])?;
            }
        }
        let scoring = self.scoring(&points)?;
        let options = ReadOptions { group: self.folds.group.clone(), ..self.input.options_to_learn() };
        let (table, seconds_read) = context.read(file, &options)?;
        points.iter().try_for_each(|point| check_series(&point.choice, &table))?;
        let answers = answers(context, self.model.task, points[0].choice.method, &self.input, &table)?;
        let Some(answers) = answers else { unreachable!("outlier detection is refused") };
        let folds = self.folds.folds(context, (file, &table), &answers, scoring)?;
        let (cv, table, answers, folds) = (&self, &table, &answers, &folds);
        let search = Search { cv, context, table, answers, folds, scoring, reserve: Cell::default() };
        let (tried, best) = search.try_all(&points)?;
        let found = search.json(&tried, best);
        if !self.json {
            print(&as_text(scoring, &tried, best))?;
        }
        let Some(output) = &self.output else {
            if self.json {
                print_json(&found)?;
            }
            return context.check_interrupted();
        };
        let sink = |progress| context.bar.fit("the best point: ", progress);
        let (estimator, monitor) = (&points[best].estimator, context.monitor(&sink));
        let view = table.samples.view()?;
        let model = fit(estimator, Place::Memory(&view), Some(answers), table.weights.as_deref(), &monitor);
        let model = model.map(|model| if folds.n_groups.is_some() { warned_of_groups(model) } else { model });
        let fitted = model.and_then(|model| Fitted::of(model, table));
        let fitted = fitted.map_err(|error| in_file(error, file, table, 0))?;
        fitted.write(context, output, self.stopping)?;
        if self.json {
            let parameters = points[best].choice.json(common);
            print_json(&joined(fitted.json(context, output, seconds_read, parameters), found))?;
        } else {
            context.note(&format!("the best point on all samples:\n{}", fitted.summary(context, output)));
        }
        context.check_interrupted()
    }

    /// The score by which points are compared: the one that is passed, or that of the task and the losses.
    fn scoring(&self, points: &[Point]) -> Result<Scoring, Failure> {
        let is_regression = self.model.task == Some(Task::Regression);
        match self.scoring {
            Some(scoring) => check_task(scoring, is_regression).map(|()| scoring),
            None if is_regression => common_scoring(points),
            None => Ok(Scoring::default()),
        }
    }
}

/// The model with a warning that its own estimate does not keep the groups together.
fn warned_of_groups(mut model: AnyModel) -> AnyModel {
    if let Some(expected) = expected(&model) {
        let warning = format!(
            "the expected {expected} ignores the groups: it is for new samples of the same groups, the score of the folds \
             for samples of new groups"
        );
        model.report_mut().warnings.push(warning);
    }
    model
}

/// The score that suits the loss of all points. The median is comparable with a mean.
fn common_scoring(points: &[Point]) -> Result<Scoring, Failure> {
    let is_central = |scoring| !matches!(scoring, Scoring::NegMeanPinballLoss { quantile } if quantile != 0.5);
    let scorings = points.iter().map(|point| scoring_of(&point.choice)).collect::<Result<Vec<_>>>()?;
    let first = scorings[0];
    let Some(other) = scorings.iter().find(|scoring| **scoring != first) else { return Ok(first) };
    if scorings.iter().copied().all(is_central) {
        return Ok(Scoring::R2);
    }
    let failure = format!("--scoring is needed: {first} suits the loss of some points, {other} that of others");
    refused(failure, "compare one quantile at a time, or say by which score all are compared")
}

/// The data and settings of the search.
struct Search<'a> {
    cv: &'a Cv,
    context: &'a Context,
    table: &'a Table,
    answers: &'a Answers<'a>,
    folds: &'a Folds,
    scoring: Scoring,
    /// The part of the time limit that the fit on all samples may take, by the longest fold so far.
    reserve: Cell<Duration>,
}

impl Search<'_> {
    /// Some of the samples, their labels or targets, and their weights.
    fn part(&self, rows: &[usize]) -> Result<(Samples, Answers<'static>, Option<Vec<f64>>)> {
        let weights = self.table.weights.as_ref().map(|weights| rows.iter().map(|&row| weights[row]).collect());
        Ok((self.table.samples.select(rows)?, self.answers.select(rows), weights))
    }

    /// Tries the points until the time limit; also which of them is the best.
    fn try_all<'p>(&self, points: &'p [Point]) -> Result<(Vec<Tried<'p>>, usize), Failure> {
        let context = self.context;
        context.bar.say("");
        context.bar.count(points.len() * self.cv.folds.folds);
        let mut tried: Vec<Tried<'_>> = Vec::new();
        for point in points {
            let found = self.try_out(point).map_err(|error| in_file(error, &self.cv.input.data, self.table, 0))?;
            let Some(point) = found else { break };
            tried.push(point);
        }
        context.bar.hide();
        if tried.is_empty() {
            return Err(Failure::work("the time limit passed before the first point of the grid was done"));
        }
        let (n_tried, n_points) = (tried.len(), points.len());
        if n_tried < n_points {
            context.warn(&format!("the time limit passed after {n_tried} of {n_points} points"));
        }
        let mean = |at: usize| tried[at].scores.mean();
        let best = (0..n_tried).fold(0, |best, at| if mean(at) > mean(best) { at } else { best });
        Ok((tried, best))
    }

    /// All folds of a point; `None` if the time limit passes first.
    fn try_out<'p>(&self, point: &'p Point) -> Result<Option<Tried<'p>>> {
        let (start, sink) = (Instant::now(), |_| ());
        let mut converged = true;
        let scores = cross_validate(&self.folds.of, |train, test| {
            let monitor = self.context.monitor_until(self.reserve.get(), &sink);
            // Skips the remaining folds of an abandoned point.
            if monitor.ask() == Err(Stopped::TimeLimit) {
                return Ok(f64::NAN);
            }
            let started = Instant::now();
            let (score, status) = self.fold(&point.estimator, train, test, &monitor)?;
            if self.cv.output.is_some() {
                // All samples are as many folds as those of a fit, and one; twice, because time may grow faster.
                let n_folds = self.cv.folds.folds as f64;
                let of_all = started.elapsed().mul_f64(2.0 * n_folds / (n_folds - 1.0));
                self.reserve.set(self.reserve.get().max(of_all));
            }
            converged &= status == Status::Converged;
            self.context.bar.step();
            Ok(if status == Status::TimeLimit { f64::NAN } else { score })
        })?;
        let seconds = start.elapsed().as_secs_f64();
        Ok(scores.mean().is_finite().then_some(Tried { choice: &point.choice, scores, seconds, converged }))
    }

    /// Fits to the first rows; the score on the others.
    fn fold(
        &self,
        estimator: &Estimator,
        train: &[usize],
        test: &[usize],
        monitor: &Monitor<'_>,
    ) -> Result<(f64, Status)> {
        let (samples, answers, weights) = self.part(train)?;
        let model = fit(estimator, Place::Memory(&samples.view()?), Some(&answers), weights.as_deref(), monitor);
        let model = model.map_err(|error| in_whole(error, train))?;
        let (samples, answers, weights) = self.part(test)?;
        let (view, weights, threads) = (samples.view()?, weights.as_deref(), self.context.common.threads);
        let score = match (&model, answers) {
            (AnyModel::Classifier(model), Answers::Labels(labels)) => {
                let values = model.decision_function(&view, threads, monitor).map_err(|error| in_whole(error, test))?;
                self.scoring.score_model(&**model, &labels, weights, values.values())
            }
            (AnyModel::Regressor(model), Answers::Targets(targets)) => {
                let values = model.predict(&view, threads, monitor).map_err(|error| in_whole(error, test))?;
                self.scoring.score_numbers(&targets.output(0), &values.values, weights)
            }
            _ => unreachable!("a score is one of the task"),
        };
        Ok((score?, model.report().status))
    }

    /// As `--json` prints it.
    fn json(&self, tried: &[Tried<'_>], best: usize) -> Value {
        let common = &self.context.common;
        let point = |tried: &Tried<'_>| {
            json!({
                "parameters": tried.choice.json(common),
                "scores": tried.scores.scores,
                "mean": tried.scores.mean(),
                "standard_deviation": tried.scores.standard_deviation(),
                "converged": tried.converged,
                "seconds": tried.seconds,
            })
        };
        let samples = &self.table.samples;
        let mut found = json!({
            "method": tried[best].choice.method.to_string(),
            "task": tried[best].choice.json(common)["task"],
            "n_samples": samples.n_rows(),
            "samples": samples.kind(),
            "n_features": (samples.kind() == "vectors").then(|| samples.n_cols()),
            "folds": self.cv.folds.folds,
            "n_groups": self.folds.n_groups,
            "scoring": self.scoring.to_string(),
            "seed": common.seed,
            "points": tried.iter().map(point).collect::<Vec<_>>(),
            "best": best,
        });
        if let Answers::Labels(labels) = self.answers {
            found["classes"] = json!(labels.classes());
        }
        found
    }
}

/// One line per point: the similarity or kernel, C, and what differs between points.
fn as_text(scoring: Scoring, tried: &[Tried<'_>], best: usize) -> String {
    let cells: Vec<Vec<(&str, Option<String>)>> = tried.iter().map(|tried| tried.choice.cells()).collect();
    let is_shown = |&column: &usize| {
        let values: Vec<&String> = cells.iter().filter_map(|cells| cells[column].1.as_ref()).collect();
        let is_usual = ["similarity", "kernel", "C"].contains(&cells[0][column].0) && !values.is_empty();
        is_usual || values.iter().any(|value| *value != values[0])
    };
    let mut shown: Vec<usize> = (0..cells[0].len()).filter(is_shown).collect();
    if shown.is_empty() {
        shown.push(0);
    }
    let mut heads: Vec<&str> = shown.iter().map(|&column| cells[0][column].0).collect();
    // Losses have no largest value to be a percentage of.
    let (score, factor, digits) = match scoring.needs_probabilities() || scoring.is_of_numbers() {
        true => (scoring.to_string(), 1.0, 4),
        false => (format!("{scoring} %"), 100.0, 2),
    };
    heads.extend([&score, "seconds", ""]);
    let row = |at: usize| {
        let Tried { scores, seconds, converged, .. } = &tried[at];
        let value = |&column: &usize| cells[at][column].1.clone().unwrap_or_else(|| "-".into());
        let (mean, deviation) = (factor * scores.mean(), factor * scores.standard_deviation());
        let remark = match (at == best, converged) {
            (true, true) => "* best",
            (true, false) => "* best, not converged",
            (false, true) => "",
            (false, false) => "not converged",
        };
        let score = [format!("{mean:.digits$} ± {deviation:.digits$}"), format!("{seconds:.2}"), remark.into()];
        shown.iter().map(value).chain(score).collect()
    };
    text_table(&heads, (0..tried.len()).map(row))
}
