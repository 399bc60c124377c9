//! Tests of all elastic distances against their definitions, and of each against published values.

use super::dtw::{Dtw, Warping, Weighted};
use super::edits::{CommonSubsequence, MoveSplitMerge, RealPenalty, TimeWarpEdit};
use super::elastic::Elastic;
use super::lanes::{Group, Work};
use super::rule::Rule;
use super::soft_dtw::SoftWarping;
use crate::data::{Samples, Series, Training};
use crate::descriptor::Derivative;
use crate::isa::Isa;
use crate::monitor::Monitor;
use crate::similarity::definitions::{self, Definition};
use crate::similarity::sequence_tests::{agrees_by_number, chunks_change_nothing, of};
use crate::similarity::{Similarity, Spec, pairwise};
use proptest::prelude::*;

fn elastic<F: Rule>(spec: &str) -> Elastic<F> {
    of(spec, Elastic::<F>::from_step)
}

fn dtw(spec: &str) -> Dtw {
    elastic(spec)
}

/// s of a pair by its definition.
fn defined<F: Rule>(spec: &str, x: &[f32], y: &[f32], channels: usize) -> f64 {
    let spec: Spec = spec.parse().unwrap();
    match definitions::of(F::ROW.name) {
        Some(Definition::Series(s)) => s(&F::ROW.arguments(&spec.steps[0]).unwrap(), x, y, channels).unwrap(),
        other => panic!("{other:?}"),
    }
}

/// Calls a test with each rule, and parameters for it.
macro_rules! for_each_rule {
    ($test:ident) => {
        $test::<Warping>(&["dtw:", "dtw:root=true,", "dtw:normalize=true,root=true,"]);
        $test::<Weighted>(&["wdtw:g=0,", "wdtw:", "wdtw:g=2,"]);
        $test::<MoveSplitMerge>(&["msm:", "msm:c=0.1,"]);
        $test::<TimeWarpEdit>(&["twe:", "twe:nu=0.1,penalty=0.2,"]);
        $test::<RealPenalty>(&["erp:", "erp:g=0.7,"]);
        $test::<CommonSubsequence>(&["lcss:", "lcss:epsilon=0.4,"]);
        $test::<SoftWarping>(&["soft-dtw:", "soft-dtw:smoothing=0.01,", "soft-dtw:divergence=true,"]);
    };
}

fn series(lengths: &[usize], channels: usize, seed: u32) -> Series {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 22) as f32 - 2.0
    };
    let n = lengths.iter().sum::<usize>() * channels;
    Series::new((0..n).map(|_| next()).collect(), lengths, channels).unwrap()
}

#[test]
fn agrees_with_the_definition() {
    fn check<F: Rule>(specs: &[&str]) {
        for (spec, channels) in specs.iter().flat_map(|spec| [(spec, 1), (spec, 3)]) {
            let lengths: Vec<usize> = (0..40).map(|i| if i < 20 { 30 } else { 1 + i * 7 % 41 }).collect();
            let (bases, samples) = (series(&lengths, channels, 1), series(&lengths[15..25], channels, 2));
            for rest in ["window=0", "window=0.05", "window=0.29", "window=1,gamma=0.01"] {
                let spec = format!("{spec}{rest}");
                let right = |i: usize, j: usize| defined::<F>(&spec, samples.series(i), bases.series(j), channels);
                agrees_by_number(&elastic::<F>(&spec), &bases, &samples, right);
                chunks_change_nothing(&elastic::<F>(&spec), &bases, &samples);
            }
        }
    }
    for_each_rule!(check);
}

