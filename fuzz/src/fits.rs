//! Fits of small problems: what a fit promises of its model holds, whatever the samples and the parameters.

use widemargin::data::{
    AnySamples, BitSets, DenseMatrix, Images, Labels, Samples, SamplesView, Series, Targets, Vectors,
};
use widemargin::model::AnyModel;
use widemargin::monitor::Monitor;
use widemargin::select::{Answers, Estimator, Method, Place, Task};

use crate::bytes::Bytes;

/// Parameters with values of theirs; a method refuses those that it does not have.
const PARAMETERS: &[(&str, &[&str])] = &[
    ("C", &["1", "0.01", "1000", "1e-9", "1e12", "auto-per-class"]),
    (
        "loss",
        &["hinge", "squared-hinge", "squared-error", "logistic", "huber", "quantile", "squared-epsilon-insensitive"],
    ),
    ("n_basis", &["1", "3", "5", "1000", "none"]),
    ("basis", &["index", "every", "random", "kmedoids", "kmeans", "stratified"]),
    ("normalization", &["mean-norm", "z-score", "covariance", "none", "nystroem", "centered", "nystroem-flip"]),
    ("penalty", &["l1", "l2"]),
    ("intercept", &["free", "none"]),
    ("max_basis", &["1", "3"]),
    ("tol", &["0.5", "1e-6"]),
    ("kernel", &["chi2", "power-mean:p=-8", "jensen-shannon", "distance", "thin-plate", "cubic", "intersection"]),
    ("approximation", &["nystroem", "polynomial"]),
    ("n_nodes", &["1", "3", "9"]),
    ("scale", &["yes", "no"]),
    ("polynomials", &["free", "penalized", "constant", "none"]),
    ("standardize", &["yes", "no", "auto"]),
    ("quantile", &["0.05", "0.5", "1e-9"]),
    ("shrinkage", &["0", "0.5"]),
];

/// Similarities of each kind of samples.
const OF_VECTORS: &[&str] = &[
    "rbf",
    "rbf:gamma=3",
    "laplacian",
    "linear",
    "distance",
    "cityblock",
    "chi2",
    "intersection",
    "cosine",
    "canberra",
    "polynomial:degree=3",
    "z-score/rbf",
    "mean-norm/linear",
    "features",
    "hellinger",
    "cubic",
    "sigmoid",
    "thin-plate",
];
const OF_STRINGS: &[&str] =
    &["edit", "align", "ngram:n=2", "tfidf:n=1-2/features", "mismatch:k=3,m=1", "gappy:k=2,g=3", "subsequence:n=2"];
const OF_SERIES: &[&str] =
    &["dtw", "dtw:window=0.2", "soft-dtw", "erp", "msm", "minirocket/linear", "twe", "lcss", "wdtw", "znorm/dtw"];
const OF_IMAGES: &[&str] =
    &["hog:cell=4/rbf", "hog:cell=4/rigid:radius=1", "pixels/linear", "hog:cell=4/deformable", "phog/chi2"];
const OF_SETS: &[&str] = &["tanimoto"];

/// A problem: samples with labels or targets, and weights.
struct Problem {
    samples: AnySamples,
    labels: Labels,
    targets: Targets,
    weights: Option<Vec<f64>>,
}

/// Fits what the bytes say.
pub fn check(bytes: &[u8]) {
    let mut bytes = Bytes(bytes);
    let task = bytes.one_of(&Task::ALL);
    let method = bytes.one_of(&Method::ALL);
    let Ok(mut estimator) = Estimator::new(method, task) else { return };
    let kind = bytes.below(8);
    let specs = match kind {
        0..=3 => OF_VECTORS,
        4 => OF_STRINGS,
        5 => OF_SERIES,
        6 => OF_IMAGES,
        _ => OF_SETS,
    };
    let n_specs = [0, 1, 1, 2][bytes.below(4)];
    if matches!(method, Method::BasisExpansion | Method::Auto) {
        estimator = estimator.similarity((0..n_specs).map(|_| bytes.one_of(specs).to_owned()).collect());
    }
    for _ in 0..bytes.below(4) {
        let (name, values) = bytes.one_of(PARAMETERS);
        let value = bytes.one_of(values);
        let mut changed = estimator.clone();
        // A text that is refused may leave nothing behind.
        if changed.set(name, value).is_ok() {
            estimator = changed;
        }
    }
    estimator.set("seed", &bytes.below(3).to_string()).expect("a seed");
    let problem = problem(&mut bytes, kind);
    let Some(model) = fit(&estimator, task, &problem, 1) else { return };
    let expected = values(&model, &problem.samples, 1);
    check_report(&model);
    check_values(&model, &problem.samples, &expected);

    let file = model.to_bytes().expect("a model that was fitted is written");
    let again = AnyModel::from_bytes(&file).expect("it is read");
    assert_eq!(values(&again, &problem.samples, 1), expected, "a model from its file");
    assert_eq!(values(&model, &problem.samples, 3), expected, "predicted by three threads");

    match bytes.below(3) {
        0 => {
            let other = fit(&estimator, task, &problem, 3).expect("three threads fit what one fits");
            assert_eq!(values(&other, &problem.samples, 1), expected, "fitted by three threads");
        }
        1 => {
            let order: Vec<usize> = (0..problem.samples.len()).rev().collect();
            let other = fit(&estimator, task, &problem.in_order(&order), 1);
            // Bases by their rows are other bases in another order.
            if let Some(other) = other
                && !is_by_rows(&model)
            {
                check_same(&values(&other, &problem.samples, 1), &expected, "rows in another order");
            }
        }
        _ => {}
    }
}

