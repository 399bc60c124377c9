//! Features of samples as sparse rows, where some parts are sparse.

use std::ops::Range;

use super::Normalization;
use super::basis_expansion::{BasisExpansion, CHUNK_ROWS};
use super::part_map::PartMap;
use super::sparse_rows;
use crate::data::{CsrMatrix, Samples, Source};
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
        self.check_sound(&samples, first_row)?;
        let samples = self.describe(samples).map_err(|error| error.in_part_from(first_row))?;
        let n = samples.len();
        let mut own: Vec<Option<CsrMatrix<f32>>> = Vec::with_capacity(self.sparse.len());
        for (part, &is_sparse) in self.sparse.iter().enumerate() {
            let rows = match is_sparse {
                true => self.similarity.sparse_block(part, &self.described, &samples),
                false => Ok(None),
            };
            own.push(rows.map_err(|error| error.in_part_from(first_row))?);
        }
        if let ([Some(_)], [PartMap::Affine { factors, .. }]) = (&own[..], &self.maps[..])
            && factors[..] == [1.0]
        {
            return Ok(own.swap_remove(0).unwrap_or_default());
        }
        // Similarities, and features of dense samples where those of the fit were sparse.
        let is_left_out: Vec<bool> = own.iter().map(Option::is_some).collect();
        let widths = self.widths().into_iter().zip(&is_left_out);
        let widths: Vec<usize> = widths.map(|(width, is_left_out)| if *is_left_out { 0 } else { width }).collect();
        let mut block = vec![0.0f32; n * widths.iter().sum::<usize>()];
        self.similarity
            .own_block(&is_left_out, &self.described, &samples, &mut block)
            .map_err(|error| error.in_part_from(first_row))?;
        self.check_finite(&block, &widths, n, first_row)?;
        let (mut parts, mut rest) = (Vec::with_capacity(own.len()), &mut block[..]);
        for (part, rows) in own.into_iter().enumerate() {
            let (values, left) = rest.split_at_mut(n * widths[part]);
            rest = left;
            parts.push(match rows {
                Some(rows) => sparse_rows::Part::Sparse(rows),
                None if self.sparse[part] => sparse_rows::Part::sparse_of(values, n, widths[part])?,
                None => {
                    let width = self.maps[part].n_features();
                    let mut features = vec![0.0f32; n * width];
                    self.maps[part].apply(values, &mut features, width, 0);
                    sparse_rows::Part::Dense { values: features, width }
                }
            });
        }
        Ok(sparse_rows::joined(&parts, &self.maps, n))
    }
}
