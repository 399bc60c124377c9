//! `widemargin demo`: trains and evaluates on built-in handwritten digits, and prints a table.

use std::time::Instant;

use clap::Args;
use indicatif::{DecimalBytes, HumanCount};
use serde_json::json;
use widemargin::Error;
use widemargin::data::{Label, Samples as _, SamplesView, stratified_folds};
use widemargin::model::{BasisExpansionParams, Classifier, PowerMeanParams, ThinPlateParams, ThinPlateSvc};
use widemargin::monitor::Monitor;
use widemargin::select::{Evaluation, cross_validate};
use widemargin::similarity::{AdditiveKernel, AnySimilarity, ConditionalKernel};
use widemargin::solve::thin_plate::Polynomials;

use crate::context::Context;
use crate::demo::digits::{Digits, N_PIXELS, digits};
use crate::demo::linear_svm::LinearSvm;
use crate::details::thin_plate as thin_plate_svc;
use crate::model::Model;
use crate::output::{print, print_json};
use crate::report::Failure;
use crate::text_table::text_table;

/// Arguments of `demo`.
#[derive(Debug, Args)]
pub struct Demo {
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
}

/// How C is selected.
#[derive(Clone, Copy, PartialEq)]
enum Choice {
    /// The method's default.
    Default(f64),
    /// The best of [`GRID`] by cross-validation on the training images.
    CrossValidation,
    /// Selected by the method itself, by leave-one-out.
    LeaveOneOut,
}

/// The results of a method.
struct Outcome {
    method: &'static str,
    c: f64,
    choice: Choice,
    accuracy: f64,
    seconds_train: f64,
    seconds_predict: f64,
    weight_bytes: usize,
}

const SOURCE: &str = "UCI optical digits (E. Alpaydin, C. Kaynak, 1998, doi.org/10.24432/C50P49, CC BY 4.0)";

/// The values of C for cross-validation.
const GRID: [f64; 3] = [0.01, 0.1, 1.0];
const FOLDS: usize = 5;

/// Number of bases of the basis expansion: 20 per digit.
const N_BASES: usize = 200;

impl Demo {
    /// Runs the command.
    pub fn run(self, context: &Context) -> Result<(), Failure> {
        let (train, test) = digits();
        let trial = Trial { context, train: &train, test: &test };
        // One line per row of the table. On data this small threads do not pay off: all methods use one.
        let outcomes = [
            trial.outcome("linear SVM", Choice::Default(1.0), linear)?,
            trial.outcome("linear SVM", Choice::CrossValidation, linear)?,
            trial.outcome("power mean SVM, chi2", Choice::Default(0.01), power_mean)?,
            trial.outcome("power mean SVM, chi2", Choice::CrossValidation, power_mean)?,
            trial.outcome("basis expansion SVM, rbf", Choice::Default(1.0), basis_expansion)?,
            trial.outcome("basis expansion SVM, rbf", Choice::CrossValidation, basis_expansion)?,
            trial.outcome("thin plate SVM", Choice::LeaveOneOut, thin_plate)?,
        ];
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
             C is the method's default, or by {FOLDS}-fold cross-validation on the training images (cv), whose time is \
             not\nshown; the thin plate SVM chooses its own as it trains, by leave-one-out (loo).\n\
             Your own data: widemargin train thin-plate train.csv -o model.safetensors\n               \
             widemargin evaluate model.safetensors test.csv\n",
            HumanCount(n_train as u64),
            text_table(&heads, &rows),
        ))
    }
}

fn linear(_: &Context, data: &Digits, c: f64) -> Result<Trained, Error> {
    LinearSvm::fit(&data.images, &data.labels, c, 0.01).map(Trained::Linear)
}

fn power_mean(context: &Context, data: &Digits, c: f64) -> Result<Trained, Error> {
    // Pixels are in [0, 1] already.
    let params = PowerMeanParams::new(AdditiveKernel::Chi2).scale(false).c(c).seed(context.common.seed).threads(1);
    let sink = |progress| context.bar.fit("", progress);
    params.fit_with(&data.images.view()?, &data.labels, None, &context.monitor(&sink)).map(Trained::model)
}

fn basis_expansion(context: &Context, data: &Digits, c: f64) -> Result<Trained, Error> {
    let params = BasisExpansionParams::new(AnySimilarity::new(&["rbf"])?).n_basis(N_BASES).c(c).threads(1);
    let sink = |progress| context.bar.fit("", progress);
    let images = SamplesView::from(data.images.view()?);
    params.fit_with(&images, &data.labels, None, &context.monitor(&sink)).map(Trained::model)
}

fn thin_plate(context: &Context, data: &Digits, _: f64) -> Result<Trained, Error> {
    let sink = |progress| context.bar.fit("", progress);
    let params = ThinPlateParams::new(ConditionalKernel::THIN_PLATE).polynomials(Polynomials::Constant).threads(1);
    params.fit_with(&data.images.view()?, &data.labels, None, &context.monitor(&sink)).map(Trained::model)
}

