//! Probabilities are calibrated on held-out samples: on new samples no other temperature is much better, for every kind
//! of fit; and they agree with predictions.

use crate::common::{histograms, vectors};
use crate::harness::places::Disk;
use widemargin::basis::BasisChoice;
use widemargin::data::{AnySamples, Labels, SamplesView, Vectors};
use widemargin::model::{BasisExpansionParams, CChoice, Classifier, PowerMeanParams, ThinPlateParams};
use widemargin::monitor::Monitor;
use widemargin::problem::Loss;
use widemargin::similarity::{AdditiveKernel, AnySimilarity, ConditionalKernel};
use widemargin::solve::{CalibratedOn, Calibration};

const D: usize = 12;

fn samples(n: usize, classes: usize, seed: u64) -> (AnySamples, Labels) {
    let (values, labels) = histograms(n, D, classes, seed);
    let values = values.into_iter().map(|x| x as f32).collect();
    (vectors(values, D), labels)
}

/// The mean log loss of probabilities.
fn log_loss(probabilities: &[f64], labels: &Labels) -> f64 {
    let k = labels.classes().len();
    let of = |(row, &code): (usize, &u32)| -probabilities[row * k + code as usize].ln();
    labels.codes().iter().enumerate().map(of).sum::<f64>() / labels.len() as f64
}

/// The least log loss of the softmax of decision values times any factor, or of a sigmoid of them.
fn least_log_loss(values: &[f64], labels: &Labels) -> f64 {
    let k = labels.classes().len();
    let at = |factor: f64| {
        let log_probability = |(row, &code): (usize, &u32)| {
            let odds: Vec<f64> = if k == 2 {
                vec![0.0, factor * values[row]]
            } else {
                (0..k).map(|c| factor * values[row * k + c]).collect()
            };
            odds[code as usize] - odds.iter().map(|z| z.exp()).sum::<f64>().ln()
        };
        -labels.codes().iter().enumerate().map(log_probability).sum::<f64>() / labels.len() as f64
    };
    (0..80).map(|step| at(0.1 * 1.08f64.powi(step))).fold(f64::INFINITY, f64::min)
}

