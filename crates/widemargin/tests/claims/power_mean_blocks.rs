//! The power mean SVM in blocks is that in memory: to within the gap, whatever the memory, the layout and the order of
//! the samples; and a stopped fit is resumed to the same model.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crate::common::{brute_force_dual, histograms, objectives};
use widemargin::data::{
    AnySamples, Checkpoint, ClassWeight, CsrMatrix, DenseView, Labels, Resources, Rows, Scratch, Source, VectorSource,
};
use widemargin::expansion::Approximation;
use widemargin::model::{PowerMeanParams, PowerMeanSvc};
use widemargin::monitor::{Monitor, Progress};
use widemargin::problem::Loss;
use widemargin::similarity::AdditiveKernel;
use widemargin::solve::Status;
use widemargin::{Error, Result};

const PLENTY: u64 = 1 << 30;

fn refused(action: &'static str) -> Error {
    Error::Io { path: "scratch".into(), action, source: std::io::ErrorKind::StorageFull.into() }
}

/// A disk of some bytes.
struct Disk {
    bytes: Mutex<Vec<u8>>,
    size: u64,
    reports_space: bool,
}

impl Disk {
    fn new() -> Self {
        Disk::of(u64::MAX)
    }

    fn of(size: u64) -> Self {
        Disk { bytes: Mutex::default(), size, reports_space: false }
    }

    fn len(&self) -> usize {
        self.bytes.lock().unwrap().len()
    }
}

impl Scratch for Disk {
    fn write(&self, at: u64, bytes: &[u8]) -> Result<()> {
        let (at, mut all) = (at as usize, self.bytes.lock().unwrap());
        let end = at + bytes.len();
        if end as u64 > self.size {
            return Err(refused("writing"));
        }
        let len = all.len().max(end);
        all.resize(len, 0);
        all[at..end].copy_from_slice(bytes);
        Ok(())
    }

    fn read(&self, at: u64, bytes: &mut [u8]) -> Result<()> {
        let all = self.bytes.lock().unwrap();
        bytes.copy_from_slice(&all[at as usize..at as usize + bytes.len()]);
        Ok(())
    }

    fn room(&self) -> Option<u64> {
        self.reports_space.then_some(self.size)
    }
}

/// A checkpoint that outlives a fit, which fails after some saves.
#[derive(Default)]
struct Shelf {
    saved: Mutex<HashMap<String, Vec<u8>>>,
    saves_left: AtomicUsize,
}

impl Shelf {
    fn new() -> Self {
        Shelf { saves_left: usize::MAX.into(), ..Shelf::default() }
    }
}

impl Checkpoint for Shelf {
    fn load(&self, name: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.saved.lock().unwrap().get(name).cloned())
    }

    fn save(&self, name: &str, bytes: &[u8]) -> Result<()> {
        if self.saves_left.load(Ordering::Relaxed) == 0 {
            return Err(refused("saving"));
        }
        self.saves_left.fetch_sub(1, Ordering::Relaxed);
        self.saved.lock().unwrap().insert(name.into(), bytes.into());
        Ok(())
    }
}

fn fit(params: &PowerMeanParams, samples: &impl Rows, labels: &Labels, memory: u64) -> Result<PowerMeanSvc> {
    let disk = Disk::new();
    let resources = Resources { memory, scratch: &disk, checkpoint: None };
    let model = params.fit_blocks(&VectorSource(samples), labels, None, &resources, &Monitor::none())?;
    assert_eq!(disk.len() > 0, model.report().notes.iter().any(|note| note.contains("on scratch")));
    Ok(model)
}

/// The number of blocks in the report.
fn n_blocks(model: &PowerMeanSvc) -> usize {
    let note = model.report().notes.iter().find_map(|note| note.strip_prefix("the samples were in "));
    note.unwrap().split(' ').next().unwrap().parse().unwrap()
}

