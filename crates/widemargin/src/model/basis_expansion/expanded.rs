//! The basis expansion alone, as features for any linear method.

use std::fmt;

use super::expand::{Prepared, unweighted};
use crate::data::{
    ABSENT, About, ClassWeight, CsrMatrix, DenseMatrix, Distinct, Labels, Picked, Source, Vectors, WeightedCodes,
    effective_weights,
};
use crate::error::{Error, Result, require};
use crate::expansion::BasisExpansion;
use crate::model::BasisExpansionParams;
use crate::model::clock::Clock;
use crate::model::known::Merged;
use crate::monitor::Monitor;
use crate::similarity::Similarity;

/// An expansion fitted without a classifier.
pub struct Expanded<S: Similarity, F = DenseMatrix<f32>> {
    /// The expansion: similarity, bases and normalization.
    pub expansion: BasisExpansion<S>,
    /// The features of the training samples: samples × features.
    pub features: F,
    /// The training rows of the bases; empty for explicit bases.
    pub basis_rows: Vec<usize>,
    /// Warnings; may be empty.
    pub warnings: Vec<String>,
}

impl<S: Similarity> BasisExpansionParams<S> {
    /// Fits the expansion alone, as features for any linear method: the first half of
    /// [`BasisExpansionParams::fit_with`].
    ///
    /// With labels, bases are selected as for a classifier, and class weights apply; without, all samples count as one
    /// class.
    ///
    /// # Errors
    /// As for [`BasisExpansionParams::fit_with`], except that one class is enough.
    #[doc(hidden)]
    pub fn expand(
        self,
        samples: &dyn Source<Samples = S::Samples>,
        labels: Option<&Labels>,
        monitor: &Monitor<'_>,
    ) -> Result<Expanded<S>> {
        let Expanded { expansion, features, basis_rows, warnings } = self.expand_vectors(samples, labels, monitor)?;
        Ok(Expanded { expansion, features: features.into_dense()?, basis_rows, warnings })
    }

    /// The same with features that are sparse where they stay so.
    pub(crate) fn expand_vectors(
        self,
        samples: &dyn Source<Samples = S::Samples>,
        labels: Option<&Labels>,
        monitor: &Monitor<'_>,
    ) -> Result<Expanded<S, Vectors>> {
        self.check()?;
        let expected = "a number: only a classifier has decision values to learn it from";
        require(unweighted(&self.expander.similarity).is_empty(), "weight", "auto", expected)?;
        let n = samples.n_samples();
        if n == 0 {
            return Err(Error::NoSamples(""));
        }
        labels.map_or(Ok(()), |labels| labels.check_number(n))?;
        let strata = labels.map_or_else(|| vec![0; n], |labels| labels.strata().0);
        let weighed = labels.filter(|_| self.task.class_weight != ClassWeight::Uniform);
        let effective = match weighed {
            Some(labels) => effective_weights(labels, None, &self.task.class_weight)?,
            None => vec![1.0; n],
        };
        let samples = About::new(samples, &effective)?;
        let weighted = WeightedCodes { codes: &strata, weights: None, effective: &effective };
        let distinct = Distinct::find(|rows| samples.fingerprints(rows), weighted, 0, self.threads, monitor)?;
        let weights = match weighed {
            Some(labels) => distinct.labeled(labels, &self.task.class_weight)?.1,
            None => distinct.weights.clone(),
        };
        let strata = distinct.rows.iter().map(|&row| strata[row]).collect();
        // Nothing is left out.
        let merged = Merged { distinct, known: (), weights, units: Vec::new(), draws: Vec::new(), strata };
        let prepared = Prepared { samples, merged, threads: self.threads };
        let made = self.expander.fit(&prepared, &mut Clock::start(monitor))?;
        Ok(Expanded {
            features: features_of_all(made.phi, &prepared, &made.expansion, monitor)?,
            expansion: made.expansion,
            basis_rows: made.basis.rows,
            warnings: made.warning.into_iter().collect(),
        })
    }
}

impl<S: Similarity, F> fmt::Debug for Expanded<S, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Expanded")
            .field("expansion", &self.expansion)
            .field("basis_rows", &self.basis_rows)
            .field("warnings", &self.warnings)
            .finish_non_exhaustive()
    }
}

