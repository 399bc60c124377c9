//! Multilabel targets: each problem is the two-class problem of the samples with a known value of its label, whatever
//! is shared; and so are its leave-one-out error and its probabilities.

use crate::common::histograms;
use crate::resources_common::Disk;
use widemargin::basis::BasisChoice;
use widemargin::data::{AnySamples, ClassWeight, DenseMatrix, DenseView, Label, Labels, SamplesView, Vectors};
use widemargin::expansion::Normalization;
use widemargin::model::{
    BasisExpansionParams, CChoice, Classifier, PowerMeanParams, Standardize, ThinPlateBasis, ThinPlateParams,
    from_bytes,
};
use widemargin::monitor::Monitor;
use widemargin::problem::Loss;
use widemargin::similarity::{AdditiveKernel, AnySimilarity, ConditionalKernel};
use widemargin::solve::Status;
use widemargin::solve::thin_plate::Polynomials;

const N: usize = 160;
const D: usize = 6;
const K: usize = 3;

/// Samples, and an indicator matrix in which a quarter of the entries are unknown, but none of the first 40 rows'.
fn case() -> (Vec<f64>, Vec<f64>) {
    let (values, _) = histograms(N, D, 3, 7);
    let answer = |row: usize, label: usize| {
        let x = &values[row * D..(row + 1) * D];
        let noise = ((row * 37 + label * 11) % 17) as f64 / 60.0;
        f64::from(u8::from(x[label] + x[(label + 1) % D] - x[label + 2] + noise > 0.3))
    };
    let is_unknown = |row: usize, label: usize| row >= 40 && (row * 13 + label * 7).is_multiple_of(4);
    let of = |at: usize| if is_unknown(at / K, at % K) { f64::NAN } else { answer(at / K, at % K) };
    let answers = (0..N * K).map(of).collect();
    (values, answers)
}

fn kernel() -> ConditionalKernel {
    "distance".parse().unwrap()
}

fn names() -> Vec<Label> {
    ["a", "b", "c"].map(Label::from).to_vec()
}

/// Samples with a known value of a label, and these values.
fn known(values: &[f64], answers: &[f64], label: usize) -> (Vec<f64>, Labels) {
    let rows: Vec<usize> = (0..N).filter(|row| !answers[row * K + label].is_nan()).collect();
    let values = rows.iter().flat_map(|&row| &values[row * D..(row + 1) * D]).copied().collect();
    (values, Labels::new(rows.iter().map(|&row| answers[row * K + label] as i64)))
}

fn view(values: &[f64]) -> DenseView<'_, f64> {
    DenseView::new(values, values.len() / D, D).unwrap()
}

/// A fit on samples and labels, and its decision values of other samples.
type FitAlone<'a> = &'a dyn Fn(&[f64], &Labels, &[f64]) -> Vec<f64>;

/// Decision values of all labels are those of each label's own model on the samples with a known value.
fn same(what: &str, tolerance: f64, all: &dyn Fn(&[f64], &Labels) -> Vec<f64>, alone: FitAlone<'_>) {
    let (values, answers) = case();
    let found = all(&values, &Labels::multilabel(names(), &answers).unwrap());
    assert_eq!(found.len(), N * K);
    for label in 0..K {
        let (some, labels) = known(&values, &answers, label);
        let truth = alone(&some, &labels, &values);
        for row in 0..N {
            let (ours, truth) = (found[row * K + label], truth[row]);
            assert!((ours - truth).abs() < tolerance, "{what}, label {label}, row {row}: {ours} and {truth}");
        }
    }
}

fn weights() -> [ClassWeight; 2] {
    [ClassWeight::Uniform, ClassWeight::Balanced]
}

