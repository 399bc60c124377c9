//! The smoothing spline on samples that are read in passes: the model of the fit in memory on the same bases, whatever
//! the threads, and resumed where it was killed.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::resources_common::{Disk, MemoryCheckpoint};
use crate::thin_plate_common::{kernel, relative, view};
use widemargin::data::{AnySamples, DenseMatrix, Resources, Source, Targets, Vectors};
use widemargin::model::{CChoice, Standardize, ThinPlateBasis, ThinPlateRegressor, ThinPlateRegressorParams};
use widemargin::monitor::Monitor;
use widemargin::{Error, Result};

const PLENTY: u64 = 1 << 32;
const D: usize = 3;

/// Rows that are read in chunks of successive ones, of at most some thousand, but for a few that identify them.
struct Rows {
    values: Vec<f32>,
    n_reads: AtomicUsize,
}

impl Source for Rows {
    type Samples = AnySamples;

    fn n_samples(&self) -> usize {
        self.values.len() / D
    }

    fn chunk(&self, rows: Range<usize>) -> Result<AnySamples> {
        assert!(rows.len() <= 4096, "{rows:?}");
        self.n_reads.fetch_add(rows.len(), Ordering::Relaxed);
        let values = self.values[rows.start * D..rows.end * D].to_vec();
        Ok(AnySamples::Vectors(Vectors::Dense(DenseMatrix { values, n_rows: rows.len(), n_cols: D })))
    }

    fn select(&self, rows: &[usize]) -> Result<AnySamples> {
        assert!(rows.len() <= 64, "{} scattered rows", rows.len());
        let values = rows.iter().flat_map(|&row| &self.values[row * D..][..D]).copied().collect();
        Ok(AnySamples::Vectors(Vectors::Dense(DenseMatrix { values, n_rows: rows.len(), n_cols: D })))
    }
}

/// Samples with columns of very different spread, two targets, and weights, some of them 0.
fn case(n: usize) -> (Rows, Targets, Vec<f64>) {
    let mut state = 5u64;
    let mut uniform = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f32 / (1u64 << 24) as f32 - 0.5
    };
    let (mut values, mut targets, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    for row in 0..n {
        let x = [uniform(), uniform(), uniform()];
        targets.push(f64::from(100.0 + (7.0 * x[0]).sin() + x[1] * x[2] + 0.3 * uniform()));
        targets.push(f64::from(-2.0 * x[1] * x[1] + 0.1 * uniform()));
        weights.push([1.0, 0.0, 3.0, 0.5][row % 4]);
        values.extend([x[0], 30.0 * x[1], x[2]]);
    }
    (Rows { values, n_reads: AtomicUsize::new(0) }, Targets::new(targets, 2).unwrap(), weights)
}

fn params(name: &str) -> ThinPlateRegressorParams {
    ThinPlateRegressorParams::new(kernel(name)).n_basis(Some(30)).basis(ThinPlateBasis::Index).threads(2)
}

fn fit(params: &ThinPlateRegressorParams, (rows, targets, weights): &(Rows, Targets, Vec<f64>)) -> ThinPlateRegressor {
    let disk = Disk::new(Some(0));
    params.fit_blocks(rows, targets, Some(weights), &disk.resources(PLENTY), &Monitor::none()).unwrap()
}

fn bits(model: &ThinPlateRegressor, case: &(Rows, Targets, Vec<f64>)) -> Vec<u64> {
    let values: Vec<f64> = case.0.values.iter().map(|&x| x.into()).collect();
    let scores = model.path().iter().map(|point| point.loo_r2.to_bits());
    model.predict(&view(&values, D), 1).unwrap().values.iter().map(|x| x.to_bits()).chain(scores).collect()
}

/// With polynomials that are free or the constant alone, C automatic or fixed, columns scaled or not, samples of weight
/// 0.
#[test]
fn the_model_is_that_of_memory() {
    let case = case(2500);
    let (rows, targets, weights) = &case;
    let values: Vec<f64> = rows.values.iter().map(|&x| x.into()).collect();
    let samples = view(&values, D);
    let with = |name: &str, c: CChoice, standardize: Standardize| params(name).c(c).standardize(standardize);
    for params in [
        with("distance", CChoice::Auto, Standardize::No),
        with("thin-plate", CChoice::Auto, Standardize::Yes),
        with("rbf:gamma=3", CChoice::Value(10.0), Standardize::Yes),
        with("cubic", CChoice::Value(0.2), Standardize::No),
    ] {
        let (found, memory) =
            (fit(&params, &case), params.fit_with(&samples, targets, Some(weights), &Monitor::none()).unwrap());
        assert_eq!((found.rank(), found.n_bases()), (memory.rank(), memory.n_bases()), "{params:?}");
        assert_eq!((found.support(), found.scale().is_some()), (memory.support(), memory.scale().is_some()));
        assert_eq!(found.report().warnings, memory.report().warnings, "{params:?}");
        assert!((found.c() - memory.c()).abs() <= 1e-7 * memory.c(), "{params:?}");
        assert_eq!(found.path().len(), memory.path().len());
        for (mine, theirs) in found.path().iter().zip(memory.path()) {
            assert!((mine.loo_r2 - theirs.loo_r2).abs() <= 1e-8, "{params:?}: {mine:?} {theirs:?}");
        }
        let predicted = |model: &ThinPlateRegressor| model.predict(&samples, 2).unwrap().values;
        assert!(relative(&predicted(&memory), &predicted(&found)) <= 1e-8, "{params:?}");
    }
    // Four passes over the samples, one row more to learn their width, and the first ones for the bases.
    let before = rows.n_reads.swap(0, Ordering::Relaxed);
    assert!(before > 0);
    fit(&params("distance"), &case);
    let n_reads = rows.n_reads.load(Ordering::Relaxed);
    assert!(n_reads > 4 * 2500 && n_reads < 6 * 2500, "{n_reads}");
}

