//! k-medoids by the similarity itself: the kernel distance d² = s(x,x) + s(y,y) − s(x,y) − s(y,x).
//!
//! Seeding as in k-means++ (Arthur & Vassilvitskii, SODA 2007); then each sample is assigned to its nearest medoid, and
//! each cluster to the member with the least sum of distances, until nothing changes.

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::data::Training;
use crate::error::{Error, Result};
use crate::par::Pool;
use crate::similarity::{Extension, Similarity};
use crate::tuning::{CANDIDATES_PER_MEDOID, MAX_BASIS_CANDIDATES, MIN_BASIS_CANDIDATES};

const MAX_ROUNDS: usize = 50;

/// Rows compared by one thread at a time.
const CHUNK_ROWS: usize = 64;

/// `k` medoids among `rows`, in row order; in a large class, among a random subset.
pub(super) fn medoids<S: Similarity>(
    rows: &[usize],
    k: usize,
    similarity: &S,
    training: &Training<'_, S::Samples>,
    rng: &mut Xoshiro256PlusPlus,
) -> Result<Vec<usize>> {
    if k == 0 {
        return Ok(Vec::new());
    }
    let n_wanted = (CANDIDATES_PER_MEDOID * k).clamp(MIN_BASIS_CANDIDATES, MAX_BASIS_CANDIDATES.max(k));
    let mut candidates = rows.to_vec();
    if candidates.len() > n_wanted {
        candidates.shuffle(rng);
        candidates.truncate(n_wanted);
        candidates.sort_unstable();
    }
    let distances = distances(&candidates, similarity, training)?;
    let weights: Vec<f64> = candidates.iter().map(|&row| training.weights[row]).collect();
    let mut medoids = cluster(&distances, &weights, k, rng);
    medoids.sort_unstable();
    Ok(medoids.into_iter().map(|at| candidates[at]).collect())
}

/// Squared kernel distances of all pairs; for several similarities, the sum of each in units of its mean.
fn distances<S: Similarity>(rows: &[usize], similarity: &S, training: &Training<'_, S::Samples>) -> Result<Vec<f32>> {
    let n = rows.len();
    let all = similarity.describe(training.samples.select(rows)?)?;
    let pool = Pool::new(training.threads)?;
    let n_parts = similarity.n_parts();
    let mut blocks: Vec<Vec<f32>> = vec![Vec::with_capacity(n * n); n_parts];
    let work = |chunk: std::ops::Range<usize>| {
        training.go_on("bases")?;
        let some = similarity.describe(training.samples.select(&rows[chunk.clone()])?)?;
        let size = chunk.len() * n;
        let mut block = vec![0.0f32; n_parts * size];
        let first = chunk.start;
        let located = |error: Error| error.in_part_from(first).of_rows(rows);
        let mut known = Vec::with_capacity(n_parts);
        for (part, block) in block.chunks_mut(size).enumerate() {
            known.push(similarity.extension(part, &all, &some, Extension::Distances(block)).map_err(located)?);
        }
        if known.contains(&false) {
            let mut similarities = vec![0.0f32; n_parts * size];
            similarity.block(&all, &some, &mut similarities).map_err(located)?;
            let parts = block.chunks_mut(size).zip(similarities.chunks(size)).zip(&known);
            parts.filter(|(_, known)| !**known).for_each(|((block, similar), _)| block.copy_from_slice(similar));
        }
        Ok((block, known))
    };
    let mut known = vec![false; n_parts];
    pool.fold_chunks(n, CHUNK_ROWS, work, |(block, of_chunk)| {
        let size = block.len() / n_parts;
        blocks.iter_mut().zip(block.chunks(size.max(1))).for_each(|(all, part)| all.extend_from_slice(part));
        known = of_chunk;
        Ok(())
    })?;
    let mut total = vec![0.0f32; n * n];
    for (block, known) in blocks.iter().zip(known) {
        let at = |i: usize, j: usize| f64::from(block[i * n + j]);
        let distance = |i: usize, j: usize| {
            let distance = if known { at(i, j) } else { at(i, i) + at(j, j) - at(i, j) - at(j, i) };
            distance.max(0.0) as f32
        };
        let sum: f64 = (0..n).map(|i| (0..n).map(|j| f64::from(distance(i, j))).sum::<f64>()).sum();
        let unit = if sum > 0.0 { ((n * n) as f64 / sum) as f32 } else { 1.0 };
        for i in 0..n {
            (0..n).for_each(|j| total[i * n + j] += unit * distance(i, j));
        }
    }
    Ok(total)
}

/// The medoids of `k` clusters.
fn cluster(distances: &[f32], weights: &[f64], k: usize, rng: &mut Xoshiro256PlusPlus) -> Vec<usize> {
    let n = weights.len();
    let row = |i: usize| &distances[i * n..(i + 1) * n];
    let mut medoids = seeds(distances, weights, k, rng);
    let mut nearest = vec![0; n];
    for _ in 0..MAX_ROUNDS {
        for (i, nearest) in nearest.iter_mut().enumerate() {
            *nearest = (0..k).min_by(|&a, &b| row(i)[medoids[a]].total_cmp(&row(i)[medoids[b]])).unwrap_or(0);
        }
        let mut moved = false;
        for (cluster, medoid) in medoids.iter_mut().enumerate() {
            let members: Vec<usize> = (0..n).filter(|&i| nearest[i] == cluster).collect();
            let cost = |&i: &usize| members.iter().map(|&j| weights[j] * f64::from(row(i)[j])).sum::<f64>();
            // A medoid always belongs to a cluster: its own, or that of an identical medoid.
            let best = members.iter().copied().map(|i| (i, cost(&i))).min_by(|a, b| a.1.total_cmp(&b.1));
            if let Some((best, least)) = best
                && least < cost(medoid)
                && best != *medoid
            {
                *medoid = best;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    medoids
}

/// The first seed is random, each further one is drawn with probability proportional to its squared distance from those
/// before.
fn seeds(distances: &[f32], weights: &[f64], k: usize, rng: &mut Xoshiro256PlusPlus) -> Vec<usize> {
    let n = weights.len();
    let mut seeds = Vec::with_capacity(k);
    let mut left = vec![f32::INFINITY; n];
    let mut free = vec![true; n];
    for _ in 0..k.min(n) {
        let mass = |i: usize| match (free[i], seeds.is_empty()) {
            (false, _) => 0.0,
            (true, true) => weights[i],
            (true, false) => weights[i] * f64::from(left[i]),
        };
        let total: f64 = (0..n).map(mass).sum();
        let mut target = rng.random::<f64>() * total;
        let drawn = (0..n).filter(|&i| mass(i) > 0.0).find(|&i| {
            target -= mass(i);
            target < 0.0
        });
        // Only copies of the seeds are left: any will do.
        let Some(next) = drawn.or_else(|| (0..n).find(|&i| free[i])) else { break };
        seeds.push(next);
        free[next] = false;
        for (left, distance) in left.iter_mut().zip(&distances[next * n..(next + 1) * n]) {
            *left = left.min(*distance);
        }
    }
    seeds
}