#[test]
fn every_instruction_set_and_every_lane_agree() {
    fn check<F: Rule>(specs: &[&str]) {
        // The subtracted terms of a divergence are not part of a group.
        let specs = specs.iter().filter(|spec| !spec.contains("divergence"));
        for (spec, channels) in specs.flat_map(|spec| [(spec, 1), (spec, 2)]) {
            let lengths: Vec<usize> = (0..16).map(|i| if i < 8 { 23 } else { 9 + i }).collect();
            let (bases, samples) = (series(&lengths, channels, 3), series(&[23, 1, 40], channels, 4));
            for (isa, share) in Isa::available().into_iter().flat_map(|isa| [0.0, 0.1, 0.2, 1.0].map(|w| (isa, w))) {
                let spec = format!("{spec}window={share}");
                let s = elastic::<F>(&spec);
                for members in [0..8, 8..16, 3..4, 0..isa.lanes()] {
                    let members: Vec<usize> = members.collect();
                    for (sample, basis, found, alone) in in_groups(&s, isa, &bases, &samples, &members) {
                        let right = -defined::<F>(&spec, samples.series(sample), bases.series(basis), channels);
                        let close = (f64::from(found) - right).abs() <= 2e-5 * right.abs();
                        assert!(close, "{spec} {isa:?} {basis}: {found} {right}");
                        assert_eq!(found.to_bits(), alone.to_bits(), "{spec} {isa:?} {basis}");
                    }
                }
            }
        }
    }
    for_each_rule!(check);
}

/// d of each sample and each of the members: in their group, and alone.
fn in_groups<F: Rule>(
    s: &Elastic<F>,
    isa: Isa,
    bases: &Series,
    samples: &Series,
    members: &[usize],
) -> Vec<(usize, usize, f32, f32)> {
    let (of_bases, of_samples) = (s.extras(bases), s.extras(samples));
    let (offsets, mut work, mut all) = (s.rule.offsets(40), Work::default(), Vec::new());
    for (sample, extra) in of_samples.iter().enumerate() {
        let mut distances = |members: &[usize]| {
            let bands = members.iter().map(|&basis| s.band(samples.length(sample), bases.length(basis)));
            let x = (samples.series(sample), extra);
            let group = Group::new(isa, bases, &of_bases, members);
            group.distances(isa, s.rule, x, bands, &offsets, &mut work).to_vec()
        };
        for (&basis, found) in members.iter().zip(distances(members)) {
            all.push((sample, basis, found, distances(&[basis])[0]));
        }
    }
    all
}

const X: [f32; 12] = [-0.25, 1.25, 1.75, 1.0, -0.5, -2.0, -1.75, -0.25, 1.75, 2.5, 1.0, -1.25];
const Y: [f32; 12] = [1.75, 0.5, -0.5, -2.25, -2.0, -0.5, 1.5, 2.75, 1.0, -1.5, -2.25, -0.75];
const Z: [f32; 7] = [0.0, 2.0, 1.0, -1.5, -1.75, 0.5, 2.0];

