//! Regression under a time limit, with progress: a robust loss, and predictions of new samples.
//!
//! `cargo run --release --package widemargin-examples --bin regression`

use std::error::Error;
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use widemargin::data::{DenseView, SamplesView, Targets};
use widemargin::model::{BasisExpansionRegressorParams, Loss};
use widemargin::monitor::{Monitor, Progress};
use widemargin::similarity::AnySimilarity;

/// A sine with noise; one target in twenty is wrong by 10.
fn noisy_sine(n: usize, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let x: Vec<f64> = (0..n).map(|_| 6.0 * rng.random::<f64>()).collect();
    let wrong = |row: usize| if row.is_multiple_of(20) { 10.0 } else { 0.0 };
    let y = x.iter().enumerate().map(|(row, x)| x.sin() + 0.1 * rng.random::<f64>() + wrong(row)).collect();
    (x, y)
}

fn main() -> Result<(), Box<dyn Error>> {
    let (x, y) = noisy_sine(500, 1);
    let similarity = AnySimilarity::new(&["rbf:gamma=1"])?;
    let params = BasisExpansionRegressorParams::new(similarity).loss(Loss::Huber { epsilon: None });
    let show = |progress: Progress| eprintln!("{}: {} of {}", progress.stage, progress.done, progress.total);
    let monitor = Monitor::none().with_progress(&show).with_time_limit(Duration::from_secs(30));
    let samples: SamplesView<'_> = DenseView::new(&x, x.len(), 1)?.into();
    let model = params.fit_with(&samples, &Targets::single(y)?, None, &monitor)?;

    let new: Vec<f64> = (1..60).map(|i| 0.1 * f64::from(i)).collect();
    let new_samples: SamplesView<'_> = DenseView::new(&new, new.len(), 1)?.into();
    let predicted = model.predict(&new_samples, 1)?;
    let errors = new.iter().zip(&predicted.values).map(|(x, found)| (found - x.sin()).abs());
    let largest = errors.fold(0.0f64, f64::max);
    println!("largest error {largest:.2}, although one target in twenty is wrong by 10");
    assert!(largest < 0.3);
    Ok(())
}

#[test]
fn it_runs() {
    main().unwrap();
}
