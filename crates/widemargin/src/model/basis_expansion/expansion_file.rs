//! Serialization of a basis expansion: alone, or as part of a classifier.
//!
//! A similarity implemented by the caller cannot be serialized, nor can its samples: the caller then stores both, and
//! the bytes hold the rest.

use serde::{Deserialize, Serialize};

use crate::data::Samples;
use crate::error::{Error, Result};
use crate::expansion::{BasisExpansion, Linear, PartMap};
use crate::model::file::{Array, Reader, array, header, to_bytes};
use crate::model::samples_file::{self, Shape};
use crate::similarity::{AnySimilarity, Similarity};

/// The method name of an expansion without a classifier.
pub(crate) const METHOD: &str = "expansion";

/// The JSON header of an expansion.
#[derive(Serialize, Deserialize)]
pub(crate) struct ExpansionHeader {
    /// Specs, with learned values.
    similarity: Vec<String>,
    normalization: String,
    bases: Shape,
    /// One per similarity.
    maps: Vec<MapShape>,
    /// Name and length of each tensor learned by a descriptor.
    descriptors: Vec<(String, usize)>,
}

/// The sizes of a part's map.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum MapShape {
    Affine { n_columns: usize, n_factors: usize },
    Whitening { n_columns: usize },
    Projection { n_columns: usize, n_features: usize },
    PreciseProjection { n_columns: usize, n_features: usize },
}

/// The JSON header of an expansion alone.
#[derive(Serialize, Deserialize)]
pub(crate) struct Header {
    method: String,
    #[serde(flatten)]
    expansion: ExpansionHeader,
}

impl Header {
    fn new(expansion: ExpansionHeader) -> Self {
        Header { method: METHOD.into(), expansion }
    }
}

impl ExpansionHeader {
    /// Of an expansion that is written whole, and its arrays.
    pub fn whole(expansion: &BasisExpansion<AnySimilarity>) -> Result<(Self, Vec<Array<'_>>)> {
        let (mut header, mut arrays) = ExpansionHeader::without_bases(expansion);
        let (bases, of_bases) = samples_file::to_arrays(samples_file::BASES, expansion.bases())?;
        arrays.extend(of_bases);
        header.bases = bases;
        let state = expansion.similarity().state();
        header.descriptors = state.iter().map(|(name, values)| (name.clone(), values.len())).collect();
        arrays.extend(state_arrays(state));
        Ok((header, arrays))
    }

    /// Of an expansion whose bases and similarity the caller keeps, and its arrays.
    pub fn without_bases<S: Similarity>(expansion: &BasisExpansion<S>) -> (Self, Vec<Array<'_>>) {
        let (mut maps, mut arrays) = (Vec::new(), Vec::new());
        for (part, map) in expansion.maps().iter().enumerate() {
            let (&PartMap { n_columns, n_features, .. }, name) = (map, |name: &str| format!("map.{part}.{name}"));
            let shape = match &map.linear {
                Linear::Factors(factors) => MapShape::Affine { n_columns, n_factors: factors.len() },
                Linear::Matrix(_) if !map.center.is_empty() => MapShape::Whitening { n_columns },
                Linear::Matrix(_) => MapShape::Projection { n_columns, n_features },
                Linear::PreciseMatrix(_) => MapShape::PreciseProjection { n_columns, n_features },
            };
            if matches!(shape, MapShape::Affine { .. } | MapShape::Whitening { .. }) {
                arrays.push(array(&name("center"), vec![n_columns], &map.center[..]));
            }
            arrays.push(match &map.linear {
                Linear::Factors(factors) => array(&name("factors"), vec![factors.len()], factors),
                Linear::Matrix(matrix) => array(&name("projection"), vec![n_columns, n_features], matrix),
                Linear::PreciseMatrix(matrix) => array(&name("projection"), vec![n_columns, n_features], matrix),
            });
            maps.push(shape);
        }
        let similarity = expansion.similarity();
        let header = ExpansionHeader {
            similarity: (0..similarity.n_parts()).map(|part| similarity.part(part)).collect(),
            normalization: expansion.normalization().to_string(),
            bases: Shape::Elsewhere { n: expansion.bases().len() },
            maps,
            descriptors: Vec::new(),
        };
        (header, arrays)
    }