/// The most memory with which there are at least this number of blocks.
fn memory_for(blocks: usize, samples: &impl Rows, labels: &Labels) -> u64 {
    let params = PowerMeanParams::new(AdditiveKernel::Chi2).max_epochs(1).threads(1);
    let (mut enough, mut too_much) = (0, PLENTY);
    while too_much - enough > 64 {
        let memory = enough.midpoint(too_much);
        match fit(&params, samples, labels, memory) {
            Ok(model) if n_blocks(&model) < blocks => too_much = memory,
            Err(error) if !matches!(error, Error::Memory { .. }) => panic!("{error}"),
            _ => enough = memory,
        }
    }
    enough
}

/// The rows and labels in the order of the labels.
fn sorted(values: &[f64], labels: &Labels, d: usize) -> (Vec<f64>, Labels) {
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.sort_by_key(|&row| labels.codes()[row]);
    let values = order.iter().flat_map(|&row| values[row * d..(row + 1) * d].to_vec()).collect();
    (values, labels.select(&order))
}

/// ½‖f − f*‖² is at most the gap, so two machines differ at x by no more than their gaps allow.
fn assert_alike(a: &PowerMeanSvc, b: &PowerMeanSvc, samples: &DenseView<'_, f64>, what: &str) {
    let far = |model: &PowerMeanSvc| {
        let report = model.report();
        (2.0 * report.gap() * report.objective).sqrt()
    };
    let (ours, theirs) = (a.decision_function(samples, 1).unwrap(), b.decision_function(samples, 1).unwrap());
    let k = ours.values().len() / samples.n_rows();
    for (at, (x, y)) in ours.values().iter().zip(theirs.values()).enumerate() {
        // K̂(x, x) ≤ Σ x, scaled.
        let factors = a.scaling().unwrap().factors();
        let norm: f64 = samples.row(at / k).iter().zip(factors).map(|(x, f)| x * f).sum();
        let most = (far(a) + far(b)) * norm.sqrt() + 1e-5;
        assert!(f64::from(x - y).abs() <= most, "{what}: {x} {y}, {most} at the most");
    }
}

#[test]
fn any_number_of_blocks_and_order_of_labels() {
    let (n, d) = (300, 16);
    for (classes, loss, c) in [(2, Loss::SquaredHinge, 0.5), (3, Loss::SquaredHinge, 0.1), (4, Loss::Hinge, 0.02)] {
        let (mut values, labels) = histograms(n, d, classes, 4);
        // Chunks are in single precision.
        values.iter_mut().for_each(|value| *value = f64::from(*value as f32));
        let (values, labels) = sorted(&values, &labels, d);
        let samples = DenseView::new(&values, n, d).unwrap();
        let params = PowerMeanParams::new(AdditiveKernel::Chi2).loss(loss).c(c).tol(1e-5).max_epochs(5000).threads(1);
        let whole = params.fit(&samples, &labels).unwrap();
        assert_eq!(whole.report().status, Status::Converged);
        for blocks in [1, 3, 17] {
            let memory = memory_for(blocks, &samples, &labels);
            let model = fit(&params, &samples, &labels, memory).unwrap();
            // Few rows: from one number to the next it is a step.
            assert!((blocks..=blocks + blocks / 3).contains(&n_blocks(&model)), "{}", n_blocks(&model));
            assert_eq!(model.report().status, Status::Converged, "{:?}", model.report());
            assert_eq!(whole.map(), model.map());
            assert_alike(&model, &whole, &samples, &format!("{classes} classes, {loss}, {blocks} blocks"));
            assert!(model.report().iterations.iter().all(|epochs| *epochs > 1));
            let stages: Vec<&str> = model.report().stages.iter().map(|stage| stage.name.as_str()).collect();
            assert_eq!(stages, ["scan", "encode", "solve"]);
        }
    }
}

#[test]
fn blocks_follow_the_memory_and_take_about_as_many_epochs() {
    let (n, d) = (2000, 40);
    let (values, labels) = histograms(n, d, 5, 9);
    let (values, labels) = sorted(&values, &labels, d);
    let samples = DenseView::new(&values, n, d).unwrap();
    let params = PowerMeanParams::new(AdditiveKernel::Chi2).threads(1);
    let whole = params.fit(&samples, &labels).unwrap().report().max_iterations();
    let mut before = 0;
    for blocks in [1, 5, 12, 40] {
        let model = fit(&params, &samples, &labels, memory_for(blocks, &samples, &labels)).unwrap();
        assert!(n_blocks(&model) > before);
        before = n_blocks(&model);
        let epochs = model.report().max_iterations();
        assert!(epochs <= whole + 2, "{before} blocks: {epochs} epochs against {whole}");
    }
}

