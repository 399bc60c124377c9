//! `widemargin cv`: stratified cross-validation of every point of a grid.

use std::cell::Cell;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::{Value, json};
use widemargin::data::Labels;
use widemargin::monitor::{Monitor, Stopped};
use widemargin::select::{CrossValidation, Evaluation, cross_validate};
use widemargin::solve::Status;
use widemargin::{Error, Result};
use widemargin_io::Table;

use crate::args::Input;
use crate::commands::choice::{Choice, Task};
use crate::context::Context;
use crate::labels::check_labels;
use crate::method::{Data, Method, Point};
use crate::model::Model;
use crate::output::{check_model_file, print, print_json};
use crate::report::{Failure, in_file};
use crate::resources::Memory;
use crate::samples::in_whole;
use crate::summary::{Summary, Trained};
use crate::text_table::text_table;

/// Arguments of `cv`.
#[derive(Debug, Args)]
pub struct Cv {
    #[command(subcommand)]
    method: Choice<Folds>,
}

#[derive(Debug, Args)]
struct Folds {
    #[command(flatten)]
    input: Input,
    /// The model file to write: the best point of the grid, fitted on all samples as `train` does
    #[arg(short, long, value_name = "MODEL")]
    output: Option<PathBuf>,
    /// Number of folds
    #[arg(long, default_value_t = 5, value_name = "N")]
    folds: usize,
    #[command(flatten)]
    memory: Memory,
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

impl Task for Folds {
    fn run<M: Method>(&self, method: &M, context: &Context) -> Result<(), Failure> {
        let folds = self;
        if folds.memory.memory.is_some() && !M::KEEPS_WITHIN_MEMORY {
            let failure = Failure::input(format!("--memory: `cv {}` holds all samples and their features", M::NAME));
            return Err(failure.help("choose parameters on a part of the samples, then `train --memory` on all"));
        }
        let points = method.grid(&context.common, folds.memory.memory)?;
        let file = &folds.input.data;
        if let Some(output) = &folds.output {
            check_model_file(output, &folds.input)?;
        }
        let (table, seconds_read) = context.read(file, &folds.input.options())?;
        let labels = table.require_labels(file)?;
        check_labels(context, &folds.input, &table)?;
        labels.check(table.samples.n_rows()).map_err(|error| in_file(error, file, &table, 0))?;
        let n_points = points.len();
        context.bar.say("");
        context.bar.count(n_points * folds.folds);
        let reserve = Cell::new(Duration::ZERO);
        let search =
            Search { context, table: &table, labels, n_folds: folds.folds, keeps: folds.output.is_some(), reserve };
        let mut tried = Vec::new();
        for point in &points {
            match search.try_out::<M>(point) {
                Ok(Some(point)) => tried.push(point),
                Ok(None) => break,
                Err(Error::OneClass { label, .. }) => {
                    let all = format!("{}: a fold leaves only samples of '{label}' to train on", file.display());
                    return Err(
                        Failure::input(all).help("ask for fewer --folds, or bring more samples of the rare class")
                    );
                }
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
        let found = as_json(M::NAME, context, folds, &table, labels, &tried, best);
        if !folds.json {
            print(&as_text(&tried, best))?;
        }
        let Some(output) = &folds.output else { return if folds.json { print_json(&found) } else { Ok(()) } };
        let best = &points[best];
        let model = search.refit::<M>(best).map_err(|error| in_file(error, file, &table, 0))?;
        let samples = Trained::of(&table, &*model)?;
        let summary = Summary::of_written(context, &*model, samples, seconds_read, output)?;
        if folds.json {
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
    n_folds: usize,
    /// Whether the best point will be fitted on all samples.
    keeps: bool,
    /// The part of the time limit that this may take, by the longest fold so far.
    reserve: Cell<Duration>,
}

impl Search<'_> {
    /// All folds of a grid point; `None` if the time limit passes first.
    fn try_out<M: Method>(&self, point: &Point<M::Params>) -> Result<Option<Tried>> {
        let (start, sink) = (Instant::now(), |_| ());
        let mut converged = true;
        let scores = cross_validate(self.labels, self.n_folds, self.context.common.seed, |train, test| {
            let monitor = self.context.monitor_until(self.reserve.get(), &sink);
            // Skips the remaining folds of an abandoned point.
            if monitor.ask() == Err(Stopped::TimeLimit) {
                return Ok(f64::NAN);
            }
            let started = Instant::now();
            let (accuracy, status) = self.fold::<M>(&point.params, train, test, &monitor)?;
            if self.keeps {
                // All samples are as many folds as that of a fit, and one; twice, because time may grow faster.
                let of_all = started.elapsed() * 2 * self.n_folds as u32 / (self.n_folds as u32 - 1);
                self.reserve.set(self.reserve.get().max(of_all));
            }
            converged &= status == Status::Converged;
            self.context.bar.step();
            Ok(if status == Status::TimeLimit { f64::NAN } else { accuracy })
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
        let model = M::fit(&point.params, Data::Samples(&self.table.samples), self.labels, &monitor)?;
        model.with_feature_names(self.table.feature_names.clone())
    }

    fn fold<M: Method>(
        &self,
        params: &M::Params,
        train: &[usize],
        test: &[usize],
        monitor: &Monitor<'_>,
    ) -> Result<(f64, Status)> {
        let (labels, threads) = (self.labels, self.context.common.threads);
        let part = self.table.samples.select(train)?;
        let model = M::fit(params, Data::Samples(&part), &labels.select(train), monitor)
            .map_err(|error| in_whole(error, train))?;
        let part = self.table.samples.select(test)?;
        let scores = model.decision_function(&part.view()?, threads, monitor).map_err(|error| in_whole(error, test))?;
        let mut evaluation = Evaluation::default();
        let predicted = scores.decide(model.classes());
        predicted.iter().zip(test).for_each(|(predicted, &row)| evaluation.add(labels.get(row), predicted));
        Ok((evaluation.accuracy(), model.report().status))
    }
}

fn mean(tried: &Tried) -> f64 {
    tried.scores.mean()
}

fn as_json(
    method: &str,
    context: &Context,
    folds: &Folds,
    table: &Table,
    labels: &Labels,
    tried: &[Tried],
    best: usize,
) -> Value {
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
    json!({
        "method": method,
        "n_samples": table.samples.n_rows(),
        "samples": table.samples.kind(),
        "n_features": (table.samples.kind() == "vectors").then(|| table.samples.n_cols()),
        "classes": labels.classes(),
        "folds": folds.folds,
        "seed": context.common.seed,
        "points": points,
        "best": best,
    })
}

/// One line per point. Constant columns are omitted, except for the first two (the kernel and C).
fn as_text(tried: &[Tried], best: usize) -> String {
    let first = &tried[0].cells;
    let varies = |column: usize| tried.iter().any(|t| t.cells[column] != first[column]);
    let shown: Vec<usize> = (0..first.len()).filter(|&column| column < 2 || varies(column)).collect();
    let mut heads: Vec<&str> = shown.iter().map(|&column| first[column].0).collect();
    heads.extend(["accuracy %", "seconds", ""]);
    let rows: Vec<Vec<String>> = (0..tried.len())
        .map(|i| {
            let (t, scores) = (&tried[i], &tried[i].scores);
            let mut row: Vec<String> = shown.iter().map(|&column| t.cells[column].1.clone()).collect();
            row.push(format!("{:.2} ± {:.2}", 100.0 * scores.mean(), 100.0 * scores.standard_deviation()));
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
