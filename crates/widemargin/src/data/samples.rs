//! Samples of any kind, in a collection that can be cut and picked from.

use std::ops::Range;

use crate::error::Result;

/// Samples of one kind, owned: vectors, images, strings, or anything a user compares.
///
/// A `Vec` of anything is a collection, so most similarities of a user's own need no other.
pub trait Samples: Clone + Send + Sync {
    /// Number of samples.
    fn len(&self) -> usize;

    /// True without samples.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The given samples, copied in the given order.
    fn select(&self, rows: &[usize]) -> Self;

    /// What tells a sample from others by its content (see [`Fingerprint`](super::Fingerprint)), where these samples
    /// can be told apart. A fit then takes copies of a sample as one of their summed weight, and its result does not
    /// depend on the order of samples, to the last bit.
    fn fingerprint(&self, _at: usize) -> Option<u128> {
        None
    }

    /// The first sample that no similarity can compare, and what is wrong with it: a number that is not finite, say.
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

/// Where samples come from, a chunk of rows at a time: a collection in memory, or a view that is copied into
/// one chunk by chunk, so that no second copy of all samples is ever made.
pub trait Source: Sync {
    /// What a chunk is.
    type Samples: Samples;

    /// Number of samples.
    fn n_samples(&self) -> usize;

    /// The samples of a range of rows.
    ///
    /// # Errors
    /// What reading them meets, such as a value that is no finite number.
    fn chunk(&self, rows: Range<usize>) -> Result<Self::Samples>;

    /// The given samples, in the given order.
    ///
    /// # Errors
    /// As for [`Source::chunk`].
    fn select(&self, rows: &[usize]) -> Result<Self::Samples>;

    /// The fingerprints of the given samples, in the given order; none where they have none.
    ///
    /// # Errors
    /// As for [`Source::chunk`].
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

    fn chunk(&self, rows: Range<usize>) -> Result<S> {
        Ok(Samples::select(self, &rows.collect::<Vec<_>>()))
    }

    fn select(&self, rows: &[usize]) -> Result<S> {
        Ok(Samples::select(self, rows))
    }

    fn fingerprints(&self, rows: &[usize]) -> Result<Option<Vec<u128>>> {
        Ok(rows.iter().map(|&row| self.fingerprint(row)).collect())
    }
}
