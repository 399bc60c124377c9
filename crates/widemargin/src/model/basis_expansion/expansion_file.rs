//! Serialisation of a basis expansion: alone, or as part of a classifier.
//!
//! A similarity implemented by the caller cannot be serialised, nor can its samples: the caller then stores both, and
//! the bytes hold the rest.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::data::Samples;
use crate::error::{Error, Result};
use crate::expansion::{BasisExpansion, PartMap};
use crate::model::file::{NO_FILE, Reader, Tensor, tensor, to_bytes};
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
    Projection { n_columns: usize, n_features: usize },
}

/// Checks that all header fields are present and have the right types.
pub(crate) fn check_header(reader: &Reader<'_>) -> Result<()> {
    reader.parse::<Header>().map(drop)
}

/// The JSON header of an expansion without a classifier.
#[derive(Serialize, Deserialize)]
struct Header {
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
    /// For an expansion that is stored completely, with its tensors.
    pub fn whole(expansion: &BasisExpansion<AnySimilarity>) -> Result<(Self, Vec<Tensor>)> {
        let (mut header, mut tensors) = ExpansionHeader::without_bases(expansion);
        let (bases, of_bases) = samples_file::to_tensors("bases", expansion.bases())?;
        tensors.extend(of_bases);
        header.bases = bases;
        for (name, values) in expansion.similarity().state() {
            tensors.push(tensor(&name, vec![values.len()], values));
            header.descriptors.push((name, values.len()));
        }
        Ok((header, tensors))
    }

    /// For an expansion whose bases and similarity the caller stores, with its tensors.
    pub fn without_bases<S: Similarity>(expansion: &BasisExpansion<S>) -> (Self, Vec<Tensor>) {
        let n_columns = expansion.n_columns();
        let (mut maps, mut tensors) = (Vec::new(), Vec::new());
        for (part, map) in expansion.maps().iter().enumerate() {
            maps.push(match map {
                PartMap::Affine { centre, factors } => {
                    tensors.push(tensor(&format!("map.{part}.centre"), vec![centre.len()], centre));
                    tensors.push(tensor(&format!("map.{part}.factors"), vec![factors.len()], factors));
                    MapShape::Affine { n_columns, n_factors: factors.len() }
                }
                PartMap::Projection { matrix, n_features } => {
                    tensors.push(tensor(&format!("map.{part}.projection"), vec![n_columns, *n_features], matrix));
                    MapShape::Projection { n_columns, n_features: *n_features }
                }
            });
        }
        let similarity = expansion.similarity();
        let header = ExpansionHeader {
            similarity: (0..similarity.n_parts()).map(|part| similarity.part(part)).collect(),
            normalization: expansion.normalization().to_string(),
            bases: Shape::Elsewhere { n: expansion.bases().len() },
            maps,
            descriptors: Vec::new(),
        };
        (header, tensors)
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
        let retold = |error: Error| reader.wrong(error.to_string());
        // Missing bases are reported before an unknown similarity.
        let bases = samples_file::from_tensors(reader, "bases", &self.bases)?;
        let mut similarity = AnySimilarity::new(&self.similarity).map_err(retold)?;
        let mut state = |name: &str| {
            let known = self.descriptors.iter().find(|(known, _)| known == name);
            let (_, length) = known.ok_or_else(|| reader.wrong(format!("'{name}' is missing")))?;
            reader.tensor::<f32>(name, &[*length])
        };
        similarity.restore(&mut state).map_err(retold)?;
        self.assemble(reader, similarity, bases, &retold)
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
                Err(Error::Shape { what: "bases".into(), found, expected: format!("the {n} it was trained with") })
            }
            _ => Err(reader.wrong("it holds its similarity and its bases: none need be given".into())),
        }
    }

    fn assemble<S: Similarity>(
        &self,
        reader: &Reader<'_>,
        similarity: S,
        bases: S::Samples,
        retold: &dyn Fn(Error) -> Error,
    ) -> Result<BasisExpansion<S>> {
        let normalization = self.normalization.parse().map_err(|error: Error| reader.wrong(error.to_string()))?;
        let maps = self.read_maps(reader)?;
        let (n_parts, n) = (similarity.n_parts(), bases.len());
        if maps.len() != n_parts || n == 0 {
            return Err(reader.wrong(format!("{} maps for {n_parts} similarities of {n} bases", maps.len())));
        }
        let expansion = BasisExpansion::from_parts(similarity, bases, normalization, maps).map_err(retold)?;
        let n_columns = expansion.n_columns();
        let fits = |map: &MapShape| match *map {
            MapShape::Affine { n_columns: n, .. } | MapShape::Projection { n_columns: n, .. } => n == n_columns,
        };
        if !self.maps.iter().all(fits) {
            return Err(reader.wrong(format!("its maps are not those of {n_columns} bases")));
        }
        Ok(expansion)
    }

    fn read_maps(&self, reader: &Reader<'_>) -> Result<Vec<PartMap>> {
        let map = |(part, shape): (usize, &MapShape)| {
            Ok(match *shape {
                MapShape::Affine { n_columns, n_factors } => {
                    if n_factors != 1 && n_factors != n_columns {
                        return Err(reader.wrong(format!("{n_factors} factors for {n_columns} columns")));
                    }
                    PartMap::Affine {
                        centre: reader.tensor(&format!("map.{part}.centre"), &[n_columns])?,
                        factors: reader.tensor(&format!("map.{part}.factors"), &[n_factors])?,
                    }
                }
                MapShape::Projection { n_columns, n_features } => {
                    let matrix = reader.tensor(&format!("map.{part}.projection"), &[n_columns, n_features])?;
                    PartMap::Projection { matrix, n_features }
                }
            })
        };
        self.maps.iter().enumerate().map(map).collect()
    }
}

impl BasisExpansion<AnySimilarity> {
    /// Serialises the expansion in the format of a model file.
    ///
    /// # Errors
    /// [`Error::ModelFile`] for an expansion that cannot be serialised, which no fit produces.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let (header, tensors) = ExpansionHeader::whole(self)?;
        to_bytes(&Header::new(header), &tensors)
    }

    /// Deserialises the result of [`BasisExpansion::to_bytes`].
    ///
    /// # Errors
    /// [`Error::ModelFile`] for bytes that are truncated, damaged or not an expansion, or without the similarity;
    /// [`Error::ModelVersion`] for a newer format.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let reader = Reader::new(Path::new(NO_FILE), bytes, METHOD)?;
        reader.parse::<Header>()?.expansion.read(&reader)
    }
}

impl<S: Similarity> BasisExpansion<S> {
    /// Serialises everything except the similarity and the bases, which the caller stores.
    ///
    /// # Errors
    /// As for [`BasisExpansion::to_bytes`].
    pub fn to_bytes_without_bases(&self) -> Result<Vec<u8>> {
        let (header, tensors) = ExpansionHeader::without_bases(self);
        to_bytes(&Header::new(header), &tensors)
    }

    /// Deserialises the result of [`BasisExpansion::to_bytes_without_bases`], given the fitted similarity and the bases
    /// in their order.
    ///
    /// # Errors
    /// As for [`BasisExpansion::from_bytes`]; [`Error::Shape`] for a different number of bases; errors of the
    /// similarity.
    pub fn from_bytes_with(bytes: &[u8], similarity: S, bases: S::Samples) -> Result<Self> {
        let reader = Reader::new(Path::new(NO_FILE), bytes, METHOD)?;
        reader.parse::<Header>()?.expansion.read_with(&reader, similarity, bases)
    }
}
