//! `widemargin cv`: cross-validation of every point of a grid.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::{Value, json};
use widemargin::Result;
use widemargin::data::Targets;
use widemargin::monitor::{Monitor, Stopped};
use widemargin::select::{CrossValidation, LabelScores, RegressionScoring, Scoring, cross_validate};
use widemargin::solve::Status;
use widemargin_io::{ReadOptions, Samples, Table};

use crate::args::Input;
use crate::commands::choice::{Choice, Task};
use crate::context::Context;
use crate::folds::{FoldArgs, Folds};
use crate::label_scores::KeptLabels;
use crate::labels::check_labels;
use crate::method::{Method, Point};
use crate::model::named;
use crate::output::{check_model_file, print, print_json};
use crate::report::{Failure, in_file};
use crate::resources::Memory;
use crate::samples::in_whole;
use crate::scoring::AnyScoring;
use crate::summary::{RegressionSummary, Stopping, Summary, Trained};
use crate::task::{Regression, TaskName, targets_of};
use crate::text_table::text_table;
use crate::training_data::Data;

/// Arguments of `cv`.
#[derive(Debug, Args)]
pub struct Cv {
    #[command(subcommand)]
    method: Choice<Options>,
}

#[derive(Debug, Args)]
struct Options {
    #[command(flatten)]
    input: Input,
    /// The model file to write: the best point of the grid, fitted on all samples as `train` does
    #[arg(short, long, value_name = "MODEL")]
    output: Option<PathBuf>,
    #[command(flatten)]
    stopping: Stopping,
    #[command(flatten)]
    folds: FoldArgs,
    /// The score by which points are compared, as scikit-learn defines it: of classes accuracy (the default; of several
    /// labels that of all of a sample), balanced-accuracy, f1-macro, roc-auc (of more than two classes the mean of each against the rest),
    /// average-precision (of the second of two classes), neg-log-loss, neg-brier-score (of the probabilities); of numbers
    /// r2 (the default), neg-mean-absolute-error, neg-root-mean-squared-error, neg-mean-pinball-loss:quantile=0.9 (the default
    /// of --loss quantile, with its quantile)
    #[arg(long, value_name = "NAME")]
    scoring: Option<AnyScoring>,
    #[command(flatten)]
    memory: Memory,
    /// What is predicted: classes, or numbers by basis-expansion or thin-plate
    #[arg(long, value_name = "TASK", default_value = "classification")]
    task: TaskName,
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
}

