//! Samples whose kind is known only at run time.

use std::ops::Range;

use super::{BitSets, Fingerprint, Grids, Images, Rows, Samples, Series, Source, Vectors};
use crate::error::Result;

/// Samples of one of the library's kinds.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
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
    /// The same samples in the representation of each of several similarities.
    Described(Vec<AnySamples>),
}

impl AnySamples {
    /// The name of the kind in messages.
    pub fn kind(&self) -> &'static str {
        match self {
            AnySamples::Vectors(_) => "vectors",
            AnySamples::Images(_) => "images",
            AnySamples::Grids(_) => "grids of cells",
            AnySamples::Series(_) => "time series",
            AnySamples::Strings(_) => "strings",
            AnySamples::BitSets(_) => "bit sets",
            AnySamples::Described(_) => "described samples",
        }
    }
}

impl Samples for AnySamples {
    fn len(&self) -> usize {
        match self {
            AnySamples::Vectors(samples) => samples.len(),
            AnySamples::Images(samples) => samples.len(),
            AnySamples::Grids(samples) => samples.len(),
            AnySamples::Series(samples) => samples.len(),
            AnySamples::Strings(samples) => samples.len(),
            AnySamples::BitSets(samples) => samples.len(),
            AnySamples::Described(views) => views.first().map_or(0, Samples::len),
        }
    }

    fn flaw(&self) -> Option<(usize, String)> {
        match self {
            AnySamples::Vectors(samples) => samples.flaw(),
            _ => None,
        }
    }

    fn select(&self, rows: &[usize]) -> Self {
        match self {
            AnySamples::Vectors(samples) => AnySamples::Vectors(Samples::select(samples, rows)),
            AnySamples::Images(samples) => AnySamples::Images(Samples::select(samples, rows)),
            AnySamples::Grids(samples) => AnySamples::Grids(Samples::select(samples, rows)),
            AnySamples::Series(samples) => AnySamples::Series(Samples::select(samples, rows)),
            AnySamples::Strings(samples) => AnySamples::Strings(Samples::select(samples, rows)),
            AnySamples::BitSets(samples) => AnySamples::BitSets(Samples::select(samples, rows)),
            AnySamples::Described(views) => {
                AnySamples::Described(views.iter().map(|view| Samples::select(view, rows)).collect())
            }
        }
    }

    fn fingerprint(&self, at: usize) -> Option<u128> {
        match self {
            AnySamples::Vectors(samples) => samples.fingerprint(at),
            AnySamples::Images(samples) => samples.fingerprint(at),
            AnySamples::Grids(samples) => samples.fingerprint(at),
            AnySamples::Series(samples) => samples.fingerprint(at),
            AnySamples::Strings(samples) => Some(Fingerprint::of_bytes(samples[at].as_bytes())),
            AnySamples::BitSets(samples) => samples.fingerprint(at),
            // Made from samples that have already been checked.
            AnySamples::Described(_) => None,
        }
    }
}

/// A kind of [`AnySamples`].
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
    ($kind:ty, $variant:ident, $name:literal) => {
        impl Kind for $kind {
            const NAME: &'static str = $name;

            fn of(any: &AnySamples) -> Option<&Self> {
                match any {
                    AnySamples::$variant(samples) => Some(samples),
                    _ => None,
                }
            }

            fn from_any(any: AnySamples) -> std::result::Result<Self, AnySamples> {
                match any {
                    AnySamples::$variant(samples) => Ok(samples),
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
kind!(Grids, Grids, "grids of cells");
kind!(Vec<String>, Strings, "strings");
kind!(BitSets, BitSets, "bit sets");

impl Kind for Vectors {
    const NAME: &'static str = "vectors";
    const TAKES: &'static [&'static str] = &[Self::NAME, Grids::NAME];

    fn of(any: &AnySamples) -> Option<&Self> {
        match any {
            AnySamples::Vectors(samples) => Some(samples),
            _ => None,
        }
    }

    fn from_any(any: AnySamples) -> std::result::Result<Self, AnySamples> {
        match any {
            AnySamples::Vectors(samples) => Ok(samples),
            // A grid is a vector if its shape does not matter.
            AnySamples::Grids(grids) => Ok(Vectors::Dense(grids.into_cells())),
            other => Err(other),
        }
    }

    fn into_any(self) -> AnySamples {
        AnySamples::Vectors(self)
    }
}

impl Kind for Series {
    const NAME: &'static str = "time series";
    const TAKES: &'static [&'static str] = &[Self::NAME, Vectors::NAME];

    fn of(any: &AnySamples) -> Option<&Self> {
        match any {
            AnySamples::Series(samples) => Some(samples),
            _ => None,
        }
    }

    fn from_any(any: AnySamples) -> std::result::Result<Self, AnySamples> {
        match any {
            AnySamples::Series(samples) => Ok(samples),
            // A dense row is a series of one channel; a sparse row has no definite length.
            AnySamples::Vectors(Vectors::Dense(rows)) => {
                Series::of_rows(rows).map_err(|rows| AnySamples::Vectors(Vectors::Dense(rows)))
            }
            other => Err(other),
        }
    }

    fn into_any(self) -> AnySamples {
        AnySamples::Series(self)
    }
}

/// A view of rows as a source of [`AnySamples::Vectors`], copied a chunk at a time.
#[derive(Clone, Copy, Debug)]
pub struct VectorSource<'a, R>(pub &'a R);

impl<R: Rows> Source for VectorSource<'_, R> {
    type Samples = AnySamples;

    fn n_samples(&self) -> usize {
        self.0.n_rows()
    }

    fn chunk(&self, rows: Range<usize>) -> Result<AnySamples> {
        Ok(AnySamples::Vectors(Vectors::of(self.0, rows)?))
    }

    fn select(&self, rows: &[usize]) -> Result<AnySamples> {
        Ok(AnySamples::Vectors(Vectors::of(self.0, rows.iter().copied())?))
    }

    /// Computed from the rows in single precision, in which they are compared, without a copy.
    fn fingerprints(&self, rows: &[usize]) -> Result<Option<Vec<u128>>> {
        Ok(Some(rows.iter().map(|&row| Fingerprint::of_single_row(self.0, row)).collect()))
    }
}