#[test]
fn thin_plate_problems_are_those_of_each_label() {
    for (class_weight, c) in weights().into_iter().zip([3.0, 30.0]) {
        for bases in [None, Some(30)] {
            let params = ThinPlateParams::new(kernel())
                .c(c)
                .polynomials(Polynomials::Free)
                .standardize(Standardize::No)
                .n_basis(bases)
                .basis(ThinPlateBasis::Index)
                .class_weight(class_weight.clone())
                .threads(1);
            let fit = |values: &[f64], labels: &Labels| params.fit(&view(values), labels).unwrap();
            same(
                &params
                    .fit(&view(&case().0), &Labels::multilabel(names(), &case().1).unwrap())
                    .unwrap()
                    .kernel()
                    .to_string(),
                1e-6,
                &|values, labels| fit(values, labels).decision_values(&view(values), 1).unwrap(),
                &|some, labels, values| fit(some, labels).decision_values(&view(values), 1).unwrap(),
            );
            // Leave-one-out and the probabilities on it.
            let (values, answers) = case();
            let all = fit(&values, &Labels::multilabel(names(), &answers).unwrap());
            let point = all.chosen().unwrap();
            for label in 0..K {
                let (some, labels) = known(&values, &answers, label);
                let alone = fit(&some, &labels);
                if bases.is_none() {
                    let truth = alone.chosen().unwrap();
                    assert!(point.loo_exact && truth.loo_exact);
                    assert!((point.label_errors[label] - truth.loo_error.unwrap()).abs() < 1e-9, "{point:?} {truth:?}");
                }
                let slope = |model: &dyn Classifier, at: usize| model.calibration().unwrap().slopes()[at];
                let (ours, truth) = (slope(&all, label), slope(&alone, 0));
                assert!((ours / truth - 1.0).abs() < 1e-5, "{ours} {truth}");
            }
        }
    }
}

#[test]
fn basis_expansion_problems_are_those_of_each_label() {
    for loss in [Loss::SquaredHinge, Loss::SquaredError, Loss::Logistic, Loss::Hinge] {
        for class_weight in weights() {
            let params = || {
                BasisExpansionParams::new(AnySimilarity::new(&["features"]).unwrap())
                    .normalization(Normalization::None)
                    .c(2.0)
                    .loss(loss)
                    .tol(1e-7)
                    .max_iter(20_000)
                    .class_weight(class_weight.clone())
                    .threads(1)
            };
            let samples = |values: &[f64]| {
                let values: Vec<f32> = values.iter().map(|&x| x as f32).collect();
                let n_rows = values.len() / D;
                AnySamples::Vectors(Vectors::Dense(DenseMatrix { values, n_rows, n_cols: D }))
            };
            let values_of = |model: &dyn Classifier, values: &[f64]| {
                let samples = samples(values);
                let view = SamplesView::Other(&samples);
                model.decision_values(&view, 1, &Monitor::none()).unwrap()
            };
            same(
                &format!("{loss}"),
                2e-3,
                &|values, labels| values_of(&params().fit(&samples(values), labels).unwrap(), values),
                &|some, labels, values| values_of(&params().fit(&samples(some), labels).unwrap(), values),
            );
        }
    }
}

#[test]
fn power_mean_problems_are_those_of_each_label() {
    let nodes = vec![0.02, 0.1, 0.3, 0.7];
    for loss in [Loss::SquaredHinge, Loss::Hinge] {
        for class_weight in weights() {
            let params = PowerMeanParams::new(AdditiveKernel::PowerMean { p: -1.0 })
                .nodes(nodes.clone())
                .scale(false)
                .c(2.0)
                .loss(loss)
                .tol(1e-6)
                .max_epochs(5000)
                .class_weight(class_weight)
                .threads(1);
            let fit = |values: &[f64], labels: &Labels| params.fit(&view(values), labels).unwrap();
            let values_of = |model: &dyn Classifier, values: &[f64]| {
                let view = SamplesView::from(view(values));
                model.decision_values(&view, 1, &Monitor::none()).unwrap()
            };
            same(
                &format!("{loss:?}"),
                2e-2,
                &|values, labels| values_of(&fit(values, labels), values),
                &|some, labels, values| values_of(&fit(some, labels), values),
            );
        }
    }
}

