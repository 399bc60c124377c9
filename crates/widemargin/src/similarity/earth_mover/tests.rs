use proptest::prelude::*;

use super::definition::by_shortest_paths;
use super::*;
use crate::data::CsrMatrix;
use crate::similarity::pairwise;
use crate::similarity::sequence_tests::{agrees_by_number, of};

fn rows(values: &[f32], n_cols: usize) -> Vectors {
    Vectors::Dense(DenseMatrix { values: values.to_vec(), n_rows: values.len() / n_cols, n_cols })
}

fn emd(spec: &str) -> EarthMover {
    of(spec, EarthMover::from_step)
}

/// The spec of a matrix.
fn of_distances(n: usize, distance: impl Fn(usize, usize) -> f32) -> String {
    let all = (0..n * n).map(|at| distance(at / n, at % n).to_string());
    format!("emd:distances={}", all.collect::<Vec<_>>().join(";"))
}

/// A symmetric matrix of numbers that satisfies no triangle inequality.
fn any_matrix(n: usize, seed: usize) -> String {
    let entry = |a: usize, b: usize| ((a * b + 7 * (a + b) + seed) * 2_654_435_761 % 1009) as f32 / 64.0;
    of_distances(n, |a, b| if a == b { 0.0 } else { entry(a, b) })
}

/// Numbers below `below`, of which many are 0.
fn noise(n: usize, below: usize, seed: usize) -> Vec<f32> {
    let mut state = seed as u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize
    };
    (0..n).map(|_| if next() % 3 == 0 { 0.0 } else { (next() % below) as f32 }).collect()
}

fn by_definition(spec: &str, x: &[f32], y: &[f32]) -> f64 {
    let step = emd(spec).step;
    let wide = |x: &[f32]| x.iter().map(|&x| f64::from(x)).collect::<Vec<f64>>();
    definition::similarity(&EMD.arguments(&step).unwrap(), &wide(x), &wide(y)).unwrap()
}

#[test]
fn earth_is_moved_by_bins() {
    let all = rows(&[1.0, 0.0, 0.0, 0.0, 0.0, 5.0, 1.0, 1.0, 2.0, 0.0, 0.0, 0.0], 3);
    let d = pairwise(&emd("emd"), &all, &all).unwrap();
    // All of it by two bins; a half by two and a quarter by one; and past the last bin.
    assert_eq!(d[..4], [-0.0, -2.0, -1.25, -3.0]);
    assert_eq!(d[4..8], [-2.0, -0.0, -0.75, -1.0]);
    // The first and the last of three bins are neighbors on a circle; the farthest are one bin apart.
    let d = pairwise(&emd("emd:ground=circle"), &all, &all).unwrap();
    assert_eq!(d[..4], [-0.0, -1.0, -0.75, -1.0]);
    assert_eq!(d[12..], [-1.0, -1.0, -1.0, -0.0]);
    // A corner of a grid of 2 × 2, that opposite, and half each of the others.
    let all = rows(&[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 3.0, 0.0, 2.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0], 4);
    let d = pairwise(&emd("emd:ground=grid,rows=2"), &all, &all).unwrap();
    assert_eq!(d[..4], [-0.0, -f32::sqrt(2.0), -1.0, -f32::sqrt(2.0)]);
    let d = pairwise(&emd("emd:ground=grid,rows=2,metric=cityblock"), &all, &all).unwrap();
    assert_eq!(d[..4], [-0.0, -2.0, -1.0, -2.0]);
    // By way of the second bin it would cost 2: the direct way is not, and what both have moves on.
    let all = rows(&[1.0, 1.0, 0.0, 0.0, 1.0, 1.0], 3);
    assert_eq!(pairwise(&emd("emd:distances=0;1;9;1;0;1;9;1;0"), &all, &all).unwrap(), [-0.0, -1.0, -1.0, -0.0]);
}

#[test]
fn agrees_with_shortest_paths() {
    for n in [1, 2, 5, 12, 25] {
        let (bases, samples) = (noise(7 * n, 9, n), noise(6 * n, 9, 31 + n));
        let row = |values: &[f32], at: usize| values[at * n..(at + 1) * n].to_vec();
        let mut specs = vec!["emd".into(), "emd:ground=circle".into(), any_matrix(n, 3)];
        specs.extend((1..=n).filter(|rows| n % rows == 0).map(|rows| format!("emd:ground=grid,rows={rows}")));
        specs.push("emd:ground=grid,rows=1,metric=cityblock,gamma=0.5".into());
        for spec in &specs {
            agrees_by_number(&emd(spec), &rows(&bases, n), &rows(&samples, n), |sample, basis| {
                by_definition(spec, &row(&bases, basis), &row(&samples, sample))
            });
        }
    }
}

