//! How fast similarities of sequences and sets are on one thread: `cargo bench --package widemargin --bench sequences`.
//!
//! For each the time a pair, and for those that fill a table the cells a second; time warping compared with the plain
//! loop.

use std::hint::black_box;
use std::time::Instant;

use widemargin::data::{AnySamples, DenseMatrix, Series, Training, Vectors};
use widemargin::descriptor::{Descriptor, Hydra, MiniRocket, NGrams, WeisfeilerLehman};
use widemargin::monitor::Monitor;
use widemargin::similarity::{
    Alignment, Dtw, EarthMover, Edit, Gappy, Mismatch, NGram, SetMeasure, Similarity, Spec, Step,
};

const N_BASES: usize = 128;

fn main() {
    println!("{:<52} {:>12} {:>12}", "similarity", "ns a pair", "Mcells/s");
    bins_and_graphs();
    for (length, channels) in [(24, 1), (150, 1), (500, 1), (100, 6)] {
        let (bases, samples) = (series(N_BASES, length, channels, 1), series(8, length, channels, 2));
        for window in [0.05, 0.1, 1.0] {
            let dtw = Dtw::from_step(&step(&format!("dtw:window={window}"))).expect("a right spec");
            let band = (window * length as f64) as usize;
            let cells = (0..length).map(|i| (length - 1).min(i + band) - i.saturating_sub(band) + 1).sum::<usize>();
            let what = format!("{}, {length} steps, {channels} channels", dtw.spec());
            time(&what, cells, || fill(&dtw, &bases, &samples));
            time("  the plain loop", cells, || plain(&bases, &samples, band));
        }
    }
    for (length, channels) in [(150, 1), (500, 1), (2000, 1), (100, 6)] {
        let series = series(64, length, channels, 1);
        let mut minirocket = MiniRocket::from_step(&step("minirocket")).expect("a right spec");
        let weights = vec![1.0; 64];
        let monitor = Monitor::none();
        let training = Training { samples: &series, weights: &weights, threads: 1, monitor: &monitor };
        minirocket.fit_series(&training).expect("series");
        // A pair is a series, a cell a time step of a feature.
        time(&format!("minirocket, {length} steps, {channels} channels"), 9_996 * length, || {
            minirocket.features(&series).expect("series").n_rows
        });
        let mut hydra = Hydra::from_step(&step("hydra")).expect("a right spec");
        hydra.fit_series(&training).expect("series");
        let n_groups = hydra.features(&series).expect("series").n_cols / 16;
        // A cell is a time step of a group: 72 multiply-adds and 78 other operations.
        time(&format!("hydra, {length} steps, {channels} channels"), n_groups * length, || {
            hydra.features(&series).expect("series").n_rows
        });
    }
    for (alphabet, length) in [("ACGT", 60), ("abcdefghijklmnopqrstuvwxyz ", 8), ("CNO()=1234c[]+-", 45)] {
        let (bases, samples) = (strings(N_BASES, alphabet, length, 1), strings(32, alphabet, length, 2));
        for spec in [
            "edit",
            "edit:metric=osa",
            "edit:metric=jaro-winkler",
            "edit:metric=damerau",
            "edit:substitute=2",
            "edit:insert=2,delete=3,substitute=4",
            "edit:unit=grapheme",
        ] {
            let edit = Edit::from_step(&step(spec)).expect("a right spec");
            let what = format!("{spec}, {length} characters");
            time(&what, 0, || fill(&edit, &bases, &samples));
        }
        let ngram = NGram::from_step(&step("ngram")).expect("a right spec");
        time(&format!("ngram, {length} characters"), 0, || fill(&ngram, &bases, &samples));
        for spec in
            ["align", "align:mode=global", "align:mode=semiglobal", "align:matrix=blosum62", "align:matrix=nuc44"]
        {
            if spec.contains("matrix") && alphabet != "ACGT" {
                continue;
            }
            let align = Alignment::from_step(&step(spec)).expect("a right spec");
            time(&format!("{spec}, {length} characters"), length * length, || fill(&align, &bases, &samples));
        }
        for spec in ["mismatch:k=5,m=1,alphabet=27", "mismatch:k=3,m=1,alphabet=27"] {
            // A cell is a pair of k-mers: a comparison of each of its ends, and one for each distance up to 2m.
            let mismatch = Mismatch::from_step(&step(spec)).expect("a right spec");
            time(&format!("{spec}, {length} characters"), length * length, || fill(&mismatch, &bases, &samples));
        }
        for spec in ["gappy:k=3,g=5", "gappy:k=5,g=7"] {
            // Per string (length − g + 1) · C(g, k) hashes; per pair those of the sample's that the basis has too.
            let gappy = Gappy::from_step(&step(spec)).expect("a right spec");
            time(&format!("{spec}, {length} characters"), 0, || fill(&gappy, &bases, &samples));
        }
        let sets = |strings: Vec<String>| {
            let ngrams = NGrams::from_step(&step("ngrams")).expect("a right spec");
            ngrams.describe(AnySamples::Strings(strings)).expect("strings")
        };
        let tanimoto = SetMeasure::from_step(&step("tanimoto")).expect("a right spec");
        let (bases, samples) = (sets(bases), sets(samples));
        time("tanimoto, 2048 bits", 0, || fill(&tanimoto, &bases, &samples));
    }
}

