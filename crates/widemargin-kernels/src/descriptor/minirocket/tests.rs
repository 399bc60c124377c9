//! Against the definition in the paper, in double precision.

use super::layout::{KERNELS, quantile};
use super::*;
use crate::monitor::Monitor;

fn noise(n: usize, seed: u64) -> Vec<f32> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    // Multiples of 1/16: sums of nine are exact in single precision, so that nothing hangs on rounding.
    (0..n).map(|_| random.random_range(-64..64i32) as f32 / 16.0).collect()
}

fn unfitted(features: usize, seed: u64) -> Result<MiniRocket> {
    crate::descriptor::of(&format!("minirocket:features={features},seed={seed}"), MiniRocket::from_step)
}

fn fitted(series: &Series, features: usize, seed: u64) -> MiniRocket {
    let mut minirocket = unfitted(features, seed).unwrap();
    let weights = vec![1.0; series.len()];
    let training = Training { samples: series, weights: &weights, threads: 1, monitor: &Monitor::none() };
    minirocket.fit_series(&training).unwrap();
    minirocket
}

/// The convolution at time step t with nine weights at distances of `dilation`, zeros outside the series.
fn at(series: &[f32], channels: usize, channel: usize, (kernel, dilation): (usize, usize), t: usize) -> f64 {
    let length = (series.len() / channels) as isize;
    let weight = |p: usize| if KERNELS[kernel].contains(&p) { 2.0 } else { -1.0 };
    let value = |p: usize| {
        let time = t as isize + (p as isize - 4) * dilation as isize;
        let inside = (0..length).contains(&time);
        if inside { f64::from(series[time as usize * channels + channel]) } else { 0.0 }
    };
    (0..9).map(|p| weight(p) * value(p)).sum()
}

fn features_by_definition(minirocket: &MiniRocket, series: &[f32]) -> Vec<f64> {
    let Fitted { n_channels, layout, biases } = minirocket.fitted.as_ref().unwrap();
    let length = series.len() / n_channels;
    let mut features = Vec::new();
    for (number, (&dilation, &count)) in layout.dilations.iter().zip(&layout.counts).enumerate() {
        for kernel in 0..84 {
            let convolved = |t: usize| -> f64 {
                let channels = layout.channels_of(number, kernel);
                channels.iter().map(|&channel| at(series, *n_channels, channel, (kernel, dilation), t)).sum()
            };
            let within = 4 * dilation..length.saturating_sub(4 * dilation);
            let times = if (number + kernel) % 2 == 0 || within.is_empty() { 0..length } else { within };
            for _ in 0..count {
                let bias = f64::from(biases[features.len()]);
                let above = times.clone().filter(|&t| convolved(t) > bias).count();
                features.push(above as f64 / times.len() as f64);
            }
        }
    }
    features
}

#[test]
fn features_are_those_of_the_definition() {
    for (lengths, channels, features) in [
        (vec![120, 120, 120], 1, 9_996),
        (vec![9, 17, 33, 160, 5, 1], 1, 1000),
        (vec![40, 57, 3], 3, 500),
        (vec![64, 64], 12, 84),
        // More than a tile, and the steps within the series begin in the second one.
        (vec![700, 193, 1], 1, 1000),
        (vec![450], 2, 500),
    ] {
        let steps: usize = lengths.iter().sum();
        let series = Series::new(noise(steps * channels, 5), &lengths, channels).unwrap();
        let minirocket = fitted(&series, features, 3);
        let found = minirocket.features(&series).unwrap();
        assert_eq!(found.n_cols, features / 84 * 84);
        for (row, found) in found.values.chunks(found.n_cols).enumerate() {
            let right = features_by_definition(&minirocket, series.series(row));
            assert_eq!(found.len(), right.len());
            for (feature, (found, right)) in found.iter().zip(right).enumerate() {
                assert!((f64::from(*found) - right).abs() < 1e-6, "series {row}, feature {feature}: {found}, {right}");
            }
        }
    }
}

#[test]
fn biases_are_quantiles_of_convolutions() {
    let series = Series::new(noise(50, 1), &[50], 1).unwrap();
    let minirocket = fitted(&series, 840, 0);
    let Fitted { layout, biases, .. } = minirocket.fitted.as_ref().unwrap();
    let mut feature = 0;
    for (&dilation, &count) in layout.dilations.iter().zip(&layout.counts) {
        for kernel in 0..84 {
            let mut sorted: Vec<f64> = (0..50).map(|t| at(series.series(0), 1, 0, (kernel, dilation), t)).collect();
            sorted.sort_by(f64::total_cmp);
            for _ in 0..count {
                let place = quantile(feature) * 49.0;
                let (low, high) = (sorted[place as usize], sorted[(place as usize + 1).min(49)]);
                let right = low + (high - low) * place.fract();
                assert!((f64::from(biases[feature]) - right).abs() < 1e-4);
                feature += 1;
            }
        }
    }
    assert_eq!(feature, 840);
}

