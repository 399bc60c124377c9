//! The claims of every similarity, by its row: it agrees with its definition, on dense and sparse samples; is symmetric
//! and definite where its row says so; score a sample alone as among others; and come back from a file.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::common::{sparse_vectors, vectors};
use crate::definitions::{self, Definition};
use widemargin::data::{AnySamples, BitSets, Grids, Images, Labels, Samples, Series, Training};
use widemargin::expansion::spectrum;
use widemargin::model::{BasisExpansionParams, BasisExpansionSvc};
use widemargin::monitor::Monitor;
use widemargin::similarity::{
    AnySimilarity, DefaultValue, Definite, Similarity, SimilarityRow, Spec, descriptor_rows, pairwise, similarity_rows,
};

pub const N: usize = 30;

/// More than a chunk of any method, and no multiple of any lanes.
const MANY: usize = 301;

/// Numbers from 0 to 1.
pub fn noise(n: usize) -> Vec<f32> {
    let mut state = 12345u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32
    };
    (0..n).map(|_| next()).collect()
}

/// Histograms with zeros, one of them all zeros, and two that are equal.
fn rows(n: usize, n_cols: usize) -> Vec<f32> {
    let mut values: Vec<f32> = noise(n * n_cols).into_iter().map(|x| if x < 0.4 { 0.0 } else { x }).collect();
    values[..n_cols].fill(0.0);
    values.copy_within(n_cols..2 * n_cols, 5 * n_cols);
    values
}

pub fn dense(values: Vec<f32>) -> AnySamples {
    let n_cols = values.len() / N;
    vectors(values, n_cols)
}

/// Samples of a kind, in every form that they have.
pub fn samples_of(kind: &str) -> Vec<AnySamples> {
    forms(kind, N, &[N, 3])
}

/// `n` samples of a kind; vectors of these widths, the first without its zeros too.
fn forms(kind: &str, n: usize, widths: &[usize]) -> Vec<AnySamples> {
    match kind {
        "vectors" => {
            let sparse = sparse_vectors(&rows(n, widths[0]), widths[0]);
            let dense = |&width: &usize| vectors(rows(n, width), width);
            let [first, others @ ..] = widths else { panic!("no width") };
            [dense(first), sparse].into_iter().chain(others.iter().map(dense)).collect()
        }
        "bit sets" => {
            let words = noise(2 * n).into_iter().enumerate();
            let words = words.map(|(at, x)| if at < 2 { 0 } else { u64::from(x.to_bits()) * 0x9E37_79B9 }).collect();
            vec![AnySamples::BitSets(BitSets::new(words, n, 128).unwrap())]
        }
        "strings" => {
            let letters = noise(n * 12);
            let word = |row: usize| {
                let letters = &letters[row * 12..row * 12 + row % 11];
                letters.iter().map(|x| ["A", "C", "G", "é"][(x * 3.99) as usize]).collect::<String>()
            };
            vec![AnySamples::Strings((0..n).map(word).collect())]
        }
        "time series" => {
            let series = |channels: usize| {
                let lengths: Vec<usize> = (0..n).map(|row| 3 + row % 8).collect();
                let values = noise(lengths.iter().sum::<usize>() * channels);
                AnySamples::Series(Series::new(values, &lengths, channels).unwrap())
            };
            vec![series(1), series(2)]
        }
        "grids of cells" => vec![AnySamples::Grids(Grids::new(noise(n * 4 * 3 * 5), 4, 3, 5).unwrap())],
        "images" => {
            let pixels = noise(n * 16 * 16).into_iter().map(|x| (255.0 * x) as u8).collect();
            vec![AnySamples::Images(Images::new(pixels, 16, 16, 1).unwrap())]
        }
        other => panic!("no samples for the tests are {other}: make some here"),
    }
}

/// Every example of every similarity, with samples that it takes.
pub fn for_every_similarity(mut test: impl FnMut(&SimilarityRow, &str, &AnySamples)) {
    for row in similarity_rows() {
        for samples in row.samples.iter().flat_map(|kind| samples_of(kind)) {
            for spec in row.examples() {
                test(row, spec, &samples);
            }
        }
    }
}

/// The similarity, and its step with learned parameters.
pub fn fitted(spec: &str, samples: &AnySamples) -> (AnySimilarity, Spec) {
    let mut similarity = AnySimilarity::new(&[spec]).unwrap();
    let weights = vec![1.0; samples.len()];
    similarity.fit(&Training { samples, weights: &weights, threads: 1, monitor: &Monitor::none() }).unwrap();
    let learned = similarity.part(0).parse().unwrap();
    (similarity, learned)
}

