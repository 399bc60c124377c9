//! The power mean SVM in a model file.

use std::path::Path;

use safetensors::tensor::TensorView;
use serde::{Deserialize, Serialize};

use super::PowerMeanSvc;
use super::file::{FORMAT_VERSION, Number, Reader, write};
use crate::data::Label;
use crate::descriptor::FeatureMax;
use crate::error::{Error, Result};
use crate::expansion::{AdditiveMap, Approximation, MAX_NODES};
use crate::solve::Report;

const METHOD: &str = "power-mean";

/// The JSON header.
#[derive(Serialize, Deserialize)]
struct Header {
    format_version: u32,
    method: String,
    kernel: String,
    approximation: String,
    loss: String,
    #[serde(rename = "C")]
    c: f64,
    n_features: usize,
    n_nodes: usize,
    scaled: bool,
    classes: Vec<Label>,
    report: Report,
}

impl PowerMeanSvc {
    /// Writes the model to a file, whole or not at all.
    ///
    /// # Errors
    /// [`Error::Io`] saying what could not be done.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let header = Header {
            format_version: FORMAT_VERSION,
            method: METHOD.into(),
            kernel: self.map.kernel().to_string(),
            approximation: self.map.approximation().to_string(),
            loss: self.loss.to_string(),
            c: self.c,
            n_features: self.n_features,
            n_nodes: self.map.n_nodes(),
            scaled: self.scaling.is_some(),
            classes: self.classes.clone(),
            report: self.report.clone(),
        };
        let path = path.as_ref();
        let factors = self.scaling.as_ref().map_or(&[][..], FeatureMax::factors);
        let arrays = [
            ("weights", f32::DTYPE, self.shape().to_vec(), f32::to_bytes(&self.weights)),
            ("nodes", f64::DTYPE, vec![self.map.n_nodes()], f64::to_bytes(self.map.nodes())),
            ("factors", f64::DTYPE, vec![factors.len()], f64::to_bytes(factors)),
        ];
        let invalid = |error: safetensors::SafeTensorError| Error::ModelFile {
            path: path.to_owned(),
            problem: error.to_string(),
        };
        let mut tensors = Vec::new();
        for (name, dtype, shape, bytes) in &arrays {
            tensors.push((*name, TensorView::new(*dtype, shape.clone(), bytes).map_err(invalid)?));
        }
        write(path, &header, tensors)
    }

    /// Reads a model that [`PowerMeanSvc::save`] wrote.
    ///
    /// # Errors
    /// [`Error::ModelFile`] for a file that is cut short, damaged or not a power mean model,
    /// [`Error::ModelVersion`] for one of a newer format, [`Error::Io`] where it cannot be read.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let reader = Reader::open(path.as_ref(), METHOD)?;
        let header: Header = reader.parse()?;
        if header.classes.len() < 2 || header.n_nodes == 0 || header.n_nodes > MAX_NODES {
            let (classes, nodes) = (header.classes.len(), header.n_nodes);
            return Err(reader.wrong(format!("{classes} classes and {nodes} nodes cannot be")));
        }
        let retold = |error: Error| reader.wrong(error.to_string());
        let kernel = header.kernel.parse().map_err(retold)?;
        let nodes: Vec<f64> = reader.tensor("nodes", &[header.n_nodes])?;
        let map = match header.approximation.parse().map_err(retold)? {
            Approximation::Nystrom => AdditiveMap::nystrom(kernel, &nodes).map_err(retold)?,
            Approximation::Polynomial => AdditiveMap::polynomial(kernel),
        };
        if map.nodes() != nodes {
            return Err(reader.wrong("its nodes are not independent".into()));
        }
        let factors: Vec<f64> = reader.tensor("factors", &[if header.scaled { header.n_features } else { 0 }])?;
        let mut model = PowerMeanSvc {
            map,
            loss: header.loss.parse().map_err(retold)?,
            c: header.c,
            scaling: header.scaled.then(|| FeatureMax::from_factors(factors)),
            n_features: header.n_features,
            classes: header.classes,
            weights: Vec::new(),
            report: header.report,
        };
        model.weights = reader.tensor("weights", &model.shape())?;
        Ok(model)
    }

    fn shape(&self) -> [usize; 3] {
        [self.n_features, self.map.n_nodes(), self.n_problems()]
    }
}
