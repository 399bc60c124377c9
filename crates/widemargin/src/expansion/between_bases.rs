//! Similarities of bases to each other, where comparing a pair is expensive: each pair is compared once, for the Nyström
//! map and for the features of the training samples that are bases.

use super::BasisExpansion;
use super::compared::Compared;
use super::part_map::Linear;
use crate::data::{DenseMatrix, Picked, Samples, Training};
use crate::error::Result;
use crate::monitor::{Monitor, RowCount};
use crate::par::Pool;
use crate::similarity::Similarity;
use crate::tuning::{MAX_NUMBERS_BETWEEN_BASES, MIN_SECONDS_TO_COMPARE_ONCE};

impl<S: Similarity> BasisExpansion<S> {
    /// Whether a pair takes long, all parts are symmetric, and each part is compared with all bases.
    pub(super) fn compares_once(&self) -> bool {
        let (n, described) = (self.bases().len(), self.described());
        let is_alike =
            |part: usize| self.similarity.is_symmetric(part) && self.similarity.own_features(part, described).is_none();
        self.similarity.seconds_per_pair(described) >= MIN_SECONDS_TO_COMPARE_ONCE
            && self.n_columns() == n
            && self.widths().iter().all(|width| *width == n)
            && (0..self.similarity.n_parts()).all(is_alike)
    }

    /// The similarities of the bases to each other, unnormalized: bases × bases of all parts.
    ///
    /// # Errors
    /// As for [`BasisExpansion::transform_with`], where the samples are the bases.
    pub(super) fn between_bases(&self, threads: usize, monitor: &Monitor<'_>) -> Result<DenseMatrix<f32>> {
        if !self.compares_once() {
            return self.transform_with(self.bases(), threads, monitor);
        }
        let (n, n_parts, chunk_rows) = (self.bases().len(), self.similarity.n_parts(), self.chunk_rows());
        let width = n_parts * n;
        let mut values = vec![0.0f32; n * width];
        let count = RowCount::new(monitor, "similarity", n);
        let mut chunks: Vec<&mut [f32]> = values.chunks_mut(chunk_rows * width).collect();
        // Each basis is compared with those before it and itself.
        let compare = |at: usize, out: &mut &mut [f32]| {
            count.go_on()?;
            let (first, last) = (at * chunk_rows, ((at + 1) * chunk_rows).min(n));
            let pick = |first: usize| Samples::select(self.described(), &(first..last).collect::<Vec<usize>>());
            let mut block = vec![0.0f32; n_parts * (last - first) * last];
            self.similarity.block(&pick(0), &pick(first), &mut block).map_err(|error| error.in_part_from(first))?;
            self.check_finite(&block, &vec![last; n_parts], last - first, first)?;
            for (row, similarities) in block.chunks(last).enumerate() {
                let (part, row) = (row / (last - first), row % (last - first));
                out[row * width + part * n..][..last].copy_from_slice(similarities);
            }
            count.add(last - first);
            Ok(())
        };
        Pool::new(threads)?.map_mut(&mut chunks, compare).into_iter().collect::<Result<()>>()?;
        for row in 0..n {
            for (part, column) in (0..n_parts).flat_map(|part| (row + 1..n).map(move |column| (part, column))) {
                values[row * width + part * n + column] = values[column * width + part * n + row];
            }
        }
        Ok(DenseMatrix { values, n_rows: n, n_cols: width })
    }

