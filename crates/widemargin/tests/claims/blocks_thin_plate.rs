//! What is particular to thin plate models in blocks: how often samples are read, and how bases, kernel and scaling are
//! selected.

use std::sync::atomic::Ordering;

use crate::common::vectors;
use crate::harness::places::{Chunked, Disk, PLENTY};
use crate::harness::training::{D, Kind, Task, Training};
use crate::thin_plate_common::{blobs, kernel, relative, view};
use widemargin::Error;
use widemargin::data::{AnySamples, Labels, Vectors};
use widemargin::model::{Standardize, ThinPlateBasis, ThinPlateParams, ThinPlateRegressorParams, ThinPlateSvc};
use widemargin::monitor::Monitor;
use widemargin::solve::thin_plate::Polynomials;

const BASES: [ThinPlateBasis; 4] =
    [ThinPlateBasis::Index, ThinPlateBasis::Random, ThinPlateBasis::KMeans, ThinPlateBasis::KMedoids];

/// Samples in single precision, and the same in double precision.
fn samples(values: &[f64], d: usize) -> (AnySamples, Vec<f64>) {
    let single: Vec<f32> = values.iter().map(|&x| x as f32).collect();
    let double = single.iter().map(|&x| x.into()).collect();
    (vectors(single, d), double)
}

fn params(n_basis: usize) -> ThinPlateParams {
    ThinPlateParams::new(kernel("thin-plate")).n_basis(Some(n_basis)).basis(ThinPlateBasis::Index).threads(2)
}

fn fit(params: &ThinPlateParams, samples: &AnySamples, labels: &Labels, weights: Option<&[f64]>) -> ThinPlateSvc {
    let disk = Disk::new(Some(0));
    let samples = Chunked::new(samples);
    params.clone().fit_blocks(&samples, labels, weights, &disk.resources(PLENTY), &Monitor::none()).unwrap()
}

#[test]
fn samples_are_read_again_where_memory_does_not_hold_their_features() {
    let (values, labels) = blobs(6000, 2, 3, 77);
    let (samples, labels) = (samples(&values, 2).0, Labels::new(labels));
    let disk = Disk::new(Some(0));
    let n_reads = |memory: u64| {
        let source = Chunked::new(&samples);
        let fitted = params(12).c(0.5).fit_blocks(&source, &labels, None, &disk.resources(memory), &Monitor::none());
        fitted.map(|_| source.n_reads.load(Ordering::Relaxed))
    };
    let Err(Error::Memory { needed, .. }) = n_reads(1000) else { panic!("1000 bytes") };
    assert!(n_reads(needed).unwrap() > 2 * n_reads(PLENTY).unwrap());
    // A spline takes four passes, one row more to learn their width, and the first ones for the bases.
    let training = Training::new(Kind::Vectors, Task::Targets(2), 2500, 5);
    let source = Chunked::new(&training.samples);
    let spline = ThinPlateRegressorParams::new(kernel("distance")).n_basis(Some(30)).basis(ThinPlateBasis::Index);
    spline.fit_blocks(&source, training.targets(), None, &disk.resources(PLENTY), &Monitor::none()).unwrap();
    let n_reads = source.n_reads.load(Ordering::Relaxed);
    assert!(n_reads > 4 * 2500 && n_reads < 6 * 2500, "{n_reads}");
}

#[test]
fn bases_of_every_choice_do_about_as_well() {
    let (n, d) = (3000, 3);
    let (values, labels) = blobs(n, d, 3, 29);
    let ((samples, wide), labels) = (samples(&values, d), Labels::new(labels));
    let wrong = |model: &ThinPlateSvc| {
        let predicted = model.predict(&view(&wide, d), 1).unwrap();
        predicted.iter().enumerate().filter(|(i, label)| **label != labels.get(*i)).count() as f64 / n as f64
    };
    for choice in BASES {
        let params = params(30).basis(choice).seed(3);
        let memory = wrong(&params.fit(&view(&wide, d), &labels).unwrap());
        let model = fit(&params, &samples, &labels, None);
        assert!(wrong(&model) <= memory + 0.04, "{choice}: {} {memory}", wrong(&model));
        let is_k_means = choice == ThinPlateBasis::KMeans;
        assert_eq!((model.n_bases(), model.basis_rows().len()), (30, if is_k_means { 0 } else { 30 }));
        for (base, &row) in model.bases().chunks(d).zip(model.basis_rows()) {
            assert_eq!(base, &wide[row as usize * d..(row as usize + 1) * d]);
        }
    }
}

