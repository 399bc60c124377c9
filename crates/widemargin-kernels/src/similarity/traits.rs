//! The trait for comparing samples.

use super::{ColumnMeaning, Comparison, PartOptions};
use crate::data::{CsrMatrix, Samples, SamplesView, Source, Training};
use crate::error::{Error, Result};

/// A similarity s(basis, sample), which need not be symmetric or positive definite.
///
/// It compares blocks of samples and bases, not single pairs, and sees no labels. A user-defined similarity needs
/// `Samples`, `spec` and `block`; `examples/rust/own_similarity.rs` in the repository implements one in twenty lines.
pub trait Similarity: Send + Sync + 'static {
    /// The collection of samples it compares, such as `Vec<Molecule>`.
    type Samples: Samples + 'static;

    /// Its name with its parameters, such as `rbf:gamma=1`, for reports, errors and model files.
    fn spec(&self) -> String;

    /// Fills `block`, row-major samples × bases, with s(basis, sample).
    ///
    /// Called for chunks of rows, in any order and from several threads; the value of a pair must not depend on its
    /// chunk, except for rounding.
    ///
    /// # Errors
    /// Samples it cannot compare; use [`Error::Similarity`] for these.
    fn block(&self, bases: &Self::Samples, samples: &Self::Samples, block: &mut [f32]) -> Result<()>;

    /// The samples of a view, for a trained model: only [`AnySimilarity`](super::AnySimilarity) compares them.
    ///
    /// # Errors
    /// [`Error::Kind`] for other samples.
    #[doc(hidden)]
    fn source<'a>(samples: &'a SamplesView<'_>) -> Result<&'a dyn Source<Samples = Self::Samples>>
    where
        Self: Sized,
    {
        Err(Error::Kind { found: samples.kind(), method: "the similarity".into(), wanted: "samples of its own type" })
    }

    /// Learns parameters, such as a scale, from the training samples. Most similarities have none.
    ///
    /// # Errors
    /// As for [`Similarity::block`].
    fn fit(&mut self, _training: &Training<'_, Self::Samples>) -> Result<()> {
        Ok(())
    }

    /// A copy as before [`Similarity::fit`], for one that is not fitted yet; none if there is no such copy. Without
    /// one, a fit whose time limit is too short for all samples is not repeated on fewer.
    #[doc(hidden)]
    fn unfitted(&self) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }

    /// Converts samples to the representation compared by [`Similarity::block`]: called once for the bases and once for
    /// each chunk of samples. Most similarities compare samples unchanged.
    ///
    /// # Errors
    /// As for [`Similarity::block`].
    fn describe(&self, samples: Self::Samples) -> Result<Self::Samples> {
        Ok(samples)
    }

    /// Roughly how long one pair takes on one core, in seconds; the chunk size is derived from it, so that work can be
    /// interrupted. 0 means that a block of a few hundred samples is always fast.
    fn seconds_per_pair(&self, _bases: &Self::Samples) -> f64 {
        0.0
    }

    /// The number of columns of `block`: one per sample of `bases`, unless samples provide the columns, as for
    /// precomputed similarities.
    #[doc(hidden)]
    fn n_columns(&self, bases: &Self::Samples) -> usize {
        bases.len()
    }

    /// Its properties that do not depend on samples.
    #[doc(hidden)]
    fn metadata(&self) -> Metadata {
        Metadata::default()
    }

    /// How many columns a part has that are a sample's own features, whatever the bases; none of a part that compares.
    /// `bases` are converted, as for [`Similarity::block`].
    #[doc(hidden)]
    fn own_features(&self, _part: usize, bases: &Self::Samples) -> Option<usize> {
        self.metadata().has_own_features.then(|| self.n_columns(bases))
    }

    /// Computes an [`Extension`] of one part, if the similarity has it for these samples; otherwise returns false.
    /// `bases` and `samples` are converted, as for [`Similarity::block`].
    ///
    /// # Errors
    /// As for [`Similarity::block`].
    #[doc(hidden)]
    fn extension(
        &self,
        _part: usize,
        _bases: &Self::Samples,
        _samples: &Self::Samples,
        _wanted: Extension<'_>,
    ) -> Result<bool> {
        Ok(false)
    }

    /// The number of similarities combined. A block of several is \[part\]\[sample\]\[basis\], and each part is
    /// normalized separately.
    #[doc(hidden)]
    fn n_parts(&self) -> usize {
        1
    }

    /// The spec of one part.
    #[doc(hidden)]
    fn part(&self, _part: usize) -> String {
        self.spec()
    }

    /// How an expansion uses one part.
    #[doc(hidden)]
    fn options(&self, _part: usize) -> PartOptions {
        PartOptions::default()
    }

    /// Sets a learned weight of one part. Similarities without options ignore it.
    #[doc(hidden)]
    fn set_weight(&mut self, _part: usize, _weight: f64) {}

    /// The same block as [`Similarity::block`] without the bases that a part is not compared with
    /// ([`PartOptions::columns`]), and with its features in the place of similarities where it has some
    /// ([`Similarity::own_features`]): \[part\]\[sample\]\[column of the part\]. Parts that are left out have no columns in
    /// it; only those that have double precision or sparse columns ever are.
    ///
    /// # Errors
    /// As for [`Similarity::block`].
    #[doc(hidden)]
    fn own_block(
        &self,
        _is_left_out: &[bool],
        bases: &Self::Samples,
        samples: &Self::Samples,
        block: &mut [f32],
    ) -> Result<()> {
        self.block(bases, samples, block)
    }

    /// True if s(x, y) = s(y, x) for all x and y by definition, so that a Gram matrix need not be checked.
    fn is_symmetric(&self, _part: usize) -> bool {
        false
    }

    /// The pieces of the similarity of one basis and one sample in a part, such as columns or the path of an alignment;
    /// `None` where the similarity has no such pieces. Both are collections of one, converted as for
    /// [`Similarity::block`].
    ///
    /// # Errors
    /// As for [`Similarity::block`].
    fn comparison(&self, _part: usize, _basis: &Self::Samples, _sample: &Self::Samples) -> Result<Option<Comparison>> {
        Ok(None)
    }

    /// The meaning of the columns that a part's descriptors make of these samples, not yet converted.
    ///
    /// # Errors
    /// As for [`Similarity::describe`].
    #[doc(hidden)]
    fn column_meaning(&self, _part: usize, _samples: &Self::Samples) -> Result<ColumnMeaning> {
        Ok(ColumnMeaning::Unknown)
    }
}

