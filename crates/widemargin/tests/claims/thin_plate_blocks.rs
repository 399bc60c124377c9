//! The thin plate SVM on samples that are read in passes: the model of the fit in memory on the same bases,
//! whatever the limit of memory, and resumed where it was killed.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::thin_plate_common::{blobs, kernel, relative, view};
use widemargin::data::{
    AnySamples, Checkpoint, ClassWeight, DenseMatrix, DenseView, Labels, Resources, Scratch, Source, Vectors,
};
use widemargin::model::{Standardize, ThinPlateBasis, ThinPlateParams, ThinPlateSvc};
use widemargin::monitor::{Monitor, Progress};
use widemargin::solve::thin_plate::Polynomials;
use widemargin::solve::{EstimateMethod, Status};
use widemargin::{Error, Result};

/// Rows that are read only in chunks of successive ones, of at most some thousand.
struct Rows {
    values: Vec<f32>,
    d: usize,
    n_reads: AtomicUsize,
}

impl Rows {
    fn new(values: &[f64], d: usize) -> Self {
        Rows { values: values.iter().map(|&x| x as f32).collect(), d, n_reads: AtomicUsize::new(0) }
    }

    /// The same numbers in double precision.
    fn wide(&self) -> Vec<f64> {
        self.values.iter().map(|&x| f64::from(x)).collect()
    }
}

impl Source for Rows {
    type Samples = AnySamples;

    fn n_samples(&self) -> usize {
        self.values.len() / self.d
    }

    fn chunk(&self, rows: Range<usize>) -> Result<AnySamples> {
        assert!(rows.len() <= 4096, "{rows:?}");
        self.n_reads.fetch_add(rows.len(), Ordering::Relaxed);
        let values = self.values[rows.start * self.d..rows.end * self.d].to_vec();
        Ok(AnySamples::Vectors(Vectors::Dense(DenseMatrix { values, n_rows: rows.len(), n_cols: self.d })))
    }

    fn select(&self, rows: &[usize]) -> Result<AnySamples> {
        panic!("{} scattered rows", rows.len())
    }
}

/// Room that is not needed.
struct NoScratch;

impl Scratch for NoScratch {
    fn write(&self, _: u64, _: &[u8]) -> Result<()> {
        panic!("nothing is to be written")
    }
    fn read(&self, _: u64, _: &mut [u8]) -> Result<()> {
        panic!("nothing was written")
    }
    fn room(&self) -> Option<u64> {
        Some(0)
    }
}

#[derive(Default)]
struct MemoryCheckpoint(Mutex<HashMap<String, Vec<u8>>>);

impl Checkpoint for MemoryCheckpoint {
    fn load(&self, name: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.0.lock().unwrap().get(name).cloned())
    }
    fn save(&self, name: &str, bytes: &[u8]) -> Result<()> {
        self.0.lock().unwrap().insert(name.to_owned(), bytes.to_vec());
        Ok(())
    }
}

fn resources(memory: u64, checkpoint: Option<&dyn Checkpoint>) -> Resources<'_> {
    Resources { memory, scratch: &NoScratch, checkpoint }
}

const PLENTY: u64 = 1 << 32;

fn params(n_basis: usize) -> ThinPlateParams {
    ThinPlateParams::new(kernel("thin-plate")).n_basis(Some(n_basis)).basis(ThinPlateBasis::Index).threads(2)
}

fn fit(params: &ThinPlateParams, rows: &Rows, labels: &Labels, weights: Option<&[f64]>) -> ThinPlateSvc {
    params.clone().fit_blocks(rows, labels, weights, &resources(PLENTY, None), &Monitor::none()).unwrap()
}

/// The same model, to rounding.
fn agree(found: &ThinPlateSvc, memory: &ThinPlateSvc, x: &DenseView<'_, f64>, what: &str) {
    assert_eq!((found.report().status, memory.report().status), (Status::Converged, Status::Converged), "{what}");
    assert_eq!(
        (found.polynomials(), found.rank(), found.n_bases()),
        (memory.polynomials(), memory.rank(), memory.n_bases())
    );
    assert!((found.c() - memory.c()).abs() <= 1e-7 * memory.c(), "{what}: C {} {}", found.c(), memory.c());
    let (a, b) = (found.decision_values(x, 1).unwrap(), memory.decision_values(x, 1).unwrap());
    assert!(relative(&b, &a) <= 1e-6, "{what}: {}", relative(&b, &a));
    assert_eq!(found.path().len(), memory.path().len(), "{what}");
    for (a, b) in found.path().iter().zip(memory.path()) {
        let (mine, theirs) = (a.loo_squared_hinge.unwrap(), b.loo_squared_hinge.unwrap());
        assert!(
            (mine - theirs).abs() <= 1e-6 * theirs && (a.objective - b.objective).abs() <= 1e-6 * b.objective,
            "{what}"
        );
        assert!((a.loo_error.unwrap() - b.loo_error.unwrap()).abs() <= 2e-3, "{what}");
    }
    assert!((found.report().gap() - memory.report().gap()).abs() <= 1e-6, "{what}");
}