/// Values of aeon 1.6.0, `aeon.distances.*_distance`: of X and Y, of X and Y with `window=0.1`, of X and Z.
///
/// Of erp aeon's are the last. Where a path begins with steps without partners, aeon charges it for all steps of the
/// series (10 and 17.5 for X and Y); Chen and Ng's recursion, written in a few lines of NumPy, gives the others. The
/// divergence is of such lines too.
#[test]
fn agrees_with_aeon() {
    fn check<F: Rule>(spec: &str, right: [f64; 3]) {
        let one = |series: &[f32]| Series::new(series.to_vec(), &[series.len()], 1).unwrap();
        let d = |spec: &str, y: &[f32]| -pairwise(&elastic::<F>(spec), &one(y), &one(&X)).unwrap()[0];
        let found = [d(spec, &Y), d(&format!("{spec},window=0.1"), &Y), d(spec, &Z)];
        for (found, right) in found.into_iter().zip(right) {
            assert!((f64::from(found) - right).abs() <= 1e-6 * right.max(0.1), "{spec}: {found}, not {right}");
        }
    }
    check::<Warping>("dtw:root=false", [6.125, 26.5, 14.1875]);
    check::<Weighted>("wdtw:g=0.05", [2.637252429, 11.550192159, 6.779788216]);
    check::<Weighted>("wdtw:g=0.5", [0.370884512, 1.889404466, 4.491804566]);
    check::<MoveSplitMerge>("msm:c=1", [9.25, 17.75, 12.0]);
    check::<MoveSplitMerge>("msm:c=0.1", [5.65, 15.65, 7.5]);
    check::<TimeWarpEdit>("twe:nu=0.001,penalty=1", [14.04, 33.018, 15.769]);
    check::<TimeWarpEdit>("twe:nu=0.1,penalty=0.2", [14.8, 32.6, 13.65]);
    check::<RealPenalty>("erp:g=0", [6.5, 15.0, 7.0]);
    check::<RealPenalty>("erp:g=0.5", [7.5, 16.0, 7.5]);
    check::<CommonSubsequence>("lcss:epsilon=1", [1.0 / 6.0, 2.0 / 3.0, 0.0]);
    check::<CommonSubsequence>("lcss:epsilon=0.3", [0.25, 11.0 / 12.0, 2.0 / 7.0]);
    check::<SoftWarping>("soft-dtw:smoothing=1", [2.391352621, 24.803777166, 10.522090583]);
    check::<SoftWarping>("soft-dtw:smoothing=0.1", [6.05128913, 26.494980077, 14.158529903]);
}

#[test]
fn the_band_is_counted_exactly() {
    let s = dtw("dtw:window=0.29");
    assert_eq!([s.band(100, 100), s.band(99, 100), s.band(100, 40), s.band(3, 3)], [29, 29, 60, 0]);
    assert_eq!(dtw("dtw").band(7, 5), 7);
}

#[test]
fn rejects_incomparable_series_with_their_place() {
    let mut broken = series(&[3, 4], 2, 1);
    broken.values_mut()[6 + 5] = f32::NAN;
    let whole = series(&[3], 2, 1);
    let message = pairwise(&dtw("dtw:window=0.5"), &whole, &broken).unwrap_err().to_string();
    let expected = "similarity 'dtw:window=0.5': sample 1 (from 0) is NaN at time step 2, channel 1 (from 0): ";
    assert!(message.starts_with(expected), "{message}");
    let message = pairwise(&dtw("dtw"), &whole, &series(&[3], 1, 1)).unwrap_err().to_string();
    assert!(message.contains("1 channels, the bases 2"), "{message}");
    let mut large = series(&[3], 2, 1);
    large.values_mut()[0] = 1e30;
    let message = pairwise(&dtw("dtw"), &large, &whole).unwrap_err().to_string();
    assert!(message.contains("leave single precision"), "{message}");
    for (wrong, word) in [("dtw:window=2", "from 0 to 1"), ("dtw:gamma=-1", "above 0"), ("dtw:band=1", "'band'")] {
        let spec: Spec = wrong.parse().unwrap();
        let message = Dtw::from_step(&spec.steps[0]).unwrap_err().to_string();
        assert!(message.contains(word), "{message}");
    }
}

#[test]
fn gamma_is_learned_and_written_and_copies_are_weights() {
    let copies = [0, 0, 2, 3, 3, 3, 4];
    let all = series(&[9, 8, 12, 7, 10], 1, 5);
    let fit = |samples: &Series, weights: &[f64]| {
        let mut s = dtw("dtw:gamma=auto,window=0.5");
        assert!(s.block(samples, samples, &mut vec![0.0; samples.len().pow(2)]).is_err());
        s.fit(&Training { samples, weights, threads: 1, monitor: &Monitor::none() }).unwrap();
        s.spec()
    };
    let spec = fit(&all.clone(), &[2.0, 0.0, 1.0, 3.0, 1.0]);
    let learned: f64 = spec.strip_prefix("dtw:gamma=").unwrap().strip_suffix(",window=0.5").unwrap().parse().unwrap();
    assert!(learned > 0.001 && learned < 1.0, "{spec}");
    assert_eq!(fit(&all.select(&copies), &[1.0; 7]), spec);
    assert_eq!(fit(&all.select(&[0]), &[1.0]), "dtw:gamma=1,window=0.5");
}

