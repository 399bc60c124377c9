//! A trained model of any kind, and reading one of unknown kind from its file.

use std::ops::{Deref, DerefMut};
use std::path::Path;

use super::basis_expansion::expansion_model::ExpansionTask;
use super::basis_expansion::{Classification, OneClassTask, Regression, expansion_file};
use super::file::{self, NO_FILE, Reader};
use super::interface::Model;
use super::thin_plate::spline_model::SplineTask;
use super::thin_plate::{SplineClassification, SplineRegression};
use super::{BasisExpansionOneClass, BasisExpansionRegressor, BasisExpansionSvc, Classifier, OneClass, PowerMeanSvc};
use super::{Regressor, ThinPlateRegressor, ThinPlateSvc, power_mean};
use crate::error::Result;

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
    OneClass(Box<dyn OneClass>),
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
