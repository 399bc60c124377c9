//! Which landmarks carry the kernel.

use std::fmt;
use std::str::FromStr;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::thin_plate_blocks::first_of_equals;
use crate::error::{Error, Result};
use crate::par::Pool;

/// Passes of k-means; the centres hardly move after these.
const PASSES: usize = 8;

/// Samples that k-means looks at, a landmark.
const SAMPLES_A_CENTRE: usize = 25;

/// Samples assigned by one thread at a time.
const ROWS_A_CHUNK: usize = 256;

/// How landmarks are chosen among the samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum LandmarkChoice {
    /// The first samples.
    Index,
    /// Samples drawn without replacement.
    Random,
    /// The centres of k-means (on a sample of the samples, from randomly drawn ones).
    #[default]
    KMeans,
}

impl fmt::Display for LandmarkChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LandmarkChoice::Index => "index",
            LandmarkChoice::Random => "random",
            LandmarkChoice::KMeans => "kmeans",
        })
    }
}

impl FromStr for LandmarkChoice {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "index" => Ok(LandmarkChoice::Index),
            "random" => Ok(LandmarkChoice::Random),
            "kmeans" => Ok(LandmarkChoice::KMeans),
            _ => Err(Error::UnknownName {
                what: "choice of landmarks",
                given: name.to_owned(),
                expected: "known are index, random, kmeans".into(),
            }),
        }
    }
}

/// At most `n_basis` distinct landmarks of row-major samples, row-major, and which samples they are; none of
/// them for k-means.
pub(super) fn choose(
    choice: LandmarkChoice,
    n_basis: usize,
    samples: &[f64],
    n_features: usize,
    weights: &[f64],
    seed: u64,
    pool: &Pool,
) -> Result<(Vec<f64>, Vec<usize>)> {
    // Two landmarks at one place are one.
    let first = first_of_equals(samples, n_features);
    let distinct: Vec<usize> = (0..first.len()).filter(|&i| first[i] == i).collect();
    let mut order = distinct;
    if choice != LandmarkChoice::Index {
        order.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
    }
    let taken = &order[..n_basis.min(order.len())];
    let centres: Vec<f64> =
        taken.iter().flat_map(|&i| &samples[i * n_features..(i + 1) * n_features]).copied().collect();
    if choice != LandmarkChoice::KMeans || taken.len() == order.len() {
        return Ok((centres, taken.to_vec()));
    }
    let seen: Vec<usize> = if weights.len() <= SAMPLES_A_CENTRE * n_basis {
        (0..weights.len()).collect()
    } else {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x5eed);
        (0..SAMPLES_A_CENTRE * n_basis).map(|_| rng.random_range(0..weights.len())).collect()
    };
    Ok((k_means(centres, &seen, samples, n_features, weights, pool)?, Vec::new()))
}

/// Lloyd's algorithm from the given centres.
fn k_means(
    mut centres: Vec<f64>,
    seen: &[usize],
    samples: &[f64],
    n_features: usize,
    weights: &[f64],
    pool: &Pool,
) -> Result<Vec<f64>> {
    let k = centres.len() / n_features;
    let row = |i: usize| &samples[i * n_features..(i + 1) * n_features];
    for _ in 0..PASSES {
        let nearest = |chunk: usize| {
            let rows = &seen[chunk * ROWS_A_CHUNK..((chunk + 1) * ROWS_A_CHUNK).min(seen.len())];
            let dense: Vec<f64> = rows.iter().flat_map(|&i| row(i)).copied().collect();
            let mut block = vec![0.0; rows.len() * k];
            squared_distances(&dense, &centres, n_features, &mut block);
            let closest = |distances: &[f64]| {
                let start = (0, f64::INFINITY);
                let least = |best: (usize, f64), (at, d): (usize, &f64)| if *d < best.1 { (at, *d) } else { best };
                distances.iter().enumerate().fold(start, least).0
            };
            Ok::<_, Error>(block.chunks_exact(k).map(closest).collect::<Vec<usize>>())
        };
        let owners = pool.try_map(seen.len().div_ceil(ROWS_A_CHUNK), nearest)?.concat();
        let mut sums = vec![0.0; centres.len()];
        let mut totals = vec![0.0; k];
        for (&i, &owner) in seen.iter().zip(&owners) {
            totals[owner] += weights[i];
            let sum = &mut sums[owner * n_features..(owner + 1) * n_features];
            sum.iter_mut().zip(row(i)).for_each(|(sum, x)| *sum += weights[i] * x);
        }
        for (at, total) in totals.iter().enumerate().filter(|(_, total)| **total > 0.0) {
            let at = at * n_features..(at + 1) * n_features;
            centres[at.clone()].iter_mut().zip(&sums[at]).for_each(|(centre, sum)| *centre = sum / total);
        }
    }
    Ok(centres)
}

/// Squared distances from differences, row-major samples × centres.
fn squared_distances(samples: &[f64], centres: &[f64], n_features: usize, out: &mut [f64]) {
    let k = centres.len() / n_features;
    // Feature by feature across the centres, which the compiler turns into vector instructions.
    let mut columns = vec![0.0; centres.len()];
    for (at, centre) in centres.chunks(n_features).enumerate() {
        centre.iter().enumerate().for_each(|(feature, value)| columns[feature * k + at] = *value);
    }
    for (sample, out) in samples.chunks(n_features).zip(out.chunks_exact_mut(k)) {
        for (x, centres) in sample.iter().zip(columns.chunks_exact(k)) {
            out.iter_mut().zip(centres).for_each(|(sum, y)| *sum += (x - y) * (x - y));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn landmarks_are_distinct_and_repeatable() {
        let samples: Vec<f64> = (0..200).map(|i| f64::from(i % 40)).collect();
        let pool = Pool::new(1).unwrap();
        for name in ["index", "random", "kmeans"] {
            let choice: LandmarkChoice = name.parse().unwrap();
            assert_eq!(choice.to_string(), name);
            let (bases, rows) = choose(choice, 7, &samples, 1, &[1.0; 200], 3, &pool).unwrap();
            assert_eq!(bases.len(), 7);
            assert_eq!(rows.len(), if choice == LandmarkChoice::KMeans { 0 } else { 7 });
            let mut sorted = bases.clone();
            sorted.sort_by(f64::total_cmp);
            assert!(sorted.windows(2).all(|pair| pair[0] < pair[1]));
            assert_eq!(bases, choose(choice, 7, &samples, 1, &[1.0; 200], 3, &pool).unwrap().0);
            assert_eq!(choose(choice, 100, &samples, 1, &[1.0; 200], 3, &pool).unwrap().0.len(), 40);
        }
    }

    #[test]
    fn centres_are_where_the_samples_are() {
        let samples: Vec<f64> = (0..300).map(|i| f64::from(i % 3) * 100.0 + f64::from(i) * 1e-3).collect();
        let weights = vec![1.0; 300];
        let start = vec![0.0, 100.1, 199.0];
        let seen: Vec<usize> = (0..300).collect();
        let centres = k_means(start, &seen, &samples, 1, &weights, &Pool::new(1).unwrap()).unwrap();
        for (centre, truth) in centres.iter().zip([0.1485, 100.1495, 200.1505]) {
            assert!((centre - truth).abs() < 1e-9, "{centre}");
        }
    }
}
