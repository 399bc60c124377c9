use proptest::prelude::*;

use super::*;
use crate::data::Samples;
use crate::similarity::definitions::{self, Definition};
use crate::similarity::pairwise;
use crate::similarity::sequence_tests::{agrees_by_number, of};

fn rows(values: &[f32], n_cols: usize) -> Vectors {
    Vectors::Dense(DenseMatrix { values: values.to_vec(), n_rows: values.len() / n_cols, n_cols })
}

fn emd(spec: &str) -> EarthMover {
    of(spec, EarthMover::from_step)
}

/// Numbers below `below`, many of them 0.
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
    let Some(Definition::Vectors(s)) = definitions::of("emd") else { panic!() };
    s(&EMD.arguments(&step).unwrap(), &wide(x), &wide(y)).unwrap()
}

#[test]
fn earth_is_moved_by_bins() {
    let all = rows(&[1.0, 0.0, 0.0, 0.0, 0.0, 5.0, 1.0, 1.0, 2.0, 0.0, 0.0, 0.0], 3);
    let d = pairwise(&emd("emd"), &all, &all).unwrap();
    // All of it by two bins; a half by two and a quarter by one; and past the last bin.
    assert_eq!(d[..4], [-0.0, -2.0, -1.25, -3.0]);
    assert_eq!(d[4..8], [-2.0, -0.0, -0.75, -1.0]);
    // The first and the last of three bins are neighbors on a circle; the largest distance is one bin.
    let d = pairwise(&emd("emd:ground=circle"), &all, &all).unwrap();
    assert_eq!(d[..4], [-0.0, -1.0, -0.75, -1.0]);
    assert_eq!(d[12..], [-1.0, -1.0, -1.0, -0.0]);
}

#[test]
fn agrees_with_shortest_paths() {
    for n in [1, 2, 5, 12, 25] {
        let (bases, samples) = (noise(7 * n, 9, n), noise(6 * n, 9, 31 + n));
        let row = |values: &[f32], at: usize| values[at * n..(at + 1) * n].to_vec();
        for spec in ["emd", "emd:ground=circle", "emd:ground=circle,gamma=0.5"] {
            agrees_by_number(&emd(spec), &rows(&bases, n), &rows(&samples, n), |sample, basis| {
                by_definition(spec, &row(&bases, basis), &row(&samples, sample))
            });
        }
    }
}