/// Each run of five rows has one in every fold, from a first one that the final step of SplitMix64 draws.
fn fold_of(row: usize) -> usize {
    let mut x = (row / 5) as u64 + 1;
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^= x >> 31;
    (row % 5 + (x % 5) as usize) % 5
}

#[test]
fn the_estimate_is_that_of_refits_without_a_fifth_of_the_samples() {
    for (polynomials, classes) in
        [(Polynomials::Free, 2), (Polynomials::Penalized, 4), (Polynomials::Constant, 2), (Polynomials::None, 2)]
    {
        let (values, labels) = blobs(150, 3, classes, 12);
        let (rows, labels) = (Rows::new(&values, 3), Labels::new(labels));
        let params = params(25).polynomials(polynomials).c(0.05);
        let model = fit(&params, &rows, &labels, None);
        let point = &model.path()[0];
        assert!(!point.loo_exact && model.loo_values().is_empty());
        let is_basis = |row: usize| model.support().contains(&(row as u64));
        let wrong: usize = (0..5)
            .map(|fold| {
                // Bases are not judged: a fifth of them is left out of each fit.
                let weight = |row: usize| match fold_of(row) == fold {
                    _ if is_basis(row) => 0.8,
                    // Next to nothing, so that there are as many samples.
                    true => 1e-13,
                    false => 1.0,
                };
                let weights: Vec<f64> = (0..150).map(weight).collect();
                let refit = fit(&params, &rows, &labels, Some(&weights));
                let wide = rows.wide();
                let predicted = refit.predict(&view(&wide, 3), 1).unwrap();
                let right = |row: usize| *predicted[row] == labels.classes()[labels.codes()[row] as usize];
                (0..150).filter(|&row| fold_of(row) == fold && !is_basis(row) && !right(row)).count()
            })
            .sum();
        let error = wrong as f64 / (150 - model.support().len()) as f64;
        assert!((point.fold_error.unwrap() - error).abs() < 1e-12, "{polynomials}: {point:?} {error}");
        let estimate = model.report().estimate.clone().unwrap();
        assert_eq!(estimate.method, EstimateMethod::Folds);
        // Classes count by their samples, bases among them.
        assert!((estimate.error - error).abs() < 0.03, "{estimate:?}");
    }
}

#[test]
fn the_model_is_that_of_the_fit_in_memory() {
    for (spec, polynomials, classes, n, d) in [
        ("thin-plate", Polynomials::Free, 4, 4700, 3),
        ("thin-plate", Polynomials::Constant, 2, 1100, 2),
        ("distance", Polynomials::None, 3, 600, 2),
        ("thin-plate:order=3", Polynomials::Auto, 2, 5000, 2),
        ("rbf:gamma=0.3", Polynomials::Auto, 3, 513, 2),
    ] {
        let (values, labels) = blobs(n, d, classes, 41);
        let (rows, labels) = (Rows::new(&values, d), Labels::new(labels));
        let wide = rows.wide();
        let params = params(25).polynomials(polynomials);
        let params = match spec {
            "thin-plate" => params,
            other => ThinPlateParams::new(kernel(other))
                .n_basis(Some(25))
                .basis(ThinPlateBasis::Index)
                .polynomials(polynomials)
                .threads(2),
        };
        let memory = params.fit(&view(&wide, d), &labels).unwrap();
        let found = fit(&params, &rows, &labels, None);
        agree(&found, &memory, &view(&wide, d), &format!("{spec} {polynomials} {classes}"));
        assert_eq!(found.support(), memory.support());
        assert!(found.loo_values().is_empty() && !memory.loo_values().is_empty());
    }
}

