//! Selection of bases.

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::kernel_blocks::{first_of_equals, pick_rows};
use crate::error::{Error, Result};
use crate::macros::named;
use crate::par::Pool;
use crate::tuning::{CLUSTERING_PASSES, MEDOID_CANDIDATES};

/// Samples that k-means and k-medoids use per basis.
pub const SAMPLES_PER_BASIS: usize = 25;

/// Samples assigned at a time by one thread.
const CHUNK_ROWS: usize = 256;

/// How bases are selected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ThinPlateBasis {
    /// The first samples.
    Index,
    /// Samples drawn without replacement.
    Random,
    /// The centers of k-means (on a random subset of the samples, initialized with random samples).
    #[default]
    KMeans,
    /// Like [`ThinPlateBasis::KMeans`], with the most central sample of each cluster in place of its mean.
    KMedoids,
}

named!("choice of bases": ThinPlateBasis {
    "index" = ThinPlateBasis::Index,
    "random" = ThinPlateBasis::Random,
    "kmeans" = ThinPlateBasis::KMeans,
    "kmedoids" = ThinPlateBasis::KMedoids,
});

/// The candidates for bases.
#[derive(Clone, Copy)]
pub(crate) struct Placed<'a> {
    /// Row-major.
    pub rows: &'a [f64],
    pub n_features: usize,
    pub weights: &'a [f64],
    /// Their indices in the caller's order.
    pub first_come: &'a [usize],
}

/// At most `n_basis` distinct bases, row-major, and the indices of these samples; none for k-means.
pub(crate) fn choose(
    choice: ThinPlateBasis,
    n_basis: usize,
    samples: Placed<'_>,
    seed: u64,
    pool: &Pool,
) -> Result<(Vec<f64>, Vec<usize>)> {
    let Placed { rows: samples, n_features, weights, first_come } = samples;
    // Coinciding samples count as one basis.
    let first = first_of_equals(samples, n_features);
    let mut order: Vec<usize> = (0..first.len()).filter(|&i| first[i] == i).collect();
    if choice == ThinPlateBasis::Index {
        let mut chosen = vec![false; first.len()];
        order = first_come.iter().map(|&i| first[i]).filter(|&i| !std::mem::replace(&mut chosen[i], true)).collect();
    } else {
        order.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
    }
    let chosen = &order[..n_basis.min(order.len())];
    let centers = pick_rows(samples, chosen, n_features);
    let drawn = matches!(choice, ThinPlateBasis::Index | ThinPlateBasis::Random);
    if drawn || chosen.len() == order.len() {
        return Ok((centers, chosen.to_vec()));
    }
    let samples_used: Vec<usize> = if weights.len() <= SAMPLES_PER_BASIS * n_basis {
        (0..weights.len()).collect()
    } else {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x5eed);
        (0..SAMPLES_PER_BASIS * n_basis).map(|_| rng.random_range(0..weights.len())).collect()
    };
    let clustering = Clustering { samples_used: &samples_used, samples, n_features, weights, pool };
    match choice {
        ThinPlateBasis::KMedoids => {
            let medoids = clustering.k_medoids(chosen.to_vec())?;
            Ok((clustering.places(&medoids), medoids))
        }
        _ => Ok((clustering.k_means(centers)?, Vec::new())),
    }
}

/// Samples to be clustered.
struct Clustering<'a> {
    /// The samples used.
    samples_used: &'a [usize],
    /// Row-major.
    samples: &'a [f64],
    n_features: usize,
    weights: &'a [f64],
    pool: &'a Pool,
}