#[test]
fn awkward_samples() {
    // Separated by a line, so that the polynomials are penalized; a constant column.
    let n = 700;
    let values: Vec<f64> = (0..n).flat_map(|i| [(1.7 * i as f64).sin(), (0.3 * i as f64).cos(), 2.5]).collect();
    let labels = Labels::new((0..n).map(|i| i64::from(values[3 * i] > 0.1)));
    let (samples, wide) = samples(&values, 3);
    let params = params(20).c(3.0);
    let memory = params.fit(&view(&wide, 3), &labels).unwrap();
    let found = fit(&params, &samples, &labels, None);
    assert_eq!(found.polynomials(), Polynomials::Penalized);
    let decisions = |model: &ThinPlateSvc| model.decision_values(&view(&wide, 3), 1).unwrap();
    assert!(relative(&decisions(&memory), &decisions(&found)) <= 1e-6);
    assert_eq!(found.report().warnings, memory.report().warnings);
    // Fewer bases than polynomials: a polynomial classifier, said so.
    let few = params.clone().n_basis(Some(3)).polynomials(Polynomials::Free);
    let found = fit(&few, &samples, &labels, None);
    assert!(found.report().warnings.iter().any(|w| w.contains("nothing is left")), "{:?}", found.report().warnings);
    let (disk, monitor) = (Disk::new(Some(0)), Monitor::none());
    let exact = params.n_basis(None).fit_blocks(&samples, &labels, None, &disk.resources(PLENTY), &monitor);
    let message = exact.unwrap_err().to_string();
    assert!(message.starts_with("n_basis = none is not allowed: a number of bases"), "{message}");
}

/// Kernel and scaling of a spline are those that memory chooses where one column is much wider: standardized.
#[test]
fn kernel_and_scaling_are_selected_and_reported() {
    let mut training = Training::new(Kind::Vectors, Task::Targets(2), 2500, 5).weighted(|row| [1.0, 0.0, 3.0][row % 3]);
    let AnySamples::Vectors(Vectors::Dense(matrix)) = &mut training.samples else { unreachable!() };
    matrix.values.iter_mut().skip(1).step_by(D).for_each(|x| *x *= 30.0);
    let (wide, n): (Vec<f64>, usize) = (matrix.values.iter().map(|&x| x.into()).collect(), matrix.n_rows);
    let (weights, disk, monitor) = (training.weights.as_deref(), Disk::new(Some(0)), Monitor::none());
    for bases in BASES {
        let open = ThinPlateRegressorParams::new(kernel("distance")).n_basis(Some(30)).basis(bases);
        let open = open.kernel_auto().standardize(Standardize::Auto);
        let resources = disk.resources(PLENTY);
        let found = open.fit_blocks(&training.samples, training.targets(), weights, &resources, &monitor).unwrap();
        assert!(found.scale().is_some());
        assert!(found.report().notes.iter().any(|note| note.contains("on 1000 samples: ")), "{:?}", found.report());
        assert_eq!(wide.len(), n * D);
        let memory = open.fit_with(&view(&wide, D), training.targets(), weights, &monitor).unwrap();
        let best = |path: &[widemargin::model::RegressionPoint]| {
            path.iter().map(|point| point.loo_r2).fold(f64::MIN, f64::max)
        };
        assert!((best(found.path()) - best(memory.path())).abs() < 0.05, "{bases}");
    }
}
