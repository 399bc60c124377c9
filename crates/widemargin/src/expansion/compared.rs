//! Similarities of samples to the bases of each part, in the precision that its map takes, and the features made of
//! them.

use super::BasisExpansion;
use super::decision::FoldedDecision;
use super::part_map::{Linear, PartMap, n_joined};
use crate::data::{CsrMatrix, Samples, Source};
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::similarity::{Extension, Similarity};

/// The similarities of some samples to the bases of one part, \[sample\]\[column\].
pub(super) enum Compared {
    Single(Vec<f32>),
    /// Where the part's map takes double precision.
    Double(Vec<f64>),
    /// Sparse features.
    Sparse(CsrMatrix<f32>),
}

impl Compared {
    /// Writes the features that a map makes of them into rows of `width` numbers, from column `first` on; those of sparse
    /// features are not written.
    pub fn map_into(self, map: &PartMap, out: &mut [f32], width: usize, first: usize) {
        match self {
            Compared::Single(mut rows) => map.apply(&mut rows, out, width, first),
            Compared::Double(rows) => map.apply_precisely(&rows, out, width, first),
            Compared::Sparse(_) => {}
        }
    }
}

impl<S: Similarity> BasisExpansion<S> {
    /// The features of some samples, row-major; `first_row` is their offset among all, for messages.
    pub(crate) fn features_into(&self, samples: S::Samples, first_row: usize, out: &mut [f32]) -> Result<()> {
        self.mapped_into(&self.maps, samples, first_row, out)
    }

    /// The same by other maps of its parts.
    pub(crate) fn mapped_into(
        &self,
        maps: &[PartMap],
        samples: S::Samples,
        first_row: usize,
        out: &mut [f32],
    ) -> Result<()> {
        let (width, mut first) = (n_joined(maps), 0);
        for (map, similarities) in maps.iter().zip(self.compared(samples, first_row, false)?) {
            similarities.map_into(map, out, width, first);
            first += map.n_features;
        }
        Ok(())
    }

    /// The values that a folded decision multiplies by its weights, row-major.
    pub(crate) fn folded_into(
        &self,
        folded: &FoldedDecision,
        samples: S::Samples,
        first_row: usize,
        out: &mut [f64],
    ) -> Result<()> {
        let (width, mut first) = (folded.width(), 0);
        for (map, similarities) in folded.maps.iter().zip(self.compared(samples, first_row, false)?) {
            let n_columns = map.n_columns;
            let places = out.chunks_mut(width.max(1)).map(|row| &mut row[first..first + n_columns]);
            match similarities {
                Compared::Double(rows) => {
                    places.zip(rows.chunks(n_columns.max(1))).for_each(|(out, row)| out.copy_from_slice(row));
                }
                Compared::Single(mut rows) => {
                    for (out, row) in places.zip(rows.chunks_mut(n_columns.max(1))) {
                        map.center(row);
                        out.iter_mut().zip(row).for_each(|(out, x)| *out = f64::from(*x));
                    }
                }
                Compared::Sparse(_) => {}
            }
            first += n_columns;
        }
        Ok(())
    }

    /// The similarities of some samples to each part; features of sparse rows in their own form only if they `stay_sparse`.
    pub(super) fn compared(&self, samples: S::Samples, first_row: usize, stay_sparse: bool) -> Result<Vec<Compared>> {
        let (n_samples, samples) = (samples.len(), self.sound(samples, first_row)?);
        let located = |error: Error| error.in_part_from(first_row);
        let in_own_form = |part: usize| {
            let mut rows = CsrMatrix::default();
            let wanted = Extension::Sparse(&mut rows);
            if stay_sparse
                && self.sparse[part]
                && self.similarity.extension(part, &self.described, &samples, wanted).map_err(located)?
            {
                return Ok(Some(Compared::Sparse(rows)));
            }
            Ok(self.precise_values(part, &samples, first_row)?.map(Compared::Double))
        };
        let mut parts = (0..self.maps.len()).map(in_own_form).collect::<Result<Vec<_>>>()?;
        let is_left_out: Vec<bool> = parts.iter().map(Option::is_some).collect();
        let (n_columns, mut widths) = (self.n_columns(), self.widths());
        let is_whole = widths.iter().all(|&width| width == n_columns);
        widths.iter_mut().zip(&is_left_out).filter(|(_, left_out)| **left_out).for_each(|(width, _)| *width = 0);
        let mut single = vec![0.0f32; n_samples * widths.iter().sum::<usize>()];
        if is_left_out.contains(&false) {
            if is_whole && !is_left_out.contains(&true) {
                self.similarity.block(&self.described, &samples, &mut single)
            } else {
                self.similarity.own_block(&is_left_out, &self.described, &samples, &mut single)
            }
            .map_err(located)?;
        }
        self.check_finite(&single, &widths, n_samples, first_row)?;
        for (part, width) in parts.iter_mut().zip(widths).rev().filter(|(part, _)| part.is_none()) {
            let first = single.len() - n_samples * width;
            // Splitting off everything would copy it.
            let rows = if first == 0 { std::mem::take(&mut single) } else { single.split_off(first) };
            *part = Some(Compared::Single(rows));
        }
        Ok(parts.into_iter().flatten().collect())
    }