impl Clustering<'_> {
    fn row(&self, i: usize) -> &[f64] {
        &self.samples[i * self.n_features..(i + 1) * self.n_features]
    }

    /// The coordinates of some samples, row-major.
    fn places(&self, rows: &[usize]) -> Vec<f64> {
        pick_rows(self.samples, rows, self.n_features)
    }

    /// The nearest center of each sample used.
    fn owners(&self, centers: &[f64]) -> Result<Vec<usize>> {
        let k = centers.len() / self.n_features;
        let nearest = |chunk: usize| {
            let rows = &self.samples_used[chunk * CHUNK_ROWS..((chunk + 1) * CHUNK_ROWS).min(self.samples_used.len())];
            let mut block = vec![0.0; rows.len() * k];
            squared_distances(&self.places(rows), centers, self.n_features, &mut block);
            Ok::<_, Error>(block.chunks_exact(k).map(least).collect::<Vec<usize>>())
        };
        Ok(self.pool.try_map(self.samples_used.len().div_ceil(CHUNK_ROWS), nearest)?.concat())
    }

    /// Moves each center to the mean of its samples, if it has any.
    fn recenter(&self, centers: &mut [f64], owners: &[usize]) {
        let d = self.n_features;
        let mut sums = vec![0.0; centers.len()];
        let mut totals = vec![0.0; centers.len() / d];
        for (&i, &owner) in self.samples_used.iter().zip(owners) {
            totals[owner] += self.weights[i];
            let sum = &mut sums[owner * d..(owner + 1) * d];
            sum.iter_mut().zip(self.row(i)).for_each(|(sum, x)| *sum += self.weights[i] * x);
        }
        for (at, total) in totals.iter().enumerate().filter(|(_, total)| **total > 0.0) {
            let at = at * d..(at + 1) * d;
            centers[at.clone()].iter_mut().zip(&sums[at]).for_each(|(center, sum)| *center = sum / total);
        }
    }

    /// Lloyd's algorithm from these centers.
    fn k_means(&self, mut centers: Vec<f64>) -> Result<Vec<f64>> {
        for _ in 0..CLUSTERING_PASSES {
            let owners = self.owners(&centers)?;
            self.recenter(&mut centers, &owners);
        }
        Ok(centers)
    }

    /// Lloyd's algorithm with medoids, from these samples.
    fn k_medoids(&self, mut medoids: Vec<usize>) -> Result<Vec<usize>> {
        for _ in 0..CLUSTERING_PASSES {
            let mut centers = self.places(&medoids);
            let owners = self.owners(&centers)?;
            self.recenter(&mut centers, &owners);
            let mut members = vec![Vec::new(); medoids.len()];
            for (&i, &owner) in self.samples_used.iter().zip(&owners) {
                members[owner].push(i);
            }
            let medoid = |at: usize| {
                let mean = &centers[at * self.n_features..(at + 1) * self.n_features];
                // A center without samples does not move.
                Ok::<_, Error>(self.medoid(&members[at], mean).unwrap_or(medoids[at]))
            };
            let next = self.pool.try_map(medoids.len(), medoid)?;
            if next == medoids {
                break;
            }
            medoids = next;
        }
        Ok(medoids)
    }

    /// The sample with the least weighted sum of distances to the others, among those nearest the mean.
    fn medoid(&self, members: &[usize], mean: &[f64]) -> Option<usize> {
        let rows = self.places(members);
        let mut to_mean = vec![0.0; members.len()];
        squared_distances(&rows, mean, self.n_features, &mut to_mean);
        let mut order: Vec<usize> = (0..members.len()).collect();
        order.sort_by(|&a, &b| to_mean[a].total_cmp(&to_mean[b]).then(members[a].cmp(&members[b])));
        let candidates: Vec<usize> = order.iter().take(MEDOID_CANDIDATES).map(|&at| members[at]).collect();
        if candidates.is_empty() {
            return None;
        }
        let mut block = vec![0.0; members.len() * candidates.len()];
        squared_distances(&rows, &self.places(&candidates), self.n_features, &mut block);
        let mut sums = vec![0.0; candidates.len()];
        for (&i, distances) in members.iter().zip(block.chunks_exact(candidates.len())) {
            sums.iter_mut().zip(distances).for_each(|(sum, d)| *sum += self.weights[i] * d.sqrt());
        }
        Some(candidates[least(&sums)])
    }
}