/// Whether the bases depend on the order of rows.
fn is_by_rows(model: &AnyModel) -> bool {
    let parameters = model.parameters().to_string();
    ["index", "every", "random"].iter().any(|name| parameters.contains(&format!("\"{name}")))
}

impl Problem {
    fn in_order(&self, rows: &[usize]) -> Problem {
        Problem {
            samples: self.samples.select(rows),
            labels: self.labels.select(rows),
            targets: self.targets.of_rows(rows),
            weights: self.weights.as_ref().map(|weights| rows.iter().map(|&row| weights[row]).collect()),
        }
    }
}

fn problem(bytes: &mut Bytes<'_>, kind: usize) -> Problem {
    let (n, d) = (1 + bytes.below(24), 1 + bytes.below(4));
    let has_specials = bytes.below(8) == 7;
    let samples = match kind {
        0..=3 => {
            let sign = if bytes.flag() { 1.0 } else { -1.0 };
            let mut number = || {
                let number = if has_specials { bytes.number() } else { bytes.small() };
                (if sign > 0.0 { number.abs() } else { number }) as f32
            };
            let values: Vec<f32> = (0..n * d).map(|_| number()).collect();
            AnySamples::Vectors(Vectors::Dense(DenseMatrix { values, n_rows: n, n_cols: d }))
        }
        4 => {
            let string = |_| (0..bytes.below(9)).map(|_| bytes.one_of(&['A', 'C', 'G', 'T', 'é', ' '])).collect();
            AnySamples::Strings((0..n).map(string).collect())
        }
        5 => {
            let lengths: Vec<usize> = (0..n).map(|_| 1 + bytes.below(9)).collect();
            let values = (0..lengths.iter().sum::<usize>() * d.min(2)).map(|_| bytes.small() as f32).collect();
            AnySamples::Series(Series::new(values, &lengths, d.min(2)).expect("lengths that fit"))
        }
        6 => {
            let pixels = (0..n * 64).map(|at| bytes.byte() ^ (at as u8)).collect();
            AnySamples::Images(Images::new(pixels, 8, 8, 1).expect("pixels that fit"))
        }
        _ => AnySamples::BitSets(BitSets::new((0..n).map(|_| u64::from(bytes.byte())).collect(), n, 8).expect("sets")),
    };
    let n_classes = 2 + bytes.below(3) as i64;
    let labels = Labels::new((0..n).map(|_| i64::from(bytes.byte()) % n_classes));
    let targets = (0..n).map(|_| bytes.small()).collect();
    let weights = match bytes.below(4) {
        0 => Some((0..n).map(|_| [1.0, 2.0, 0.0, 0.5][bytes.below(4)]).collect()),
        _ => None,
    };
    Problem { samples, labels, targets: Targets::single(targets).expect("finite targets"), weights }
}

fn fit(estimator: &Estimator, task: Task, problem: &Problem, threads: usize) -> Option<AnyModel> {
    let mut estimator = estimator.clone();
    estimator.set("threads", &threads.to_string()).expect("a number of threads");
    let view = SamplesView::Other(&problem.samples);
    let answers = match task {
        Task::Classification => Some(Answers::from(&problem.labels)),
        Task::Regression => Some(Answers::from(&problem.targets)),
        Task::OutlierDetection => None,
    };
    match estimator.fit(Place::Memory(&view), answers.as_ref(), problem.weights.as_deref(), &Monitor::none()) {
        Ok((model, _)) => Some(model),
        Err(error) => {
            assert!(!error.to_string().is_empty());
            None
        }
    }
}

/// Decision values, predictions or scores.
fn values(model: &AnyModel, samples: &AnySamples, threads: usize) -> Vec<f64> {
    let (view, monitor) = (SamplesView::Other(samples), &Monitor::none());
    let found = match model {
        AnyModel::Classifier(model) => model.decision_values(&view, threads, monitor),
        AnyModel::Regressor(model) => model.predict(&view, threads, monitor).map(|matrix| matrix.values),
        AnyModel::OneClass(model) => model.scores(&view, threads, monitor),
    };
    found.expect("a model predicts its training samples")
}

fn check_values(model: &AnyModel, samples: &AnySamples, values: &[f64]) {
    assert!(values.iter().all(|value| value.is_finite()), "{values:?}");
    let AnyModel::Classifier(model) = model else { return };
    let (view, monitor) = (SamplesView::Other(samples), &Monitor::none());
    let Ok(probabilities) = model.predict_proba(&view, 1, monitor) else { return };
    let predicted = model.predict(&view, 1, monitor).expect("classes are predicted");
    for (row, predicted) in probabilities.values.chunks(probabilities.n_cols).zip(predicted) {
        assert!(row.iter().all(|p| (0.0..=1.0).contains(p)), "{row:?}");
        assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{row:?}");
        let most = row.iter().fold(0.0f64, |most, p| most.max(*p));
        let at = model.classes().iter().position(|class| class == predicted).expect("a class that is known");
        assert!(row[at] >= most - 1e-12, "{row:?} but {predicted} is predicted");
    }
}

/// A converged fit has a small gap, an estimate is a share.
fn check_report(model: &AnyModel) {
    let report = model.report();
    assert!(report.gap() >= 0.0, "{report:?}");
    assert!(!report.is_far_from_solved() || !report.warnings.is_empty(), "not solved without a word: {report:?}");
    if let (Some(estimate), AnyModel::Classifier(_)) = (&report.estimate, model) {
        assert!((0.0..=1.0).contains(&estimate.error) && estimate.standard_error >= 0.0, "{estimate:?}");
    }
}

/// Equal but for the rounding of sums in another order.
fn check_same(found: &[f64], expected: &[f64], what: &str) {
    let size = expected.iter().fold(1.0f64, |most, value| most.max(value.abs()));
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= 1e-4 * size, "{what}: {found} for {expected}");
    }
}