/// Histograms, and graphs of 30 vertices and 40 edges; a pair of the latter is a graph and its iterations.
fn bins_and_graphs() {
    let mut next = random(5);
    let mut histograms = |n: usize, bins: usize| {
        let values = (0..n * bins).map(|_| next(100) as f32).collect();
        Vectors::Dense(DenseMatrix { values, n_rows: n, n_cols: bins })
    };
    let (bases, samples) = (histograms(N_BASES, 64), histograms(64, 64));
    let emd = |spec: &str| EarthMover::from_step(&step(spec)).expect("a right spec");
    // A cell is a bin of a pair: in a line a difference, its size, a sum; on a circle the median too.
    for spec in ["emd", "emd:ground=circle"] {
        time(&format!("{spec}, 64 bins"), 64, || fill(&emd(spec), &bases, &samples));
    }
    let graphs: Vec<String> = (0..200)
        .map(|_| {
            let nodes: Vec<String> = (0..30).map(|_| format!("\"{}\"", ["C", "N", "O"][next(3)])).collect();
            let edges: Vec<String> = (0..40).map(|_| format!("[{},{}]", next(30), next(30))).collect();
            format!("{{\"nodes\":[{}],\"edges\":[{}]}}", nodes.join(","), edges.join(","))
        })
        .collect();
    let mut wl = WeisfeilerLehman::from_step(&step("wl")).expect("a right spec");
    let (weights, monitor) = (vec![1.0; graphs.len()], Monitor::none());
    let training = Training { samples: &graphs, weights: &weights, threads: 1, monitor: &monitor };
    wl.fit_graphs(&training).expect("graphs");
    // A cell is an end of an edge in one of three iterations: 16 bytes hashed, and sorted.
    time("wl, 30 vertices and 40 edges", 3 * 80, || {
        black_box(wl.vectors(&graphs).expect("graphs"));
        graphs.len()
    });
}

fn step(spec: &str) -> Step {
    spec.parse::<Spec>().expect("a right spec").steps[0].clone()
}

/// Calls for a third of a second after a first time, and prints the best.
fn time(what: &str, cells: usize, mut work: impl FnMut() -> usize) {
    work();
    let (start, mut best) = (Instant::now(), f64::INFINITY);
    while start.elapsed().as_secs_f64() < 0.33 {
        let start = Instant::now();
        let pairs = work();
        best = best.min(start.elapsed().as_secs_f64() / pairs as f64);
    }
    let rate = if cells > 0 { format!("{:.0}", cells as f64 / best / 1e6) } else { String::new() };
    println!("{what:<52} {:>12.1} {rate:>12}", best * 1e9);
}

fn fill<S: Similarity>(similarity: &S, bases: &S::Samples, samples: &S::Samples) -> usize {
    use widemargin::data::Samples;
    let mut block = vec![0.0; bases.len() * samples.len()];
    similarity.block(bases, samples, &mut block).expect("samples that can be compared");
    black_box(&block);
    block.len()
}

/// A pair at a time, a cell at a time.
fn plain(bases: &Series, samples: &Series, band: usize) -> usize {
    use widemargin::data::Samples;
    let channels = bases.channels();
    let mut sum = 0.0;
    for sample in 0..samples.len() {
        for basis in 0..bases.len() {
            let (x, y) = (samples.series(sample), bases.series(basis));
            let (m, n) = (samples.length(sample), bases.length(basis));
            let mut row = vec![f32::INFINITY; n + 1];
            row[0] = 0.0;
            for i in 0..m {
                let (from, to) = (i.saturating_sub(band), n.min(i + band + 1));
                let (mut diagonal, mut left) = (row[from], f32::INFINITY);
                row[from] = f32::INFINITY;
                for j in from..to {
                    let (x, y) = (&x[i * channels..][..channels], &y[j * channels..][..channels]);
                    let cost: f32 = x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum();
                    let above = row[j + 1];
                    left = cost + left.min(above).min(diagonal);
                    (diagonal, row[j + 1]) = (above, left);
                }
            }
            sum += row[n];
        }
    }
    black_box(sum);
    bases.len() * samples.len()
}

fn random(seed: u32) -> impl FnMut(usize) -> usize {
    let mut state = seed;
    move |below| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % below
    }
}

fn series(n: usize, length: usize, channels: usize, seed: u32) -> Series {
    let mut next = random(seed);
    let values = (0..n * length * channels).map(|_| next(1000) as f32 / 500.0 - 1.0).collect();
    Series::new(values, &vec![length; n], channels).expect("sizes that fit")
}

fn strings(n: usize, alphabet: &str, length: usize, seed: u32) -> Vec<String> {
    let letters: Vec<char> = alphabet.chars().collect();
    let mut next = random(seed);
    (0..n).map(|_| (0..length).map(|_| letters[next(letters.len())]).collect()).collect()
}