    /// Samples × columns of a part whose map takes double precision; none of others. Samples are converted.
    fn precise_values(&self, part: usize, samples: &S::Samples, first_row: usize) -> Result<Option<Vec<f64>>> {
        if !matches!(self.maps[part].linear, Linear::PreciseMatrix(_)) {
            return Ok(None);
        }
        let values = self.in_double_precision(part, samples, first_row)?;
        let problem = "it was fitted in double precision, which it no longer computes in";
        values.map(Some).ok_or_else(|| Error::similarity(self.similarity.part(part), problem))
    }

    /// Samples × columns of a part, where its similarity has double precision. Samples are converted.
    fn in_double_precision(&self, part: usize, samples: &S::Samples, first_row: usize) -> Result<Option<Vec<f64>>> {
        let columns = self.columns_of(part);
        let own;
        let bases = match columns.len() == self.n_columns() {
            true => &*self.described,
            false => {
                own = Samples::select(&*self.described, &columns);
                &own
            }
        };
        let mut values = vec![0.0; samples.len() * columns.len()];
        let is_precise = self.similarity.extension(part, bases, samples, Extension::Precise(&mut values));
        if !is_precise.map_err(|error| error.in_part_from(first_row))? {
            return Ok(None);
        }
        match values.iter().position(|value| !value.is_finite()) {
            None => Ok(Some(values)),
            Some(at) => {
                let (row, basis) = (first_row + at / columns.len(), columns[at % columns.len()]);
                Err(self.not_finite(part, row, basis, values[at]))
            }
        }
    }

    /// Whether the similarity of a part has double precision.
    pub(crate) fn has_double_precision(&self, part: usize) -> Result<bool> {
        if self.bases().len() == 0 || self.similarity.own_features(part, &self.described).is_some() {
            return Ok(false);
        }
        let one = Samples::select(&*self.described, &[0]);
        self.similarity.extension(part, &one, &one, Extension::Precise(&mut [0.0]))
    }

    /// The similarities of samples to the bases of a part that has double precision, samples × columns.
    ///
    /// # Errors
    /// As for [`BasisExpansion::transform`].
    pub(crate) fn precise_similarities(
        &self,
        part: usize,
        samples: &dyn Source<Samples = S::Samples>,
        threads: usize,
        monitor: &Monitor<'_>,
    ) -> Result<Vec<f64>> {
        let (n_rows, chunk_rows) = (samples.n_samples(), self.chunk_rows());
        let mut all = Vec::with_capacity(n_rows * self.columns_of(part).len());
        let chunk = |rows: std::ops::Range<usize>| {
            monitor.go_on("similarity")?;
            let first = rows.start;
            let samples = self.sound(self.read(samples, rows)?, first)?;
            Ok(self.in_double_precision(part, &samples, first)?.unwrap_or_default())
        };
        Pool::new(threads)?.fold_chunks(n_rows, chunk_rows, chunk, |values| {
            all.extend_from_slice(&values);
            Ok(())
        })?;
        Ok(all)
    }

    /// Rejects similarities that are not finite: \[part\]\[sample\]\[column\].
    pub(super) fn check_finite(&self, block: &[f32], widths: &[usize], n: usize, first_row: usize) -> Result<()> {
        // Without an early end within a chunk, so that it is vectorized.
        let are_finite = |some: &[f32]| some.iter().fold(true, |all, value| all & value.is_finite());
        if block.chunks(256).all(are_finite) {
            return Ok(());
        }
        let Some(at) = block.iter().position(|value| !value.is_finite()) else { return Ok(()) };
        let (mut part, mut pair) = (0, at);
        while pair >= n * widths[part] {
            pair -= n * widths[part];
            part += 1;
        }
        let (row, basis) = (first_row + pair / widths[part], self.columns_of(part)[pair % widths[part]]);
        Err(self.not_finite(part, row, basis, block[at].into()))
    }

    fn not_finite(&self, part: usize, number: usize, basis: usize, value: f64) -> Error {
        let problem = format!("has the value {value} with basis {basis}: it must be a finite number");
        Error::Sample { similarity: self.similarity.part(part), is_basis: false, number, problem }
    }

    /// Samples as the similarity compares them. Those that have no value are rejected: some similarities would turn a
    /// NaN into a number.
    fn sound(&self, samples: S::Samples, first_row: usize) -> Result<S::Samples> {
        let flaw = samples.flaw().map(|(number, problem)| Error::Sample {
            similarity: self.similarity.spec(),
            is_basis: false,
            number,
            problem,
        });
        flaw.map_or_else(|| self.describe(samples), Err).map_err(|error| error.in_part_from(first_row))
    }
}
