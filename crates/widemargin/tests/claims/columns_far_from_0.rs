//! Columns far from 0 relative to their range, such as map coordinates and Unix times, are fitted and predicted as
//! those near 0.

use widemargin::basis::BasisChoice;
use widemargin::data::{AnySamples, DenseView, Labels, Samples, SamplesView, Source, Targets};
use widemargin::expansion::Normalization;
use widemargin::model::{
    BasisExpansionOneClassParams, BasisExpansionParams, BasisExpansionRegressorParams, CChoice, Regressor,
    ThinPlateParams, from_bytes,
};
use widemargin::monitor::Monitor;
use widemargin::select::{AutoParams, SimilaritySearch};
use widemargin::similarity::{AnySimilarity, pairwise};

const N: usize = 240;

fn noise(at: usize) -> f64 {
    ((at as f64 * 12.9898).sin() * 43758.5453).fract().abs()
}

/// Points of a square of side 2 in units of `size`, `away` from 0; multiples of 1/1024, so that those near 0 and far
/// from it are the same to the last digit.
fn points(size: f64, away: f64) -> Vec<f64> {
    (0..2 * N).map(|at| away + size * (2048.0 * noise(at)).floor() / 1024.0).collect()
}

fn labels(near: &[f64]) -> Labels {
    Labels::new(near.chunks(2).map(|p| i64::from((p[0] - 1.0).powi(2) + (p[1] - 1.0).powi(2) < 0.5)))
}

fn targets(near: &[f64]) -> Targets {
    Targets::single(near.chunks(2).map(|p| (3.0 * p[0]).sin() + p[1]).collect()).unwrap()
}

fn accuracy(scores: &[f32], labels: &Labels) -> f64 {
    let right = scores.iter().zip(labels.codes()).filter(|(score, code)| (**score > 0.0) == (**code == 1)).count();
    right as f64 / labels.len() as f64
}

#[test]
fn similarities_are_those_of_columns_near_0() {
    let (near, far) = (points(1.0, 0.0), points(1.0, 1e7));
    let (near, far) = (DenseView::new(&near, N, 2).unwrap(), DenseView::new(&far, N, 2).unwrap());
    let labels = labels(near.values());
    for (spec, normalization) in [
        ("rbf", "nystroem"),
        ("laplacian", "mean-norm"),
        ("distance", "centered"),
        ("thin-plate", "centered"),
        ("z-score/rbf", "nystroem"),
        ("z-score/linear", "none"),
        ("mean-norm/polynomial", "nystroem"),
        ("features", "z-score"),
        ("features", "mean-norm"),
        ("features", "covariance"),
    ] {
        let normalization: Normalization = normalization.parse().unwrap();
        let model = |view: &DenseView<'_, f64>| {
            let params = BasisExpansionParams::new(AnySimilarity::new(&[spec]).unwrap());
            let params = params.normalization(normalization).basis(BasisChoice::Index).n_basis(60).c(1.0).tol(1e-8);
            params.fit(&SamplesView::from(*view), &labels).unwrap()
        };
        let (of_near, of_far) = (model(&near), model(&far));
        let values = of_near.decision_function(&SamplesView::from(near), 1).unwrap();
        let moved = of_far.decision_function(&SamplesView::from(far), 1).unwrap();
        let pairs = values.values().iter().zip(moved.values());
        let largest = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(largest < 2e-3, "{spec} {normalization}: {largest}");
        // A file, a sample at a time, and samples in another representation give the same.
        let loaded = from_bytes(&of_far.to_bytes().unwrap()).unwrap();
        let again = loaded.decision_function(&SamplesView::from(far), 1, &Monitor::none()).unwrap();
        assert_eq!(again.values(), moved.values(), "{spec}");
        for row in [0, 17, N - 1] {
            let one = DenseView::new(&far.values()[2 * row..2 * row + 2], 1, 2).unwrap();
            let alone = of_far.decision_function(&SamplesView::from(one), 1).unwrap();
            assert_eq!(alone.values()[0], moved.values()[row], "{spec}");
        }
        let mut differences: AnySamples = SamplesView::from(far).chunk_about(0..N, &[1e7, 1e7].into()).unwrap();
        differences = differences.about(Some(&[1e7 + 3.0, 1e7 - 1.0].into()));
        let shifted = of_far.decision_function(&differences, 1).unwrap();
        let largest = shifted.values().iter().zip(moved.values()).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(largest < 1e-3, "{spec}: {largest}");
    }
}

