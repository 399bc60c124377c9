//! Collections of samples of any kind.

use std::ops::Range;

use super::offsets::Offsets;
use crate::error::Result;

/// An owned collection of samples of one kind: vectors, images, strings, or user-defined objects.
///
/// A `Vec` of any type is a collection, so most user-defined similarities need no other.
pub trait Samples: Clone + Send + Sync {
    /// Number of samples.
    fn len(&self) -> usize;

    /// True if there are no samples.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A copy of these samples, in this order.
    fn select(&self, rows: &[usize]) -> Self;

    /// A hash of a sample's content (see [`Fingerprint`](super::Fingerprint)), or `None` if samples of this kind cannot
    /// be hashed. With fingerprints, a fit merges copies of a sample into one with the summed weight, and its result
    /// does not depend on the order of samples, bit for bit.
    fn fingerprint(&self, _at: usize) -> Option<u128> {
        None
    }

    /// The offsets of the columns of vectors far from 0 ([`FarVectors`](super::FarVectors)); `None` for other samples.
    #[doc(hidden)]
    fn offsets(&self) -> Option<&Offsets> {
        None
    }

    /// The same vectors with other offsets, or without; samples other than dense vectors unchanged.
    #[doc(hidden)]
    fn about(self, _offsets: Option<&Offsets>) -> Self {
        self
    }

    /// The same samples without a reference to others, from which they were selected.
    ///
    /// # Errors
    /// Errors of a user-defined collection.
    #[doc(hidden)]
    fn detached(self) -> Result<Self> {
        Ok(self)
    }

    /// The first sample that no similarity can compare and the problem, such as a non-finite number.
    fn flaw(&self) -> Option<(usize, String)> {
        None
    }
}

impl<T: Clone + Send + Sync> Samples for Vec<T> {
    fn len(&self) -> usize {
        Vec::len(self)
    }

    fn select(&self, rows: &[usize]) -> Self {
        rows.iter().map(|&row| self[row].clone()).collect()
    }
}

/// A source of samples, read in chunks of rows: a collection in memory, or a view that is copied chunk by chunk, so
/// that all samples are never copied at once.
pub trait Source: Sync {
    /// The type of a chunk.
    type Samples: Samples;

    /// Number of samples.
    fn n_samples(&self) -> usize;

    /// The samples of a range of rows.
    ///
    /// # Errors
    /// Read errors, such as a non-finite value.
    fn chunk(&self, rows: Range<usize>) -> Result<Self::Samples> {
        self.select(&rows.collect::<Vec<_>>())
    }

    /// These samples, in this order.
    ///
    /// # Errors
    /// As for [`Source::chunk`].
    fn select(&self, rows: &[usize]) -> Result<Self::Samples>;

    /// The offsets that dense vectors need because some columns are far from 0, for samples of weight above 0; `None`
    /// if they need none, and for other samples.
    ///
    /// # Errors
    /// As for [`Source::chunk`].
    #[doc(hidden)]
    fn needed_offsets(&self, _weights: &[f64]) -> Result<Option<Offsets>> {
        Ok(None)
    }

    /// As [`Source::chunk`], with these offsets subtracted from dense vectors before they are rounded to single
    /// precision.
    ///
    /// # Errors
    /// As for [`Source::chunk`].
    #[doc(hidden)]
    fn chunk_about(&self, rows: Range<usize>, offsets: &Offsets) -> Result<Self::Samples> {
        self.select_about(&rows.collect::<Vec<_>>(), offsets)
    }

    /// The same for these samples, in this order.
    ///
    /// # Errors
    /// As for [`Source::chunk`].
    #[doc(hidden)]
    fn select_about(&self, rows: &[usize], offsets: &Offsets) -> Result<Self::Samples> {
        Ok(self.select(rows)?.about(Some(offsets)))
    }

    /// The fingerprints of these samples, in this order; `None` if they have none.
    ///
    /// # Errors
    /// As for [`Source::chunk`].
    #[doc(hidden)]
    fn fingerprints(&self, rows: &[usize]) -> Result<Option<Vec<u128>>> {
        let picked = self.select(rows)?;
        Ok((0..picked.len()).map(|at| picked.fingerprint(at)).collect())
    }
}

impl<S: Samples> Source for S {
    type Samples = S;

    fn n_samples(&self) -> usize {
        self.len()
    }

    fn select(&self, rows: &[usize]) -> Result<S> {
        Ok(Samples::select(self, rows))
    }

    fn needed_offsets(&self, _weights: &[f64]) -> Result<Option<Offsets>> {
        Ok(self.offsets().cloned())
    }

    fn fingerprints(&self, rows: &[usize]) -> Result<Option<Vec<u128>>> {
        Ok(rows.iter().map(|&row| self.fingerprint(row)).collect())
    }
}