/// The index of the smallest value, the first one in a tie.
fn least(values: &[f64]) -> usize {
    let start = (0, f64::INFINITY);
    let lower = |best: (usize, f64), (at, value): (usize, &f64)| if *value < best.1 { (at, *value) } else { best };
    values.iter().enumerate().fold(start, lower).0
}

/// Squared distances from differences, row-major samples × centers.
fn squared_distances(samples: &[f64], centers: &[f64], n_features: usize, out: &mut [f64]) {
    let k = centers.len() / n_features;
    // Feature by feature across the centers, which the compiler vectorizes.
    let mut columns = vec![0.0; centers.len()];
    for (at, center) in centers.chunks(n_features).enumerate() {
        center.iter().enumerate().for_each(|(feature, value)| columns[feature * k + at] = *value);
    }
    for (sample, out) in samples.chunks(n_features).zip(out.chunks_exact_mut(k)) {
        for (x, centers) in sample.iter().zip(columns.chunks_exact(k)) {
            out.iter_mut().zip(centers).for_each(|(sum, y)| *sum += (x - y) * (x - y));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bases_are_distinct_and_repeatable() {
        let samples: Vec<f64> = (0..200).map(|i| f64::from(i % 40)).collect();
        let pool = Pool::new(1).unwrap();
        let first_come: Vec<usize> = (0..200).collect();
        let samples = Placed { rows: &samples, n_features: 1, weights: &[1.0; 200], first_come: &first_come };
        for name in ["index", "random", "kmeans", "kmedoids"] {
            let choice: ThinPlateBasis = name.parse().unwrap();
            assert_eq!(choice.to_string(), name);
            let (bases, rows) = choose(choice, 7, samples, 3, &pool).unwrap();
            assert_eq!(bases.len(), 7);
            assert_eq!(rows.len(), if choice == ThinPlateBasis::KMeans { 0 } else { 7 });
            let mut sorted = bases.clone();
            sorted.sort_by(f64::total_cmp);
            assert!(sorted.windows(2).all(|pair| pair[0] < pair[1]));
            assert_eq!(bases, choose(choice, 7, samples, 3, &pool).unwrap().0);
            assert_eq!(choose(choice, 100, samples, 3, &pool).unwrap().0.len(), 40);
        }
    }

    #[test]
    fn centers_are_where_the_samples_are() {
        let samples: Vec<f64> = (0..300).map(|i| f64::from(i % 3) * 100.0 + f64::from(i) * 1e-3).collect();
        let weights = vec![1.0; 300];
        let start = vec![0.0, 100.1, 199.0];
        let samples_used: Vec<usize> = (0..300).collect();
        let pool = Pool::new(1).unwrap();
        let clustering = Clustering {
            samples_used: &samples_used,
            samples: &samples,
            n_features: 1,
            weights: &weights,
            pool: &pool,
        };
        let centers = clustering.k_means(start).unwrap();
        for (center, truth) in centers.iter().zip([0.1485, 100.1495, 200.1505]) {
            assert!((center - truth).abs() < 1e-9, "{center}");
        }
        // The medoids are the samples in the middle: the 50th or the 51st of each hundred.
        let medoids = clustering.k_medoids(vec![0, 1, 299]).unwrap();
        for (at, medoid) in medoids.iter().enumerate() {
            assert!(medoid % 3 == at && (147..153).contains(medoid), "{medoids:?}");
        }
        // One sample that outweighs the others is the medoid.
        let mut weights = vec![1.0; 300];
        weights[0] = 1000.0;
        let clustering = Clustering { weights: &weights, ..clustering };
        assert_eq!(clustering.k_medoids(vec![3, 1, 299]).unwrap()[0], 0);
    }
}
