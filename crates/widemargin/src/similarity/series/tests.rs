use super::*;
use crate::monitor::Monitor;
use crate::similarity::sequence_tests::{agrees_by_number, chunks_change_nothing, of};
use crate::similarity::{Spec, pairwise};
use proptest::prelude::*;

fn dtw(spec: &str) -> Dtw {
    of(spec, Dtw::from_step)
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
    for channels in [1, 3] {
        let lengths: Vec<usize> = (0..40).map(|i| if i < 20 { 30 } else { 1 + i * 7 % 41 }).collect();
        let (bases, samples) = (series(&lengths, channels, 1), series(&lengths[15..25], channels, 2));
        for window in [0.0, 0.05, 0.29, 0.5, 1.0] {
            let right = |sample: usize, basis: usize| {
                let (x, y) = (samples.series(sample), bases.series(basis));
                let (m, n) = (samples.length(sample), bases.length(basis));
                let band = ((window * m.max(n) as f64 + 1e-9) as usize).max(m.abs_diff(n));
                warped(x, y, channels, band)
            };
            let spec = format!("dtw:window={window}");
            agrees_by_number(&dtw(&spec), &bases, &samples, |i, j| -right(i, j));
            let spec = format!("dtw:gamma=0.01,window={window}");
            agrees_by_number(&dtw(&spec), &bases, &samples, |i, j| (-0.01 * right(i, j)).exp());
            let spec = format!("dtw:root=true,window={window}");
            agrees_by_number(&dtw(&spec), &bases, &samples, |i, j| -right(i, j).sqrt());
            chunks_change_nothing(&dtw(&spec), &bases, &samples);
        }
    }
}

#[test]
fn every_instruction_set_agrees_and_tells_no_lane_from_another() {
    for channels in [1, 2] {
        let lengths: Vec<usize> = (0..16).map(|i| if i < 8 { 23 } else { 9 + i }).collect();
        let (bases, samples) = (series(&lengths, channels, 3), series(&[23, 1, 40], channels, 4));
        for isa in Isa::available() {
            let width = isa.lanes();
            for (members, share) in [(0..8, 1.0), (0..8, 0.2), (8..16, 0.1), (8..16, 1.0), (3..4, 0.0), (0..width, 0.3)]
            {
                let members: Vec<usize> = members.collect();
                let group = Group::new(isa, &bases, &members);
                for sample in 0..samples.len() {
                    let (m, x) = (samples.length(sample), samples.series(sample));
                    let s = dtw(&format!("dtw:window={share}"));
                    let band = |basis: &usize| s.band(m, bases.length(*basis));
                    let mut work = Work::default();
                    let found = group.distances(isa, x, members.iter().map(band), &mut work).to_vec();
                    for (basis, found) in members.iter().zip(found) {
                        let right = warped(x, bases.series(*basis), channels, band(basis));
                        assert!((f64::from(found) - right).abs() <= 1e-5 * right, "{isa:?} {basis}: {found} {right}");
                        let alone = Group::new(isa, &bases, &[*basis]);
                        let alone = alone.distances(isa, x, [band(basis)].into_iter(), &mut work)[0];
                        assert_eq!(found.to_bits(), alone.to_bits(), "{isa:?} {basis}");
                    }
                }
            }
        }
    }
}

#[test]
fn the_band_is_counted_exactly() {
    let s = dtw("dtw:window=0.29");
    assert_eq!([s.band(100, 100), s.band(99, 100), s.band(100, 40), s.band(3, 3)], [29, 29, 60, 0]);
    assert_eq!(dtw("dtw").band(7, 5), 7);
}

#[test]
fn what_cannot_be_compared_is_told_with_its_place() {
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
