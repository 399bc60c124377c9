//! Against the definition in the paper, in double precision.

use super::*;
use crate::monitor::Monitor;

fn noise(n: usize, seed: u64) -> Vec<f32> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    (0..n).map(|_| random.random::<f32>() * 4.0 - 2.0).collect()
}

fn unfitted(groups: usize, seed: u64) -> Result<Hydra> {
    crate::descriptor::of(&format!("hydra:groups={groups},seed={seed}"), Hydra::from_step)
}

fn fitted(series: &Series, groups: usize, seed: u64) -> Hydra {
    let mut hydra = unfitted(groups, seed).unwrap();
    let weights = vec![1.0; series.len()];
    hydra.fit_series(&Training { samples: series, weights: &weights, threads: 1, monitor: &Monitor::none() }).unwrap();
    hydra
}

fn features_by_definition(hydra: &Hydra, series: &[f32]) -> Vec<f64> {
    let Fitted { n_channels, dilations, channels, weights } = hydra.fitted.as_ref().unwrap();
    let length = series.len() / n_channels;
    let x = |channel: usize, t: usize| f64::from(series[t * n_channels + channel]);
    let mut features = Vec::new();
    let mut group = 0;
    for &dilation in dilations {
        for source in 0..2 {
            for _ in 0..hydra.groups / 2 {
                let set = channels.get(group).cloned().unwrap_or_else(|| vec![0]);
                let steps = length - source;
                let value = |t: isize| -> f64 {
                    if !(0..steps as isize).contains(&t) {
                        return 0.0;
                    }
                    let t = t as usize;
                    let one = |&channel| if source == 0 { x(channel, t) } else { x(channel, t + 1) - x(channel, t) };
                    set.iter().map(one).sum()
                };
                let (mut sums, mut counts) = ([0.0; 8], [0.0; 8]);
                for t in 0..steps as isize {
                    let response = |kernel: usize| -> f64 {
                        let weights = &weights[(group * 8 + kernel) * 9..][..9];
                        let taps = (0..9).map(|p| value(t + (p - 4) * dilation as isize));
                        weights.iter().zip(taps).map(|(weight, x)| f64::from(*weight) * x).sum()
                    };
                    let responses: Vec<f64> = (0..8).map(response).collect();
                    let first = |wanted: f64| responses.iter().position(|r| *r == wanted).unwrap();
                    let highest = responses.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    let lowest = responses.iter().copied().fold(f64::INFINITY, f64::min);
                    sums[first(highest)] += highest;
                    counts[first(lowest)] += 1.0;
                }
                let shares = sums.iter().chain(&counts).map(|sum: &f64| (sum.max(0.0) / steps.max(1) as f64).sqrt());
                features.extend(shares);
                group += 1;
            }
        }
    }
    features
}

#[test]
fn features_are_those_of_the_definition() {
    for (lengths, channels, groups) in
        [(vec![120, 97], 1, 64), (vec![9, 17, 33, 160, 5, 1, 2], 1, 8), (vec![40, 57, 3], 3, 10), (vec![64, 64], 12, 2)]
    {
        let steps: usize = lengths.iter().sum();
        let series = Series::new(noise(steps * channels, 5), &lengths, channels).unwrap();
        let hydra = fitted(&series, groups, 3);
        let found = hydra.features(&series).unwrap();
        for (row, found) in found.values.chunks(found.n_cols).enumerate() {
            let right = features_by_definition(&hydra, series.series(row));
            assert_eq!(found.len(), right.len());
            for (feature, (found, right)) in found.iter().zip(right).enumerate() {
                assert!((f64::from(*found) - right).abs() < 1e-4, "series {row}, feature {feature}: {found}, {right}");
            }
        }
    }
}

