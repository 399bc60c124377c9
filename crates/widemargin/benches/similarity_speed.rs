//! How fast grids of HOG cells are made and compared, and vectors by their distances, on one thread, compared with a
//! plain matrix product.
//!
//!     cargo bench --bench similarity_speed -- [FILTER] [--images FILE] [--seconds S]
//!
//! One JSON object a line. `useful_flops` are those the definition of a similarity cannot do without (see
//! `GridMatching::useful_flops`), so that skipping, padding and comparing count against us, not for us; a file of
//! images is raw bytes, 32 × 32 × 3 each, without one they are made up. The time of each is the shortest of those
//! that fit into `S` seconds (1): whatever disturbs a machine makes times longer, never shorter.

use std::time::{Duration, Instant};

use serde_json::json;
use widemargin::data::{CsrMatrix, DenseMatrix, Grids, Images, Samples, Vectors};
use widemargin::descriptor::Hog;
use widemargin::similarity::{GridMatching, Similarity, Spec, VectorSimilarity};

/// Bases and samples of a block: a common number of bases, a chunk of samples.
const BASES: usize = 1000;
const SAMPLES: usize = 252;

/// Images described at a time, and of a file at most.
const IMAGES: usize = 2000;

/// Sides of the square matrices of the plain product.
const SIDE: usize = 1536;

/// Command-line arguments.
struct Arguments {
    filter: String,
    images: Option<String>,
    budget: Duration,
}

impl Arguments {
    fn read() -> Arguments {
        let mut arguments = Arguments { filter: String::new(), images: None, budget: Duration::from_secs(1) };
        let mut words = std::env::args().skip(1);
        while let Some(argument) = words.next() {
            match argument.as_str() {
                // Cargo says so itself.
                "--bench" => {}
                "--images" => arguments.images = words.next(),
                "--seconds" => {
                    let seconds = words.next().and_then(|text| text.parse().ok()).expect("--seconds takes a number");
                    arguments.budget = Duration::from_secs_f64(seconds);
                }
                filter => arguments.filter = filter.into(),
            }
        }
        arguments
    }

    /// The shortest time of `work`, in seconds, or nothing where the filter leaves it out.
    fn time(&self, name: &str, mut work: impl FnMut()) -> Option<f64> {
        if !name.contains(&self.filter) {
            return None;
        }
        work();
        let (start, mut best) = (Instant::now(), f64::INFINITY);
        while start.elapsed() < self.budget || best.is_infinite() {
            let begin = Instant::now();
            work();
            best = best.min(begin.elapsed().as_secs_f64());
        }
        Some(best)
    }

    fn images(&self) -> Images {
        let size = 32 * 32 * 3;
        let mut pixels = match &self.images {
            Some(path) => std::fs::read(path).expect("--images takes a file that can be read"),
            None => made_up(IMAGES * size, 3).into_iter().map(|x| (128.0 + 128.0 * x) as u8).collect(),
        };
        pixels.truncate(IMAGES.min(pixels.len() / size) * size);
        Images::new(pixels, 32, 32, 3).expect("images of 32 × 32 × 3 bytes")
    }
}

/// Numbers from −1 to 1.
fn made_up(n: usize, seed: u32) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..n).map(|_| next()).collect()
}

/// GFLOP/s of a product of square matrices in single precision, by the library's own linear algebra.
fn matrix_product(arguments: &Arguments) -> Option<f64> {
    use faer::linalg::matmul::matmul;
    use faer::{Accum, Mat, Par};
    let matrix = |seed: u32| {
        let values = made_up(SIDE * SIDE, seed);
        Mat::<f32>::from_fn(SIDE, SIDE, |i, j| values[i * SIDE + j])
    };
    let (a, b, mut c) = (matrix(1), matrix(2), Mat::<f32>::zeros(SIDE, SIDE));
    let seconds = arguments.time("", || matmul(c.as_mut(), Accum::Replace, a.as_ref(), b.as_ref(), 1.0, Par::Seq))?;
    Some(2.0 * (SIDE as f64).powi(3) / seconds / 1e9)
}

