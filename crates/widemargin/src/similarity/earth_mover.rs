//! The earth mover's distance of histograms over bins in a line: `emd`.
//!
//! d(x, y) is the least work that turns the shares of x into those of y, where moving a share by one bin costs it. In a line
//! it is the area between the cumulated shares, d(x, y) = Σ_j |F_x(j) − F_y(j)| (Vallender, *Calculation of the Wasserstein
//! distance between probability distributions on the line*, 1974; Rubner, Tomasi and Guibas 2000 for images). It is a city-block
//! distance, so that −d is positive definite against constants and exp(−gamma d) positive definite.
//!
//! A histogram is divided by its sum. One that is empty counts as if all of it were one bin past the last.

use super::distances::sums_of_terms;
use super::exponential::exponentials;
use super::row::{Definite, Definition, Onnx, SimilarityRow, built};
use super::shared_features::check_widths;
use super::{Comparison, Similarity};
use crate::data::{DenseMatrix, Samples, Vectors};
use crate::error::{Error, Result};
use crate::parameters::{Parameter, Values};
use crate::spec::Step;

const EMD: SimilarityRow = SimilarityRow {
    name: "emd",
    class: "EarthMover",
    samples: &["vectors"],
    formula: "−d(x, y), with a gamma exp(−gamma d(x, y)), d the earth mover's distance of histograms over bins in a line",
    about: "Moving all of a histogram by one bin costs 1. Of histograms: no value below 0; each is divided by its sum, and an \
            empty one lies one bin past the last.",
    parameters: &[Parameter::new("gamma", Values::POSITIVE, "Without one it is −d.").optional()],
    examples: &["emd", "emd:gamma=0.3"],
    definite: Definite::Conditional,
    definition: Some(Definition::Vectors(|arguments, x, y| {
        // Earth from the left goes to the first holes: what is carried, bin by bin.
        let shares = |x: &[f64]| -> Vec<f64> {
            let sum: f64 = x.iter().sum();
            if sum == 0.0 { vec![0.0; x.len()] } else { x.iter().map(|x| x / sum).collect() }
        };
        let (x, y) = (shares(x), shares(y));
        let (mut piles, mut holes): (Vec<f64>, Vec<f64>) = (x.clone(), y.clone());
        // What is missing lies past the last bin.
        piles.push(1.0 - x.iter().sum::<f64>());
        holes.push(1.0 - y.iter().sum::<f64>());
        let (mut from, mut to, mut work) = (0, 0, 0.0);
        while from < piles.len() && to < holes.len() {
            let moved = piles[from].min(holes[to]);
            work += moved * (from as f64 - to as f64).abs();
            (piles[from], holes[to]) = (piles[from] - moved, holes[to] - moved);
            if piles[from] <= holes[to] {
                from += 1;
            } else {
                to += 1;
            }
        }
        Ok(arguments.get::<f64>("gamma")?.map_or(-work, |gamma| (-gamma * work).exp()))
    })),
    onnx: Onnx::NO_VECTORS,
    build: |step| built(EarthMover::from_step(step)),
};

pub(super) const ROWS: &[SimilarityRow] = &[EMD];

/// −d or exp(−gamma d), d the earth mover's distance, in single precision.
#[derive(Clone, Debug, PartialEq)]
pub struct EarthMover {
    gamma: Option<f64>,
    step: Step,
}

impl EarthMover {
    /// The similarity of a spec such as `emd` or `emd:gamma=0.5`.
    ///
    /// # Errors
    /// As for [`SimilarityRow::arguments`].
    pub fn from_step(step: &Step) -> Result<Self> {
        Ok(EarthMover { gamma: EMD.arguments(step)?.get("gamma")?, step: step.clone() })
    }

    /// The cumulated shares of rows of `n_cols` numbers; columns that sparse rows lack are 0.
    fn cumulated(&self, is_basis: bool, vectors: &Vectors, n_cols: usize) -> Result<DenseMatrix<f32>> {
        let rows = vectors.dense()?;
        let mut values = Vec::with_capacity(rows.n_rows * n_cols);
        for (number, row) in rows.values.chunks(rows.n_cols.max(1)).enumerate() {
            if let Some(value) = row.iter().find(|x| !(**x >= 0.0 && x.is_finite())) {
                let problem = format!("has the value {value}: histograms have values that are finite and at least 0");
                return Err(Error::Sample { similarity: self.spec(), is_basis, number, problem });
            }
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
}

impl Similarity for EarthMover {
    type Samples = Vectors;

    fn spec(&self) -> String {
        self.step.to_string()
    }

    /// A difference, its size and a sum a bin and pair, after the sums of each histogram.
    fn block(&self, bases: &Vectors, samples: &Vectors, block: &mut [f32]) -> Result<()> {
        check_widths(bases, samples)?;
        let n_cols = bases.n_cols();
        let (bases, samples) = (self.cumulated(true, bases, n_cols)?, self.cumulated(false, samples, n_cols)?);
        sums_of_terms(&bases, &samples, block, |x, y| (x - y).abs());
        match self.gamma {
            Some(gamma) => exponentials(-gamma as f32, block),
            None => block.iter_mut().for_each(|d| *d = -*d),
        }
        Ok(())
    }

    fn comparison(
        &self,
        _part: usize,
        bases: (&Vectors, usize),
        samples: (&Vectors, usize),
    ) -> Result<Option<Comparison>> {
        // The work that passes from a bin to the next.
        let cumulated = |is_basis, (vectors, row): (&Vectors, usize)| {
            self.cumulated(is_basis, &Samples::select(vectors, &[row]), bases.0.n_cols()).map(Vectors::Dense)
        };
        let (x, y) = (cumulated(true, bases)?, cumulated(false, samples)?);
        Comparison::of_columns("work from each bin to the next", (&x, 0), (&y, 0), |x, y| (x - y).abs()).map(Some)
    }

    fn is_symmetric(&self, _part: usize) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::pairwise;
    use crate::similarity::sequence_tests::of;

    fn rows(values: &[f32], n_cols: usize) -> Vectors {
        Vectors::Dense(DenseMatrix { values: values.to_vec(), n_rows: values.len() / n_cols, n_cols })
    }

    #[test]
    fn earth_is_moved_by_bins() {
        let all = rows(&[1.0, 0.0, 0.0, 0.0, 0.0, 5.0, 1.0, 1.0, 2.0, 0.0, 0.0, 0.0], 3);
        let d = pairwise(&of("emd", EarthMover::from_step), &all, &all).unwrap();
        // All of it by two bins; a half by two and a quarter by one; and past the last bin.
        assert_eq!(d[..4], [-0.0, -2.0, -1.25, -3.0]);
        assert_eq!(d[4..8], [-2.0, -0.0, -0.75, -1.0]);
    }

    #[test]
    fn what_is_no_histogram_is_refused() {
        let s = of("emd", EarthMover::from_step);
        let told = pairwise(&s, &rows(&[1.0, 2.0], 2), &rows(&[1.0, 1.0, 3.0, -1.0], 2)).unwrap_err().to_string();
        assert!(told.contains("sample 1") && told.contains("-1: histograms"), "{told}");
        assert!(pairwise(&s, &rows(&[1.0, 2.0], 2), &rows(&[1.0, 2.0, 3.0], 3)).is_err());
    }
}
