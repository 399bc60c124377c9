//! Similarities by distance are right to single precision wherever the samples are: of scales from 1e-6 to 1e6, up to
//! 1e6 from the origin, in one cluster or in two distant ones, in all columns or in one.

use crate::common::{sparse_vectors, vectors};
use crate::every_similarity::noise;
use crate::harness::places::Disk;
use widemargin::basis::{BasisChoice, choose};
use widemargin::data::{Labels, Samples, Training};
use widemargin::model::BasisExpansionParams;
use widemargin::monitor::Monitor;
use widemargin::similarity::{AnySimilarity, pairwise};

const SCALES: [f32; 5] = [1e-6, 1e-3, 1.0, 1e3, 1e6];
const OFFSETS: [f32; 4] = [0.0, 1.0, 1e3, 1e6];
/// Below, at and above the width up to which differences alone are used.
const WIDTHS: [usize; 4] = [2, 32, 33, 100];
const N: usize = 70;

/// Where samples are.
struct Case {
    rows: Vec<f32>,
    d: usize,
    /// The sizes of differences and of values.
    scale: f64,
    size: f64,
    name: String,
}

impl Case {
    fn row(&self, i: usize) -> impl Iterator<Item = f64> {
        self.rows[i * self.d..(i + 1) * self.d].iter().map(|&x| f64::from(x))
    }

    fn sum(&self, i: usize, j: usize, term: impl Fn(f64, f64) -> f64) -> f64 {
        self.row(i).zip(self.row(j)).map(|(x, y)| term(x, y)).sum()
    }

    fn squared(&self, i: usize, j: usize) -> f64 {
        self.sum(i, j, |x, y| (x - y) * (x - y))
    }
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for d in WIDTHS {
        let noise = noise(N * d);
        for (scale, offset) in SCALES.into_iter().flat_map(|scale| OFFSETS.map(|offset| (scale, offset))) {
            for place in ["one cluster", "two clusters", "one column", "half zeros"] {
                let center = |i: usize, j: usize| match place {
                    "one cluster" | "half zeros" => offset,
                    "two clusters" => offset * if i.is_multiple_of(2) { 1.0 } else { -1.0 },
                    _ => offset * f32::from(u8::from(j == 1)) * if i.is_multiple_of(2) { 1.0 } else { -1.0 },
                };
                // The last ten are the first once more.
                let value = |i: usize, j: usize| match place == "half zeros" && (i + j).is_multiple_of(2) {
                    true => 0.0,
                    false => scale * (2.0 * noise[i % 60 * d + j] - 1.0) + center(i % 60, j),
                };
                let rows = (0..N * d).map(|at| value(at / d, at % d)).collect();
                let name = format!("{place}, {d} columns, scale {scale:e}, offset {offset:e}");
                cases.push(Case { rows, d, scale: scale.into(), size: f64::from(scale.max(offset)), name });
            }
        }
    }
    cases
}

/// Holds the similarity of every pair against `right`, which gives the value and how far it may be away.
fn check(case: &Case, spec: &str, right: impl Fn(usize, usize) -> (f64, f64)) {
    let similarity = AnySimilarity::new(&[spec]).unwrap();
    for (kind, samples) in
        [("dense", vectors(case.rows.clone(), case.d)), ("sparse", sparse_vectors(&case.rows, case.d))]
    {
        let found = pairwise(&similarity, &samples, &samples).unwrap();
        for (i, j) in (0..N).flat_map(|i| (0..N).map(move |j| (i, j))) {
            let ((right, error), found) = (right(i, j), f64::from(found[i * N + j]));
            let close = (found - right).abs() <= error + 1e-37;
            assert!(close, "{spec}, {kind} {}, pair {i}, {j}: {found}, not {right}", case.name);
        }
        for row in (0..N).step_by(23) {
            let alone = pairwise(&similarity, &samples, &samples.select(&[row])).unwrap();
            assert!(alone == found[row * N..(row + 1) * N], "{spec}, {kind} {}, row {row} alone", case.name);
        }
    }
}