/// Vectors with a share of non-zeros, dense or sparse.
fn vectors(n: usize, d: usize, density: f32, sparse: bool, seed: u32) -> Vectors {
    let (mut values, chance) = (made_up(n * d, seed), made_up(n * d, seed + 10));
    values.iter_mut().zip(chance).for_each(|(x, chance)| *x *= f32::from(u8::from(0.5 * (chance + 1.0) < density)));
    if !sparse {
        return Vectors::Dense(DenseMatrix { values, n_rows: n, n_cols: d });
    }
    let mut matrix = CsrMatrix { indptr: vec![0], indices: Vec::new(), values: Vec::new(), n_cols: d };
    for row in values.chunks(d) {
        for (column, &value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            matrix.indices.push(column as u32);
            matrix.values.push(value);
        }
        matrix.indptr.push(matrix.values.len());
    }
    Vectors::Sparse(matrix)
}

/// Similarities of vectors by their distances.
fn distances(arguments: &Arguments) {
    let dense = [4, 8, 16, 24, 32, 48, 64, 128, 256, 784].map(|d| (d, 1.0, false));
    for name in ["rbf", "laplacian"] {
        for (d, density, sparse) in dense.into_iter().chain([(784, 0.2, false), (10_000, 0.01, true)]) {
            let spec: Spec = format!("{name}:gamma={}", 1.0 / d as f64).parse().expect("a spec");
            let similarity = VectorSimilarity::from_step(&spec.steps[0]).expect("a similarity of vectors");
            let of = |n, seed| vectors(n, d, density, sparse, seed);
            let (bases, samples) = (of(BASES, 1), of(SAMPLES, 2));
            let mut block = vec![0.0; BASES * SAMPLES];
            let kind = if sparse { "sparse" } else { "dense" };
            let name = format!("{name} {kind} {d} features, {density} non-zero");
            let seconds = arguments.time(&name, || {
                similarity.block(&bases, &samples, &mut block).expect("vectors of one width");
            });
            let Some(seconds) = seconds else { continue };
            let nanoseconds = 1e9 * seconds / (BASES * SAMPLES) as f64;
            println!("{}", json!({ "what": "distances", "name": name, "nanoseconds_a_pair": nanoseconds }));
        }
    }
}

fn main() {
    let arguments = Arguments::read();
    let everything = Arguments { filter: String::new(), images: None, budget: arguments.budget };
    let peak = matrix_product(&everything).expect("no filter");
    println!("{}", json!({ "what": "matrix product", "side": SIDE, "precision": "f32", "gflops": peak }));

    distances(&arguments);

    let images = arguments.images();
    for cell in [4, 8] {
        let spec: Spec = format!("hog:cell={cell}").parse().expect("a right spec");
        let hog = Hog::from_step(&spec.steps[0]).expect("a right spec");
        let seconds = arguments.time(&hog.to_string(), || {
            std::hint::black_box(hog.describe(&images).expect("sides of 32"));
        });
        if let Some(seconds) = seconds {
            let rate = images.len() as f64 / seconds;
            println!("{}", json!({ "what": "descriptor", "spec": hog.to_string(), "images_a_second": rate }));
        }
    }

    let cases = [(8, 1, 0), (8, 0, 1), (4, 1, 0), (4, 0, 1), (4, 2, 0), (4, 1, 1), (4, 2, 1)];
    for (cell, rigid, local) in cases {
        let similarity = match local {
            0 => GridMatching::rigid(rigid),
            _ => GridMatching::deformable(rigid, local),
        };
        let side = 32 / cell;
        let grids =
            |n: usize, seed: u32| Grids::new(made_up(n * side * side * 31, seed), side, side, 31).expect("whole grids");
        let (bases, samples) = (grids(BASES, 1), grids(SAMPLES, 2));
        let mut block = vec![0.0; BASES * SAMPLES];
        let name = format!("H{cell}({rigid},{local})");
        let seconds = arguments.time(&name, || {
            similarity.block(&bases, &samples, &mut block).expect("grids of one shape");
        });
        let Some(seconds) = seconds else { continue };
        let flops = similarity.useful_flops(side, side, 31);
        let seconds_per_pair = seconds / (BASES * SAMPLES) as f64;
        let rate = flops as f64 / seconds_per_pair / 1e9;
        println!(
            "{}",
            json!({
                "what": "similarity",
                "name": name,
                "spec": similarity.to_string(),
                "bases": BASES,
                "samples": SAMPLES,
                "useful_flops": flops,
                "microseconds_a_pair": seconds_per_pair * 1e6,
                "gflops": rate,
                "share_of_matrix_product": rate / peak,
            })
        );
    }
}
