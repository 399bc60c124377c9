//! `widemargin demo`: trains and evaluates on built-in handwritten digits, and prints a table.

use std::time::Instant;

use clap::{Args, Command, FromArgMatches};
use indicatif::{DecimalBytes, HumanCount};
use serde_json::{Value, json};
use widemargin::data::{DenseMatrix, Labels, Samples as _};
use widemargin::model::{AnyModel, ThinPlateSvc, as_method};
use widemargin::select::{Answers, Evaluation, Place};
use widemargin_io::Samples;

use crate::args::Common;
use crate::context::Context;
use crate::fit::estimator_of;
use crate::options::ModelArgs;
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

/// The methods and their options. The linear SVM is the yardstick, as LIBLINEAR solves it with `-s 1`; pixels are in [0, 1]
/// already; the basis expansion has 20 bases per digit.
const METHODS: [(&str, &str); 4] = [
    (
        "linear SVM",
        "--method basis-expansion:intercept=none,tol=0.01 --similarity features --normalization none \
         --loss squared-hinge -C 1",
    ),
    ("power mean SVM, chi2", "--method power-mean:scale=no,nodes=3 --kernel chi2 -C 0.01"),
    (
        "basis expansion SVM, rbf",
        "--method basis-expansion --similarity rbf --n-basis 200 --normalization mean-norm --loss squared-hinge -C 1",
    ),
    ("thin plate SVM", "--method thin-plate:polynomials=constant,standardize=no --kernel thin-plate --n-basis none"),
];

const SOURCE: &str = "UCI optical digits (E. Alpaydin, C. Kaynak, 1998, doi.org/10.24432/C50P49, CC BY 4.0)";

impl Demo {
    /// Runs the command.
    pub fn run(self, context: &Context) -> Result<(), Failure> {
        let (train, test) = digits();
        let outcomes = METHODS.map(|(method, options)| outcome(context, method, options, &train, &test));
        let (cells, methods): (Vec<_>, Vec<_>) =
            outcomes.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
        let (n_train, n_test) = (train.labels.len(), test.labels.len());
        if self.json {
            return print_json(&json!({
                "data": SOURCE,
                "n_train": n_train,
                "n_test": n_test,
                "n_features": N_PIXELS,
                "methods": methods,
            }));
        }
        let heads = ["method", "C", "accuracy %", "train ms", "predict rows/s", "weights"];
        print(&format!(
            "{SOURCE}:\n8 x 8 pixels, {} images to train, {n_test} to test.\n\n{}\n\
             C is the method's default; the thin plate SVM selects its own as it trains, by leave-one-out.\n\
             Your own data: widemargin train train.csv -o any.model\n               \
             widemargin evaluate any.model test.csv\n",
            HumanCount(n_train as u64),
            text_table(&heads, cells),
        ))
    }
}

/// Trains a method with these options, and evaluates it: a line of the table, and its JSON.
fn outcome(
    context: &Context,
    method: &'static str,
    options: &str,
    train: &Digits,
    test: &Digits,
) -> Result<(Vec<String>, Value), Failure> {
    context.go_on()?;
    let matches = ModelArgs::augment_args(Command::new("demo").no_binary_name(true));
    let matches = matches.try_get_matches_from(options.split(' '));
    let options = matches.and_then(|matches| ModelArgs::from_arg_matches(&matches));
    let choice = options.map_err(|error| Failure::work(error.to_string()))?.single()?;
    // On data this small threads do not pay off.
    let estimator = estimator_of(&choice, &Common { threads: 1, ..context.common.clone() }, None)?;
    let sink = |progress| context.bar.fit("", progress);
    let (monitor, start) = (context.monitor(&sink), Instant::now());
    let (images, answers) = (train.images.view()?, Answers::from(&train.labels));
    let (AnyModel::Classifier(model), _) = estimator.fit(Place::Memory(&images), Some(&answers), None, &monitor)?
    else {
        unreachable!("the digits are classes")
    };
    let (seconds_train, start) = (start.elapsed().as_secs_f64(), Instant::now());
    let predicted = model.predict(&test.images.view()?, 1, &monitor)?;
    let seconds_predict = start.elapsed().as_secs_f64();
    let mut evaluation = Evaluation::default();
    predicted.iter().enumerate().for_each(|(row, label)| evaluation.add(test.labels.get(row), label));
    let size = if as_method::<ThinPlateSvc>(&*model).is_some() { size_of::<f64>() } else { size_of::<f32>() };
    let n_numbers = model.n_weights() + model.bases().map_or(0, |bases| bases.len() * N_PIXELS);
    let (c, accuracy, weight_bytes) = (model.c(0), evaluation.accuracy(), size * n_numbers);
    let cells = vec![
        method.into(),
        format!("{c:.2}"),
        format!("{:.2}", 100.0 * accuracy),
        format!("{:.1}", 1e3 * seconds_train),
        HumanCount((predicted.len() as f64 / seconds_predict) as u64).to_string(),
        DecimalBytes(weight_bytes as u64).to_string(),
    ];
    let json = json!({
        "method": method,
        "C": c,
        "accuracy": accuracy,
        "seconds_train": seconds_train,
        "seconds_predict": seconds_predict,
        "weight_bytes": weight_bytes,
    });
    Ok((cells, json))
}

/// How many of the images, the first, are for training.
const N_TRAIN: usize = 1000;

/// The UCI optical digits, 8 × 8 pixels of 0 to 16, as scikit-learn ships them. CC BY 4.0:
/// E. Alpaydin, C. Kaynak, *Optical Recognition of Handwritten Digits*, UCI Machine Learning Repository,
/// 1998, <https://doi.org/10.24432/C50P49>. `data/LICENSE` describes the file.
const TEXT: &str = include_str!("../../data/digits.txt");
/// Pixels of an image.
const N_PIXELS: usize = 64;

/// Images and their labels.
struct Digits {
    /// An image a row; pixels from 0 to 1.
    images: Samples,
    /// The digit each shows.
    labels: Labels,
}

/// The images for training and those for testing.
fn digits() -> (Digits, Digits) {
    let lines: Vec<&str> = TEXT.lines().collect();
    let (train, test) = lines.split_at(N_TRAIN);
    (part(train), part(test))
}

fn part(lines: &[&str]) -> Digits {
    let number = |c: char| c.to_digit(17).unwrap_or(0);
    let label = |line: &&str| i64::from(line.chars().next().map_or(0, number));
    let pixels = lines.iter().flat_map(|line| line[2..].chars().map(|c| f64::from(number(c)) / 16.0));
    let images = DenseMatrix { values: pixels.collect(), n_rows: lines.len(), n_cols: N_PIXELS };
    Digits { images: Samples::DenseF64(images), labels: Labels::new(lines.iter().map(label)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_is_whole() {
        let (train, test) = digits();
        assert_eq!((train.labels.len(), test.labels.len()), (1000, 797));
        let mut sum = 0.0;
        for part in [&train, &test] {
            assert_eq!(part.labels.classes().len(), 10);
            let Samples::DenseF64(images) = &part.images else { panic!("pixels are numbers") };
            assert!(images.view().is_ok() && images.n_rows == part.labels.len());
            assert!(images.values.iter().all(|x| (0.0..=1.0).contains(x)));
            sum += images.values.iter().sum::<f64>();
        }
        // scikit-learn's load_digits: the sum of all pixels.
        assert_eq!(sum * 16.0, SUM);
    }

    const SUM: f64 = 561718.0;
}
