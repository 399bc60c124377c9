//! Samples of a source as row blocks for the thin plate solver, and their statistics.

use std::collections::BTreeSet;
use std::ops::Range;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use super::bases::{Placed, ThinPlateBasis, choose};
use super::kernel_blocks::{dense_rows, scale_rows};
use crate::data::{AnySamples, Fingerprint, Rows, SamplesView, Source};
use crate::error::{Error, Result};
use crate::monitor::RowCount;
use crate::par::Pool;
use crate::similarity::PolynomialSpace;
use crate::solve::thin_plate::{BLOCK, SPAN};

/// Rows read at a time by each thread when only the samples themselves are needed.
const CHUNK: usize = SPAN * BLOCK / 4;

/// Samples of a source as dense rows, with columns times factors, if there are any.
#[derive(Clone, Copy)]
pub(crate) struct Stream<'a> {
    pub samples: &'a dyn Source<Samples = AnySamples>,
    pub n_features: usize,
    pub scale: Option<&'a [f64]>,
    /// The method, as messages name it.
    pub method: &'static str,
}

impl<'a> Stream<'a> {
    /// # Errors
    /// [`Error::Kind`] if the samples are not vectors, [`Error::Shape`] if they have no features.
    pub fn new(samples: &'a dyn Source<Samples = AnySamples>, method: &'static str) -> Result<Self> {
        let first = samples.chunk(0..samples.n_samples().min(1))?;
        let n_features = SamplesView::Other(&first).rows(method)?.n_cols();
        if n_features == 0 {
            return Err(Error::shape("samples", "no features", "at least one column"));
        }
        Ok(Stream { samples, n_features, scale: None, method })
    }

    pub fn n(&self) -> usize {
        self.samples.n_samples()
    }

    /// Dense rows of a range, row-major.
    ///
    /// # Errors
    /// Read errors; [`Error::Value`] for a non-finite number, [`Error::Shape`] for rows of a different width.
    pub fn rows(&self, range: Range<usize>) -> Result<Vec<f64>> {
        let read = self.samples.chunk(range.clone())?;
        let rows = SamplesView::Other(&read).rows(self.method)?;
        if rows.n_cols() != self.n_features || rows.n_rows() != range.len() {
            return Err(Error::shape(
                format!("rows {} to {} of the samples", range.start, range.end),
                format!("{} of {} features", rows.n_rows(), rows.n_cols()),
                format!("{} of {}", range.len(), self.n_features),
            ));
        }
        let all: Vec<usize> = (0..range.len()).collect();
        let mut rows = dense_rows(&rows, &all, self.n_features).map_err(|error| error.of_chunk(range.start))?;
        scale_rows(&mut rows, self.scale);
        Ok(rows)
    }

    /// One pass for the statistics of all samples of non-zero weight.
    pub fn look(&self, weights: &[f64], picked: &[usize], pool: &Pool, count: &RowCount<'_>) -> Result<Scan> {
        let d = self.n_features;
        let work = |range: Range<usize>| {
            count.go_on()?;
            let rows = self.rows(range.clone())?;
            let mut part = Scan::new(d);
            for (row, x) in range.clone().zip(rows.chunks(d)) {
                part.moments.add(weights[row], x);
                let content = fingerprint(x);
                part.content.add(row, content as u64);
                part.content.add(row, (content >> 64) as u64);
            }
            let here = picked.partition_point(|&row| row < range.start)..picked.partition_point(|&row| row < range.end);
            for &row in &picked[here] {
                part.sample.extend_from_slice(&rows[(row - range.start) * d..(row - range.start + 1) * d]);
            }
            count.add(range.len());
            Ok::<_, Error>(part)
        };
        let mut all = Scan::new(d);
        pool.fold_chunks(self.n(), CHUNK, work, |part| {
            all.moments.merge(&part.moments);
            all.content = all.content.together(part.content);
            all.sample.extend(part.sample);
            Ok(())
        })?;
        Ok(all)
    }

    /// The first `most` distinct samples of weight above 0, or all if there are fewer: their rows and indices.
    pub fn first(&self, weights: &[f64], most: usize) -> Result<(Vec<f64>, Vec<usize>)> {
        let (mut places, mut rows, mut numbers) = (BTreeSet::new(), Vec::new(), Vec::new());
        for first in (0..self.n()).step_by(CHUNK) {
            let range = first..self.n().min(first + CHUNK);
            for (row, x) in range.clone().zip(self.rows(range)?.chunks(self.n_features)) {
                if places.len() < most && weights[row] > 0.0 && places.insert(fingerprint(x)) {
                    rows.extend_from_slice(x);
                    numbers.push(row);
                }
            }
            if places.len() == most {
                break;
            }
        }
        Ok((rows, numbers))
    }