/// A step goes to one kernel of each group, also where all respond alike.
#[test]
fn shares_of_steps_sum_to_one() {
    let series = Series::new([vec![0.0; 30], noise(30, 2), vec![3.0; 30]].concat(), &[30; 3], 1).unwrap();
    let features = fitted(&series, 6, 0).features(&series).unwrap();
    for group in features.values.chunks(16) {
        let sum: f32 = group[8..].iter().map(|root| root * root).sum();
        assert!((sum - 1.0).abs() < 1e-5 && group.iter().all(|share| share.is_finite()), "{group:?}");
    }
    // Where all are 0 the first kernel has them.
    for group in features.values[..features.n_cols].chunks(16) {
        assert_eq!((group[8], &group[9..]), (1.0, &[0.0; 7][..]));
    }
}

#[test]
fn every_instruction_set_gives_the_same_but_for_rounding() {
    let series = Series::new(noise(77, 4), &[77], 1).unwrap();
    let hydra = fitted(&series, 8, 0);
    let best = hydra.features(&series).unwrap().values;
    for isa in Isa::available() {
        let mut out = vec![0.0; best.len()];
        let mut work =
            Work { fitted: hydra.fitted.as_ref().unwrap(), isa, sources: Default::default(), sum: Vec::new() };
        work.features(series.series(0), &mut out);
        assert!(out.iter().zip(&best).all(|(a, b)| (a - b).abs() < 1e-5), "{isa:?}");
    }
}

#[test]
fn dilations_span_the_series_and_kernels_have_no_mean() {
    assert_eq!(dilations(150), [1, 2, 4, 8, 16]);
    assert_eq!(dilations(129), [1, 2, 4, 8, 16]);
    assert_eq!(dilations(128), [1, 2, 4, 8]);
    assert_eq!((dilations(1), dilations(16)), (vec![1], vec![1]));
    let series = Series::new(noise(150, 1), &[150], 1).unwrap();
    let hydra = fitted(&series, 64, 0);
    let weights = &hydra.fitted.as_ref().unwrap().weights;
    assert_eq!(weights.len(), 5 * 64 * 8 * 9);
    for kernel in weights.chunks(9) {
        assert!(kernel.iter().sum::<f32>().abs() < 1e-6);
        assert!((kernel.iter().map(|w| w.abs()).sum::<f32>() - 1.0).abs() < 1e-6);
    }
    // Normal deviates: of their ninths, corrected for the mean and the size, about 68 % are within the deviation.
    let squares = weights.iter().map(|w| f64::from(w * w)).sum::<f64>() / weights.len() as f64;
    let within = weights.iter().filter(|w| f64::from(**w).powi(2) < squares).count() as f64 / weights.len() as f64;
    assert!((within - 0.68).abs() < 0.03, "{within}");
}

#[test]
fn the_state_is_all_that_was_learned() {
    for channels in [1, 4] {
        let series = Series::new(noise(40 * 5 * channels, 8), &[40; 5], channels).unwrap();
        let first = fitted(&series, 4, 7);
        convolved::check_state(&first, &mut unfitted(4, 7).unwrap());
        assert_ne!(first.state(), fitted(&series, 4, 8).state());
    }
}

#[test]
fn rejects_series_with_missing_values_or_other_channels() {
    let mut values = noise(20, 9);
    let series = Series::new(values.clone(), &[10, 10], 1).unwrap();
    let hydra = fitted(&series, 2, 0);
    values[13] = f32::NAN;
    let message = hydra.features(&Series::new(values, &[10, 10], 1).unwrap()).unwrap_err().to_string();
    assert!(message.contains("sample 1") && message.contains("NaN at time step 3"), "{message}");
    let message = hydra.features(&Series::new(noise(20, 1), &[10], 2).unwrap()).unwrap_err().to_string();
    assert!(message.contains("2 channels") && message.contains("training samples 1"), "{message}");
    let message = unfitted(2, 0).unwrap().features(&series).unwrap_err().to_string();
    assert!(message.contains("not been drawn"), "{message}");
    for groups in [0, 3, 1026] {
        assert!(unfitted(groups, 0).is_err());
    }
}