    /// The features of the training samples. `basis_rows` are the rows of the bases among them, and `between` has the
    /// similarities between the bases if they were computed before.
    ///
    /// # Errors
    /// As for [`BasisExpansion::transform_with`].
    pub(super) fn training_features(
        &self,
        basis_rows: &[usize],
        between: Option<DenseMatrix<f32>>,
        training: &Training<'_, S::Samples>,
    ) -> Result<DenseMatrix<f32>> {
        let Training { samples, threads, monitor, .. } = *training;
        let (n_rows, n_bases, width) = (samples.n_samples(), self.bases().len(), self.n_features());
        let is_small = n_rows.saturating_mul(width) <= MAX_NUMBERS_BETWEEN_BASES;
        let is_precise = self.maps.iter().any(|map| matches!(map.linear, Linear::PreciseMatrix(_)));
        if basis_rows.len() != n_bases || !is_small || is_precise || !self.compares_once() {
            return self.transform_with(samples, threads, monitor);
        }
        let between = match between {
            Some(between) => between,
            // An error is found again in the order of the samples, whose numbers it then has.
            None => match self.between_bases(threads, &monitor.without_progress()) {
                Ok(between) => between,
                Err(_) => return self.transform_with(samples, threads, monitor),
            },
        };
        let mut is_basis = vec![false; n_rows];
        basis_rows.iter().for_each(|&row| is_basis[row] = true);
        let others: Vec<usize> = (0..n_rows).filter(|&row| !is_basis[row]).collect();
        let rest = self
            .transform_with(&Picked { source: samples, rows: &others }, threads, monitor)
            .map_err(|error| error.of_rows(&others))?;
        let (mut of_bases, mut first) = (vec![0.0f32; n_bases * width], 0);
        for (part, map) in self.maps.iter().enumerate() {
            let rows = between.values.chunks(between.n_cols.max(1));
            let similarities = rows.flat_map(|row| &row[part * n_bases..(part + 1) * n_bases]).copied().collect();
            Compared::Single(similarities).map_into(map, &mut of_bases, width, first);
            first += map.n_features;
        }
        let mut values = vec![0.0f32; n_rows * width];
        let known = others.iter().zip(rest.values.chunks(width.max(1)));
        for (&row, features) in known.chain(basis_rows.iter().zip(of_bases.chunks(width.max(1)))) {
            values[row * width..][..width].copy_from_slice(features);
        }
        Ok(DenseMatrix { values, n_rows, n_cols: width })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{AnySamples, Series};
    use crate::expansion::{NegativeEigenvalues, Normalization, NystroemCut};
    use crate::similarity::AnySimilarity;

    fn series() -> AnySamples {
        let lengths: Vec<usize> = (0..40).map(|at| 30 + at % 5).collect();
        let n = lengths.iter().sum::<usize>();
        let values = (0..n).map(|at| ((at * at) as f32 * 0.37).sin() + (at as f32 * 0.05).cos()).collect();
        AnySamples::Series(Series::new(values, &lengths, 1).unwrap())
    }

    #[test]
    fn comparing_once_changes_nothing() {
        let samples = series();
        for specs in [vec!["dtw:window=0.2"], vec!["msm", "twe"], vec!["soft-dtw"]] {
            for (normalization, rows) in [
                (Normalization::MeanNorm, (0..40).collect::<Vec<usize>>()),
                (Normalization::Centered(NegativeEigenvalues::Flip), (0..40).step_by(3).collect()),
                (Normalization::Nystroem(NegativeEigenvalues::Clip), (1..40).step_by(2).collect()),
            ] {
                let fitted = |known: &[usize]| {
                    let monitor = Monitor::none();
                    let training = Training { samples: &samples, weights: &[1.0; 40], threads: 2, monitor: &monitor };
                    let mut similarity = AnySimilarity::new(&specs).unwrap();
                    similarity.fit(&training).unwrap();
                    let bases = Samples::select(&samples, &rows);
                    let normalization = (normalization, NystroemCut::default());
                    BasisExpansion::fit(similarity, bases, normalization, known, &training).unwrap()
                };
                let ((expansion, features), (other, expected)) = (fitted(&rows), fitted(&[]));
                assert!(expansion.compares_once(), "{specs:?}");
                let (features, expected) = (features.into_dense().unwrap(), expected.into_dense().unwrap());
                let transformed = other.transform(&samples, 1).unwrap();
                let size = expected.values.iter().fold(0.0f32, |size, x| size.max(x.abs()));
                for found in [&features.values, &transformed.values] {
                    let worst = found.iter().zip(&expected.values).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                    assert!(worst <= 1e-5 * size, "{specs:?} {normalization}: {worst} of {size}");
                }
            }
        }
    }
}
