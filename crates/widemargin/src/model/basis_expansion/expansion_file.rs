//! Serialization of a basis expansion: alone, or as part of a classifier.
//!
//! A similarity implemented by the caller cannot be serialized, nor can its samples: the caller then stores both, and
//! the bytes hold the rest.

use std::any::Any;

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

impl ExpansionHeader {
    /// Of an expansion, whose bases and similarity the caller keeps only if the similarity is user-defined.
    pub fn of<S: Similarity>(expansion: &BasisExpansion<S>) -> Result<Self> {
        let (mut header, _) = ExpansionHeader::without_bases(expansion);
        if let Some(whole) = whole(expansion) {
            header.bases = samples_file::to_arrays(samples_file::BASES, whole.bases())?.0;
            let state = whole.similarity().state().into_iter();
            header.descriptors = state.map(|(name, values)| (name, values.len())).collect();
        }
        Ok(header)
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
        self.restore(reader, &mut similarity).map_err(file_error)?;
        self.assemble(reader, similarity, bases, &file_error)
    }

    /// Reads an expansion whose similarity and bases the caller stored.
    pub fn read_with<S: Similarity>(
        &self,
        reader: &Reader<'_>,
        mut similarity: S,
        bases: S::Samples,
    ) -> Result<BasisExpansion<S>> {
        // Without descriptors in the file, those of the similarity are fitted.
        if let Some(similarity) = (&mut similarity as &mut dyn Any).downcast_mut()
            && !self.descriptors.is_empty()
        {
            self.restore(reader, similarity)?;
        }
        match self.bases {
            Shape::Elsewhere { n } if n == bases.len() => self.assemble(reader, similarity, bases, &|error| error),
            Shape::Elsewhere { n } => {
                let found = format!("{} of them", bases.len());
                Err(Error::shape("bases", found, format!("the {n} it was trained with")))
            }
            _ => Err(reader.wrong("it contains its similarity and its bases: none must be passed".into())),
        }
    }

    /// Restores the learned parameters of descriptors.
    fn restore(&self, reader: &Reader<'_>, similarity: &mut AnySimilarity) -> Result<()> {
        similarity.restore(&mut |name| {
            let known = self.descriptors.iter().find(|(known, _)| known == name);
            let (_, length) = known.ok_or_else(|| reader.wrong(format!("'{name}' is missing")))?;
            reader.tensor::<f32>(name, &[*length])
        })
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
        let found = format!("{} maps for {n_parts} similarities of {n} bases", maps.len());
        reader.require(maps.len() == n_parts && n > 0, found)?;
        let expansion = BasisExpansion::from_parts(similarity, bases, normalization, maps).map_err(file_error)?;
        let (n_columns, widths) = (expansion.n_columns(), expansion.widths());
        let fit = expansion.maps().iter().zip(&widths).all(|(map, width)| map.n_columns == *width);
        reader.require(fit, format_args!("its maps are not those of {n_columns} bases"))?;
        Ok(expansion)
    }

    fn read_maps(&self, reader: &Reader<'_>) -> Result<Vec<PartMap>> {
        let map = |(part, shape): (usize, &MapShape)| {
            let name = |name: &str| format!("map.{part}.{name}");
            let (center, linear, n_columns, n_features) = match *shape {
                MapShape::Affine { n_columns, n_factors } => {
                    let problem = format!("{n_factors} factors for {n_columns} columns");
                    reader.require(n_factors == 1 || n_factors == n_columns, problem)?;
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

/// An expansion of built-in similarities, which a file can hold all of.
pub(crate) fn whole<S: Similarity>(expansion: &BasisExpansion<S>) -> Option<&BasisExpansion<AnySimilarity>> {
    (expansion as &dyn Any).downcast_ref()
}

impl BasisExpansion<AnySimilarity> {
    /// Deserializes the result of [`BasisExpansion::to_bytes`].
    ///
    /// # Errors
    /// [`Error::ModelFile`] for bytes that are truncated, damaged or not an expansion, or without the similarity;
    /// [`Error::ModelVersion`] for a newer format.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let reader = Reader::of_bytes(bytes, METHOD)?;
        reader.parse::<ExpansionHeader>()?.read(&reader)
    }
}

impl<S: Similarity> BasisExpansion<S> {
    /// The JSON header of its bytes, which hold the similarity and the bases unless these are user-defined; the checksum
    /// is open.
    ///
    /// # Errors
    /// As for the bytes.
    pub fn header(&self) -> Result<String> {
        header(METHOD, &ExpansionHeader::of(self)?, ())
    }

    /// The arrays of its bytes, without those of the bases.
    pub fn arrays(&self) -> Vec<Array<'_>> {
        let mut arrays = ExpansionHeader::without_bases(self).1;
        let state = whole(self).map(|whole| whole.similarity().state()).unwrap_or_default();
        arrays.extend(state.into_iter().map(|(name, values)| array(&name, vec![values.len()], values)));
        arrays
    }

    /// The expansion as bytes, in the format of a model file; without a user-defined similarity and its bases, which the
    /// caller stores.
    ///
    /// # Errors
    /// [`Error::ModelFile`] for an expansion that cannot be serialized, which no fit produces.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut arrays = self.arrays();
        if let Some(whole) = whole(self) {
            arrays.extend(samples_file::bases_arrays(whole.bases())?);
        }
        to_bytes(self.header()?, &arrays)
    }

    /// Deserializes the result of [`BasisExpansion::to_bytes`] with the user-defined similarity, fitted, and the bases
    /// in their order.
    ///
    /// # Errors
    /// As for [`BasisExpansion::from_bytes`]; [`Error::Shape`] for a different number of bases; errors of the
    /// similarity.
    pub fn from_bytes_with(bytes: &[u8], similarity: S, bases: S::Samples) -> Result<Self> {
        let reader = Reader::of_bytes(bytes, METHOD)?;
        reader.parse::<ExpansionHeader>()?.read_with(&reader, similarity, bases)
    }
}