#[test]
fn a_multilabel_model_is_saved_and_rejects_one_class() {
    let (values, answers) = case();
    let labels = Labels::multilabel(names(), &answers).unwrap();
    let model = ThinPlateParams::new(kernel()).fit(&view(&values), &labels).unwrap();
    let read = from_bytes(&model.to_bytes().unwrap()).unwrap();
    let (samples, monitor) = (SamplesView::from(view(&values)), Monitor::none());
    assert!(read.is_multilabel() && read.classes() == names());
    let predicted = read.predict_labels(&samples, 1, &monitor).unwrap();
    let probabilities = read.predict_proba(&samples, 1, &monitor).unwrap();
    assert_eq!((predicted.n_rows, predicted.n_cols), (N, K));
    for (label, p) in predicted.values.iter().zip(&probabilities.values) {
        assert_eq!(*label == 1, *p > 0.5, "{p}");
    }
    let error = read.predict(&samples, 1, &monitor).unwrap_err().to_string();
    assert!(error.contains("multilabel"), "{error}");
    let one = Labels::new((0..N as i64).map(|row| row % 2));
    let other = ThinPlateParams::new(kernel()).fit(&view(&values), &one).unwrap();
    assert!(Classifier::predict_labels(&other, &samples, 1, &monitor).is_err());
}

#[test]
fn the_order_of_samples_and_the_number_of_threads_make_no_difference() {
    let (values, answers) = case();
    let turned = |all: &[f64], width: usize| -> Vec<f64> {
        (0..N).flat_map(|row| all[row * 37 % N * width..][..width].to_vec()).collect()
    };
    let fit = |values: &[f64], answers: &[f64], threads: usize| {
        let labels = Labels::multilabel(names(), answers).unwrap();
        let params = ThinPlateParams::new(kernel()).c(3.0).threads(threads);
        params.fit(&view(values), &labels).unwrap().decision_values(&view(&case().0), 1).unwrap()
    };
    let (a, b) = (fit(&values, &answers, 1), fit(&turned(&values, D), &turned(&answers, K), 3));
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-9));
}

/// 2,000 samples, which a small memory does not hold with their features.
fn many() -> (AnySamples, Labels) {
    let n = 2000;
    let (values, _) = histograms(n, D, 3, 11);
    let of = |at: usize| {
        let (row, label) = (at / K, at % K);
        let x = &values[row * D..(row + 1) * D];
        let is_unknown = (row * 13 + label * 7).is_multiple_of(4);
        if is_unknown { f64::NAN } else { f64::from(u8::from(x[label] + x[(label + 1) % D] > x[label + 2] + 0.3)) }
    };
    let answers: Vec<f64> = (0..n * K).map(of).collect();
    let values = values.iter().map(|x| *x as f32).collect();
    let samples = AnySamples::Vectors(Vectors::Dense(DenseMatrix { values, n_rows: n, n_cols: D }));
    (samples, Labels::multilabel(names(), &answers).unwrap())
}

