//! Trains a support vector machine of another crate and predicts, telling seconds and memory as JSON.
//!
//! `rust-peers linfa|smartcore GAMMA C TRAIN.npy LABELS.npy TEST.npy`: samples in rows of f64, labels 0.0, 1.0, …

use std::time::Instant;

use linfa::Dataset;
use linfa::prelude::*;
use linfa_svm::Svm;
use ndarray::{Array1, Array2};
use smartcore::linalg::basic::matrix::DenseMatrix;
use smartcore::svm::Kernels;
use smartcore::svm::svc::{MultiClassSVC, SVC, SVCParameters};

type Failure = Box<dyn std::error::Error>;

struct Outcome {
    predicted: Vec<usize>,
    fit_seconds: f64,
    predict_seconds: f64,
    model_bytes: Option<usize>,
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [engine, gamma, c, train, labels, test] = arguments.as_slice() else {
        return Err("six arguments: linfa|smartcore GAMMA C TRAIN.npy LABELS.npy TEST.npy".into());
    };
    let (gamma, c): (f64, f64) = (gamma.parse()?, c.parse()?);
    let train: Array2<f64> = ndarray_npy::read_npy(train)?;
    let labels: Array1<f64> = ndarray_npy::read_npy(labels)?;
    let test: Array2<f64> = ndarray_npy::read_npy(test)?;
    let before = peak_bytes();
    let outcome = match engine.as_str() {
        "linfa" => linfa(gamma, c, train, &labels, &test)?,
        "smartcore" => smartcore(gamma, c, &train, &labels, &test)?,
        _ => return Err(format!("no engine '{engine}': linfa or smartcore").into()),
    };
    let result = serde_json::json!({
        "predicted": outcome.predicted,
        "fit_seconds": outcome.fit_seconds,
        "predict_seconds": outcome.predict_seconds,
        "model_bytes": outcome.model_bytes,
        "peak_bytes": peak_bytes() - before,
    });
    println!("{result}");
    Ok(())
}

/// One class against the rest: the crate's machine is of two classes. Its kernel is exp(-d²/eps).
fn linfa(gamma: f64, c: f64, train: Array2<f64>, labels: &Array1<f64>, test: &Array2<f64>) -> Result<Outcome, Failure> {
    let n_classes = labels.iter().fold(0.0, |most: f64, &label| most.max(label)) as usize + 1;
    let (columns, positives) = (train.ncols(), if n_classes == 2 { vec![1] } else { (0..n_classes).collect() });
    let started = Instant::now();
    let mut data = Dataset::new(train, labels.mapv(|_| false));
    let mut models: Vec<Svm<f64, bool>> = Vec::new();
    for &positive in &positives {
        data = data.with_targets(labels.mapv(|label| label == positive as f64));
        let params = Svm::<f64, bool>::params();
        models.push(params.gaussian_kernel(1.0 / gamma).pos_neg_weights(c, c).fit(&data)?);
    }
    let fit_seconds = started.elapsed().as_secs_f64();

    let started = Instant::now();
    let predicted = test.outer_iter().map(|row| {
        let scores: Vec<f64> = models.iter().map(|model| model.weighted_sum(&row) - model.rho).collect();
        if scores.len() == 1 { usize::from(scores[0] >= 0.0) } else { largest(&scores) }
    });
    let predicted = predicted.collect();
    let supports: usize = models.iter().map(Svm::nsupport).sum();
    Ok(Outcome {
        predicted,
        fit_seconds,
        predict_seconds: started.elapsed().as_secs_f64(),
        // A weight and a copy of the row for each support vector.
        model_bytes: Some(supports * (columns + 1) * size_of::<f64>()),
    })
}

/// One class against one: its own way with many classes.
fn smartcore(
    gamma: f64,
    c: f64,
    train: &Array2<f64>,
    labels: &Array1<f64>,
    test: &Array2<f64>,
) -> Result<Outcome, Failure> {
    let [train, test] = [train, test].map(|rows| {
        let rows: Vec<Vec<f64>> = rows.outer_iter().map(|row| row.to_vec()).collect();
        DenseMatrix::from_2d_vec(&rows)
    });
    let (train, test) = (train?, test?);
    let two = labels.iter().all(|&label| label <= 1.0);
    let labels: Vec<i32> = labels.iter().map(|&label| if two { 2 * label as i32 - 1 } else { label as i32 }).collect();
    let parameters =
        SVCParameters::default().with_c(c).with_kernel(Kernels::rbf().with_gamma(gamma)).with_seed(Some(0));
    let started = Instant::now();
    let (found, fit_seconds, predicting);
    if two {
        let model = SVC::fit(&train, &labels, &parameters)?;
        fit_seconds = started.elapsed().as_secs_f64();
        predicting = Instant::now();
        found = model.predict(&test)?;
    } else {
        let model = MultiClassSVC::fit(&train, &labels, &parameters)?;
        fit_seconds = started.elapsed().as_secs_f64();
        predicting = Instant::now();
        found = model.predict(&test)?;
    }
    Ok(Outcome {
        predicted: found.iter().map(|&label| if two { usize::from(label > 0.0) } else { label as usize }).collect(),
        fit_seconds,
        predict_seconds: predicting.elapsed().as_secs_f64(),
        model_bytes: None,
    })
}

fn largest(scores: &[f64]) -> usize {
    let mut best = 0;
    for (i, score) in scores.iter().enumerate() {
        if *score > scores[best] {
            best = i;
        }
    }
    best
}

/// The most memory this process held so far, as Linux tells it; 0 elsewhere.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}
