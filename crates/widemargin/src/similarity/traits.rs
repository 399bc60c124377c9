//! The one trait through which samples are compared.

use crate::data::{Samples, Training};
use crate::error::{Error, Result};

/// A similarity s(basis, sample), symmetric or not, definite or not.
///
/// It compares whole blocks, never one pair at a time, and sees no labels. A user's own needs `Samples`, `spec`
/// and `block`; `examples/rust/own_similarity.rs` in the repository has one in twenty lines.
pub trait Similarity: Send + Sync {
    /// What it compares: a collection such as `Vec<Molecule>`.
    type Samples: Samples;

    /// Its name with its parameters, such as `rbf:gamma=1`: reports, errors and model files quote it.
    fn spec(&self) -> String;

    /// Fills `block`, row-major samples × bases, with s(basis, sample).
    ///
    /// Rows are asked for in chunks, in any order and from several threads; a pair must get the same value, but for
    /// rounding, whatever chunk it is in.
    ///
    /// # Errors
    /// Samples it cannot compare; [`Error::Similarity`] is the variant for that.
    fn block(&self, bases: &Self::Samples, samples: &Self::Samples, block: &mut [f32]) -> Result<()>;

    /// Learns from the training samples what it needs, such as a scale. Most need nothing.
    ///
    /// # Errors
    /// As for [`Similarity::block`].
    fn fit(&mut self, _training: &Training<'_, Self::Samples>) -> Result<()> {
        Ok(())
    }

    /// Turns samples into what [`Similarity::block`] compares: called once for the bases and once for each chunk
    /// of samples. Most compare samples as they are.
    ///
    /// # Errors
    /// As for [`Similarity::block`].
    fn describe(&self, samples: Self::Samples) -> Result<Self::Samples> {
        Ok(samples)
    }

    /// Roughly how long one pair takes on one core, in seconds, where that is long: work is cut into pieces by it, so
    /// that it can be interrupted. 0 says that no block of a few hundred samples takes long.
    fn seconds_a_pair(&self, _bases: &Self::Samples) -> f64 {
        0.0
    }

    /// How many bases `block` has a column for: one a sample of `bases` unless samples bring their columns with
    /// them, as precomputed similarities do.
    fn n_columns(&self, bases: &Self::Samples) -> usize {
        bases.len()
    }

    /// True where samples bring their columns with them, so that no bases need be chosen.
    fn brings_columns(&self) -> bool {
        false
    }

    /// Fills `block`, row-major samples × bases, with the squared distances s(x, x) + s(y, y) − s(x, y) − s(y, x) of
    /// one part, where it knows them better than these four numbers tell in single precision; returns false where
    /// it does not. `bases` and `samples` are described, as for [`Similarity::block`].
    ///
    /// # Errors
    /// As for [`Similarity::block`].
    fn kernel_distances(
        &self,
        _part: usize,
        _bases: &Self::Samples,
        _samples: &Self::Samples,
        _block: &mut [f32],
    ) -> Result<bool> {
        Ok(false)
    }

    /// How many similarities it is side by side. A block of several is \[part\]\[sample\]\[basis\], and each part
    /// is normalised by itself.
    fn n_parts(&self) -> usize {
        1
    }

    /// The spec of one part.
    fn part(&self, _part: usize) -> String {
        self.spec()
    }

    /// True where s(x, y) = s(y, x) for all x and y by definition, so that a Gram matrix need not be checked.
    fn is_symmetric(&self, _part: usize) -> bool {
        false
    }
}

/// A borrowed similarity is one too; it has nothing left to learn.
impl<S: Similarity> Similarity for &S {
    type Samples = S::Samples;

    fn spec(&self) -> String {
        (**self).spec()
    }

    fn block(&self, bases: &S::Samples, samples: &S::Samples, block: &mut [f32]) -> Result<()> {
        (**self).block(bases, samples, block)
    }

    fn describe(&self, samples: S::Samples) -> Result<S::Samples> {
        (**self).describe(samples)
    }

    fn seconds_a_pair(&self, bases: &S::Samples) -> f64 {
        (**self).seconds_a_pair(bases)
    }

    fn kernel_distances(
        &self,
        part: usize,
        bases: &S::Samples,
        samples: &S::Samples,
        block: &mut [f32],
    ) -> Result<bool> {
        (**self).kernel_distances(part, bases, samples, block)
    }

    fn n_columns(&self, bases: &S::Samples) -> usize {
        (**self).n_columns(bases)
    }

    fn brings_columns(&self) -> bool {
        (**self).brings_columns()
    }

    fn n_parts(&self) -> usize {
        (**self).n_parts()
    }

    fn part(&self, part: usize) -> String {
        (**self).part(part)
    }

    fn is_symmetric(&self, part: usize) -> bool {
        (**self).is_symmetric(part)
    }
}

impl<T: Samples> Similarity for Box<dyn Similarity<Samples = T>> {
    type Samples = T;

    fn spec(&self) -> String {
        (**self).spec()
    }

    fn block(&self, bases: &T, samples: &T, block: &mut [f32]) -> Result<()> {
        (**self).block(bases, samples, block)
    }

    fn fit(&mut self, training: &Training<'_, T>) -> Result<()> {
        (**self).fit(training)
    }

    fn describe(&self, samples: T) -> Result<T> {
        (**self).describe(samples)
    }

    fn seconds_a_pair(&self, bases: &T) -> f64 {
        (**self).seconds_a_pair(bases)
    }

    fn kernel_distances(&self, part: usize, bases: &T, samples: &T, block: &mut [f32]) -> Result<bool> {
        (**self).kernel_distances(part, bases, samples, block)
    }

    fn n_columns(&self, bases: &T) -> usize {
        (**self).n_columns(bases)
    }

    fn brings_columns(&self) -> bool {
        (**self).brings_columns()
    }

    fn n_parts(&self) -> usize {
        (**self).n_parts()
    }

    fn part(&self, part: usize) -> String {
        (**self).part(part)
    }

    fn is_symmetric(&self, part: usize) -> bool {
        (**self).is_symmetric(part)
    }
}

/// The whole block of s(basis, sample), row-major samples × bases, of samples as they were given: small blocks,
/// tests and looking. A fitted [`crate::expansion::BasisExpansion`] works in chunks and in parallel.
///
/// # Errors
/// What the similarity meets, and [`Error::Shape`] where it has several parts.
pub fn pairwise<S: Similarity>(similarity: &S, bases: &S::Samples, samples: &S::Samples) -> Result<Vec<f32>> {
    if similarity.n_parts() != 1 {
        return Err(Error::Shape {
            what: "pairwise similarities".into(),
            found: format!("{} similarities side by side", similarity.n_parts()),
            expected: "one".into(),
        });
    }
    let (bases, samples) = (similarity.describe(bases.clone())?, similarity.describe(samples.clone())?);
    let mut block = vec![0.0; similarity.n_columns(&bases) * samples.len()];
    similarity.block(&bases, &samples, &mut block)?;
    Ok(block)
}