impl Outcome {
    fn cells(&self, n_test: usize) -> Vec<String> {
        let c = match self.choice {
            Choice::Default(_) => self.c.to_string(),
            Choice::CrossValidation => format!("{} (cv)", self.c),
            Choice::LeaveOneOut => format!("{:.2} (loo)", self.c),
        };
        vec![
            self.method.into(),
            c,
            format!("{:.2}", 100.0 * self.accuracy),
            format!("{:.1}", 1e3 * self.seconds_train),
            HumanCount((n_test as f64 / self.seconds_predict) as u64).to_string(),
            DecimalBytes(self.weight_bytes as u64).to_string(),
        ]
    }

    fn json(&self) -> serde_json::Value {
        json!({
            "method": self.method,
            "C": self.c,
            "C_by_cross_validation": self.choice == Choice::CrossValidation,
            "C_by_leave_one_out": self.choice == Choice::LeaveOneOut,
            "accuracy": self.accuracy,
            "seconds_train": self.seconds_train,
            "seconds_predict": self.seconds_predict,
            "weight_bytes": self.weight_bytes,
        })
    }
}

/// A model of any method, and the linear SVM.
enum Trained {
    Linear(LinearSvm),
    Model(Model),
}

impl Trained {
    fn model(model: impl Classifier) -> Self {
        Trained::Model(Box::new(model))
    }

    fn labels_of(&self, data: &Digits) -> Result<Vec<&Label>, Error> {
        let images = data.images.view()?;
        match self {
            Trained::Linear(svm) => Ok((0..data.images.n_rows).map(|row| svm.predict(images.row(row))).collect()),
            Trained::Model(model) => model.predict(&images.into(), 1, &Monitor::none()),
        }
    }

    /// Size of its weights and bases in a model file.
    fn weight_bytes(&self) -> usize {
        match self {
            Trained::Linear(svm) => size_of::<f32>() * svm.n_weights(),
            Trained::Model(model) => {
                let number = if thin_plate_svc(&**model).is_some() { size_of::<f64>() } else { size_of::<f32>() };
                number * (model.n_weights() + model.bases().map_or(0, |bases| bases.len() * N_PIXELS))
            }
        }
    }

    /// The selected C, if it selects one.
    fn chosen_c(&self) -> Option<f64> {
        match self {
            Trained::Linear(_) => None,
            Trained::Model(model) => thin_plate_svc(&**model).map(ThinPlateSvc::c),
        }
    }
}

/// The common data and settings of all methods.
struct Trial<'a> {
    context: &'a Context,
    train: &'a Digits,
    test: &'a Digits,
}

impl Trial<'_> {
    /// Trains with the given or selected C, and evaluates.
    fn outcome(
        &self,
        method: &'static str,
        choice: Choice,
        fit: impl Fn(&Context, &Digits, f64) -> Result<Trained, Error>,
    ) -> Result<Outcome, Failure> {
        let c = match choice {
            Choice::Default(c) => c,
            Choice::CrossValidation => self.cross_validated_c(&fit)?,
            Choice::LeaveOneOut => f64::NAN,
        };
        self.context.go_on()?;
        let start = Instant::now();
        let model = fit(self.context, self.train, c)?;
        let seconds_train = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let accuracy = accuracy(self.test, &model.labels_of(self.test)?);
        let seconds_predict = start.elapsed().as_secs_f64();
        let (c, weight_bytes) = (model.chosen_c().unwrap_or(c), model.weight_bytes());
        Ok(Outcome { method, c, choice, accuracy, seconds_train, seconds_predict, weight_bytes })
    }

    fn cross_validated_c(
        &self,
        fit: impl Fn(&Context, &Digits, f64) -> Result<Trained, Error>,
    ) -> Result<f64, Failure> {
        let Trial { context, train, .. } = *self;
        let folds = stratified_folds(&train.labels, FOLDS, context.common.seed)?;
        let mut best = (f64::NEG_INFINITY, GRID[0]);
        for c in GRID {
            context.go_on()?;
            let scores = cross_validate(&folds, |train_rows, test_rows| {
                let held_out = train.select(test_rows)?;
                Ok(accuracy(&held_out, &fit(context, &train.select(train_rows)?, c)?.labels_of(&held_out)?))
            })?;
            if scores.mean() > best.0 {
                best = (scores.mean(), c);
            }
        }
        Ok(best.1)
    }
}

fn accuracy(test: &Digits, predicted: &[&Label]) -> f64 {
    let mut evaluation = Evaluation::default();
    predicted.iter().enumerate().for_each(|(row, predicted)| evaluation.add(test.labels.get(row), predicted));
    evaluation.accuracy()
}
