//! Similarities of samples to the bases of each part, in the precision that its map takes, and the features made of
//! them.

use super::BasisExpansion;
use super::decision::FoldedDecision;
use super::part_map::{PartMap, n_joined};
use crate::data::{CsrMatrix, Samples, Source};
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::par::Pool;
use crate::similarity::Similarity;

/// Similarities of some samples, part by part.
pub(super) struct Compared {
    pub n_samples: usize,
    /// Of parts in single precision, \[part\]\[sample\]\[column\].
    single: Vec<f32>,
    /// Columns of these; none of others.
    widths: Vec<usize>,
    /// Of each part in double precision, \[sample\]\[column\].
    double: Vec<Option<Vec<f64>>>,
    /// Of each part of sparse features.
    pub sparse: Vec<Option<CsrMatrix<f32>>>,
}

/// The similarities of one part.
pub(super) enum OfPart<'a> {
    Single(&'a mut [f32]),
    Double(&'a [f64]),
    Sparse(&'a CsrMatrix<f32>),
}

impl OfPart<'_> {
    /// Writes the features that a map makes of them into rows of `width` numbers, from column `first` on; those of sparse
    /// features are not written.
    pub fn map_into(self, map: &PartMap, out: &mut [f32], width: usize, first: usize) {
        match self {
            OfPart::Single(rows) => map.apply(rows, out, width, first),
            OfPart::Double(rows) => map.apply_precisely(rows, out, width, first),
            OfPart::Sparse(_) => {}
        }
    }
}

impl Compared {
    /// Those of each part.
    pub fn parts(&mut self) -> Vec<OfPart<'_>> {
        let mut rest = &mut self.single[..];
        let mut parts = Vec::with_capacity(self.widths.len());
        for ((width, double), sparse) in self.widths.iter().zip(&self.double).zip(&self.sparse) {
            let (own, left) = rest.split_at_mut(self.n_samples * width);
            rest = left;
            parts.push(match (double, sparse) {
                (Some(values), _) => OfPart::Double(values),
                (None, Some(rows)) => OfPart::Sparse(rows),
                (None, None) => OfPart::Single(own),
            });
        }
        parts
    }
}

/// What is computed in its own form where it has one: sparse features, and similarities in double precision.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    pub sparse: bool,
    pub double: bool,
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
        let mut compared = self.compared(samples, first_row, Wanted { sparse: false, double: true })?;
        let (width, mut first) = (n_joined(maps), 0);
        for (map, similarities) in maps.iter().zip(compared.parts()) {
            similarities.map_into(map, out, width, first);
            first += map.n_features();
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
        let mut compared = self.compared(samples, first_row, Wanted { sparse: false, double: true })?;
        let (width, mut first) = (folded.width(), 0);
        for (map, similarities) in folded.maps.iter().zip(compared.parts()) {
            let n_columns = map.n_columns();
            let places = out.chunks_mut(width.max(1)).map(|row| &mut row[first..first + n_columns]);
            match similarities {
                OfPart::Double(rows) => {
                    places.zip(rows.chunks(n_columns.max(1))).for_each(|(out, row)| out.copy_from_slice(row));
                }
                OfPart::Single(rows) => {
                    for (out, row) in places.zip(rows.chunks_mut(n_columns.max(1))) {
                        map.center(row);
                        out.iter_mut().zip(row).for_each(|(out, x)| *out = f64::from(*x));
                    }
                }
                OfPart::Sparse(_) => {}
            }
            first += n_columns;
        }
        Ok(())
    }

    /// The similarities of some samples, of each part as it is wanted and computed.
    pub(super) fn compared(&self, samples: S::Samples, first_row: usize, wanted: Wanted) -> Result<Compared> {
        let n_samples = samples.len();
        self.check_sound(&samples, first_row)?;
        let samples = self.describe(samples).map_err(|error| error.in_part_from(first_row))?;
        let (mut sparse, mut double) = (vec![None; self.maps.len()], vec![None; self.maps.len()]);
        for part in 0..self.maps.len() {
            if wanted.sparse && self.sparse[part] {
                let rows = self.similarity.sparse_block(part, &self.described, &samples);
                sparse[part] = rows.map_err(|error| error.in_part_from(first_row))?;
            }
            if wanted.double {
                double[part] = self.precise_values(part, &samples, first_row)?;
            }
        }
        let is_left_out: Vec<bool> =
            sparse.iter().zip(&double).map(|(sparse, double)| sparse.is_some() || double.is_some()).collect();
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
            .map_err(|error| error.in_part_from(first_row))?;
        }
        self.check_finite(&single, &widths, n_samples, first_row)?;
        Ok(Compared { n_samples, single, widths, double, sparse })
    }

    /// Samples × columns of a part whose map takes double precision; none of others. Samples are converted.
    fn precise_values(&self, part: usize, samples: &S::Samples, first_row: usize) -> Result<Option<Vec<f64>>> {
        if !self.maps[part].is_precise() {
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
        let is_precise = self.similarity.precise_block(part, bases, samples, &mut values);
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
        self.similarity.precise_block(part, &one, &one, &mut [0.0])
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
            let (first, samples) = (rows.start, self.read(samples, rows)?);
            self.check_sound(&samples, first)?;
            let samples = self.describe(samples).map_err(|error| error.in_part_from(first))?;
            Ok(self.in_double_precision(part, &samples, first)?.unwrap_or_default())
        };
        Pool::new(threads)?.fold_chunks(n_rows, chunk_rows, chunk, |values| {
            all.extend_from_slice(&values);
            Ok(())
        })?;
        Ok(all)
    }

    /// Rejects similarities that are not finite: \[part\]\[sample\]\[column\].
    fn check_finite(&self, block: &[f32], widths: &[usize], n: usize, first_row: usize) -> Result<()> {
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

    /// Rejects samples that have no value: some similarities would turn a NaN into a number.
    fn check_sound(&self, samples: &S::Samples, first_row: usize) -> Result<()> {
        match samples.flaw() {
            None => Ok(()),
            Some((at, problem)) => {
                let (similarity, number) = (self.similarity.spec(), first_row + at);
                Err(Error::Sample { similarity, is_basis: false, number, problem })
            }
        }
    }
}