/// Similarities whose definitions are in the tests of their modules.
const DEFINED_THERE: [&str; 4] = ["rigid", "deformable", "match", "jitter"];

/// s(x, y) of the samples with these numbers, by the definition.
fn by_definition(
    row: &SimilarityRow,
    definition: Definition,
    spec: &Spec,
    samples: &AnySamples,
    at: [usize; 2],
) -> f64 {
    let arguments = row.arguments(&spec.steps[0]).unwrap();
    let vectors = |of: &dyn Fn(usize) -> Vec<f64>| match definition {
        Definition::Vectors(s) => s(&arguments, &of(at[0]), &of(at[1])),
        other => panic!("{}: {other:?} of vectors", row.name),
    };
    let found = match (definition, samples) {
        (_, AnySamples::Vectors(all)) => {
            let all = all.dense().unwrap();
            vectors(&|at| all.values[at * all.n_cols..(at + 1) * all.n_cols].iter().map(|&x| x.into()).collect())
        }
        (_, AnySamples::BitSets(sets)) => vectors(&|at| {
            let bits = sets.set(at).iter().flat_map(|word| (0..64).map(move |bit| (word >> bit & 1) as f64));
            bits.collect()
        }),
        (Definition::Strings(s), AnySamples::Strings(all)) => {
            let characters = |at: usize| all[at].chars().collect::<Vec<char>>();
            s(&arguments, &characters(at[0]), &characters(at[1]))
        }
        (Definition::Series(s), AnySamples::Series(all)) => {
            s(&arguments, all.series(at[0]), all.series(at[1]), all.channels())
        }
        (other, samples) => panic!("{}: {other:?} of {}", row.name, samples.kind()),
    };
    found.unwrap()
}

#[test]
fn agrees_with_its_definition_and_is_symmetric_if_declared() {
    for_every_similarity(|row, spec, samples| {
        let (similarity, learned) = fitted(spec, samples);
        if similarity.metadata().brings_columns {
            return;
        }
        let definition = definitions::of(row.name);
        assert!(definition.is_some() || DEFINED_THERE.contains(&row.name), "{} has no definition", row.name);
        let block = pairwise(&similarity, samples, samples).unwrap();
        for (sample, basis) in (0..N).flat_map(|sample| (0..N).map(move |basis| (sample, basis))) {
            let found = block[sample * N + basis];
            if let Some(definition) = definition {
                let right = by_definition(row, definition, &learned, samples, [basis, sample]);
                let close = (f64::from(found) - right).abs() <= 2e-5 * right.abs().max(1.0);
                assert!(close, "{learned}, {}: {found}, not {right}", samples.kind());
            }
            if similarity.is_symmetric(0) {
                let turned = block[basis * N + sample];
                assert!((found - turned).abs() <= 1e-6 * found.abs().max(1.0), "{learned}: {found} and {turned}");
            }
        }
    });
}

#[test]
fn has_no_negative_eigenvalues_if_definite() {
    for_every_similarity(|row, spec, samples| {
        if row.definite == Definite::Positive {
            let (similarity, _) = fitted(spec, samples);
            let spectra = spectrum(Arc::new(similarity), samples, 1, &Monitor::none()).unwrap();
            let values = &spectra[0].symmetric;
            let (least, most) =
                values.iter().fold((0.0, 0.0f64), |(least, most), &value| (value.min(least), value.max(most)));
            assert!(least >= -1e-5 * most, "{spec}, {}: {least} against {most}", samples.kind());
        }
    });
}

#[test]
fn dense_and_sparse_samples_are_the_same_and_chunks_change_nothing() {
    let (dense, sparse) = (dense(rows(N, N)), sparse_vectors(&rows(N, N), N));
    for_every_similarity(|row, spec, samples| {
        let (similarity, _) = fitted(spec, samples);
        let whole = pairwise(&similarity, samples, samples).unwrap();
        let close = |found: &[f32], right: &[f32]| {
            found.iter().zip(right).all(|(a, b)| (a - b).abs() <= 1e-5 * b.abs().max(1.0)) && found.len() == right.len()
        };
        let n_columns = whole.len() / N;
        for from in (0..N).step_by(7) {
            let some: Vec<usize> = (from..N.min(from + 7)).collect();
            let piece = pairwise(&similarity, samples, &Samples::select(samples, &some)).unwrap();
            assert!(close(&piece, &whole[from * n_columns..][..piece.len()]), "{spec}, from sample {from}");
        }
        if row.samples.contains(&"vectors") && samples == &dense {
            for (bases, samples) in [(&dense, &sparse), (&sparse, &dense), (&sparse, &sparse)] {
                assert!(close(&pairwise(&similarity, bases, samples).unwrap(), &whole), "{spec}");
            }
        }
    });
}

