//! Sparse rows of features in several parts, and their maps: the features of dense parts are stored as sparse entries
//! too, 8 bytes a number.

use std::ops::Range;

use super::affine::Affine;
use super::part_map::{PartMap, n_joined};
use crate::data::{CsrMatrix, DenseView, Rows, Samples, Training};
use crate::error::Result;
use crate::linalg;
use crate::similarity::{Extension, Similarity};

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
        Some(_) => similarity.extension(part, described, described, Extension::Sparse(&mut CsrMatrix::default())),
    };
    (0..similarity.n_parts()).map(is_sparse).collect()
}
