//! A trained model of any kind, and reading one of unknown kind from its file.

use std::path::Path;

use super::classifier::{self, Classifier};
use super::file::{self, NO_FILE, Reader};
use super::{BasisExpansionOneClass, BasisExpansionRegressor, OneClass, Regressor, ThinPlateRegressor};
use super::{basis_expansion, thin_plate};
use crate::error::{Error, Result};

/// A trained model of any kind.
#[derive(Debug)]
pub enum AnyModel {
    /// Of classes.
    Classifier(Box<dyn Classifier>),
    /// A regression model.
    Regressor(Box<dyn Regressor>),
    /// An outlier detector.
    OneClass(Box<dyn OneClass>),
}

impl AnyModel {
    /// Reads a model of any method that was saved.
    ///
    /// # Errors
    /// As for [`load`](super::load), which reads classifiers.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        AnyModel::read(&Reader::of_any(path, &file::read(path)?)?)
    }

    /// The model of any method that its `to_bytes` made the bytes of.
    ///
    /// # Errors
    /// As for [`AnyModel::load`], with `<bytes>` for the path.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        AnyModel::read(&Reader::of_any(Path::new(NO_FILE), bytes)?)
    }

    fn read(reader: &Reader<'_>) -> Result<Self> {
        Ok(match reader.method() {
            basis_expansion::regressor_file::METHOD => {
                AnyModel::Regressor(Box::new(BasisExpansionRegressor::read(reader)?))
            }
            thin_plate::regressor::METHOD => AnyModel::Regressor(Box::new(ThinPlateRegressor::read(reader)?)),
            basis_expansion::one_class_file::METHOD => {
                AnyModel::OneClass(Box::new(BasisExpansionOneClass::read(reader)?))
            }
            _ => AnyModel::Classifier(classifier::read(reader)?),
        })
    }

    /// The method, as model files and the command line name it.
    pub fn method(&self) -> &'static str {
        match self {
            AnyModel::Classifier(model) => model.method(),
            AnyModel::Regressor(model) => model.method(),
            AnyModel::OneClass(model) => model.method(),
        }
    }

    /// The kind of samples it takes, as messages name it.
    pub fn kind(&self) -> &'static str {
        match self {
            AnyModel::Classifier(model) => model.kind(),
            AnyModel::Regressor(model) => model.kind(),
            AnyModel::OneClass(model) => model.kind(),
        }
    }

    /// The kind of model, with its article.
    fn description(&self) -> &'static str {
        match self {
            AnyModel::Classifier(_) => "a classifier",
            AnyModel::Regressor(_) => "a regression model",
            AnyModel::OneClass(_) => "an outlier detector",
        }
    }

    /// The regression model.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a model of another kind.
    pub fn into_regressor(self) -> Result<Box<dyn Regressor>> {
        match self {
            AnyModel::Regressor(model) => Ok(model),
            other => {
                let expected = format!("a regression model: this is {}", other.description());
                Err(Error::Parameter { name: "model", value: other.method().into(), expected })
            }
        }
    }

    /// The outlier detector.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a model of another kind.
    pub fn into_one_class(self) -> Result<Box<dyn OneClass>> {
        match self {
            AnyModel::OneClass(model) => Ok(model),
            other => {
                let expected = format!("an outlier detector: this is {}", other.description());
                Err(Error::Parameter { name: "model", value: other.method().into(), expected })
            }
        }
    }
}
