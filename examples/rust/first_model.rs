//! A thin plate SVM on vectors with default parameters: its accuracy as estimated from the training samples, probabilities,
//! and the model file, which the command line, Python and C can also read.
//!
//! `cargo run --release --package widemargin-examples --bin first_model`

use std::error::Error;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use widemargin::data::{DenseView, Labels};
use widemargin::model::{Classifier, ThinPlateParams, load};
use widemargin::monitor::Monitor;
use widemargin::select::Evaluation;
use widemargin::similarity::ConditionalKernel;

/// Two intertwined half circles, row-major, and their labels.
fn moons(n: usize, seed: u64) -> (Vec<f64>, Labels) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut values = Vec::with_capacity(2 * n);
    for row in 0..n {
        let (angle, upper) = (std::f64::consts::PI * rng.random::<f64>(), row % 2 == 0);
        let [x, y] = if upper { [angle.cos(), angle.sin()] } else { [1.0 - angle.cos(), 0.5 - angle.sin()] };
        values.extend([x, y].map(|center| center + 0.9 * (rng.random::<f64>() - 0.5)));
    }
    (values, Labels::new((0..n).map(|row| if row % 2 == 0 { "upper" } else { "lower" })))
}

fn main() -> Result<(), Box<dyn Error>> {
    let (values, labels) = moons(400, 1);
    let samples = DenseView::new(&values, 400, 2)?;
    // The kernel, C and the scaling of the columns are selected by leave-one-out.
    let model = ThinPlateParams::new(ConditionalKernel::Distance).fit(&samples, &labels)?;
    let estimate = model.report().estimate.as_ref().ok_or("no estimate")?;
    println!("estimated accuracy {:.1} %", 100.0 * (1.0 - estimate.error));

    let folder = tempfile::tempdir()?;
    let path = folder.path().join("moons.model");
    model.save(&path)?;
    let same: Box<dyn Classifier> = load(&path)?;

    let (values, truth) = moons(1000, 2);
    let test = DenseView::new(&values, 1000, 2)?.into();
    let mut evaluation = Evaluation::default();
    for (row, predicted) in same.predict(&test, 0, &Monitor::none())?.into_iter().enumerate() {
        evaluation.add(truth.get(row), predicted);
    }
    println!("accuracy {:.1} %", 100.0 * evaluation.accuracy());
    assert!((evaluation.accuracy() - (1.0 - estimate.error)).abs() < 0.03);
    Ok(())
}

#[test]
fn it_runs() {
    main().unwrap();
}
