//! Features of samples as sparse rows, where some parts are sparse: the features of the others are stored as sparse
//! entries too, 8 bytes a number.

use std::ops::Range;

use super::Normalization;
use super::affine::Affine;
use super::basis_expansion::{BasisExpansion, CHUNK_ROWS};
use super::compared::Compared;
use super::part_map::{PartMap, n_joined};
use crate::data::{CsrMatrix, DenseView, Rows, Samples, Source, Training};
use crate::error::Result;
use crate::linalg;
use crate::monitor::{Monitor, RowCount};
use crate::par::Pool;
use crate::similarity::Similarity;

impl<S: Similarity> BasisExpansion<S> {
    /// Whether features are computed as sparse rows: those of sparse vectors themselves, unchanged; together with other
    /// parts they are not centered, so that they stay sparse unless each column is scaled or all are mixed.
    pub(crate) fn is_sparse(&self) -> bool {
        let is_joined = self.sparse.len() > 1;
        let may_be = match self.normalization {
            Normalization::None => true,
            Normalization::ZScore | Normalization::Covariance => false,
            _ => is_joined,
        };
        may_be && self.sparse.contains(&true)
    }

    /// The features of samples where they are sparse: about 8 bytes for each that is not 0.
    ///
    /// # Errors
    /// As for [`BasisExpansion::transform_with`].
    pub(crate) fn sparse_features(
        &self,
        samples: &dyn Source<Samples = S::Samples>,
        threads: usize,
        monitor: &Monitor<'_>,
    ) -> Result<CsrMatrix<f32>> {
        let (n_rows, mut all) = (samples.n_samples(), CsrMatrix::empty(self.n_features()));
        let (pool, count) = (Pool::new(threads)?, RowCount::new(monitor, "similarity", n_rows));
        let chunk = |rows: Range<usize>| {
            count.go_on()?;
            let part = self.sparse_rows(self.read(samples, rows.clone())?, rows.start)?;
            count.add(rows.len());
            Ok(part)
        };
        pool.fold_chunks(n_rows, CHUNK_ROWS, chunk, |part| {
            all.append(&part, |value: f32| value);
            Ok(())
        })?;
        Ok(all)
    }

    /// The same of a chunk of samples; `first_row` is their offset among all, for messages.
    pub(crate) fn sparse_rows(&self, samples: S::Samples, first_row: usize) -> Result<CsrMatrix<f32>> {
        let n = samples.len();
        let mut compared = self.compared(samples, first_row, true)?;
        if let ([Compared::Sparse(rows)], [map]) = (&mut compared[..], &self.maps[..])
            && map.factors() == [1.0]
        {
            return Ok(std::mem::take(rows));
        }
        let mut parts = Vec::with_capacity(self.maps.len());
        for ((map, &is_sparse), similarities) in self.maps.iter().zip(&self.sparse).zip(compared) {
            parts.push(match similarities {
                Compared::Sparse(rows) => Part::Sparse(rows),
                // Features of dense samples where those of the fit were sparse.
                Compared::Single(values) if is_sparse => Part::sparse_of(&values, n, map.n_columns)?,
                similarities => {
                    let width = map.n_features;
                    let mut values = vec![0.0f32; n * width];
                    similarities.map_into(map, &mut values, width, 0);
                    Part::Dense { values, width }
                }
            });
        }
        Ok(joined(&parts, &self.maps, n))
    }
}

/// The features of some samples in one part.
pub(super) enum Part {
    /// Not yet multiplied by the factor of the part's map.
    Sparse(CsrMatrix<f32>),
    /// Row-major, mapped.
    Dense { values: Vec<f32>, width: usize },
}

impl Part {
    /// The non-zeros of dense rows.
    pub fn sparse_of(values: &[f32], n_rows: usize, width: usize) -> Result<Part> {
        let rows = DenseView::new(values, n_rows, width)?;
        let mut out = CsrMatrix::empty(width);
        for row in 0..n_rows {
            rows.for_each_nonzero(row, |column, value| {
                out.indices.push(column as u32);
                out.values.push(value as f32);
            });
            out.indptr.push(out.values.len());
        }
        Ok(Part::Sparse(out))
    }
}

/// The parts side by side.
pub(super) fn joined(parts: &[Part], maps: &[PartMap], n_rows: usize) -> CsrMatrix<f32> {
    let mut out = CsrMatrix::empty(n_joined(maps));
    for row in 0..n_rows {
        let mut first = 0;
        for (part, map) in parts.iter().zip(maps) {
            match part {
                Part::Sparse(rows) => {
                    let factor = map.factors()[0];
                    out.indices.extend(rows.row(row).map(|(column, _)| first as u32 + column));
                    out.values.extend(rows.row(row).map(|(_, value)| value * factor));
                }
                Part::Dense { values, width } => {
                    // Zeros too: they may be centered afterwards.
                    out.indices.extend((first..first + width).map(|column| column as u32));
                    out.values.extend_from_slice(&values[row * width..(row + 1) * width]);
                }
            }
            first += map.n_features;
        }
        out.indptr.push(out.values.len());
    }
    out
}

/// The maps of all parts, from rows whose features are not normalized yet. Parts that are centered have all their
/// columns in each row.
pub(super) fn learn<S: Samples>(
    affine: &Affine,
    rows: &CsrMatrix<f32>,
    training: &Training<'_, S>,
) -> Result<Vec<PartMap>> {
    let (weights, total) = (training.weights, training.weights.iter().sum::<f64>());
    let mut sums = vec![0.0f64; affine.width()];
    for (row, weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
        training.go_on("normalize")?;
        for (column, value) in rows.row(row) {
            sums[column as usize] += weight * f64::from(value);
        }
    }
    let mean = affine.mean(sums, total);
    let parts: Vec<Range<usize>> = affine.parts().collect();
    let mut spreads = vec![0.0f64; parts.len()];
    for (row, weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
        training.go_on("normalize")?;
        let (mut part, mut squares) = (0, vec![0.0f64; parts.len()]);
        for (column, value) in rows.row(row) {
            while !parts[part].contains(&(column as usize)) {
                part += 1;
            }
            squares[part] += (f64::from(value) - mean[column as usize]).powi(2);
        }
        let norms: Vec<f64> = squares.iter().map(|square| weight * square.sqrt()).collect();
        linalg::add(&mut spreads, &norms);
    }
    affine.maps(&mean, &spreads, total)
}

/// Centers and scales rows in place.
pub(super) fn apply(maps: &[PartMap], rows: &mut CsrMatrix<f32>) {
    let (mut centers, mut factors) = (Vec::new(), Vec::new());
    for map in maps {
        centers.extend_from_slice(&map.center);
        factors.resize(centers.len(), map.factors()[0]);
    }
    for (value, &column) in rows.values.iter_mut().zip(&rows.indices) {
        *value = (*value - centers[column as usize]) * factors[column as usize];
    }
}

/// The parts that are features of sparse rows.
pub(super) fn sparse_parts<S: Similarity>(similarity: &S, described: &S::Samples) -> Result<Vec<bool>> {
    let is_sparse = |part: usize| match similarity.own_features(part, described) {
        None => Ok(false),
        Some(_) => Ok(similarity.sparse_block(part, described, described)?.is_some()),
    };
    (0..similarity.n_parts()).map(is_sparse).collect()
}