#[test]
fn out_of_core_they_are_those_of_memory() {
    let (samples, labels) = many();
    let close = |ours: &dyn Classifier, truth: &dyn Classifier, tolerance: f64, what: &str| {
        assert!(ours.is_multilabel() && ours.classes() == names());
        let of =
            |model: &dyn Classifier| model.decision_values(&SamplesView::Other(&samples), 1, &Monitor::none()).unwrap();
        let (ours, truth) = (of(ours), of(truth));
        let size = truth.iter().fold(0.0f64, |most, x| most.max(x.abs()));
        for (at, (a, b)) in ours.iter().zip(&truth).enumerate() {
            assert!((a - b).abs() <= tolerance * size, "{what}, {at}: {a} instead of {b}");
        }
    };
    for class_weight in weights() {
        let params = || {
            BasisExpansionParams::new(AnySimilarity::new(&["rbf:gamma=3"]).unwrap())
                .basis(BasisChoice::Rows((0..30).map(|at| at * 60).collect()))
                .c(2.0)
                .tol(1e-6)
                .class_weight(class_weight.clone())
        };
        let truth = params().fit(&samples, &labels).unwrap();
        for memory in [200_000, 1 << 26] {
            let disk = Disk::new(None);
            let resources = disk.resources(memory);
            let ours = params().fit_blocks(&samples, &labels, None, &resources, &Monitor::none()).unwrap();
            close(&ours, &truth, 0.01, &format!("basis expansion, {memory} bytes"));
            assert_eq!(ours.calibration().unwrap().slopes().len(), K);
        }
        let params = ThinPlateParams::new(kernel())
            .n_basis(Some(30))
            .basis(ThinPlateBasis::Index)
            .polynomials(Polynomials::Free)
            .standardize(Standardize::No)
            .class_weight(class_weight.clone());
        let AnySamples::Vectors(Vectors::Dense(rows)) = &samples else { unreachable!() };
        let truth = params.fit(&rows.view().unwrap(), &labels).unwrap();
        let disk = Disk::new(None);
        let resources = disk.resources(1 << 24);
        let ours = params.fit_blocks(&samples, &labels, None, &resources, &Monitor::none()).unwrap();
        close(&ours, &truth, 1e-4, "thin plate");
        let (ours, truth) = (ours.calibration().unwrap(), truth.calibration().unwrap());
        assert_eq!(ours.on(), truth.on());
        // On every other sample.
        for (a, b) in ours.slopes().iter().zip(truth.slopes()) {
            assert!((a / b - 1.0).abs() < 0.25, "{a} instead of {b}");
        }
    }
}

/// Of the power mean SVM: in one block and in several, with fixed and with automatic parameters, on samples whose
/// label is not always known.
#[test]
fn power_mean_out_of_core_is_that_of_memory() {
    let (samples, labels) = many();
    let monitor = Monitor::none();
    let AnySamples::Vectors(Vectors::Dense(matrix)) = &samples else { panic!("dense samples") };
    let params = || PowerMeanParams::new(AdditiveKernel::PowerMean { p: -1.0 }).tol(1e-5).max_epochs(5000);
    let fixed = || params().nodes(vec![0.02, 0.1, 0.3, 0.7]).c(2.0);
    let cases: [(PowerMeanParams, f64); 4] = [
        (fixed().class_weight(ClassWeight::Balanced), 0.02),
        (fixed().loss(Loss::Hinge), 0.02),
        (params().nodes(vec![0.05, 0.4]).c(CChoice::Auto), 0.02),
        // Kernel and nodes are selected on samples that were merged where they are equal, or were not.
        (params().choose_p().choose_n_nodes().c(CChoice::Auto), 0.05),
    ];
    for (params, tolerance) in cases {
        let truth = params.fit(&matrix.view().unwrap(), &labels).unwrap();
        for memory in [1_000_000, 1 << 28] {
            let disk = Disk::new(None);
            let ours = params.fit_blocks(&samples, &labels, None, &disk.resources(memory), &monitor).unwrap();
            let note = ours.report().notes.iter().find(|note| note.contains("block")).unwrap().clone();
            assert_eq!(note.contains("in 1 block "), memory > 1 << 20, "{note}");
            assert_eq!(ours.report().status, Status::Converged);
            assert!(Classifier::is_multilabel(&ours) && ours.classes() == names());
            let view = SamplesView::Other(&samples);
            let of = |model: &dyn Classifier| model.decision_values(&view, 1, &monitor).unwrap();
            let (a, b) = (of(&ours), of(&truth));
            let size = b.iter().fold(0.0f64, |most, x| most.max(x.abs()));
            let off = a.iter().zip(&b).fold(0.0f64, |most, (a, b)| most.max((a - b).abs()));
            assert!(off <= tolerance * size, "{params:?}, {memory}: {off} of {size}");
            // Fitted without other held-out samples: close, not the same.
            let proba = |model: &dyn Classifier| model.predict_proba(&view, 1, &monitor).unwrap().values;
            let (a, b) = (proba(&ours), proba(&truth));
            let off = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).sum::<f64>() / a.len() as f64;
            assert!(off < 0.05, "{params:?}, {memory}: probabilities differ by {off} on average");
        }
    }
}