#[test]
fn weights_classes_of_weight_and_scalings() {
    let (n, d) = (900, 3);
    let (mut values, labels) = blobs(n, d, 3, 8);
    values.chunks_mut(d).for_each(|row| row[1] *= 50.0);
    let (rows, labels) = (Rows::new(&values, d), Labels::new(labels));
    let wide = rows.wide();
    let weights: Vec<f64> = (0..n).map(|i| [1.0, 2.0, 0.0, 3.0][i % 4]).collect();
    for standardize in [Standardize::No, Standardize::Yes, Standardize::Auto] {
        let params =
            params(20).class_weight(ClassWeight::Balanced).standardize(standardize).polynomials(Polynomials::Free);
        let memory = params.fit_with(&view(&wide, d), &labels, Some(&weights), &Monitor::none()).unwrap();
        let found = fit(&params, &rows, &labels, Some(&weights));
        agree(&found, &memory, &view(&wide, d), &standardize.to_string());
        assert_eq!(found.scale().is_some(), memory.scale().is_some());
        assert_eq!(found.report().warnings.len(), memory.report().warnings.len(), "{:?}", found.report().warnings);
    }
}

#[test]
fn memory_and_threads_change_no_bit() {
    let (n, d) = (6000, 2);
    let (values, labels) = blobs(n, d, 3, 77);
    let (rows, labels) = (Rows::new(&values, d), Labels::new(labels));
    let params = params(12).c(0.5);
    let all = fit(&params, &rows, &labels, None);
    let n_reads = rows.n_reads.swap(0, Ordering::Relaxed);
    let least = match params.clone().fit_blocks(&rows, &labels, None, &resources(1000, None), &Monitor::none()) {
        Err(Error::Memory { needed, free: 1000, .. }) => needed,
        other => panic!("{other:?}"),
    };
    rows.n_reads.store(0, Ordering::Relaxed);
    // Just enough, which holds nothing, and enough for some blocks.
    for (memory, threads) in [(least, 2), (least + 400_000, 1), (PLENTY, 3)] {
        let params = params.clone().threads(threads);
        let found = params.fit_blocks(&rows, &labels, None, &resources(memory, None), &Monitor::none()).unwrap();
        assert_eq!((found.coefficients(), found.polynomial()), (all.coefficients(), all.polynomial()), "{memory}");
        assert_eq!(found.path(), all.path());
        if memory == least {
            assert!(rows.n_reads.load(Ordering::Relaxed) > 2 * n_reads, "it was read again");
        }
    }
}

#[test]
fn a_killed_fit_is_resumed_to_the_same_bits() {
    let (n, d) = (1500, 2);
    let (values, labels) = blobs(n, d, 3, 5);
    let (rows, labels) = (Rows::new(&values, d), Labels::new(labels));
    let params = params(15);
    let checkpoint = MemoryCheckpoint::default();
    let undisturbed = fit(&params, &rows, &labels, None);
    let whole = rows.n_reads.swap(0, Ordering::Relaxed);
    assert!(undisturbed.path().len() > 5);
    // Killed in the third visit, and again in the fifth.
    for at in [2, 4] {
        let cancel = AtomicBool::new(false);
        let sink = |progress: Progress| {
            if progress.stage == "solve" && progress.done == at {
                cancel.store(true, Ordering::Relaxed);
            }
        };
        let monitor = Monitor::none().with_progress(&sink).with_cancel(&cancel);
        let killed = params.clone().fit_blocks(&rows, &labels, None, &resources(PLENTY, Some(&checkpoint)), &monitor);
        assert!(matches!(killed, Err(Error::Cancelled { .. })), "{killed:?}");
    }
    rows.n_reads.store(0, Ordering::Relaxed);
    let found = params
        .clone()
        .fit_blocks(&rows, &labels, None, &resources(PLENTY, Some(&checkpoint)), &Monitor::none())
        .unwrap();
    assert_eq!((found.coefficients(), found.polynomial()), (undisturbed.coefficients(), undisturbed.polynomial()));
    assert_eq!(found.path(), undisturbed.path());
    assert!(rows.n_reads.load(Ordering::Relaxed) <= whole);

    let refused = |params: &ThinPlateParams, rows: &Rows, labels: &Labels, weights: Option<&[f64]>| {
        let resources = resources(PLENTY, Some(&checkpoint));
        params.clone().fit_blocks(rows, labels, weights, &resources, &Monitor::none()).unwrap_err().to_string()
    };
    let other = "is of a fit with other samples, labels, weights or parameters: remove it";
    assert!(refused(&params.clone().tol(1e-9), &rows, &labels, None).contains(other));
    assert!(refused(&params, &rows, &labels, Some(&vec![2.0; n])).contains(other));
    let mut moved = values.clone();
    moved.swap(7, 2999);
    assert!(refused(&params, &Rows::new(&moved, d), &labels, None).contains(other));
    let bytes = checkpoint.load("thin-plate").unwrap().unwrap();
    checkpoint.save("thin-plate", &bytes[..bytes.len() - 3]).unwrap();
    let damaged = refused(&params, &rows, &labels, None);
    assert!(damaged.starts_with("the checkpoint cannot be used") && damaged.contains("damaged"), "{damaged}");
}