/// e^−x of an x that is right to a few units in the last place of single precision.
fn exponential(x: f64) -> (f64, f64) {
    let value = (-x).exp();
    (if x > 87.0 { 0.0 } else { value }, value * (5e-7 + 3e-6 * x))
}

#[test]
fn rbf_and_laplacian() {
    for case in cases() {
        let gamma = (1.0 / (case.scale * case.scale * case.d as f64)) as f32;
        check(&case, &format!("rbf:gamma={gamma}"), |i, j| exponential(f64::from(gamma) * case.squared(i, j)));
        let gamma = (1.0 / (case.scale * case.d as f64)) as f32;
        check(&case, &format!("laplacian:gamma={gamma}"), |i, j| {
            exponential(f64::from(gamma) * case.sum(i, j, |x, y| (x - y).abs()))
        });
    }
}

#[test]
fn powers_of_distances() {
    for case in cases() {
        let r = |i, j| case.squared(i, j).sqrt();
        check(&case, "distance", |i, j| (-r(i, j), 2e-7 * r(i, j)));
        check(&case, "cubic", |i, j| (r(i, j).powi(3), 2e-7 * r(i, j).powi(3)));
        check(&case, "thin-plate", |i, j| match r(i, j) {
            0.0 => (0.0, 0.0),
            r => (r * r * r.ln(), 2e-7 * (r * r * r.ln()).abs() + 1e-12 * r * r),
        });
    }
}

#[test]
fn functions_of_products() {
    for case in cases() {
        let product = |i, j| case.sum(i, j, |x, y| x * y);
        check(&case, "cosine", |i, j| {
            let size = (product(i, i) * product(j, j)).sqrt();
            (if size > 0.0 { product(i, j) / size } else { f64::from(u8::from(product(i, i) == product(j, j))) }, 1e-7)
        });
        // Single precision of the products themselves: nothing of their size is subtracted.
        let size = |i, j| case.sum(i, j, |x, y| (x * y).abs());
        check(&case, "linear", |i, j| (product(i, j), 2e-6 * size(i, j)));
        let gamma = (1.0 / (case.size * case.size * case.d as f64)) as f32;
        check(&case, &format!("polynomial:degree=3,gamma={gamma}"), |i, j| {
            let gamma = f64::from(gamma);
            ((gamma * product(i, j) + 1.0).powi(3), 1e-5 * (gamma * size(i, j) + 1.0).powi(3))
        });
    }
}

#[test]
fn two_distant_clusters() {
    let points = [-1e4, 0.0, 1e4, 0.0, 1e4, 1.0, 1e4, 2.0, 1e4, 3.0, -1e4, 1.0];
    let samples = vectors(points.to_vec(), 2);
    let found = pairwise(&AnySimilarity::new(&["rbf:gamma=0.5"]).unwrap(), &samples, &samples).unwrap();
    for (i, j) in (0..6).flat_map(|i| (0..6).map(move |j| (i, j))) {
        let squared = (points[2 * i] - points[2 * j]).powi(2) + (points[2 * i + 1] - points[2 * j + 1]).powi(2);
        assert!((found[6 * i + j] - (-0.5 * squared).exp()).abs() < 1e-6, "{i}, {j}: {}", found[6 * i + j]);
    }
}

/// The same samples are separated wherever they are.
#[test]
fn decision_values_do_not_change_with_the_origin() {
    // Whole numbers, so that shifting them by a power of 2 loses nothing.
    let values = |shift: f32| (0..200 * 40).map(move |at| (at * at % 97 % 5) as f32 + shift).collect::<Vec<f32>>();
    let samples = |shift: f32| vectors(values(shift), 40);
    let labels = Labels::new((0..200).map(|i| i64::from(i % 3 == 0)));
    for spec in ["rbf:gamma=0.02", "laplacian:gamma=0.02", "distance", "thin-plate"] {
        let scores = |shift: f32| {
            let params =
                BasisExpansionParams::new(AnySimilarity::new(&[spec]).unwrap()).basis(BasisChoice::Index).n_basis(30);
            let model = params.fit(&samples(shift), &labels).unwrap();
            model.decision_function(&samples(shift), 1).unwrap().values().to_vec()
        };
        let size = scores(0.0).iter().fold(0.0f32, |most, score| most.max(score.abs()));
        for (here, there) in scores(0.0).iter().zip(scores(1_048_576.0)) {
            assert!((here - there).abs() < 1e-3 * size, "{spec}: {here} {there}");
        }
    }
}