/// The least mean distance of k units, each of which goes to one place: all orders tried (Birkhoff's theorem).
fn by_orders(from: &[usize], to: &mut Vec<usize>, distance: &dyn Fn(usize, usize) -> f64) -> f64 {
    let Some((&first, rest)) = from.split_first() else { return 0.0 };
    (0..to.len()).fold(f64::INFINITY, |least, at| {
        let chosen = to.swap_remove(at);
        let found = distance(first, chosen) + by_orders(rest, to, distance);
        to.push(chosen);
        let last = to.len() - 1;
        to.swap(at, last);
        found.min(least)
    })
}

#[test]
fn units_take_the_best_of_all_orders() {
    const UNITS: usize = 6;
    for seed in 0..60 {
        let n = 2 + seed % 9;
        let places = |salt: usize| noise(UNITS, 1 << 20, 99 * seed + salt).iter().map(|x| *x as usize % n).collect();
        let (from, mut to): (Vec<usize>, Vec<usize>) = (places(1), places(2));
        let counted = |places: &[usize]| -> Vec<f32> {
            (0..n).map(|bin| places.iter().filter(|at| **at == bin).count() as f32).collect()
        };
        let (x, y) = (counted(&from), counted(&to));
        for spec in [any_matrix(n, seed), "emd:ground=circle".into()] {
            let found = pairwise(&emd(&spec), &rows(&x, n), &rows(&y, n)).unwrap()[0];
            let ends = |bin: usize, other: usize| {
                let ends = |at| (0..n).map(|bin| f32::from(u8::from(bin == at))).collect::<Vec<f32>>();
                -by_definition(&spec, &ends(bin), &ends(other))
            };
            let right = by_orders(&from, &mut to, &ends) / UNITS as f64;
            assert!((f64::from(found) + right).abs() <= 1e-6 * right.max(1.0), "{spec}: {found}, not −{right}");
        }
    }
}

#[test]
fn a_line_is_its_matrix_and_a_circle_is_its_own() {
    let (n, n_rows) = (24, 12);
    let all = rows(&noise(n * n_rows, 50, 5), n);
    for (spec, matrix) in [
        ("emd", of_distances(n, |a, b| a.abs_diff(b) as f32)),
        ("emd:ground=circle", of_distances(n, |a, b| a.abs_diff(b).min(n - a.abs_diff(b)) as f32)),
        ("emd:ground=grid,rows=1", of_distances(n, |a, b| a.abs_diff(b) as f32)),
        (
            "emd:ground=grid,rows=4,metric=cityblock",
            of_distances(n, |a, b| ((a / 6).abs_diff(b / 6) + (a % 6).abs_diff(b % 6)) as f32),
        ),
    ] {
        let (found, right) = (pairwise(&emd(spec), &all, &all).unwrap(), pairwise(&emd(&matrix), &all, &all).unwrap());
        for (found, right) in found.iter().zip(right) {
            assert!((found - right).abs() <= 2e-6 * right.abs().max(1.0), "{spec}: {found}, not {right}");
        }
    }
}