#[test]
fn bases_of_every_choice_do_about_as_well() {
    let (n, d) = (3000, 3);
    let (values, labels) = blobs(n, d, 3, 29);
    let (rows, labels) = (Rows::new(&values, d), Labels::new(labels));
    let wide = rows.wide();
    let wrong = |model: &ThinPlateSvc| {
        let predicted = model.predict(&view(&wide, d), 1).unwrap();
        predicted.iter().enumerate().filter(|(i, label)| **label != labels.get(*i)).count() as f64 / n as f64
    };
    for choice in [ThinPlateBasis::Index, ThinPlateBasis::Random, ThinPlateBasis::KMeans, ThinPlateBasis::KMedoids] {
        let params = params(30).basis(choice).seed(3);
        let memory = wrong(&params.fit(&view(&wide, d), &labels).unwrap());
        let model = fit(&params, &rows, &labels, None);
        assert!(wrong(&model) <= memory + 0.04, "{choice}: {} {memory}", wrong(&model));
        let is_k_means = choice == ThinPlateBasis::KMeans;
        assert_eq!((model.n_bases(), model.support().len()), (30, if is_k_means { 0 } else { 30 }));
        for (base, &row) in model.bases().chunks(d).zip(model.support()) {
            assert_eq!(base, &wide[row as usize * d..(row as usize + 1) * d]);
        }
        assert_eq!(ThinPlateSvc::from_bytes(&model.to_bytes().unwrap()).unwrap(), model);
    }
}

#[test]
fn awkward_samples() {
    // Separated by a line, so that the polynomials are penalized; a constant column.
    let n = 700;
    let values: Vec<f64> = (0..n).flat_map(|i| [(1.7 * i as f64).sin(), (0.3 * i as f64).cos(), 2.5]).collect();
    let labels = Labels::new((0..n).map(|i| i64::from(values[3 * i] > 0.1)));
    let rows = Rows::new(&values, 3);
    let wide = rows.wide();
    let params = params(20).c(3.0);
    let memory = params.fit(&view(&wide, 3), &labels).unwrap();
    let found = fit(&params, &rows, &labels, None);
    assert_eq!(found.polynomials(), Polynomials::Penalized);
    agree(&found, &memory, &view(&wide, 3), "separated");
    assert_eq!(found.report().warnings, memory.report().warnings);
    // Fewer bases than polynomials: a polynomial classifier, said so.
    let few = params.clone().n_basis(Some(3)).polynomials(Polynomials::Free);
    let found = fit(&few, &rows, &labels, None);
    assert!(found.report().warnings.iter().any(|w| w.contains("nothing is left")), "{:?}", found.report().warnings);
}

#[test]
fn errors_name_the_problem() {
    let (values, labels) = blobs(5000, 2, 2, 5);
    let (rows, labels) = (Rows::new(&values, 2), Labels::new(labels));
    let error = |params: ThinPlateParams, rows: &dyn Source<Samples = AnySamples>, labels: &Labels| {
        params.fit_blocks(rows, labels, None, &resources(PLENTY, None), &Monitor::none()).unwrap_err().to_string()
    };
    let message = error(params(5).n_basis(None), &rows, &labels);
    assert!(message.starts_with("n_basis = none is not allowed: a number of bases"), "{message}");
    let message = error(params(0), &rows, &labels);
    assert!(message.starts_with("n_basis = 0"), "{message}");
    let mut bad = values.clone();
    bad[2 * 4500 + 1] = f64::NAN;
    let message = error(params(5), &Rows::new(&bad, 2), &labels);
    assert!(message.starts_with("row 4500, column 1 (from 0): NaN is not a finite number"), "{message}");
    let strings = AnySamples::Strings(vec!["a".into(); 5000]);
    let message = error(params(5), &strings, &labels);
    assert!(message.contains("strings") && message.contains("vectors"), "{message}");
    let message = error(params(5), &Rows::new(&values[..2000], 2), &labels);
    assert!(message.contains("5000") && message.contains("1000"), "{message}");
    let memory = params(5).fit_blocks(&rows, &labels, None, &resources(10_000, None), &Monitor::none()).unwrap_err();
    assert!(memory.to_string().contains("5000 samples on 5 bases"), "{memory}");
}