#[test]
fn threads_and_layouts_change_no_bit() {
    let (n, d) = (400, 30);
    let (values, labels) = histograms(n, d, 19, 1);
    let dense = DenseView::new(&values, n, d).unwrap();
    let mut csr = CsrMatrix::<f64> { indptr: vec![0], n_cols: d, ..Default::default() };
    for row in values.chunks_exact(d) {
        for (column, &value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            csr.indices.push(column as u32);
            csr.values.push(value);
        }
        csr.indptr.push(csr.values.len());
    }
    let params = PowerMeanParams::new(AdditiveKernel::Intersection).c(3.0).tol(1e-3).max_epochs(300);
    let memory = memory_for(6, &dense, &labels);
    let one = fit(&params.clone().threads(1), &dense, &labels, memory).unwrap();
    let sparse = fit(&params.clone().threads(1), &csr.view().unwrap(), &labels, memory).unwrap();
    assert_eq!((one.weights(), one.map()), (sparse.weights(), sparse.map()));
    for threads in [2, 5, 40] {
        let many = fit(&params.clone().threads(threads), &dense, &labels, memory).unwrap();
        assert_eq!((n_blocks(&many), many.weights()), (n_blocks(&one), one.weights()), "{threads} threads");
        assert_eq!(many.report().iterations, one.report().iterations);
    }
}

#[test]
fn weights_are_copies_and_none_is_absence() {
    let (n, d) = (120, 8);
    let (values, labels) = histograms(n, d, 3, 12);
    let samples = DenseView::new(&values, n, d).unwrap();
    let weights: Vec<f64> = (0..n).map(|row| (row % 3) as f64).collect();
    let copies: Vec<usize> = (0..n).flat_map(|row| vec![row; row % 3]).collect();
    let there: Vec<usize> = (0..n).filter(|row| row % 3 > 0).collect();
    let params = PowerMeanParams::new(AdditiveKernel::JensenShannon).c(1.0).tol(1e-5).max_epochs(5000);
    let params = params.class_weight(ClassWeight::Balanced);
    let disk = Disk::new();
    let resources = Resources { memory: memory_for(5, &samples, &labels), scratch: &disk, checkpoint: None };
    let fit = |rows: &[usize], weights: Option<&[f64]>| {
        let some = samples.select(rows);
        let view = some.view().unwrap();
        params.fit_blocks(&VectorSource(&view), &labels.select(rows), weights, &resources, &Monitor::none()).unwrap()
    };
    let weighted = fit(&(0..n).collect::<Vec<_>>(), Some(&weights));
    let copied = fit(&copies, None);
    assert_alike(&weighted, &copied, &samples, "copies");
    let of_there: Vec<f64> = there.iter().map(|&row| weights[row]).collect();
    assert_eq!(weighted.weights(), fit(&there, Some(&of_there)).weights());
}