/// Log loss on new samples is near the least, and the most probable class is the predicted one.
fn check(model: &dyn Classifier, classes: usize, on: CalibratedOn, what: &str) -> Calibration {
    let (new, labels) = samples(3000, classes, 99);
    let (new, monitor) = (SamplesView::Other(&new), Monitor::none());
    let found = model.predict_proba(&new, 2, &monitor).unwrap();
    let values = model.decision_values(&new, 2, &monitor).unwrap();
    let (loss, least) = (log_loss(&found.values, &labels), least_log_loss(&values, &labels));
    assert!(loss < 1.04 * least, "{what}: {loss} where {least} is the least");
    for (row, class) in found.values.chunks(classes).zip(model.predict(&new, 2, &monitor).unwrap()) {
        let largest = (0..classes).fold(0, |best, k| if row[k] > row[best] { k } else { best });
        assert_eq!(&model.classes()[largest], class, "{what}: {row:?}");
        assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
    let calibration = model.calibration().unwrap();
    assert_eq!(calibration.on(), on, "{what}");
    calibration.clone()
}

fn rbf() -> BasisExpansionParams<AnySimilarity> {
    BasisExpansionParams::new(AnySimilarity::new(&["rbf:gamma=0.2"]).unwrap()).basis(BasisChoice::Index).n_basis(60)
}

#[test]
fn new_samples_have_next_to_the_least_log_loss() {
    use CalibratedOn::{HeldOut, LeaveOneOut};
    for classes in [2, 4] {
        let (train, labels) = samples(400, classes, 5);
        let AnySamples::Vectors(Vectors::Dense(matrix)) = &train else { unreachable!() };
        let view = matrix.view().unwrap();
        let case = |what: &str| format!("{what}, {classes} classes");
        let thin_plate = ThinPlateParams::new(ConditionalKernel::THIN_PLATE);
        check(&thin_plate.fit(&view, &labels).unwrap(), classes, LeaveOneOut, &case("thin plate"));
        check(&thin_plate.c_auto_per_class().fit(&view, &labels).unwrap(), classes, LeaveOneOut, &case("C per class"));
        let auto = rbf().c(CChoice::Auto);
        check(&auto.fit(&train, &labels).unwrap(), classes, LeaveOneOut, &case("basis expansion, automatic C"));
        // All are left out in closed form, whether C is automatic or not.
        for c in [CChoice::Auto, CChoice::Value(0.1)] {
            let squared = rbf().loss(Loss::SquaredError).c(c);
            check(&squared.fit(&train, &labels).unwrap(), classes, LeaveOneOut, &case("the squared error"));
        }
        for c in [0.1, 10.0] {
            check(&rbf().c(c).fit(&train, &labels).unwrap(), classes, HeldOut, &case(&format!("C = {c}")));
        }
        for loss in [Loss::Logistic, Loss::Hinge] {
            check(&rbf().loss(loss).fit(&train, &labels).unwrap(), classes, HeldOut, &case(&format!("{loss}")));
        }
        for (c, loss) in [(0.05, Loss::SquaredHinge), (1.0, Loss::SquaredHinge), (0.1, Loss::Hinge)] {
            let params = PowerMeanParams::new(AdditiveKernel::Chi2).c(c).loss(loss);
            check(
                &params.fit(&view, &labels).unwrap(),
                classes,
                HeldOut,
                &case(&format!("power mean, {loss}, C = {c}")),
            );
        }
    }
}

#[test]
fn fits_in_blocks_have_the_probabilities_of_fits_in_memory() {
    let (train, labels) = samples(3000, 3, 5);
    let AnySamples::Vectors(Vectors::Dense(matrix)) = &train else { unreachable!() };
    let view = matrix.view().unwrap();
    let (disk, monitor) = (Disk::new(None), Monitor::none());
    // The same probabilities where decision values are usual: beyond a margin few samples determine the slope.
    let near = |one: &Calibration, other: &Calibration, what: &str| {
        let steps = [-1.5, -1.0, -0.5, 0.0, 0.5, 1.0];
        let values: Vec<f64> =
            steps.iter().flat_map(|a| steps.iter().flat_map(move |b| [*a, *b, -0.5 * (a + b)])).collect();
        let pairs = one.probabilities(&values, 3).into_iter().zip(other.probabilities(&values, 3));
        let most = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(most < 0.1, "{what}: {most} {one:?} {other:?}");
    };

    let params = PowerMeanParams::new(AdditiveKernel::Chi2).c(0.1);
    let here = check(&params.fit(&view, &labels).unwrap(), 3, CalibratedOn::HeldOut, "power mean");
    let model = params.fit_blocks(&train, &labels, None, &disk.resources(2_000_000), &monitor).unwrap();
    near(&check(&model, 3, CalibratedOn::HeldOut, "power mean in blocks"), &here, "power mean");

    let here = check(&rbf().c(1.0).fit(&train, &labels).unwrap(), 3, CalibratedOn::HeldOut, "basis expansion");
    let model = rbf().c(1.0).fit_blocks(&train, &labels, None, &disk.resources(500_000), &monitor).unwrap();
    near(&check(&model, 3, CalibratedOn::HeldOut, "basis expansion in blocks"), &here, "basis expansion");

    let params = ThinPlateParams::new(ConditionalKernel::Distance).n_basis(Some(50));
    let here = check(&params.fit(&view, &labels).unwrap(), 3, CalibratedOn::LeaveOneOut, "bases");
    let model = params.fit_blocks(&train, &labels, None, &disk.resources(30_000_000), &monitor).unwrap();
    near(&check(&model, 3, CalibratedOn::LeaveOneOut, "bases in blocks"), &here, "bases");
}