/// The least mean distance of k units that each go to one place: all orders tried (Birkhoff's theorem).
fn by_orders(from: &[usize], to: &mut Vec<usize>, distance: &dyn Fn(usize, usize) -> f64) -> f64 {
    let Some((&first, rest)) = from.split_first() else { return 0.0 };
    (0..to.len()).fold(f64::INFINITY, |least, at| {
        let partner = to.swap_remove(at);
        let found = distance(first, partner) + by_orders(rest, to, distance);
        to.push(partner);
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
        let found = pairwise(&emd("emd:ground=circle"), &rows(&x, n), &rows(&y, n)).unwrap()[0];
        let around = |a: usize, b: usize| a.abs_diff(b).min(n - a.abs_diff(b)) as f64;
        let right = by_orders(&from, &mut to, &around) / UNITS as f64;
        assert!((f64::from(found) + right).abs() <= 1e-6 * right.max(1.0), "{found}, not −{right}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn is_a_metric_of_shares(
        n in 1usize..13,
        values in proptest::collection::vec(0u8..6, 48),
    ) {
        let spec = "emd:ground=circle";
        let values: Vec<f32> = values.into_iter().map(f32::from).collect();
        let values = &values[..3 * n];
        let s = emd(spec);
        let all = rows(values, n);
        let d = pairwise(&s, &all, &all).unwrap();
        let scaled: Vec<f32> = values.chunks(n).zip([3.0, 0.7, 1e-3]).flat_map(|(x, by)| x.iter().map(move |x| x * by)).collect();
        let of_scaled = pairwise(&s, &rows(&scaled, n), &all).unwrap();
        for (a, b) in (0..3).flat_map(|a| (0..3).map(move |b| (a, b))) {
            let here = -d[a * 3 + b];
            prop_assert_eq!(here.to_bits(), (-d[b * 3 + a]).to_bits(), "{}", spec);
            let right = -by_definition(spec, &values[b * n..][..n], &values[a * n..][..n]);
            prop_assert!((f64::from(here) - right).abs() <= 1e-6 * right.max(1.0), "{}: {}, not {}", spec, here, right);
            prop_assert!((here + of_scaled[a * 3 + b]).abs() <= 1e-6 * here.max(1.0));
            for c in 0..3 {
                prop_assert!(here <= -d[a * 3 + c] - d[c * 3 + b] + 1e-6, "{:?}", d);
            }
        }
        for a in 0..3 {
            prop_assert_eq!(d[a * 3 + a], 0.0);
        }
    }
}

#[test]
fn comparison_has_the_flow_between_bins() {
    let ends = rows(&[4.0, 0.0, 0.0, 0.0, 1.0, 3.0], 3);
    // Over the border between the last bin and the first.
    let comparison = emd("emd:ground=circle")
        .comparison(0, &Samples::select(&ends, &[0]), &Samples::select(&ends, &[1]))
        .unwrap()
        .unwrap();
    let Pieces::Columns { columns, shares } = comparison.pieces else { panic!("{comparison:?}") };
    assert_eq!((columns, shares, comparison.total), (vec![0, 2], vec![0.25, 0.75], 1.0));
}

#[test]
fn rejects_vectors_that_are_not_histograms() {
    for spec in ["emd", "emd:ground=circle"] {
        for wrong in [-1.0, f32::NAN, f32::INFINITY] {
            let error = pairwise(&emd(spec), &rows(&[1.0, 2.0], 2), &rows(&[1.0, 1.0, 3.0, wrong], 2)).unwrap_err();
            let (message, wrong) = (error.to_string(), format!("{wrong}: histograms"));
            assert!(message.contains("sample 1") && message.contains(&wrong), "{message}");
        }
        assert!(pairwise(&emd(spec), &rows(&[1.0, 2.0], 2), &rows(&[1.0, 2.0, 3.0], 3)).is_err());
    }
}

#[test]
fn is_conditionally_definite_on_a_line_alone() {
    for (spec, right) in [
        ("emd", Definite::Conditional),
        ("emd:gamma=2,ground=line,weight=2", Definite::Conditional),
        ("emd:ground=circle", Definite::No),
    ] {
        let step = spec.parse::<crate::spec::Spec>().unwrap().steps.remove(0);
        assert_eq!(EMD.definite_of(&step), right, "{spec}");
    }
    // All of it in one of four bins on a circle, or halves in two: with weights that add up to 0, Σ w_a w_b (−d_ab) is
    // below 0.
    let pairs: Vec<(usize, usize)> = (0..4).flat_map(|a| (a..4).map(move |b| (a, b))).collect();
    let in_bin = |(a, b): (usize, usize), bin: usize| f32::from(u8::from(a == bin)) + f32::from(u8::from(b == bin));
    let values: Vec<f32> = pairs.iter().flat_map(|&pair| (0..4).map(move |bin| in_bin(pair, bin))).collect();
    let weights: Vec<f32> = pairs.iter().map(|(a, b)| [1.0, -4.0, 6.0, -4.0][b - a]).collect();
    let s = pairwise(&emd("emd:ground=circle"), &rows(&values, 4), &rows(&values, 4)).unwrap();
    let sum = |row: &[f32]| row.iter().zip(&weights).map(|(s, w)| s * w).sum::<f32>();
    let form: f32 = s.chunks(10).zip(&weights).map(|(row, weight)| weight * sum(row)).sum();
    assert!(weights.iter().sum::<f32>() == 0.0 && form < -1.0, "{form}");
}