#[test]
fn the_gap_is_that_over_all_rows() {
    let (n, d, c) = (150, 10, 0.3);
    let (values, labels) = histograms(n, d, 2, 21);
    let samples = DenseView::new(&values, n, d).unwrap();
    let signs: Vec<f64> = labels.codes().iter().map(|&code| if code == 1 { 1.0 } else { -1.0 }).collect();
    for (loss, tol) in [(Loss::SquaredHinge, 1e-2), (Loss::SquaredHinge, 1e-4), (Loss::Hinge, 1e-3)] {
        let params = PowerMeanParams::new(AdditiveKernel::Chi2).c(c).loss(loss).tol(tol).max_epochs(5000);
        let model = fit(&params, &samples, &labels, memory_for(9, &samples, &labels)).unwrap();
        let (report, factors) = (model.report(), model.scaling().unwrap().factors());
        let x = |row: usize, j: usize| samples.row(row)[j] * factors[j];
        let kernel = |a: usize, b: usize| (0..d).map(|j| model.map().value(x(a, j), x(b, j))).sum();
        let gram: Vec<f64> = (0..n * n).map(|at| kernel(at / n, at % n)).collect();
        let squared = loss == Loss::SquaredHinge;
        let (upper, ridge) = if squared { (f64::INFINITY, 0.5 / c) } else { (c, 0.0) };
        let (_, best) = objectives(&gram, &signs, &brute_force_dual(&gram, &signs, upper, ridge), c, squared);
        let scores = model.decision_function(&samples, 1).unwrap();
        let losses: f64 = scores.values().iter().zip(&signs).map(|(&s, y)| c * loss.value(1.0, y * f64::from(s))).sum();
        let primal = losses + 0.5 * model.weights().iter().map(|w| f64::from(*w).powi(2)).sum::<f64>();
        assert!((primal - report.objective).abs() <= 1e-5 * primal, "{primal} {}", report.objective);
        assert!(report.dual_objective <= best * (1.0 + 1e-5) && best <= primal * (1.0 + 1e-5));
        assert!(report.gap() <= tol && primal - best <= (tol + 1e-5) * primal);
    }
}

#[test]
fn the_polynomial_goes_the_same_way() {
    let (n, d) = (300, 12);
    let (values, labels) = histograms(n, d, 3, 5);
    let samples = DenseView::new(&values, n, d).unwrap();
    let params = PowerMeanParams::new(AdditiveKernel::Chi2).approximation(Approximation::Polynomial).tol(1e-4);
    for params in [params.clone(), params.nodes(vec![0.01, 0.1, 0.3, 1.0])] {
        let whole = params.fit(&samples, &labels).unwrap();
        let model = fit(&params, &samples, &labels, memory_for(7, &samples, &labels)).unwrap();
        assert_eq!(model.report().status, Status::Converged);
        let largest = whole.weights().iter().fold(0.0f32, |most, w| most.max(w.abs()));
        for (ours, theirs) in model.weights().iter().zip(whole.weights()) {
            assert!((ours - theirs).abs() <= 2e-2 * largest, "{ours} {theirs} of {largest}");
        }
    }
}

#[test]
fn rounds_values_beyond_the_size_of_a_codebook() {
    let (n, d) = (1500, 100);
    let (values, labels) = histograms(n, d, 2, 8);
    let samples = DenseView::new(&values, n, d).unwrap();
    assert!(values.iter().filter(|value| **value > 0.0).count() > 1 << 16);
    let params = PowerMeanParams::new(AdditiveKernel::Chi2).tol(1e-3).threads(1);
    let whole = params.fit(&samples, &labels).unwrap();
    let model = fit(&params, &samples, &labels, 10 << 20).unwrap();
    assert!(model.report().warnings.iter().any(|note| note.contains("rounded")));
    let (a, b) = (model.report(), whole.report());
    assert!((a.objective - b.objective).abs() <= 2e-3 * b.objective, "{} {}", a.objective, b.objective);
    // The gap is that of the samples as they are, too: rounding moves the objective less than the fifth digit.
    let scores = model.decision_function(&samples, 1).unwrap();
    let signs = labels.codes().iter().map(|&code| if code == 1 { 1.0 } else { -1.0 });
    let losses: f64 =
        scores.values().iter().zip(signs).map(|(&s, y)| 0.01 * Loss::SquaredHinge.value(1.0, y * f64::from(s))).sum();
    let primal = losses + 0.5 * model.weights().iter().map(|w| f64::from(*w).powi(2)).sum::<f64>();
    assert!((primal - a.objective).abs() <= 5e-5 * primal, "{primal} {}", a.objective);
}

/// Samples, labels and parameters whose fit takes some rounds, and the memory for a few blocks.
fn slow() -> (Vec<f64>, Labels, PowerMeanParams, u64) {
    let (values, labels) = histograms(200, 12, 3, 30);
    let samples = DenseView::new(&values, 200, 12).unwrap();
    let params = PowerMeanParams::new(AdditiveKernel::Chi2).c(1.0).max_epochs(2000).threads(1);
    let memory = memory_for(10, &samples, &labels);
    (values, labels, params, memory)
}