    /// Number of features of the bases, if they are vectors stored in the file.
    pub fn n_features(&self) -> Option<usize> {
        match self.bases {
            Shape::Dense { n_features, .. } | Shape::Sparse { n_features, .. } => Some(n_features),
            _ => None,
        }
    }

    /// Reads an expansion that was stored completely.
    pub fn read(&self, reader: &Reader<'_>) -> Result<BasisExpansion<AnySimilarity>> {
        let file_error = |error: Error| reader.wrong(error.to_string());
        // Bases that are elsewhere are reported before a similarity that has no name here.
        let bases = samples_file::from_arrays(reader, samples_file::BASES, &self.bases)?;
        let mut similarity = AnySimilarity::new(&self.similarity).map_err(file_error)?;
        let mut state = |name: &str| {
            let known = self.descriptors.iter().find(|(known, _)| known == name);
            let (_, length) = known.ok_or_else(|| reader.wrong(format!("'{name}' is missing")))?;
            reader.tensor::<f32>(name, &[*length])
        };
        similarity.restore(&mut state).map_err(file_error)?;
        self.assemble(reader, similarity, bases, &file_error)
    }

    /// Reads an expansion whose similarity and bases the caller stored.
    pub fn read_with<S: Similarity>(
        &self,
        reader: &Reader<'_>,
        similarity: S,
        bases: S::Samples,
    ) -> Result<BasisExpansion<S>> {
        match self.bases {
            Shape::Elsewhere { n } if n == bases.len() => self.assemble(reader, similarity, bases, &|error| error),
            Shape::Elsewhere { n } => {
                let found = format!("{} of them", bases.len());
                Err(Error::shape("bases", found, format!("the {n} it was trained with")))
            }
            _ => Err(reader.wrong("it contains its similarity and its bases: none must be passed".into())),
        }
    }

    fn assemble<S: Similarity>(
        &self,
        reader: &Reader<'_>,
        similarity: S,
        bases: S::Samples,
        file_error: &dyn Fn(Error) -> Error,
    ) -> Result<BasisExpansion<S>> {
        let normalization = self.normalization.parse().map_err(|error: Error| reader.wrong(error.to_string()))?;
        let maps = self.read_maps(reader)?;
        let (n_parts, n) = (similarity.n_parts(), bases.len());
        if maps.len() != n_parts || n == 0 {
            return Err(reader.wrong(format!("{} maps for {n_parts} similarities of {n} bases", maps.len())));
        }
        let expansion = BasisExpansion::from_parts(similarity, bases, normalization, maps).map_err(file_error)?;
        let (n_columns, widths) = (expansion.n_columns(), expansion.widths());
        let fits = |(map, width): (&MapShape, &usize)| match *map {
            MapShape::Affine { n_columns: n, .. }
            | MapShape::Whitening { n_columns: n }
            | MapShape::Projection { n_columns: n, .. }
            | MapShape::PreciseProjection { n_columns: n, .. } => n == *width,
        };
        if !self.maps.iter().zip(&widths).all(fits) {
            return Err(reader.wrong(format!("its maps are not those of {n_columns} bases")));
        }
        Ok(expansion)
    }

    fn read_maps(&self, reader: &Reader<'_>) -> Result<Vec<PartMap>> {
        let map = |(part, shape): (usize, &MapShape)| {
            let name = |name: &str| format!("map.{part}.{name}");
            let (center, linear, n_columns, n_features) = match *shape {
                MapShape::Affine { n_columns, n_factors } => {
                    if n_factors != 1 && n_factors != n_columns {
                        return Err(reader.wrong(format!("{n_factors} factors for {n_columns} columns")));
                    }
                    let center = reader.tensor(&name("center"), &[n_columns])?;
                    (center, Linear::Factors(reader.tensor(&name("factors"), &[n_factors])?), n_columns, n_columns)
                }
                MapShape::Whitening { n_columns: n } => {
                    let center = reader.tensor(&name("center"), &[n])?;
                    (center, Linear::Matrix(reader.tensor(&name("projection"), &[n, n])?), n, n)
                }
                MapShape::Projection { n_columns: n, n_features } => {
                    (Vec::new(), Linear::Matrix(reader.tensor(&name("projection"), &[n, n_features])?), n, n_features)
                }
                MapShape::PreciseProjection { n_columns: n, n_features } => {
                    let matrix = reader.tensor(&name("projection"), &[n, n_features])?;
                    (Vec::new(), Linear::PreciseMatrix(matrix), n, n_features)
                }
            };
            Ok(PartMap { center, linear, n_columns, n_features })
        };
        self.maps.iter().enumerate().map(map).collect()
    }
}