/// Kernel and scaling are those that memory chooses where one column is much wider: standardized.
#[test]
fn kernel_and_scaling_are_selected_and_reported() {
    let case = case(2500);
    for bases in [ThinPlateBasis::KMeans, ThinPlateBasis::KMedoids, ThinPlateBasis::Random, ThinPlateBasis::Index] {
        let open = params("distance").kernel_auto().standardize(Standardize::Auto).basis(bases);
        let found = fit(&open, &case);
        assert!(found.scale().is_some());
        assert!(found.report().notes.iter().any(|note| note.contains("on 1000 samples: ")), "{:?}", found.report());
        let values: Vec<f64> = case.0.values.iter().map(|&x| x.into()).collect();
        let memory = open.fit_with(&view(&values, D), &case.1, Some(&case.2), &Monitor::none()).unwrap();
        let r2 = |model: &ThinPlateRegressor| model.path().iter().map(|point| point.loo_r2).fold(f64::MIN, f64::max);
        assert!((r2(&found) - r2(&memory)).abs() < 0.02, "{bases}: {} {}", r2(&found), r2(&memory));
    }
}

#[test]
fn threads_change_no_bit() {
    let case = case(2500);
    let truth = bits(&fit(&params("distance"), &case), &case);
    for threads in [1, 3] {
        assert_eq!(bits(&fit(&params("distance").threads(threads), &case), &case), truth);
    }
}

/// Whatever the save in which it is killed.
#[test]
fn a_killed_fit_goes_on_to_the_same_bits() {
    let case = case(2500);
    let disk = Disk::new(Some(0));
    let fit = |params: &ThinPlateRegressorParams, checkpoint: &MemoryCheckpoint| {
        let resources = Resources { memory: PLENTY, scratch: &disk, checkpoint: Some(checkpoint) };
        params.fit_blocks(&case.0, &case.1, Some(&case.2), &resources, &Monitor::none())
    };
    let (params, checkpoint) = (params("distance").basis(ThinPlateBasis::KMeans), MemoryCheckpoint::default());
    let truth = bits(&fit(&params, &checkpoint).unwrap(), &case);
    let n_saves = checkpoint.n_saves();
    assert!(n_saves >= 3, "{n_saves}");
    for dies_at in 0..n_saves {
        let checkpoint = MemoryCheckpoint::that_dies_at(dies_at);
        let error = fit(&params, &checkpoint).unwrap_err();
        assert!(error.to_string().contains("killed"), "{error}");
        assert_eq!(bits(&fit(&params, &checkpoint.revived()).unwrap(), &case), truth, "killed at save {dies_at}");
    }
    let refused = |params: ThinPlateRegressorParams| fit(&params, &checkpoint).unwrap_err().to_string();
    assert!(refused(params.clone().n_basis(Some(31))).contains("n_basis = 30, now n_basis is 31"));
    assert!(refused(params.clone().kernel(kernel("cubic"))).contains("kernel = distance, now kernel is cubic"));
    let mut changed = crate::spline_blocks::case(2500).0;
    changed.values[1000 * D] += 0.01;
    let resources = Resources { memory: PLENTY, scratch: &disk, checkpoint: Some(&checkpoint) };
    let refused = params.fit_blocks(&changed, &case.1, Some(&case.2), &resources, &Monitor::none()).unwrap_err();
    assert!(refused.to_string().contains("content of the samples"), "{refused}");
    let other = Targets::single((0..2500).map(f64::from).collect()).unwrap();
    let refused = params.fit_blocks(&case.0, &other, Some(&case.2), &resources, &Monitor::none()).unwrap_err();
    assert!(refused.to_string().contains("targets"), "{refused}");
}

#[test]
fn rejects_too_little_memory_and_wrong_parameters() {
    let (rows, targets, weights) = case(2500);
    let disk = Disk::new(Some(0));
    let fit = |params: ThinPlateRegressorParams, memory: u64| {
        params.fit_blocks(&rows, &targets, Some(&weights), &disk.resources(memory), &Monitor::none()).unwrap_err()
    };
    assert!(fit(params("distance").n_basis(None), PLENTY).to_string().contains("a number of bases"));
    assert!(matches!(fit(params("distance"), 10_000), Error::Memory { .. }));
    assert!(fit(params("distance").n_basis(Some(0)), PLENTY).to_string().contains("n_basis"));
    let mut bad = case(2500).0;
    bad.values[2000 * D + 1] = f32::NAN;
    let error = params("distance").fit_blocks(&bad, &targets, None, &disk.resources(PLENTY), &Monitor::none());
    assert!(matches!(error.unwrap_err(), Error::Value { row: 2000, column: 1, .. }));
}
