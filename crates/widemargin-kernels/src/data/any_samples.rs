//! Samples whose kind is known only at run time.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::far_vectors::shifted;
use super::offsets::{check_sparse, offsets_of};
use super::{BitSets, FarVectors, Fingerprint, Grids, Images, Offsets, Rows, Samples, Series, Source, Vectors};
use crate::error::Result;

/// Samples of one of the library's kinds, or of a user-defined one.
#[derive(Clone, Debug, PartialEq)]
pub enum AnySamples {
    /// Vectors.
    Vectors(Vectors),
    /// Images.
    Images(Images),
    /// Grids of cells.
    Grids(Grids),
    /// Time series.
    Series(Series),
    /// Strings.
    Strings(Vec<String>),
    /// Sets as bit vectors.
    BitSets(BitSets),
    /// Vectors with columns far from 0.
    Far(FarVectors),
    /// Samples of a user-defined type.
    Own(OwnSamples),
    /// The same samples in the representation of each of several similarities.
    Described(Vec<AnySamples>),
}

/// A collection of samples of a user-defined type.
pub trait Collection: Any + fmt::Debug + Send + Sync {
    /// A collection of these samples alone, for the bases that a model stores.
    ///
    /// # Errors
    /// Any error of the collection; it ends the fit.
    fn pick(self: Arc<Self>, rows: Arc<[usize]>) -> Result<Arc<dyn Collection>>;
}

/// Rows of a collection; a similarity selects the samples when it compares them.
#[derive(Clone, Debug)]
pub struct OwnSamples {
    /// The collection.
    pub whole: Arc<dyn Collection>,
    /// The rows of these samples; `None` for the whole collection.
    pub rows: Option<Arc<[usize]>>,
    /// Number of samples.
    pub n: usize,
    /// The fingerprints of the collection; empty if they are unknown.
    pub fingerprints: Arc<[u128]>,
    /// The same samples for built-in similarities.
    pub built_in: Option<Arc<AnySamples>>,
}

impl OwnSamples {
    fn row(&self, at: usize) -> usize {
        self.rows.as_ref().map_or(at, |rows| rows[at])
    }
}

impl Samples for OwnSamples {
    fn len(&self) -> usize {
        self.n
    }

    fn select(&self, rows: &[usize]) -> Self {
        OwnSamples {
            whole: self.whole.clone(),
            rows: Some(rows.iter().map(|&at| self.row(at)).collect()),
            n: rows.len(),
            fingerprints: self.fingerprints.clone(),
            built_in: self.built_in.as_ref().map(|samples| Arc::new(Samples::select(&**samples, rows))),
        }
    }

    fn fingerprint(&self, at: usize) -> Option<u128> {
        self.fingerprints.get(self.row(at)).copied()
    }

    fn detached(self) -> Result<Self> {
        let Some(rows) = self.rows else { return Ok(self) };
        Ok(OwnSamples { whole: self.whole.pick(rows)?, rows: None, fingerprints: Arc::default(), ..self })
    }
}

impl PartialEq for OwnSamples {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.whole, &other.whole) && self.rows == other.rows
    }
}

/// Evaluates an expression on the samples, whatever their kind, or another on those in several representations.
macro_rules! on_kind {
    ($any:expr, $samples:ident => $body:expr, $views:pat => $described:expr) => {
        match $any {
            AnySamples::Vectors($samples) => $body,
            AnySamples::Images($samples) => $body,
            AnySamples::Grids($samples) => $body,
            AnySamples::Series($samples) => $body,
            AnySamples::Strings($samples) => $body,
            AnySamples::BitSets($samples) => $body,
            AnySamples::Far($samples) => $body,
            AnySamples::Own($samples) => $body,
            AnySamples::Described($views) => $described,
        }
    };
}

impl AnySamples {
    /// The name of the kind in messages.
    #[doc(hidden)]
    pub fn kind(&self) -> &'static str {
        fn name<K: Kind>(_: &K) -> &'static str {
            K::NAME
        }
        on_kind!(self, samples => name(samples), _ => "described samples")
    }

    /// The samples that built-in similarities compare.
    pub(crate) fn built_in(&self) -> &Self {
        match self {
            AnySamples::Own(OwnSamples { built_in: Some(samples), .. }) => samples,
            samples => samples,
        }
    }
}

impl Samples for AnySamples {
    fn len(&self) -> usize {
        on_kind!(self, samples => samples.len(), views => views.first().map_or(0, Samples::len))
    }

    fn flaw(&self) -> Option<(usize, String)> {
        on_kind!(self, samples => samples.flaw(), _ => None)
    }

    fn select(&self, rows: &[usize]) -> Self {
        on_kind!(self, samples => Samples::select(samples, rows).into_any(), views => {
            AnySamples::Described(views.iter().map(|view| Samples::select(view, rows)).collect())
        })
    }

    fn offsets(&self) -> Option<&Offsets> {
        match self {
            AnySamples::Far(vectors) => Some(&vectors.offsets),
            _ => None,
        }
    }