fn state_arrays(state: Vec<(String, &[f32])>) -> impl Iterator<Item = Array<'_>> {
    state.into_iter().map(|(name, values)| array(&name, vec![values.len()], values))
}

impl BasisExpansion<AnySimilarity> {
    /// The JSON header of [`BasisExpansion::to_bytes`]; the checksum is open.
    ///
    /// # Errors
    /// As for the bytes.
    pub fn header(&self) -> Result<String> {
        header(&Header::new(ExpansionHeader::whole(self)?.0))
    }

    /// The arrays of [`BasisExpansion::to_bytes`], without those of the bases.
    pub fn arrays(&self) -> Vec<Array<'_>> {
        let mut arrays = ExpansionHeader::without_bases(self).1;
        arrays.extend(state_arrays(self.similarity().state()));
        arrays
    }

    /// The expansion as bytes, in the format of a model file.
    ///
    /// # Errors
    /// [`Error::ModelFile`] for an expansion that cannot be serialized, which no fit produces.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let (expansion, arrays) = ExpansionHeader::whole(self)?;
        to_bytes(header(&Header::new(expansion))?, &arrays)
    }

    /// Deserializes the result of [`BasisExpansion::to_bytes`].
    ///
    /// # Errors
    /// [`Error::ModelFile`] for bytes that are truncated, damaged or not an expansion, or without the similarity;
    /// [`Error::ModelVersion`] for a newer format.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let reader = Reader::of_bytes(bytes, METHOD)?;
        reader.parse::<Header>()?.expansion.read(&reader)
    }
}

impl<S: Similarity> BasisExpansion<S> {
    /// The JSON header of [`BasisExpansion::to_bytes_without_bases`].
    ///
    /// # Errors
    /// As for the bytes.
    pub fn header_without_bases(&self) -> Result<String> {
        header(&Header::new(ExpansionHeader::without_bases(self).0))
    }

    /// All but the similarity and the bases as bytes, in the format of a model file; the caller keeps these two.
    ///
    /// # Errors
    /// As for [`BasisExpansion::to_bytes`].
    pub fn to_bytes_without_bases(&self) -> Result<Vec<u8>> {
        let (expansion, arrays) = ExpansionHeader::without_bases(self);
        to_bytes(header(&Header::new(expansion))?, &arrays)
    }

    /// Deserializes the result of [`BasisExpansion::to_bytes_without_bases`], with the fitted similarity and the bases
    /// in their order.
    ///
    /// # Errors
    /// As for [`BasisExpansion::from_bytes`]; [`Error::Shape`] for a different number of bases; errors of the
    /// similarity.
    pub fn from_bytes_with(bytes: &[u8], similarity: S, bases: S::Samples) -> Result<Self> {
        let reader = Reader::of_bytes(bytes, METHOD)?;
        reader.parse::<Header>()?.expansion.read_with(&reader, similarity, bases)
    }
}

/// The tensor of a model file with the bases as the caller encoded them.
pub(crate) const OWN_BASES: &str = "bases of an own similarity";

