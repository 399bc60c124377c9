//! `widemargin demo`: trains and evaluates on built-in handwritten digits, and prints a table.

use std::time::Instant;

use clap::Args;
use indicatif::{DecimalBytes, HumanCount};
use serde_json::json;
use widemargin::Error;
use widemargin::data::{Label, Samples as _, SamplesView};
use widemargin::model::{BasisExpansionParams, Classifier, PowerMeanParams, ThinPlateParams, ThinPlateSvc};
use widemargin::monitor::Monitor;
use widemargin::select::Evaluation;
use widemargin::similarity::{AdditiveKernel, AnySimilarity, ConditionalKernel};
use widemargin::solve::thin_plate::Polynomials;

use crate::context::Context;
use crate::demo::digits::{Digits, N_PIXELS, digits};
use crate::demo::linear_svm::LinearSvm;
use crate::details::thin_plate as thin_plate_svc;
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

/// The results of a method.
struct Outcome {
    method: &'static str,
    c: f64,
    accuracy: f64,
    seconds_train: f64,
    seconds_predict: f64,
    weight_bytes: usize,
}

const SOURCE: &str = "UCI optical digits (E. Alpaydin, C. Kaynak, 1998, doi.org/10.24432/C50P49, CC BY 4.0)";

/// Number of bases of the basis expansion: 20 per digit.
const N_BASES: usize = 200;

impl Demo {
    /// Runs the command.
    pub fn run(self, context: &Context) -> Result<(), Failure> {
        let (train, test) = digits();
        // On data this small threads do not pay off: all methods use one.
        let methods = [
            ("linear SVM", 1.0, linear as fn(&Context, &Digits, f64) -> Result<Trained, Error>),
            ("power mean SVM, chi2", 0.01, power_mean),
            ("basis expansion SVM, rbf", 1.0, basis_expansion),
            ("thin plate SVM", f64::NAN, thin_plate),
        ];
        let outcome = |(method, c, fit): (_, _, fn(&Context, &Digits, f64) -> _)| {
            context.go_on()?;
            let start = Instant::now();
            let model: Trained = fit(context, &train, c)?;
            let (seconds_train, start) = (start.elapsed().as_secs_f64(), Instant::now());
            let mut evaluation = Evaluation::default();
            let predicted = model.labels_of(&test)?;
            let seconds_predict = start.elapsed().as_secs_f64();
            predicted.iter().enumerate().for_each(|(row, label)| evaluation.add(test.labels.get(row), label));
            let (c, weight_bytes) = (model.chosen_c().unwrap_or(c), model.weight_bytes());
            let accuracy = evaluation.accuracy();
            Ok(Outcome { method, c, accuracy, seconds_train, seconds_predict, weight_bytes })
        };
        let outcomes = methods.into_iter().map(outcome).collect::<Result<Vec<_>, Failure>>()?;
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
             C is the method's default; the thin plate SVM selects its own as it trains, by leave-one-out.\n\
             Your own data: widemargin train train.csv -o any.model\n               \
             widemargin evaluate any.model test.csv\n",
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
        vec![
            self.method.into(),
            format!("{:.2}", self.c),
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
    Model(Box<dyn Classifier>),
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