/// The results of a grid point.
struct Tried {
    json: Value,
    cells: Vec<(&'static str, String)>,
    scores: CrossValidation,
    seconds: f64,
    converged: bool,
}

impl Cv {
    /// Runs the command.
    pub fn run(self, context: &Context) -> Result<(), Failure> {
        self.method.run(context)?;
        context.check_interrupted()
    }
}

impl Task for Options {
    fn run<M: Method>(&self, method: &M, context: &Context) -> Result<(), Failure> {
        if self.memory.memory.is_some() && !M::KEEPS_WITHIN_MEMORY {
            let failure = Failure::input(format!("--memory: `cv {}` holds all samples and their features", M::NAME));
            return Err(failure.help("choose parameters on a part of the samples, then `train --memory` on all"));
        }
        if let Some(output) = &self.output {
            check_model_file(output, &self.input)?;
            if let Some(groups) = &self.folds.groups {
                widemargin::output::check(output, &[("the file of the groups", groups)])?;
            }
        }
        match self.task {
            TaskName::Classification => self.compare_classes(method, context),
            TaskName::Regression => self.compare_numbers(method, context),
            TaskName::OneClass => {
                let failure = Failure::input("--task one-class: `cv` compares what is predicted with labels");
                Err(failure.help("`train --task one-class`, then `evaluate` on samples labeled 1 and -1"))
            }
        }
    }
}

impl Options {
    fn compare_classes<M: Method>(&self, method: &M, context: &Context) -> Result<(), Failure> {
        method.check_classes()?;
        let points = method.grid(&context.common, self.memory.memory)?;
        let scoring = self.scoring.map_or(Ok(Scoring::default()), AnyScoring::of_classes)?;
        let (table, seconds_read) = self.read(context)?;
        let file = &self.input.data;
        let labels = &*table.any_labels(file)?;
        let folds = if table.indicators.is_some() {
            LabelScores::check(scoring)?;
            self.folds.unstratified(context, file, labels.len(), table.groups.as_ref())?
        } else {
            check_labels(context, &self.input, &table)?;
            labels.check(table.samples.n_rows()).map_err(|error| in_file(error, file, &table, 0))?;
            let folds = self.folds.folds(context, file, labels, table.groups.as_ref())?;
            folds.check_scoring(scoring, labels)?;
            folds
        };
        let search = Search::new(self, context, &table, &folds, AnyScoring::Classes(scoring));
        let threads = context.common.threads;
        let (tried, best) = search.try_all(&points, |params, train, test, monitor| {
            let (part, weights) = search.part(train)?;
            let data = Data::Samples(&part, weights.as_deref());
            let model = M::fit(params, data, &labels.select(train), monitor).map_err(|error| in_whole(error, train))?;
            let (part, weights) = search.part(test)?;
            let values =
                model.decision_function(&part.view()?, threads, monitor).map_err(|error| in_whole(error, test))?;
            let score = match &table.indicators {
                Some(several) => {
                    let mut kept = KeptLabels::default();
                    // A model keeps the order of the labels.
                    let order: Vec<Option<usize>> = (0..several.names.len()).map(Some).collect();
                    kept.add(several, &order, test.iter().copied(), values.values(), table.weights.as_deref());
                    kept.scores(model.classes())?.score(scoring)?
                }
                None => scoring.score_model(&*model, &labels.select(test), weights.as_deref(), values.values())?,
            };
            Ok((score, model.report().status))
        })?;
        let mut found = search.json(M::NAME, &tried, best);
        found["classes"] = json!(labels.classes());
        search.tell(found, &tried, best, |output, monitor| {
            let samples = Data::Samples(&table.samples, table.weights.as_deref());
            let model = M::fit(&points[best].params, samples, labels, monitor).and_then(|model| named(model, &table));
            let model = model.map_err(|error| in_file(error, file, &table, 0))?;
            let samples = Trained::of(&table, &*model)?;
            let summary = Summary::of_written(context, &*model, samples, seconds_read, (output, self.stopping))?;
            Ok((summary.json(points[best].json.clone()), summary.summary()))
        })
    }

    fn compare_numbers<M: Method>(&self, method: &M, context: &Context) -> Result<(), Failure> {
        // What is common to both tasks is checked as it is for classes.
        method.grid(&context.common, self.memory.memory)?;
        let points = method.regressions(&context.common, self.memory.memory)?;
        let scoring = self.scoring.map_or_else(|| common_scoring(&points), AnyScoring::of_numbers)?;
        let (table, seconds_read) = self.read(context)?;
        let file = &self.input.data;
        let targets = Targets::single(targets_of(table.require_labels(file)?, file, 0)?)?;
        let folds = self.folds.unstratified(context, file, targets.len(), table.groups.as_ref())?;
        folds.check_sizes(scoring)?;
        let search = Search::new(self, context, &table, &folds, AnyScoring::Numbers(scoring));
        let threads = context.common.threads;
        let (tried, best) = search.try_all(&points, |regression, train, test, monitor| {
            let (part, weights) = search.part(train)?;
            let model = (regression.fit)(Data::Samples(&part, weights.as_deref()), &targets.of_rows(train), monitor)
                .map_err(|error| in_whole(error, train))?;
            let (part, weights) = search.part(test)?;
            let values = model.predict(&part.view()?, threads, monitor).map_err(|error| in_whole(error, test))?;
            let score = scoring.score(&targets.of_rows(test).output(0), &values.values, weights.as_deref())?;
            Ok((score, model.report().status))
        })?;
        let mut found = search.json(M::NAME, &tried, best);
        found["task"] = json!("regression");
        search.tell(found, &tried, best, |output, monitor| {
            let model = points[best].params.model((file, &table), &targets, monitor)?;
            let samples = Trained::numbers_of(&table, &*model)?;
            let summary =
                RegressionSummary::of_written(context, &*model, samples, seconds_read, (output, self.stopping))?;
            Ok((summary.json(&points[best].json), summary.summary()))
        })
    }