    fn about(self, offsets: Option<&Offsets>) -> Self {
        let fits = |n_cols: usize| offsets.is_none_or(|offsets| offsets.len() == n_cols);
        match (self, offsets) {
            (AnySamples::Far(vectors), None) => AnySamples::Vectors(Vectors::Dense(vectors.rounded())),
            (AnySamples::Far(vectors), Some(offsets))
                if !Arc::ptr_eq(&vectors.offsets, offsets) && fits(vectors.n_cols()) =>
            {
                AnySamples::Far(FarVectors { differences: vectors.differences_from(offsets), offsets: offsets.clone() })
            }
            (AnySamples::Vectors(Vectors::Dense(matrix)), Some(offsets)) if fits(matrix.n_cols) => {
                let back: Vec<f64> = offsets.iter().map(|offset| -offset).collect();
                AnySamples::Far(FarVectors { differences: shifted(&matrix, &back), offsets: offsets.clone() })
            }
            (AnySamples::Vectors(Vectors::Sparse(mut matrix)), Some(offsets)) if matrix.n_cols <= offsets.len() => {
                // A sparse sample may have fewer columns than the training samples.
                matrix.n_cols = offsets.len();
                let vectors = Vectors::Sparse(matrix);
                match vectors.dense().map(Cow::into_owned) {
                    Ok(dense) => AnySamples::Vectors(Vectors::Dense(dense)).about(Some(offsets)),
                    Err(_) => AnySamples::Vectors(vectors),
                }
            }
            (samples, _) => samples,
        }
    }

    fn detached(self) -> Result<Self> {
        match self {
            AnySamples::Own(samples) => samples.detached().map(AnySamples::Own),
            samples => Ok(samples),
        }
    }

    fn fingerprint(&self, at: usize) -> Option<u128> {
        match self {
            AnySamples::Strings(samples) => Some(Fingerprint::of_bytes(samples[at].as_bytes())),
            // Described samples were made from samples that have already been checked.
            samples => on_kind!(samples, samples => samples.fingerprint(at), _ => None),
        }
    }
}

/// A kind of [`AnySamples`].
#[doc(hidden)]
pub trait Kind: Samples {
    /// The name of the kind in messages.
    const NAME: &'static str;

    /// The names of the kinds accepted by [`Kind::from_any`], this one first.
    const TAKES: &'static [&'static str] = &[Self::NAME];

    /// These samples, if they are of this kind.
    fn of(any: &AnySamples) -> Option<&Self>;

    /// Converts the samples to this kind if that is possible without loss.
    fn from_any(any: AnySamples) -> std::result::Result<Self, AnySamples>;

    /// The samples as [`AnySamples`].
    fn into_any(self) -> AnySamples;
}

macro_rules! kind {
    ($kind:ty, $variant:ident, $name:literal $(, also $other:ty: $($pattern:pat => $converted:expr),+)?) => {
        impl Kind for $kind {
            const NAME: &'static str = $name;
            $(const TAKES: &'static [&'static str] = &[$name, <$other>::NAME];)?

            fn of(any: &AnySamples) -> Option<&Self> {
                match any {
                    AnySamples::$variant(samples) => Some(samples),
                    _ => None,
                }
            }

            fn from_any(any: AnySamples) -> std::result::Result<Self, AnySamples> {
                match any {
                    AnySamples::$variant(samples) => Ok(samples),
                    $($($pattern => $converted,)+)?
                    other => Err(other),
                }
            }

            fn into_any(self) -> AnySamples {
                AnySamples::$variant(self)
            }
        }
    };
}

kind!(Images, Images, "images");
kind!(FarVectors, Far, "vectors");
kind!(Grids, Grids, "grids of cells");
kind!(Vec<String>, Strings, "strings");
kind!(BitSets, BitSets, "bit sets");
kind!(OwnSamples, Own, "objects");
// A grid is a vector if its shape does not matter.
kind!(Vectors, Vectors, "vectors", also Grids:
    AnySamples::Grids(grids) => Ok(Vectors::Dense(grids.into_cells())),
    AnySamples::Far(vectors) => Ok(Vectors::Dense(vectors.rounded()))
);
// A dense row is a series of one channel; a sparse row has no definite length.
kind!(Series, Series, "time series", also Vectors:
    AnySamples::Vectors(Vectors::Dense(rows)) => {
        Series::of_rows(rows).map_err(|rows| AnySamples::Vectors(Vectors::Dense(rows)))
    },
    AnySamples::Far(vectors) => Series::of_rows(vectors.rounded()).map_err(|_| AnySamples::Far(vectors))
);

/// A view of rows as a source of [`AnySamples::Vectors`], copied a chunk at a time.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct VectorSource<'a, R>(pub &'a R);

impl<R: Rows> Source for VectorSource<'_, R> {
    type Samples = AnySamples;

    fn n_samples(&self) -> usize {
        self.0.n_rows()
    }

    fn select(&self, rows: &[usize]) -> Result<AnySamples> {
        Ok(AnySamples::Vectors(Vectors::of(self.0, rows)?))
    }

    fn needed_offsets(&self, weights: &[f64]) -> Result<Option<Offsets>> {
        check_sparse(self.0, weights).map(|()| offsets_of(self.0, weights))
    }

    fn select_about(&self, rows: &[usize], offsets: &Offsets) -> Result<AnySamples> {
        if self.0.is_sparse() || self.0.n_cols() != offsets.len() {
            return self.select(rows);
        }
        let differences = Vectors::differences(self.0, rows, offsets)?;
        Ok(AnySamples::Far(FarVectors { differences, offsets: offsets.clone() }))
    }

    /// Computed from the rows in single precision, in which they are compared, without a copy.
    fn fingerprints(&self, rows: &[usize]) -> Result<Option<Vec<u128>>> {
        Ok(Some(rows.iter().map(|&row| Fingerprint::of_single_row(self.0, row)).collect()))
    }
}