/// Expands the features of the distinct samples to those of all rows in the caller's order; dense ones in the same memory.
fn features_of_all<S: Similarity>(
    phi: Vectors,
    Prepared { samples, merged, threads }: &Prepared<'_, S::Samples, ()>,
    expansion: &BasisExpansion<S>,
    monitor: &Monitor<'_>,
) -> Result<Vectors> {
    let (Distinct { places, rows, .. }, threads) = (&merged.distinct, *threads);
    let absent: Vec<usize> = (0..places.len()).filter(|&row| places[row] == ABSENT).collect();
    let of_absent = Picked { source: samples, rows: &absent };
    let DenseMatrix { mut values, n_rows: n_distinct, n_cols } = match phi {
        Vectors::Dense(phi) => phi,
        Vectors::Sparse(phi) => {
            let others = expansion.sparse_features(&of_absent, threads, monitor);
            let others = others.map_err(|error| error.of_rows(&absent))?;
            let (mut all, mut next) = (CsrMatrix::empty(phi.n_cols), 0..);
            for &place in places {
                let (from, row) =
                    if place == ABSENT { (&others, next.next().unwrap_or(ABSENT)) } else { (&phi, place) };
                let range = from.indptr[row]..from.indptr[row + 1];
                all.indices.extend_from_slice(&from.indices[range.clone()]);
                all.values.extend_from_slice(&from.values[range]);
                all.indptr.push(all.values.len());
            }
            return Ok(Vectors::Sparse(all));
        }
    };
    let n_rows = places.len();
    values.resize(n_rows * n_cols, 0.0);
    // Where each row's features are now: first copies in their places, the other rows, which have none yet, in the
    // remaining ones. This is a permutation.
    let mut spare = n_distinct..;
    let mut from: Vec<usize> = Vec::with_capacity(n_rows);
    for (row, &place) in places.iter().enumerate() {
        let is_first = place != ABSENT && rows[place] == row;
        from.push(if is_first { place } else { spare.next().unwrap_or(ABSENT) });
    }
    permute(&mut values, n_cols, &mut from);
    for (row, &place) in places.iter().enumerate().filter(|(_, place)| **place != ABSENT) {
        let first = rows[place] * n_cols;
        values.copy_within(first..first + n_cols, row * n_cols);
    }
    if !absent.is_empty() {
        let others = expansion.transform_with(&of_absent, threads, monitor);
        let others = others.map_err(|error| error.of_rows(&absent))?;
        for (row, features) in absent.iter().zip(others.values.chunks(n_cols.max(1))) {
            values[row * n_cols..(row + 1) * n_cols].copy_from_slice(features);
        }
    }
    Ok(Vectors::Dense(DenseMatrix { values, n_rows, n_cols }))
}

/// Moves row `from[i]` to row `i`, for a permutation `from`, which is consumed: each cycle is followed once with a copy
/// of one row.
fn permute(values: &mut [f32], n_cols: usize, from: &mut [usize]) {
    let mut buffer = vec![0.0; n_cols];
    for start in 0..from.len() {
        if from[start] == start {
            continue;
        }
        buffer.copy_from_slice(&values[start * n_cols..(start + 1) * n_cols]);
        let mut row = start;
        loop {
            let next = std::mem::replace(&mut from[row], row);
            if next == start {
                values[row * n_cols..(row + 1) * n_cols].copy_from_slice(&buffer);
                break;
            }
            values.copy_within(next * n_cols..(next + 1) * n_cols, row * n_cols);
            row = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permutes_rows() {
        for mut from in [vec![0, 1, 2, 3, 4], vec![4, 3, 2, 1, 0], vec![1, 2, 3, 4, 0], vec![2, 0, 1, 4, 3]] {
            let right: Vec<f32> = from.iter().flat_map(|&row| [row as f32, row as f32 + 0.5]).collect();
            let mut values: Vec<f32> = (0..5).flat_map(|row| [row as f32, row as f32 + 0.5]).collect();
            permute(&mut values, 2, &mut from);
            assert_eq!(values, right);
        }
    }
}