#[test]
fn dilations_span_the_series() {
    // Computed from the formula alone: ⌊2^(4.219 i / 31)⌋ for i from 0 to 31, and 119 / 32 biases for each i.
    let layout = Layout::new(10_000, 150, 1, 0);
    assert_eq!(layout.n_features(), 9_996);
    assert_eq!(layout.dilations, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 15, 16, 18]);
    assert_eq!(layout.counts, [30, 15, 12, 12, 4, 8, 8, 4, 4, 4, 3, 3, 3, 3, 3, 3]);
    assert_eq!(Layout::new(840, 150, 1, 0).dilations, [1, 2, 3, 5, 7, 9, 13, 18]);
    assert_eq!(Layout::new(84, 1, 1, 0).dilations, [1]);
    assert_eq!(Layout::new(84 * 32, 3, 1, 0).counts, [32]);
}

/// The biases and features of aeon 1.6, written by benchmarks/series/aeon_fixture.py.
#[test]
fn agrees_with_aeon() {
    let cases: serde_json::Value = serde_json::from_str(include_str!("aeon.json")).unwrap();
    for case in cases.as_array().unwrap() {
        let numbers = |name: &str| -> Vec<f32> { serde_json::from_value(case[name].clone()).unwrap() };
        let whole = |name: &str| -> Vec<usize> { serde_json::from_value(case[name].clone()).unwrap() };
        let n_channels = case["n_channels"].as_u64().unwrap() as usize;
        let (series, right) = (numbers("series"), numbers("features"));
        let channels: Vec<Vec<usize>> = serde_json::from_value(case["channels"].clone()).unwrap();
        let layout = Layout { dilations: whole("dilations"), counts: whole("counts"), channels };
        let length = series.len() / 3 / n_channels;
        let ours = Layout::new(layout.n_features(), length, n_channels, 0);
        assert_eq!((&ours.dilations, &ours.counts), (&layout.dilations, &layout.counts));
        let mut minirocket = unfitted(layout.n_features(), 0).unwrap();
        minirocket.set(Fitted { n_channels, layout, biases: numbers("biases") });
        let found = minirocket.features(&Series::new(series, &[length; 3], n_channels).unwrap()).unwrap().values;
        assert_eq!(found.len(), right.len());
        assert!(found.iter().zip(right).all(|(found, right)| (found - right).abs() < 1e-6));
    }
}

#[test]
fn constant_series_give_finite_features() {
    let series = Series::new([vec![3.0; 30], noise(30, 2), vec![0.0; 30]].concat(), &[30; 3], 1).unwrap();
    let features = fitted(&series, 2000, 0).features(&series).unwrap();
    assert!(features.values.iter().all(|share| (0.0..=1.0).contains(share)));
}

#[test]
fn the_state_is_all_that_was_learned() {
    for channels in [1, 4] {
        let series = Series::new(noise(40 * 5 * channels, 8), &[40; 5], channels).unwrap();
        let first = fitted(&series, 500, 7);
        convolved::check_state(&first, &mut unfitted(500, 7).unwrap());
        assert_ne!(first.state(), fitted(&series, 500, 8).state());
    }
}

#[test]
fn weights_are_copies() {
    let values = noise(30 * 4, 6);
    let (rows, copies) = (Series::new(values, &[30; 4], 1).unwrap(), [0, 1, 1, 3]);
    let weights = [1.0, 2.0, 0.0, 1.0];
    let mut weighted = unfitted(500, 1).unwrap();
    let monitor = Monitor::none();
    weighted.fit_series(&Training { samples: &rows, weights: &weights, threads: 1, monitor: &monitor }).unwrap();
    assert_eq!(weighted.state(), fitted(&Samples::select(&rows, &copies), 500, 1).state());
}

#[test]
fn every_instruction_set_gives_the_same_bits() {
    let series = Series::new(noise(77, 4).into_iter().map(|x| x * 1.37).collect(), &[77], 1).unwrap();
    let minirocket = fitted(&series, 1000, 0);
    let Fitted { layout, biases, .. } = minirocket.fitted.as_ref().unwrap();
    let best = minirocket.features(&series).unwrap().values;
    for isa in Isa::available() {
        let mut out = vec![0.0; biases.len()];
        Work::new(layout, isa, 1).features(series.series(0), biases, &mut out);
        assert_eq!(out, best, "{isa:?}");
    }
}

#[test]
fn rejects_series_with_missing_values_or_other_channels() {
    let mut values = noise(20, 9);
    let series = Series::new(values.clone(), &[10, 10], 1).unwrap();
    let minirocket = fitted(&series, 84, 0);
    values[13] = f32::NAN;
    let message = minirocket.features(&Series::new(values, &[10, 10], 1).unwrap()).unwrap_err().to_string();
    assert!(message.contains("sample 1") && message.contains("NaN at time step 3"), "{message}");
    let message = minirocket.features(&Series::new(noise(20, 1), &[10], 2).unwrap()).unwrap_err().to_string();
    assert!(message.contains("2 channels") && message.contains("training samples 1"), "{message}");
    let message = unfitted(84, 0).unwrap().features(&series).unwrap_err().to_string();
    assert!(message.contains("not been learned"), "{message}");
    assert!(unfitted(83, 0).is_err());
}
