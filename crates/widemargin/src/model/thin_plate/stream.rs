//! Samples of a source as row blocks for the thin plate solver, and their statistics.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::bases::{Placed, ThinPlateBasis, choose};
use super::kernel_blocks::{weighted_block, weighted_polynomials};
use crate::data::{AnySamples, Fingerprint, Kind, Rows, Source, Vectors};
use crate::error::{Error, Result};
use crate::linalg::factor::Matrix;
use crate::model::scale_rows::scale_rows;
use crate::monitor::RowCount;
use crate::par::Pool;
use crate::similarity::{ConditionalKernel, PolynomialSpace};
use crate::solve::thin_plate::{BLOCK, RawRows, SPAN};

/// Rows read at a time by each thread when only the samples themselves are needed.
const CHUNK: usize = SPAN * BLOCK / 4;

/// Samples that were drawn, and the weights of all.
pub(super) struct Drawn<'a> {
    /// Ascending.
    pub rows: &'a [usize],
    /// Row-major, not scaled.
    pub values: Vec<f64>,
    /// Of all samples.
    pub weights: &'a [f64],
}

/// Samples of a source as dense rows.
#[derive(Clone, Copy)]
pub(crate) struct Stream<'a> {
    pub samples: &'a dyn Source<Samples = AnySamples>,
    pub n_features: usize,
}

impl<'a> Stream<'a> {
    /// # Errors
    /// [`Error::Kind`] if the samples are not vectors, [`Error::Shape`] if they have no features.
    pub fn new(samples: &'a dyn Source<Samples = AnySamples>) -> Result<Self> {
        let n_features = vectors(samples.chunk(0..samples.n_samples().min(1))?)?.n_cols();
        if n_features == 0 {
            return Err(Error::Shape {
                what: "samples".into(),
                found: "no features".into(),
                expected: "at least one column".into(),
            });
        }
        Ok(Stream { samples, n_features })
    }

    pub fn n(&self) -> usize {
        self.samples.n_samples()
    }

    /// Dense rows of a range, row-major.
    ///
    /// # Errors
    /// Read errors; [`Error::Value`] for a non-finite number, [`Error::Shape`] for rows of a different width.
    pub fn rows(&self, range: Range<usize>) -> Result<Vec<f64>> {
        let read = match self.samples.chunk(range.clone())? {
            AnySamples::Far(far) if far.n_cols() == self.n_features => {
                let mut rows = vec![0.0; range.len() * self.n_features];
                for (row, out) in rows.chunks_mut(self.n_features).enumerate() {
                    far.for_each_nonzero(row, |column, x| out[column] = x);
                }
                return Ok(rows);
            }
            read => vectors(read)?,
        };
        let dense = read.dense()?;
        if dense.n_cols != self.n_features || dense.n_rows != range.len() {
            return Err(Error::Shape {
                what: format!("rows {} to {} of the samples", range.start, range.end),
                found: format!("{} of {} features", dense.n_rows, dense.n_cols),
                expected: format!("{} of {}", range.len(), self.n_features),
            });
        }
        if let Some(at) = dense.values.iter().position(|value| !value.is_finite()) {
            let (row, column) = (range.start + at / self.n_features, at % self.n_features);
            let problem = "is not a finite number: remove or impute it";
            return Err(Error::Value { row, column, value: dense.values[at].into(), problem });
        }
        Ok(dense.values.iter().map(|&value| f64::from(value)).collect())
    }