#[test]
fn similarities_of_the_numbers_themselves_get_them() {
    let far = points(1.0, 1e7);
    let view = SamplesView::from(DenseView::new(&far, N, 2).unwrap());
    let (plain, differences) = (view.chunk(0..20).unwrap(), view.chunk_about(0..20, &[1e7, 1e7].into()).unwrap());
    for spec in ["linear", "polynomial:degree=2,gamma=1e-14", "chi2"] {
        let similarity = AnySimilarity::new(&[spec]).unwrap();
        assert_eq!(
            pairwise(&similarity, &differences, &differences).unwrap(),
            pairwise(&similarity, &plain, &plain).unwrap(),
            "{spec}"
        );
    }
}

#[test]
fn defaults_keep_their_scores() {
    let (monitor, mut of_near) = (Monitor::none(), Vec::new());
    for (size, away) in [(1.0, 0.0), (1.0, 1e7), (500.0, 5_300_000.0), (3600.0, 1.7e9), (1e-6, 1.0)] {
        let (near, far) = (points(1.0, 0.0), points(size, away));
        let (labels, targets, mut scores) = (labels(&near), targets(&near), Vec::new());
        let half =
            |all: &[f64], odd: usize| -> Vec<f64> { all.chunks(2).skip(odd).step_by(2).flatten().copied().collect() };
        let rows = |odd: usize| -> Vec<usize> { (odd..N).step_by(2).collect() };
        let (train, test) = (half(&far, 0), half(&far, 1));
        let (train, test) = (DenseView::new(&train, N / 2, 2).unwrap(), DenseView::new(&test, N / 2, 2).unwrap());
        let (train, test) = (SamplesView::from(train), SamplesView::from(test));
        let (of_train, of_test) = (labels.select(&rows(0)), labels.select(&rows(1)));
        let found = SimilaritySearch::default().choose(&train, &of_train, None, &monitor).unwrap();
        let any = || AnySimilarity::new(&["rbf"]).unwrap();
        let params = BasisExpansionParams::new(any()).c(CChoice::Auto).with_choice(&found).unwrap();
        let model = params.fit(&train, &of_train).unwrap();
        let score = accuracy(model.decision_function(&test, 1).unwrap().values(), &of_test);
        scores.push(("basis expansion", score));
        let auto = AutoParams::default().fit(&train, &of_train).unwrap();
        let score = accuracy(auto.model.decision_function(&test, 1, &monitor).unwrap().values(), &of_test);
        scores.push(("any method", score));
        let plate = ThinPlateParams::new("distance".parse().unwrap()).kernel_auto();
        let plate = plate.fit(&train.rows("a test").unwrap(), &of_train).unwrap();
        let score = plate.decision_function(&test.rows("a test").unwrap(), 1).unwrap();
        let score = accuracy(score.values(), &of_test);
        scores.push(("thin plate", score));

        let (of_train, of_test) = (targets.of_rows(&rows(0)), targets.of_rows(&rows(1)));
        let found = SimilaritySearch::default().choose(&train, &of_train, None, &monitor).unwrap();
        let model =
            BasisExpansionRegressorParams::new(any()).with_choice(&found).unwrap().fit(&train, &of_train).unwrap();
        let predicted = Regressor::predict(&model, &test, 1, &monitor).unwrap().values;
        let truth: Vec<f64> = (0..N / 2).map(|row| of_test.row(row)[0]).collect();
        let mean = truth.iter().sum::<f64>() / truth.len() as f64;
        let sum = |of: &dyn Fn(usize) -> f64| (0..truth.len()).map(|row| of(row).powi(2)).sum::<f64>();
        let r2 = 1.0 - sum(&|row| predicted[row] - truth[row]) / sum(&|row| truth[row] - mean);
        scores.push(("regression", r2));

        if away == 0.0 {
            of_near.clone_from(&scores);
        }
        for ((name, score), (_, near)) in scores.iter().zip(&of_near) {
            assert!(*near > 0.9 && (score - near).abs() <= 0.05, "{name} {size} {away}: {score} instead of {near}");
        }
        let one = BasisExpansionOneClassParams::new(AnySimilarity::new(&["z-score/rbf"]).unwrap());
        let scores = one.fit(&train).unwrap().score_samples(&test, 1).unwrap();
        let outside = DenseView::new(&[away - 4.0 * size, away + 9.0 * size], 1, 2).unwrap().values().to_vec();
        let outside = DenseView::new(&outside, 1, 2).unwrap();
        let one = BasisExpansionOneClassParams::new(AnySimilarity::new(&["z-score/rbf"]).unwrap()).fit(&train).unwrap();
        let low = one.score_samples(&SamplesView::from(outside), 1).unwrap()[0];
        let least = scores.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(low < least, "one class {size} {away}: {low} {least}");
    }
}
