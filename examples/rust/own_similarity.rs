//! A user-defined similarity in about twenty lines: the overlap of two time intervals; and a model with it, saved and
//! loaded.
//!
//! Any function of two objects can be a similarity. It need be neither symmetric nor a kernel, and the objects need not
//! be vectors.
//!
//! `cargo run --release --package widemargin-examples --bin own_similarity`

use std::error::Error;
use std::path::Path;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use widemargin::data::Labels;
use widemargin::model::{BasisExpansionParams, BasisExpansionSvc};
use widemargin::select::Evaluation;
use widemargin::similarity::Similarity;

/// An interval in hours of the day.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
struct Stretch {
    from: f32,
    to: f32,
}

/// The overlap of two intervals, as a fraction of the time from the first start to the last end.
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

/// Bases of a user's own type are stored in the model file in an encoding of the user's choice.
fn save(model: &BasisExpansionSvc<Overlap>, path: &Path) -> widemargin::Result<()> {
    model.save_with(path, |bases| serde_json::to_vec(bases).expect("intervals are numbers"))
}

fn load(path: &Path) -> widemargin::Result<BasisExpansionSvc<Overlap>> {
    BasisExpansionSvc::load_with(path, |bytes| serde_json::from_slice(bytes).map(|bases| (Overlap, bases)))
}

fn main() -> Result<(), Box<dyn Error>> {
    let (training, labels) = shifts(600, 1);
    let model = BasisExpansionParams::new(Overlap).n_basis(60).fit(&training, &labels)?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("shifts.model");
    save(&model, &path)?;
    let same = load(&path)?;

    let (test, truth) = shifts(300, 2);
    let mut evaluation = Evaluation::default();
    for (row, predicted) in same.predict(&test, 0)?.into_iter().enumerate() {
        evaluation.add(truth.get(row), predicted);
    }
    println!("accuracy {:.1} % with {} bases", 100.0 * evaluation.accuracy(), same.n_bases());
    assert!(evaluation.accuracy() > 0.9 && same.predict(&test, 0)? == model.predict(&test, 0)?);
    Ok(())
}

#[test]
fn it_runs() {
    main().unwrap();
}