/// Properties of a similarity that do not depend on samples.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// How many of the last columns of a block are not similarities but values of polynomials at the samples, for which
    /// a similarity is conditionally positive definite: all but the constant, for the centered normalizations.
    pub n_polynomials: usize,
    /// Whether samples provide the columns, so that no bases need to be selected.
    pub brings_columns: bool,
    /// Whether the columns of all parts are no similarities but a sample's own features, between which and the bases
    /// there is nothing that a Nyström map could take.
    pub has_own_features: bool,
    /// Whether it is invariant to offsets subtracted from both samples, such as those of vectors far from 0.
    pub depends_on_differences: bool,
}

/// What a part may compute in addition to similarities in single precision.
#[doc(hidden)]
#[derive(Debug)]
pub enum Extension<'a> {
    /// The squared distances s(x, x) + s(y, y) − s(x, y) − s(y, x), row-major samples × bases, if they can be computed
    /// more accurately than from these four numbers in single precision.
    Distances(&'a mut [f32]),
    /// Similarities with more digits than single precision, row-major samples × bases.
    Precise(&'a mut [f64]),
    /// The columns that are a sample's own features, where they are sparse for bases and samples.
    Sparse(&'a mut CsrMatrix<f32>),
}

/// The whole block of s(basis, sample), row-major samples × bases, for unconverted samples: for small blocks, tests and
/// inspection. A fitted `BasisExpansion` works in chunks and in parallel.
///
/// # Errors
/// Errors of the similarity, and [`Error::Shape`] if it has several parts.
pub fn pairwise<S: Similarity>(similarity: &S, bases: &S::Samples, samples: &S::Samples) -> Result<Vec<f32>> {
    if similarity.n_parts() != 1 {
        let found = format!("{} similarities side by side", similarity.n_parts());
        return Err(Error::shape("pairwise similarities", found, "one"));
    }
    let samples = similarity.describe(samples.clone().about(bases.offsets()))?;
    let bases = similarity.describe(bases.clone())?;
    let mut block = vec![0.0; similarity.n_columns(&bases) * samples.len()];
    similarity.block(&bases, &samples, &mut block)?;
    Ok(block)
}
