//! The basis expansion SVM in a model file.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::BasisExpansionSvc;
use super::file::{FORMAT_VERSION, NO_FILE, Reader, read, save, tensor, to_bytes};
use super::samples_file;
use crate::data::{AnySamples, Label, Samples};
use crate::error::{Error, Result};
use crate::expansion::{BasisExpansion, Normalization, PartMap};
use crate::problem::{AnyLoss, Intercept, n_problems};
use crate::similarity::AnySimilarity;
use crate::solve::Report;

const METHOD: &str = "basis-expansion";

/// The JSON header.
#[derive(Serialize, Deserialize)]
struct Header {
    format_version: u32,
    method: String,
    /// Specs, with what was learned.
    similarity: Vec<String>,
    normalization: String,
    basis: String,
    basis_rows: Vec<usize>,
    loss: String,
    #[serde(rename = "C")]
    c: f64,
    intercept: String,
    bases: samples_file::Shape,
    /// One a similarity.
    maps: Vec<MapShape>,
    /// Name and length of what the descriptors learned.
    descriptors: Vec<(String, usize)>,
    classes: Vec<Label>,
    report: Report,
}

/// The sizes of a part's map.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum MapShape {
    Affine { n_columns: usize, n_factors: usize },
    Projection { n_columns: usize, n_features: usize },
}

impl BasisExpansionSvc<AnySimilarity> {
    /// Writes the model to a file, whole or not at all.
    ///
    /// # Errors
    /// [`Error::Io`] saying what could not be done.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        save(path.as_ref(), &self.to_bytes()?)
    }

    /// The model as the bytes of its file: what [`BasisExpansionSvc::save`] writes.
    ///
    /// # Errors
    /// [`Error::ModelFile`] for a model that cannot be written, which no fit makes.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let n_columns = self.expansion.n_columns();
        let (bases, mut tensors) = samples_file::to_tensors("bases", self.expansion.bases())?;
        let mut maps = Vec::new();
        for (part, map) in self.expansion.maps().iter().enumerate() {
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
        let mut descriptors = Vec::new();
        for (name, values) in self.expansion.similarity().state() {
            tensors.push(tensor(&name, vec![values.len()], values));
            descriptors.push((name, values.len()));
        }
        let (k, d) = (self.intercepts.len(), self.expansion.n_features());
        tensors.push(tensor("weights", vec![k, d], &self.weights));
        tensors.push(tensor("intercepts", vec![k], &self.intercepts));
        let header = Header {
            format_version: FORMAT_VERSION,
            method: METHOD.into(),
            similarity: self.expansion.similarity().specs(),
            normalization: self.expansion.normalization().to_string(),
            basis: self.basis.clone(),
            basis_rows: self.basis_rows.clone(),
            loss: self.loss.to_string(),
            c: self.c,
            intercept: self.intercept.to_string(),
            bases,
            maps,
            descriptors,
            classes: self.classes.clone(),
            report: self.report.clone(),
        };
        to_bytes(&header, &tensors)
    }

    /// Reads a model that [`BasisExpansionSvc::save`] wrote.
    ///
    /// # Errors
    /// [`Error::ModelFile`] for a file that is cut short, damaged or not a basis expansion model,
    /// [`Error::ModelVersion`] for one of a newer format, [`Error::Io`] where it cannot be read.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        BasisExpansionSvc::parse(path, &read(path)?)
    }

    /// The model that [`BasisExpansionSvc::to_bytes`] made the bytes of.
    ///
    /// # Errors
    /// As for [`BasisExpansionSvc::load`], with `<bytes>` for the path.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        BasisExpansionSvc::parse(Path::new(NO_FILE), bytes)
    }

    fn parse(path: &Path, bytes: &[u8]) -> Result<Self> {
        let reader = Reader::new(path, bytes, METHOD)?;
        let header: Header = reader.parse()?;
        let retold = |error: Error| reader.wrong(error.to_string());
        if header.classes.len() < 2 {
            return Err(reader.wrong(format!("{} classes cannot be", header.classes.len())));
        }
        let mut similarity = AnySimilarity::new(&header.similarity).map_err(retold)?;
        let mut state = |name: &str| {
            let known = header.descriptors.iter().find(|(known, _)| known == name);
            let (_, length) = known.ok_or_else(|| reader.wrong(format!("'{name}' is missing")))?;
            reader.tensor::<f32>(name, &[*length])
        };
        similarity.restore(&mut state).map_err(retold)?;
        let bases = samples_file::from_tensors(&reader, "bases", &header.bases)?;
        let normalization: Normalization = header.normalization.parse().map_err(retold)?;
        let maps = read_maps(&reader, &header.maps)?;
        let n_parts = crate::similarity::Similarity::n_parts(&similarity);
        if maps.len() != n_parts || bases.is_empty() {
            return Err(reader.wrong(format!(
                "{} maps for {n_parts} similarities of {} bases",
                maps.len(),
                bases.len()
            )));
        }
        let expansion = BasisExpansion::from_parts(similarity, bases, normalization, maps).map_err(retold)?;
        let n_columns = expansion.n_columns();
        let fits = |map: &MapShape| match *map {
            MapShape::Affine { n_columns: n, .. } | MapShape::Projection { n_columns: n, .. } => n == n_columns,
        };
        if !header.maps.iter().all(fits) {
            return Err(reader.wrong(format!("its maps are not those of {n_columns} bases")));
        }
        let k = n_problems(header.classes.len());
        let weights = reader.tensor("weights", &[k, expansion.n_features()])?;
        let intercepts = reader.tensor("intercepts", &[k])?;
        Ok(BasisExpansionSvc {
            expansion,
            basis: header.basis,
            basis_rows: header.basis_rows,
            c: header.c,
            loss: header.loss.parse::<AnyLoss>().map_err(retold)?,
            intercept: header.intercept.parse::<Intercept>().map_err(retold)?,
            classes: header.classes,
            weights,
            intercepts,
            report: header.report,
        })
    }

    /// The kind of samples it was trained on, as messages name it.
    pub fn kind(&self) -> &'static str {
        AnySamples::kind(self.expansion.bases())
    }
}

fn read_maps(reader: &Reader<'_>, shapes: &[MapShape]) -> Result<Vec<PartMap>> {
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
    shapes.iter().enumerate().map(map).collect()
}