    /// One pass for the statistics of all samples of non-zero weight.
    pub fn look(&self, weights: &[f64], picked: &[usize], pool: &Pool, count: &RowCount<'_>) -> Result<ColumnMoments> {
        let d = self.n_features;
        let work = |range: Range<usize>| {
            count.go_on()?;
            let rows = self.rows(range.clone())?;
            let mut part = ColumnMoments::new(d);
            for (row, x) in range.clone().zip(rows.chunks(d)) {
                part.add(weights[row], x);
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
        let mut all = ColumnMoments::new(d);
        pool.fold_chunks(self.n(), CHUNK, work, |part| {
            all.merge(part);
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

    /// Bases, row-major, with columns times `scale`, and the rows of those that are samples: chosen among samples that
    /// were drawn, but for [`ThinPlateBasis::Index`].
    pub(super) fn bases(
        &self,
        among: Drawn<'_>,
        (choice, n_basis): (ThinPlateBasis, usize),
        scale: Option<&[f64]>,
        seed: u64,
        pool: &Pool,
    ) -> Result<(Vec<f64>, Vec<usize>)> {
        let scaled = |mut rows: Vec<f64>| {
            if let Some(factors) = scale {
                scale_rows(&mut rows, factors);
            }
            rows
        };
        if choice == ThinPlateBasis::Index {
            let (rows, numbers) = self.first(among.weights, n_basis)?;
            return Ok((scaled(rows), numbers));
        }
        let weights: Vec<f64> = among.rows.iter().map(|&row| among.weights[row]).collect();
        let (rows, first_come) = (scaled(among.values), (0..weights.len()).collect::<Vec<usize>>());
        let placed = Placed { rows: &rows, n_features: self.n_features, weights: &weights, first_come: &first_come };
        let (bases, chosen) = choose(choice, n_basis, placed, seed, pool)?;
        Ok((bases, chosen.into_iter().map(|at| among.rows[at]).collect()))
    }
}

fn fingerprint(row: &[f64]) -> u128 {
    let mut fingerprint = Fingerprint::default();
    row.iter().enumerate().filter(|(_, x)| **x != 0.0).for_each(|(at, x)| fingerprint.add(at, x.to_bits()));
    fingerprint.finish()
}

fn vectors(samples: AnySamples) -> Result<Vectors> {
    Vectors::from_any(samples).map_err(|other| Error::Kind {
        found: other.kind(),
        method: "the thin plate SVM".into(),
        wanted: "vectors",
    })
}

/// `most` rows of weight above 0, drawn without replacement, ascending; all if there are no more.
pub(crate) fn drawn(weights: &[f64], most: usize, seed: u64) -> Vec<usize> {
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
pub(crate) struct ColumnMoments {
    /// Σ w.
    pub total: f64,
    pub mean: Vec<f64>,
    /// Σ w (x − mean)².
    pub squares: Vec<f64>,
    /// Of the content of all samples in order.
    pub content: Fingerprint,
    /// The requested rows, row-major.
    pub sample: Vec<f64>,
}

impl ColumnMoments {
    pub fn new(d: usize) -> Self {
        let (mean, squares) = (vec![0.0; d], vec![0.0; d]);
        ColumnMoments { total: 0.0, mean, squares, content: Fingerprint::default(), sample: Vec::new() }
    }

    /// Welford's update, which has no rounding error for a constant column.
    pub fn add(&mut self, weight: f64, row: &[f64]) {
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
    pub fn merge(&mut self, other: ColumnMoments) {
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
        self.content = self.content.together(other.content);
        self.sample.extend(other.sample);
    }

    /// The space of polynomials on these samples, with their columns first multiplied by factors.
    pub fn space(&self, degree: Option<u32>, factors: Option<&[f64]>) -> Result<PolynomialSpace> {
        let factor = |column: usize| factors.map_or(1.0, |factors| factors[column]);
        let center = self.mean.iter().enumerate().map(|(column, mean)| factor(column) * mean).collect();
        let variance = |(column, squares): (usize, &f64)| factor(column) * factor(column) * squares / self.total;
        PolynomialSpace::of_moments(degree, center, &self.squares.iter().enumerate().map(variance).collect::<Vec<_>>())
    }
}

/// Where rows come from.
#[derive(Clone, Copy)]
pub(crate) enum RowSource<'a> {
    /// Dense rows in memory, row-major, scaled.
    Memory(&'a [f64]),
    /// A source, and the factors of its columns.
    Stream(Stream<'a>, Option<&'a [f64]>),
}

/// Kernel values with bases and polynomials of rows.
pub(crate) struct KernelRows<'a> {
    pub source: RowSource<'a>,
    pub n_features: usize,
    pub kernel: ConditionalKernel,
    /// Row-major, scaled.
    pub bases: &'a [f64],
    pub space: &'a PolynomialSpace,
    /// √w.
    pub roots: &'a [f64],
}

/// Rows that were read, from one on.
pub(crate) struct Span<'a> {
    first: usize,
    rows: Cow<'a, [f64]>,
}

impl KernelRows<'_> {
    fn of<'s>(&self, span: &'s Span<'_>, rows: &Range<usize>) -> &'s [f64] {
        let d = self.n_features;
        &span.rows[(rows.start - span.first) * d..(rows.end - span.first) * d]
    }
}

impl<'a> RawRows for KernelRows<'a> {
    type Span = Span<'a>;

    fn n_rows(&self) -> usize {
        self.roots.len()
    }

    fn read(&self, rows: Range<usize>) -> Result<Span<'a>> {
        let (first, d) = (rows.start, self.n_features);
        let rows = match self.source {
            RowSource::Memory(all) => Cow::Borrowed(&all[rows.start * d..rows.end * d]),
            RowSource::Stream(stream, scale) => {
                let mut rows = stream.rows(rows)?;
                if let Some(factors) = scale {
                    scale_rows(&mut rows, factors);
                }
                Cow::Owned(rows)
            }
        };
        Ok(Span { first, rows })
    }

    fn phi(&self, span: &Span<'a>, rows: Range<usize>) -> Matrix {
        let samples = self.of(span, &rows);
        weighted_block(self.kernel, samples, self.bases, self.n_features, &self.roots[rows])
    }

    fn polynomials(&self, span: &Span<'a>, rows: Range<usize>) -> Matrix {
        let samples = self.of(span, &rows);
        weighted_polynomials(self.space, samples, self.n_features, &self.roots[rows]).transposed()
    }
}