/// Reading and writing of a model on an expansion, with its similarity and bases or without: for a `$model` with
/// `own_arrays`, `header_with`, `read_by` and `METHOD`.
macro_rules! expansion_file_methods {
    ($model:ident) => {
        impl $model<crate::similarity::AnySimilarity> {
            crate::model::file::file_methods!(METHOD);

            /// The bytes that [`save`](Self::save) writes.
            ///
            /// # Errors
            /// [`Error::NotFinite`](crate::Error::NotFinite) for a model with non-finite numbers.
            pub fn to_bytes(&self) -> Result<Vec<u8>> {
                let (header, mut arrays) = ExpansionHeader::whole(&self.expansion)?;
                arrays.extend(self.own_arrays());
                crate::model::file::to_bytes(self.header_with(header)?, &arrays)
            }

            pub(crate) fn header(&self) -> Result<String> {
                self.header_with(ExpansionHeader::whole(&self.expansion)?.0)
            }

            pub(crate) fn all_arrays(&self) -> Vec<Array<'_>> {
                let mut arrays = self.expansion.arrays();
                arrays.extend(self.own_arrays());
                arrays
            }

            pub(crate) fn read(reader: &Reader<'_>) -> Result<Self> {
                $model::read_by(reader, ExpansionHeader::read)
            }
        }

        impl<S: Similarity> $model<S> {
            /// Serializes everything except the similarity and the bases, which the caller stores.
            ///
            /// # Errors
            /// [`Error::NotFinite`](crate::Error::NotFinite) for a model with non-finite numbers.
            pub fn to_bytes_without_bases(&self) -> Result<Vec<u8>> {
                crate::model::file::to_bytes(self.header_without_bases()?, &self.arrays())
            }

            /// Refuses a model that cannot be written.
            ///
            /// # Errors
            /// [`Error::NotFinite`](crate::Error::NotFinite) for one whose numbers overflowed in the fit.
            pub fn check_finite(&self) -> Result<()> {
                self.report.check_finite()?;
                crate::model::file::check_finite(&self.arrays())
            }

            /// The JSON header of [`to_bytes_without_bases`](Self::to_bytes_without_bases).
            ///
            /// # Errors
            /// As for the bytes.
            pub fn header_without_bases(&self) -> Result<String> {
                self.header_with(ExpansionHeader::without_bases(&self.expansion).0)
            }

            /// The model from the result of [`to_bytes_without_bases`](Self::to_bytes_without_bases), with the
            /// similarity as it was when it had been fitted, and the bases in their order.
            ///
            /// # Errors
            /// [`Error::ModelFile`](crate::Error::ModelFile) and [`Error::ModelVersion`](crate::Error::ModelVersion) as
            /// for `load`, also for bytes that include the bases; [`Error::Shape`](crate::Error::Shape) for a different
            /// number of bases; errors of the similarity.
            pub fn from_bytes_with(bytes: &[u8], similarity: S, bases: S::Samples) -> Result<Self> {
                $model::read_by(&Reader::of_bytes(bytes, METHOD)?, |header, reader| {
                    header.read_with(reader, similarity, bases)
                })
            }

            /// Writes the model to a file, with the bytes into which `encode` turns the bases, so that a model of a
            /// user's own similarity is one file.
            ///
            /// # Errors
            /// [`Error::NotFinite`](crate::Error::NotFinite) for a model with non-finite numbers;
            /// [`Error::Io`](crate::Error::Io) if the file cannot be written.
            pub fn save_with(
                &self,
                path: impl AsRef<std::path::Path>,
                encode: impl FnOnce(&S::Samples) -> Vec<u8>,
            ) -> Result<()> {
                let bases = encode(self.expansion.bases());
                let bytes = crate::model::with_payload(
                    &self.to_bytes_without_bases()?,
                    crate::model::basis_expansion::expansion_file::OWN_BASES,
                    &bases,
                )?;
                crate::model::file::save(path.as_ref(), &bytes)
            }

            /// Reads a file of [`save_with`](Self::save_with): `decode` makes the similarity and the bases from the
            /// bytes.
            ///
            /// # Errors
            /// As for [`from_bytes_with`](Self::from_bytes_with); [`Error::ModelFile`](crate::Error::ModelFile) for a
            /// file without such bytes, and with the message of an error of `decode`.
            pub fn load_with<E: std::fmt::Display>(
                path: impl AsRef<std::path::Path>,
                decode: impl FnOnce(&[u8]) -> std::result::Result<(S, S::Samples), E>,
            ) -> Result<Self> {
                let path = path.as_ref();
                let wrong = |problem| crate::Error::ModelFile { path: path.to_owned(), problem };
                let bytes = crate::model::file::read(path)?;
                let Some(bases) =
                    crate::model::payload(&bytes, crate::model::basis_expansion::expansion_file::OWN_BASES)?
                else {
                    return Err(wrong("it has no bases written by `save_with`".into()));
                };
                let (similarity, bases) = decode(&bases).map_err(|error| wrong(error.to_string()))?;
                Self::from_bytes_with(&bytes, similarity, bases)
            }

            /// The parameters of the model, and of the map from similarities to features, as in the model's file;
            /// without bases and parameters of descriptors.
            pub fn arrays(&self) -> Vec<Array<'_>> {
                let mut arrays = ExpansionHeader::without_bases(&self.expansion).1;
                arrays.extend(self.own_arrays());
                arrays
            }
        }
    };
}
pub(super) use expansion_file_methods;