    fn read(&self, context: &Context) -> Result<(Table, f64), Failure> {
        let options = ReadOptions { group: self.folds.group.clone(), ..self.input.options_to_learn() };
        context.read(&self.input.data, &options)
    }
}

/// The score that suits the loss of all points. The median is comparable with a mean.
fn common_scoring(points: &[Point<Regression>]) -> Result<RegressionScoring, Failure> {
    let is_central = |scoring: RegressionScoring| match scoring {
        RegressionScoring::NegMeanPinballLoss { quantile } => quantile == 0.5,
        _ => true,
    };
    let mut scorings = points.iter().map(|point| point.params.scoring);
    let first = scorings.next().unwrap_or_default();
    match scorings.find(|scoring| *scoring != first) {
        None => Ok(first),
        Some(_) if points.iter().all(|point| is_central(point.params.scoring)) => Ok(RegressionScoring::default()),
        Some(other) => {
            let failure = format!("--scoring is needed: {first} suits the loss of some points, {other} that of others");
            Err(Failure::input(failure).help("compare one quantile at a time, or say by which score all are compared"))
        }
    }
}

/// The data and settings of the search.
struct Search<'a> {
    options: &'a Options,
    context: &'a Context,
    table: &'a Table,
    folds: &'a Folds,
    scoring: AnyScoring,
    /// The part of the time limit that the fit on all samples may take, by the longest fold so far.
    reserve: Cell<Duration>,
}

impl<'a> Search<'a> {
    fn new(
        options: &'a Options,
        context: &'a Context,
        table: &'a Table,
        folds: &'a Folds,
        scoring: AnyScoring,
    ) -> Self {
        Search { options, context, table, folds, scoring, reserve: Cell::new(Duration::ZERO) }
    }

    /// Some of the samples, and their weights.
    fn part(&self, rows: &[usize]) -> Result<(Samples, Option<Vec<f64>>)> {
        let weights = self.table.weights.as_ref().map(|weights| rows.iter().map(|&row| weights[row]).collect());
        Ok((self.table.samples.select(rows)?, weights))
    }

