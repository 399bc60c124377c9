//! Greedy selection of similarities on made data where it is known which of them tell something.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use widemargin::Error;
use widemargin::data::{DenseMatrix, Labels, Samples, Training};
use widemargin::expansion::{BasisExpansion, Normalization};
use widemargin::monitor::Monitor;
use widemargin::select::{GreedySettings, select_similarities};
use widemargin::similarity::Similarity;
use widemargin::solve::Status;

/// Samples of three numbers; one similarity a number, which sees that one alone.
struct Sides;

impl Similarity for Sides {
    type Samples = Vec<[f32; 3]>;

    fn spec(&self) -> String {
        "sides".into()
    }

    fn n_parts(&self) -> usize {
        3
    }

    fn block(&self, bases: &Self::Samples, samples: &Self::Samples, block: &mut [f32]) -> widemargin::Result<()> {
        let mut out = block.iter_mut();
        for part in 0..3 {
            for sample in samples {
                for basis in bases {
                    if let Some(out) = out.next() {
                        *out = (-(sample[part] - basis[part]).powi(2)).exp();
                    }
                }
            }
        }
        Ok(())
    }
}

/// The class is told by numbers 1 and 2 together; number 0 is noise.
fn made(n: usize) -> (BasisExpansion<Sides>, DenseMatrix<f32>, Labels) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    let mut number = move || 4.0 * rng.random::<f32>() - 2.0;
    let samples: Vec<[f32; 3]> = (0..n).map(|_| [number(), number(), number()]).collect();
    let labels = Labels::new(samples.iter().map(|s| i64::from(s[1] + 0.5 * s[2] > 0.0)));
    let bases = samples.select(&(0..15).collect::<Vec<_>>());
    let weights = vec![1.0; n];
    let training = Training { samples: &samples, weights: &weights, threads: 1, monitor: &Monitor::none() };
    let (expansion, phi) = BasisExpansion::fit(Sides, bases, Normalization::MeanNorm, &training).unwrap();
    (expansion, phi, labels)
}

fn settings() -> GreedySettings {
    GreedySettings { c: 10.0, least_gain: 0.01, threads: 1, ..GreedySettings::default() }
}

#[test]
fn what_tells_most_comes_first_and_noise_never() {
    let (expansion, phi, labels) = made(300);
    assert_eq!(expansion.part_columns(1), Some(15..30));
    assert_eq!(expansion.part_columns(3), None);
    let greedy = select_similarities(&expansion, &phi, &labels, &settings(), &Monitor::none()).unwrap();
    assert_eq!((greedy.chosen.as_slice(), greedy.status), (&[1, 2][..], Status::Converged));
    assert!(greedy.warnings.is_empty(), "{:?}", greedy.warnings);
    // Three rounds: the last found the noise not worth its place.
    let [first, second, third] = greedy.rounds.as_slice() else { panic!("{:?}", greedy.rounds) };
    assert_eq!((first.chosen, second.chosen, third.chosen), (Some(1), Some(2), None));
    assert_eq!((first.accuracies.len(), second.accuracies.len(), third.accuracies.len()), (3, 2, 1));
    assert!(first.accuracies[0].1 < 0.65 && first.accuracy > 0.75 && second.accuracy > 0.93, "{:?}", greedy.rounds);
    // The accuracy of a round is that of its best candidate.
    assert_eq!(second.accuracy, second.accuracies.iter().map(|(_, accuracy)| *accuracy).fold(0.0, f64::max));

    let one = GreedySettings { most: 1, ..settings() };
    assert_eq!(select_similarities(&expansion, &phi, &labels, &one, &Monitor::none()).unwrap().chosen, [1]);
}

#[test]
fn of_equals_the_earlier_is_taken() {
    let (expansion, mut phi, labels) = made(120);
    // The third similarity becomes a copy of the second.
    for row in phi.values.chunks_mut(45) {
        row.copy_within(15..30, 30);
    }
    let greedy = select_similarities(&expansion, &phi, &labels, &settings(), &Monitor::none()).unwrap();
    assert_eq!(greedy.rounds[0].accuracies[1].1, greedy.rounds[0].accuracies[2].1);
    assert_eq!(greedy.chosen[0], 1);
}

#[test]
fn threads_change_nothing() {
    let (expansion, phi, labels) = made(600);
    let run = |threads| {
        let settings = GreedySettings { threads, least_gain: 0.0, ..settings() };
        select_similarities(&expansion, &phi, &labels, &settings, &Monitor::none()).unwrap()
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn what_cannot_be_is_named() {
    let (expansion, phi, labels) = made(40);
    let says = |settings: GreedySettings, word: &str| {
        let error =
            select_similarities(&expansion, &phi, &labels, &settings, &Monitor::none()).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    };
    says(GreedySettings { most: 0, ..settings() }, "most");
    says(GreedySettings { n_folds: 1, ..settings() }, "folds");
    says(GreedySettings { least_gain: f64::NAN, ..settings() }, "least_gain");
    says(GreedySettings { c: 0.0, ..settings() }, "C = 0");
    says(GreedySettings { tol: 1.0, ..settings() }, "tol");
    let narrow = DenseMatrix { values: vec![0.0; 40], n_rows: 40, n_cols: 1 };
    let error = select_similarities(&expansion, &narrow, &labels, &settings(), &Monitor::none()).unwrap_err();
    assert!(matches!(error, Error::Shape { .. }) && error.to_string().contains("45"), "{error}");
    let few = Labels::new([0i64, 1]);
    assert!(select_similarities(&expansion, &phi, &few, &settings(), &Monitor::none()).is_err());
    let limit = Monitor::none().with_time_limit(std::time::Duration::ZERO);
    let greedy = select_similarities(&expansion, &phi, &labels, &settings(), &limit).unwrap();
    assert_eq!((greedy.chosen.len(), greedy.status, greedy.warnings.len()), (0, Status::TimeLimit, 1));
}
