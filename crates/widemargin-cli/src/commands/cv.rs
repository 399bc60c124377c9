//! `widemargin cv`: cross-validation of every point of a grid.

use std::cell::Cell;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::{Value, json};
use widemargin::Result;
use widemargin::data::Labels;
use widemargin::monitor::{Monitor, Stopped};
use widemargin::select::{CrossValidation, Scoring, cross_validate};
use widemargin::solve::Status;
use widemargin_io::{ReadOptions, Table};

use crate::args::Input;
use crate::commands::choice::{Choice, Task};
use crate::context::Context;
use crate::folds::{FoldArgs, Folds};
use crate::labels::check_labels;
use crate::method::{Data, Method, Point};
use crate::model::{Model, named};
use crate::output::{check_model_file, print, print_json};
use crate::report::{Failure, in_file};
use crate::resources::Memory;
use crate::samples::in_whole;
use crate::summary::{Summary, Trained};
use crate::task::TaskName;
use crate::text_table::text_table;

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
    folds: FoldArgs,
    /// The score by which points are compared, as scikit-learn defines it: accuracy, balanced-accuracy, f1-macro, roc-auc
    /// (of more than two classes the mean of each against the rest), average-precision (of the second of two classes),
    /// neg-log-loss, neg-brier-score (of the probabilities)
    #[arg(long, default_value_t, value_name = "NAME")]
    scoring: Scoring,
    #[command(flatten)]
    memory: Memory,
    /// What is predicted: classes alone can be cross-validated
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
        self.method.run(context)
    }
}

impl Task for Options {
    fn run<M: Method>(&self, method: &M, context: &Context) -> Result<(), Failure> {
        if self.memory.memory.is_some() && !M::KEEPS_WITHIN_MEMORY {
            let failure = Failure::input(format!("--memory: `cv {}` holds all samples and their features", M::NAME));
            return Err(failure.help("choose parameters on a part of the samples, then `train --memory` on all"));
        }
        if self.task == TaskName::Regression {
            let failure = Failure::input("--task regression: `cv` compares classifiers");
            return Err(
                failure.help("`train --task regression` chooses similarity and C by leave-one-out, and tells R²")
            );
        }
        let points = method.grid(&context.common, self.memory.memory)?;
        let file = &self.input.data;
        if let Some(output) = &self.output {
            check_model_file(output, &self.input)?;
            if let Some(groups) = &self.folds.groups {
                widemargin::output::check(output, &[("the file of the groups", groups)])?;
            }
        }
        let options = ReadOptions { group: self.folds.group.clone(), ..self.input.options_to_learn() };
        let (table, seconds_read) = context.read(file, &options)?;
        let labels = table.require_labels(file)?;
        check_labels(context, &self.input, &table)?;
        labels.check(table.samples.n_rows()).map_err(|error| in_file(error, file, &table, 0))?;
        let folds = self.folds.folds(context, file, labels, table.groups.as_ref())?;
        folds.check_scoring(self.scoring, labels)?;
        let n_points = points.len();
        context.bar.say("");
        context.bar.count(n_points * self.folds.folds);
        let reserve = Cell::new(Duration::ZERO);
        let search = Search { context, table: &table, labels, options: self, folds: &folds, reserve };
        let mut tried = Vec::new();
        for point in &points {
            match search.try_out::<M>(point) {
                Ok(Some(point)) => tried.push(point),
                Ok(None) => break,
                Err(error) => return Err(in_file(error, file, &table, 0)),
            }
        }
        context.bar.hide();
        if tried.is_empty() {
            return Err(Failure::work("the time limit passed before the first point of the grid was done"));
        }
        let n_tried = tried.len();
        if n_tried < n_points {
            context.note(&format!("warning: the time limit passed after {n_tried} of {n_points} points"));
        }
        let best = (0..tried.len()).fold(0, |best, i| if mean(&tried[i]) > mean(&tried[best]) { i } else { best });
        let found = search.json(M::NAME, &tried, best);
        if !self.json {
            print(&as_text(self.scoring, &tried, best))?;
        }
        let Some(output) = &self.output else { return if self.json { print_json(&found) } else { Ok(()) } };
        let best = &points[best];
        let model = search.refit::<M>(best).map_err(|error| in_file(error, file, &table, 0))?;
        let samples = Trained::of(&table, &*model)?;
        let summary = Summary::of_written(context, &*model, samples, seconds_read, output)?;
        if self.json {
            let mut all = summary.json(best.json.clone());
            all.as_object_mut().into_iter().zip(found.as_object()).for_each(|(all, found)| all.extend(found.clone()));
            return print_json(&all);
        }
        let parameters: Vec<String> = best.cells.iter().map(|(head, cell)| format!("{head} = {cell}")).collect();
        context.note(&format!("the best point on all samples: {}\n{}", parameters.join(", "), summary.summary()));
        Ok(())
    }
}