/// Trains on some samples and scores many; and the same after the model's file was read.
fn check_scores(spec: &str, samples: &AnySamples, n_basis: usize, classes: usize) {
    let labels = Labels::new((0..MANY).map(|i| (i % classes) as i64));
    let params = BasisExpansionParams::new(AnySimilarity::new(&[spec]).unwrap()).n_basis(n_basis).max_iter(5);
    let model = params.fit(samples, &labels).unwrap();
    let scores = |model: &BasisExpansionSvc<AnySimilarity>, rows: &[usize]| {
        model.decision_function(&Samples::select(samples, rows), 2).unwrap().values().to_vec()
    };
    let all = scores(&model, &(0..MANY).collect::<Vec<_>>());
    let width = all.len() / MANY;
    let backwards = scores(&model, &(0..MANY).rev().collect::<Vec<_>>());
    let turned: Vec<f32> = backwards.chunks(width).rev().flatten().copied().collect();
    assert!(turned == all, "{spec}");
    // Of every place in a vector register, and the last.
    for row in (0..MANY).step_by(15) {
        assert_eq!(scores(&model, &[row]), all[row * width..][..width], "{spec}, sample {row}");
    }
    let read = BasisExpansionSvc::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(scores(&read, &(0..MANY).collect::<Vec<_>>()), all, "{spec}");
}

/// Of every similarity, and with every descriptor before its usual one.
#[test]
fn a_model_scores_a_sample_alone_as_among_others_and_comes_back_from_its_file() {
    // Multiples of the rows of a grid.
    let widths = [(21, 11, 2), (3, 1, 2), (72, 200, 3)];
    for row in similarity_rows() {
        let spec = row.examples().last().unwrap();
        for kind in row.samples {
            if *kind != "vectors" {
                forms(kind, MANY, &[]).iter().for_each(|samples| check_scores(spec, samples, 13, 3));
                continue;
            }
            for (width, n_basis, classes) in widths {
                let n_basis = if row.name == "precomputed" { width } else { n_basis };
                forms(kind, MANY, &[width]).iter().for_each(|samples| check_scores(spec, samples, n_basis, classes));
            }
        }
    }
    // Strings are no graphs.
    for row in descriptor_rows().filter(|row| row.name != "wl") {
        for samples in row.samples.iter().flat_map(|kind| forms(kind, MANY, &[21])) {
            check_scores(&format!("{}/{}", row.name, row.usual), &samples, 13, 2);
        }
    }
}

#[test]
fn rows_are_sound() {
    let mut names = BTreeSet::new();
    for row in similarity_rows() {
        assert!(names.insert(row.name) && names.insert(row.class), "{} or {} is there twice", row.name, row.class);
        let known = AnySimilarity::new(&row.examples()[..1]).unwrap().takes();
        assert_eq!(row.samples, &known[..row.samples.len()], "{}", row.name);
        let example: Spec = row.examples()[0].parse().unwrap();
        for parameter in row.parameters {
            let with = |text: &str| {
                let mut step = example.steps[0].clone();
                step.set(parameter.name, text);
                AnySimilarity::new(&[step.to_string()])
            };
            if let DefaultValue::Is(text) = parameter.default {
                assert!(with(text).is_ok(), "{}: {}={text}", row.name, parameter.name);
            }
            assert!(parameter.word.is_none_or(|word| with(word).is_ok()), "{}: {:?}", row.name, parameter.word);
            let message = with("nonsense").unwrap_err().to_string();
            assert!(message.contains(&parameter.expected()) && message.contains(parameter.name), "{message}");
        }
        let message = AnySimilarity::new(&[format!("{}:nonsense=1", row.name)]).unwrap_err().to_string();
        assert!(message.contains("'nonsense' is not known"), "{message}");
    }
    for row in descriptor_rows() {
        assert!(names.insert(row.name) && names.insert(row.class), "{} or {} is there twice", row.name, row.class);
        let known = AnySimilarity::new(&[format!("{}/{}", row.name, row.usual)]).unwrap().takes();
        assert_eq!(row.samples, &known[..row.samples.len()], "{}", row.name);
        let message = AnySimilarity::new(&[row.name]).unwrap_err().to_string();
        assert!(message.contains(&format!("as in {}/{}", row.name, row.usual)), "{message}");
    }
}
