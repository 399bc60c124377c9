//! The earth mover's distance of histograms: `emd`.
//!
//! d(x, y) is the least work that turns the shares of x into those of y, where moving a share from a bin to another
//! costs it times their ground distance: d(x, y) = min Σ_ij f_ij c_ij over f ≥ 0 with Σ_j f_ij = x_i and Σ_i f_ij = y_j
//! (Rubner, Tomasi and Guibas, *The earth mover's distance as a metric for image retrieval*, 2000). It is a metric
//! where the ground distance is one.
//!
//! On a line it is the area between the cumulated shares, d(x, y) = Σ_j |F_x(j) − F_y(j)| (Vallender, *Calculation of
//! the Wasserstein distance between probability distributions on the line*, 1974). That is a city-block distance, so
//! that −d is conditionally positive definite and exp(−gamma d) positive definite. On a [`circle`] it has a closed form
//! too, but −d is indefinite from four bins on: a norm is of negative type only where the unit ball of its dual is a
//! zonoid (Bolker, *A class of convex bodies*, 1969), whose faces are centrally symmetric, and here some are triangles.
//!
//! A histogram is divided by its sum. An empty one counts on a line as if all of it were one bin past the last, on a
//! circle as if it were in a bin of its own, at the largest distance between two bins from each other bin.

mod circle;
mod masses;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use super::additive::check_histograms;
use super::distances::sums_of_terms;
use super::exponential::exponentials;
use super::row::{Definite, Onnx, SimilarityRow, built};
use super::shared_features::check_widths;
use super::{Comparison, Pieces, Similarity};
use crate::data::{DenseMatrix, Vectors};
use crate::error::Result;
use crate::parameters::{Parameter, Values};
use crate::spec::Step;

pub(super) const EMD: SimilarityRow = SimilarityRow {
    name: "emd",
    class: "EarthMover",
    samples: &["vectors"],
    parameters: &[
        Parameter::new("gamma", Values::POSITIVE, "If not set, the similarity is −d.").optional(),
        Parameter::new(
            "ground",
            Values::Words(&["line", "circle"]),
            "The arrangement of the bins; on a circle, the last bin is next to the first.",
        )
        .or("line"),
    ],
    examples: &["emd", "emd:gamma=0.3", "emd:ground=circle", "emd:ground=circle,gamma=0.4"],
    definite: Definite::ConditionalUnless(&["ground"]),
    onnx: Onnx::NO_VECTORS,
    build: |step| built(EarthMover::from_step(step)),
};

/// −d or exp(−gamma d), d the earth mover's distance, in single precision.
#[derive(Clone, Debug, PartialEq)]
pub struct EarthMover {
    gamma: Option<f64>,
    is_circle: bool,
    step: Step,
}

impl EarthMover {
    /// The similarity of a spec such as `emd`, `emd:gamma=0.5` or `emd:ground=circle`.
    ///
    /// # Errors
    /// As for [`SimilarityRow::arguments`].
    #[doc(hidden)]
    pub fn from_step(step: &Step) -> Result<Self> {
        let arguments = EMD.arguments(step)?;
        let is_circle = arguments.text("ground") == Some("circle");
        Ok(EarthMover { gamma: arguments.get("gamma")?, is_circle, step: step.clone() })
    }

