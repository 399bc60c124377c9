//! A trained model of any kind, and reading one of unknown kind, or its header, from its file.

use std::ops::{Deref, DerefMut};
use std::path::Path;

use serde::de::DeserializeOwned;

use super::basis_expansion::expansion_file::{self, ExpansionHeader};
use super::basis_expansion::expansion_model::{ExpansionTask, Layout};
use super::basis_expansion::{Classification, OneClassTask, Regression};
use super::file::{self, FileMetadata, Head, NO_FILE, Reader};
use super::interface::Model;
use super::thin_plate::spline_model::SplineTask;
use super::thin_plate::{SplineClassification, SplineLayout, SplineRegression};
use super::{BasisExpansionOneClass, BasisExpansionRegressor, BasisExpansionSvc, Classifier, PowerMeanSvc};
use super::{Regressor, ThinPlateRegressor, ThinPlateSvc, power_mean};
use crate::data::AnySamples;
use crate::error::Result;
use crate::similarity::AnySimilarity;

/// Reads a saved classifier of any method.
///
/// # Errors [`Error::ModelFile`](crate::Error::ModelFile) for a file that is truncated, damaged or not of a classifier,
/// or whose similarity is code of the training program; [`Error::ModelVersion`](crate::Error::ModelVersion) for a newer
/// format; [`Error::Io`](crate::Error::Io) if it cannot be read.
pub fn load(path: impl AsRef<Path>) -> Result<Box<dyn Classifier>> {
    let path = path.as_ref();
    classifier(&Reader::of_any(path, &file::read(path)?)?)
}

/// A classifier of any method from the result of [`Model::to_bytes`].
///
/// # Errors
/// As for [`load`], with `<bytes>` for the path.
pub fn from_bytes(bytes: &[u8]) -> Result<Box<dyn Classifier>> {
    classifier(&Reader::of_any(Path::new(NO_FILE), bytes)?)
}

fn classifier(reader: &Reader<'_>) -> Result<Box<dyn Classifier>> {
    match AnyModel::read(reader)? {
        AnyModel::Classifier(model) => Ok(model),
        other => {
            let found = other.description();
            Err(reader.wrong(format!("it holds {found}, which has no classes: AnyModel::load reads it")))
        }
    }
}

/// A trained model of any kind.
#[derive(Debug)]
pub enum AnyModel {
    /// A classifier.
    Classifier(Box<dyn Classifier>),
    /// A regression model.
    Regressor(Box<dyn Regressor>),
    /// An outlier detector.
    OneClass(Box<BasisExpansionOneClass<AnySimilarity>>),
}

impl AnyModel {
    /// Reads a saved model of any method.
    ///
    /// # Errors
    /// As for [`load`](super::load), which reads classifiers.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        AnyModel::read(&Reader::of_any(path, &file::read(path)?)?)
    }

    /// A model of any method from the result of `to_bytes`.
    ///
    /// # Errors
    /// As for [`AnyModel::load`], with `<bytes>` for the path.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        AnyModel::read(&Reader::of_any(Path::new(NO_FILE), bytes)?)
    }

    /// A model with user-defined similarities from the result of `to_bytes`, with the similarities, and the bases in
    /// their order.
    ///
    /// # Errors
    /// Errors of a file that is no model, or of other similarities.
    pub fn from_bytes_with(bytes: &[u8], similarity: AnySimilarity, bases: AnySamples) -> Result<Self> {
        Ok(match &FileMetadata::of_bytes(bytes)?.method[..] {
            Regression::METHOD => {
                AnyModel::Regressor(Box::new(BasisExpansionRegressor::from_bytes_with(bytes, similarity, bases)?))
            }
            OneClassTask::METHOD => {
                AnyModel::OneClass(Box::new(BasisExpansionOneClass::from_bytes_with(bytes, similarity, bases)?))
            }
            _ => AnyModel::Classifier(Box::new(BasisExpansionSvc::from_bytes_with(bytes, similarity, bases)?)),
        })
    }

    fn read(reader: &Reader<'_>) -> Result<Self> {
        Ok(match reader.method() {
            Classification::METHOD => AnyModel::Classifier(Box::new(BasisExpansionSvc::read(reader)?)),
            power_mean::file::METHOD => AnyModel::Classifier(Box::new(PowerMeanSvc::read(reader)?)),
            SplineClassification::METHOD => AnyModel::Classifier(Box::new(ThinPlateSvc::read(reader)?)),
            Regression::METHOD => AnyModel::Regressor(Box::new(BasisExpansionRegressor::read(reader)?)),
            SplineRegression::METHOD => AnyModel::Regressor(Box::new(ThinPlateRegressor::read(reader)?)),
            OneClassTask::METHOD => AnyModel::OneClass(Box::new(BasisExpansionOneClass::read(reader)?)),
            expansion_file::METHOD => {
                return Err(reader.wrong("it holds an expansion alone, which is no model".into()));
            }
            _ => return Err(reader.unknown_method()),
        })
    }

    /// The kind of model, with its article.
    fn description(&self) -> &'static str {
        match self {
            AnyModel::Classifier(_) => "a classifier",
            AnyModel::Regressor(_) => "a regression model",
            AnyModel::OneClass(_) => "an outlier detector",
        }
    }
}

/// What it has in common with models of other kinds.
impl Deref for AnyModel {
    type Target = dyn Model;

    fn deref(&self) -> &Self::Target {
        match self {
            AnyModel::Classifier(model) => &**model,
            AnyModel::Regressor(model) => &**model,
            AnyModel::OneClass(model) => &**model,
        }
    }
}

impl DerefMut for AnyModel {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match self {
            AnyModel::Classifier(model) => &mut **model,
            AnyModel::Regressor(model) => &mut **model,
            AnyModel::OneClass(model) => &mut **model,
        }
    }
}

/// The header of a model file's bytes as JSON text. The checksum is verified, and every field that `docs/model-file.md`
/// lists for the method is present and has the right type.
///
/// # Errors
/// As for making the model from the bytes: [`Error::ModelFile`](crate::Error::ModelFile) or
/// [`Error::ModelVersion`](crate::Error::ModelVersion).
pub fn header_of_bytes(bytes: &[u8]) -> Result<String> {
    fn check<L: DeserializeOwned, T: Clone + DeserializeOwned>(reader: &Reader<'_>) -> Result<()> {
        reader.parse::<L>()?;
        reader.parse::<Head<'_, T>>().map(drop)
    }
    let reader = Reader::of_any(Path::new(NO_FILE), bytes)?;
    match reader.method() {
        Classification::METHOD => check::<Layout, Classification>(&reader)?,
        Regression::METHOD => check::<Layout, Regression>(&reader)?,
        OneClassTask::METHOD => check::<Layout, OneClassTask>(&reader)?,
        expansion_file::METHOD => reader.parse::<ExpansionHeader>().map(drop)?,
        power_mean::file::METHOD => check::<power_mean::file::Layout, power_mean::fit::Task>(&reader)?,
        SplineClassification::METHOD => check::<SplineLayout, SplineClassification>(&reader)?,
        SplineRegression::METHOD => check::<SplineLayout, SplineRegression>(&reader)?,
        _ => return Err(reader.unknown_method()),
    }
    Ok(reader.header)
}
