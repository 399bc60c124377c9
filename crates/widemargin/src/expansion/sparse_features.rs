//! Features of samples as sparse rows, where some parts are sparse.

use std::ops::Range;

use super::Normalization;
use super::affine::CHUNK_ROWS;
use super::basis_expansion::BasisExpansion;
use super::compared::Compared;
use super::sparse_rows::{Part, joined};
use crate::data::{CsrMatrix, Samples as _, Source};
use crate::error::Result;
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