    /// Bases, row-major, and the rows of those that are samples: chosen among the samples that were `picked`, whose
    /// features, not scaled, are `rows`, but for [`ThinPlateBasis::Index`]. `weights` are those of all samples.
    pub(super) fn bases(
        &self,
        (picked, mut rows): (&[usize], Vec<f64>),
        weights: &[f64],
        (choice, n_basis): (ThinPlateBasis, usize),
        seed: u64,
        pool: &Pool,
    ) -> Result<(Vec<f64>, Vec<usize>)> {
        if choice == ThinPlateBasis::Index {
            return self.first(weights, n_basis);
        }
        let weights: Vec<f64> = picked.iter().map(|&row| weights[row]).collect();
        let first_come: Vec<usize> = (0..picked.len()).collect();
        scale_rows(&mut rows, self.scale);
        let placed = Placed { rows: &rows, n_features: self.n_features, weights: &weights, first_come: &first_come };
        let (bases, chosen) = choose(choice, n_basis, placed, seed, pool)?;
        Ok((bases, chosen.into_iter().map(|at| picked[at]).collect()))
    }
}

fn fingerprint(row: &[f64]) -> u128 {
    let mut fingerprint = Fingerprint::default();
    row.iter().enumerate().filter(|(_, x)| **x != 0.0).for_each(|(at, x)| fingerprint.add(at, x.to_bits()));
    fingerprint.finish()
}

/// `most` rows of weight above 0, drawn without replacement, ascending; all if there are no more.
pub fn draw_rows(weights: &[f64], most: usize, seed: u64) -> Vec<usize> {
    let n_present = weights.iter().filter(|weight| **weight > 0.0).count();
    let present = |row: &usize| weights[*row] > 0.0;
    if n_present <= most {
        return (0..weights.len()).filter(present).collect();
    }
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x0d1a_5eed);
    // Draws the excluded rows if they are fewer.
    let (away, n_drawn) = if 2 * most > n_present { (true, n_present - most) } else { (false, most) };
    let mut found = BTreeSet::new();
    while found.len() < n_drawn {
        let row = rng.random_range(0..weights.len());
        if present(&row) {
            found.insert(row);
        }
    }
    if away {
        (0..weights.len()).filter(|row| present(row) && !found.contains(row)).collect()
    } else {
        found.into_iter().collect()
    }
}

/// The statistics of all samples from one pass.
pub(crate) struct Scan {
    pub moments: ColumnMoments,
    /// Of the content of all samples in order.
    pub content: Fingerprint,
    /// The requested rows, row-major.
    pub sample: Vec<f64>,
}

impl Scan {
    fn new(d: usize) -> Self {
        Scan { moments: ColumnMoments::new(d), content: Fingerprint::default(), sample: Vec::new() }
    }
}

/// Weight, mean and squared deviations of the columns of some samples.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ColumnMoments {
    /// Σ w.
    total: f64,
    /// Σ w x / Σ w of each column.
    pub mean: Vec<f64>,
    /// Σ w (x − mean)² of each column.
    squares: Vec<f64>,
}

impl ColumnMoments {
    fn new(d: usize) -> Self {
        ColumnMoments { total: 0.0, mean: vec![0.0; d], squares: vec![0.0; d] }
    }

    /// Those of the samples of weight above 0; `weights` has one number per sample.
    ///
    /// # Errors
    /// [`Error::Value`] for a non-finite number.
    pub fn of(samples: &impl Rows, weights: &[f64]) -> Result<Self> {
        let d = samples.n_cols();
        let mut moments = ColumnMoments::new(d);
        for row in (0..weights.len()).filter(|&row| weights[row] > 0.0) {
            moments.add(weights[row], &dense_rows(samples, &[row], d)?);
        }
        Ok(moments)
    }

    /// Welford's update, which has no rounding error for a constant column.
    fn add(&mut self, weight: f64, row: &[f64]) {
        if weight > 0.0 {
            self.total += weight;
            let share = weight / self.total;
            for ((x, mean), squares) in row.iter().zip(&mut self.mean).zip(&mut self.squares) {
                let off = x - *mean;
                *mean += share * off;
                *squares += weight * off * (x - *mean);
            }
        }
    }

    /// Merges both (Chan, Golub and LeVeque).
    pub fn merge(&mut self, other: &ColumnMoments) {
        let total = self.total + other.total;
        if other.total > 0.0 {
            let share = other.total / total;
            for (at, (mean, squares)) in other.mean.iter().zip(&other.squares).enumerate() {
                let off = mean - self.mean[at];
                self.mean[at] += share * off;
                self.squares[at] += squares + self.total * share * off * off;
            }
        }
        self.total = total;
    }

    /// Those of the columns times factors, if there are any.
    pub fn scaled(mut self, factors: Option<&[f64]>) -> Self {
        for ((mean, squares), factor) in self.mean.iter_mut().zip(&mut self.squares).zip(factors.unwrap_or_default()) {
            *mean *= factor;
            *squares *= factor * factor;
        }
        self
    }

    /// The space of polynomials on these samples.
    pub fn space(&self, degree: Option<u32>) -> Result<PolynomialSpace> {
        let variances: Vec<f64> = self.squares.iter().map(|squares| squares / self.total).collect();
        PolynomialSpace::of_moments(degree, self.mean.clone(), &variances)
    }
}