/// The data and settings of the search.
struct Search<'a> {
    context: &'a Context,
    table: &'a Table,
    labels: &'a Labels,
    options: &'a Options,
    folds: &'a Folds,
    /// The part of the time limit that the fit on all samples may take, by the longest fold so far.
    reserve: Cell<Duration>,
}

impl Search<'_> {
    /// All folds of a grid point; `None` if the time limit passes first.
    fn try_out<M: Method>(&self, point: &Point<M::Params>) -> Result<Option<Tried>> {
        let (start, sink) = (Instant::now(), |_| ());
        let mut converged = true;
        let scores = cross_validate(&self.folds.of, |train, test| {
            let monitor = self.context.monitor_until(self.reserve.get(), &sink);
            // Skips the remaining folds of an abandoned point.
            if monitor.ask() == Err(Stopped::TimeLimit) {
                return Ok(f64::NAN);
            }
            let started = Instant::now();
            let (score, status) = self.fold::<M>(&point.params, train, test, &monitor)?;
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
        Ok(scores.mean().is_finite().then_some(Tried {
            json: point.json.clone(),
            cells: point.cells.clone(),
            scores,
            seconds,
            converged,
        }))
    }

    /// The model of a point, of all samples.
    fn refit<M: Method>(&self, point: &Point<M::Params>) -> Result<Model> {
        let sink = |progress| self.context.bar.fit("the best point: ", progress);
        let monitor = self.context.monitor(&sink);
        let samples = Data::Samples(&self.table.samples, self.table.weights.as_deref());
        named(M::fit(&point.params, samples, self.labels, &monitor)?, self.table)
    }

    /// The score on the samples `test` of a model of the samples `train`.
    fn fold<M: Method>(
        &self,
        params: &M::Params,
        train: &[usize],
        test: &[usize],
        monitor: &Monitor<'_>,
    ) -> Result<(f64, Status)> {
        let (labels, threads) = (self.labels, self.context.common.threads);
        let part = self.table.samples.select(train)?;
        let weights_of = |rows: &[usize]| -> Option<Vec<f64>> {
            self.table.weights.as_ref().map(|weights| rows.iter().map(|&row| weights[row]).collect())
        };
        let (of_train, of_test) = (weights_of(train), weights_of(test));
        let model = M::fit(params, Data::Samples(&part, of_train.as_deref()), &labels.select(train), monitor)
            .map_err(|error| in_whole(error, train))?;
        let part = self.table.samples.select(test)?;
        let values = model.decision_function(&part.view()?, threads, monitor).map_err(|error| in_whole(error, test))?;
        let scoring = self.options.scoring;
        let score = scoring.score_model(&*model, &labels.select(test), of_test.as_deref(), values.values())?;
        Ok((score, model.report().status))
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
            "classes": self.labels.classes(),
            "folds": self.options.folds.folds,
            "n_groups": self.folds.n_groups,
            "scoring": self.options.scoring.to_string(),
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
fn as_text(scoring: Scoring, tried: &[Tried], best: usize) -> String {
    let first = &tried[0].cells;
    let varies = |column: usize| tried.iter().any(|t| t.cells[column] != first[column]);
    let shown: Vec<usize> = (0..first.len()).filter(|&column| column < 2 || varies(column)).collect();
    let mut heads: Vec<&str> = shown.iter().map(|&column| first[column].0).collect();
    // Losses have no largest value to be a percentage of.
    let (score, factor, digits) =
        if scoring.needs_probabilities() { (scoring.to_string(), 1.0, 4) } else { (format!("{scoring} %"), 100.0, 2) };
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