#[test]
fn is_symmetric_and_metrics_are_0_of_a_series_and_itself() {
    fn check<F: Rule>(specs: &[&str]) {
        for (spec, channels) in specs.iter().flat_map(|spec| [(spec, 1), (spec, 2)]) {
            let all = series(&[5, 9, 9, 17, 1, 12, 9], channels, 6);
            for window in [0.0, 0.2, 1.0] {
                let block = pairwise(&elastic::<F>(&format!("{spec}window={window}")), &all, &all).unwrap();
                for (i, j) in (0..7).flat_map(|i| (0..7).map(move |j| (i, j))) {
                    assert_eq!(block[7 * i + j].to_bits(), block[7 * j + i].to_bits(), "{spec} {window}");
                }
                let has_0 = !spec.starts_with("soft-dtw") || spec.contains("divergence");
                assert!(!has_0 || (0..7).all(|i| block[8 * i] == 0.0), "{spec} {window}");
            }
        }
    }
    for_each_rule!(check);
}

/// d(x, z) ≤ d(x, y) + d(y, z) of series of one channel without a band.
#[test]
fn metrics_satisfy_the_triangle_inequality() {
    fn check<F: Rule>(spec: &str) {
        let all = series(&[5, 9, 9, 17, 1, 12, 9, 3, 2, 2], 1, 7);
        let d = pairwise(&elastic::<F>(spec), &all, &all).unwrap();
        for (i, j, k) in (0..1000).map(|t| (t / 100, t / 10 % 10, t % 10)) {
            let [whole, first, second] = [-d[10 * i + k], -d[10 * i + j], -d[10 * j + k]];
            assert!(whole <= (first + second) * 1.000_01, "{spec}: {whole} {first} {second}");
        }
    }
    check::<MoveSplitMerge>("msm:c=0.3");
    check::<TimeWarpEdit>("twe:nu=0.1,penalty=0.2");
    check::<RealPenalty>("erp:g=0.3");
}

/// `aeon.distances.ddtw_distance` of aeon 1.6.0, of X and Y without a window and with `window=0.1`, and of X and Z.
#[test]
fn warping_of_derivatives_is_that_of_aeon() {
    let slope = of("derivative", Derivative::from_step);
    let d = |spec: &str, y: &[f32]| {
        let one = |series: &[f32]| Series::new(series.to_vec(), &[series.len()], 1).unwrap();
        let [x, y] = [&X, y].map(|series| slope.derivatives(&one(series)).unwrap());
        -pairwise(&dtw(spec), &y, &x).unwrap()[0]
    };
    assert_eq!([d("dtw", &Y), d("dtw:window=0.1", &Y), d("dtw", &Z)], [10.558_594, 20.078_125, 19.519_531]);
}

proptest! {
    #[test]
    fn invariants(
        lengths in prop::collection::vec(1usize..12, 2..9), channels in 1usize..3, seed in any::<u32>(),
    ) {
        let all = series(&lengths, channels, seed);
        let n = lengths.len();
        let mut wider = vec![f32::INFINITY; n * n];
        for window in [0.0, 0.2, 0.6, 1.0] {
            let block = chunks_change_nothing(&dtw(&format!("dtw:window={window}")), &all, &all);
            for i in 0..n {
                prop_assert_eq!(block[i * n + i], 0.0);
                for j in 0..n {
                    let d = -block[i * n + j];
                    prop_assert_eq!(block[i * n + j], block[j * n + i]);
                    prop_assert!(d <= wider[i * n + j] * (1.0 + 1e-5));
                    wider[i * n + j] = d;
                }
            }
        }
    }
}