#[test]
fn a_stopped_fit_goes_on_to_the_same_model() {
    let (values, labels, params, memory) = slow();
    let samples = DenseView::new(&values, 200, 12).unwrap();
    let fit = |shelf: &Shelf, monitor: &Monitor<'_>| {
        let disk = Disk::new();
        let resources = Resources { memory, scratch: &disk, checkpoint: Some(shelf) };
        params.fit_blocks(&VectorSource(&samples), &labels, None, &resources, monitor)
    };
    let rounds = AtomicUsize::new(0);
    let count = |at: Progress| {
        rounds.fetch_add(usize::from(at.stage == "solve" && at.gap.is_some()), Ordering::Relaxed);
    };
    let straight = fit(&Shelf::new(), &Monitor::none().with_progress(&count)).unwrap();
    let all_rounds = rounds.into_inner();
    let assert_same = |model: PowerMeanSvc, what: &str| {
        let (ours, theirs) = (model.report(), straight.report());
        assert_eq!(model.weights(), straight.weights(), "{what}");
        assert_eq!(
            (&ours.iterations, &ours.gaps, &ours.n_support),
            (&theirs.iterations, &theirs.gaps, &theirs.n_support)
        );
    };
    // Cancelled in some round.
    for round in [1, 2, 5] {
        let (shelf, cancel) = (Shelf::new(), AtomicBool::new(false));
        let stop = |at: Progress| cancel.store(at.stage == "solve" && at.done >= round, Ordering::Relaxed);
        let ended = fit(&shelf, &Monitor::none().with_progress(&stop).with_cancel(&cancel));
        assert!(matches!(ended, Err(Error::Cancelled { stage: "solve" })));
        let rounds = AtomicUsize::new(0);
        let count = |at: Progress| {
            rounds.fetch_add(usize::from(at.stage == "solve" && at.gap.is_some()), Ordering::Relaxed);
        };
        assert_same(fit(&shelf, &Monitor::none().with_progress(&count)).unwrap(), &format!("round {round}"));
        assert_eq!(rounds.into_inner() + 1, all_rounds, "the first round is in the checkpoint");
    }
    // Killed before each thing that is saved; then again, so that a good checkpoint and a part of a newer one are
    // there.
    let saves = {
        let shelf = Shelf::new();
        fit(&shelf, &Monitor::none()).unwrap();
        usize::MAX - shelf.saves_left.into_inner()
    };
    for killed in 0..saves {
        let shelf = Shelf::new();
        shelf.saves_left.store(killed, Ordering::Relaxed);
        assert!(matches!(fit(&shelf, &Monitor::none()), Err(Error::Io { .. })));
        shelf.saves_left.store(3, Ordering::Relaxed);
        assert!(matches!(fit(&shelf, &Monitor::none()), Err(Error::Io { .. })));
        shelf.saves_left.store(usize::MAX, Ordering::Relaxed);
        assert_same(fit(&shelf, &Monitor::none()).unwrap(), &format!("save {killed}"));
        // A fit that is done has nothing to do.
        assert_same(fit(&shelf, &Monitor::none()).unwrap(), "again");
    }
}

#[test]
fn rejects_checkpoints_of_other_fits() {
    let (values, labels, params, memory) = slow();
    let shelf = Shelf::new();
    let fit = |params: &PowerMeanParams, values: &[f64], labels: &Labels, memory: u64| {
        let (disk, samples) = (Disk::new(), DenseView::new(values, 200, 12).unwrap());
        let resources = Resources { memory, scratch: &disk, checkpoint: Some(&shelf) };
        params.fit_blocks(&VectorSource(&samples), labels, None, &resources, &Monitor::none())
    };
    fit(&params, &values, &labels, memory).unwrap();
    let mut other = values.clone();
    other[values.iter().position(|value| *value > 0.0).unwrap()] *= 0.5;
    let mut codes = labels.codes().to_vec();
    codes.swap(0, 1);
    let swapped = Labels::from_codes(labels.classes().to_vec(), codes).unwrap();
    let fewer = memory_for(20, &DenseView::new(&values, 200, 12).unwrap(), &labels);
    for (ended, name) in [
        (fit(&params.clone().c(4.0), &values, &labels, memory), "C = 1"),
        (fit(&params.clone().seed(1), &values, &labels, memory), "seed = 0"),
        (fit(&params, &other, &labels, memory), "content of the samples"),
        (fit(&params, &values, &swapped, memory), "labels and weights"),
        (fit(&params, &values, &labels, fewer), "of a fit in 1"),
    ] {
        let error = ended.unwrap_err();
        assert!(error.is_input() && error.to_string().contains(name), "{error}");
    }
    // With more memory than needed the fit is resumed with the same blocks.
    assert!(n_blocks(&fit(&params, &values, &labels, PLENTY).unwrap()) >= 10);
    let broken: Vec<u8> = shelf.saved.lock().unwrap()["power-mean"][..40].to_vec();
    shelf.saved.lock().unwrap().insert("power-mean".into(), broken);
    assert!(fit(&params, &values, &labels, memory).unwrap_err().to_string().contains("checkpoint"));
}