    /// The rows of vectors, once they are histograms.
    fn rows<'a>(&self, is_basis: bool, vectors: &'a Vectors) -> Result<Cow<'a, DenseMatrix<f32>>> {
        check_histograms(&self.spec(), is_basis, vectors)?;
        vectors.dense()
    }

    /// The cumulated shares of rows of `n_cols` numbers; columns that sparse rows lack are 0.
    fn cumulated(&self, is_basis: bool, vectors: &Vectors, n_cols: usize) -> Result<DenseMatrix<f32>> {
        let rows = self.rows(is_basis, vectors)?;
        let mut values = Vec::with_capacity(rows.n_rows * n_cols);
        for row in rows.values.chunks(rows.n_cols.max(1)) {
            let sum: f64 = row.iter().map(|x| f64::from(*x)).sum();
            let share = if sum > 0.0 { 1.0 / sum } else { 0.0 };
            let mut so_far = 0.0f64;
            for column in 0..n_cols {
                so_far += row.get(column).map_or(0.0, |x| f64::from(*x));
                values.push((so_far * share) as f32);
            }
        }
        Ok(DenseMatrix { values, n_rows: rows.n_rows, n_cols })
    }

    /// The masses of rows of `n_cols` numbers.
    fn masses(&self, is_basis: bool, vectors: &Vectors, n_cols: usize) -> Result<Vec<f64>> {
        let rows = self.rows(is_basis, vectors)?;
        let mut masses = Vec::with_capacity(rows.n_rows * n_cols);
        rows.values.chunks(rows.n_cols.max(1)).for_each(|row| masses::append(row, n_cols, &mut masses));
        Ok(masses)
    }

    /// Fills `block` with the distances on a circle of masses of `n_cols` numbers each.
    fn distances(bases: &[f64], samples: &[f64], n_cols: usize, block: &mut [f32]) {
        let mut passed = Vec::new();
        let is_empty: Vec<bool> = bases.chunks(n_cols.max(1)).map(masses::is_empty).collect();
        for (y, out) in samples.chunks(n_cols.max(1)).zip(block.chunks_mut(is_empty.len().max(1))) {
            let y_is_empty = masses::is_empty(y);
            for ((x, &x_is_empty), out) in bases.chunks(n_cols.max(1)).zip(&is_empty).zip(out) {
                *out = match (x_is_empty, y_is_empty) {
                    (true, true) => 0.0,
                    (false, false) => (circle::work(x, y, &mut passed) / masses::TOTAL) as f32,
                    _ => farthest(n_cols) as f32,
                };
            }
        }
    }
}

/// The largest distance between two bins of a circle.
fn farthest(n_bins: usize) -> f64 {
    (n_bins / 2) as f64
}

impl Similarity for EarthMover {
    type Samples = Vectors;

    crate::macros::symmetric_step!();

    /// On a line a difference, its size and a sum a bin and pair, after the sums of each histogram.
    fn block(&self, bases: &Vectors, samples: &Vectors, block: &mut [f32]) -> Result<()> {
        check_widths(bases, samples)?;
        let n_cols = bases.n_cols();
        if self.is_circle {
            let (bases, samples) = (self.masses(true, bases, n_cols)?, self.masses(false, samples, n_cols)?);
            EarthMover::distances(&bases, &samples, n_cols, block);
        } else {
            let (bases, samples) = (self.cumulated(true, bases, n_cols)?, self.cumulated(false, samples, n_cols)?);
            sums_of_terms(&bases, &samples, block, |x, y| (x - y).abs());
        }
        match self.gamma {
            Some(gamma) => exponentials(-gamma as f32, block),
            None => block.iter_mut().for_each(|d| *d = -*d),
        }
        Ok(())
    }

    fn comparison(&self, _part: usize, basis: &Vectors, sample: &Vectors) -> Result<Option<Comparison>> {
        const PASSES: &str = "work from each bin to the next";
        let n_cols = basis.n_cols();
        if !self.is_circle {
            let cumulated = |is_basis, vectors| self.cumulated(is_basis, vectors, n_cols).map(Vectors::Dense);
            let (x, y) = (cumulated(true, basis)?, cumulated(false, sample)?);
            return Comparison::of_columns(PASSES, &x, &y, |x, y| (x - y).abs()).map(Some);
        }
        let (x, y) = (self.masses(true, basis, n_cols)?, self.masses(false, sample, n_cols)?);
        let of_columns = |quantity, shares: &mut dyn Iterator<Item = f64>| {
            let (columns, shares) = shares.enumerate().filter(|(_, share)| *share != 0.0).unzip();
            Comparison::of(quantity, Pieces::Columns { columns, shares })
        };
        if masses::is_empty(&x) || masses::is_empty(&y) {
            // All of the other one.
            let mut all = x.iter().zip(&y).map(|(x, y)| (x + y) / masses::TOTAL * farthest(n_cols));
            return Ok(Some(of_columns("work to an empty histogram", &mut all)));
        }
        let mut passed = Vec::new();
        circle::passes(&x, &y, &mut passed);
        Ok(Some(of_columns(PASSES, &mut passed.iter().map(|passed| passed.abs() / masses::TOTAL))))
    }
}
