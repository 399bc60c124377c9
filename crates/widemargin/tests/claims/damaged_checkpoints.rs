//! A checkpoint with a flipped bit is rejected, or makes no difference: it never leads to another model.

use crate::common::histograms;
use crate::resources_common::{Disk, MemoryCheckpoint};
use crate::thin_plate_common::{blobs, kernel};
use widemargin::data::{AnySamples, DenseMatrix, DenseView, Labels, Resources, VectorSource, Vectors};
use widemargin::model::{BasisExpansionParams, PowerMeanParams, ThinPlateBasis, ThinPlateParams};
use widemargin::monitor::Monitor;
use widemargin::similarity::{AdditiveKernel, AnySimilarity};
use widemargin::{Error, Result};

const PLENTY: u64 = 1 << 30;

/// Every file in turn, at `flips` places each; `fit` gives all numbers of the model. How many files there were.
fn check(flips: usize, memory: u64, fit: impl Fn(&Resources<'_>) -> Result<Vec<u64>>) -> usize {
    let (disk, checkpoint) = (Disk::new(None), MemoryCheckpoint::default());
    let resources = Resources { checkpoint: Some(&checkpoint), ..disk.resources(memory) };
    let truth = fit(&resources).unwrap();
    assert_eq!(fit(&resources).unwrap(), truth);
    let whole = checkpoint.saved.lock().unwrap().clone();
    let mut n_refused = 0;
    for (name, bytes) in &whole {
        let n_bits = 8 * bytes.len();
        for at in (0..n_bits).step_by((n_bits / flips) | 1) {
            let mut damaged = bytes.clone();
            damaged[at / 8] ^= 1 << (at % 8);
            // Undo the saves of a resumed fit.
            *checkpoint.saved.lock().unwrap() = whole.clone();
            checkpoint.saved.lock().unwrap().insert(name.clone(), damaged);
            match fit(&resources) {
                Err(Error::Checkpoint { problem }) => {
                    assert!(problem.contains(&format!("{name} is damaged")), "{name}: {at}: {problem}");
                    n_refused += 1;
                }
                Err(error) => panic!("{name}: {at}: {error}"),
                // Not read any more.
                Ok(model) => assert_eq!(model, truth, "{name}: {at}"),
            }
        }
        // Under the name of another, and without the line that has the checksum.
        let line = bytes.iter().position(|&byte| byte == b'\n').unwrap() + 1;
        let another =
            whole.iter().find(|(known, other)| *known != name && *other != bytes).map(|(_, other)| &other[..]);
        for damaged in [&bytes[line..], &bytes[..bytes.len() - 1], &b""[..]].into_iter().chain(another) {
            *checkpoint.saved.lock().unwrap() = whole.clone();
            checkpoint.saved.lock().unwrap().insert(name.clone(), damaged.to_vec());
            match fit(&resources) {
                Err(error) => assert!(matches!(error, Error::Checkpoint { .. }), "{name}: {error}"),
                Ok(model) => assert_eq!(model, truth, "{name}"),
            }
        }
    }
    assert!(n_refused >= flips, "{n_refused}");
    whole.len()
}

fn bits<T: Copy + Into<f64>>(values: &[T]) -> impl Iterator<Item = u64> + '_ {
    values.iter().map(|&value| value.into().to_bits())
}

#[test]
fn of_the_power_mean_svm() {
    let (values, labels) = histograms(60, 8, 3, 30);
    let samples = DenseView::new(&values, 60, 8).unwrap();
    let params = PowerMeanParams::new(AdditiveKernel::Chi2).c(1.0).threads(1);
    let n_files = check(8, PLENTY, |resources| {
        let model = params.fit_blocks(&VectorSource(&samples), &labels, None, resources, &Monitor::none())?;
        Ok(bits(model.weights()).chain(bits(&model.report().gaps)).collect())
    });
    // The manifest; weights and dual variables.
    assert!(n_files >= 1 + 3 + 16, "{n_files}");
}

#[test]
fn of_the_basis_expansion_svm() {
    // More rows than memory holds the features of.
    let (values, labels) = blobs(3000, 4, 2, 5);
    let labels = Labels::new(labels);
    let values = values.iter().map(|&value| value as f32).collect();
    let samples = AnySamples::Vectors(Vectors::Dense(DenseMatrix { values, n_rows: 3000, n_cols: 4 }));
    let n_files = check(20, 100_000, |resources| {
        let similarity = AnySimilarity::new(&["rbf:gamma=0.5"]).unwrap();
        let params = BasisExpansionParams::new(similarity).n_basis(24).threads(1);
        let model = params.fit_blocks(&samples, &labels, None, resources, &Monitor::none())?;
        Ok(bits(model.weights()).chain(bits(model.intercepts())).chain(bits(&model.report().gaps)).collect())
    });
    assert_eq!(n_files, 4, "the manifest, the normalization, the answers of the solver and of the held-out samples");
}

#[test]
fn of_the_thin_plate_svm() {
    let (values, labels) = blobs(300, 3, 3, 5);
    let labels = Labels::new(labels);
    let samples = DenseView::new(&values, 300, 3).unwrap();
    let params = ThinPlateParams::new(kernel("thin-plate")).n_basis(Some(10)).basis(ThinPlateBasis::Index);
    let n_files = check(80, PLENTY, |resources| {
        let params = params.clone().threads(1);
        let model = params.fit_blocks(&VectorSource(&samples), &labels, None, resources, &Monitor::none())?;
        Ok(bits(model.coefficients()).chain(bits(model.polynomial())).chain([model.c().to_bits()]).collect())
    });
    assert_eq!(n_files, 1);
}