#[test]
fn many_bins_are_solved_to_the_optimum() {
    // Nothing is left to gain: with prices p − q no dearer than any distance, Σ p x − Σ q y is a lower bound.
    let n = 256;
    let values = noise(2 * n, 1000, 17);
    for spec in ["emd:ground=grid,rows=16".to_owned(), any_matrix(n, 8)] {
        let found = pairwise(&emd(&spec), &rows(&values[..n], n), &rows(&values[n..], n)).unwrap()[0];
        let shares = |values: &[f32]| {
            let sum: f64 = values.iter().map(|&x| f64::from(x)).sum();
            values.iter().map(|&x| f64::from(x) / sum).collect::<Vec<f64>>()
        };
        let costs = emd(&spec).ground.costs(n).unwrap().unwrap().into_owned();
        let distance = |a: usize, b: usize| costs.costs[a * n + b] * costs.unit;
        let right = by_shortest_paths(&shares(&values[..n]), &shares(&values[n..]), &distance);
        assert!((f64::from(found) + right).abs() <= 1e-6 * right, "{found}, not −{right}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn is_a_metric_of_shares(
        n_rows in 1usize..4,
        n_cols in 1usize..5,
        values in proptest::collection::vec(0u8..6, 48),
        ground in 0usize..5,
    ) {
        let n = n_rows * n_cols;
        let spec = match ground {
            0 => "emd:ground=circle".to_owned(),
            1 => format!("emd:ground=grid,rows={n_rows}"),
            2 => format!("emd:ground=grid,rows={n_rows},metric=cityblock"),
            3 => of_distances(n, |a, b| if a == b { 0.0 } else { 1.0 + (a * b % 4) as f32 / 3.0 }),
            _ => any_matrix(n, usize::from(values[0])),
        };
        let values: Vec<f32> = values.into_iter().map(f32::from).collect();
        let values = &values[..3 * n];
        let s = emd(&spec);
        let all = rows(values, n);
        let d = pairwise(&s, &all, &all).unwrap();
        let scaled: Vec<f32> = values.chunks(n).zip([3.0, 0.7, 1e-3]).flat_map(|(x, by)| x.iter().map(move |x| x * by)).collect();
        let of_scaled = pairwise(&s, &rows(&scaled, n), &all).unwrap();
        for (a, b) in (0..3).flat_map(|a| (0..3).map(move |b| (a, b))) {
            let here = -d[a * 3 + b];
            prop_assert_eq!(here.to_bits(), (-d[b * 3 + a]).to_bits(), "{}", spec);
            let right = -by_definition(&spec, &values[b * n..][..n], &values[a * n..][..n]);
            prop_assert!((f64::from(here) - right).abs() <= 1e-6 * right.max(1.0), "{}: {}, not {}", spec, here, right);
            prop_assert!((here + of_scaled[a * 3 + b]).abs() <= 1e-6 * here.max(1.0));
            if ground < 4 {
                for c in 0..3 {
                    prop_assert!(here <= -d[a * 3 + c] - d[c * 3 + b] + 1e-6, "{}: {:?}", spec, d);
                }
            }
        }
        for a in 0..3 {
            prop_assert_eq!(d[a * 3 + a], 0.0);
        }
    }
}

#[test]
fn comparison_says_what_moves_where() {
    let all = rows(&[2.0, 1.0, 0.0, 1.0, 0.0, 2.0, 0.0, 1.0, 0.0, 0.0, 0.0, 3.0], 6);
    let of_pair = |spec: &str, x, y| emd(spec).comparison(0, (&all, x), (&all, y)).unwrap().unwrap();
    // What both have stays.
    let told = of_pair("emd:ground=grid,rows=2", 0, 1);
    let cell = |basis, sample, share| CellMatch { basis, sample: Some(sample), share };
    let Pieces::Cells { grid, mut cells } = told.pieces.clone() else { panic!("{told:?}") };
    cells.sort_by_key(|cell| cell.basis);
    assert_eq!(grid, [2, 3]);
    assert_eq!(cells.iter().map(|cell| cell.share).sum::<f64>(), told.total);
    assert_eq!(of_pair("emd:ground=grid,rows=2", 1, 0).total, told.total);
    let turned = of_pair("emd:ground=grid,rows=2", 1, 0).pieces;
    let Pieces::Cells { cells: turned, .. } = turned else { panic!("{turned:?}") };
    for moved in &cells {
        assert!(turned.contains(&cell(moved.sample.unwrap(), moved.basis, moved.share)), "{turned:?}");
    }
    let ends = rows(&[4.0, 0.0, 0.0, 0.0, 1.0, 3.0], 3);
    let told = emd("emd:distances=0;2;4;2;0;2;4;2;0").comparison(0, (&ends, 0), (&ends, 1)).unwrap().unwrap();
    let Pieces::Cells { grid, mut cells } = told.pieces else { panic!("{told:?}") };
    cells.sort_by_key(|cell| cell.sample);
    assert_eq!((grid, told.total), ([1, 3], 3.5));
    assert_eq!(cells, [cell([0, 0], [0, 1], 0.5), cell([0, 0], [0, 2], 3.0)]);
    // Over the border between the last bin and the first.
    let told = emd("emd:ground=circle").comparison(0, (&ends, 0), (&ends, 1)).unwrap().unwrap();
    let Pieces::Columns { columns, shares } = told.pieces else { panic!("{told:?}") };
    assert_eq!((columns, shares, told.total), (vec![0, 2], vec![0.25, 0.75], 1.0));
}

#[test]
fn rejects_what_is_no_histogram() {
    for spec in ["emd", "emd:ground=circle", "emd:ground=grid,rows=1", "emd:distances=0;1;1;0"] {
        for wrong in [-1.0, f32::NAN, f32::INFINITY] {
            let told = pairwise(&emd(spec), &rows(&[1.0, 2.0], 2), &rows(&[1.0, 1.0, 3.0, wrong], 2)).unwrap_err();
            let (told, wrong) = (told.to_string(), format!("{wrong}: histograms"));
            assert!(told.contains("sample 1") && told.contains(&wrong), "{told}");
        }
        assert!(pairwise(&emd(spec), &rows(&[1.0, 2.0], 2), &rows(&[1.0, 2.0, 3.0], 3)).is_err());
    }
    let long = emd(&any_matrix(9, 1));
    let told = pairwise(&long, &rows(&[1.0; 9], 9), &rows(&[-1.0; 9], 9)).unwrap_err().to_string();
    assert!(told.contains("'emd:distances=…'"), "{told}");
}

#[test]
fn rejects_bins_that_do_not_fit() {
    for (spec, n, words) in [
        ("emd:ground=grid,rows=5".to_owned(), 12, "12 bins, expected a multiple of 5"),
        ("emd:ground=grid,rows=1".to_owned(), 257, "257 bins, expected at most 256"),
        (any_matrix(4, 0), 12, "12 bins, expected 4, for which there are 4 × 4 distances"),
    ] {
        let all = rows(&vec![1.0; 2 * n], n);
        let told = pairwise(&emd(&spec), &all, &all).unwrap_err().to_string();
        assert!(told.contains(words), "{told}");
    }
}

#[test]
fn rejects_wrong_ground_distances() {
    for (spec, words) in [
        ("emd:ground=grid", "rows = nothing is not allowed"),
        ("emd:ground=circle,rows=4", "it is only known of ground=grid"),
        ("emd:metric=cityblock", "it is only known of ground=grid"),
        ("emd:ground=circle,distances=0", "it is only known of bins without distances"),
        ("emd:distances=0;1;0", "distances = 3 numbers is not allowed: a square matrix"),
        ("emd:distances=0;1;2;0", "1 from bin 0 to bin 1 and 2 back is not allowed: a symmetric matrix"),
        ("emd:distances=0;1;1;2", "2 from bin 1 to itself is not allowed: 0 on the diagonal"),
        ("emd:distances=0;-1;-1;0", "each at least 0"),
        ("emd:distances=0;nan;nan;0", "each at least 0"),
        ("emd:ground=grid,rows=257", "from 1 to 256"),
        ("emd:ground=square", "one of line, circle, grid"),
    ] {
        let step = spec.parse::<crate::spec::Spec>().unwrap().steps.remove(0);
        let told = EarthMover::from_step(&step).unwrap_err().to_string();
        assert!(told.contains(words), "{spec}: {told}");
    }
}

#[test]
fn is_conditionally_definite_in_a_line_alone() {
    for (spec, right) in [
        ("emd", Definite::Conditional),
        ("emd:gamma=2,ground=line,weight=2", Definite::Conditional),
        ("emd:ground=circle", Definite::No),
        ("emd:distances=0", Definite::No),
    ] {
        let step = spec.parse::<crate::spec::Spec>().unwrap().steps.remove(0);
        assert_eq!(EMD.definite_of(&step), right, "{spec}");
    }
    // All of it in one of four bins on a circle, or halves in two: with weights that add up to 0, Σ w_a w_b (−d_ab) is below 0.
    let pairs: Vec<(usize, usize)> = (0..4).flat_map(|a| (a..4).map(move |b| (a, b))).collect();
    let in_bin = |(a, b): (usize, usize), bin: usize| f32::from(u8::from(a == bin)) + f32::from(u8::from(b == bin));
    let values: Vec<f32> = pairs.iter().flat_map(|&pair| (0..4).map(move |bin| in_bin(pair, bin))).collect();
    let weights: Vec<f32> = pairs.iter().map(|(a, b)| [1.0, -4.0, 6.0, -4.0][b - a]).collect();
    let s = pairwise(&emd("emd:ground=circle"), &rows(&values, 4), &rows(&values, 4)).unwrap();
    let sum = |row: &[f32]| row.iter().zip(&weights).map(|(s, w)| s * w).sum::<f32>();
    let form: f32 = s.chunks(10).zip(&weights).map(|(row, weight)| weight * sum(row)).sum();
    assert!(weights.iter().sum::<f32>() == 0.0 && form < -1.0, "{form}");
}

#[test]
fn sparse_rows_lack_zeros() {
    let matrix = CsrMatrix { indptr: vec![0, 1, 3], indices: vec![1, 0, 2], values: vec![2.0, 1.0, 3.0], n_cols: 3 };
    let dense = rows(&[0.0, 2.0, 0.0, 1.0, 0.0, 3.0], 3);
    for spec in ["emd:ground=circle", "emd:ground=grid,rows=3", "emd:distances=0;1;4;1;0;2;4;2;0"] {
        let s = emd(spec);
        let sparse = Vectors::Sparse(matrix.clone());
        assert_eq!(pairwise(&s, &sparse, &sparse).unwrap(), pairwise(&s, &dense, &dense).unwrap());
    }
}