#[test]
fn it_stops_when_cancelled() {
    let (values, labels, params, memory) = slow();
    let samples = DenseView::new(&values, 200, 12).unwrap();
    let disk = Disk::new();
    let resources = Resources { memory, scratch: &disk, checkpoint: None };
    for stage in ["scan", "encode", "solve"] {
        let cancel = AtomicBool::new(false);
        let stop = |at: Progress| cancel.store(at.stage == stage, Ordering::Relaxed);
        let monitor = Monitor::none().with_progress(&stop).with_cancel(&cancel);
        let ended = params.fit_blocks(&VectorSource(&samples), &labels, None, &resources, &monitor);
        assert!(matches!(ended, Err(Error::Cancelled { .. })), "{stage}");
    }
    let monitor = Monitor::none().with_time_limit(Duration::ZERO);
    let model = params.fit_blocks(&VectorSource(&samples), &labels, None, &resources, &monitor).unwrap();
    assert_eq!(model.report().status, Status::TimeLimit);
    let model = fit(&params.max_epochs(2), &samples, &labels, memory).unwrap();
    assert_eq!((model.report().status, model.report().max_iterations()), (Status::IterationLimit, 2));
    assert!(model.report().warnings[0].starts_with("not converged after 2 epochs"));
}

#[test]
fn kind_to_mistakes() {
    let (mut values, labels, params, memory) = slow();
    let fit = |values: &[f64], disk: &Disk, memory: u64| {
        let samples = DenseView::new(values, 200, 12).unwrap();
        let resources = Resources { memory, scratch: disk, checkpoint: None };
        params.fit_blocks(&VectorSource(&samples), &labels, None, &resources, &Monitor::none())
    };
    assert!(matches!(fit(&values, &Disk::of(5000), memory), Err(Error::Io { .. })));
    let message = fit(&values, &Disk { reports_space: true, ..Disk::of(5000) }, memory).unwrap_err().to_string();
    assert!(message.contains("scratch, 200 rows"), "{message}");
    assert!(matches!(fit(&values, &Disk::new(), 1000), Err(Error::Memory { .. })));
    values[150 * 12 + 7] = -1.0;
    let message = fit(&values, &Disk::new(), memory).unwrap_err().to_string();
    assert!(message.starts_with("row 150, column 7 (from 0): -1 is negative"), "{message}");

    struct Words;
    impl Source for Words {
        type Samples = AnySamples;
        fn n_samples(&self) -> usize {
            2
        }
        fn chunk(&self, rows: std::ops::Range<usize>) -> Result<AnySamples> {
            Ok(AnySamples::Strings(vec!["a".into(); rows.len()]))
        }
        fn select(&self, rows: &[usize]) -> Result<AnySamples> {
            self.chunk(0..rows.len())
        }
    }
    let (disk, labels) = (Disk::new(), Labels::new([0i64, 1]));
    let resources = Resources { memory, scratch: &disk, checkpoint: None };
    let message = params.fit_blocks(&Words, &labels, None, &resources, &Monitor::none()).unwrap_err().to_string();
    assert_eq!(message, "the samples are strings, and the power mean SVM takes vectors");
}