    /// Tries the points until the time limit, and tells the best of them. `fold` fits parameters to the first rows and gives
    /// the score on the others.
    fn try_all<P>(
        &self,
        points: &[Point<P>],
        fold: impl Fn(&P, &[usize], &[usize], &Monitor<'_>) -> Result<(f64, Status)>,
    ) -> Result<(Vec<Tried>, usize), Failure> {
        let (context, file) = (self.context, &self.options.input.data);
        context.bar.say("");
        context.bar.count(points.len() * self.options.folds.folds);
        let mut tried: Vec<Tried> = Vec::new();
        for point in points {
            match self.try_out(point, &fold) {
                Ok(Some(point)) => tried.push(point),
                Ok(None) => break,
                Err(error) => return Err(in_file(error, file, self.table, 0)),
            }
        }
        context.bar.hide();
        if tried.is_empty() {
            return Err(Failure::work("the time limit passed before the first point of the grid was done"));
        }
        let (n_tried, n_points) = (tried.len(), points.len());
        if n_tried < n_points {
            context.warn(&format!("the time limit passed after {n_tried} of {n_points} points"));
        }
        let best = (0..n_tried).fold(0, |best, i| if mean(&tried[i]) > mean(&tried[best]) { i } else { best });
        Ok((tried, best))
    }

    /// All folds of a grid point; `None` if the time limit passes first.
    fn try_out<P>(
        &self,
        point: &Point<P>,
        fold: impl Fn(&P, &[usize], &[usize], &Monitor<'_>) -> Result<(f64, Status)>,
    ) -> Result<Option<Tried>> {
        let (start, sink) = (Instant::now(), |_| ());
        let mut converged = true;
        let scores = cross_validate(&self.folds.of, |train, test| {
            let monitor = self.context.monitor_until(self.reserve.get(), &sink);
            // Skips the remaining folds of an abandoned point.
            if monitor.ask() == Err(Stopped::TimeLimit) {
                return Ok(f64::NAN);
            }
            let started = Instant::now();
            let (score, status) = fold(&point.params, train, test, &monitor)?;
            if self.options.output.is_some() {
                // All samples are as many folds as those of a fit, and one; twice, because time may grow faster.
                let n_folds = self.options.folds.folds as f64;
                let of_all = started.elapsed().mul_f64(2.0 * n_folds / (n_folds - 1.0));
                self.reserve.set(self.reserve.get().max(of_all));
            }
            converged &= status == Status::Converged;
            self.context.bar.step();
            Ok(if status == Status::TimeLimit { f64::NAN } else { score })
        })?;
        let seconds = start.elapsed().as_secs_f64();
        let (json, cells) = (point.json.clone(), point.cells.clone());
        Ok(scores.mean().is_finite().then_some(Tried { json, cells, scores, seconds, converged }))
    }

    /// Prints what was found. If a model is to be written, `written` fits the best point to all samples, writes it to the
    /// file, and gives what `train` tells of it, in JSON and as text.
    fn tell(
        &self,
        found: Value,
        tried: &[Tried],
        best: usize,
        written: impl FnOnce(&Path, &Monitor<'_>) -> Result<(Value, String), Failure>,
    ) -> Result<(), Failure> {
        let as_json = self.options.json;
        if !as_json {
            print(&as_text(self.scoring, tried, best))?;
        }
        let Some(output) = &self.options.output else { return if as_json { print_json(&found) } else { Ok(()) } };
        let sink = |progress| self.context.bar.fit("the best point: ", progress);
        let (mut all, summary) = written(output, &self.context.monitor(&sink))?;
        if as_json {
            all.as_object_mut().into_iter().zip(found.as_object()).for_each(|(all, found)| all.extend(found.clone()));
            return print_json(&all);
        }
        let parameters: Vec<String> = tried[best].cells.iter().map(|(head, cell)| format!("{head} = {cell}")).collect();
        self.context.note(&format!("the best point on all samples: {}\n{summary}", parameters.join(", ")));
        Ok(())
    }

    /// As `--json` prints it.
    fn json(&self, method: &str, tried: &[Tried], best: usize) -> Value {
        let points: Vec<_> = tried
            .iter()
            .map(|tried| {
                json!({
                    "parameters": tried.json,
                    "scores": tried.scores.scores,
                    "mean": tried.scores.mean(),
                    "standard_deviation": tried.scores.standard_deviation(),
                    "converged": tried.converged,
                    "seconds": tried.seconds,
                })
            })
            .collect();
        let samples = &self.table.samples;
        json!({
            "method": method,
            "n_samples": samples.n_rows(),
            "samples": samples.kind(),
            "n_features": (samples.kind() == "vectors").then(|| samples.n_cols()),
            "folds": self.options.folds.folds,
            "n_groups": self.folds.n_groups,
            "scoring": self.scoring.to_string(),
            "seed": self.context.common.seed,
            "points": points,
            "best": best,
        })
    }
}

fn mean(tried: &Tried) -> f64 {
    tried.scores.mean()
}

/// One line per point. Constant columns are omitted, except for the first two (the kernel and C).
fn as_text(scoring: AnyScoring, tried: &[Tried], best: usize) -> String {
    let first = &tried[0].cells;
    let varies = |column: usize| tried.iter().any(|t| t.cells[column] != first[column]);
    let shown: Vec<usize> = (0..first.len()).filter(|&column| column < 2 || varies(column)).collect();
    let mut heads: Vec<&str> = shown.iter().map(|&column| first[column].0).collect();
    let (score, factor, digits) = match scoring {
        AnyScoring::Classes(of) if !of.needs_probabilities() => (format!("{scoring} %"), 100.0, 2),
        // Losses have no largest value to be a percentage of.
        AnyScoring::Classes(_) | AnyScoring::Numbers(_) => (scoring.to_string(), 1.0, 4),
    };
    heads.extend([&score, "seconds", ""]);
    let rows: Vec<Vec<String>> = (0..tried.len())
        .map(|i| {
            let (t, scores) = (&tried[i], &tried[i].scores);
            let mut row: Vec<String> = shown.iter().map(|&column| t.cells[column].1.clone()).collect();
            row.push(format!(
                "{:.digits$} ± {:.digits$}",
                factor * scores.mean(),
                factor * scores.standard_deviation()
            ));
            row.push(format!("{:.2}", t.seconds));
            row.push(match (i == best, t.converged) {
                (true, true) => "* best".into(),
                (true, false) => "* best, not converged".into(),
                (false, true) => String::new(),
                (false, false) => "not converged".into(),
            });
            row
        })
        .collect();
    text_table(&heads, &rows)
}
