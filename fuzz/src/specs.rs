//! Specs of similarities: one that is accepted is written as it is read, and can be fitted or refused with a message.

use widemargin::data::{AnySamples, DenseMatrix, Images, Labels, SamplesView, Series};
use widemargin::monitor::Monitor;
use widemargin::select::{Answers, Estimator, Method, Place, Task};
use widemargin::similarity::AnySimilarity;

/// Reads the bytes as a spec.
pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let similarity = match AnySimilarity::new(&[text]) {
        Ok(similarity) => similarity,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let specs = similarity.specs();
    let again = AnySimilarity::new(&specs).expect("a spec that was written is read");
    assert_eq!(again.specs(), specs);
    for samples in samples() {
        fit(text, &samples);
    }
}

/// Six samples of each kind.
fn samples() -> [AnySamples; 4] {
    let numbers: Vec<f32> = (0..12).map(|at| (at * at % 7) as f32).collect();
    let matrix = DenseMatrix { values: numbers.clone(), n_rows: 6, n_cols: 2 };
    let pixels: Vec<u8> = (0..6 * 64).map(|at| (at * at % 251) as u8).collect();
    let strings = ["ACGT", "ACGGT", "", "abba", "A:B,C:B-A", "CCO"].map(str::to_owned).to_vec();
    [
        AnySamples::Vectors(widemargin::data::Vectors::Dense(matrix)),
        AnySamples::Series(Series::new(numbers, &[2, 1, 3, 2, 1, 3], 1).expect("six series")),
        AnySamples::Images(Images::new(pixels, 8, 8, 1).expect("six images")),
        AnySamples::Strings(strings),
    ]
}

fn fit(spec: &str, samples: &AnySamples) {
    let estimator = Estimator::new(Method::BasisExpansion, Task::Classification).expect("the method has the task");
    let mut estimator = estimator.similarity(vec![spec.to_owned()]);
    estimator.set("threads", "1").expect("a number of threads");
    estimator.set("C", "1").expect("a value of C");
    let labels = Labels::new([0i64, 0, 0, 1, 1, 1]);
    let (view, monitor) = (SamplesView::Other(samples), Monitor::none());
    match estimator.fit(Place::Memory(&view), Some(&Answers::from(&labels)), None, &monitor) {
        Ok((model, _)) => assert!(model.check_finite().is_ok(), "{spec}"),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
