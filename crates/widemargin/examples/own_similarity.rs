//! A similarity of one's own: how much two stretches of time overlap, in about twenty lines.
//!
//! Any function of two things will do. It need not be symmetric, nor a kernel, and the things need not be vectors.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use widemargin::data::Labels;
use widemargin::model::BasisExpansionParams;
use widemargin::select::Evaluation;
use widemargin::similarity::Similarity;

/// From one hour of the day to another.
#[derive(Clone)]
struct Stretch {
    from: f32,
    to: f32,
}

/// The time two stretches share, as a part of the time from the first start to the last end.
struct Overlap;

impl Similarity for Overlap {
    type Samples = Vec<Stretch>;

    fn spec(&self) -> String {
        "overlap".into()
    }

    fn block(&self, bases: &Vec<Stretch>, samples: &Vec<Stretch>, block: &mut [f32]) -> widemargin::Result<()> {
        for (row, sample) in block.chunks_mut(bases.len()).zip(samples) {
            for (out, basis) in row.iter_mut().zip(bases) {
                let shared = basis.to.min(sample.to) - basis.from.max(sample.from);
                let spanned = basis.to.max(sample.to) - basis.from.min(sample.from);
                *out = shared.max(0.0) / spanned;
            }
        }
        Ok(())
    }
}

/// Shifts of three kinds: early, late, and long ones across both.
fn shifts(n: usize, seed: u64) -> (Vec<Stretch>, Labels) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut about = move |hour: f32| hour + 6.0 * (rng.random::<f32>() - 0.5);
    let kinds = [("early", 6.0, 13.0), ("late", 13.0, 20.0), ("long", 7.0, 19.0)];
    let shifts = (0..n).map(|i| Stretch { from: about(kinds[i % 3].1), to: about(kinds[i % 3].2) }).collect();
    (shifts, Labels::new((0..n).map(|i| kinds[i % 3].0)))
}

fn main() -> widemargin::Result<()> {
    let (training, labels) = shifts(600, 1);
    let model = BasisExpansionParams::new(Overlap).n_basis(60).fit(&training, &labels)?;

    let (test, truth) = shifts(300, 2);
    let mut evaluation = Evaluation::default();
    for (row, predicted) in model.predict(&test, 0)?.into_iter().enumerate() {
        evaluation.add(truth.get(row), predicted);
    }
    println!("accuracy {:.1} % with {} bases", 100.0 * evaluation.accuracy(), model.n_bases());
    Ok(())
}