/// The model is right in each of two distant clusters, in memory and out of it.
#[test]
fn two_distant_clusters_out_of_core() {
    let n = 3000;
    for d in [4, 40] {
        let noise = noise(n * d);
        let at_distance = |far: f32| {
            let center = |i: usize| if i.is_multiple_of(2) { far } else { -far };
            let values = (0..n * d).map(|at| (16.0 * noise[at]).floor() / 4.0 + center(at / d)).collect();
            vectors(values, d)
        };
        // The same differences, all of them exact, and nothing across.
        let (samples, near) = (at_distance(1_048_576.0), at_distance(256.0));
        let labels = Labels::new((0..n).map(|i| i64::from(noise[i * d] + noise[i * d + 1] > 1.0)));
        let params = || {
            let similarity = AnySimilarity::new(&[&format!("rbf:gamma={}", 0.2 / d as f64)]).unwrap();
            BasisExpansionParams::new(similarity).basis(BasisChoice::Index).n_basis(60).c(100.0)
        };
        let truth = params().fit(&near, &labels).unwrap();
        let expected = truth.predict(&near, 1).unwrap();
        let disk = Disk::new(Some(1 << 30));
        let streamed =
            params().fit_blocks(&samples, &labels, None, &disk.resources(600_000), &Monitor::none()).unwrap();
        for (executor, model) in [("memory", params().fit(&samples, &labels).unwrap()), ("blocks", streamed)] {
            let predicted = model.predict(&samples, 1).unwrap();
            let same = predicted.iter().zip(&expected).filter(|(a, b)| a == b).count();
            assert!(same > n * 99 / 100, "{d} columns, {executor}: {same} of {n}");
        }
    }
}

#[test]
fn each_cluster_has_one_medoid() {
    // Three clusters, 1,000 units from each other and 0.5 wide, 2^20 units from the origin.
    let n = 90;
    for unit in [1e-6f32, 1.0, 1e6] {
        let place = |i: usize| [(i % 3 * 1000) as f32, (i % 3 % 2 * 1000) as f32];
        let value = |i: usize, j: usize| place(i)[j] + ((i / 3 * 7 + j * 3) % 5) as f32 * 0.125 + 1_048_576.0;
        let values = (0..2 * n).map(|at| unit * value(at / 2, at % 2)).collect();
        let samples = vectors(values, 2);
        let square = unit * unit;
        let specs = [
            "linear".to_owned(),
            format!("rbf:gamma={}", 1e-14 / square),
            format!("laplacian:gamma={}", 1e-12 / unit),
            format!("polynomial:degree=2,gamma={}", 1e-12 / square),
            "distance".to_owned(),
            "cosine".to_owned(),
            "tanimoto".to_owned(),
        ];
        for spec in specs {
            for seed in 0..5 {
                let similarity = AnySimilarity::new(&[&spec]).unwrap();
                let (weights, monitor) = (vec![1.0; n], Monitor::none());
                let training = Training { samples: &samples, weights: &weights, threads: 2, monitor: &monitor };
                let codes = vec![0; n];
                let bases = choose(&BasisChoice::KMedoids, 3, &codes, 1, seed, &similarity, &training).unwrap();
                let mut clusters: Vec<usize> = bases.rows.iter().map(|row| row % 3).collect();
                clusters.sort_unstable();
                // Two clusters are in one direction from the origin.
                let right = if spec == "cosine" { clusters.contains(&2) } else { clusters == [0, 1, 2] };
                assert!(right, "{spec}, unit {unit:e}, seed {seed}: {:?}", bases.rows);
            }
        }
    }
}
