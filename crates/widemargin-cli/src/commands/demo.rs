//! `widemargin demo`: handwritten digits, from the binary to a table on the screen.

use std::time::Instant;

use clap::Args;
use serde_json::json;
use widemargin::Error;
use widemargin::data::Label;
use widemargin::model::{PowerMeanParams, PowerMeanSvc};
use widemargin::select::{Evaluation, cross_validate};
use widemargin::similarity::AdditiveKernel;

use crate::context::Context;
use crate::demo::digits::{Digits, digits};
use crate::demo::linear_svm::LinearSvm;
use crate::output::{print, print_json};
use crate::report::Failure;
use crate::text_table::{bytes, grouped, text_table};

/// Arguments of `demo`.
#[derive(Debug, Args)]
pub struct Demo {
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
}

/// What one method did.
struct Outcome {
    method: &'static str,
    c: f64,
    /// By cross-validation.
    chosen: bool,
    accuracy: f64,
    seconds_train: f64,
    seconds_predict: f64,
    n_weights: usize,
}

const SOURCE: &str = "UCI optical digits (E. Alpaydin, C. Kaynak, 1998, doi.org/10.24432/C50P49, CC BY 4.0)";

/// Bytes of a weight in a model file.
const WEIGHT: u64 = 4;

/// What cross-validation on the training images chooses C from.
const GRID: [f64; 3] = [0.01, 0.1, 1.0];
const FOLDS: usize = 5;

impl Demo {
    /// Runs the command.
    pub fn run(self, context: &Context) -> Result<(), Failure> {
        let (train, test) = digits();
        let seed = context.common.seed;
        let mut outcomes = Vec::new();
        for c in [Some(1.0), None] {
            outcomes.push(outcome(context, "linear SVM", c, &train, &test, |data, c| {
                Ok(LinearSvm::fit(&data.images.view()?, &data.labels, c, 0.01))
            })?);
        }
        for c in [Some(0.01), None] {
            outcomes.push(outcome(context, "power mean SVM, chi2", c, &train, &test, |data, c| {
                // Pixels are in [0, 1] already. Data this small is done before other threads have started.
                let params = PowerMeanParams::new(AdditiveKernel::Chi2).scale(false).c(c).seed(seed).threads(1);
                let sink = |progress| context.bar.fit("", progress);
                params.fit_with(&data.images.view()?, &data.labels, None, &context.watch(&sink))
            })?);
        }
        let (n_train, n_test) = (train.images.n_rows, test.images.n_rows);
        if self.json {
            let methods: Vec<_> = outcomes.iter().map(Outcome::json).collect();
            return print_json(&json!({
                "data": SOURCE,
                "n_train": n_train,
                "n_test": n_test,
                "n_features": train.images.n_cols,
                "methods": methods,
            }));
        }
        let heads = ["method", "C", "accuracy %", "train ms", "predict rows/s", "weights"];
        let rows: Vec<_> = outcomes.iter().map(|outcome| outcome.cells(n_test)).collect();
        print(&format!(
            "{SOURCE}:\n8 x 8 pixels, {} images to train, {n_test} to test.\n\n{}\n\
             C is the method's default, or by {FOLDS}-fold cross-validation on the training images (cv).\n\
             Your own data: widemargin train power-mean train.svm -o model.safetensors\n               \
             widemargin evaluate model.safetensors test.svm\n",
            grouped(n_train as u64),
            text_table(&heads, &rows),
        ))
    }
}

impl Outcome {
    fn cells(&self, n_test: usize) -> Vec<String> {
        vec![
            self.method.into(),
            format!("{}{}", self.c, if self.chosen { " (cv)" } else { "" }),
            format!("{:.2}", 100.0 * self.accuracy),
            format!("{:.1}", 1e3 * self.seconds_train),
            grouped((n_test as f64 / self.seconds_predict) as u64),
            bytes(WEIGHT * self.n_weights as u64),
        ]
    }

    fn json(&self) -> serde_json::Value {
        json!({
            "method": self.method,
            "C": self.c,
            "C_by_cross_validation": self.chosen,
            "accuracy": self.accuracy,
            "seconds_train": self.seconds_train,
            "seconds_predict": self.seconds_predict,
            "weight_bytes": WEIGHT * self.n_weights as u64,
        })
    }
}

/// A model of either method.
trait Classifier {
    fn labels_of<'a>(&'a self, data: &Digits) -> Result<Vec<&'a Label>, Error>;
    fn n_weights(&self) -> usize;
}

impl Classifier for LinearSvm {
    fn labels_of<'a>(&'a self, data: &Digits) -> Result<Vec<&'a Label>, Error> {
        let images = data.images.view()?;
        Ok((0..data.images.n_rows).map(|row| self.predict(images.row(row))).collect())
    }

    fn n_weights(&self) -> usize {
        self.n_weights()
    }
}

impl Classifier for PowerMeanSvc {
    fn labels_of<'a>(&'a self, data: &Digits) -> Result<Vec<&'a Label>, Error> {
        self.predict(&data.images.view()?, 1)
    }

    fn n_weights(&self) -> usize {
        self.weights().len()
    }
}

/// Trains with `c`, or with the C that cross-validation chooses, and tests.
fn outcome<M: Classifier>(
    context: &Context,
    method: &'static str,
    c: Option<f64>,
    train: &Digits,
    test: &Digits,
    fit: impl Fn(&Digits, f64) -> Result<M, Error>,
) -> Result<Outcome, Failure> {
    let (c, chosen) = match c {
        Some(c) => (c, false),
        None => (choose_c(context, train, &fit)?, true),
    };
    context.go_on()?;
    let start = Instant::now();
    let model = fit(train, c)?;
    let seconds_train = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let accuracy = accuracy(test, &model.labels_of(test)?);
    let seconds_predict = start.elapsed().as_secs_f64();
    Ok(Outcome { method, c, chosen, accuracy, seconds_train, seconds_predict, n_weights: model.n_weights() })
}

fn choose_c<M: Classifier>(
    context: &Context,
    train: &Digits,
    fit: impl Fn(&Digits, f64) -> Result<M, Error>,
) -> Result<f64, Failure> {
    let mut best = (f64::NEG_INFINITY, GRID[0]);
    for c in GRID {
        context.go_on()?;
        let scores = cross_validate(&train.labels, FOLDS, context.common.seed, |train_rows, test_rows| {
            let held_out = train.select(test_rows)?;
            Ok(accuracy(&held_out, &fit(&train.select(train_rows)?, c)?.labels_of(&held_out)?))
        })?;
        if scores.mean() > best.0 {
            best = (scores.mean(), c);
        }
    }
    Ok(best.1)
}

fn accuracy(test: &Digits, predicted: &[&Label]) -> f64 {
    let mut evaluation = Evaluation::default();
    predicted.iter().enumerate().for_each(|(row, predicted)| evaluation.add(test.labels.get(row), predicted));
    evaluation.accuracy()
}
