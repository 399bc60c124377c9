//! The power mean SVM in a model file.

use serde::{Deserialize, Serialize};

use crate::data::Label;
use crate::descriptor::FeatureMax;
use crate::error::{Error, Result};
use crate::expansion::{AdditiveMap, KernelTable, MAX_NODES, ReducedKernel};
use crate::model::file::{Array, Reader, array, file_methods, header, to_bytes};
use crate::model::origin::Origin;
use crate::model::{PowerMeanChoice, PowerMeanSvc};
use crate::solve::Report;

pub(crate) const METHOD: &str = "power-mean";

/// The JSON header.
#[derive(Serialize, Deserialize)]
pub(crate) struct Header {
    method: String,
    kernel: String,
    approximation: String,
    loss: String,
    #[serde(rename = "C")]
    c: f64,
    n_features: usize,
    n_nodes: usize,
    /// How many values the kernel is tabulated at; none for one of the library's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    n_tabulated: Option<usize>,
    scaled: bool,
    classes: Vec<Label>,
    report: Report,
    /// The selected parameters; none if nothing was automatic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    choice: Option<PowerMeanChoice>,
    #[serde(flatten)]
    origin: Origin,
}

impl PowerMeanSvc {
    file_methods!(METHOD);

    /// The bytes that [`PowerMeanSvc::save`] writes.
    ///
    /// # Errors
    /// [`Error::NotFinite`] for a model with non-finite numbers.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        to_bytes(self.header()?, &self.arrays())
    }

    pub(crate) fn header(&self) -> Result<String> {
        self.report.check_finite()?;
        header(&Header {
            method: METHOD.into(),
            kernel: self.map.kernel().to_string(),
            approximation: self.map.approximation().to_string(),
            loss: self.loss.to_string(),
            c: self.c,
            n_features: self.n_features,
            n_nodes: self.map.n_nodes(),
            n_tabulated: self.map.table().map(|table| table.values().len()),
            scaled: self.scaling.is_some(),
            classes: self.classes.clone(),
            report: self.report.clone(),
            choice: self.choice.clone(),
            origin: self.origin.clone(),
        })
    }

    pub(crate) fn arrays(&self) -> Vec<Array<'_>> {
        let factors = self.scaling.as_ref().map_or(&[][..], FeatureMax::factors);
        let mut arrays = vec![
            array("weights", self.shape().to_vec(), &self.weights),
            array("nodes", vec![self.map.n_nodes()], self.map.nodes()),
            array("factors", vec![factors.len()], factors),
        ];
        if let Some(table) = self.map.table() {
            let n = table.values().len();
            arrays.push(array("tabulated", vec![n], table.values()));
            arrays.push(array("table", vec![table.n_nodes() + 1, n], table.rows()));
        }
        arrays
    }

    pub(crate) fn read(reader: &Reader<'_>) -> Result<Self> {
        let header: Header = reader.parse()?;
        if header.n_nodes == 0 || header.n_nodes > MAX_NODES {
            let (classes, nodes) = (header.classes.len(), header.n_nodes);
            return Err(reader.wrong(format!("{classes} classes and {nodes} nodes cannot be")));
        }
        let file_error = |error: Error| reader.wrong(error.to_string());
        header.origin.check(Some(header.n_features)).map_err(file_error)?;
        if let Some(problem) = header.origin.problem(header.classes.len()) {
            return Err(reader.wrong(problem));
        }
        let kernel = match header.n_tabulated {
            None => ReducedKernel::BuiltIn(header.kernel.parse().map_err(file_error)?),
            Some(n) => {
                let (values, flat) =
                    (reader.tensor("tabulated", &[n])?, reader.tensor("table", &[header.n_nodes + 1, n])?);
                let table = KernelTable::of_parts(header.kernel, values, flat);
                ReducedKernel::Table(table.ok_or_else(|| reader.wrong("its table is not one of a kernel".into()))?)
            }
        };
        let nodes: Vec<f64> = reader.tensor("nodes", &[header.n_nodes])?;
        let approximation = header.approximation.parse().map_err(file_error)?;
        let map = AdditiveMap::reduced(approximation, kernel, &nodes).map_err(file_error)?;
        if map.nodes() != nodes {
            return Err(reader.wrong("its nodes are not independent".into()));
        }
        let factors: Vec<f64> = reader.tensor("factors", &[if header.scaled { header.n_features } else { 0 }])?;
        let mut model = PowerMeanSvc {
            map,
            loss: header.loss.parse().map_err(file_error)?,
            c: header.c,
            scaling: header.scaled.then(|| FeatureMax::from_factors(factors)),
            n_features: header.n_features,
            classes: header.classes,
            weights: Vec::new(),
            report: header.report,
            origin: header.origin,
            choice: header.choice,
        };
        model.weights = reader.tensor("weights", &model.shape())?;
        Ok(model)
    }

    fn shape(&self) -> [usize; 3] {
        [self.n_features, self.map.n_nodes(), self.n_problems()]
    }
}
